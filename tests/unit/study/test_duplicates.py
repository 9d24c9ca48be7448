# SPDX-License-Identifier: Apache-2.0
"""What duplicates say is added to the game that they repeat, whatever the order."""

import json
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyoka as hk
from hyoka.records import record_text
from hyoka.study import append_to_study, make_study
from hyoka.study.duplicates import merge_remarks
from hyoka.study.evaluating import evaluate
from hyoka.study.verify import check_study

MOVES = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")
TAGS = {
    "Event": "Casual",
    "White": "Anderssen",
    "Black": "Dufresne",
    "WhiteElo": "2600",
    "Date": "1852.01.02",
    "Annotator": "Staunton",
}
KINDS = ("mover", "nobody", "words", "sign", "none")


def comment(ply: int, kind: str, shift: int = 0) -> str:
    """An annotation; the values depend on ply and author (and on `shift`)."""
    if kind == "mover":
        return f"{{{0.1 * ply + shift:+.2f}/{10 + ply} 1.5s}}"
    if kind == "nobody":
        return f"{{[%eval {0.3 * ply + shift:.2f}]}}"
    return {"words": f"{{remark on {ply}}}", "sign": f"${ply}", "none": ""}[kind]


def pgn(tags: Sequence[str], kinds: Sequence[str], shift: int = 0, result: str = "*") -> str:
    head = "".join(f'[{name} "{TAGS[name]}"]\n' for name in tags) + f'[Result "{result}"]\n'
    moves = " ".join(
        f"{move} {comment(ply, kind, shift)}"
        for ply, (move, kind) in enumerate(zip(MOVES, kinds, strict=True), 1)
    )
    return f"{head}\n{moves} {result}\n\n"


def annotations(study: hk.Study) -> set[tuple[Any, ...]]:
    """Everything that is said of the first game: evaluations, comments, signs, tags and fields."""
    said: set[tuple[Any, ...]] = set()
    for remark in study.record(0).remarks:
        if remark.score is not None:
            said.add(("evaluation", remark.ply, remark.author, remark.score, remark.depth))
        said |= {("comment", remark.ply, text) for text in remark.text.split("\f") if text}
        said |= {("sign", remark.ply, nag) for nag in remark.nags}
        if remark.spent_s is not None:
            said.add(("time", remark.ply, remark.spent_s))
    record = study.record(0)
    said |= {("tag", *tag) for tag in record.tags.items() if tag[0] != "Result"}
    said |= {(name, getattr(record, name)) for name in ("first", "second", "event", "date")}
    said |= {("result", record.result), ("rating", record.first_rating, record.first_rank)}
    return said


def without_values(said: set[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    return {each[:3] for each in said if each[0] == "evaluation"}


def imported(copies: Sequence[str], *, parts: bool) -> set[tuple[Any, ...]]:
    """The annotations after importing copies of one game: together, or one after another."""
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyoka.study.importing._PART_GAMES", 1)  # each file is a part
        files = []
        for i, text in enumerate(copies):
            files.append(Path(name) / f"{i}.pgn")
            files[-1].write_text(text)
        study, _ = make_study(Path(name) / "s", files[:1] if parts else files, columns="none")
        for file in files[1:] if parts else ():
            study, _ = append_to_study(study.path, file)
        assert check_study(study.path).is_whole
        return annotations(study)


def orders(texts: list[str]) -> Iterator[list[str]]:
    """Some orders: each text is first in one of them, and last in another."""
    for i in range(len(texts)):
        yield texts[i:] + texts[:i]
    yield texts[::-1]


COPIES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(sorted(TAGS)), unique=True),
        st.lists(st.sampled_from(KINDS), min_size=len(MOVES), max_size=len(MOVES)),
        st.sampled_from(["*", "1-0"]),
    ),
    min_size=2,
    max_size=3,
)


@settings(max_examples=10, deadline=None)
@given(COPIES, st.booleans())
def test_copies_of_a_game_give_the_same_annotations_in_any_order(
    copies: list[Any], parts: bool
) -> None:
    texts = [pgn(tags, kinds, result=result) for tags, kinds, result in copies]
    found = [imported(order, parts=parts) for order in orders(texts)]
    assert all(each == found[0] for each in found)


@settings(max_examples=8, deadline=None)
@given(COPIES)
def test_where_values_differ_there_is_one_by_ply_and_author_in_any_order(copies: list[Any]) -> None:
    texts = [pgn(tags, kinds, shift=i) for i, (tags, kinds, _) in enumerate(copies)]
    found = [imported(order, parts=False) for order in orders(texts)]
    plies_and_authors = [without_values(each) for each in found]
    assert all(each == plies_and_authors[0] for each in plies_and_authors)
    for each in found:
        evaluations = [a for a in each if a[0] == "evaluation"]
        assert len(evaluations) == len(without_values(each))


def study_of(folder: Path, *texts: str) -> tuple[hk.Study, Any]:
    files = []
    for i, text in enumerate(texts):
        files.append(folder / f"{i}.pgn")
        files[-1].write_text(text)
    return make_study(folder / "study", files, columns="none")


def test_the_first_wins_where_two_differ(tmp_path: Path) -> None:
    one = '[White "A"]\n[Event "x"]\n\n1. e4 {+0.10/5 1s} e5 *\n'
    two = '[White "a"]\n[Event "y"]\n[Date "2020.01.02"]\n\n1. e4 {+0.50/9 2s} e5 {so} 1-0\n'
    study, report = study_of(tmp_path, one, two)
    assert (report.duplicates, report.merged_duplicates, report.values) == (1, 1, 1)
    record = study.record(0)
    assert record.tags == {"White": "A", "Event": "x", "Date": "2020.01.02"}
    assert (record.event, record.date, record.first) == ("x", "2020-01-02", "A")
    assert (record.result, record.ending) == (1.0, "resigned")
    first, second = record.remarks
    assert (first.score, first.depth, first.spent_s, first.author) == (10, 5, 1, "first")
    assert first.text == "+0.10/5 1s\f+0.50/9 2s"
    assert second.text == "so"
    [(_, again), *_] = study.records()
    assert again.remarks == record.remarks


def test_evaluations_by_different_authors_stay_apart(tmp_path: Path) -> None:
    one, two = "1. e4 {[%eval 0.30]} e5 *\n", "1. e4 {+0.10/5 1s} e5 *\n"
    study, _ = study_of(tmp_path, one, two)
    remarks = study.record(0).remarks
    assert [(r.ply, r.author, r.score) for r in remarks] == [(1, "first", 10), (1, None, 30)]
    assert [r.text for r in remarks] == ["[%eval 0.30]\f+0.10/5 1s", ""]
    evaluate(study, "comments")
    [row] = study.sql("select ply, score, author from evaluations").to_pylist()
    assert (row["ply"], row["score"], row["author"]) == (1, 10, "first")
    written = record_text(study.record(0), "pgn")
    [record] = hk.parse_records(written)
    assert [(r.ply, r.author, r.score) for r in record.remarks] == [(1, "first", 10)]


def test_players_of_another_game_with_the_same_moves_say_nothing_by_name(tmp_path: Path) -> None:
    one = '[White "Stockfish"]\n\n1. e4 {+0.10/5 1s} e5 *\n'
    two = '[White "Lc0"]\n[Date "2020.01.02"]\n\n1. e4 {+0.50/9 2s} e5 1-0\n'
    study, _ = study_of(tmp_path, one, two)
    record = study.record(0)
    assert record.tags == {"White": "Stockfish"}
    assert (record.date, record.result) == ("", None)
    said = [(remark.author, remark.score) for remark in record.remarks]
    assert said == [("first", 10), (None, 50)]


def test_a_copy_that_says_nothing_new_is_not_merged(tmp_path: Path) -> None:
    text = pgn(sorted(TAGS), ["mover", "words", "sign", "nobody", "none", "words"])
    study, report = study_of(tmp_path, text, text)
    assert (report.duplicates, report.merged_duplicates, report.values) == (1, 0, 2)
    before = (study.path / "study.toml").read_text()
    study, report = append_to_study(study.path, tmp_path / "0.pgn")
    assert (report.duplicates, report.merged_duplicates, report.values) == (1, 0, 0)
    games = re.findall(r'"(games/part-\d+)', before)
    assert all(part in (study.path / "study.toml").read_text() for part in games)


def test_adding_to_an_earlier_part_leaves_its_positions_and_evaluations(tmp_path: Path) -> None:
    bare, full = pgn([], ["none"] * 6), pgn(["Event"], ["mover"] * 6)
    (tmp_path / "0.pgn").write_text(bare + "1. d4 d5 *\n")
    (tmp_path / "1.pgn").write_text(full + "1. c4 *\n")
    study, _ = make_study(tmp_path / "study", tmp_path / "0.pgn", columns="all")
    evaluate(study, "ab:depth=1")
    before = study.sql("select * from positions where game_id < 2 order by game_id, ply")
    snapshot = study.sql("select count(*) as n from evaluations").to_pylist()
    study, report = append_to_study(study.path, tmp_path / "1.pgn")
    assert (report.games, report.merged_duplicates, report.values) == (2, 1, 6)
    assert check_study(study.path).is_whole
    after = study.sql("select * from positions where game_id < 2 order by game_id, ply")
    changed = {name for name in before.column_names if before[name] != after[name]}
    assert changed == {"event", "tags"}
    assert study.sql("select count(*) as n from evaluations").to_pylist() == snapshot
    assert [study.record(i).event for i in range(4)] == ["Casual", "", "Casual", ""]
    assert len(study.record(0).remarks) == 6
    assert [len(study.record(i)) for i in range(4)] == [6, 2, 6, 1]
    evaluate(study, "comments")
    [row] = study.sql("select count(*) as n from evaluations where engine = 'comments'").to_pylist()
    assert row["n"] == 6
    append_to_study(study.path, tmp_path / "1.pgn")  # which clears the replaced parts away
    assert check_study(study.path).leftovers == []


def test_a_copy_in_between_that_says_nothing_loses_nothing() -> None:
    texts = [
        "1. e4 {[%eval 0.3]} e5 {first} *\n",
        '[Event "x"]\n\n1. e4 e5 *\n',
        "1. e4 e5 {second} *\n",
    ]
    said = {
        ("evaluation", 1, None, 30.0, None),
        *(("comment", 1, "[%eval 0.3]"), ("comment", 2, "first"), ("comment", 2, "second")),
    }
    for order in orders(texts):
        found = imported(order, parts=False)
        assert {each for each in found if each[0] in ("evaluation", "comment")} == said


def test_properties_of_sgf_nodes_are_joined() -> None:
    def row(properties: str) -> dict[str, Any]:
        empty = dict.fromkeys(("value", "score", "mate", "depth", "clock_s", "spent_s", "author"))
        words = {"nags": None, "text": None, "properties": properties}
        return {"game_id": 0, "ply": 1, "book": False, **empty, **words}

    remarks = [row("TR[dd]LB[aa:x\\]y]")]
    assert merge_remarks(remarks, [row("TR[ee]SQ[cc][dd]")]) == (True, 0)
    assert remarks[0]["properties"] == "TR[dd]LB[aa:x\\]y]SQ[cc][dd]"
    assert merge_remarks(remarks, [row("SQ[cc][dd]")]) == (False, 0)


def test_the_command_counts_merged_duplicates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hyoka.apps.cli import run  # noqa: PLC0415 - only here

    (tmp_path / "0.pgn").write_text("1. e4 e5 *\n")
    (tmp_path / "1.pgn").write_text("1. e4 {[%eval 0.3]} e5 *\n")
    files = [str(tmp_path / f"{i}.pgn") for i in (0, 1)]
    assert run(["study", "create", str(tmp_path / "study"), *files, "--quiet"]) == 0
    assert "1 of them added" in " ".join(capsys.readouterr().out.split())
    assert run(["study", "create", str(tmp_path / "two"), *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["merged_duplicates"] == 1


def test_kata_bots_win_rates_are_kept_in_either_order(
    tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    text = lzma.decompress(shared_data("go9/ogs9_katabot_eval.sgf.xz").read_bytes()).decode()
    games = re.split(r"\n(?=\(;)", text.strip())[:60]
    bare = [re.sub(r"C\[(?:\\.|[^\]\\])*\]", "", game, flags=re.DOTALL) for game in games]
    (tmp_path / "full.sgf").write_text("\n".join(games[:40]))
    (tmp_path / "bare.sgf").write_text("\n".join(bare[20:]))
    values = []
    for order in (("full", "bare"), ("bare", "full")):
        files = [tmp_path / f"{name}.sgf" for name in order]
        study, report = make_study(tmp_path / order[0], files, columns="none")
        assert report.duplicates == 20
        values.append(study.sql("select value from remarks order by value")["value"].to_pylist())
        assert report.values == len(values[-1])
    assert values[0] == values[1]
    assert len(values[0]) > 500
