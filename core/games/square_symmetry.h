// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hyoka {

/// Where square `row * size + column` goes under one of the eight symmetries of a square board:
/// bit 2 of `symmetry` swaps rows and columns, then bit 0 mirrors left-right and bit 1 top-bottom.
constexpr int transformed_square(int square, int size, int symmetry) {
    int row = square / size;
    int column = square % size;
    if (symmetry & 4) {
        const int swap = row;
        row = column;
        column = swap;
    }
    if (symmetry & 1) column = size - 1 - column;
    if (symmetry & 2) row = size - 1 - row;
    return row * size + column;
}

}  // namespace hyoka
