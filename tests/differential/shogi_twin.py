# SPDX-License-Identifier: Apache-2.0
"""Who attacks what on a shogi board kept as a plain dictionary."""

from collections.abc import Iterator

Square = tuple[int, int]  # file and rank, both from 1: 7g is (7, 7)
Pieces = dict[Square, tuple[int, str]]  # player (0 Black, 1 White) and letter, with + if promoted

STRAIGHT = [(0, -1), (0, 1), (1, 0), (-1, 0)]
DIAGONAL = [(1, -1), (-1, -1), (1, 1), (-1, 1)]
GOLD = [*STRAIGHT, (1, -1), (-1, -1)]
# As Black moves, towards lower ranks.
STEPS = {
    "P": [(0, -1)],
    "N": [(1, -2), (-1, -2)],
    "S": [(0, -1), *DIAGONAL],
    "K": STRAIGHT + DIAGONAL,
    "+B": STRAIGHT,
    "+R": DIAGONAL,
    **dict.fromkeys(("G", "+P", "+L", "+N", "+S"), GOLD),
}
SLIDES = {"L": [(0, -1)], "B": DIAGONAL, "+B": DIAGONAL, "R": STRAIGHT, "+R": STRAIGHT}


def square_from(name: str) -> Square:
    return int(name[0]), "abcdefghi".index(name[1]) + 1


def name_of(square: Square) -> str:
    return f"{square[0]}{' abcdefghi'[square[1]]}"


def pieces_from(sfen: str) -> Pieces:
    pieces: Pieces = {}
    for rank, row in enumerate(sfen.partition(" ")[0].split("/"), start=1):
        file, promoted = 9, ""
        for letter in row:
            if letter == "+":
                promoted = "+"
            elif letter.isdigit():
                file -= int(letter)
            else:
                pieces[file, rank] = (0 if letter.isupper() else 1, promoted + letter.upper())
                file, promoted = file - 1, ""
    return pieces


def attacked_from(pieces: Pieces, square: Square) -> Iterator[Square]:
    player, kind = pieces[square]
    forward = 1 if player == 0 else -1
    for step_file, step_rank in STEPS.get(kind, []):
        yield square[0] + step_file, square[1] + forward * step_rank
    for step_file, step_rank in SLIDES.get(kind, []):
        file, rank = square[0] + step_file, square[1] + forward * step_rank
        while 1 <= file <= 9 and 1 <= rank <= 9:
            yield file, rank
            if (file, rank) in pieces:
                break
            file, rank = file + step_file, rank + forward * step_rank


def attackers(pieces: Pieces, square: Square, player: int) -> list[Square]:
    own = [at for at, (owner, _) in pieces.items() if owner == player]
    return [at for at in own if square in attacked_from(pieces, at)]


def exchanges(pieces: Pieces, square: Square, player: int, values: dict[str, int]) -> set[int]:
    """What `player` may net by capturing on `square` or not; several where equals may begin."""
    able = attackers(pieces, square, player)
    cheapest = min((values[pieces[at][1]] for at in able), default=0)
    results = set() if able else {0}
    for at in able:
        if values[pieces[at][1]] == cheapest:
            after = {other: piece for other, piece in pieces.items() if other != at}
            after[square] = pieces[at]
            replies = exchanges(after, square, 1 - player, values)
            results |= {max(0, values[pieces[square][1]] - reply) for reply in replies}
    return results


def exchange_value(sfen: str, usi: str, values: dict[str, int]) -> set[int]:
    """What the move nets when both sides go on capturing on its square as long as it pays."""
    pieces = pieces_from(sfen)
    player = 0 if sfen.split()[1] == "b" else 1
    to = square_from(usi[2:4])
    gain = values[pieces[to][1]] if to in pieces else 0
    if usi[1] == "*":
        pieces[to] = (player, usi[0])
    else:
        _, kind = pieces.pop(square_from(usi[:2]))
        if usi.endswith("+"):
            gain += values["+" + kind] - values[kind]
            kind = "+" + kind
        pieces[to] = (player, kind)
    return {gain - reply for reply in exchanges(pieces, to, 1 - player, values)}
