# SPDX-License-Identifier: Apache-2.0
"""A search as a USI engine: shogi. USI is UCI with other words; here are those."""

from typing import ClassVar, Final, cast

from hyoka._core import Reason
from hyoka.as_engine.controller import Controller
from hyoka.as_engine.go_words import Go
from hyoka.as_engine.lines import continued
from hyoka.as_engine.settings import Option
from hyoka.as_engine.thinking import Question, Thinking
from hyoka.as_engine.uci import SearcherOf, UciServer
from hyoka.errors import Error, NotationError
from hyoka.games import Line, Position, ShogiPosition, game_of_protocol, position
from hyoka.search import Searcher, SearchLimits, SearchResult, SearchSpec

_NEVER: Final = 99_999
_NAMES: Final = {"Hash": "USI_Hash", "Ponder": "USI_Ponder"}


class UsiServer(UciServer):
    """Answers a controller in USI; see `UciServer`.

    A side that may declare its entered king does so (`bestmove win`) unless `DeclareWin` is off,
    and resigns when its score falls to minus `ResignValue`, which by default it never does. Mates
    are counted in plies. `go mate` is answered with `checkmate` and a line only if that line mates
    whatever the search thinks of it.
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
            # USI's own two are set whether they were offered or not.
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
        # Some controllers leave the word out.
        if len(words) >= 3 and "/" in words[0]:
            return self._start_position(["sfen", *words])
        raise NotationError("expected startpos or sfen, and the fields of one")

    def _start(self, words: list[str]) -> None:
        go = Go.from_words(words)
        if "mate" in go.numbers:
            self._seek_mate(go)
            return
        line = None if self._line is None else continued(self._line)
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
        """Look for a mate by checks, as tsume problems ask, whatever the search is otherwise."""
        self._stop()
        self._go = go
        line = None if self._line is None else continued(self._line)
        if line is None or line.outcome is not None:
            self._say("checkmate nomate")
            return
        # Whoever asks says how long; the solver's own limit on nodes is for those who do not.
        spec = SearchSpec.from_text("mate").with_settings(nodes=0)
        time_s = go.numbers["mate"] / 1000 or None
        self._thinking = Thinking(
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
    """The variation up to the mate, if it gets there."""
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
