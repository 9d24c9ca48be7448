# SPDX-License-Identifier: Apache-2.0
"""A search as a UCI engine (chess) and as a USI engine (shogi)."""

import re
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, Final, cast

import hyoka._core as core
from hyoka._core import Reason
from hyoka.engines.server.controller import (
    AUTHOR,
    NAME,
    Controller,
    Option,
    Question,
    SearchThread,
    continue_line,
    options_of,
    play_moves,
    printable,
    version,
    with_setting,
)
from hyoka.engines.server.uci_text import Go, info_lines, score_of
from hyoka.foundation.errors import Error, NotationError
from hyoka.games import AnyMove, Line, Move, Position, ShogiPosition, game_of_protocol
from hyoka.games.clock import expected_moves
from hyoka.games.registry import position
from hyoka.search import Searcher, SearchLimits, SearchResult, SearchSpec

SearcherOf = Callable[[SearchSpec, str], Searcher]

_SETOPTION: Final = re.compile(r"name\s+(?P<name>.+?)(?:\s+value(?:\s+(?P<value>.*))?)?", re.DOTALL)
_MOST_LINES: Final = 500
_PATIENCE_S: Final = 5.0  # for a search that ignores `quit`
_DEFAULT_FIELDS: Final = ("-", "-", "0", "1")  # for fields that a FEN omits


class UciServer:
    """Answers a controller in UCI until `quit` or the end of input.

    The search runs in its own thread, so `stop`, `ponderhit` and `isready` work meanwhile. Errors
    are reported by `info string` and change nothing, except that a bad `position` leaves none.
    Raises Error if the search does not support the game.
    """

    _protocol: ClassVar[str] = "uci"
    game: ClassVar[str] = game_of_protocol(_protocol)
    _first_letter: ClassVar[str] = "w"
    _no_move: ClassVar[str] = "(none)"

    def __init__(
        self,
        spec: SearchSpec,
        controller: Controller,
        *,
        searcher_of: SearcherOf = Searcher,
    ) -> None:
        self._spec = spec
        self._controller = controller
        self._searcher_of = searcher_of
        # Validate at once that the search supports the game.
        self._searcher: Searcher | None = searcher_of(spec, self.game)
        self._line: Line | None = position(self.game).line()
        self._thinking: SearchThread | None = None
        self._go = Go()
        self._began_s = 0.0
        self._quiet = False
        self._values = {"lines": 1, "move_overhead": 30}
        self._chess960 = False
        self._commands: dict[str, Callable[[list[str]], None]] = {
            self._protocol: self._introduce,
            "isready": self._is_ready,
            "setoption": self._set_option,
            f"{self._protocol}newgame": self._new_game,
            "position": self._set_position,
            "go": self._start,
            "stop": lambda words: self._stop(),
            "ponderhit": self._ponder_hit,
        }

    def run(self) -> None:
        """Read and answer lines until the end.

        At the end of input, a bounded search is awaited; any other, and any at `quit`, is stopped
        and reports its result, so that lines from a pipe get answers.
        """
        try:
            while (line := self._controller.hear()) is not None:
                words = line.split()
                # Unknown words are skipped, and the rest of the line is read.
                while words and words[0] not in self._commands and words[0] != "quit":
                    del words[0]
                if not words:
                    continue
                if words[0] == "quit":
                    self._stop(_PATIENCE_S)
                    return
                self._commands[words[0]](words)
            if self._thinking is not None and not (self._go.infinite or self._go.ponder):
                self._thinking.join()
            self._stop(_PATIENCE_S)
        finally:
            self._quiet = True
            if self._thinking is not None:
                self._thinking.stop(_PATIENCE_S)

    # The handshake and the options

    def _introduce(self, words: list[str]) -> None:
        self._say(f"id name {NAME} {version()} {self._spec.text}")
        self._say(f"id author {AUTHOR}")
        for option in self._options():
            self._say(f"option name {option.name} {option.declaration}")
        self._say(f"{self._protocol}ok")

    def _options(self) -> list[Option]:
        overhead = self._values["move_overhead"]
        of_search = options_of(self._spec.for_game(self.game))
        lines = Option("MultiPV", f"type spin default {self._lines} min 1 max {_MOST_LINES}")
        return [
            *of_search,
            *([] if any(each.name == "MultiPV" for each in of_search) else [lines]),
            Option("Ponder", "type check default false"),
            Option("Clear Hash", "type button"),
            Option("Move Overhead", f"type spin default {overhead} min 0 max 10000"),
            Option("Search", f"type string default {self._spec.text}"),
            *self._own_options(),
        ]

    @property
    def _lines(self) -> int:
        """Return the number of reported variations: as many as the search examines."""
        if any(each.setting == "multipv" for each in options_of(self._spec)):
            return int(self._spec["multipv"])
        return self._values["lines"]

    def _own_options(self) -> list[Option]:
        return [Option("UCI_Chess960", "type check default false")]

    def _set_option(self, words: list[str]) -> None:
        match = _SETOPTION.fullmatch(" ".join(words[1:]))
        if match is None:
            self._tell("setoption needs a name")
            return
        name, value = match["name"].lower(), (match["value"] or "").strip()
        try:
            self._apply_option(name, value)
        except (Error, ValueError) as error:
            self._tell(f"option {match['name']}: {error}")

    def _apply_option(self, name: str, value: str) -> None:
        option = next((each for each in self._options() if each.name.lower() == name), None)
        if option is not None and option.setting is not None:
            self._change_search(with_setting(self._spec, option.setting, value))
        elif name == "search":
            self._change_search(SearchSpec.from_text(value))
        elif name == "multipv":
            self._values["lines"] = min(max(1, int(value)), _MOST_LINES)
        elif name == "move overhead":
            self._values["move_overhead"] = min(max(0, int(value)), 10_000)
        elif name == "clear hash":
            self._new_game([])
        elif not self._apply_own_option(name, value):
            raise NotationError("there is none of this name")

    def _apply_own_option(self, name: str, value: str) -> bool:
        if name == "uci_chess960":
            self._chess960 = value.lower() == "true"
        # Other options need no action: the controller chooses `go ponder`.
        return name in ("uci_chess960", "ponder", "hash", "threads", "uci_analysemode")

    def _change_search(self, spec: SearchSpec) -> None:
        if spec == self._spec:
            return
        self._stop()
        self._spec, self._searcher = spec, None

    def _is_ready(self, words: list[str]) -> None:
        if self._thinking is None:
            self._ready_searcher()
        self._say("readyok")

    def _ready_searcher(self) -> Searcher | None:
        if self._searcher is None:
            try:
                self._searcher = self._searcher_of(self._spec, self.game)
            except (Error, OSError, ValueError, MemoryError) as error:
                self._tell(f"{self._spec.text}: {error or type(error).__name__}")
        return self._searcher

    def _new_game(self, words: list[str]) -> None:
        self._stop()
        if self._searcher is not None:
            self._searcher.clear()

    # Positions

    def _set_position(self, words: list[str]) -> None:
        self._stop()
        where = words.index("moves") if "moves" in words else len(words)
        try:
            start = self._start_position(words[1:where])
            self._line = play_moves(start.line(), words[where + 1 :])
        except (Error, TypeError, IndexError) as error:
            self._line = None
            self._tell(f"no position: {error}")

    def _start_position(self, words: list[str]) -> Position:
        if words == ["startpos"]:
            return position(self.game)
        if words[:1] == ["fen"] and len(words) >= 3:
            fields = words[1:]
            return position(self.game, " ".join([*fields, *_DEFAULT_FIELDS[len(fields) - 2 :]]))
        raise NotationError("expected startpos or fen, and the fields of one")

    # Searching

    def _start(self, words: list[str]) -> None:
        self._stop()
        self._go = go = Go.from_words(words)
        searcher = self._ready_searcher()
        line = None if self._line is None else continue_line(self._line)
        if line is None or searcher is None or line.outcome is not None:
            self._say_over(line)
            return
        only = self._only(line, go.searchmoves)
        seconds = self._seconds(line)
        limits = go.limits(self._spec, seconds)
        if go.ponder and limits.time_s is not None:
            limits = SearchLimits(infinite=True)
        self._began_s = time.monotonic()
        self._thinking = SearchThread(
            searcher,
            Question(line=line, limits=limits, only=only),
            on_result=lambda result: self._inform(result, line),
            on_end=lambda end: self._answer(end, line),
            held=go.infinite or go.ponder,
        )

    def _seconds(self, line: Line) -> float | None:
        """Return the time for this move by the clock, if there is one."""
        overhead_s = self._values["move_overhead"] / 1000
        clock = self._go.clock(line.to_play, self._first_letter)
        if clock is None:
            return None
        return clock.thinking_s(expected_moves=expected_moves(line), overhead_s=overhead_s)

    def _only(self, line: Line, texts: Sequence[str]) -> list[Move] | None:
        moves = []
        for text in texts:
            try:
                move = line.parse(text)
            except (Error, TypeError):
                continue
            if line.is_legal(move) and move not in moves:
                moves.append(move)
        return moves or None

    def _ponder_hit(self, words: list[str]) -> None:
        if self._thinking is None or self._line is None or not self._go.ponder:
            return
        self._go = Go(self._go.numbers, self._go.flags - {"ponder"}, self._go.searchmoves)
        limits = self._go.limits(self._spec, self._seconds(self._line))
        if limits.time_s is not None:
            elapsed_s = time.monotonic() - self._began_s
            self._thinking.stop_after(max(0.0, limits.time_s - elapsed_s))
        if not self._go.infinite:
            self._thinking.release()

    def _stop(self, patience_s: float | None = None) -> None:
        if self._thinking is not None:
            self._thinking.stop(patience_s)
            self._thinking = None

    # Answers, written by the search thread

    def _inform(self, result: SearchResult, line: Line) -> None:
        if self._quiet or result.best is None:
            return
        # Intermediate results have no time yet.
        elapsed_s = result.time_s or time.monotonic() - self._began_s
        lines = info_lines(
            replace(result, time_s=elapsed_s),
            line.to_play,
            self.game,
            lines=self._lines,
            write=lambda moves: self._variation(line, moves),
        )
        self._say("\n".join(lines))

    def _answer(self, end: SearchResult | Exception, line: Line) -> None:
        if self._quiet:
            return
        if isinstance(end, Exception):
            self._tell(f"the search failed: {end!r}")
            traceback.print_exception(end)
            self._say(f"bestmove {self._no_move}")
            return
        self._inform(end, line)
        self._say(f"bestmove {self._best(end, line)}")

    def _best(self, result: SearchResult, line: Line) -> str:
        if result.best is None:
            return self._no_move
        pv = result.pv if result.pv[:1] == (result.best,) else (result.best,)
        return self._variation(line, pv[:2]).replace(" ", " ponder ")

    def _score(self, result: SearchResult, mover: core.Player) -> int:
        """Return the score for the side to move; a mate exceeds all others."""
        if result.mate:
            return 100_000 if (result.mate > 0) == (mover is core.Player.first) else -100_000
        return score_of(mover, self.game, value=result.value, score=result.score, unit=result.unit)

    def _say_over(self, line: Line | None) -> None:
        """Answer where there is nothing to search."""
        if line is None:
            self._tell("there is no position")
        elif line.outcome is not None:
            mated = line.outcome.reason is core.Reason.checkmate
            self._say(f"info depth 0 score {'mate 0' if mated else 'cp 0'}")
        self._say(f"bestmove {self._no_move}")

    def _variation(self, line: Line, moves: Sequence[AnyMove]) -> str:
        if not self._chess960:
            return " ".join(map(str, moves))
        texts = []
        for move in moves:
            texts.append(castling_by_rook(line.position, move))
            line = continue_line(line).play(move)
        return " ".join(texts)

    def _tell(self, message: str) -> None:
        self._say(f"info string {printable(message)}")

    def _say(self, text: str) -> None:
        self._controller.say(text)


def castling_by_rook(game: Position, move: AnyMove) -> str:
    """Return a chess move in Chess960 notation: castling as king takes rook.

    >>> import hyoka as hk
    >>> game = hk.Chess.from_text("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    >>> castling_by_rook(game, game.parse("O-O")), castling_by_rook(game, game.parse("e1f1"))
    ('e1h1', 'e1f1')
    """
    text = str(move)
    if text[:1] != "e" or text[2:3] not in ("c", "g") or len(text) != 4:
        return text
    by_rook = f"{text[:2]}{'a' if text[2] == 'c' else 'h'}{text[3]}"
    return by_rook if game.parse(by_rook) == move else text


_NEVER: Final = 99_999
_NAMES: Final = {"Hash": "USI_Hash", "Ponder": "USI_Ponder"}


class UsiServer(UciServer):
    """Answers a controller in USI; see `UciServer`.

    A side that may declare a win by entering king does so (`bestmove win`) unless `DeclareWin` is
    off. It resigns when its score falls to minus `ResignValue`, by default never. Mates are counted
    in plies. `go mate` is answered with `checkmate` and a line only if the line really mates.
    """

    _protocol: ClassVar[str] = "usi"
    game: ClassVar[str] = game_of_protocol(_protocol)
    _first_letter: ClassVar[str] = "b"
    _no_move: ClassVar[str] = "resign"

    def __init__(
        self,
        spec: SearchSpec,
        controller: Controller,
        *,
        searcher_of: SearcherOf = Searcher,
    ) -> None:
        super().__init__(spec, controller, searcher_of=searcher_of)
        self._values |= {"resign_value": _NEVER, "declare_win": 1}
        self._commands["gameover"] = self._game_over

    def _options(self) -> list[Option]:
        return [
            Option(_NAMES.get(option.name, option.name.replace(" ", "_")), *_rest(option))
            for option in super()._options()
        ]

    def _own_options(self) -> list[Option]:
        resign, declare = self._values["resign_value"], bool(self._values["declare_win"])
        return [
            Option("ResignValue", f"type spin default {resign} min 0 max {_NEVER}"),
            Option("DeclareWin", f"type check default {str(declare).lower()}"),
        ]

    def _apply_option(self, name: str, value: str) -> None:
        if name in ("clear_hash", "move_overhead"):
            name = name.replace("_", " ")
        super()._apply_option(name, value)

    def _apply_own_option(self, name: str, value: str) -> bool:
        if name == "resignvalue":
            self._values["resign_value"] = min(max(0, int(value)), _NEVER)
        elif name == "declarewin":
            self._values["declare_win"] = int(value.lower() == "true")
        else:
            # USI's own options can be set without being declared.
            return name in ("usi_ponder", "usi_hash")
        return True

    def _game_over(self, words: list[str]) -> None:
        self._quiet = True
        self._stop()
        self._quiet = False

    def _start_position(self, words: list[str]) -> Position:
        if words == ["startpos"]:
            return position(self.game)
        if words[:1] == ["sfen"] and len(words) >= 3:
            return position(self.game, " ".join([*words[1:], *("-", "1")[len(words) - 3 :]]))
        # Some controllers omit the word.
        if len(words) >= 3 and "/" in words[0]:
            return self._start_position(["sfen", *words])
        raise NotationError("expected startpos or sfen, and the fields of one")

    def _start(self, words: list[str]) -> None:
        go = Go.from_words(words)
        if "mate" in go.numbers:
            self._seek_mate(go)
            return
        line = None if self._line is None else continue_line(self._line)
        if line is not None and self._may_declare(line) and not (go.ponder or go.infinite):
            self._stop()
            self._say("bestmove win")
            return
        super()._start(words)

    def _may_declare(self, line: Line) -> bool:
        position = cast("ShogiPosition", line.position)
        return bool(self._values["declare_win"]) and position.may_declare

    def _best(self, result: SearchResult, line: Line) -> str:
        resign_value = self._values["resign_value"]
        if resign_value < _NEVER and self._score(result, line.to_play) <= -resign_value:
            return "resign"
        return super()._best(result, line)

    def _seek_mate(self, go: Go) -> None:
        """Search for a mate by checks, as in tsume problems, whatever the search."""
        self._stop()
        self._go = go
        line = None if self._line is None else continue_line(self._line)
        if line is None or line.outcome is not None:
            self._say("checkmate nomate")
            return
        # The controller sets the time; the solver's default node limit does not apply.
        spec = SearchSpec.from_text("mate").with_settings(nodes=0)
        time_s = go.numbers["mate"] / 1000 or None
        self._thinking = SearchThread(
            self._searcher_of(spec, self.game),
            Question(line=line, limits=SearchLimits(time_s=time_s)),
            on_result=lambda result: None,
            on_end=lambda end: self._tell_mate(end, line),
        )

    def _tell_mate(self, end: SearchResult | Exception, line: Line) -> None:
        if self._quiet:
            return
        if isinstance(end, Exception):
            self._tell(f"the search failed: {end!r}")
        elif mate := _mating_line(end, line):
            self._say(f"checkmate {mate}")
            return
        elif end.stopped_by == "solved" and not end.pv:
            self._say("checkmate nomate")
            return
        self._say("checkmate timeout")


def _rest(option: Option) -> tuple[str, str | None]:
    return option.declaration, option.setting


def _mating_line(result: SearchResult, line: Line) -> str:
    """Return the variation up to the mate, if it reaches it."""
    moves = []
    for move in result.pv:
        try:
            line = line.play(move)
        except Error:
            break
        moves.append(str(move))
        if line.outcome is not None:
            break
    mated = line.outcome is not None and line.outcome.reason is Reason.checkmate
    return " ".join(moves) if mated else ""
