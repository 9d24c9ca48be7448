# SPDX-License-Identifier: Apache-2.0
"""Feature columns in plain Python: slow, short, and made from their descriptions alone.

Each function gives every column of a position by name, those that only the game's past can tell
aside. Differences are the first player's number minus the second's.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import chess
import cshogi
from sgfmill import boards, common

import hyoka as hk

from .blokus_twin import SIZE, BlokusTwin, edges
from .shogi_twin import Pieces, attacked_from, pieces_from
from .shogi_twin import Square as ShogiSquare

Features = dict[str, int]


def both(name: str, first: tuple[str, int], second: tuple[str, int]) -> Features:
    """A difference and its parts, such as mobility, black_mobility and white_mobility."""
    parts = {f"{side}_{name}": number for side, number in (first, second)}
    return parts | {name: first[1] - second[1]}


# Chess

OFFICERS = chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN
HOMES = {chess.WHITE: {chess.C1, chess.F1}, chess.BLACK: {chess.C8, chess.F8}}


def officers(board: chess.Board, color: chess.Color) -> list[chess.Square]:
    return [square for kind in OFFICERS for square in board.pieces(kind, color)]


def chess_mobility(board: chess.Board, color: chess.Color, squares: Iterable[chess.Square]) -> int:
    return sum(len(board.attacks(square) - board.occupied_co[color]) for square in squares)


def king_of(board: chess.Board, color: chess.Color) -> chess.Square:
    king = board.king(color)
    assert king is not None
    return king


def chess_king_attackers(board: chess.Board, color: chess.Color) -> int:
    king = king_of(board, color)
    zone = [square for square in chess.SQUARES if chess.square_distance(square, king) <= 1]
    return sum(
        any(square in board.attacks(officer) for square in zone)
        for officer in officers(board, not color)
    )


def steps_ahead(color: chess.Color, behind: chess.Square, ahead: chess.Square) -> int:
    ranks = chess.square_rank(ahead) - chess.square_rank(behind)
    return ranks if color == chess.WHITE else -ranks


def files_apart(one: chess.Square, two: chess.Square) -> int:
    return abs(chess.square_file(one) - chess.square_file(two))


def shield(board: chess.Board, color: chess.Color) -> int:
    king = king_of(board, color)
    return sum(
        files_apart(king, pawn) <= 1 and steps_ahead(color, king, pawn) in (1, 2)
        for pawn in board.pieces(chess.PAWN, color)
    )


def pawn_counts(board: chess.Board, color: chess.Color) -> tuple[int, int, int]:
    """How many pawns are passed, isolated and doubled."""
    own, enemy = board.pieces(chess.PAWN, color), board.pieces(chess.PAWN, not color)
    passed = isolated = doubled = 0
    for pawn in own:
        passed += not any(
            files_apart(pawn, other) <= 1 and steps_ahead(color, pawn, other) > 0 for other in enemy
        )
        isolated += not any(files_apart(pawn, other) == 1 for other in own)
        doubled += any(
            files_apart(pawn, other) == 0 and steps_ahead(color, pawn, other) > 0 for other in own
        )
    return passed, isolated, doubled


def chess_material(board: chess.Board, color: chess.Color) -> int:
    values = {"P": 100, "N": 320, "B": 330, "R": 500, "Q": 900, "K": 0}
    own = [piece for piece in board.piece_map().values() if piece.color == color]
    return sum(values[piece.symbol().upper()] for piece in own)


def square_colors(board: chess.Board, color: chess.Color) -> list[int]:
    bishops = board.pieces(chess.BISHOP, color)
    return [(chess.square_file(square) + chess.square_rank(square)) % 2 for square in bishops]


def chess_features(board: chess.Board) -> Features:
    white, black = chess.WHITE, chess.BLACK
    letters = [piece.symbol().upper() for piece in board.piece_map().values()]
    left = sum({"N": 1, "B": 1, "R": 2, "Q": 4}.get(letter, 0) for letter in letters)
    bishops = {color: board.pieces(chess.BISHOP, color) for color in (white, black)}
    colors = {color: square_colors(board, color) for color in (white, black)}
    attackers = {color: chess_king_attackers(board, color) for color in (white, black)}
    shields = {color: shield(board, color) for color in (white, black)}
    pawns = {color: pawn_counts(board, color) for color in (white, black)}
    mobility = {color: chess_mobility(board, color, officers(board, color)) for color in bishops}
    game = hk.Chess.from_text(board.fen())
    return {
        "phase": 100 * (24 - min(24, left)) // 24,
        "material": chess_material(board, white) - chess_material(board, black),
        "pieces": sum(letter in "NBRQ" for letter in letters),
        "pawns": letters.count("P"),
        "queens": letters.count("Q"),
        "in_check": board.is_check(),
        "hanging": any(game.see(move.uci()) > 0 for move in board.generate_legal_captures()),
        **both("mobility", ("white", mobility[white]), ("black", mobility[black])),
        "bishop_mobility": chess_mobility(board, white, bishops[white])
        - chess_mobility(board, black, bishops[black]),
        "bishop_development": len(set(bishops[white]) - HOMES[white])
        - len(set(bishops[black]) - HOMES[black]),
        "bishop_pair": (len(set(colors[white])) == 2) - (len(set(colors[black])) == 2),
        "opposite_bishops": sorted([*colors[white], *colors[black]]) == [0, 1]
        and len(colors[white]) == 1,
        "white_king_attackers": attackers[white],
        "black_king_attackers": attackers[black],
        "white_king_shield": shields[white],
        "black_king_shield": shields[black],
        "king_danger_diff": attackers[white] - shields[white] - attackers[black] + shields[black],
        "white_castling": sum(board.color_at(rook) == white for rook in rooks_to_castle(board)),
        "black_castling": sum(board.color_at(rook) == black for rook in rooks_to_castle(board)),
        **both("passed", ("white", pawns[white][0]), ("black", pawns[black][0])),
        "isolated": pawns[white][1] - pawns[black][1],
        "doubled": pawns[white][2] - pawns[black][2],
    }


def rooks_to_castle(board: chess.Board) -> chess.SquareSet:
    return chess.SquareSet(board.clean_castling_rights())


# Shogi

START = pieces_from("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL")
VALUES = {"P": 100, "L": 280, "N": 300, "S": 420, "G": 530, "B": 620, "R": 700, "K": 0}
VALUES |= {"+P": 270, "+L": 320, "+N": 250, "+S": 430, "+B": 710, "+R": 850}
# As the books draw them for Black, by file and rank in numbers; the first that fits counts.
CASTLES = [
    ("anaguma", {99: "K", 98: "L", 88: "SG"}),
    ("yagura", {88: "K", 78: "G", 67: "G", 77: "S"}),
    ("gin_yagura", {88: "K", 78: "G", 67: "S", 77: "S"}),
    ("mino", {28: "K", 38: "S", 49: "G", 58: "G"}),
    ("takamino", {28: "K", 38: "S", 49: "G", 47: "G"}),
    ("kata_mino", {28: "K", 38: "S", 49: "G"}),
    ("ginkanmuri", {28: "K", 27: "S", 38: "G"}),
    ("kata_yagura", {78: "K", 68: "G", 67: "G", 77: "S"}),
    ("funagakoi", {78: "K", 69: "G", 58: "G", 79: "S"}),
    ("elmo", {78: "K", 68: "S", 79: "G"}),
    ("kinmuso", {38: "K", 48: "G", 58: "G", 28: "S"}),
    ("gangi", {69: "K", 78: "G", 67: "S", 57: "S"}),
    ("kani", {69: "K", 78: "G", 58: "G", 68: "S"}),
    ("nakazumai", {58: "K", 78: "G", 38: "G"}),
    ("igyoku", {59: "K"}),
]


def castle(pieces: Pieces, player: int) -> str:
    for name, needed in CASTLES:
        for mirrored in (False, True):
            here = {}
            for number, kinds in needed.items():
                file, rank = divmod(number, 10)
                if mirrored != (player == 1):
                    file = 10 - file
                here[file, rank if player == 0 else 10 - rank] = kinds
            found = {square: pieces.get(square) for square in here}
            if all(
                piece is not None and piece[0] == player and piece[1] in here[square]
                for square, piece in found.items()
            ):
                return name
    return "none"


def hands_of(sfen: str) -> list[list[str]]:
    """The letters in Black's and White's hand."""
    hands: list[list[str]] = [[], []]
    number = ""
    for letter in sfen.split()[2]:
        if letter.isdigit():
            number += letter
        elif letter != "-":
            hands[letter.islower()] += int(number or 1) * [letter.upper()]
            number = ""
    return hands


def around_king(pieces: Pieces, player: int, owner: int) -> int:
    """How many of a player's pieces, the king aside, reach the owner's king or beside it."""
    kings = [square for square, piece in pieces.items() if piece == (owner, "K")]
    zone = {(file + x, rank + y) for file, rank in kings for x in (-1, 0, 1) for y in (-1, 0, 1)}
    return sum(
        not zone.isdisjoint(attacked_from(pieces, square))
        for square, (color, kind) in pieces.items()
        if color == player and kind != "K"
    )


def in_enemy_camp(square: ShogiSquare, player: int) -> bool:
    return square[1] <= 3 if player == 0 else square[1] >= 7


def can_mate_at_once(board: cshogi.Board) -> bool:
    for move in list(board.legal_moves):
        board.push(move)
        mated = board.is_check() and board.is_game_over()
        board.pop()
        if mated:
            return True
    return False


def has_gainful_capture(board: cshogi.Board, game: hk.Shogi) -> bool:
    for move in board.legal_moves:
        if cshogi.move_cap(move) and game.see(cshogi.move_to_usi(move)) > 0:
            return True
    return False


def shogi_features(sfen: str) -> dict[str, int | str]:
    board, pieces, hands = cshogi.Board(sfen), pieces_from(sfen), hands_of(sfen)
    attackers = [around_king(pieces, 1 - owner, owner) for owner in (0, 1)]
    defenders = [around_king(pieces, owner, owner) for owner in (0, 1)]
    material = [sum(VALUES[kind] for kind in hand) for hand in hands]
    for color, kind in pieces.values():
        material[color] += VALUES[kind]
    inside = [piece for square, piece in pieces.items() if in_enemy_camp(square, piece[0])]
    held = len(hands[0] + hands[1])
    away = len(pieces) + held - sum(START.get(square) == piece for square, piece in pieces.items())
    threats = sum(kind != "K" for _, kind in inside) + sum(attackers)
    features: dict[str, int | str] = {
        "progress": min(100, away + 2 * held + 3 * threats),
        "material": material[0] - material[1],
        "in_check": board.is_check(),
        "mate_in_one": can_mate_at_once(board),
        "hanging": has_gainful_capture(board, hk.Shogi.from_text(sfen)),
        "king_danger_diff": attackers[0] - defenders[0] - attackers[1] + defenders[1],
    }
    for player, side in enumerate(("black", "white")):
        own = [kind for color, kind in pieces.values() if color == player]
        features |= {
            f"{side}_king_attackers": attackers[player],
            f"{side}_king_defenders": defenders[player],
            f"{side}_castle": castle(pieces, player),
            f"{side}_entering": (player, "K") in inside,
            f"{side}_hand": len(hands[player]),
            f"{side}_hand_pawns": hands[player].count("P"),
            f"{side}_promoted": sum(kind.startswith("+") for kind in own),
        }
    return features


# Othello

Square = tuple[int, int]
CORNERS = list(product((0, 7), (0, 7)))
ALL_WAYS = [way for way in product((-1, 0, 1), (-1, 0, 1)) if way != (0, 0)]


def line_from(square: Square, way: Square) -> Iterator[Square]:
    row, column = square[0] + way[0], square[1] + way[1]
    while 0 <= row < 8 and 0 <= column < 8:
        yield row, column
        row, column = row + way[0], column + way[1]


def turns_something(cells: Any, square: Square, player: int) -> bool:
    for way in ALL_WAYS:
        passed = 0
        for other in line_from(square, way):
            if cells[other] == -player:
                passed += 1
                continue
            if cells[other] == player and passed:
                return True
            break
    return False


def stable_edge_discs(cells: Any, player: int) -> set[Square]:
    stable: set[Square] = set()
    for corner, way in product(CORNERS, ((0, 1), (0, -1), (1, 0), (-1, 0))):
        edge = [corner, *line_from(corner, way)]
        if len(edge) < 8:
            continue
        if all(cells[square] for square in edge):
            stable |= {square for square in edge if cells[square] == player}
        for square in edge:
            if cells[square] != player:
                break
            stable.add(square)
    return stable


def othello_features(cells: Any) -> Features:
    """From the cells as drawn: 1 for Black, -1 for White."""
    squares = list(product(range(8), range(8)))
    empty = [square for square in squares if not cells[square]]
    x_squares = {(0, 0): (1, 1), (0, 7): (1, 6), (7, 0): (6, 1), (7, 7): (6, 6)}
    frontier = [
        square
        for square in squares
        if any(other in empty for way in ALL_WAYS for other in [*line_from(square, way)][:1])
    ]
    mobility = {p: sum(turns_something(cells, square, p) for square in empty) for p in (1, -1)}
    return {
        "empties": len(empty),
        "parity": len(empty) % 2,
        "disc_diff": sum(int(cells[square]) for square in squares),
        **both("mobility", ("black", mobility[1]), ("white", mobility[-1])),
        "corners": sum(int(cells[corner]) for corner in CORNERS),
        "x_squares": sum(int(cells[x_squares[c]]) for c in CORNERS if not cells[c]),
        "frontier": sum(int(cells[square]) for square in frontier),
        "stable_edge": len(stable_edge_discs(cells, 1)) - len(stable_edge_discs(cells, -1)),
    }


# Blokus Duo


def influence(game: BlokusTwin, player: int) -> int:
    everywhere = product(range(1, SIZE + 1), range(1, SIZE + 1))
    free = {square for square in everywhere if square not in game.laid[0] | game.laid[1]}
    numbers = {square: int(square in game.attaching(player)) for square in free}
    for _ in range(4):
        given = [
            other for square in free if numbers[square] for other in edges(frozenset({square}))
        ]
        for other in given:
            if other in free:
                numbers[other] += 1
    return sum(numbers.values())


def blokus_features(game: BlokusTwin) -> Features:
    first, second = "first", "second"
    laid = [len(squares) for squares in game.laid]
    attaching = [len(game.attaching(player)) for player in (0, 1)]
    reach = [influence(game, player) for player in (0, 1)]
    moves = [len(game.can_lay(player)) for player in (0, 1)]
    return {
        **both("squares", (first, laid[0]), (second, laid[1])),
        "first_pieces_left": len(game.left[0]),
        "second_pieces_left": len(game.left[1]),
        **both("attaching", (first, attaching[0]), (second, attaching[1])),
        **both("influence", (first, reach[0]), (second, reach[1])),
        **both("mobility", (first, moves[0]), (second, moves[1])),
    }


# Go

Point = tuple[int, int]  # row and column, from the bottom left
Points = frozenset[Point]


class TooLongError(Exception):
    """A ladder that this reader can't finish in time."""


def beside(board: boards.Board, point: Point) -> list[Point]:
    row, column = point
    around = (row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)
    return [(r, c) for r, c in around if 0 <= r < board.side and 0 <= c < board.side]


def chain(board: boards.Board, point: Point) -> tuple[Points, Points]:
    """The stones and the liberties of the chain on a point."""
    color = board.get(*point)
    stones, liberties, reached = {point}, set(), [point]
    for stone in reached:
        for other in beside(board, stone):
            if board.get(*other) is None:
                liberties.add(other)
            elif board.get(*other) == color and other not in stones:
                stones.add(other)
                reached.append(other)
    return frozenset(stones), frozenset(liberties)


def chains(board: boards.Board, color: str) -> dict[Points, Points]:
    """All chains of a color, with their liberties."""
    return dict(chain(board, point) for own, point in board.list_occupied_points() if own == color)


def after(board: boards.Board, point: Point, color: str) -> boards.Board | None:
    """The board after a stone there; None for a suicide."""
    played = board.copy()
    played.play(*point, color)
    return played if played.get(*point) == color else None


def retaken_at_once(board: boards.Board, point: Point, color: str) -> tuple[bool, int]:
    """Whether a stone there takes one stone and could be taken by one there; with how many others.

    With none it is a ko, with others a snapback.
    """
    played = after(board, point, color)
    if played is None:
        return False, 0
    taken = len(board.list_occupied_points()) + 1 - len(played.list_occupied_points())
    stones, liberties = chain(played, point)
    return taken == 1 and len(liberties) == 1, len(stones) - 1


def is_ko(board: boards.Board, point: Point, color: str) -> bool:
    return retaken_at_once(board, point, color) == (True, 0)


class SlowLadder:
    """Reads a ladder by trying everything, on boards that are copied for every move."""

    def __init__(self, patience: int = 3_000) -> None:
        self.patience = patience

    def captures(self, board: boards.Board, stone: Point, mover: str) -> bool:
        stones, liberties = chain(board, stone)
        taker = common.opponent_of(board.get(*stone))
        if len(stones) == len(liberties) == 1 and retaken_at_once(board, min(liberties), taker)[0]:
            return False
        return self.caught(board, stone, mover)

    def drives(self, board: boards.Board, stone: Point, mover: str) -> bool:
        """Captured, with two liberties, though no atari leaves the chain in atari for good."""
        _, liberties = chain(board, stone)
        if len(liberties) != 2 or mover == board.get(*stone):
            return False
        if not self.captures(board, stone, mover):
            return False
        return not any(
            self.settled(played, stone)
            for atari in sorted(liberties)
            if (played := after(board, atari, mover)) is not None
            and not is_ko(board, atari, mover)
            and len(chain(played, stone)[1]) == 1
        )

    def settled(self, board: boards.Board, stone: Point) -> bool:
        """Whether a chain in atari is in atari, or gone, after whatever its owner answers."""
        owner = board.get(*stone)
        stones, liberties = chain(board, stone)
        replies = set(liberties)
        for point in {point for own in stones for point in beside(board, own)}:
            if board.get(*point) == common.opponent_of(owner):
                others = chain(board, point)[1]
                replies |= others if len(others) == 1 else set()
        boards_after = [after(board, reply, owner) for reply in sorted(replies)]
        return all(played is None or len(chain(played, stone)[1]) == 1 for played in boards_after)

    def caught(self, board: boards.Board, stone: Point, mover: str) -> bool:
        self.patience -= 1
        if self.patience < 0:
            raise TooLongError
        stones, liberties = chain(board, stone)
        if mover == board.get(*stone):
            if len(liberties) != 1:
                return False
            replies = set(liberties)
            for point in {point for own in stones for point in beside(board, own)}:
                if board.get(*point) == common.opponent_of(mover):
                    others = chain(board, point)[1]
                    replies |= others if len(others) == 1 else set()
            return all(self.goes_on(board, stone, mover, reply) for reply in sorted(replies))
        if len(liberties) != 2:
            return len(liberties) == 1
        return any(
            self.goes_on(board, stone, mover, atari)
            for atari in sorted(liberties)
            if after(board, atari, mover) is not None and not is_ko(board, atari, mover)
        )

    def goes_on(self, board: boards.Board, stone: Point, mover: str, move: Point) -> bool:
        played = after(board, move, mover)
        return played is None or self.caught(played, stone, common.opponent_of(mover))


def go_features(board: boards.Board, to_play: str, ko: Point | None) -> Features:
    """All but the captured stones."""
    points = board.side**2
    own = {color: chains(board, color) for color in "bw"}
    fought = any(
        board.get(*point) is None and is_ko(board, point, to_play) for point in board.board_points
    )
    features = {
        "ko": ko is not None or fought,
        "ko_forbidden": ko is not None,
        "filled": 100 * len(board.list_occupied_points()) // points,
        "area": board.area_score(),
    }
    for color, side in (("b", "black"), ("w", "white")):
        features |= {
            f"{side}_ladder": sum(
                len(stones)
                for stones in own[color]
                if SlowLadder().captures(board, min(stones), to_play)
            ),
            f"{side}_running_ladder": sum(
                len(stones)
                for stones in own[color]
                if SlowLadder().drives(board, min(stones), to_play)
            ),
            f"{side}_atari": sum(
                len(s) for s, liberties in own[color].items() if len(liberties) == 1
            ),
            f"{side}_stones": sum(map(len, own[color])),
            f"{side}_chains": len(own[color]),
        }
    for kind in ("ladder", "running_ladder"):
        features[kind] = features[f"white_{kind}"] - features[f"black_{kind}"]
    return features
