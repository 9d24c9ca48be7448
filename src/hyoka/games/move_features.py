# SPDX-License-Identifier: Apache-2.0
"""What the features of moves mean, by how their names begin; the longest beginning counts."""

from typing import Final

from hyoka import _core
from hyoka.errors import NotationError

_MEANINGS: Final = {
    # Chess and shogi.
    "exchange_": "what is won or lost if both sides capture on the square as long as it pays",
    "recapture": "captures the piece that has just captured or moved",
    "other_capture": "captures some other piece",
    "promotion": "the piece promotes",
    "other_promotion": "a pawn promotes to less than a queen",
    "check": "gives check",
    "castling_": "castles",
    "pawn_to_": "a pawn goes that far, counted from its own side",
    "escape_of_": "the piece goes away from an attack; the least attacker is named",
    "move_of_": "how the piece's new place, relative to both kings, compares with its old one",
    "drop_of_": "how good the place of the drop is, relative to both kings",
    "king_goes_": "the king goes where so many squares around it are attacked",
    "king_in_check_goes_": "the same when it is in check",
    "previous_piece_is_": "the piece that moved last time moves again",
    "return_": "it goes back to where it came from",
    "declaration": "declares an impasse",
    # Go; distances there are |dx| + |dy| + max(|dx|, |dy|).
    "pass": "passes",
    "capture_saving": "captures what would free an own chain just put into atari",
    "capture_last_moved": "captures the stone just played",
    "extension_": "saves an own chain from atari by extending it",
    "self_atari_": "puts the own chain into atari; big: four stones or more",
    "atari": "puts an enemy chain into atari",
    "ladder_escape": "saves an own chain from atari, but a ladder captures it all the same",
    "ladder_capture": "puts an enemy chain into atari, and a ladder captures it",
    "nakade": "the vital point of an eye space that is the opponent's",
    "own_vital_point": "the vital point of an own eye space",
    "attack_to_two": "takes one of the three liberties of an enemy chain",
    "extend_from_two": "joins an own chain that has two liberties",
    "line_": "lines from the edge",
    "pattern_": "the eight points around by rows: o own, x the other's, e empty, b off the board",
    "distance_to_last_move_": "how far it is from the opponent's last move",
    "distance_to_move_before_": "how far it is from the mover's own last move",
    # Othello.
    "corner": "takes a corner",
    "c_square": "on the edge, beside a corner",
    "x_square": "diagonally beside a corner",
    "a_square": "on the edge, two from a corner",
    "b_square": "in the middle of the edge",
    "second_line_": "one from the edge",
    "box_": "on the rim of the inner sixteen squares",
    "centre": "one of the four squares in the middle",
    "leaves_": "how many moves the opponent has then",
    # Blokus Duo.
    "piece_": "the piece, a to u; opening: up to two pieces are laid, early: six, middle: ten",
    "opens_": "corners that the piece opens for its owner; early: up to six pieces are laid",
    "blocks_": "corners that it takes from the opponent, or those of the piece just laid",
    "takes_": "squares it covers that are within two steps of the opponent's corners",
    "gives_up_": "own corners that it uses or closes",
    "touches_last_piece": "lies beside the piece just laid",
    "distance_to_centre_": "how far its nearest square is from the middle, by phase as pieces are",
}


def move_features(game: str) -> dict[str, float]:
    """The names of the features of a game's moves, with the strengths that are built in."""
    return dict(_core.move_features(game))


def meaning_of(feature: str) -> str:
    """What a feature of moves means.

    >>> meaning_of("escape_of_rook_from_pawn")
    'the piece goes away from an attack; the least attacker is named'
    """
    beginnings = [beginning for beginning in _MEANINGS if feature.startswith(beginning)]
    if not beginnings:
        raise NotationError(f"nothing is known of a feature '{feature}'")
    return _MEANINGS[max(beginnings, key=len)]
