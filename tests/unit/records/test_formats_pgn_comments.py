# SPDX-License-Identifier: Apache-2.0
"""PGN comments as match runners write them: what other tools read, and what we read back."""

import io
import re
from dataclasses import replace
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka.apps.cli import run
from hyoka.arena import export_match, plan_match, play_match
from hyoka.records import Remark, record_text

MOVES = np.array([move.code for move in hk.parse_records("1. e4 e5 2. Nf3 Nc6 *")[0].move_list])

# Written after the readers of WDL tools: the comment's first evaluation and depth, and mates.
COMMENT = re.compile(r"([+-]*M*[0-9.]+)/([0-9]+)")
MATE = re.compile(r"([+-])M([0-9]+)")


def read_by_others(text: str) -> list[tuple[int, str, float | int, int]]:
    """Ply, kind (`cp` or `mate` in plies), mover's number and depth, as WDL tools read a game."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    found: list[tuple[int, str, float | int, int]] = []
    for ply, node in enumerate(game.mainline(), 1):
        if not (match := COMMENT.search(node.comment)) or "book" in node.comment:
            continue
        score, depth = match.groups()
        if mate := MATE.fullmatch(score):
            plies = int(mate[2]) * (1 if mate[1] == "+" else -1)
            found.append((ply, "mate", plies, int(depth)))
        else:
            found.append((ply, "cp", round(100 * float(score)), int(depth)))
    return found


def game_with(*remarks: Remark) -> hk.Record:
    return hk.Record("chess", MOVES, result=1.0, ending="resigned", remarks=remarks)


def by(ply: int, **said: float | None) -> Remark:
    return Remark(ply, author="first" if ply % 2 else "second", **said)  # type: ignore[arg-type]


def comments_of(record: hk.Record, **options: bool) -> list[str]:
    return re.findall(r"\{([^}]*)\}", record_text(record, "pgn", **options))


@pytest.mark.parametrize(
    ("remark", "comment", "others"),
    [
        (by(1, score=35.0, depth=12, spent_s=1.2), "+0.35/12 1.2s", ("cp", 35, 12)),
        (by(2, score=35.0, depth=12, spent_s=0.0), "-0.35/12 0s", ("cp", -35, 12)),
        (by(1, score=-120.0), "-1.20/0", ("cp", -120, 0)),
        (by(2, score=0.0, depth=3), "0.00/3", ("cp", 0, 3)),
        (by(1, mate=3, depth=20), "+M5/20", ("mate", 5, 20)),
        (by(1, mate=-2, depth=20), "-M4/20", ("mate", -4, 20)),
        (by(2, mate=-1, depth=20), "+M1/20", ("mate", 1, 20)),
        (
            by(1, score=35.0, depth=12, spent_s=0.123456789, clock_s=59.9876543),
            "+0.35/12 0.123s [%clk 0:00:59.988]",
            ("cp", 35, 12),
        ),
        (
            by(1, score=35.25, depth=12),
            "+0.35/12 [%score 35.25] [%author first]",
            ("cp", 35, 12),
        ),
        (
            by(2, score=-20.0, depth=1, value=0.25),
            "+0.20/1 [%value 0.25] [%author second]",
            ("cp", 20, 1),
        ),
    ],
)
def test_evaluations_by_the_mover(
    remark: Remark, comment: str, others: tuple[str, int, int]
) -> None:
    record = game_with(remark)
    assert comments_of(record) == [comment]
    text = record_text(record, "pgn")
    assert read_by_others(text) == [(remark.ply, *others)]
    [read] = hk.parse_records(text)
    [found] = read.remarks
    assert replace(found, spent_s=None, clock_s=None) == replace(remark, spent_s=None, clock_s=None)
    assert found.spent_s == pytest.approx(remark.spent_s, abs=6e-4)
    assert found.clock_s == pytest.approx(remark.clock_s, abs=6e-4)


def test_book_moves() -> None:
    record = game_with(Remark(1, book=True), Remark(2, book=True, clock_s=60.0), by(3, score=5.0))
    assert comments_of(record) == ["book", "book [%clk 0:01:00]", "+0.05/0"]
    [read] = hk.parse_records(record_text(record, "pgn"))
    assert read.remarks == record.remarks
    assert [ply for ply, *_ in read_by_others(record_text(record, "pgn"))] == [3]


def test_evaluations_by_others_stay_commands() -> None:
    record = game_with(
        Remark(1, score=35.0, depth=12),
        Remark(2, score=35.0, author="first"),
        by(3, value=0.5),
    )
    assert comments_of(record) == [
        "[%eval 0.35,12]",
        "[%eval 0.35] [%author first]",
        "[%value 0.5] [%author first]",
    ]
    assert read_by_others(record_text(record, "pgn")) == []
    [read] = hk.parse_records(record_text(record, "pgn"))
    assert read.remarks == record.remarks


def test_commands_only_if_wanted(tmp_path: Path) -> None:
    record = game_with(by(1, score=35.0, depth=12, spent_s=1.23456789), Remark(2, book=True))
    commands = ["[%eval 0.35,12] [%emt 0:00:01.235] [%author first]", "[%book 1]"]
    assert comments_of(record, engine_comments=False) == commands
    hk.write_records([record], tmp_path / "x.pgn", engine_comments=False)
    assert "[%eval 0.35,12]" in (tmp_path / "x.pgn").read_text()


def test_a_changed_evaluation_replaces_the_old_words() -> None:
    [record] = hk.parse_records("1. e4 {+0.35/12 1.2s, good} e5 {book} *")
    assert "{+0.35/12 1.2s, good}" in record_text(record, "pgn")
    first, second = record.remarks
    changed = replace(record, remarks=(replace(first, score=50.0), replace(second, book=False)))
    text = record_text(changed, "pgn")
    assert "{+0.50/12 1.2s good}" in text
    assert "0.35" not in text
    assert "book" not in text
    assert hk.parse_records(text)[0].remarks[0].score == 50


FLOATS = st.floats(-30000, 30000, width=32) | st.integers(-3000, 3000).map(float)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([1, 2, 3, 4]),
    st.none() | FLOATS,
    st.none() | st.integers(1, 500) | st.integers(-500, -1),
    st.none() | st.integers(1, 200),
    st.none() | st.floats(0, 1, width=32),
    st.none() | st.integers(0, 10**7),
    st.booleans(),
)
def test_scores_are_read_back_as_they_were(
    ply: int,
    score: float | None,
    mate: int | None,
    depth: int | None,
    value: float | None,
    spent_ms: int | None,
    book: bool,
) -> None:
    remark = Remark(
        ply,
        value=value,
        score=score,
        mate=mate,
        depth=depth,
        spent_s=None if spent_ms is None else float(np.float32(spent_ms / 1000)),
        book=book,
        author="first" if ply % 2 else "second",
    )
    if value is None and score is None and mate is None:
        remark = replace(remark, author=None)
    text = record_text(game_with(remark), "pgn")
    expected = () if remark == Remark(ply) else (remark,)
    assert hk.parse_records(text)[0].remarks == expected
    if not book and (score is not None or mate is not None):
        [(found, kind, number, _)] = read_by_others(text)
        assert found == ply
        view = 1 if ply % 2 else -1
        if mate is not None:
            assert kind == "mate"
            assert number == (2 * view * mate - 1 if view * mate > 0 else 2 * view * mate)
        else:
            assert score is not None
            assert kind == "cp"
            assert number == pytest.approx(view * score, abs=0.51)


def test_others_read_every_move_of_a_match_of_ours(tmp_path: Path) -> None:
    plan = plan_match(
        "one=ab:nodes=60", "two=ab:nodes=40", game="chess", max_plies=40, seed=4, margin_s=1000.0
    )
    games = play_match(plan, tmp_path, games=2).games
    export_match(tmp_path, games)
    text = (tmp_path / "games.pgn").read_text()
    ours = list(hk.read_records(tmp_path / "games.pgn"))
    for record, played in zip(ours, re.split(r"\n\n(?=\[Event)", text), strict=True):
        found = read_by_others(played)
        wanted = [r for r in record.remarks if not r.book]
        assert [ply for ply, *_ in found] == [remark.ply for remark in wanted]
        assert len(found) > 10
        for (_, kind, number, depth), remark in zip(found, wanted, strict=True):
            sign = 1 if remark.author == "first" else -1
            assert depth == (remark.depth or 0)
            if kind == "cp":
                assert remark.score is not None
                assert number == pytest.approx(sign * remark.score, abs=0.51)
            else:
                assert remark.mate is not None
                assert (number + (number > 0)) / 2 == sign * remark.mate
    export_match(tmp_path, games, engine_comments=False)
    assert read_by_others((tmp_path / "games.pgn").read_text()) == []
    assert not re.search(r"(?:\[%(?:clk|emt) [^\]]*|/\d+ \d+)\.\d{4,}", text)  # milliseconds


def test_an_option_of_commands_says_how_evaluations_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    players = ["match", "run", "ab:depth=1", "ab:depth=2"]
    rules = ["-g", "chess", "--openings", "start", "--max-plies", "8", "-n", "2"]
    match = [*players, *rules, "--no-report", "-o", "m", "-q"]

    def read(file: str) -> int:
        """The number of evaluations that others read; we read all of them."""
        text = Path(file).read_text().partition("\n\n[Event")[0]
        assert len(hk.parse_records(text)[0].remarks) == 8
        return len(read_by_others(text))

    def converted(source: str, *options: str) -> int:
        words = ["records", "convert", source, "-o", "out.pgn", "--force", "-q"]
        assert run([*words, *options]) == 0
        return read("out.pgn")

    assert run([*match, "--no-engine-comments"]) == 0
    assert read("m/games.pgn") == 0
    Path("commands.pgn").write_bytes(Path("m/games.pgn").read_bytes())
    assert run(match) == 0
    assert read("m/games.pgn") == 8
    assert converted("m/games.pgn") == 8
    assert converted("commands.pgn") == 0
    assert converted("m/games.pgn", "--no-engine-comments") == 0
    assert converted("commands.pgn", "--engine-comments") == 8


def test_rewriting_evaluations_leaves_the_other_words_of_a_comment() -> None:
    [record] = hk.parse_records(
        "1. e4 {best by test [%eval 0.35,12] really} e5 {[%clk 0:09] fine} *"
    )
    ours = replace(record, remarks=(replace(record.remarks[0], author="first"), record.remarks[1]))
    engine, clock = comments_of(ours, engine_comments=True)
    assert engine == "+0.35/12 best by test really"
    assert comments_of(ours, engine_comments=False)[0].endswith(" best by test really")
    assert clock == "[%clk 0:09] fine"
