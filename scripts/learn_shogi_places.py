# SPDX-License-Identifier: Apache-2.0
"""Learn what a shogi piece's place is worth relative to both kings, from records.

    scripts/learn_shogi_places.py RECORDS…      # writes core/strengths/shogi_places.h

Sato 2010 takes such tables from another program. Here they are what makes the moves of the records
likeliest, beside all other features of moves: a move is stronger the more its piece's place gains.
Left and right of a king are alike. Build again after this, and learn the strengths anew.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

import hyoka as hk
from hyoka.models.linear import MoveStrengths, move_strengths
from hyoka.records.bulk import GameTable

HEADER = Path(__file__).parent.parent / "core" / "strengths" / "shogi_places.h"
POSITIONS = 30_000
KINDS = 15
ROWS, COLUMNS = 17, 9  # -8 to 8 ranks from the king, 0 to 8 files
TABLE = KINDS * ROWS * COLUMNS
PRIOR = 4.0
UNIT = 60  # a table's number for a factor of e in a move's strength
LETTERS = {"P": 1, "L": 2, "N": 3, "S": 4, "B": 5, "R": 6, "G": 7}


def places(position: Any) -> list[list[tuple[int, int]]]:
    """By legal move: the numbers of the tables that it gains (1) and loses (-1)."""
    cells = position.cells
    first = position.to_play is hk.Player.first
    board = cells if first else -cells[::-1, ::-1]
    own, other = (np.argwhere(board == king)[0] for king in (8, -8))

    def entries(kind: int, row: int, column: int, sign: int) -> list[tuple[int, int]]:
        found = []
        for table, king in enumerate((own, other)):
            place = (row - king[0] + 8) * COLUMNS + abs(column - king[1])
            found.append((table * TABLE + kind * ROWS * COLUMNS + int(place), sign))
        return found

    moves: list[list[tuple[int, int]]] = []
    for move in position.legal_moves:
        text = str(move)
        if len(text) < 4 or text == "win":
            moves.append([])
            continue
        to = ord(text[3]) - ord("a"), 9 - int(text[2])
        if text[1] == "*":
            kind = LETTERS[text[0]]
            to = to if first else (8 - to[0], 8 - to[1])
            moves.append([*entries(kind, *to, 1), (2 * TABLE + kind, -1)])  # it leaves the hand
            continue
        at = ord(text[1]) - ord("a"), 9 - int(text[0])
        if not first:
            at, to = (8 - at[0], 8 - at[1]), (8 - to[0], 8 - to[1])
        kind = int(board[at])
        if kind == 8:
            moves.append([])
            continue
        after = kind + 8 if text.endswith("+") else kind
        moves.append([*entries(after, *to, 1), *entries(kind, *at, -1)])
    return moves


def main() -> None:
    """Learn the tables and write them."""
    records = [record for name in sys.argv[1:] for record in hk.read_records(name)]
    games = GameTable.from_records(records).some(POSITIONS)
    plain = {
        name: 1.0 if name.startswith(("move_of_", "drop_of_")) else strength
        for name, strength in move_strengths("shogi").items()
    }
    found = games.weighings(MoveStrengths("shogi", plain).model())
    columns, signs, ends = [], [], [0]
    for position in games.positions():
        for entries in places(position):
            columns += [column for column, _ in entries]
            signs += [sign for _, sign in entries]
            ends.append(len(columns))
    numbers = 2 * TABLE + 8
    matrix = csr_array((np.array(signs, float), columns, ends), shape=(len(ends) - 1, numbers))
    starts, known = found.offsets[:-1], found.played >= 0
    rows = np.repeat(np.arange(len(starts)), np.diff(found.offsets))
    own = (starts + found.played)[known]
    logs = np.log(found.strengths.astype(float))
    won = np.asarray(matrix[own].sum(0)).ravel()

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        scores = logs + matrix @ values
        peaks = np.maximum.reduceat(scores, starts)
        powers = np.exp(scores - peaks[rows])
        sums = np.add.reduceat(powers, starts)
        chances = powers / sums[rows] * known[rows]
        value = (np.log(sums) + peaks)[known].sum() - scores[own].sum()
        slope = matrix.T @ chances - won
        return value + PRIOR / 2 * values @ values, slope + PRIOR * values

    before = loss(np.zeros(numbers))[0] / known.sum()
    fit = minimize(loss, np.zeros(numbers), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    print(f"log-loss {before:.4f} without tables, {fit.fun / known.sum():.4f} with them")
    write(fit.x)


def write(values: np.ndarray) -> None:
    """As a header that the core includes."""
    tables = np.clip(np.rint(UNIT * values[: 2 * TABLE]), -127, 127).astype(int)
    hand = np.rint(UNIT * values[2 * TABLE :]).astype(int)
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "#pragma once",
        "",
        "#include <array>",
        "#include <cstdint>",
        "",
        "/// What pieces' places are worth, learned from records by scripts/learn_shogi_places.py:",
        "/// 60 for a factor of e in a move's strength.",
        "namespace hyoka::strengths {",
        "",
        "/// By own king or enemy's, kind, rank from the king (8 before it first, as the owner",
        "/// sees it) and files away.",
        "// clang-format off",
        f"inline constexpr std::array<std::int8_t, {2 * TABLE}> shogi_places = {{",
    ]
    for row in tables.reshape(-1, COLUMNS):
        lines.append("    " + ", ".join(map(str, row)) + ",")
    lines += [
        "};",
        "// clang-format on",
        "",
        "/// By kind: what a piece in hand is worth on the same scale.",
        "inline constexpr std::array<std::int16_t, 8> shogi_hand_values = {"
        + ", ".join(map(str, hand))
        + "};",
        "",
        "}  // namespace hyoka::strengths",
    ]
    HEADER.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
