# SPDX-License-Identifier: Apache-2.0
"""Go positions with their history, also from SGF records by the rules of `loadsgf`."""

import re
from dataclasses import dataclass
from typing import Self, cast

from hyoka._core import Player
from hyoka.foundation.errors import Error, IllegalMoveError, NotationError
from hyoka.games import GoLine, GoPosition, go_of_size
from hyoka.games.go import point_name, stones_of, with_ko, without_passes
from hyoka.records.problems.problem import line_between


@dataclass(frozen=True, slots=True)
class Past:
    """`game` is `start` after `moves`."""

    start: GoPosition
    moves: tuple[str, ...]
    game: GoPosition

    @classmethod
    def of(cls, game: GoPosition) -> Self:
        """Create a position without history."""
        return cls(game, (), game)

    def to_play(self, player: Player) -> "Past":
        """Give `player` the turn; a change clears the history."""
        return self if self.game.to_play == player else self.of(self.game.with_to_play(player))

    def with_komi(self, komi: float) -> "Past":
        """Change the komi, from the start on."""
        return Past(self.start.with_komi(komi), self.moves, self.game.with_komi(komi))

    def play(self, text: str) -> "Past":
        """Play a move in turn; two passes before it are ignored, since play continues."""
        here = self.not_over()
        move = here.game.parse(text)
        return Past(here.start, (*here.moves, str(move)), here.game.play(move))

    def not_over(self) -> "Past":
        """Clear the history if two passes ended the game."""
        return self if self.game.outcome is None else self.of(without_passes(self.game))

    def line(self) -> GoLine:
        """Return the line, or only the position if the rules forbid the history."""
        return cast("GoLine", line_between(self.start, self.moves, self.game))


def read_komi(text: str) -> float:
    """Read a komi; raises NotationError."""
    if not re.fullmatch(r"[+-]?[0-9]{1,4}(?:\.[0-9]{1,6})?", text):
        raise NotationError(f"no komi '{text}'")
    return float(text)


Property = tuple[str, list[str]]

_ROOT = re.compile(r"\(\s*;")
_TOKEN = re.compile(
    r"\s*+(?:(?P<mark>[;()])|(?P<name>[A-Za-z]++)\s*+(?P<values>(?:\[(?:\\.|[^\]\\])*+\]\s*+)++))",
    re.DOTALL,
)
_VALUE = re.compile(r"\[((?:\\.|[^\]\\])*+)\]", re.DOTALL)
_PLAYERS = {"B": Player.first, "W": Player.second}
_STONES = {"AB": 1, "AW": -1, "AE": 0}


def load_sgf(data: bytes, move_number: int | None = None) -> GoPosition:
    """Return the Go position of a record's main line just before a move; see `load_sgf_past`."""
    return load_sgf_past(data, move_number).game


def load_sgf_past(data: bytes, move_number: int | None = None) -> Past:
    """Return the Go position of a record's main line just before a move, or at its end.

    Moves count from 1, passes too. The player whose move it would be is to play; at the end, the
    one who did not move last, or whom `PL` names. A record without moves is one position, whatever
    the number. Without `KM`, komi is 5.5, or 0.5 with handicap. Two passes do not stop play if the
    record goes on. GNU Go's `IL` marks a point as forbidden by ko.

    Raises NotationError for what cannot be read, sizes that are none of ours and records that are
    too short, IllegalMoveError for moves and set-ups that break the rules.
    """
    nodes = _main_line(data)
    game, handicap = _empty_board(nodes[0])
    past = Past.of(game)
    number = 0
    for node in nodes:
        past = _set_up(past, node)
        for name, values in node:
            if name not in _PLAYERS:
                continue
            player = _PLAYERS[name]
            game = past.game
            if handicap > 1 and player == Player.second and not number and not game.cells.any():
                past = Past.of(type(game)(komi=game.komi, handicap=handicap))
            past = past.to_play(player)
            number += 1
            if number == move_number:
                return past
            past = _played(past, number, name, values[0])
    if move_number is not None and number and move_number != number + 1:
        raise NotationError(f"the record has {number} moves, so none before move {move_number}")
    return past


def _main_line(data: bytes) -> list[list[Property]]:
    """Read the nodes of the main line, each a list of properties with their values."""
    text = data.decode("latin-1")
    root = _ROOT.search(text)
    if not root:
        raise NotationError("no SGF: no '(;' in it")
    nodes: list[list[Property]] = []
    at = root.start()
    while token := _TOKEN.match(text, at):
        at = token.end()
        if token["mark"] == ")":
            return nodes
        if token["mark"] == ";":
            nodes.append([])
        elif token["name"]:
            # Older SGF uses long names: AddBlack is AB.
            name = "".join(filter(str.isupper, token["name"]))
            values = [re.sub(r"\\(.)", r"\1", v).strip() for v in _VALUE.findall(token["values"])]
            nodes[-1].append((name, values))
    raise NotationError(f"SGF breaks off or goes wrong at character {at + 1}")


def _first(node: list[Property], name: str, default: str) -> str:
    return next((values[0] for key, values in node if key == name), default)


def _empty_board(root: list[Property]) -> tuple[GoPosition, int]:
    if _first(root, "GM", "1") != "1":
        raise NotationError("the SGF is not of a game of Go")
    size = _first(root, "SZ", "19")
    kind = go_of_size(size)
    handicap = _number(_first(root, "HA", "") or "0", "HA", r"[0-9]{1,3}")
    default = "0.5" if handicap > 1 else "5.5"
    komi = _number(_first(root, "KM", "") or default, "KM", r"[+-]?[0-9]{0,4}\.?[0-9]{0,9}")
    game = kind(komi=komi)
    return (game.with_to_play(Player.second) if handicap > 1 else game), int(handicap)


def _number(text: str, name: str, pattern: str) -> float:
    try:
        if re.fullmatch(pattern, text):
            return float(text)
    except ValueError:
        pass
    raise NotationError(f"{name} must be a number, not '{text}'")


def _points(value: str, size: int) -> list[tuple[int, int]]:
    """Give the (row, column) of a point such as `dp`, or of all in a rectangle such as `aa:cc`."""
    corners = [(ord(end[1]) - 97, ord(end[0]) - 97) for end in value.split(":") if len(end) == 2]
    on_board = all(0 <= part < size for corner in corners for part in corner)
    if not on_board or len(corners) != value.count(":") + 1 or len(corners) > 2:
        raise NotationError(f"no point '{value}' on a board of size {size}")
    (top, left), (bottom, right) = corners[0], corners[-1]
    if top > bottom or left > right:
        raise NotationError(f"'{value}' does not go from top left to bottom right")
    return [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]


def _set_up(past: Past, node: list[Property]) -> Past:
    """Add and remove stones, change the turn, mark a ko: this clears the history."""
    game = _set_up_game(past.game, node)
    return past if game == past.game else Past.of(game)


def _set_up_game(game: GoPosition, node: list[Property]) -> GoPosition:
    size = game.size
    if any(name in _STONES for name, _ in node):
        cells = game.cells.copy()
        for name, values in node:
            if name in _STONES:
                for value in values:
                    for row, column in _points(value, size):
                        cells[row, column] = _STONES[name]
        game = type(game).from_stones(*stones_of(cells), to_play=game.to_play, komi=game.komi)
    to_play = _first(node, "PL", "")
    if to_play:
        # Some writers use 1 and 2 for the colors.
        game = game.with_to_play(Player.second if to_play[0] in "wW2" else Player.first)
    for name, values in node:
        if name == "IL":
            for value in values:
                game = _with_ko(game, point_name(*_points(value, size)[0], size))
    return game


def _with_ko(game: GoPosition, point: str) -> GoPosition:
    """Forbid the point if capturing there would retake a ko."""
    takes_ko = game.is_legal(point) and game.play(point).ko is not None
    return with_ko(game, point) if takes_ko else game


def _played(past: Past, number: int, name: str, value: str) -> Past:
    size = past.game.size
    is_pass = not value or (value == "tt" and size <= 19)
    point = "pass" if is_pass else point_name(*_points(value, size)[0], size)
    try:
        return past.play(point)
    except Error as error:
        raise IllegalMoveError(f"move {number} ({name} {point}) of the record: {error}") from None
