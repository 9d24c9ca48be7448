# SPDX-License-Identifier: Apache-2.0
"""GTP tests sent to an engine in the words of their file.

A file is untrusted and an engine may have commands that write files. Only known harmless commands
are sent, with arguments that name no file; records are unpacked into a temporary folder under our
names.
"""

import hashlib
import re
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyoka._core import Player
from hyoka.engines import Engine
from hyoka.engines.client.gtp import Answer as GtpAnswer
from hyoka.foundation.errors import EngineError
from hyoka.games import as_go
from hyoka.games.go import stones_of
from hyoka.games.registry import position
from hyoka.records.problems import Assertion, GtpScript, GtpTest


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Points, numbers, names; `:` and `!` are Pachi's, as in `!atari:ladder`. No paths, no shell syntax.
_ARGUMENT: Final = re.compile(r"[\w.+:!?-]*", re.ASCII)
_BEGINS_A_BOARD: Final = ("loadsgf", "boardsize")
_CHANGES_THE_BOARD: Final = _words("""
    loadsgf boardsize clear_board komi play black white undo trymove tryko popgo
""")
_QUESTIONS: Final = _words("""
    all_legal all_move_values analyze_eyegraph analyze_semeai analyze_semeai_after_move attack
    attack_either block_off break_in captures color combination_attack combination_defend connect
    countlib defend defend_both disconnect does_attack does_defend does_surround dragon_data
    dragon_status dragon_stones estimate_score eval_eye experimental_score final_score
    final_status final_status_list findlib get_handicap get_komi gg_genmove half_eye_data
    invariant_hash is_legal is_surrounded known_command ladder_attack last_move list_stones
    move_history move_reasons move_uncertainty name new_score owl_analyze_semeai owl_attack
    owl_connection_defends owl_defend owl_does_attack owl_does_defend owl_substantial
    owl_threaten_attack owl_threaten_defense protocol_version query_boardsize reg_genmove
    restricted_genmove same_dragon showboard surround_map tactical_analyze_semeai top_moves
    top_moves_black top_moves_white unconditional_status version worm_cutstone worm_data
    worm_stones get_connection_node_counter get_life_node_counter get_owl_node_counter
    get_random_seed get_reading_node_counter get_trymove_counter go_ladder go_safe
    go_safe_dame_static go_safe_winner go_static_ladder sg_compare_float sg_compare_int
    static_score uct_policy_corrected_moves uct_policy_moves uct_policy_moves_simple uct_patterns
    uct_root_filter uct_score uct_stat_player uct_value uct_value_black pachi-tunit tunit
""")
_SETTINGS: Final = _words("""
    advance_random_seed clear_cache decrease_depths increase_depths level limit_search
    reset_connection_node_counter reset_life_node_counter reset_owl_node_counter
    reset_reading_node_counter reset_search_mask reset_trymove_counter set_random_seed
    set_search_diamond set_search_limit time_left time_settings kgs-rules fuegotest_param go_param
    go_param_rules go_rules uct_param_globalsearch uct_param_player uct_param_policy
    uct_param_rootfilter uct_param_search
""")
_PRINTABLE: Final = _CHANGES_THE_BOARD | _QUESTIONS | _SETTINGS
_RUNS_ANOTHER: Final = ("sg_compare_float", "sg_compare_int")
_UNIT_TESTS: Final = ("pachi-tunit", "tunit")


@dataclass(frozen=True, slots=True)
class Script:
    """The lines of a file up to a question."""

    file: GtpScript
    place: int
    """The line number of the question."""
    commands: frozenset[str]
    """The commands that the engine supports."""
    is_claim: bool = False
    """Whether we wrote the script for one claim, which leaves no state behind."""

    @property
    def begin(self) -> int:
        """The last line before the question that starts a board."""
        names = map(_name, self.file.commands[: self.place + 1])
        return max((at for at, name in enumerate(names) if name in _BEGINS_A_BOARD), default=0)

    def lines(self, begin: int, end: int, kinds: Collection[str] = _PRINTABLE) -> list[str]:
        """Return the lines of the given kinds that the engine supports."""
        own = self.begin
        return [
            line
            for at, line in enumerate(self.file.commands[begin:end], begin)
            if _name(line) in kinds
            and (at >= own or at not in self.file.asked)
            and _rejection(line, self.commands) is None
        ]


def script_of(test: GtpTest | Assertion, commands: frozenset[str]) -> Script | str:
    """Return the script of a test for an engine, or the reason why there is none."""
    if isinstance(test, Assertion):
        return _claim_script(test, commands)
    script = Script(test.script, test.place, commands)
    lines = test.script.commands[script.begin : test.place + 1]
    # Commands that only set or query something are skipped where the engine lacks them.
    for line in [lines[-1], *(line for line in lines if _name(line) in _CHANGES_THE_BOARD)]:
        if (reason := _rejection(line, commands)) is not None:
            return reason
    return script


def _claim_script(claim: Assertion, commands: frozenset[str]) -> Script | str:
    """Translate a claim of Pachi's unit tests, which Pachi also takes over GTP."""
    name = next((name for name in _UNIT_TESTS if name in commands), None)
    if name is None:
        return "a claim about a board, which only Pachi judges"
    game = as_go(position(claim.game, claim.position))
    if not claim.expected:
        return "a claim without an expected answer"
    if game.ko is not None or claim.settings.keys() - {"rules"}:
        return "a claim about a board that GTP cannot set up"
    question = " ".join([name, claim.name, *claim.arguments, *claim.expected])
    stones = [
        f"play {color} {point}"
        for color, points in zip("bw", stones_of(game.cells), strict=True)
        for point in points
        if point != claim.last_move
    ]
    if claim.last_move is not None:
        mover = "w" if game.to_play is Player.first else "b"
        stones.append(f"play {mover} {claim.last_move}")
    rules = f"kgs-rules {claim.settings.get('rules', 'chinese')}"
    board = [f"boardsize {game.size}", "clear_board", f"komi {game.komi:g}", rules, *stones]
    for line in [*board, question]:
        if (reason := _rejection(line, commands)) is not None:
            return reason
    file = GtpScript((*board, question), frozenset({len(board)}))
    return Script(file, len(board), commands, is_claim=True)


def _name(line: str) -> str:
    return line.split(maxsplit=1)[0]


def _rejection(line: str, commands: Collection[str]) -> str | None:
    """Return why a line is not sent to an engine with these commands; None if it is."""
    name, *arguments = line.split()
    words = [name, *arguments[1:2]] if name in _RUNS_ANOTHER else [name]
    for word in words:
        if word not in _PRINTABLE:
            return f"'{word}' is not a command that we send"
        if word not in commands:
            return f"the engine does not know '{word}'"
    checked = [] if name == "loadsgf" else arguments
    if not all(map(_ARGUMENT.fullmatch, checked)):
        return f"'{name}' with an argument that is not a point, number or name"
    return None


class ScriptRunner:
    """Runs scripts on one engine, which gets each line of a file once.

    Where tests are skipped, so is everything but the settings that they make.
    """

    def __init__(self, session: Engine) -> None:
        self._session = session
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._engine: object = None
        self._file: GtpScript | None = None
        self._next = 0
        self._needs_restart = False

    def close(self) -> None:
        """Delete the unpacked records."""
        if self._folder is not None:
            self._folder.cleanup()

    def forget(self) -> None:
        """Reset: another caller has used the board."""
        self._file = None

    def answer(self, script: Script) -> str:
        """Return the engine's answer to the script's question. Raises EngineError."""
        goes_on = script.file == self._file and self._next <= script.place
        if not goes_on and self._needs_restart:
            self._session.restart()  # one file's state must not affect the next
        engine = self._session.gtp_engine()
        if engine is not self._engine:
            self._engine, goes_on = engine, False
        self._needs_restart = not script.is_claim
        lines = self._lines(script, self._next if goes_on else None)
        self._file = None  # the engine's state is unknown until it has answered
        *before, answer = self._session.send(
            [
                self._localize(line, script.file)
                for line in [*lines, script.file.commands[script.place]]
            ]
        )
        for each in before:
            if not each.accepted and _name(each.command) in _CHANGES_THE_BOARD:
                raise _refusal(engine.name, each)
        if not answer.accepted:
            raise _refusal(engine.name, answer)
        self._file, self._next = script.file, script.place + 1
        return answer.text

    def _lines(self, script: Script, done: int | None) -> list[str]:
        """Return the lines to send before the question, starting at `done`."""
        begin, place = script.begin, script.place
        if done is None:
            return script.lines(0, begin, _SETTINGS) + script.lines(begin, place)
        if done >= begin:
            return script.lines(done, place)
        names = [_name(line) for line in script.file.commands[done:begin]]
        boards = (at for at, name in enumerate(names, done) if name in _BEGINS_A_BOARD)
        end = next(boards, begin)  # the end of the engine's current board
        return [
            *script.lines(done, end),
            *script.lines(end, begin, _SETTINGS),
            *script.lines(begin, place),
        ]

    def _localize(self, line: str, file: GtpScript) -> str:
        """Return the line with a record's name replaced by that of the unpacked copy."""
        name, *arguments = line.split()
        if name != "loadsgf":
            return line
        data = file.records[arguments[0]]
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="hyoka-")
        path = Path(self._folder.name) / f"{hashlib.sha256(data).hexdigest()[:32]}.sgf"
        if not path.exists():
            path.write_bytes(data)
        return " ".join([name, str(path), *arguments[1:]])


def _refusal(engine: str, answer: GtpAnswer) -> EngineError:
    return EngineError(engine, f"refuses '{answer.command}': {answer.text}", reason="refused")
