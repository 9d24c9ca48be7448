# SPDX-License-Identifier: Apache-2.0
"""The commands of GTP that need only the board: set it up, play, take back, load, draw, count."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyoka._core import Player
from hyoka.as_engine.gtp_analysis import colour_of
from hyoka.as_engine.gtp_board import Board, free_handicap, handicap, stones_of
from hyoka.as_engine.gtp_score import judge
from hyoka.diagram import terminal
from hyoka.errors import Error, IllegalMoveError, NotationError
from hyoka.games import facts_of_size, game_facts
from hyoka.problems import load_sgf_past

_LARGEST_SGF: Final = 16 << 20
_MOST_HANDICAP: Final = 9

Command = Callable[[list[str]], str | None]
"""Takes its arguments and gives the answer; None if it has answered by itself."""


class SetUp:
    """The commands about a board; `new_game` is called when another game begins."""

    def __init__(self, board: Board, new_game: Callable[[], None]) -> None:
        self._board = board
        self._new_game = new_game

    def commands(self) -> dict[str, Command]:
        """The commands by name: more in Go than in other games."""
        known: dict[str, Command] = {
            "set_game": self._set_game,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "undo": self._undo,
            "showboard": lambda words: "\n" + terminal(self._board.line, ascii=True),
            "final_score": self._final_score,
        }
        if self._board.is_go:
            known |= {
                "fixed_handicap": self._fixed_handicap,
                "place_free_handicap": self._place_free_handicap,
                "set_free_handicap": self._set_free_handicap,
                "loadsgf": self._loadsgf,
                "final_status_list": self._final_status_list,
            }
        return known

    def _changed(self) -> str:
        self._new_game()
        return ""

    def _set_game(self, words: list[str]) -> str:
        facts = game_facts(" ".join(words) or "?")
        if facts.protocol != "gtp":
            raise NotationError("unsupported game")
        self._board.change_game(facts.name)
        return self._changed()

    def _boardsize(self, words: list[str]) -> str:
        if len(words) != 1 or not words[0].isdecimal():
            raise NotationError("syntax error")
        facts = facts_of_size(self._board.facts.family, words[0])
        if facts is None:
            raise NotationError("unacceptable size")
        self._board.change_game(facts.name)
        return self._changed()

    def _clear_board(self, words: list[str]) -> str:
        self._board.clear()
        return self._changed()

    def _komi(self, words: list[str]) -> str:
        if len(words) != 1 or not re.fullmatch(r"[+-]?[0-9]{0,4}\.?[0-9]{0,6}", words[0]):
            raise NotationError("syntax error")
        try:
            self._board.set_komi(float(words[0]))
        except ValueError:
            raise NotationError("syntax error") from None
        return ""

    def _play(self, words: list[str]) -> str:
        player = colour_of(words)
        try:
            self._board.play(player, " ".join(words[1:]))
        except IllegalMoveError:
            raise IllegalMoveError("illegal move") from None
        except (NotationError, TypeError):
            raise NotationError("syntax error") from None
        return ""

    def _undo(self, words: list[str]) -> str:
        try:
            self._board.undo()
        except IllegalMoveError:
            raise IllegalMoveError("cannot undo") from None
        return ""

    def _empty_board(self) -> tuple[str, float]:
        if not self._board.is_empty:
            raise IllegalMoveError("board not empty")
        return self._board.game, self._board.go_position.komi

    def _fixed_handicap(self, words: list[str]) -> str:
        stones = int(words[0][:6]) if len(words) == 1 and words[0].isdecimal() else 0
        game, komi = self._empty_board()
        self._board.set_up(handicap(game, komi, stones))
        return " ".join(stones_of(self._board.go_position, Player.first))

    def _place_free_handicap(self, words: list[str]) -> str:
        wanted = int(words[0][:6]) if len(words) == 1 and words[0].isdecimal() else 0
        game, komi = self._empty_board()
        # An engine may place fewer stones than it is asked for.
        for stones in range(min(wanted, _MOST_HANDICAP), 1, -1):
            try:
                self._board.set_up(handicap(game, komi, stones))
            except NotationError:
                continue
            return " ".join(stones_of(self._board.go_position, Player.first))
        raise NotationError("invalid number of stones")

    def _set_free_handicap(self, words: list[str]) -> str:
        game, komi = self._empty_board()
        try:
            self._board.set_up(free_handicap(game, komi, words))
        except (Error, TypeError):
            raise NotationError("bad vertex list") from None
        return ""

    def _loadsgf(self, words: list[str]) -> str:
        number = None
        if len(words) > 1 and words[-1].isdecimal():
            number = int(words.pop()[:6]) or None
        path = Path(" ".join(words))
        try:
            with path.open("rb") as file:
                past = load_sgf_past(file.read(_LARGEST_SGF), number)
        except (Error, OSError, ValueError) as error:
            raise NotationError(f"cannot load file: {error}") from None
        self._board.set_line(past.line())
        return self._changed()

    def _final_score(self, words: list[str]) -> str:
        board = self._board
        score = judge(board.go_position).score if board.is_go else board.position.score
        return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"

    def _final_status_list(self, words: list[str]) -> str:
        if len(words) != 1 or words[0] not in ("alive", "seki", "dead"):
            raise NotationError("syntax error")
        if words[0] == "seki":
            return ""
        status = judge(self._board.go_position)
        chains = status.alive if words[0] == "alive" else status.dead
        return "\n".join(" ".join(chain) for chain in chains)
