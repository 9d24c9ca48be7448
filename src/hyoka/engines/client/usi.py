# SPDX-License-Identifier: Apache-2.0
"""Shogi engines that speak USI, UCI's sibling."""

from typing import ClassVar

from hyoka.engines.client.position import Replay
from hyoka.engines.client.uci import UciEngine, milliseconds
from hyoka.games import Position, games_with
from hyoka.games.clock import Clock


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
