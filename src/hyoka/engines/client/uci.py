# SPDX-License-Identifier: Apache-2.0
"""Clients for UCI and USI engines."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final, Self

from hyoka._core import Player
from hyoka.engines.client.transport import (
    DOUBT_S,
    GREETINGS,
    Transport,
    mistaken,
    other_greetings,
    printable,
)
from hyoka.engines.spec import KEYS, EnginePosition, EngineSpec, Limits, Replay, Replayer, finished
from hyoka.foundation.errors import EngineError, Error
from hyoka.games import Position, games_with
from hyoka.games.clock import Clock
from hyoka.games.evaluation import UNKNOWN_MATE, Evaluation

DEFAULT_LIMITS: Final = Limits(time_s=0.1)
"""Where nobody says how long to think. Any engine knows a time; only nodes can be repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How an engine is asked.

    >>> dialect_of("Stockfish 15.1").counts_nodes, dialect_of("Toga II 3.0").counts_nodes
    (True, False)
    """

    match: str = ""
    """A pattern at the beginning of the engine's name."""
    counts_nodes: bool = True
    """Whether `go nodes` is kept to; some search on for ever, and some die."""
    depth_option: str = ""
    """The option that limits the depth, where `go depth` does not."""
    deepest: int = 0
    """What that option is set to where no depth is asked for."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Set unless told otherwise."""
    shortest_s: float = 0.0
    """Less time than this is overrun."""
    knows_increments: bool = True
    takes_moves: bool = True
    """Whether it is told how a position came about, or else the position alone."""
    limits: Limits = DEFAULT_LIMITS
    """Where nobody says how long to think."""


_DIALECTS: Final = (
    # Both descend from Fruit, which goes on until it is told to stop.
    Dialect(match="Toga II|GNU Chess|Fruit", counts_nodes=False),
    # It dies at `go nodes`, `go depth`, `go movetime` and increments; without Verbose it tells no
    # score, and from its book it would play without one. Moves from the usual start put it into an
    # endless loop once it has been told another start.
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
    """The dialect of an engine that calls itself so; by far the most have none."""
    return next((each for each in _DIALECTS if re.match(each.match, name)), _DEFAULT)


_OPTION: Final = re.compile(r"option name (.+?) type (\w+)(.*)")
_RANGE: Final = re.compile(r" min (-?\d{1,18}) max (-?\d{1,18})(?= |$)")
_SCORE: Final = re.compile(r" score (?:cp ([+-]?\d{1,9})|mate ([+-]|[+-]?\d{1,6}))(?= |$)")
_WDL: Final = re.compile(r" wdl (\d{1,5}) (\d{1,5}) (\d{1,5})(?= |$)")
_DEPTH: Final = re.compile(r" depth (\d{1,6})(?= |$)")
_FIRST_OF_PV: Final = re.compile(r" pv (\S+)")
_NODES: Final = re.compile(r" nodes (\d{1,18})(?= |$)")


_MANY_BATCHES: Final = 64
_DEEPEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Option:
    """An option that an engine offers."""

    name: str
    kind: str
    """`check`, `spin`, `combo`, `button`, `string` or USI's `filename`."""
    span: tuple[int, int] | None = None
    """The least and the greatest number of a `spin`."""
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
        """What is wrong with a value, or None."""
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
    """A question to an engine, and what it says: the last good score, then the best move.

    With several variations (MultiPV), or when an engine stops in the middle of a depth, its last
    line may be about another move than the one it plays. The score of the played move counts.
    """

    __slots__ = ("_by_move", "_said", "best", "bound", "exact", "last", "request", "unreadable")

    def __init__(self, request: str, last: Position) -> None:
        self.request = request
        self.last = last
        self._said: list[str] = []
        self._by_move: dict[str, re.Match[str]] = {}
        """The last exact score of each move that a variation began with, of lines dropped."""
        self.exact: re.Match[str] | None = None
        self.bound: re.Match[str] | None = None
        self.unreadable: str | None = None
        self.best = ""

    def __call__(self, text: str) -> bool:
        """Take lines, True with the last; they are read later, since a quick engine waits."""
        self._said.append(text)
        if text.startswith("bestmove") or "\nbestmove" in text:
            return True
        if len(self._said) > _MANY_BATCHES:
            self._digest()
        return False

    def read(self) -> None:
        """Read what was said, once it is complete."""
        last = self._said[-1]
        at = last.rfind("\nbestmove") + 1
        words = last[at:].split("\n", 1)[0].split()
        self.best = words[1] if len(words) > 1 else ""
        self._said[-1] = last[:at]
        self._digest()
        played = self._by_move.get(self.best)
        # A score from long before says less than that of the best line.
        if (
            played is not None
            and self.exact is not None
            and _depth(played) >= _depth(self.exact) - 1
        ):
            self.exact = played

    def _digest(self) -> None:
        text = "\n".join(self._said)
        self._said.clear()
        if " score " in text:
            self._read_scores(text)

    def _read_scores(self, text: str) -> None:
        """Find the last exact scores: of the best line, and of each move up to that played.

        Without an exact score of the best line, the last bound on it counts.
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


def _depth(score: re.Match[str]) -> int:
    """The depth that a line with a score tells; 0 if none."""
    found = _DEPTH.search(score.string)
    return 0 if found is None else int(found[1])


class UciEngine:
    """A running UCI engine. Its answers are checked: a best move that is not legal is an error."""

    protocol: ClassVar[str] = "uci"
    games: ClassVar[tuple[str, ...]] = tuple(games_with(lambda facts: facts.protocol == "uci"))
    _new_game: ClassVar[str] = "ucinewgame\n"
    _no_move: ClassVar[tuple[str, ...]] = ("(none)", "0000", "")
    _word_moves: ClassVar[tuple[str, ...]] = ()

    def __init__(self, spec: EngineSpec, transport: Transport) -> None:
        self.spec = spec
        self.name = spec.title
        self.version = ""
        self.options: dict[str, Option] = {}
        self.transport = transport
        transport.last_word = "bestmove"
        self._replay = Replayer()
        self._chess960 = False
        self._go = ""

    @property
    def dialect(self) -> Dialect:
        """What it does otherwise than the protocol says."""
        return dialect_of(self.name)

    @classmethod
    async def start(cls, spec: EngineSpec, cwd: Path | None = None) -> Self:
        """Start the engine, shake hands and set its options; raises EngineError."""
        transport = await Transport.of(spec, cwd)
        try:
            engine = cls(spec, transport)
            if await engine._shake_hands():
                # It was slow, and has heard words of other protocols: it might have obeyed.
                transport.kill()
                engine.transport = transport = await Transport.of(spec, cwd)
                transport.last_word = "bestmove"
                await engine._shake_hands(patient=True)
            engine._go = engine._go_line(spec.limits)
            await engine._set_options()
        except BaseException:
            transport.kill()
            raise
        return engine

    async def _shake_hands(self, *, patient: bool = False) -> bool:
        """Greet the engine; whether other greetings were tried, which one who is patient does not.

        Raises EngineError when it gives away that it speaks another protocol.
        """
        doubted = False

        def doubt() -> str:
            nonlocal doubted
            doubted = True
            return other_greetings(self.protocol)

        def read(text: str) -> bool:
            for line in text.split("\n"):
                if line.startswith("id name "):
                    self.name = printable(line[len("id name ") :].strip())
                elif line.startswith("option name "):
                    option = Option.from_line(line)
                    if option is not None:
                        self.options[option.name.lower()] = option
                elif line.startswith(f"{self.protocol}ok"):
                    return True
                elif (message := mistaken(self.protocol, line)) is not None:
                    raise self.transport.error(message, "nonsense")
            return False

        greeting = GREETINGS[self.protocol]
        later = [] if patient else [(DOUBT_S, doubt)]
        await self.transport.ask(greeting, read, self.spec.timeout_s, later=later)
        return doubted

    async def _set_options(self) -> None:
        wanted = dict(self.spec.options)
        told = {name.lower() for name in wanted}
        for name, value in {"UCI_ShowWDL": "true", **self.dialect.options}.items():
            if name.lower() in self.options and name.lower() not in told:
                wanted[name] = value
        lines = [self._option_line(name, value) for name, value in wanted.items()]
        await self._ready("".join(lines))

    def _option_line(self, name: str, value: str) -> str:
        option = self.options.get(name.lower())
        if option is None:
            names = [known.name for known in self.options.values()]
            # A limit's name that is misspelt looks like an option.
            written = {each.lower(): each for each in (*KEYS, *names)}
            near = difflib.get_close_matches(name.lower(), written, n=1)
            hint = f"did you mean {written[near[0]]}?" if near else ", ".join(names)
            raise self.transport.error(f"has no option '{name}'; {hint or 'it has none'}", "option")
        fault = option.fault(value)
        if fault is not None:
            raise self.transport.error(f"its option {option.name} {fault}, not '{value}'", "option")
        if option.kind == "button":
            return f"setoption name {option.name}\n"
        return f"setoption name {option.name} value {value}\n"

    async def _ready(self, text: str) -> None:
        """Send `text` and wait until the engine has digested it."""
        await self.transport.ask(
            f"{text}isready\n", lambda said: "readyok" in said.split(), self.spec.timeout_s
        )

    @property
    def alive(self) -> bool:
        """Whether the engine can still be asked."""
        return self.transport.alive

    async def new_game(self) -> None:
        """Tell the engine that what comes next has nothing to do with what was before."""
        await self._ready(self._new_game)

    async def evaluate(self, position: EnginePosition, limits: Limits | None = None) -> Evaluation:
        """Evaluate a position, within the given limits or else those of the engine's text.

        A finished game is not shown to the engine: the rules know its value. Raises EngineError if
        the engine fails, and NotationError or IllegalMoveError if the position is none.
        """
        (result,) = await self.evaluate_some([position], limits)
        if isinstance(result, Error):
            raise result
        return result

    async def evaluate_some(
        self, positions: Sequence[EnginePosition], limits: Limits | None = None
    ) -> list[Evaluation | Error]:
        """Evaluate positions, quicker than one by one; gives for each what `evaluate` would.

        The list ends early, though not empty, with the first error that puts the engine's further
        answers in doubt, or where it has to forget before the next position.
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
            if position.game not in self.games:
                plays = " and ".join(self.games)
                raise self.transport.error(f"plays {plays}, not {position.game}", "game")
            replay = self._replay(position)
            result = finished(position.game, replay.last)
            usual = position.start is None
            return result or _Search(self._position_line(replay, usual) + go, replay.last)
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

    async def best_move(self, position: EnginePosition, limits: Limits | None = None) -> str | None:
        """The move the engine would play; None if the game is over."""
        return (await self.evaluate(position, limits)).best

    async def play(
        self, position: EnginePosition, clocks: tuple[Clock, Clock] | None = None
    ) -> Evaluation:
        """The engine's move in a game, by both players' clocks or else by its own limits.

        Raises EngineError, with the reason `unplayable` for what is no legal move.
        """
        if self.spec.fresh:
            await self.new_game()
        search = self._prepare(position, self._go if clocks is None else "")
        if not isinstance(search, _Search):
            raise (
                search
                if isinstance(search, Error)
                else self.transport.error("is asked for a move in a finished game", "refused")
            )
        if clocks is not None:
            time_words = self._clock_words(clocks, clocks[search.last.to_play.value])
            search.request += self._go_words(self.spec.limits, time_words)
        patience_s = self._patience_s(clocks, search.last.to_play)
        seconds = await self.transport.ask(search.request, search, patience_s)
        search.read()
        return self._evaluation(search, seconds)

    def _patience_s(self, clocks: tuple[Clock, Clock] | None, mover: Player) -> float:
        if clocks is None:
            return self.spec.wait_s(self._limits(None).time_s)
        own = clocks[mover.value]
        return self.spec.wait_s(own.main_s + own.period_s)

    def _clock_words(self, clocks: tuple[Clock, Clock], own: Clock) -> list[str]:
        if own.period_s:
            raise self.transport.error("UCI knows no byo-yomi", "limit")
        white, black = clocks
        words = [
            # 0 might be read as no clock at all.
            f"wtime {milliseconds(white.main_s) or 1} btime {milliseconds(black.main_s) or 1}",
            f"winc {milliseconds(white.increment_s)} binc {milliseconds(black.increment_s)}",
        ]
        return [*words, f"movestogo {own.moves_to_go}"] if own.moves_to_go else words

    async def close(self) -> bool:
        """Let the engine go; True if it went by itself."""
        return await self.transport.close()

    def kill(self) -> None:
        """End the engine at once."""
        self.transport.kill()

    def _evaluation(self, search: _Search, time_s: float) -> Evaluation:
        best = self._checked(search.best, search.last)
        found = search.exact or search.bound
        if found is None:
            if search.unreadable is not None:
                raise self.transport.error(
                    f"gives a score that cannot be read: {search.unreadable[:200]}", "nonsense"
                )
            return Evaluation(best=best, time_s=time_s)
        line = found.string
        centipawns, mate = found.groups()
        depth, nodes, wdl = _DEPTH.search(line), _NODES.search(line), _WDL.search(line)
        return Evaluation.seen_by(
            search.last.to_play,
            score=None if centipawns is None else float(centipawns),
            unit="centipawns",
            mate=None if mate is None else _mate_length(mate),
            wdl=None if wdl is None else self._probabilities(wdl),
            best=best,
            depth=None if depth is None else min(int(depth[1]), _DEEPEST),
            nodes=None if nodes is None else int(nodes[1]),
            time_s=time_s,
        )

    def _probabilities(self, wdl: re.Match[str]) -> tuple[float, float, float]:
        win, draw, loss = int(wdl[1]), int(wdl[2]), int(wdl[3])
        total = win + draw + loss
        if not 990 <= total <= 1010:  # per mille, each rounded
            raise self.transport.error(f"its wins, draws and losses sum to {total}‰", "nonsense")
        return win / total, draw / total, loss / total

    def _checked(self, best: str, last: Position) -> str:
        """The engine's move as we write it; raises if the rules do not know it."""
        if best in self._word_moves:
            return best
        if best in self._no_move:
            raise self.transport.error("finds no move where there are some", "unplayable")
        try:
            move = last.parse(best)
        except ValueError:
            raise self.transport.error(
                f"answers with '{best[:40]}', no move", "unplayable"
            ) from None
        if not last.is_legal(move):
            raise self.transport.error(f"answers with the illegal move {move}", "unplayable")
        return str(move)

    def _position_line(self, replay: Replay, standard_start: bool) -> str:
        if standard_start:
            # Back to usual chess costs nothing where nobody has left it.
            switch = self._switch_chess960(False) if self._chess960 else ""
            start = "startpos"
        else:
            fen = _fen(replay.first)
            chess960 = is_chess960(fen)
            switch = self._switch_chess960(chess960) if chess960 != self._chess960 else ""
            if chess960:
                # Castling is written in two ways there; a position without its past has none.
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

    def _limits(self, given: Limits | None) -> Limits:
        """The limits of a search: those given, else the spec's, else the default ones."""
        return (self.spec.limits if given is None else given) or self.dialect.limits

    def _go_line(self, limits: Limits) -> str:
        limits = self._limits(limits)
        for key, number in (("playouts", limits.playouts), ("level", limits.level)):
            if number is not None:
                raise self._no_limit(
                    f"{self.protocol.upper()} knows no limit '{key}'; there are time, nodes, depth"
                )
        if limits.time_s is not None:
            self._check_time(limits.time_s)
        whole = limits.milliseconds
        return self._go_words(limits, [] if whole is None else [self._time_words(whole)])

    def _go_words(self, limits: Limits, time_words: list[str]) -> str:
        words = ["go"]
        first = ""
        if (option := self.options.get(self.dialect.depth_option.lower())) is not None:
            told = {key.lower(): value for key, value in self.spec.options}
            deepest = told.get(option.name.lower(), self.dialect.deepest)
            first = f"setoption name {option.name} value {limits.depth or deepest}\n"
            time_words = time_words or ["infinite"]  # which the depth ends
        elif limits.depth is not None:
            words.append(f"depth {limits.depth}")
        if limits.nodes is not None:
            if not self.dialect.counts_nodes:
                raise self._no_limit("keeps to no limit of nodes; give it a depth or a time")
            words.append(f"nodes {limits.nodes}")
        return first + " ".join([*words, *time_words]) + "\n"

    def _check_time(self, seconds: float) -> None:
        shortest = self.dialect.shortest_s
        if seconds < shortest:
            raise self._no_limit(f"overruns less than {shortest:g} s a move; give more, or a depth")

    def _no_limit(self, message: str) -> EngineError:
        return EngineError(self.name, message, reason="limit")

    def _time_words(self, milliseconds: int) -> str:
        return f"movetime {milliseconds}"


def milliseconds(seconds: float) -> int:
    """Seconds as protocols of this family count them."""
    return round(1000 * seconds)


def _fen(game: Position) -> str:
    """A position's FEN: its text without the rules of draws that may follow."""
    return " ".join(game.text.split(" ", 6)[:6])


def is_chess960(fen: str) -> bool:
    """Whether a FEN has castling that usual chess does not know.

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
    """Moves to mate; a bare sign (USI) is a mate that was proved but not counted."""
    if text in ("+", "-"):
        return UNKNOWN_MATE if text == "+" else -UNKNOWN_MATE
    return max(-UNKNOWN_MATE, min(int(text), UNKNOWN_MATE))


class UsiEngine(UciEngine):
    """A running USI engine; as a best move it may also `resign` or declare its `win`."""

    protocol: ClassVar[str] = "usi"
    games: ClassVar[tuple[str, ...]] = tuple(games_with(lambda facts: facts.protocol == "usi"))
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
        # One byo-yomi is told: it is the mover's that matters.
        return [words, f"byoyomi {milliseconds(own.period_s)}"]

    def _time_words(self, milliseconds: int) -> str:
        # `byoyomi` is what every USI engine knows; `movetime` is not.
        return f"btime 0 wtime 0 byoyomi {milliseconds}"


def _sfen(position: Position) -> str:
    """A position's SFEN, which has four fields: our text may add rules that engines do not read."""
    return " ".join(position.text.split(" ", 4)[:4])
