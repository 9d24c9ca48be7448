# SPDX-License-Identifier: Apache-2.0
"""Exact solvers: mates by checks in chess and shogi, endgames in Othello."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from hyoka._core import Player, Reason
from hyoka.foundation.errors import NotationError, OutOfMemoryError
from hyoka.games import AnyGame, AnyMove, Game, facts_of, games_with
from hyoka.games.protocols import Solver


@contextlib.contextmanager
def memory_for(what: str) -> Iterator[None]:
    """Raise OutOfMemoryError, naming the purpose, if memory is insufficient.

    If DuckDB is loaded, every failed allocation in C++ reaches Python as its exception.
    """
    try:
        yield
    except OutOfMemoryError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":
            raise OutOfMemoryError(f"not enough memory for {what}; give it less") from None
        if isinstance(error, RuntimeError) and str(error) == os.strerror(errno.EAGAIN):
            message = f"not enough memory for the threads of {what}; give it fewer"
            raise OutOfMemoryError(message) from None
        raise


_MOST_KEPT_MIB: Final = 64
"""Tables larger than the default are freed after each call."""
_cache: Final[dict[Any, tuple[int, Any]]] = {}
"""By kind of solver: the size of its table in MiB, and an idle solver."""
S = TypeVar("S", bound=Solver)


@contextlib.contextmanager
def _solver(make: Callable[[int], S], hash_mib: int) -> Iterator[S]:
    """Return an empty solver: the last call's, cleared, if the size is the same.

    Clearing a table is cheap; allocating one costs as much as many searches.
    """
    size, solver = _cache.pop(make, (0, None))
    if solver is None or size != hash_mib:
        solver = make(hash_mib)
    yield solver
    if hash_mib <= _MOST_KEPT_MIB:  # a solver that raised is dropped
        solver.clear()
        _cache[make] = (hash_mib, solver)


@dataclass(frozen=True, slots=True)
class Mate:
    """The result of a mate search."""

    verdict: str
    """`mate`, `no mate` (by checks) or `unknown` (a limit was reached)."""
    line: tuple[AnyMove, ...]
    """The mating line, including the last move; empty without a mate."""
    nodes: int
    time_s: float


def find_mate(
    position: AnyGame, *, nodes: int = 10_000_000, time_s: float = 0.0, hash_mib: int = 64
) -> Mate:
    """Search for a mate by the side to move in which every move gives check (df-pn).

    >>> import hyoka as hk
    >>> mate = find_mate(hk.Chess.from_text("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"))
    >>> mate.verdict, [str(move) for move in mate.line]
    ('mate', ['a1a8'])
    """
    facts = facts_of(position)
    if facts.search.mate_solver is None:
        games = " and ".join(games_with(lambda each: each.search.mate_solver))
        raise NotationError(f"mates are looked for in {games}, not in {facts.name}")
    here = getattr(position, "position", position)
    with (
        memory_for(f"a table of {hash_mib} MiB"),
        _solver(facts.search.mate_solver, hash_mib) as solver,
    ):
        verdict, line, visited, seconds = solver.solve(here, nodes, time_s)
    if verdict == "mate" and not holds(position, line):
        verdict, line = "unknown", []
    return Mate(verdict, tuple(line), visited, seconds)


def holds(game: AnyGame, line: Sequence[AnyMove]) -> bool:
    """Whether a mating line mates under all rules, such as move-count draws."""
    if not line:
        return False
    for move in line:
        if game.outcome is not None:
            return False
        game = game.play(move)
    return bool(game.outcome is not None and game.outcome.reason is Reason.checkmate)


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of solving an Othello endgame."""

    solved: bool
    """False if a limit was reached; then the other fields are meaningless."""
    score: int
    """Black's discs minus White's under best play; empty squares go to the winner."""
    line: tuple[AnyMove, ...]
    """The best line to the end."""
    nodes: int
    time_s: float


def solve_ending(
    position: AnyGame, *, nodes: int = 0, time_s: float = 0.0, hash_mib: int = 64
) -> Ending:
    """Solve an Othello position exactly; a limit of 0 means none.

    >>> import hyoka as hk
    >>> solve_ending(hk.Othello.from_text("X" * 62 + "O- X")).score
    64
    """
    facts = facts_of(position)
    if facts.search.ending_solver is None:
        games = " and ".join(games_with(lambda each: each.search.ending_solver))
        raise NotationError(f"endings are solved in {games}, not in {facts.name}")
    here = getattr(position, "position", position)
    with (
        memory_for(f"a table of {hash_mib} MiB"),
        _solver(facts.search.ending_solver, hash_mib) as solver,
    ):
        solved, score, line, visited, seconds = solver.solve(here, nodes, time_s, False)
    return Ending(solved, score, tuple(line), visited, seconds)


_MATE_NODES: Final = 10_000
_SOLVED_EMPTIES: Final = 14


def by_rules(position: AnyGame) -> float | None:
    """Return the result of a finished game: mate, stalemate, full board, dead position."""
    outcome = position.outcome
    return None if outcome is None else float(outcome.value)


def by_mate(position: AnyGame) -> float | None:
    """Return the result by the rules, or of a mate found within 10,000 nodes (chess, shogi)."""
    over = by_rules(position)
    if over is not None:
        return over
    mate = find_mate(position, nodes=_MATE_NODES, hash_mib=1)
    return None if mate.verdict != "mate" else float(position.to_play is Player.first)


def by_endgame(position: AnyGame) -> float | None:
    """Solve an Othello position with few empty squares exactly."""
    over = by_rules(position)
    if over is not None or facts_of(position).search.ending_solver is None:
        return over
    if int((cast("Game", position).cells == 0).sum()) > _SOLVED_EMPTIES:
        return None
    score = solve_ending(position, hash_mib=1).score
    return 0.5 if score == 0 else float(score > 0)


EXACT_METHODS: Final[dict[str, Callable[[AnyGame], float | None]]] = {
    "rules": by_rules,
    "mate": by_mate,
    "ending": by_endgame,
}
"""Exact methods by name: the first player's result of a position (1, 0.5, 0), None if unknown."""
