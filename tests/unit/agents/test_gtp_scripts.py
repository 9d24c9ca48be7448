# SPDX-License-Identifier: Apache-2.0
"""Tests in GTP: what a GTP engine hears of a file, and what our own players know of its past."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from engines import fake
from engines.fake_search import FakeSearcher, searchers
from hyoka.agents import kinds
from hyoka.arena.solve import SolveSummary, solve
from hyoka.records.problems import read_problems
from hyoka.records.problems.reading import read_suites

# Black has just taken the ko at C3; White may not take back at B3.
KO = "(;SZ[5];B[bb];W[cb];B[bd];W[cd];B[ac];W[dc];B[ed];W[bc];B[cc])"
LOADS = [*("knows=loadsgf", "knows=trymove", "knows=popgo", "knows=attack")]


def suite(tmp_path: Path, text: str, name: str = "one.tst") -> Path:
    (tmp_path / "games").mkdir(exist_ok=True)
    (tmp_path / "games" / "ko.sgf").write_text(KO)
    (tmp_path / name).write_text(text)
    return tmp_path / name


def solved(paths: list[Path], *words: str, jobs: int = 1) -> SolveSummary:
    tests = [test for each in read_suites(paths) for test in each.tests]
    return solve(tests, fake("gtp", *words), jobs=jobs)


def heard(log: Path) -> list[str]:
    """What the fake engines heard but greetings, with the unpacked records' names shortened."""
    lines = []
    for line in log.read_text().splitlines():
        words = line.split()
        if words[0] == "loadsgf":
            assert Path(words[1]).is_absolute()
            words[1] = Path(words[1]).suffix
        if words[0] not in ("name", "version", "list_commands"):
            lines.append(" ".join(words))
    return lines


def test_an_engine_hears_a_file_in_its_own_words_and_every_line_once(tmp_path: Path) -> None:
    text = """
set_random_seed 7
loadsgf games/ko.sgf 3
increase_depths
trymove b E5
10 attack C4  # a comment
#? [1 C3]
20 attack B4
#? [0]
popgo
decrease_depths
loadsgf games/ko.sgf
30 reg_genmove w
#? [A1]
"""
    log = tmp_path / "heard"
    settings = ["knows=set_random_seed", "knows=increase_depths", "knows=decrease_depths"]
    words = [*LOADS, *settings, "answer:attack=1 C3", "answer:reg_genmove=a1", f"log={log}"]
    report = solved([suite(tmp_path, text)], *words)
    assert [verdict.solved for verdict in report.verdicts] == [True, False, True]
    assert [verdict.move for verdict in report.verdicts] == ["1 C3", "1 C3", "a1"]
    assert [verdict.expected for verdict in report.verdicts] == ["1 C3", "0", "A1"]
    assert heard(log) == [
        "set_random_seed 7",
        "loadsgf .sgf 3",
        "increase_depths",
        "trymove b E5",
        "attack C4",
        "attack B4",
        "popgo",
        "decrease_depths",
        "loadsgf .sgf",
        "reg_genmove w",
        "quit",
    ]


def test_each_file_is_for_a_new_process(tmp_path: Path) -> None:
    one = suite(tmp_path, "level 9\nloadsgf games/ko.sgf\nattack C4\n#? [0]\n")
    two = suite(tmp_path, "loadsgf games/ko.sgf\nattack C4\n#? [0]\n", "two.tst")
    log = tmp_path / "heard"
    report = solved([one, two], *LOADS, "knows=level", "answer:attack=0", f"log={log}")
    assert report.solved == 2
    game = ["loadsgf .sgf", "attack C4", "quit"]
    assert heard(log) == ["level 9", *game, *game]


def test_what_an_engine_does_not_know_is_left_out_or_not_asked(tmp_path: Path) -> None:
    text = "go_rules kgs\nloadsgf games/ko.sgf\n1 go_safe b\n#? [0]\n2 attack C4\n#? [0]\n"
    log = tmp_path / "heard"
    report = solved([suite(tmp_path, text)], *LOADS, "answer:attack=0", f"log={log}")
    assert (report.solved, report.asked) == (1, 1)
    assert report.skipped == {"the engine does not know 'go_safe'": 1}
    assert heard(log) == ["loadsgf .sgf", "attack C4", "quit"]


@pytest.mark.parametrize(
    "line",
    [
        "printsgf out.sgf",
        "sg_compare_float 0 printsgf out.sgf",
        "attack /etc/passwd",
        "attack ..\\x",
        "attack $(id)",
        "quit",
    ],
)
def test_no_line_that_might_do_harm_is_handed_on(tmp_path: Path, line: str) -> None:
    text = f"loadsgf games/ko.sgf\n{line}\n1 {line}\n#? [0]\n2 attack C4\n#? [0]\n"
    log = tmp_path / "heard"
    words = [*LOADS, "knows=printsgf", "knows=sg_compare_float", "answer:attack=0"]
    report = solved([suite(tmp_path, text)], *words, f"log={log}")
    assert (report.solved, report.asked, report.skipped.total()) == (1, 1, 1)
    assert heard(log) == ["loadsgf .sgf", "attack C4", "quit"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.sgf").write_text(KO)
    (tmp_path / "suite" / "games").mkdir(parents=True)
    (tmp_path / "suite" / "games" / "link.sgf").symlink_to(tmp_path / "secret.sgf")
    path = tmp_path / "suite" / "one.tst"
    path.write_text("loadsgf games/link.sgf\n1 attack C4\n#? [0]\n")
    [found] = read_suites([path])
    assert len(found) == 0
    assert "no file beside" in found.refused[0].reason


def test_without_loadsgf_the_moves_are_played_in_the_order_of_the_record(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    report = solved(
        [suite(tmp_path, "loadsgf games/ko.sgf\n1 reg_genmove w\n#? [A1|B3]\n")], f"log={log}"
    )
    [verdict] = report.verdicts
    assert (verdict.solved, verdict.expected) == (True, "A1|B3")
    points = ["B4", "C4", "B2", "C2", "A3", "D3", "E2", "B3", "C3"]
    plays = [f"play {color} {point}" for color, point in zip("bwbwbwbwb", points, strict=True)]
    assert heard(log)[3:] == [*plays, "reg_genmove w", "quit"]


def test_a_refusal_of_the_board_is_an_error_and_no_wrong_answer(tmp_path: Path) -> None:
    text = "loadsgf games/ko.sgf\ntrymove b E5\n1 attack C4\n#? [0]\n"
    report = solved([suite(tmp_path, text)], *LOADS, "refuse=trymove b E5", "answer:attack=0")
    assert (report.solved, report.asked) == (0, 1)
    assert "refuses 'trymove b E5'" in report.verdicts[0].error


def test_our_own_players_know_the_ko(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fakes: Any = searchers(FakeSearcher)
    monkeypatch.setattr(kinds, "Searcher", fakes)
    [found] = read_suites([suite(tmp_path, "loadsgf games/ko.sgf\n1 reg_genmove w\n#? [B3|A1]\n")])
    assert found.tests[0].best == ("A1",)
    solve(found.tests, "ab")
    line = fakes.made[0].asked[0][0]
    assert len(line.moves) == 9
    assert not line.is_legal(line.parse("B3"))


def test_an_archive_is_unpacked_for_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "suites.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("go/one.tst", "loadsgf games/ko.sgf\n1 attack C4\n#? [0]\n")
        archive.writestr("go/games/ko.sgf", KO)
    log = tmp_path / "heard"
    report = solved([path], *LOADS, "answer:attack=0", f"log={log}")
    assert report.solved == 1
    unpacked = Path(log.read_text().split("loadsgf ")[1].split()[0])
    assert not unpacked.parent.exists()  # what was unpacked is gone


CLAIMS = """
boardsize 5
. . . . .
. . O . .
. O X . .
. . O)O .
. . . . .

ladder b c3 1
moggy moves
"""


def test_pachi_is_given_the_claims_of_its_unit_tests(tmp_path: Path) -> None:
    log = tmp_path / "heard"
    claims = read_problems(CLAIMS).assertions
    words = ["knows=pachi-tunit", "knows=kgs-rules", "answer:pachi-tunit=passed", f"log={log}"]
    report = solve(claims, fake("gtp", *words))
    assert (report.solved, report.asked) == (1, 1)
    assert report.skipped == {"a claim without an expected answer": 1}
    assert heard(log) == [
        *("boardsize 5", "clear_board", "komi 7.5", "kgs-rules chinese", "play b C3"),
        *("play w C4", "play w B3", "play w D2", "play w C2", "pachi-tunit ladder b c3 1", "quit"),
    ]
    failed = solve(claims, fake("gtp", *words[:2], "answer:pachi-tunit=failed"))
    assert (failed.solved, failed.asked) == (0, 1)
    other = solve(claims, fake("gtp"))
    assert other.skipped == {"a claim about a board, which only Pachi judges": 2}
