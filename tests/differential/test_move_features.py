# SPDX-License-Identifier: Apache-2.0
"""Features of moves against slow twins made from their descriptions."""

import random
from typing import Any

import numpy as np

import hyoka as hk
from hyoka import _core
from hyoka.passes import GameTable
from hyoka.records import Record

from .blokus_twin import SIZE, BlokusTwin, Squares, corners, edges, pieces


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


def steps_to_centre(coordinate: int) -> int:
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
    distance = min(max(steps_to_centre(x), steps_to_centre(y)) for x, y in squares)
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
            letter = candidate.short_code[2]
            expected = blokus_move_features(twin, squares_of(str(candidate)), letter, last)
            assert {names[feature] for feature in found.features[at + index]} == expected
        at += len(moves)
        last = squares_of(str(move))
        twin.play(last)
