# SPDX-License-Identifier: Apache-2.0
"""Features of moves against slow twins made from their descriptions."""

import random
import re
from typing import Any

import numpy as np
import pytest
from sgfmill import boards, common

import hyoka as hk
from hyoka import _core
from hyoka._core import Go7
from hyoka.records import Record
from hyoka.records.bulk import GameTable

from .blokus_twin import SIZE, BlokusTwin, Squares, corners, edges, pieces
from .feature_twins import Point, Points, SlowLadder, after, beside, chain


def squares_of(text: str) -> Squares:
    names = [] if text == "pass" else text.split(",")
    return frozenset((" abcdefghijklmn".index(name[0]), int(name[1:])) for name in names)


def counted(verb: str, number: int, most: int, what: str) -> str:
    return f"{verb}_{most}_or_more_{what}" if number >= most else f"{verb}_{number}_{what}"


def reach_of(twin: BlokusTwin, player: int) -> Squares:
    """Within two steps of where a player's next piece may attach, over squares open to it."""
    reached = twin.attaching(player)
    for _ in range(2):
        reached = (reached | edges(reached)) - twin.closed(player)
    return frozenset((x, y) for x, y in reached if 1 <= x <= SIZE and 1 <= y <= SIZE)


def steps_to_center(coordinate: int) -> int:
    return max(SIZE // 2 - coordinate, coordinate - SIZE // 2 - 1)


def blokus_move_features(
    twin: BlokusTwin, squares: Squares, letter: str, last: Squares
) -> set[str]:
    if not squares:
        return {"pass"}
    us, them = twin.to_play, 1 - twin.to_play
    laid = len(pieces()) - len(twin.left[us])
    phase = ("opening", "early", "middle", "late")[(laid >= 3) + (laid >= 7) + (laid >= 11)]
    on_board = {(x, y) for x, y in corners(squares) if 1 <= x <= SIZE and 1 <= y <= SIZE}
    opened = on_board - squares - edges(squares) - twin.closed(us) - twin.attaching(us)
    reach = reach_of(twin, them)
    distance = min(max(steps_to_center(x), steps_to_center(y)) for x, y in squares)
    when = "early" if laid < 7 else "late"
    of_last = corners(last) & twin.attaching(them)
    features = {
        f"piece_{letter}_{phase}",
        f"distance_to_centre_{distance}_{phase}",
        counted("opens", len(opened), 7, f"corners_{when}"),
        counted("opens", len(opened & reach), 3, "corners_in_reach"),
        counted("blocks", len(squares & twin.attaching(them)), 3, "corners"),
        counted("takes", len(squares & reach), 5, "squares_in_reach"),
        counted("gives_up", len(twin.attaching(us) & (squares | edges(squares))), 4, "own_corners"),
        counted("blocks", len(squares & of_last), 2, "corners_of_last_piece"),
    }
    return features | ({"touches_last_piece"} if squares & edges(last) else set())


def test_features_of_moves_in_random_games_of_blokus_duo() -> None:
    rng = random.Random(8)
    names = [name for name, _ in _core.move_features("blokus_duo")]
    line: Any = hk.BlokusDuo().line()
    while line.outcome is None:
        line = line.play(rng.choice(line.legal_moves))
    codes = np.array([move.code for move in line.moves], np.uint16)
    record = Record(game="blokus_duo", moves=codes)
    found = GameTable.from_records([record]).move_features(threads=1)
    twin, last = BlokusTwin(), frozenset[tuple[int, int]]()
    at = 0
    for ply, move in enumerate(line.moves):
        moves = found.moves[ply]
        for index in rng.sample(range(len(moves)), min(len(moves), 8)):
            candidate = hk.BlokusDuo.Move.from_code(int(moves[index]))
            letter = candidate.short_code()[2]
            expected = blokus_move_features(twin, squares_of(str(candidate)), letter, last)
            assert {names[feature] for feature in found.features[at + index]} == expected
        at += len(moves)
        last = squares_of(str(move))
        twin.play(last)


GO_TACTICS = {
    "ladder_escape",
    "ladder_capture",
    "nakade",
    "own_vital_point",
    "attack_to_two",
    "extend_from_two",
}
# Eye spaces that one stone in the right place makes a single eye, as rows and columns; * is it.
VITAL_SHAPES = (("o*o",), ("o*", " o"), ("o*o", " o "), (" o ", "o*o", " o "), ("oo", "*o", "o "))
RABBITY_SIX = ("oo ", "o*o", " o ")


def likenesses(shape: tuple[str, ...]) -> set[tuple[Points, Point]]:
    """A shape turned and mirrored, from the lowest row and column on, and its vital point."""
    points = [(row, column) for row, text in enumerate(shape) for column, _ in enumerate(text)]
    inside = [(row, column) for row, column in points if shape[row][column] != " "]
    (middle,) = [(row, column) for row, column in points if shape[row][column] == "*"]
    found = set()
    for flip in (1, -1):
        for turn in range(4):
            moved = []
            for row, column in (*inside, middle):
                at = (row, flip * column)
                for _ in range(turn):
                    at = (at[1], -at[0])
                moved.append(at)
            low, left = min(at[0] for at in moved), min(at[1] for at in moved)
            moved = [(row - low, column - left) for row, column in moved]
            found.add((frozenset(moved), moved[-1]))
    return found


VITAL = {
    shape: middle for drawn in (*VITAL_SHAPES, RABBITY_SIX) for shape, middle in likenesses(drawn)
}


def vital_point_owner(board: boards.Board, point: Point) -> str | None:
    """Who surrounds the empty region of which the point is the vital one."""
    region, reached, colors = {point}, [point], set()
    for at in reached:
        for other in beside(board, at):
            if board.get(*other) is not None:
                colors.add(board.get(*other))
            elif other not in region:
                region.add(other)
                reached.append(other)
    low, left = min(row for row, _ in region), min(column for _, column in region)
    middle = VITAL.get(frozenset((row - low, column - left) for row, column in region))
    if middle != (point[0] - low, point[1] - left) or len(colors) != 1:
        return None
    return str(colors.pop())


def go_tactics(board: boards.Board, point: Point, mover: str) -> set[str]:
    them = common.opponent_of(mover)
    played = after(board, point, mover)
    assert played is not None
    near = beside(board, point)
    own = [chain(board, stone) for stone in near if board.get(*stone) == mover]
    enemy = [chain(board, stone) for stone in near if board.get(*stone) == them]
    found = set()
    taken = any(len(liberties) == 1 for _, liberties in enemy)
    rescues = any(len(liberties) == 1 for _, liberties in own)
    stays_in_atari = not taken and len(chain(played, point)[1]) == 1
    if rescues and not stays_in_atari and SlowLadder().captures(played, point, them):
        found.add("ladder_escape")
    weak = [stone for stone in near if played.get(*stone) == them]
    weak = [stone for stone in weak if len(chain(played, stone)[1]) == 1]
    if any(SlowLadder().captures(played, stone, them) for stone in weak):
        found.add("ladder_capture")
    if (owner := vital_point_owner(board, point)) is not None:
        found.add("own_vital_point" if owner == mover else "nakade")
    if any(len(liberties) == 3 for _, liberties in enemy):
        found.add("attack_to_two")
    if any(len(liberties) == 2 for _, liberties in own):
        found.add("extend_from_two")
    return found


def test_tactical_features_of_moves_in_random_games_of_go() -> None:
    rng = random.Random(9)
    names = [name for name, _ in _core.move_features("go7")]
    seen: set[str] = set()
    for _ in range(6):
        line: Any = Go7().line()
        while line.outcome is None and len(line) < 70:
            moves = [move for move in line.legal_moves if str(move) != "pass"]
            line = line.play(rng.choice(moves or line.legal_moves))
        codes = np.array([move.code for move in line.moves], np.uint16)
        record = Record(game="go7", moves=codes)
        found = GameTable.from_records([record]).move_features(threads=1)
        board, at = boards.Board(7), 0
        for ply, played in enumerate(codes.tolist()):
            mover = "bw"[ply % 2]
            for index, code in enumerate(found.moves[ply].tolist()):
                if code == 49 or (ply + index) % 5:
                    continue
                point = (6 - code // 7, code % 7)
                features = {names[feature] for feature in found.features[at + index]}
                expected = go_tactics(board, point, mover)
                assert features & GO_TACTICS == expected, (ply, code, str(line.moves))
                seen |= expected
            at += len(found.moves[ply])
            if played < 49:
                board.play(6 - played // 7, played % 7, mover)
    assert seen >= GO_TACTICS - {"nakade", "own_vital_point"}


@pytest.mark.parametrize("mover", "bw")
def test_the_vital_points_of_eye_spaces(mover: str) -> None:
    names = [name for name, _ in _core.move_features("go7")]
    wanted = "own_vital_point" if mover == "b" else "nakade"
    for shape, middle in VITAL.items():
        inside = {(row + 2, column + 2) for row, column in shape}
        rows = (
            "".join("." if (6 - row, column) in inside else "X" for column in range(7))
            for row in range(7)
        )
        text = re.sub(r"\.+", lambda empty: str(len(empty[0])), "/".join(rows))
        start = f"{text} {mover} - 0 7.5"
        record = Record(game="go7", moves=np.array([], np.uint16), start=start)
        found = GameTable.from_records([record]).move_features(threads=1)
        vital = [
            (6 - code // 7 - 2, code % 7 - 2)
            for index, code in enumerate(found.moves[0].tolist())
            if wanted in {names[feature] for feature in found.features[index]}
        ]
        assert vital == [middle]
