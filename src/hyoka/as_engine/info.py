# SPDX-License-Identifier: Apache-2.0
"""What a search has found, in the words of UCI and USI: always in the view of the side to move."""

import math
from collections.abc import Callable, Sequence
from typing import Final

from hyoka._core import Player
from hyoka.games import FACTS, AnyMove
from hyoka.search import MoveReport, SearchResult

_SURE: Final = 1e-4
"""How near to certain a value may come before its score goes no further."""


def centipawns_of(value: float, game: str) -> int:
    """The score that stands for an expected result: scale × ln(value / (1 − value)).

    For chess this is the Elo formula, 400 × log10(v / (1 − v)): 100 is worth 0.64. For shogi the
    scale is the usual 600.

    >>> [centipawns_of(value, "chess") for value in (0.5, 0.64, 1.0)]
    [0, 100, 1600]
    """
    value = min(max(value, _SURE), 1 - _SURE)
    return round(FACTS[game].centipawn_scale * math.log(value / (1 - value)))


def score_of(
    mover: Player, game: str, *, value: float | None, score: float | None, unit: str
) -> int:
    """Centipawns for the side to move, of a score or else of a value in the first player's view."""
    if score is not None and unit == "centipawns":
        return round(score) if mover is Player.first else -round(score)
    if value is None:
        value = 0.5
    return centipawns_of(value if mover is Player.first else 1 - value, game)


def info_lines(
    result: SearchResult,
    mover: Player,
    game: str,
    *,
    lines: int,
    write: Callable[[Sequence[AnyMove]], str],
) -> list[str]:
    """`info` lines for the best moves, as many as `lines`; `write` writes a variation.

    A proven mate has its length instead of a score.
    """
    nodes = result.playouts or result.nodes
    rate = f" nps {round(nodes / result.time_s)}" if result.time_s > 0 else ""
    full = f" hashfull {result.hash_permille}" if result.hash_permille else ""
    effort = f"nodes {nodes}{rate}{full} time {round(result.time_s * 1000)}"
    told = []
    for number, report in enumerate(result.moves[:lines], start=1):
        pv = report.pv or (report.move,)
        if number == 1:
            pv = result.pv or pv
            words = _score_words(result, mover, game, result.unit)
        else:
            words = _score_words(report, mover, game, result.unit)
        depth = max(1, result.depth)
        deepest = max(depth, result.selective_depth, len(pv))
        told.append(
            f"info depth {depth} seldepth {deepest} multipv {number} "
            f"score {words} {effort} pv {write(pv)}"
        )
    if not told:
        pv_words = f" pv {write(result.pv)}" if result.pv else ""
        words = _score_words(result, mover, game, result.unit)
        told.append(f"info depth {result.depth} score {words} {effort}{pv_words}")
    return told


def _score_words(found: SearchResult | MoveReport, mover: Player, game: str, unit: str) -> str:
    if found.mate:
        plies = found.mate if mover is Player.first else -found.mate
        return f"mate {FACTS[game].counted_mate(plies)}"
    score = score_of(mover, game, value=found.value, score=found.score, unit=unit)
    return f"cp {score}"
