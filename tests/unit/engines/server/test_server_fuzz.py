# SPDX-License-Identifier: Apache-2.0
"""Whatever is said, our engines answer by their protocols and live."""

import os
import random
import threading

import pytest

from engines.fake_search import searchers
from hyoka.engines.server import Controller, GtpServer, UciServer, UsiServer
from hyoka.engines.server.controller import lines_of
from hyoka.search import SearchSpec

UCI_WORDS = (
    *("uci", "usi", "isready", "ucinewgame", "usinewgame", "position", "go", "stop", "ponderhit"),
    *("setoption", "name", "value", "startpos", "fen", "sfen", "moves", "e2e4", "7g7f", "0000"),
    *("infinite", "ponder", "depth", "nodes", "wtime", "btime", "byoyomi", "mate", "searchmoves"),
    *("MultiPV", "Hash", "USI_Hash", "Search", "ab:nodes=3", "UCI_Chess960", "true", "movetime"),
    *("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR", "w", "KQkq", "-", "gameover", "Clear"),
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL",
)
GTP_WORDS = (
    *("play", "genmove", "reg_genmove", "undo", "boardsize", "komi", "clear_board", "b", "w", "C3"),
    *("pass", "resign", "5", "9", "fixed_handicap", "set_free_handicap", "place_free_handicap"),
    *("loadsgf", "/etc/passwd", "time_settings", "time_left", "kgs-time_settings", "byoyomi"),
    *(
        "lz-analyze",
        "kata-analyze",
        "lz-genmove_analyze",
        "interval",
        "avoid",
        "allow",
        "showboard",
    ),
    *("final_score", "final_status_list", "dead", "hyoka-set", "hyoka-search", "playouts", "#"),
    *("known_command", "set_game", "othello", "Blokus", "Duo", "kgs-genmove_cleanup", "name", "d3"),
)
ODD = ("", "-1", "99999999999999999999", "1e9", "nan", "\x00", "é", "\ud83d", "x" * 3000, "=", "?")


def fuzzed_lines(words: tuple[str, ...], seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    pool = [*words * 3, *ODD]
    return [" ".join(rng.choices(pool, k=rng.randint(0, 7))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_gtp_answers_every_command_with_success_or_failure(seed: int) -> None:
    lines = fuzzed_lines(GTP_WORDS, seed, 150)
    out: list[str] = []
    game = ("go5", "othello", "blokus_duo", "go9")[seed % 4]
    spec = SearchSpec.from_text("uct:playouts=10")
    controller = Controller(iter([*lines, "protocol_version"]), out.append)
    GtpServer(spec, controller, game=game, searcher_of=searchers()).run()
    text = "".join(out)
    assert text.endswith("= 2\n\n")
    for answer in text.removesuffix("\n\n").split("\n\n"):
        assert answer.startswith(("=", "?"))


@pytest.mark.parametrize("protocol", ["uci", "usi"])
@pytest.mark.parametrize("seed", range(6))
def test_uci_and_usi_live_through_anything(protocol: str, seed: int) -> None:
    lines = fuzzed_lines(UCI_WORDS, seed, 200)
    out: list[str] = []
    server = UciServer if protocol == "uci" else UsiServer
    controller = Controller(iter([*lines, "stop", "isready"]), out.append)
    server(SearchSpec.from_text("ab:nodes=10"), controller, searcher_of=searchers()).run()
    said = "".join(out).splitlines()
    assert said[-1] == "readyok"
    known = ("id", "option", "uciok", "usiok", "readyok", "info", "bestmove", "checkmate")
    assert {line.split(" ")[0] for line in said} <= set(known)


def test_lines_are_cut_from_bytes_of_any_kind() -> None:
    data = b"one\r\n\xff\xfe two\n\n" + b"x" * (3 << 20) + b"\nlast"
    reader, writer = os.pipe()

    def fill() -> None:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)

    threading.Thread(target=fill).start()
    lines = list(lines_of(reader))
    os.close(reader)
    assert lines[:3] == ["one\r", "�� two", ""]
    assert len(lines[3]) == 1 << 20
    assert lines[4] == "last"


def test_a_controller_that_goes_away_ends_the_engine() -> None:
    def broken(text: str) -> None:
        raise BrokenPipeError

    controller = Controller(iter(["uci", "isready", "go infinite", "isready"]), broken)
    UciServer(SearchSpec.from_text("ab"), controller, searcher_of=searchers()).run()
