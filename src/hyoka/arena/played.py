# SPDX-License-Identifier: Apache-2.0
"""One game of a match: what was to be played, and what came of it."""

from dataclasses import dataclass

from hyoka.records import Record


@dataclass(frozen=True, slots=True)
class Pairing:
    """One game to be played."""

    number: int
    """Which game of the match, from 0; it is played and counted once."""
    pair_id: int
    """Games with the same number are played by the same two from the same opening."""
    opening_id: int
    """Which opening of the match's list."""
    first: int
    """Which player of the match moves first."""
    second: int


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """One game that was played."""

    pairing: Pairing
    record: Record
    """With the players' names. Each remark is what the player who has just moved thought of it:
    value or score, depth, seconds spent and left on the clock; moves of the opening are `book`.
    `result` is never None."""
    reason: str
    """How it ended, in a word or two: `checkmate`, `repetition`, `resigned`, `time`,
    `illegal move`, `died`, `hung`, `adjudicated by score`, …"""
    fault: str = ""
    """What an engine did wrong, at length; empty where nothing went wrong."""
    seconds: float = 0.0
    worker: str = ""
    """The process that played it, as HOST:PID."""

    @property
    def result(self) -> float:
        """The first player's: 1 won, 0.5 drawn, 0 lost."""
        assert self.record.result is not None
        return self.record.result

    @property
    def is_fault(self) -> bool:
        """Whether a player lost by a fault of its own, and not on the board."""
        return self.record.ending in ("time", "illegal", "forfeit")
