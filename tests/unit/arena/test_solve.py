# SPDX-License-Identifier: Apache-2.0
"""Problem sets out of files, what they ask for, and who solves them."""

import gzip
import itertools
import lzma
import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import hyoka as hk
from engines import QUICK_S, fake
from engines.fake_search import FakeSearcher, report, searchers
from hyoka.agents import kinds
from hyoka.arena.solve import SolveComparison, SolveSummary, Verdict, is_as_good, solve
from hyoka.foundation.errors import EngineError, NotationError, SourceError
from hyoka.records.problems import Exercise, Problem, exercise_of, read_problems
from hyoka.records.problems.reading import read_suites
from hyoka.search import SearchLimits, SearchResult

MATE = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; id "back rank";'
AVOID = '6k1/5ppp/8/8/8/8/8/R5K1 w - - am Kh1; id "stay";'
POINTS = '6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; c0 "Ra8=100, Ra7=40"; id "points";'
TESTS = "boardsize 5\nclear_board\n10 reg_genmove b\n#? [C3]\n20 attack C3\n#? [1 B2]\n"


def exercise(text: str) -> Exercise | str:
    suite = read_problems(text)
    found: list[Any] = [*suite.problems, *suite.tests, *suite.assertions]
    return exercise_of(found[0])


def asked(text: str) -> Exercise:
    found = exercise(text)
    assert isinstance(found, Exercise)
    return found


# What is asked


def test_a_best_move_is_to_be_found_and_a_bad_one_avoided() -> None:
    best, avoid = asked(MATE), asked(AVOID)
    assert best.is_solved_by("a1a8")
    assert not best.is_solved_by("a1a7")
    assert not best.is_solved_by(None)
    assert not avoid.is_solved_by("g1h1")
    assert avoid.is_solved_by("a1a7")
    assert (best.expectation(), avoid.expectation()) == ("a1a8", "not g1h1")


def test_points_are_given_beside_right_and_wrong() -> None:
    points = asked(POINTS)
    assert [points.points_of(move) for move in ("a1a8", "a1a7", "g1h1", None)] == [100, 40, 0, 0]
    assert points.is_solved_by("a1a8")
    assert not points.is_solved_by("a1a7")


def test_a_mate_is_solved_by_a_proof_or_by_its_first_move() -> None:
    mate = asked("4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b")
    assert mate.mate
    assert mate.is_solved_by("G*5b")
    assert mate.is_solved_by("G*4b", mate=5)
    assert not mate.is_solved_by("G*4b", mate=-5)
    assert not mate.is_solved_by("G*4b")
    white = asked("4k4/9/9/9/9/9/4p4/9/4K4 w g 1 moves G*5h")
    assert white.is_solved_by("5a4a", mate=-3)
    defence = asked(
        '{"sfen": "7k1/7S1/6GN1/9/9/9/9/7+P+P/7+PK w 2r2b3g3s3n4l15p 1", "mate": true, '
        '"answers_csa": ["-2112OU+2311NK"]}'
    )
    assert defence.is_solved_by("2a3a", mate=2)
    assert not defence.is_solved_by("2a3a", mate=-1)
    none = asked('{"sfen": "4k4/9/4P4/9/9/9/9/9/4K4 b - 1", "mate": false, "answers": []}')
    assert none.is_solved_by("5c5b+")
    assert not none.is_solved_by("5c5b+", mate=1)
    assert none.expectation() == "no mate"


def test_the_moves_with_the_best_score_are_right_in_othello() -> None:
    squares = "---------------------------OX------XO---------------------------"
    ending = asked(f"{squares} O; E3:+2; C5:-4; D6:+2;")
    assert ending.is_solved_by("e3")
    assert ending.is_solved_by("d6")
    assert not ending.is_solved_by("c5")


def best_play(game: Any) -> int:
    """Black's score under best play, by nothing but the rules."""
    if game.outcome is not None:
        return int(game.score)
    values = [best_play(game.play(move)) for move in game.legal_moves]
    return max(values) if game.to_play is hk.Player.first else min(values)


def endings(count: int, empties: int = 5) -> list[Any]:
    """Positions near the end of random games, with a choice."""
    chance = random.Random(5)
    found: list[Any] = []
    while len(found) < count:
        game: Any = hk.Othello()
        while game.outcome is None and game.text.count("-") > empties:
            game = game.play(chance.choice(list(game.legal_moves)))
        if game.outcome is None and len(game.legal_moves) > 1:
            found.append(game)
    return found


def plain(game: Any, move: str, score: int) -> Exercise:
    squares, side = game.text.split()
    number = "abcdefgh".index(move[0]) + 8 * (int(move[1]) - 1)
    return asked(f"{squares} {'Black' if side == 'X' else 'White'} {number} {score}")


def test_a_move_as_good_as_the_listed_one_is_right_and_no_other() -> None:
    for game in endings(12):
        values = {str(move): best_play(game.play(move)) for move in game.legal_moves}
        best = max(values.values()) if game.to_play is hk.Player.first else min(values.values())
        listed = next(move for move, value in values.items() if value == best)
        # Some suites leave empty squares out of the count: the score says less than the move.
        ending = plain(game, listed, best - 1)
        for move, value in values.items():
            assert is_as_good(ending, move, None) == (value == best), (game.text, move)
        assert is_as_good(ending, listed, float(best))
        assert not is_as_good(ending, None, None)
        assert not is_as_good(ending, "a9", None)


def test_an_ending_with_nothing_but_a_score_is_solved_by_whatever_reaches_it() -> None:
    for game in endings(6):
        values = {str(move): best_play(game.play(move)) for move in game.legal_moves}
        view = 1 if game.to_play is hk.Player.first else -1
        best = max(view * value for value in values.values())
        ending = exercise_of(Problem("othello", game.text, score=float(view * best)))
        assert isinstance(ending, Exercise)
        assert ending.expectation() == f"score {view * best:+g}"
        for move, value in values.items():
            assert not ending.is_solved_by(move)
            assert is_as_good(ending, move, None) == (view * value == best)
    chess = Problem("chess", hk.Chess().text, score=30.0)
    assert isinstance(exercise_of(chess), str)  # a score of chess is an opinion


def test_a_listed_move_that_is_too_hard_to_judge_is_worth_what_the_set_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (game,) = endings(1)
    listed, other = map(str, game.legal_moves[:2])
    worths: dict[str, float | None] = {listed: None}
    monkeypatch.setattr("hyoka.arena.solve._worth", lambda _, move: worths[move])
    sign = 1 if game.to_play is hk.Player.first else -1
    worths[other] = 4.0 * sign
    for score, solved in ((4.0, True), (2.0, True), (6.0, False)):
        ending = Exercise("othello", game.text, best=(listed,), score=sign * score)
        assert is_as_good(ending, other, None) == solved


def test_an_exact_score_solves_an_ending_whatever_the_move() -> None:
    (game,) = endings(1)
    move, score = str(next(iter(game.legal_moves))), best_play(game)
    ending = plain(game, move, score)
    assert ending.expectation() == f"{move}, score {score:+d}"
    assert ending.is_solved_by("a1", score=float(score))
    assert not ending.is_solved_by("a1", score=score + 2.0)
    chess = asked(MATE.replace(" id", " ce 30; id"))
    assert not chess.is_solved_by("a1a7", score=30.0)


def test_the_exact_search_solves_every_ending_that_is_right() -> None:
    texts = []
    for game in endings(12):
        values = {str(move): best_play(game.play(move)) for move in game.legal_moves}
        best = max(values.values()) if game.to_play is hk.Player.first else min(values.values())
        squares, side = game.text.split()
        view = 1 if side == "X" else -1
        # The last of the best: the solver has no reason to prefer it.
        move = [move for move, value in values.items() if value == best][-1]
        texts.append(f"{squares} {side}; {move}:{view * best:+d};")
    report = solve(problems(*texts), "exact")
    assert (report.solved, report.asked) == (12, 12)
    assert all(verdict.score is not None for verdict in report.verdicts)


@pytest.mark.parametrize("word", ["PS", "pass", "PA", "--"])
def test_a_recorded_pass_is_a_move(word: str) -> None:
    # White has no disc to turn anything from: only Black's a1 is left.
    squares = "-O" + "X" * 62
    assert asked(f"{squares} O; {word}:-64;").best == ("pass",)
    report = solve(problems(f"{squares} O; {word}:-64;", f"{squares} White 64 64"), "exact")
    assert (report.solved, report.asked) == (2, 2)
    assert asked(f"{squares} White -1 64").best == ("pass",)


def test_what_asks_for_no_move_says_why() -> None:
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert exercise(f"{start} ;D1 20") == "a table of perft"
    assert exercise("startpos moves 7g7f") == "an opening, with nothing to solve"
    shogi = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
    assert exercise(f"{shogi} moves 7g7f\t50") == "the set does not give the best move"
    assert exercise(start) == "the set says no right move"
    assert "another answer" in str(
        exercise(TESTS.replace("reg_genmove b\n#? [C3]", "attack C3\n#? [1]"))
    )
    claim = "boardsize 3\n. . .\n. X .\n. . .\n\nladder b b2 1\n"
    assert "claim" in str(exercise(claim))


def test_a_test_may_limit_the_choice() -> None:
    limited = asked("boardsize 5\nclear_board\nrestricted_genmove b C3 B2\n#? [C3]\n")
    assert limited.only == ("C3", "B2")


# Who solves


class Fixed(FakeSearcher):
    """Plays the first of some moves that is legal."""

    moves = ("a1a8", "G*5b", "C3", "d3")

    def found(self, line: Any, moves: list[Any]) -> SearchResult:
        texts = {str(move): move for move in moves}
        best = next((texts[text] for text in self.moves if text in texts), moves[0])
        return report(line, [best], value=0.5)


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> Any:
    kind = searchers(Fixed)
    monkeypatch.setattr(kinds, "Searcher", kind)
    return kind


def problems(*texts: str) -> list[Any]:
    return [
        each
        for text in texts
        for suite in [read_problems(text)]
        for each in (*suite.problems, *suite.tests, *suite.assertions)
    ]


def test_a_search_solves_problems_of_many_games(fixed: Any) -> None:
    mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b"
    heard: list[Verdict] = []
    found = solve(
        problems(MATE, AVOID, POINTS, TESTS, mate),
        "ab:nodes=10",
        limits=SearchLimits(nodes=7),
        on_verdict=heard.append,
    )
    assert (found.solved, found.asked, found.errors) == (5, 5, 0)
    assert found.skipped == {"a question for another answer than a move": 1}
    assert found.points == (100, 100)
    assert found.nodes == 5000
    assert [verdict.name for verdict in found.verdicts][:3] == ["back rank", "stay", "points"]
    assert heard == list(found.verdicts)
    assert {searcher.game for searcher in fixed.made} == {"chess", "shogi", "go5"}
    [chess] = [searcher for searcher in fixed.made if searcher.game == "chess"]
    assert chess.cleared == 3
    assert chess.asked[0][1] == SearchLimits(nodes=7)


@pytest.mark.parametrize("jobs", [1, 3])
def test_verdicts_are_in_the_order_of_the_problems(fixed: Any, jobs: int) -> None:
    texts = [MATE.replace("back rank", str(number)) for number in range(20)]
    found = solve(problems(*texts), "ab", jobs=jobs)
    assert [verdict.id for verdict in found.verdicts] == [str(number) for number in range(20)]
    assert len(fixed.made) <= jobs


def test_what_goes_wrong_with_one_problem_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Refusing(Fixed):
        def __init__(self, spec: Any, game: str) -> None:
            if game == "shogi":
                raise NotationError("this search plays no shogi")
            super().__init__(spec, game)

    monkeypatch.setattr(kinds, "Searcher", searchers(Refusing))
    mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b"
    found = solve(problems(mate, MATE), "ab")
    assert (found.solved, found.asked, found.errors) == (1, 2, 1)
    assert found.verdicts[0].error == "this search plays no shogi"


def test_an_interrupt_gives_what_there_is(fixed: Any) -> None:
    def interrupt(verdict: Verdict) -> None:
        if verdict.id == "2":
            raise KeyboardInterrupt

    texts = [MATE.replace("back rank", str(number)) for number in range(10_000)]
    found = solve(problems(*texts[:300]), "ab", on_verdict=interrupt)
    assert found.interrupted
    assert 3 <= found.asked <= 300


def test_engines_solve_too() -> None:
    found = solve(problems(MATE, AVOID), fake("uci", "best=a1a8"))
    assert found.asked == 2
    gtp = solve(problems(TESTS), fake("gtp", "answer:reg_genmove=C3"), limits=None, jobs=2)
    assert (gtp.solved, gtp.asked) == (1, 1)
    wrong = solve(problems(MATE), fake("gtp"))  # GTP knows no chess
    assert wrong.verdicts[0].error


def test_an_engine_that_hangs_is_given_up_and_the_report_is_kept() -> None:
    silent = fake("uci", "silent=1", settings=f"time=0.1,grace={QUICK_S}")
    found = solve(problems(*[MATE] * 6), silent)
    errors = [verdict.error for verdict in found.verdicts]
    assert all("does not answer within 0.3 s" in error for error in errors)
    assert ["given up" in error for error in errors] == [False] * 4 + [True] * 2
    tests = problems("\n".join(f"{n} reg_genmove b\n#? [C3]" for n in range(3)))
    settings = f"timeout={10 * QUICK_S}"
    found = solve(tests, fake("gtp", "hang=reg_genmove", settings=settings))
    assert [verdict.error != "" for verdict in found.verdicts] == [True] * 3


def test_bad_specs_and_missing_engines_are_refused_at_once() -> None:
    with pytest.raises(NotationError):
        solve(problems(MATE), "nonsense")
    with pytest.raises(EngineError):
        solve(problems(MATE), "uci:no-such-engine-anywhere")


def test_nothing_to_solve_is_no_error() -> None:
    found = solve([], "ab")
    assert (found.asked, found.solved, found.interval) == (0, 0, (0.0, 1.0))


def interval(solved: int, trials: int) -> tuple[float, float]:
    verdicts = [
        Verdict(source="", line_number=1, id="", game="chess", expected="", solved=i < solved)
        for i in range(trials)
    ]
    return SolveSummary("ab", tuple(verdicts)).interval


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_interval_holds_the_share_and_is_a_mirror(solved: int, missed: int) -> None:
    trials = solved + missed
    low, high = interval(solved, trials)
    share = solved / trials if trials else 0.5
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    other_low, other_high = interval(missed, trials)
    assert low == pytest.approx(1 - other_high, abs=1e-9)
    assert high == pytest.approx(1 - other_low, abs=1e-9)


# Files


def names(*paths: object) -> list[tuple[str, int]]:
    return [(Path(suite.source).name, len(suite)) for suite in read_suites(map(str, paths))]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "suites.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("chess/mate.epd", MATE)
        made.writestr("chess/more.epd", f"{MATE}\n{AVOID}")
        made.writestr("go/one.tst", "loadsgf games/a.sgf 2\n1 reg_genmove w\n#? [C3]\n")
        made.writestr("go/games/a.sgf", "(;SZ[5];B[aa];W[cc])")
        made.writestr("readme.txt", "no problems here")
    return path


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".zip", None)],
)
def test_files_are_unpacked(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes] | None
) -> None:
    path = tmp_path / f"mate.epd{suffix}"
    if pack is None:
        with zipfile.ZipFile(path, "w") as made:
            made.writestr("mate.epd", MATE)
        assert [suite.source for suite in read_suites([path])] == [f"{path}!mate.epd"]
    else:
        path.write_bytes(pack(MATE.encode()))
        assert names(path) == [(path.name, 1)]


def test_an_archive_gives_all_sets_or_those_named(archive: Path) -> None:
    counts = [len(suite) for suite in read_suites([archive])]
    assert counts == [1, 2, 1]
    assert len(read_suites([f"{archive}:chess/more.epd"])[0]) == 2
    assert len(read_suites([f"{archive}:chess/*"])) == 2
    [tests] = read_suites([f"{archive}:go/one.tst"])
    assert tests.tests[0].best == ("C3",)
    assert tests.refused == ()


def test_a_folder_gives_the_sets_in_it(tmp_path: Path, archive: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.epd").write_text(MATE)
    (tmp_path / "readme.txt").write_text("nothing")
    assert names(tmp_path) == [("a.epd", 1)]


def test_missing_and_broken_files_are_refused(tmp_path: Path, archive: Path) -> None:
    broken = tmp_path / "broken.epd.xz"
    broken.write_bytes(lzma.compress(MATE.encode())[:-9])
    text = tmp_path / "text.txt"
    text.write_text("nothing to solve")
    cut = tmp_path / "cut.zip"
    cut.write_bytes(archive.read_bytes()[:100])
    for name in ("nowhere.epd", f"{archive}:nowhere.epd", str(broken), str(cut)):
        with pytest.raises(SourceError):
            read_suites([name])
    with pytest.raises(SourceError, match=r"mate\.epd"):
        read_suites([f"{archive}:nowhere.epd"])
    for name in (str(text), f"{archive}:readme.txt"):
        with pytest.raises(NotationError):
            read_suites([name])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(SourceError, match="no problem set"):
        read_suites([empty])


def test_agents_are_compared_on_the_problems_that_both_attempted() -> None:
    chance = random.Random(1)

    def summary(places: range, share: float) -> SolveSummary:
        verdicts = (
            Verdict(source="set", line_number=n, id="", game="chess", expected="", solved=draw)
            for n in places
            for draw in (chance.random() < share,)
        )
        return SolveSummary("ab", tuple(verdicts))

    one, other = summary(range(300), 0.6), summary(range(50, 400), 0.4)
    found = SolveComparison.of(one, other)
    pairs = [(one.verdicts[n].solved, other.verdicts[n - 50].solved) for n in range(50, 300)]
    counts = [pairs.count((a, b)) for a, b in itertools.product((True, False), repeat=2)]
    assert [found.both, found.only_one, found.only_other, found.neither] == counts
    discordant = found.only_one + found.only_other
    oracle = stats.binomtest(found.only_one, discordant).pvalue
    assert found.p == pytest.approx(oracle, rel=1e-9)
    assert SolveComparison.of(one, one).p == 1


def test_the_interval_of_a_paired_difference_is_newcombes_and_covers() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 2635: method 10 for 36, 12, 2, 0.
    published = SolveComparison(36, 12, 2, 0).difference
    assert (round(published.low, 4), round(published.high, 4)) == (0.0569, 0.3404)
    chance = np.random.default_rng(3)
    shares = (0.35, 0.2, 0.1, 0.35)
    drawn = chance.multinomial(60, shares, 2000)
    intervals = [SolveComparison(*map(int, counts)).difference for counts in drawn]
    covered = sum(each.low <= shares[1] - shares[2] <= each.high for each in intervals)
    assert 0.93 < covered / len(drawn) < 0.975
    nothing = SolveComparison(0, 0, 0, 0)
    assert math.isnan(nothing.difference.value)
    assert nothing.p == 1
