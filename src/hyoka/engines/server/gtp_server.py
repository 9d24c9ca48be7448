# SPDX-License-Identifier: Apache-2.0
"""A search as a GTP engine: Go on all board sizes, Othello and Blokus Duo.

Commands that search are here; those of the board are in `gtp_commands`.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import Final

from hyoka._core import Player
from hyoka.engines.server.controller import (
    NAME,
    Controller,
    Question,
    SearchThread,
    continue_line,
    node_limits,
    printable,
    version,
    with_setting,
)
from hyoka.engines.server.gtp_board import Board, Clocks
from hyoka.engines.server.gtp_commands import Analysis, Command, SetUp, color_of, judge
from hyoka.engines.server.uci_server import SearcherOf
from hyoka.foundation.errors import Error, IllegalMoveError, NotationError
from hyoka.games import GTP_GAME, Line, Move, game_facts
from hyoka.games.clock import expected_moves
from hyoka.games.go import stones_of
from hyoka.search import Searcher, SearchLimits, SearchResult, SearchSpec

_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OVERHEAD_S: Final = 0.05


class GtpServer:
    """Answers a controller in GTP version 2 until `quit` or the end of input.

    It resigns when its value falls to `resign_below`; None is never. Raises Error for a game that
    GTP or the search does not support.
    """

    def __init__(
        self,
        spec: SearchSpec,
        controller: Controller,
        *,
        game: str = GTP_GAME,
        resign_below: float | None = None,
        searcher_of: SearcherOf = Searcher,
    ) -> None:
        facts = game_facts(game)
        name = facts.name
        if facts.formats.protocol != "gtp":
            raise NotationError(f"{name} is played over {facts.formats.protocol.upper()}")
        self._spec = spec
        self._controller = controller
        self._resign_below = resign_below
        self._searcher_of = searcher_of
        # Validate at once that the search supports the game.
        self._searcher: Searcher | None = searcher_of(spec, name)
        self._searcher_game = name
        self._board = Board(name)
        self._clocks = Clocks()
        self._set_up = SetUp(self._board, self._new_game)
        self._id = ""
        self._over = False

    def run(self) -> None:
        """Read and answer lines until the end."""
        while not self._over and (line := self._controller.hear()) is not None:
            self.answer(line)

    def answer(self, line: str) -> None:
        """Answer one line; one without a command gets no answer."""
        words = _CONTROL.sub("", line.replace("\t", " ")).partition("#")[0].split()
        self._id = words.pop(0)[:20] if words and words[0].isdecimal() else ""
        if not words:
            return
        name, *arguments = words
        command = self._commands().get(name)
        try:
            if command is None:
                raise NotationError("unknown command")
            text = command(arguments)
        except (NotationError, IllegalMoveError) as error:
            self._controller.say(f"?{self._id} {printable(error) or 'failed'}\n")
        except (Error, OSError, ValueError, TypeError, MemoryError) as error:
            self._controller.say(f"?{self._id} {printable(error) or type(error).__name__}\n")
        else:
            if text is not None:
                space = " " if text and not text.startswith("\n") else ""
                self._controller.say(f"={self._id}{space}{text}\n")

    def _commands(self) -> dict[str, Command]:
        """The commands by name: Go has more."""
        commands: dict[str, Command] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: NAME,
            "version": lambda words: f"{version()} {self._spec.text}",
            "known_command": self._known_command,
            "list_commands": lambda words: "\n".join(self._commands()),
            "quit": self._quit,
            **self._set_up.commands(),
            "genmove": lambda words: self._genmove(color_of(words)),
            "reg_genmove": self._reg_genmove,
            "time_settings": lambda words: _done(self._clocks.set, words),
            "kgs-time_settings": lambda words: _done(self._clocks.set_kgs, words),
            "time_left": self._time_left,
            "clear_cache": self._clear_cache,
            "hyoka-search": self._change_search,
            "hyoka-set": self._change_setting,
            "hyoka-resign": self._change_resign,
        }
        if self._board.is_go:
            commands |= {
                "kgs-genmove_cleanup": self._genmove_cleanup,
                "lz-analyze": lambda words: self._analyze("lz", words),
                "lz-genmove_analyze": lambda words: self._genmove_analyze("lz", words),
                "lz-setoption": self._lz_setoption,
                "kata-analyze": lambda words: self._analyze("kata", words),
                "kata-genmove_analyze": lambda words: self._genmove_analyze("kata", words),
                "kata-search_analyze": self._search_analyze,
            }
        return commands

    def _time_left(self, words: list[str]) -> str:
        player = color_of(words)
        return _done(lambda rest: self._clocks.tell(player, rest), words[1:])

    def _known_command(self, words: list[str]) -> str:
        return str(bool(words) and words[0] in self._commands()).lower()

    def _quit(self, words: list[str]) -> str:
        self._over = True
        return ""

    # Moves

    def _ready_searcher(self) -> Searcher:
        if self._searcher is None or self._searcher_game != self._board.game:
            self._searcher = self._searcher_of(self._spec, self._board.game)
            self._searcher_game = self._board.game
        return self._searcher

    def _new_game(self) -> None:
        self._clocks.restart()
        if self._searcher is not None:
            self._searcher.clear()

    def _clear_cache(self, words: list[str]) -> str:
        if self._searcher is not None:
            self._searcher.clear()
        return ""

    def _question(self, player: Player, analysis: Analysis | None = None) -> Question:
        """Return the search request for a player to move, within the clock."""
        line = self._board.turn_to(player)
        moves = self._board.legal_moves(line)
        only = _allowed_moves(line, moves, analysis)
        clock = self._clocks.of(player)
        seconds = None
        if clock is not None:
            seconds = clock.thinking_s(expected_moves=expected_moves(line), overhead_s=_OVERHEAD_S)
        limits = SearchLimits(time_s=seconds)
        every_s = 0.5 if analysis is None else analysis.every_s
        changed = only if len(only) < line.count_moves() else None
        return Question(line=line, limits=limits, only=changed, every_s=every_s)

    def _searched(
        self, question: Question, on_result: Callable[[SearchResult], None] | None = None
    ) -> SearchResult:
        began_s = time.monotonic()
        result = self._ready_searcher().search(
            question.line,
            question.limits,
            only=question.only,
            on_result=on_result,
            every_s=question.every_s,
        )
        self._clocks.spent(question.line.to_play, time.monotonic() - began_s)
        return result

    def _genmove(self, player: Player) -> str:
        question = self._question(player)
        if question.line.outcome is not None:  # a full board, in a game other than Go
            return "pass"
        return self._play_move(player, self._answer_of(question))

    def _answer_of(self, question: Question) -> str:
        return self._move_of(self._searched(question), question.line.to_play)

    def _move_of(self, result: SearchResult, player: Player) -> str:
        if result.best is None:
            return "pass"
        if self._resign_below is not None and result.value is not None:
            value = result.value if player is Player.first else 1 - result.value
            if value < self._resign_below:
                return "resign"
        return str(result.best)

    def _play_move(self, player: Player, move: str) -> str:
        if move != "resign":
            self._board.play(player, move)
        return move

    def _reg_genmove(self, words: list[str]) -> str:
        return self._answer_of(self._question(color_of(words)))

    def _genmove_cleanup(self, words: list[str]) -> str:
        """`kgs-genmove_cleanup`: do not pass while the opponent has dead stones on the board."""
        player = color_of(words)
        question = self._question(player)
        theirs = stones_of(self._board.position.cells)[player.other.value]
        dead = judge(self._board.go_position).dead
        if any(chain[0] in theirs for chain in dead):
            moves = [move for move in self._board.legal_moves(question.line) if str(move) != "pass"]
            if moves:
                question = Question(line=question.line, limits=question.limits, only=moves)
        return self._play_move(player, self._answer_of(question))

    # Analysis

    def _analyze(self, style: str, words: list[str]) -> None:
        """Analyze until the controller sends anything."""
        analysis = Analysis.from_words(style, words)
        player = analysis.player or continue_line(self._board.line).to_play
        question = self._question(player, analysis)
        searcher = self._ready_searcher()
        self._controller.say(f"={self._id}")
        failed: list[Exception] = []

        def end(result: SearchResult | Exception) -> None:
            if isinstance(result, Exception):
                failed.append(result)
            else:
                self._tell(analysis, result, player)

        thinking = SearchThread(
            searcher,
            Question(
                line=question.line,
                limits=SearchLimits(infinite=True),
                only=question.only,
                every_s=question.every_s,
            ),
            on_result=lambda result: self._tell(analysis, result, player),
            on_end=end,
            held=True,
        )
        self._controller.wait()
        thinking.stop()
        if failed:
            self._controller.say(f"# {printable(failed[0])}")
        self._controller.say("")

    def _tell(self, analysis: Analysis, result: SearchResult, player: Player) -> None:
        if line := analysis.line(result, player):
            self._controller.say(line)

    def _search_with_output(self, analysis: Analysis) -> str:
        """Search with live lines in an open answer; return the move."""
        player = analysis.player or continue_line(self._board.line).to_play
        question = self._question(player, analysis)
        self._ready_searcher()
        self._controller.say(f"={self._id}")
        try:
            result = self._searched(question, lambda partial: self._tell(analysis, partial, player))
        except Exception as error:  # the open answer must be ended
            self._controller.say(f"# {printable(error)}\n")
            return ""
        self._tell(analysis, result, player)
        move = self._move_of(result, player)
        self._controller.say(f"play {move}\n")
        return move

    def _genmove_analyze(self, style: str, words: list[str]) -> None:
        analysis = Analysis.from_words(style, words)
        player = analysis.player or continue_line(self._board.line).to_play
        if move := self._search_with_output(analysis):
            self._play_move(player, move)

    def _search_analyze(self, words: list[str]) -> None:
        self._search_with_output(Analysis.from_words("kata", words))

    # Settings

    def _change_search(self, words: list[str]) -> str:
        if words:
            self._spec, self._searcher = SearchSpec.from_text(" ".join(words)), None
        return self._spec.text

    def _change_setting(self, words: list[str]) -> str:
        if not words:
            raise NotationError("syntax error")
        self._spec = with_setting(self._spec, words[0], " ".join(words[1:]))
        self._searcher = None
        return self._spec.text

    def _change_resign(self, words: list[str]) -> str:
        if words == ["off"]:
            self._resign_below = None
            return ""
        try:
            below = float(words[0])
        except (ValueError, IndexError):
            raise NotationError("expected a value from 0 to 1, or off") from None
        if not 0 <= below <= 1:
            raise NotationError("expected a value from 0 to 1, or off")
        self._resign_below = below
        return ""

    def _lz_setoption(self, words: list[str]) -> str:
        """`name NAME value VALUE`; Leela Zero's `visits` are our playouts or nodes."""
        match = re.fullmatch(r"name (\S+) value (\S+)", " ".join(words))
        if match is None:
            raise NotationError("syntax error")
        name, value = match[1].lower(), match[2]
        if name in ("visits", "playouts"):
            name = "playouts" if node_limits(self._spec, 1).playouts else "nodes"
        return self._change_setting([name, value]) and ""


def _allowed_moves(line: Line, moves: list[Move], analysis: Analysis | None) -> list[Move]:
    """Return the moves that an analysis allows; all of them if there would be none."""
    if analysis is None or not (analysis.allow or analysis.avoid):
        return moves
    allowed, avoided = (
        {point.upper() for point in each} for each in (analysis.allow, analysis.avoid)
    )
    remaining = [
        move
        for move in moves
        if str(move).upper() not in avoided and (not allowed or str(move).upper() in allowed)
    ]
    return remaining or moves


def _done(act: Callable[[Sequence[str]], None], words: Sequence[str]) -> str:
    try:
        act(words)
    except NotationError:
        raise NotationError("syntax error") from None
    return ""
