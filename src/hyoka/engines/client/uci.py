# SPDX-License-Identifier: Apache-2.0
"""Clients for UCI and USI engines."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Self

from hyoka.engines.client.engine import DEEPEST, EngineClient
from hyoka.engines.client.transport import Transport, printable
from hyoka.engines.spec import EnginePosition, EngineSpec, Limits, Replay, evaluate_finished
from hyoka.foundation.errors import EngineError, Error
from hyoka.games import Position
from hyoka.games.clock import Clock
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation

DEFAULT_LIMITS: Final = Limits(time_s=0.1)
"""The limits by default: every engine supports a time; only nodes are reproducible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """An engine's deviations from the protocol.

    >>> dialect_of("Stockfish 15.1").counts_nodes, dialect_of("Toga II 3.0").counts_nodes
    (True, False)
    """

    match: str = ""
    """A pattern for the beginning of the engine's name."""
    counts_nodes: bool = True
    """Whether it respects `go nodes`; some engines search forever, some crash."""
    depth_option: str = ""
    """The option that limits the depth, where `go depth` does not."""
    deepest: int = 0
    """The value of that option without a depth limit."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options with other defaults."""
    shortest_s: float = 0.0
    """The shortest time limit that it respects."""
    knows_increments: bool = True
    takes_moves: bool = True
    """Whether it gets the moves since the start, or only the last position."""
    limits: Limits = DEFAULT_LIMITS
    """The default limits."""


_DIALECTS: Final = (
    # Both descend from Fruit, which does not stop on its own.
    Dialect(match="Toga II|GNU Chess|Fruit", counts_nodes=False),
    # It crashes at `go nodes`, `go depth`, `go movetime` and increments; without Verbose it reports
    # no score, and book moves have none. Moves from the standard start after another start put it
    # into an endless loop.
    Dialect(
        match="gpsshogi",
        counts_nodes=False,
        depth_option="LimitDepth",
        deepest=10,
        options={"BookDepth": "0", "Thread": "1", "Verbose": "1"},
        shortest_s=1.0,
        knows_increments=False,
        takes_moves=False,
        limits=Limits(depth=4),
    ),
)
_DEFAULT: Final = Dialect()


def dialect_of(name: str) -> Dialect:
    """Return the dialect of an engine by its name; most have none."""
    return next((each for each in _DIALECTS if re.match(each.match, name)), _DEFAULT)


_OPTION: Final = re.compile(r"option name (.+?) type (\w+)(.*)")
_RANGE: Final = re.compile(r" min (-?\d{1,18}) max (-?\d{1,18})(?= |$)")
_SCORE: Final = re.compile(r" score (?:cp ([+-]?\d{1,9})|mate ([+-]|[+-]?\d{1,6}))(?= |$)")
_WDL: Final = re.compile(r" wdl (\d{1,5}) (\d{1,5}) (\d{1,5})(?= |$)")
_DEPTH: Final = re.compile(r" depth (\d{1,6})(?= |$)")
_FIRST_OF_PV: Final = re.compile(r" pv (\S+)")
_NODES: Final = re.compile(r" nodes (\d{1,18})(?= |$)")


_MANY_BATCHES: Final = 64


@dataclass(frozen=True, slots=True)
class Option:
    """An option that an engine declares."""

    name: str
    kind: str
    """`check`, `spin`, `combo`, `button`, `string` or USI's `filename`."""
    span: tuple[int, int] | None = None
    """The minimum and the maximum of a `spin`."""
    choices: tuple[str, ...] = ()

    @classmethod
    def from_line(cls, line: str) -> Self | None:
        """Read a line such as `option name Hash type spin default 16 min 1 max 1024`."""
        match = _OPTION.match(line)
        if match is None:
            return None
        name, kind, rest = match.groups()
        bounds = _RANGE.search(rest)
        return cls(
            name,
            kind,
            (int(bounds[1]), int(bounds[2])) if bounds else None,
            tuple(choice.strip() for choice in rest.split(" var ")[1:]),
        )

    def fault(self, value: str) -> str | None:
        """Return what is wrong with a value, or None."""
        if self.kind == "check" and value not in ("true", "false"):
            return "is true or false"
        if self.kind == "spin":
            if not re.fullmatch(r"-?\d{1,18}", value):
                return "is a whole number"
            if self.span is not None and not self.span[0] <= int(value) <= self.span[1]:
                return f"is from {self.span[0]} to {self.span[1]}"
        if self.kind == "combo" and value not in self.choices:
            near = difflib.get_close_matches(value, self.choices, n=1)
            return f"is {near[0]}, perhaps?" if near else f"is one of {', '.join(self.choices)}"
        return None


class _Search:
    """A search request and the engine's answer: the last valid score, then the best move.

    With several variations (MultiPV), or when an engine stops within an iteration, its last line
    may be about another move than the best move. The best move's score counts.
    """

    __slots__ = ("_batches", "_by_move", "best", "bound", "exact", "last", "request", "unreadable")

    def __init__(self, request: str, last: Position) -> None:
        self.request = request
        self.last = last
        self._batches: list[str] = []
        self._by_move: dict[str, re.Match[str]] = {}
        """The last exact score by first move, of dropped lines."""
        self.exact: re.Match[str] | None = None
        self.bound: re.Match[str] | None = None
        self.unreadable: str | None = None
        self.best = ""

    def __call__(self, text: str) -> bool:
        """Take lines and return True with the last; parsing waits, since a quick engine does."""
        self._batches.append(text)
        if text.startswith("bestmove") or "\nbestmove" in text:
            return True
        if len(self._batches) > _MANY_BATCHES:
            self._digest()
        return False

    def read(self) -> None:
        """Parse the complete answer."""
        last = self._batches[-1]
        at = last.rfind("\nbestmove") + 1
        words = last[at:].split("\n", 1)[0].split()
        self.best = words[1] if len(words) > 1 else ""
        self._batches[-1] = last[:at]
        self._digest()
        played = self._by_move.get(self.best)
        # A score of a much earlier iteration says less than the best line's.
        if (
            played is not None
            and self.exact is not None
            and _depth(played) >= _depth(self.exact) - 1
        ):
            self.exact = played

    def _digest(self) -> None:
        text = "\n".join(self._batches)
        self._batches.clear()
        if " score " in text:
            self._read_scores(text)

    def _read_scores(self, text: str) -> None:
        """Find the last exact scores: of the best line, and of each first move.

        Without an exact score of the best line, its last bound counts.
        """
        exact = bound = None
        by_move: dict[str, re.Match[str]] = {}
        for line in reversed(text.split("\n")):
            if (
                " score " not in line
                or not line.startswith("info")
                or line.startswith("info string")
            ):
                continue
            is_best_line = " multipv " not in line or " multipv 1 " in f"{line} "
            match = _SCORE.search(line)
            if match is None:
                if is_best_line and exact is None:
                    self.unreadable = line
            elif "bound" in line:
                if is_best_line and exact is None:
                    bound = bound or match
            else:
                if is_best_line:
                    exact = exact or match
                first = _FIRST_OF_PV.search(line)
                if first is not None:
                    by_move.setdefault(first[1], match)
                if self.best and exact is not None and (first is None or self.best in by_move):
                    break
        self.exact, self.bound = exact or self.exact, bound or self.bound
        self._by_move.update(by_move)


@dataclass(frozen=True, slots=True)
class EngineLine:
    """A variation that an engine reports while it searches."""

    evaluation: Evaluation
    """After the variation's first move; from the first player's view."""
    moves: tuple[str, ...]
    """The variation, in the engine's notation."""


OnLines = Callable[[tuple[EngineLine, ...]], None]
"""Hears the variations of one depth, the best first."""
_VARIATION: Final = re.compile(r" multipv (\d{1,4})(?= |$)")
_LONGEST_PV: Final = 64


class _LiveSearch(_Search):
    """A search whose variations are reported as soon as all of a depth are there."""

    __slots__ = ("_count", "_depth", "_found", "_on_lines", "_parse")

    def __init__(
        self,
        search: _Search,
        count: int,
        parse: Callable[[_Search, str], EngineLine | None],
        on_lines: OnLines,
    ) -> None:
        super().__init__(search.request, search.last)
        self._count = min(count, max(1, len(search.last.legal_moves)))
        self._parse = parse
        self._on_lines = on_lines
        self._depth = 0
        self._found: dict[int, EngineLine] = {}

    def __call__(self, text: str) -> bool:
        for line in text.split("\n"):
            if line.startswith("info ") and " pv " in line and "bound" not in line:
                self._hear(line)
        return super().__call__(text)

    def _hear(self, line: str) -> None:
        if (found := self._parse(self, line)) is None:
            return
        depth = found.evaluation.depth or 0
        if depth != self._depth:
            self._depth, self._found = depth, {}
        variation = _VARIATION.search(line)
        self._found[1 if variation is None else int(variation[1])] = found
        if len(self._found) == self._count:
            self._on_lines(tuple(self._found[number] for number in sorted(self._found)))


def _depth(score: re.Match[str]) -> int:
    """Return the depth of a line with a score; 0 if it has none."""
    match = _DEPTH.search(score.string)
    return 0 if match is None else int(match[1])


class UciEngine(EngineClient):
    """A running UCI engine."""

    protocol: ClassVar[str] = "uci"
    last_word: ClassVar[str] = "bestmove"
    _new_game: ClassVar[str] = "ucinewgame\n"
    _no_move: ClassVar[tuple[str, ...]] = ("(none)", "0000", "")
    _word_moves: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: EngineSpec, transport: Transport) -> None:
        super().__init__(spec, transport)
        self.options: dict[str, Option] = {}
        self._chess960 = False
        self._variations = 1
        self._go = ""

    @property
    def dialect(self) -> Dialect:
        """The engine's deviations from the protocol."""
        return dialect_of(self.name)

    async def _shake_hands(self, *, patient: bool = False) -> bool:
        def is_last(line: str) -> bool:
            if line.startswith("id name "):
                self.name = printable(line[len("id name ") :].strip())
            elif (option := Option.from_line(line)) is not None:
                self.options[option.name.lower()] = option
            return line.startswith(f"{self.protocol}ok")

        return await self._greet(is_last, patient=patient)

    async def _configure(self) -> None:
        self._go = self._go_line(self.spec.limits)
        values = dict(self.spec.options)
        spec_names = {name.lower() for name in values}
        for name, value in {"UCI_ShowWDL": "true", **self.dialect.options}.items():
            if name.lower() in self.options and name.lower() not in spec_names:
                values[name] = value
        lines = [self._option_line(name, value) for name, value in values.items()]
        await self._ready("".join(lines))

    def _option_line(self, name: str, value: str) -> str:
        option = self.options.get(name.lower())
        if option is None:
            raise self._no_option(name, [each.name for each in self.options.values()])
        fault = option.fault(value)
        if fault is not None:
            raise self.transport.error(f"its option {option.name} {fault}, not '{value}'", "option")
        if option.kind == "button":
            return f"setoption name {option.name}\n"
        return f"setoption name {option.name} value {value}\n"

    async def _ready(self, text: str) -> None:
        """Send `text` and wait until the engine has processed it."""
        await self.transport.ask(
            f"{text}isready\n", lambda text: "readyok" in text.split(), self.spec.timeout_s
        )

    @property
    def abilities(self) -> str:
        """The number of options."""
        return f"{len(self.options)} options"

    @property
    def repeatable_limits(self) -> Limits:
        """The spec's limits or few nodes, or a depth for an engine that ignores nodes."""
        own = self.spec.limits
        if own.time_s is None and (own.nodes or own.depth):
            return own
        return Limits(nodes=1000) if self.dialect.counts_nodes else Limits(depth=2)

    async def new_game(self) -> None:
        """Make the engine forget previous positions."""
        await self._ready(self._new_game)

    async def evaluate(self, position: EnginePosition, limits: Limits | None = None) -> Evaluation:
        """Evaluate a position; see `EngineClient.evaluate`."""
        (result,) = await self.evaluate_some([position], limits)
        if isinstance(result, Error):
            raise result
        return result

    async def evaluate_some(
        self, positions: Sequence[EnginePosition], limits: Limits | None = None
    ) -> list[Evaluation | Error]:
        """Evaluate positions faster than one by one, each with the result or error of `evaluate`.

        The list ends early, but not empty, after an error that makes further answers unreliable,
        and where the engine is reset before each position.
        """
        if self.spec.fresh:
            positions = [positions[0]]
            await self.new_game()
        go = self._go if limits is None else self._go_line(limits)
        time_s = self._limits(limits).time_s
        prepared = [self._prepare(position, go) for position in positions]
        questions = [(each.request, each) for each in prepared if isinstance(each, _Search)]
        seconds: Iterator[float] = iter(())
        if questions:
            seconds = iter(await self.transport.ask_each(questions, self.spec.wait_s(time_s)))
        results: list[Evaluation | Error] = []
        for each in prepared:
            result = self._result(each, next(seconds, None)) if isinstance(each, _Search) else each
            results.append(result)
            if isinstance(result, EngineError) and result.reason not in ("refused", "game"):
                break
        return results

    def _prepare(self, position: EnginePosition, go: str) -> _Search | Evaluation | Error:
        try:
            replay = self._replayed(position)
            result = evaluate_finished(position.game, replay.last)
            standard_start = position.start is None
            return result or _Search(self._position_line(replay, standard_start) + go, replay.last)
        except Error as error:
            return error

    def _result(self, search: _Search, time_s: float | None) -> Evaluation | EngineError:
        if time_s is None:
            return self.transport.failure or self.transport.error("gave no answer", "died")
        try:
            search.read()
            return self._evaluation(search, time_s)
        except EngineError as error:
            return error

    async def play(
        self, position: EnginePosition, clocks: tuple[Clock, Clock] | None = None
    ) -> Evaluation:
        """Return the engine's move in a game; see `EngineClient.play`."""
        if self.spec.fresh:
            await self.new_game()
        search = self._prepare(position, self._go if clocks is None else "")
        if not isinstance(search, _Search):
            raise (
                search
                if isinstance(search, Error)
                else self.transport.error("cannot move in a finished game", "refused")
            )
        if clocks is not None:
            time_words = self._clock_words(clocks, clocks[search.last.to_play.value])
            search.request += self._go_words(self.spec.limits, time_words)
        own = None if clocks is None else clocks[search.last.to_play.value]
        patience_s = self._patience_s(self._limits(None).time_s, own)
        seconds = await self.transport.ask(search.request, search, patience_s)
        search.read()
        return self._evaluation(search, seconds)

    async def analyze(
        self, position: EnginePosition, limits: Limits | None, *, lines: int, on_lines: OnLines
    ) -> Evaluation:
        """Evaluate a position, and report the variations of each depth meanwhile.

        `stop_search` ends it early. Raises EngineError if the engine has no MultiPV for `lines`.
        """
        search = self._prepare(position, self._go if limits is None else self._go_line(limits))
        if isinstance(search, Error):
            raise search
        if isinstance(search, Evaluation):
            return search
        if lines > 1 or self._variations > 1:
            await self._ready(self._option_line("MultiPV", str(lines)))
            self._variations = lines
        live = _LiveSearch(search, lines, self._line, on_lines)
        wait_s = self.spec.wait_s(self._limits(limits).time_s)
        seconds = await self.transport.ask(live.request, live, wait_s)
        live.read()
        return self._evaluation(live, seconds)

    def stop_search(self) -> None:
        """Make the engine answer now."""
        self.transport.tell("stop\n")

    def _line(self, search: _Search, line: str) -> EngineLine | None:
        """Read a variation; None for one without a score that can be read."""
        if (score := _SCORE.search(line)) is None:
            return None
        evaluation = self._reported(score, search.last)
        return EngineLine(evaluation, tuple(line.partition(" pv ")[2].split()[:_LONGEST_PV]))

    def _clock_words(self, clocks: tuple[Clock, Clock], own: Clock) -> list[str]:
        if own.period_s:
            raise self.transport.error("UCI knows no byo-yomi", "limit")
        white, black = clocks
        words = [
            # Some engines read 0 as no clock.
            f"wtime {milliseconds(white.main_s) or 1} btime {milliseconds(black.main_s) or 1}",
            f"winc {milliseconds(white.increment_s)} binc {milliseconds(black.increment_s)}",
        ]
        return [*words, f"movestogo {own.moves_to_go}"] if own.moves_to_go else words

    def _evaluation(self, search: _Search, time_s: float) -> Evaluation:
        best = self._checked(search.best, search.last)
        report = search.exact or search.bound
        if report is None:
            if search.unreadable is not None:
                raise self.transport.error(
                    f"gives a score that cannot be read: {search.unreadable[:200]}", "nonsense"
                )
            return Evaluation(best=best, time_s=time_s)
        return replace(self._reported(report, search.last), best=best, time_s=time_s)

    def _reported(self, score: re.Match[str], last: Position) -> Evaluation:
        """Return the evaluation in a line, from the first player's view."""
        line = score.string
        centipawns, mate = score.groups()
        depth, nodes = _DEPTH.search(line), _NODES.search(line)
        win, draw, loss = self._probabilities(line)
        return Evaluation(
            score=None if centipawns is None else float(centipawns),
            unit="centipawns",
            mate=None if mate is None else _mate_length(mate),
            win=win,
            draw=draw,
            loss=loss,
            depth=None if depth is None else min(int(depth[1]), DEEPEST),
            nodes=None if nodes is None else int(nodes[1]),
        ).from_view(last.to_play)

    def _probabilities(self, line: str) -> tuple[float, float, float] | tuple[None, None, None]:
        wdl = _WDL.search(line)
        if wdl is None:
            return None, None, None
        win, draw, loss = int(wdl[1]), int(wdl[2]), int(wdl[3])
        total = win + draw + loss
        if not 990 <= total <= 1010:  # per mille, each rounded
            raise self.transport.error(f"its wins, draws and losses sum to {total}‰", "nonsense")
        return win / total, draw / total, loss / total

    def _checked(self, best: str, last: Position) -> str:
        """Return the move in our notation; raises EngineError for an illegal one."""
        if best in self._word_moves:
            return best
        if best in self._no_move:
            raise self.transport.error(
                "reports no move, though there are legal moves", "unplayable"
            )
        return self._legal(best, last)

    def _position_line(self, replay: Replay, standard_start: bool) -> str:
        if standard_start:
            # Switching back to standard chess is free for engines that never left it.
            switch = self._switch_chess960(False) if self._chess960 else ""
            start = "startpos"
        else:
            fen = _fen(replay.first)
            chess960 = is_chess960(fen)
            switch = self._switch_chess960(chess960) if chess960 != self._chess960 else ""
            if chess960:
                # Castling has two notations there; a position without moves avoids them.
                return f"{switch}position fen {_fen(replay.last)}\n"
            start = f"fen {fen}"
        if replay.moves:
            return f"{switch}position {start} moves {' '.join(replay.moves)}\n"
        return f"{switch}position {start}\n"

    def _switch_chess960(self, on: bool) -> str:
        option = self.options.get("uci_chess960")
        if option is None:
            raise self.transport.error("does not offer UCI_Chess960, which this needs", "refused")
        self._chess960 = on
        return f"setoption name {option.name} value {str(on).lower()}\n"

    def _limits(self, override: Limits | None) -> Limits:
        """Return the limits of a call, else the spec's, else the default."""
        return (self.spec.limits if override is None else override) or self.dialect.limits

    def _go_line(self, limits: Limits) -> str:
        limits = self._limits(limits)
        for key, number in (("playouts", limits.playouts), ("level", limits.level)):
            if number is not None:
                raise self._no_limit(
                    f"{self.protocol.upper()} knows no limit '{key}'; there are time, nodes, depth"
                )
        if limits.time_s is not None:
            self._check_time(limits.time_s)
        time_ms = limits.milliseconds
        return self._go_words(limits, [] if time_ms is None else [self._time_words(time_ms)])

    def _go_words(self, limits: Limits, time_words: list[str]) -> str:
        words = ["go"]
        first = ""
        if (option := self.options.get(self.dialect.depth_option.lower())) is not None:
            options = {key.lower(): value for key, value in self.spec.options}
            deepest = options.get(option.name.lower(), self.dialect.deepest)
            first = f"setoption name {option.name} value {limits.depth or deepest}\n"
            time_words = time_words or ["infinite"]  # the depth ends it
        elif limits.depth is not None:
            words.append(f"depth {limits.depth}")
        if limits.nodes is not None:
            if not self.dialect.counts_nodes:
                raise self._no_limit("ignores node limits; use a depth or time limit")
            words.append(f"nodes {limits.nodes}")
        return first + " ".join([*words, *time_words]) + "\n"

    def _check_time(self, seconds: float) -> None:
        shortest = self.dialect.shortest_s
        if seconds < shortest:
            raise self._no_limit(f"overruns less than {shortest:g} s a move; give more, or a depth")

    def _time_words(self, milliseconds: int) -> str:
        return f"movetime {milliseconds}"


def milliseconds(seconds: float) -> int:
    """Return whole milliseconds."""
    return round(1000 * seconds)


def _fen(game: Position) -> str:
    """Return the FEN, without the draw rules that may follow it."""
    return " ".join(game.text.split(" ", 6)[:6])


def is_chess960(fen: str) -> bool:
    """Whether a FEN has castling rights beyond standard chess.

    >>> is_chess960("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    False
    >>> is_chess960("4k3/8/8/8/8/8/8/RK5R w KQ - 0 1")
    True
    """
    board, _, rights = fen.split(" ", 3)[:3]
    if rights == "-":
        return False
    ranks = board.split("/")
    for king, queen, rank in (("K", "Q", ranks[7]), ("k", "q", ranks[0])):
        squares = re.sub(r"\d", lambda gap: "." * int(gap.group()), rank)
        rook = "R" if king == "K" else "r"
        if king in rights and (squares[4] != king or squares[7] != rook):
            return True
        if queen in rights and (squares[4] != king or squares[0] != rook):
            return True
    return bool(set(rights) - set("KQkq"))


def _mate_length(text: str) -> int:
    """Return moves to mate; a bare sign (USI) is a proven mate of unknown length."""
    if text in ("+", "-"):
        return UNKNOWN_MATE if text == "+" else -UNKNOWN_MATE
    return max(-UNKNOWN_MATE, min(int(text), UNKNOWN_MATE))


class UsiEngine(UciEngine):
    """A running USI engine; its best move may also be `resign` or `win`."""

    protocol: ClassVar[str] = "usi"
    _new_game: ClassVar[str] = "usinewgame\n"
    _word_moves: ClassVar[tuple[str, ...]] = ("resign", "win")

    def _position_line(self, replay: Replay, standard_start: bool) -> str:
        if not self.dialect.takes_moves:
            return f"position sfen {_sfen(replay.last)}\n"
        start = "startpos" if standard_start else f"sfen {_sfen(replay.first)}"
        if replay.moves:
            return f"position {start} moves {' '.join(replay.moves)}\n"
        return f"position {start}\n"

    def _clock_words(self, clocks: tuple[Clock, Clock], own: Clock) -> list[str]:
        black, white = clocks
        if own.moves_to_go:
            raise self.transport.error("USI knows no moves in a time; give byo-yomi", "limit")
        words = f"btime {milliseconds(black.main_s)} wtime {milliseconds(white.main_s)}"
        if own.increment_s and own.period_s:
            raise self.transport.error("USI knows increments or byo-yomi, not both", "limit")
        if own.increment_s:
            if not self.dialect.knows_increments:
                raise self.transport.error("knows no increments; give byo-yomi", "limit")
            increments = (milliseconds(clock.increment_s) for clock in clocks)
            return [words, "binc {} winc {}".format(*increments)]
        if own.period_s:
            self._check_time(own.period_s)
        # Only the mover's byo-yomi is sent.
        return [words, f"byoyomi {milliseconds(own.period_s)}"]

    def _time_words(self, milliseconds: int) -> str:
        # Every USI engine knows `byoyomi`, but not `movetime`.
        return f"btime 0 wtime 0 byoyomi {milliseconds}"


def _sfen(position: Position) -> str:
    """Return the SFEN's four fields, without the rules that may follow them."""
    return " ".join(position.text.split(" ", 4)[:4])
