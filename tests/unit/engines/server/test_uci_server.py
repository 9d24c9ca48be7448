# SPDX-License-Identifier: Apache-2.0
"""Our side of UCI and USI, around a scripted search."""

import re
from pathlib import Path
from typing import Any

import pytest

import hyoka as hk
from engines.fake_search import Dialogue, FakeSearcher, report, searchers
from hyoka._core import Player
from hyoka.engines.server import Controller, UciServer, UsiServer
from hyoka.engines.server.uci_text import Go, centipawns_of, info_lines, score_of
from hyoka.search import Searcher, SearchLimits, SearchResult, SearchSpec

SERVERS = {"uci": UciServer, "usi": UsiServer}
both = pytest.mark.parametrize("protocol", ["uci", "usi"])


def said(*lines: str, protocol: str = "uci", searcher: Any = None, spec: str = "ab") -> list[str]:
    """All that an engine says to some lines."""
    out: list[str] = []
    SERVERS[protocol](
        SearchSpec.from_text(spec),
        Controller(iter(lines), out.append),
        searcher_of=searcher or searchers(),
    ).run()
    return "".join(out).splitlines()


def thinking(protocol: str = "uci", searcher: Any = None) -> Dialogue:
    fake = searcher or searchers()
    spec = SearchSpec.from_text("ab")
    return Dialogue(lambda out: SERVERS[protocol](spec, out, searcher_of=fake))


def limits_of(go: str, position: str = "startpos", protocol: str = "uci", spec: str = "ab") -> Any:
    fake = searchers()
    with Dialogue(
        lambda out: SERVERS[protocol](SearchSpec.from_text(spec), out, searcher_of=fake)
    ) as engine:
        engine.say(f"position {position}", go)
        if "infinite" in go or "ponder" in go:
            engine.until("^info")
        engine.say("stop")
        engine.until("^bestmove")
    return fake.made[0].asked[0][1]


class Mating(FakeSearcher):
    """Finds a mate: what the first player mates in this number of plies."""

    plies = 3

    def found(self, line: Any, moves: list[Any]) -> SearchResult:
        return report(line, moves, value=1.0 if self.plies > 0 else 0.0, mate=self.plies)


class NoMate(FakeSearcher):
    """Is sure that there is none."""

    def found(self, line: Any, moves: list[Any]) -> SearchResult:
        return SearchResult(best=None, value=None, stopped_by="solved")


class Scoring(FakeSearcher):
    """Has a score for the first player."""

    def found(self, line: Any, moves: list[Any]) -> SearchResult:
        return report(line, moves, value=0.6, score=35.0)


class Failing(FakeSearcher):
    """Fails."""

    def search(self, *words: Any, **settings: Any) -> SearchResult:
        raise RuntimeError("it broke\nin two")


# The handshake and the options


@both
def test_the_handshake_names_us_and_our_options(protocol: str) -> None:
    lines = said(protocol, "isready", protocol=protocol)
    assert lines[0].startswith("id name Hyoka ")
    assert lines[1].startswith("id author ")
    assert lines[-2:] == [f"{protocol}ok", "readyok"]
    options = [line.removeprefix("option name ") for line in lines[2:-2]]
    hash_name, ponder = ("Hash", "Ponder") if protocol == "uci" else ("USI_Hash", "USI_Ponder")
    assert any(option.startswith(f"{hash_name} type spin default ") for option in options)
    assert f"{ponder} type check default false" in options
    assert "MultiPV type spin default 1 min 1 max 500" in options
    names = [option.partition(" type ")[0] for option in options]
    known = {setting.name for setting in SearchSpec.settings_for("ab")}
    assert known <= {name.lower().removeprefix("usi_") for name in names}
    if protocol == "usi":  # whose names are single words
        assert not any(" " in name for name in names)


@both
def test_options_change_the_search(protocol: str) -> None:
    fake = searchers()
    said(
        *("isready", "setoption name nodes value 77", "setoption name EXACT value true", "isready"),
        protocol=protocol,
        searcher=fake,
    )
    assert fake.made[0].spec.text == "ab"
    assert set(fake.made[-1].spec.text.removeprefix("ab:").split(",")) == {"nodes=77", "exact=on"}


def test_the_whole_search_can_be_changed() -> None:
    fake = searchers()
    said("setoption name Search value uct:playouts=50", "go", searcher=fake)
    assert fake.made[-1].spec.text == "uct:playouts=50"


def test_bad_options_are_refused_and_change_nothing() -> None:
    fake = searchers()
    lines = said(
        *("setoption name nonsense value 1", "setoption name nodes value many", "setoption"),
        *("setoption name Search value nonsense", "setoption name MultiPV value x"),
        *("setoption name nodes value 5,exact=on", "isready"),
        searcher=fake,
    )
    assert all(line.startswith("info string ") for line in lines[:-1])
    assert len(lines) == 7
    assert fake.made[0].spec.text == "ab"


@both
def test_a_missing_file_is_refused_and_changes_nothing(protocol: str) -> None:
    fake = searchers()
    lines = said(
        *("setoption name eval value /nowhere/x", "isready"), protocol=protocol, searcher=fake
    )
    assert lines == ["info string option eval: /nowhere/x: No such file or directory", "readyok"]
    assert fake.made[-1].spec.text == "ab"


def test_settings_that_have_no_effect_yet_are_kept_for_others_that_follow() -> None:
    fake = searchers()
    said(
        *("setoption name Search value uct", "setoption name widening_c value 2", "isready"),
        *("setoption name widening value true", "isready"),
        searcher=fake,
    )
    assert fake.made[-1].spec.text == "uct:widening=on,widening_c=2"


@both
def test_a_search_that_cannot_be_built_is_an_error_and_forfeits(
    protocol: str, tmp_path: Path
) -> None:
    file = tmp_path / "x"
    file.write_text("{}")

    class Weighty(FakeSearcher):
        def __init__(self, spec: SearchSpec, game: str) -> None:
            if spec["eval"] != "built-in":
                raise FileNotFoundError(2, "no such file", spec["eval"].path)
            super().__init__(spec, game)

    lines = said(
        *(f"setoption name eval value {file}", "isready", "go depth 1"),
        *("setoption name eval value <empty>", "go depth 1"),
        protocol=protocol,
        searcher=searchers(Weighty),
    )
    assert "no such file" in lines[0]
    assert lines[1] == "readyok"
    assert lines[3] == ("bestmove (none)" if protocol == "uci" else "bestmove resign")
    assert lines[-1].startswith("bestmove ")
    assert lines[-1] != lines[3]


def test_several_variations_come_best_first() -> None:
    lines = said("setoption name MultiPV value 3", "position startpos", "go nodes 5")
    numbers = [line.split(" multipv ")[1].split()[0] for line in lines if " multipv " in line]
    assert numbers[-3:] == ["1", "2", "3"]
    assert lines[-1].startswith("bestmove ")


@pytest.mark.parametrize("spec", ["uct:playouts=200", "mc:playouts=200", "ab:nodes=3000,multipv=3"])
def test_each_of_several_variations_has_the_score_of_its_move(spec: str) -> None:
    """The mean of a tree search over all moves is no score of the first one."""
    line = hk.Chess().line()
    limits = SearchLimits(nodes=3000) if spec.startswith("ab") else SearchLimits(playouts=200)
    result = Searcher(spec, "chess").search(line, limits)
    texts = info_lines(result, Player.first, "chess", lines=3, write=lambda moves: str(moves[0]))
    listed = [re.search(r"info depth (\d+) .* score cp (\S+) .* pv (\S+)", text) for text in texts]
    assert [None if each is None else each.groups() for each in listed] == [
        (
            str(result.depth),
            str(
                score_of(
                    Player.first, "chess", value=move.value, score=move.score, unit=result.unit
                )
            ),
            str(move.move),
        )
        for move in result.moves[:3]
    ]
    [alone] = info_lines(result, Player.first, "chess", lines=1, write=lambda moves: str(moves[0]))
    said_value = score_of(
        Player.first, "chess", value=result.value, score=result.score, unit=result.unit
    )
    assert f" score cp {said_value} " in alone


def test_unknown_words_are_passed_over() -> None:
    assert said("joho isready", "nonsense", "", "debug on", "register later", "isready") == [
        *("readyok", "readyok"),
    ]


# Positions


@both
@pytest.mark.parametrize(
    "bad",
    [
        *("position", "position nonsense", "position fen", "position fen x y", "position sfen 9 b"),
        *("position startpos moves e2e5", "position startpos moves 1a1b", "position moves e2e4"),
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    ],
)
def test_bad_positions_are_refused_and_none_is_played(protocol: str, bad: str) -> None:
    lines = said(bad, "go", "position startpos", "go", protocol=protocol)
    assert lines[0].startswith("info string no position: ")
    assert lines[1] == "info string there is no position"
    assert lines[2] == ("bestmove (none)" if protocol == "uci" else "bestmove resign")
    assert lines[-1].startswith("bestmove ")
    assert lines[-1] != lines[2]


def test_moves_go_on_where_a_draw_could_be_claimed() -> None:
    shuffle = "g1f3 g8f6 f3g1 f6g8 " * 3
    fake = searchers()
    lines = said(f"position startpos moves {shuffle}e2e4", "go nodes 1", searcher=fake)
    assert lines[-1].startswith("bestmove ")
    assert str(fake.made[0].asked[0][0].position.text).startswith("rnbqkbnr/pppppppp/8/8/4P3/")
    bare = "position fen 8/8/4k3/8/8/4K3/8/8 w - - 120 90"
    assert said(bare, "go nodes 1")[-1] != "bestmove (none)"


def test_a_finished_game_has_no_best_move() -> None:
    mate = "position startpos moves f2f3 e7e5 g2g4 d8h4"
    assert said(mate, "go nodes 1") == ["info depth 0 score mate 0", "bestmove (none)"]
    stalemate = "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    assert said(stalemate, "go nodes 1") == ["info depth 0 score cp 0", "bestmove (none)"]


def test_castling_is_written_as_the_option_says() -> None:
    class Castling(FakeSearcher):
        def found(self, line: Any, moves: list[Any]) -> SearchResult:
            return report(line, [line.parse("O-O")], value=0.5)

    fen = "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
    fake = searchers(Castling)
    assert said(fen, "go nodes 1", searcher=fake)[-1].split()[1] == "e1g1"
    chess960 = "setoption name UCI_Chess960 value true"
    assert said(chess960, fen, "go nodes 1", searcher=fake)[-1].split()[1] == "e1h1"
    shuffled = "position fen 4k3/8/8/8/8/8/8/RK5R w HA - 0 1"
    assert said(chess960, shuffled, "go nodes 1", searcher=fake)[-1].split()[1] == "b1h1"
    assert said(chess960, f"{shuffled} moves b1h1", "go nodes 1")[-1].startswith("bestmove e8")


# Limits


def test_go_tells_the_search_its_limits() -> None:
    assert limits_of("go depth 7").depth == 7
    assert limits_of("go nodes 900").nodes == 900
    assert limits_of("go nodes 900", spec="uct").playouts == 900
    assert limits_of("go movetime 1500").time_s == 1.5
    assert limits_of("go mate 2").depth == 3
    assert limits_of("go infinite") == SearchLimits(infinite=True)
    assert limits_of("go", spec="ab:nodes=5") == SearchLimits()
    assert limits_of("go depth 99999999999999999999").depth < 2**31


def test_the_clock_is_that_of_the_side_to_move() -> None:
    go = "go wtime 300000 btime 3000 winc 0 binc 0"
    assert 5 < limits_of(go).time_s < 20
    assert 0.01 < limits_of(go, "startpos moves e2e4").time_s < 0.5
    go = "go btime 300000 wtime 3000"
    assert 5 < limits_of(go, protocol="usi").time_s < 20
    assert 0.01 < limits_of(go, "startpos moves 7g7f", protocol="usi").time_s < 0.5
    assert 4 < limits_of("go btime 0 wtime 0 byoyomi 5000", protocol="usi").time_s < 5
    assert limits_of("go wtime -5 btime -5").time_s > 0
    assert 90 < limits_of("go wtime 100000 movestogo 1").time_s < 100


def test_only_the_moves_named_are_searched() -> None:
    fake = searchers()
    said("go nodes 3 searchmoves e2e4 nonsense e2e5 d2d4 e2e4", searcher=fake)
    assert [str(move) for move in fake.made[0].asked[0][2]] == ["e2e4", "d2d4"]
    assert Go.from_words(["go", "searchmoves", "a2a3", "infinite"]).infinite


# Thinking


@both
def test_an_endless_search_reads_commands_and_answers_only_when_stopped(protocol: str) -> None:
    with thinking(protocol) as engine:
        engine.say("position startpos", "go infinite")
        engine.until("^info depth")
        engine.say("isready")
        engine.until("^readyok")
        assert not any(line.startswith("bestmove") for line in engine.lines)
        engine.say("stop")
        engine.until("^bestmove")
        engine.say("stop", "isready")  # nothing to stop
        assert engine.until("") == "readyok"


def test_a_search_that_ends_early_is_held_back_until_it_may_answer() -> None:
    with thinking() as engine:
        engine.say("go ponder depth 3")
        engine.until("^info depth")
        engine.say("isready")
        engine.until("^readyok")
        assert not any(line.startswith("bestmove") for line in engine.lines)
        engine.say("ponderhit")
        engine.until("^bestmove")


@both
def test_after_a_ponderhit_the_clock_counts(protocol: str) -> None:
    with thinking(protocol) as engine:
        engine.say("position startpos", "go ponder wtime 600 btime 600 byoyomi 100")
        engine.until("^info depth")
        engine.say("ponderhit")
        engine.until("^bestmove")


def test_pondering_can_be_stopped() -> None:
    with thinking() as engine:
        engine.say("go ponder wtime 600000 btime 600000", "stop")
        engine.until("^bestmove")


@both
def test_quit_and_the_end_of_input_end_a_search(protocol: str) -> None:
    for last in (["quit"], []):
        with thinking(protocol) as engine:
            engine.say("go infinite", *last)


@both
def test_lines_from_a_pipe_get_their_answer(protocol: str) -> None:
    for last in (["go nodes 100"], ["go nodes 100", "quit"], ["go infinite"]):
        answers = said(protocol, "position startpos", *last, protocol=protocol)
        assert answers[-1].startswith("bestmove ")
        assert sum(line.startswith("bestmove") for line in answers) == 1


def test_the_end_of_input_waits_for_a_search_that_ends() -> None:
    assert said("go depth 3")[-1].startswith("bestmove ")


def test_a_new_position_or_search_ends_the_last_search() -> None:
    with thinking() as engine:
        engine.say("go infinite", "position startpos moves e2e4")
        engine.until("^bestmove")
        engine.say("go infinite", "go depth 1")
        engine.until("^bestmove")
        engine.until("^bestmove")


def test_a_new_game_makes_the_search_forget() -> None:
    fake = searchers()
    said("go depth 1", "ucinewgame", "setoption name Clear Hash", "isready", searcher=fake)
    assert [searcher.cleared for searcher in fake.made] == [2]


def test_a_search_that_fails_is_an_error_and_forfeits(capfd: pytest.CaptureFixture[str]) -> None:
    lines = said("go depth 1", "isready", searcher=searchers(Failing))
    assert "info string the search failed: RuntimeError('it broke\\nin two')" in lines
    assert "bestmove (none)" in lines
    assert "RuntimeError" in capfd.readouterr().err


# Output


def test_scores_are_seen_by_the_side_to_move() -> None:
    white = said("position startpos", "go depth 1", searcher=searchers(Scoring))
    black = said("position startpos moves e2e4", "go depth 1", searcher=searchers(Scoring))
    assert " score cp 35 nodes 1000 nps 2000 time 500 pv " in white[-2]
    assert " score cp -35 " in black[-2]
    value = said("position startpos moves e2e4", "go depth 1")
    assert f" score cp {centipawns_of(0.4, 'chess')} " in value[-2]


@pytest.mark.parametrize(
    ("plies", "white", "black"), [(1, 1, -1), (3, 2, -2), (2, 1, -1), (-2, -1, 1), (-3, -2, 2)]
)
def test_mates_are_counted_in_moves_by_uci(plies: int, white: int, black: int) -> None:
    kind = type("Mate", (Mating,), {"plies": plies})
    found = said("go depth 1", searcher=searchers(kind))[-2]
    assert f" score mate {white} " in found
    found = said("position startpos moves e2e4", "go depth 1", searcher=searchers(kind))[-2]
    assert f" score mate {black} " in found


def test_mates_are_counted_in_plies_by_usi() -> None:
    found = said("go byoyomi 100", protocol="usi", searcher=searchers(Mating))
    assert " score mate 3 " in found[-2]


def test_the_variation_begins_with_the_best_move_and_names_one_to_ponder() -> None:
    *_, info, best = said("position startpos", "go depth 1")
    first, second = info.split(" pv ")[1].split()
    assert best == f"bestmove {first} ponder {second}"


# USI alone


def test_a_king_that_has_entered_is_declared() -> None:
    entered = "position sfen 1+R+B1K4/2GGGG3/2SSSS3/9/9/9/9/9/4k4 b RB2N2L9P2n2l9p 1"
    assert hk.Shogi.from_text(entered.removeprefix("position sfen ")).may_declare
    assert said(entered, "go byoyomi 10", protocol="usi") == ["bestmove win"]
    never = "setoption name DeclareWin value false"
    assert said(never, entered, "go byoyomi 10", protocol="usi")[-1] != "bestmove win"


def test_a_lost_game_is_resigned_only_if_that_is_wanted() -> None:
    fake = searchers(Scoring)
    behind = "position startpos moves 7g7f"
    assert said(behind, "go byoyomi 9", protocol="usi", searcher=fake)[-1] != "bestmove resign"
    option = "setoption name ResignValue value 30"
    out = said(option, behind, "go byoyomi 9", protocol="usi", searcher=fake)
    assert out[-1] == "bestmove resign"
    assert said(option, "go byoyomi 9", protocol="usi", searcher=fake)[-1] != "bestmove resign"


def test_a_mated_side_resigns() -> None:
    mated = "position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"
    assert said(mated, "go byoyomi 9", protocol="usi")[-1] == "bestmove resign"


def test_a_mate_is_announced_only_if_it_is_one() -> None:
    class MateInOne(FakeSearcher):
        def found(self, line: Any, moves: list[Any]) -> SearchResult:
            return report(line, [line.parse("G*5b")], value=1.0, mate=1)

    problem = "position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
    fake = searchers(MateInOne)
    assert said(problem, "go mate 1000", protocol="usi", searcher=fake) == ["checkmate G*5b"]
    assert said(problem, "go mate infinite", protocol="usi", searcher=fake) == ["checkmate G*5b"]
    assert fake.made[-1].spec.kind == "mate"
    wrong = said(problem, "go mate 1000", protocol="usi", searcher=searchers(Mating))
    assert wrong == ["checkmate timeout"]
    solved = said(problem, "go mate 1000", protocol="usi", searcher=searchers(NoMate))
    assert solved == ["checkmate nomate"]
    mated = "position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"
    assert said(mated, "go mate 1000", protocol="usi") == ["checkmate nomate"]


def test_when_the_game_is_over_nothing_more_is_said() -> None:
    with thinking("usi") as engine:
        engine.say("go infinite")
        engine.until("^info")
        engine.say("gameover win", "isready")
        assert engine.until("^readyok|^bestmove") == "readyok"


def test_an_sfen_may_leave_its_word_out() -> None:
    sfen = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
    for position in (f"position sfen {sfen}", f"position {sfen}", f"position {sfen[:-4]}"):
        assert said(position, "go byoyomi 1", protocol="usi")[-1].startswith("bestmove ")
