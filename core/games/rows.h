// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "game.h"
#include "games/text_fields.h"

namespace hyoka {

/// Reads a square board of two colors: rows from the top between slashes, X the first player's, O the second's,
/// numbers for runs of empty squares. Calls place(square, player), square = row * size + column.
template <class Place>
void read_rows(std::string_view game, std::string_view rows, int size, Place&& place) {
    const auto bad = [&](const std::string& why) {
        return NotationError("bad " + std::string(game) + " board '" + std::string(rows) + "': " + why);
    };
    int row = 0;
    int column = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const char c = rows[i];
        if (c == '/') {
            if (column != size) throw bad("row " + std::to_string(row + 1) + " is too short");
            ++row;
            column = 0;
        } else if (c >= '0' && c <= '9') {
            const auto end = std::min(rows.find_first_not_of("0123456789", i), rows.size());
            const auto run = parse_number(rows.substr(i, end - i), 1, size);
            if (!run) throw bad("a run of empty squares that does not fit");
            column += *run;
            i = end - 1;
        } else if (c == 'X' || c == 'O') {
            if (row < size && column < size) place(row * size + column, c == 'X' ? Player::first : Player::second);
            ++column;
        } else {
            throw bad(std::string("'") + c + "' is neither X nor O");
        }
        if (row >= size || column > size) throw bad("more squares than the board has");
    }
    if (row != size - 1 || column != size)
        throw bad("expected " + std::to_string(size) + " rows of " + std::to_string(size));
}

/// What read_rows reads; `symbol(square)` gives X, O, or 0 for an empty square.
template <class Symbol>
std::string write_rows(int size, Symbol&& symbol) {
    std::string text;
    for (int row = 0; row < size; ++row) {
        if (row) text += '/';
        int run = 0;
        for (int column = 0; column < size; ++column) {
            const char c = symbol(row * size + column);
            if (!c) {
                ++run;
                continue;
            }
            if (run) text += std::to_string(std::exchange(run, 0));
            text += c;
        }
        if (run) text += std::to_string(run);
    }
    return text;
}

}  // namespace hyoka
