# SPDX-License-Identifier: Apache-2.0
"""The games that a model learned from: stored with it, and never what it is judged by unasked."""

import dataclasses
import itertools
import zlib
from base64 import b85encode
from pathlib import Path

import numpy as np
import pytest

import hyoka as hk
from hyoka.foundation.errors import NotationError, SourceError, StudyError
from hyoka.learning.prediction import held_out, ids_in, ids_of, judged_games, table_of
from hyoka.models.training_games import LearnedGames, is_in_share
from hyoka.records import Record
from hyoka.records.samples import sample_path
from hyoka.storage.game_ids import GameIds, game_id
from hyoka.storage.model_file import ModelFile, Origin, read_model_file
from hyoka.study.derived_columns import rank_moves


def games(count: int = 40, seed: int = 0) -> list[Record]:
    """Records whose moves are numbers: enough for ids."""
    chance = np.random.default_rng(seed)
    return [Record("othello", chance.integers(0, 60, 30).astype(np.uint16)) for _ in range(count)]


def listed(records: list[Record], **choices: str) -> Origin:
    return Origin("test", choices=choices, learned_games=GameIds.of(ids_of(records)))


def test_a_set_of_ids_goes_round_in_eight_bytes_a_game() -> None:
    chance = np.random.default_rng(0)
    some = GameIds.of(chance.integers(0, 2**64, 50_000, dtype=np.uint64))
    written = some.as_json()
    assert len(written["ids"]) <= 8 * 50_000
    assert GameIds.from_json(written) == some
    for few in ([], [0], [0, 2**64 - 1]):
        assert GameIds.from_json(GameIds.of(few).as_json()) == GameIds.of(few)


def packed(data: bytes) -> str:
    return b85encode(zlib.compress(data)).decode()


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"count": 1},
        {"count": -1, "ids": ""},
        {"count": True, "ids": packed(bytes(8))},
        {"count": 10**12, "ids": packed(bytes(8))},
        {"count": 1, "ids": "\N{SNOWMAN}"},
        {"count": 1, "ids": "abc"},
        {"count": 1, "ids": packed(bytes(7))},
        {"count": 1, "ids": packed(bytes(10_000_000))},
        {"count": 2, "ids": packed(bytes(16))},
    ],
)
def test_a_damaged_set_is_refused(value: object) -> None:
    with pytest.raises(NotationError):
        GameIds.from_json(value)


@pytest.mark.parametrize("kind", ["mets", "strengths"])
def test_a_model_keeps_its_games(kind: str, tmp_path: Path) -> None:
    origin = listed(games())
    content = {"strengths": {"corner": 2.0}} if kind == "strengths" else b"content"
    ModelFile.of(kind, content, game="othello", origin=origin).save(tmp_path / "model")
    read = read_model_file(tmp_path / "model")
    assert read.origin == origin
    assert read.as_json()["made_by"]["learned_games"] == {"count": 40}
    text = (tmp_path / "model").read_bytes().replace(b'"count": 40', b'"count": 41')
    with pytest.raises(SourceError, match="learned games"):
        ModelFile.from_bytes(text)


def test_ids_are_of_moves_alone() -> None:
    [record] = games(1)
    renamed = dataclasses.replace(record, result=1.0)
    assert ids_of([record]) == ids_of([renamed]) == game_id(record.moves)
    table = table_of(games())
    assert ids_in(table) == GameIds.of(ids_of(games()))


def test_all_other_games_judge() -> None:
    known, new = games(40), games(1000, seed=1)
    model = LearnedGames.of_origin(listed(known, hold_out="0.1"), "a.json")
    judges = judged_games([*known, *new], [model])
    assert judges.records == tuple(new)
    assert judges.sentence() == (
        "judged by 1,000 of 1,040 games, without 40 that a.json learned from"
    )
    assert judges.as_json()["left_out_games"] == 40
    assert judged_games(new, [model]).sentence() == "judged by all 1,000 games"
    everything = judged_games([*known, *new], [model], every_game=True)
    assert len(everything.records) == 1040
    assert everything.sentence() == (
        "judged by all 1,040 games, among them 40 that a.json learned from"
    )


def test_a_game_that_any_model_learned_from_judges_none() -> None:
    first, second, new = games(10), games(10, seed=1), games(10, seed=2)
    models = [
        LearnedGames.of_origin(listed(each), name)
        for each, name in ((first, "a.json"), (second, "b.json"))
    ]
    assert judged_games([*first, *second, *new], models).records == tuple(new)
    with pytest.raises(StudyError, match=r"10 that b\.json learned"):
        judged_games([*first, *second], models)


def test_models_without_a_list_compare_the_hash_and_say_so() -> None:
    new = games(1000, seed=1)
    old = LearnedGames.of_origin(Origin("test", choices={"hold_out": "0.1"}), "old.bin")
    judges = judged_games(new, [old])
    assert [bool(each) for each in is_in_share(ids_of(judges.records), 0.1)] == [True] * len(
        judges.records
    )
    assert 50 < len(judges.records) < 200
    assert "may have learned from (it does not list its games" in judges.sentence()
    unknown = judged_games(new, [LearnedGames.of_origin(None, "hand.json")])
    assert len(unknown.records) == 1000
    assert "hand.json does not say which games it learned from" in unknown.sentence()
    by_hand = judged_games(new, [LearnedGames.of_model("othello", "built-in")])
    assert by_hand.sentence() == "judged by all 1,000 games"
    bundled = LearnedGames.of_model("othello", "learned")
    assert bundled.hold_out == 0.1
    assert "the bundled model may have learned from" in bundled.note(ids_of(new))


def test_no_game_is_held_out_that_the_start_learned_from() -> None:
    some = games(400)
    start = LearnedGames.of_origin(listed(some[:200]), "start.eval")
    without = held_out(some, 0.3)
    with_start = held_out(some, 0.3, start)
    assert without[:200].any()
    assert not with_start[:200].any()
    assert (with_start[200:] == without[200:]).all()


def test_a_ranking_says_how_many_games_its_model_learned_from(tmp_path: Path) -> None:
    records = list(itertools.islice(hk.read_records(sample_path("othello")), 5))
    hk.write_records(records, tmp_path / "games.sgf")
    study = hk.Study.create(tmp_path / "study", [tmp_path / "games.sgf"])
    made = ModelFile.of("strengths", {"strengths": {"corner": 2.0}}, origin=listed(records[:2]))
    made.save(tmp_path / "model.json")
    report = rank_moves(study, tmp_path / "model.json", "ours")
    assert (report.games, report.learned_games) == (5, 2)
    assert report.note.startswith("2 that ")
    report = rank_moves(study, "built-in", "ours")
    assert (report.learned_games, report.note) == (0, "")
