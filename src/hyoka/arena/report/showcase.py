# SPDX-License-Identifier: Apache-2.0
"""A few games worth a look, each with one of its positions."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from hyoka.arena.played import PlayedGame
from hyoka.arena.report.boards import board_after
from hyoka.arena.report.facts import MatchFacts, shortened
from hyoka.page import Board, Boards, Section

_MOST_FAULTS: Final = 3
_FAULT_LENGTH: Final = 200
_TITLE: Final = "Games to look at"


def showcase_section(facts: MatchFacts, games: Sequence[PlayedGame]) -> Section:
    """The shortest decisive game, the longest, the best position lost, and games with faults."""
    picks: dict[int, tuple[str, int | None]] = {}
    clean = np.flatnonzero((facts.result != 0.5) & ~facts.faulty)
    if len(clean):
        picks[int(clean[facts.plies[clean].argmin()])] = ("The shortest decisive game", None)
    picks.setdefault(int(facts.plies.argmax()), ("The longest game", None))
    thoughts = facts.thoughts
    lost = np.flatnonzero((thoughts.result == 0) & (thoughts.value > 0.5))
    if len(lost):
        best = int(lost[thoughts.value[lost].argmax()])
        ply = int(thoughts.ply[best])
        mover = facts.names[int(thoughts.mover[best])]
        words = f"After ply {ply} {mover} gave itself {thoughts.value[best]:.0%}, and lost"
        picks.setdefault(int(thoughts.game[best]), (words, ply))
    for row in np.flatnonzero(facts.faulty)[:_MOST_FAULTS].tolist():
        picks.setdefault(row, ("A game with a fault", None))
    drawn = (
        _board(facts, row, games[int(facts.place[row])], words, ply)
        for row, (words, ply) in picks.items()
    )
    boards = tuple(board for board in drawn if board is not None)
    if not boards:
        return Section(_TITLE, ("A game in Python needs a name and `cells` to be drawn here.",))
    return Section(_TITLE, (), (Boards(boards),))


def _board(
    facts: MatchFacts, row: int, game: PlayedGame, words: str, ply: int | None
) -> Board | None:
    record = game.record
    ply = len(record) if ply is None else ply
    first, second = facts.names[facts.first[row]], facts.names[facts.second[row]]
    result = {1.0: f"{first} won", 0.5: "drawn", 0.0: f"{second} won"}[game.result]
    caption = (
        f"{words}: game {game.pairing.number + 1}, {first} – {second}, {result} "
        f"({facts.reason[row]}, {len(record)} plies)."
    )
    if game.fault:
        caption += f" {shortened(game.fault, _FAULT_LENGTH)}"
    board = board_after(record, ply)
    return None if board is None else Board(board, caption)
