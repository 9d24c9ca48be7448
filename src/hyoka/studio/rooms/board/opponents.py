# SPDX-License-Identifier: Apache-2.0
"""Who plays a game: what forms offer, and who is refused before anybody waits for a move."""

from typing import Final

import hyoka as hk
from hyoka.games import GameFacts
from hyoka.search import KINDS, SearchSpec
from hyoka.studio.rooms.board.table import Table
from hyoka.studio.state import Studio

_SOLVERS: Final = ("mate", "exact")
"""Searches that answer a question of a position and play no game."""
_SPOKEN: Final = {"cecp": ("uci", "usi")}
"""Protocols by which engines play games that usually have another."""


def opponents(studio: Studio, game: str) -> list[str]:
    """Engines and searches that play a game."""
    return [name for name in evaluators(studio, game) if name not in _SOLVERS]


def evaluators(studio: Studio, game: str) -> list[str]:
    """Engines and searches that can be asked about positions of a game."""
    facts = hk.game_facts(game)
    allowed = studio.engines.allowed
    return [
        name for name in studio.engines.choices() if not _refused(allowed.get(name, name), facts)
    ]


def refusal(studio: Studio, table: Table) -> str:
    """Why whom a table names can't play its game, in words; "" if nothing speaks against it."""
    if not table.against:
        return ""
    try:
        spec = studio.engines.spec(table.against, studio.folder)
        if spec.partition(":")[0] in KINDS:
            SearchSpec.from_text(spec)
    except hk.Error as error:
        return str(error)
    return f"{table.against} {words}" if (words := _refused(spec, table.facts)) else ""


def _refused(spec: str, facts: GameFacts) -> str:
    kind = spec.partition(":")[0]
    if kind in KINDS:
        solves = {"mate": facts.mate_solver, "exact": facts.ending_solver}
        return "" if solves.get(kind, True) else f"solves nothing in {facts.title}"
    protocol = hk.EngineSpec.from_text(spec).protocol
    plays = facts.protocol in _SPOKEN.get(protocol, (protocol,))
    return "" if plays else f"speaks {protocol.upper()}, in which {facts.title} is not played"
