# SPDX-License-Identifier: Apache-2.0
"""One shape of progress, for every worker and viewer."""

import io
from collections.abc import Callable

import pytest
from rich.live import Live

import hyoka as hk
from hyoka.apps.cli import output
from hyoka.arena.solve import solve
from hyoka.foundation.progress import OnProgress, Progress, Tally
from hyoka.records.problems import read_problems
from hyoka.study.evaluating import evaluate
from hyoka.study.exact_results import adjudicate

MATE = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";'


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> hk.Study:
    folder = tmp_path_factory.mktemp("progress")
    games = [f"1. e4 {{[%eval 0.3]}} e5 2. {move} 1-0\n" for move in ("d4", "c4", "b4", "f4")]
    (folder / "games.pgn").write_text("\n".join(games), encoding="utf-8")
    study = hk.Study.create(folder / "study", folder / "games.pgn")
    evaluate(study, ["comments"])
    return study


def evaluating(study: hk.Study, progress: OnProgress) -> None:
    evaluate(study, ["ab:nodes=5"], jobs=2, progress=progress)


def adjudicating(study: hk.Study, progress: OnProgress) -> None:
    adjudicate(study, "rules", progress=progress)


def splitting(study: hk.Study, progress: OnProgress) -> None:
    study.slices("comments", columns=["ply"], depth=1, progress=progress)


def solving(study: hk.Study, progress: OnProgress) -> None:
    solve(read_problems("\n".join([MATE] * 5)).problems, "ab:nodes=10", jobs=2, progress=progress)


def playing(study: hk.Study, progress: OnProgress) -> None:
    plan = hk.plan_match("a=random", "b=random", game="go5", openings="start")
    hk.play_match(plan, study.path.with_name("match"), games=4, jobs=2, progress=progress)


def reading(study: hk.Study, progress: OnProgress) -> None:
    made = study.path.with_name("another")
    hk.Study.create(made, study.path.with_name("games.pgn"), progress=progress)


@pytest.mark.parametrize(
    ("work", "what", "total", "unit"),
    [
        (evaluating, "Alpha-beta, 5 nodes", 16, "positions"),
        (adjudicating, "rules", 4, "positions"),
        (splitting, "slices of comments", None, "conditions"),
        (solving, "Alpha-beta, 10 nodes", 5, "problems"),
        (playing, "match", 4, "games"),
        (reading, "reading", None, "bytes"),
    ],
)
def test_progress_goes_from_nothing_to_all(
    study: hk.Study,
    work: Callable[[hk.Study, OnProgress], None],
    what: str,
    total: int | None,
    unit: str,
) -> None:
    heard: list[Progress] = []
    work(study, heard.append)
    assert {(each.what, each.unit) for each in heard} == {(what, unit)}
    assert len({each.total for each in heard}) == 1
    assert total in (None, heard[0].total)
    counts = [each.done for each in heard]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, heard[0].total)


def test_parts_add_up_to_the_whole() -> None:
    heard: list[Progress] = []
    whole = Tally(heard.append, "reading", 30, "bytes")
    for size in (10, 20):
        part = Tally(whole.of_part(), "a file", size, "bytes")
        part.add(size - 1)
        part.add(1)
    assert [each.done for each in heard] == [0, 0, 9, 10, 10, 29, 30]
    assert {each.what for each in heard} == {"reading"}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> output.SafeConsole:
    console = output.SafeConsole(file=io.StringIO(), force_terminal=True, width=200)
    monkeypatch.setattr(output, "err", console)
    return console


def shown_on(console: output.SafeConsole) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_each_piece_of_work_has_a_bar(terminal: output.SafeConsole) -> None:
    with output.progress_bars() as progress:
        progress(Progress("one", 1, 4, "positions", "a [bold]note[/]"))
        progress(Progress("two", 3 << 20, 12 << 20, "bytes"))
        progress(Progress("three", 5, None, "games"))
    text = shown_on(terminal)
    for words in ("one", "1/4", "a [bold]note[/]", "two", "3.1/12.6 MB", "three", "5/?"):
        assert words in text


def test_bars_go_when_all_is_done_and_leave_room_for_others(terminal: output.SafeConsole) -> None:
    with output.progress_bars() as progress:
        for what in ("one", "two"):
            progress(Progress(what, 0, 2, "positions"))
            progress(Progress(what, 2, 2, "positions"))
            with Live("the standing", console=terminal):  # raises while bars are drawn
                pass
        progress(Progress("three", 1, 2, "positions"))
    progress(Progress("a thread that reads ahead", 1, 2, "bytes"))
    with Live("the standing", console=terminal):
        pass
    assert "reads ahead" not in shown_on(terminal)


def test_nothing_is_drawn_if_nobody_looks(
    terminal: output.SafeConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    with output.output_mode(as_json=False, quiet=True), output.progress_bars() as progress:
        progress(Progress("one", 1, 4, "positions"))
    assert shown_on(terminal) == ""
    monkeypatch.setattr(output, "err", output.SafeConsole(file=io.StringIO()))
    with output.progress_bars() as progress:
        progress(Progress("one", 1, 4, "positions"))
    assert shown_on(output.err) == ""


def test_items_are_counted_as_they_are_used(terminal: output.SafeConsole) -> None:
    assert list(output.tracked(iter("abc"), "letters", 3, "letters")) == list("abc")
    assert "0/3" in shown_on(terminal)
