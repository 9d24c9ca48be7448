# SPDX-License-Identifier: Apache-2.0
"""Who speaks in an evaluator, and what a finding may be about instead of the evaluation."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hyoka as hk
from hyoka.agents.comments import leanings, take_turns
from hyoka.analysis import NO_INTERVALS, Control, Sample, SliceSettings, find_slices
from hyoka.reporting.study_report import ReportOptions, study_report
from hyoka.study.comment_authors import COMMENT_AUTHOR, RATINGS
from hyoka.study.evaluating import evaluate

PLIES = 40


def said_of_games(
    seed: int, apart: float, tempo: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values of 60 games by two whose views of each game differ, who both favor the mover."""
    rng = np.random.default_rng(seed)
    games, plies = np.repeat(np.arange(60), PLIES), np.tile(np.arange(PLIES), 60)
    drift = rng.normal(0, 0.3, (60, PLIES)).cumsum(axis=1).ravel()
    view = rng.normal(0, apart, 60)[games] * np.where(plies % 2 == 1, 1, -1)
    lean = tempo * np.where(plies % 2 == 1, 1, -1)
    said = 1 / (1 + np.exp(-(drift + view + lean + rng.normal(0, 0.2, len(games)))))
    return leanings(said, np.full(len(said), np.nan)), games, plies


@pytest.mark.parametrize("seed", range(5))
def test_two_who_speak_in_turn_are_heard(seed: int) -> None:
    assert take_turns(*said_of_games(seed, apart=0.5, tempo=0.2))
    # One who favors the last mover is still one.
    assert not take_turns(*said_of_games(seed, apart=0.0, tempo=0.5))
    assert not take_turns(*said_of_games(seed, apart=0.0, tempo=0.0))
    said, games, plies = (column[: 5 * PLIES] for column in said_of_games(seed, apart=2, tempo=0))
    assert not take_turns(said, games, plies)


def flattering(seed: int, games: int = 200) -> tuple[Sample, dict[str, NDArray[np.bool_]], Control]:
    """Each player sees itself ahead by what its opponent does not see; here nothing else is wrong.

    Positions of even plies are the first player's to move: the second has just spoken.
    """
    rng = np.random.default_rng(seed)
    lead = rng.normal(0, 1, games)
    won = rng.random(games) < 1 / (1 + np.exp(-lead))
    of, plies = np.repeat(np.arange(games), PLIES), np.tile(np.arange(PLIES), games)
    to_move = plies % 2 == 0
    seen = lead[of] + rng.normal(0, 0.8, len(of)) + np.where(to_move, -0.6, 0.6)
    sample = Sample.of("said", 1 / (1 + np.exp(-seen)), results=won[of], games=of)
    weak = rng.random(len(of)) < np.where(sample.results == 1, 0.3, 0.1)
    columns = {"first_to_play": to_move, "weak": weak, "other": rng.random(len(of)) < 0.4}
    return sample, columns, Control(COMMENT_AUTHOR, np.where(to_move, 2, 1))


@pytest.mark.parametrize("seed", range(4))
def test_what_goes_with_who_speaks_is_no_finding(seed: int) -> None:
    sample, columns, control = flattering(seed)
    plain = find_slices(sample, columns, SliceSettings(depth=1), resampling=NO_INTERVALS)
    assert {split.condition.sql for split in plain} >= {"weak", "first_to_play"}
    sample = replace(sample, first_player="White")
    held = find_slices(sample, columns, controls=[control], resampling=NO_INTERVALS)
    assert held[0].condition.sql == "weak"
    assert held[0].explanation is None
    by_author = [split for split in held if "first_to_play" in split.condition.columns]
    assert by_author
    for split in by_author:
        assert split.explanation is not None
        assert split.explanation.control == COMMENT_AUTHOR
        assert not split.is_sure
        explained = f"Explained by {COMMENT_AUTHOR}: with it held equal"
        alike = f"It cannot be distinguished from {COMMENT_AUTHOR}."
        is_alike = split.condition.sql == "first_to_play"
        assert (alike if is_alike else explained) in split.sentence
    assert any("are not findings" in note for note in held.notes())
    heading, *rows = held.lines()
    assert rows[-1][heading.index("explained by")] == COMMENT_AUTHOR


def test_what_is_held_equal_leaves_what_plain_arithmetic_says() -> None:
    """Within a stratum of one bin the effect is the mean result less the stratum's.

    On the effect's own scale: as far as the condition would lie from all if what sets it apart from
    its opposite within strata were all there is.
    """
    rng = np.random.default_rng(3)
    strata = rng.integers(0, 3, 3000)
    holds = rng.random(3000) < 0.2 + 0.2 * strata
    won = rng.random(3000) < 0.2 + 0.3 * strata
    sample = Sample.of("x", np.full(3000, 0.5), results=won, games=np.arange(3000))
    found = find_slices(
        sample,
        {"holds": holds},
        SliceSettings(hold_out=0),
        controls=[Control("x", strata)],
        resampling=NO_INTERVALS,
    )
    [split] = [split for split in found if split.departure.kind == "level"]
    assert split.explanation is not None
    mean = np.array([won[strata == s].mean() for s in range(3)])
    share = np.array([holds[strata == s].mean() for s in range(3)])
    within = (1 - share[strata])[holds].mean()
    left = (won - mean[strata])[holds].mean() * (1 - holds.mean()) / within
    assert split.explanation.left.effect.value == pytest.approx(left, abs=1e-6)
    assert split.effect.value == pytest.approx(won[holds].mean() - won.mean(), abs=1e-6)


def cutechess_games(seed: int, games: int) -> str:
    """Games of an engine with itself under two names, each of which sees itself ahead."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(games):
        position, moves = hk.Chess(), []
        lead = rng.normal(0, 1)
        won = rng.random() < 1 / (1 + math.exp(-lead))
        rest = number
        for ply in range(24):
            legal = position.legal_moves
            move = legal[rest % len(legal) if ply < 4 else int(rng.integers(len(legal)))]
            rest //= len(legal)
            mine = lead + rng.normal(0, 0.7) if ply % 2 == 0 else -lead + rng.normal(0, 0.7)
            moves.append(f"{position.san(move)} {{{mine + 0.8:+.2f}/9 0.1s}}")
            position = position.play(move)
            if position.outcome is not None:
                break
        said = "1-0" if won else "0-1"
        texts.append(
            f'[White "One"]\n[Black "Two"]\n[Result "{said}"]\n\n{" ".join(moves)} {said}\n'
        )
    return "\n".join(texts)


def test_a_report_tells_who_speaks_before_anything_else(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(cutechess_games(1, 120))
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.pgn", columns="none")
    evaluate(study, ["comments"])
    assert study.sql("select distinct author from evaluations order by 1").to_pylist() == [
        {"author": "first"},
        {"author": "second"},
    ]
    [caveat] = study.metrics(resampling=NO_INTERVALS).caveats
    assert caveat.startswith("comments combines 2 players, who comment on their own moves;")
    assert caveat.endswith("--with comments:by=player")
    found = study.slices()
    whose = [split for split in found if "first_to_play" in split.condition.columns]
    assert whose
    assert all(split.explanation is not None for split in whose)
    report = study_report(study, ReportOptions(resamples=20))
    kinds = [finding.kind for finding in report.findings]
    assert kinds.index("several comment authors") == len(kinds) - 1 > 0
    assert not any("is to move" in each.text for each in report.findings if each.kind == "slice")


def test_the_difference_in_rating_may_explain_a_split(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    texts = []
    for number in range(200):
        strong_first = number % 2 == 0
        won = rng.random() < (0.9 if strong_first else 0.1)
        said = "1-0" if won else "0-1"
        elo = (2600, 2000) if strong_first else (2000, 2600)
        # The stronger ones open with other moves: the opening goes with the rating.
        first = ["e4", "d4", "c4", "Nf3"] if strong_first else ["a3", "h3", "b3", "g3"]
        moves = [first[number // 2 % 4], *[["a6", "h6", "b6", "c6", "d6"][number // 8 % 5]]]
        position = hk.Chess()
        for move in moves:
            position = position.play(move)
        rest = number
        for _ in range(3):
            legal = position.legal_moves
            moves.append(position.san(legal[rest % len(legal)]))
            position = position.play(legal[rest % len(legal)])
            rest //= len(legal)
        eval_ = f"{{[%eval {rng.normal(0, 0.3):.2f}]}}"
        texts.append(
            f'[WhiteElo "{elo[0]}"]\n[BlackElo "{elo[1]}"]\n[Result "{said}"]\n\n'
            f"{' '.join(f'{move} {eval_}' for move in moves)} {said}\n"
        )
    (tmp_path / "games.pgn").write_text("\n".join(texts))
    study = hk.Study.create(tmp_path / "study", tmp_path / "games.pgn", columns="all")
    evaluate(study, ["comments"])
    found = study.slices(columns=["first_rank > 2300"])
    assert len(found)
    assert {split.explanation and split.explanation.control for split in found} == {RATINGS}
