# SPDX-License-Identifier: Apache-2.0
"""Descriptions of evaluation terms and of move features, by patterns of their names."""

import fnmatch
from typing import Final

from hyoka import _core
from hyoka.foundation.errors import NotationError
from hyoka.games.registry import game_facts

_CHESS: Final = {
    "*_on_[abcd][1-8]": "pieces of the kind on the square as their player sees it, files e to h "
    "folded onto d to a",
    "*_own_king_distance_*": "pieces of the kind at that many king's steps from the own king",
    "*_enemy_king_distance_*": "pieces of the kind at that many king's steps from the enemy king",
    "tempo": "who is to move",
    "castling_right": "sides to which castling is still allowed",
    "knight_mobility": "squares that knights reach beyond 4 each",
    "bishop_mobility": "squares that bishops reach beyond 6 each",
    "rook_mobility": "squares that rooks reach beyond 6 each",
    "queen_mobility": "squares that queens reach beyond 12 each",
    "bishop_development": "bishops off the squares of the start",
    "bishop_pair": "bishops on both colors of squares",
    "knight_outpost": "knights on outposts",
    "rook_on_open_file": "rooks on files without pawns",
    "rook_on_half_open_file": "rooks on files with enemy pawns only",
    "rook_on_seventh": "rooks on the seventh rank",
    "king_zone_attacks_by_*": "squares around the enemy king that pieces of the kind attack",
    "king_attackers_*": "whether that many pieces attack the enemy king's zone (4: or more)",
    "king_checks_by_*": "safe squares from which pieces of the kind could give check",
    "king_shield_near": "pawns one rank before the own king, on three files",
    "king_shield_far": "pawns two ranks before the own king, on three files",
    "king_open_file": "files without pawns at the own king",
    "king_half_open_file": "files without own pawns, but enemy ones, at the own king",
    "king_storm": "enemy pawns up to three ranks before the own king",
    "leader_king_near": "steps by which the kings are nearer than 7, for who has more material",
    "passed_pawn_on_rank_*": "passed pawns on the rank, counted from their own side",
    "passed_pawn_protected": "passed pawns that a pawn guards",
    "passed_pawn_blocked": "passed pawns with an enemy piece before them",
    "passed_pawn_free": "passed pawns whose next square is empty and not attacked",
    "passed_pawn_own_king": "the own king's distance from passed pawns' next squares, times their "
    "ranks less one",
    "passed_pawn_enemy_king": "the same of the enemy king",
    "isolated_pawn": "pawns without an own pawn on a file beside them",
    "doubled_pawn": "pawns with another of their own ahead on the file",
    "backward_pawn": "pawns that have stayed behind and can't safely advance",
    "phalanx_pawn": "pawns with another beside them",
    "supported_pawn": "pawns that a pawn guards",
    "threat_by_pawn": "enemy pieces that pawns attack",
    "threat_by_minor": "enemy rooks and queens that knights and bishops attack",
    "threat_by_rook": "enemy queens that rooks attack",
    "hanging": "enemy pieces attacked and not guarded",
    "pawn": "pawns", "knight": "knights", "bishop": "bishops", "rook": "rooks", "queen": "queens",
}  # fmt: skip
_SHOGI: Final = {
    "*_own_king_beside_*": "pieces of the kind at that many files beside and ranks ahead of or "
    "behind the own king; 5: or farther",
    "*_enemy_king_beside_*": "the same from the enemy king",
    "king_on_file_*": "the king's place: files from the nearer edge, ranks as its player sees them",
    "*_in_hand": "pieces of the kind in hand, beside what they are worth as pieces",
    "tempo": "who is to move",
    "*_mobility": "squares that pieces of the kind reach",
    "king_attackers": "pieces that reach the enemy king or a square beside it",
    "king_defenders": "pieces, the king aside, that reach the own king or a square beside it",
    "king_attackers_*": "whether there are that many attackers (5: or more)",
    "king_zone_open": "squares at the enemy king that own pieces reach and at most the king guards",
    "king_zone_guarded": "squares at the own king that own pieces reach",
    "king_exits": "squares beside the own king where it could go",
    "hanging": "enemy pieces attacked and not guarded",
    "*": "pieces of the kind",
}
_OTHELLO: Final = {
    "tempo": "who is to move",
    "parity": "who has the last move if neither side passes",
    "disc_diff": "discs",
    "mobility": "moves",
    "corner_mobility": "moves into corners",
    "potential_mobility": "empty squares beside enemy discs",
    "frontier": "discs beside empty squares",
    "corners": "corners",
    "x_squares": "discs diagonally beside empty corners",
    "c_squares": "discs on the edge beside empty corners",
    "edge_discs": "discs on the edges",
    "stable_edge": "discs on the edges that can't be turned any more",
}
_GO: Final = {
    "tempo": "who is to move",
    "komi": "the komi, for White: its weight is -1",
    "stones": "stones on the board",
    "area": "the score if the game ended now, before komi",
    "territory": "points by Bouzy's map, 5 dilations and 21 erosions",
    "moyo": "points by Bouzy's map, 5 dilations and 10 erosions",
    "influence": "points by Bouzy's map, 5 dilations",
    "liberties": "empty points beside stones of one player",
    "chains": "chains",
    "atari_to_move": "stones in atari of who is to move",
    "atari_waiting": "stones in atari of who is not",
}
_BLOKUS_DUO: Final = {
    "influence": "influence by Bouzy's 4/0 map from the squares where pieces can attach, kept out "
    "of occupied squares",
    "influence_of_coverable": "the same from all squares that a next piece could cover",
    "influence*_unblocked": "the same over the whole board",
    "influence*_off_forbidden": "the same kept out of squares that are closed to the player, too",
    "squares": "squares covered",
    "pieces_left": "pieces left to play",
    "attaching": "squares where pieces can attach",
    "reachable": "squares that the influence from attaching squares reaches",
    "coverable": "squares that some piece could cover next",
    "placements": "placements that are legal",
    "tempo": "who is to move",
}
_TERM_MEANINGS: Final = {
    "chess": _CHESS,
    "shogi": _SHOGI,
    "othello": _OTHELLO,
    "go": _GO,
    "blokus_duo": _BLOKUS_DUO,
}


def term_meaning(game: str, term: str) -> str:
    """Describe what a term of a game's evaluation counts: the first player's less the second's.

    An exact name precedes patterns; patterns apply in their order.

    >>> term_meaning("chess", "bishop_pair")
    'bishops on both colors of squares'
    """
    name = game_facts(game).name
    meanings = _TERM_MEANINGS.get("go" if name.startswith("go") else name, {})
    if term in meanings:
        return meanings[term]
    for pattern, meaning in meanings.items():
        if fnmatch.fnmatchcase(term, pattern):
            return meaning
    raise NotationError(f"{name}'s evaluation has no term '{term}'")


_MOVE_FEATURE_MEANINGS: Final = {
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
    "king_goes_": "the king goes where that many squares around it are attacked",
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
    """Return the move features of a game with their bundled strengths."""
    return dict(_core.move_features(game))


def meaning_of(feature: str) -> str:
    """Describe a move feature.

    >>> meaning_of("escape_of_rook_from_pawn")
    'the piece goes away from an attack; the least attacker is named'
    """
    beginnings = [
        beginning for beginning in _MOVE_FEATURE_MEANINGS if feature.startswith(beginning)
    ]
    if not beginnings:
        raise NotationError(f"unknown move feature '{feature}'")
    return _MOVE_FEATURE_MEANINGS[max(beginnings, key=len)]
