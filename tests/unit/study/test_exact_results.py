# SPDX-License-Identifier: Apache-2.0
"""Who won a record, by the first position from the start on that an exact method knows."""

import random
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from hyoka.learning import term_examples
from hyoka.study import exact_results as adjudicating
from hyoka.study.exact_results import adjudicate, adjudicate_records
from hyoka.study.verify import check_study

MISSED = '[Result "1-0"]\n\n1. f3 e5 2. g4 a6 3. Kf2 a5 1-0\n\n'
"""Black could mate at ply 3, did not, and lost."""


def random_games(count: int) -> str:
    choose = random.Random(5)
    texts = []
    for number in range(count):
        game, moves = hk.Chess(), list[str]()
        while game.outcome is None and len(moves) < 60:
            move = choose.choice(game.legal_moves)
            moves.append(game.san(move))
            game = game.play(move)
        result = ("1-0", "0-1", "1/2-1/2", "*")[number % 4]
        texts.append(f'[Result "{result}"]\n\n1. {" ".join(moves)} {result}\n\n')
    return "".join(texts)


def made(tmp_path: Path, text: str) -> hk.Study:
    (tmp_path / "games.pgn").write_text(text)
    return hk.Study.create(tmp_path / "study", tmp_path / "games.pgn")


def by_hand(study: hk.Study, game: int) -> tuple[int, float | None]:
    """The first mate of a game, found without any of the study's machinery."""
    position, moves = hk.Chess(), study.record(game).move_texts()
    for ply in range(len(moves) + 1):
        if position.outcome is not None:
            return ply, float(position.outcome.value)
        if hk.find_mate(position, nodes=10_000, hash_mib=1).verdict == "mate":
            return ply, 1.0 if position.to_play is hk.Player.first else 0.0
        if ply < len(moves):
            position = position.play(moves[ply])
    return len(moves), None


def test_the_first_mate_from_the_start_on_wins_the_record(tmp_path: Path) -> None:
    study = made(tmp_path, MISSED + random_games(8))
    report = adjudicate_records(study, jobs=2)
    expected = {game: by_hand(study, game) for game in range(9)}
    rows = study.sql("select game_id, ply, result from winners order by game_id").to_pylist()
    assert {row["game_id"]: (row["ply"], row["result"]) for row in rows} == expected
    assert len({result for _, result in expected.values()}) > 1
    said = {game: record.result for game, record in study.records()}
    known = {game: result for game, (_, result) in expected.items() if result is not None}
    assert report.records == 9
    assert report.known == len(known)
    assert report.new == sum(said[game] is None for game in known)
    assert report.changed == sum(said[game] not in (None, known[game]) for game in known)
    # The whole record is given to the winner, and what it said itself stays.
    for row in study.sql("select game_id, result, adjudicated from positions").to_pylist():
        assert row["adjudicated"] == known.get(row["game_id"])
        assert row["result"] == said[row["game_id"]]


def test_what_is_known_of_a_position_itself_goes_before_the_records_winner(tmp_path: Path) -> None:
    study = made(tmp_path, MISSED)
    adjudicate(study, "mine", where="ply = 5", solver=lambda _position: 0.5)
    adjudicate_records(study)
    results = study.sql("select adjudicated from positions order by ply")["adjudicated"].to_pylist()
    assert results == [0, 0, 0, 0, 0, 0.5, 0]
    examples = term_examples(study, ["tempo"], shape="one", quiet=False)
    assert set(examples.results.tolist()) == {0}
    assert check_study(study.path).is_whole


def test_of_several_methods_the_one_that_knows_first_decides(tmp_path: Path) -> None:
    study = made(tmp_path, MISSED)
    adjudicate_records(study)

    def knows_the_second_ply(position: Any) -> float | None:
        return 1.0 if position.ply == 2 else None

    adjudicate_records(study, "early", solver=knows_the_second_ply)
    assert set(study.sql("select adjudicated from positions")["adjudicated"].to_pylist()) == {1.0}


def test_interrupted_it_goes_on_with_the_records_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjudicating, "_RECORDS_AT_ONCE", 2)
    study = made(tmp_path, MISSED + random_games(5))
    asked = 0

    def solver(_position: hk.games.Position) -> float | None:
        nonlocal asked
        asked += 1
        if asked == 4:
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(KeyboardInterrupt):
        adjudicate_records(study, "mine", solver=solver)
    assert study.sql("select count(*) as n from winners")["n"].to_pylist() == [2]
    messages: list[str] = []
    report = adjudicate_records(
        study, "mine", solver=solver, progress=lambda each: messages.append(str(each))
    )
    assert (report.records, report.found, report.known) == (6, 2, 6)
    assert messages[0] == "mine of records: 0 of 4 games"
    assert messages[-1] == "mine of records: 4 of 4 games"
    assert adjudicate_records(study, "mine", solver=solver).found == 6
    assert asked == 8


def test_damaged_winners_are_found_and_asked_for_again(tmp_path: Path) -> None:
    study = made(tmp_path, MISSED)
    adjudicate_records(study)
    [part] = (study.path / "winners").rglob("*.parquet")
    part.write_bytes(part.read_bytes()[:-1])
    [damage] = check_study(study.path).damage
    assert "hyoka study adjudicate" in damage.remedy
    assert "--record --exact mate" in damage.remedy
    assert check_study(study.path, seal=True).is_whole
    assert adjudicate_records(study).changed == 1
