// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/go.h"
#include "games/othello.h"
#include "games/rows.h"
#include "games/shogi.h"
#include "games/text_fields.h"

/// Positions with the players changed over, and the board turned where that takes it.
namespace hyoka::tests {

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (char& c : text)
        if (const auto found = from.find(c); found != std::string_view::npos) c = to[found];
    return text;
}

inline std::string swapped_case(std::string_view text) {
    std::string swapped(text);
    for (char& c : swapped) c = static_cast<char>(std::isupper(c) ? std::tolower(c) : std::toupper(c));
    return swapped;
}

template <int N>
Go<N> swapped(const Go<N>& game) {
    const auto text = game.text();
    const auto fields = split_fields(text);
    return Go<N>::from_text(replaced(std::string(fields[0]), "XO", "OX") + (fields[1] == "b" ? " w " : " b ") +
                            text.substr(fields[0].size() + 3));
}

inline Othello swapped(const Othello& game) { return Othello::from_text(replaced(game.text(), "XO", "OX")); }

inline BlokusDuo swapped(const BlokusDuo& game) {
    const auto cells = game.cells();
    const auto turned = [&](int square) { return cells[cells.size() - 1 - static_cast<std::size_t>(square)]; };
    return BlokusDuo::from_text(write_rows(BlokusDuo::size,
                                           [&](int square) {
                                               return turned(square) == 0 ? '\0' : turned(square) > 0 ? 'O' : 'X';
                                           }) +
                                (game.to_play() == Player::first ? " o" : " x"));
}

inline Chess swapped(const Chess& game) {
    const auto text = game.text();
    const auto fields = split_fields(text);
    std::string rows;
    for (std::string_view rest = fields[0]; !rest.empty();) {
        const auto end = std::min(rest.find('/'), rest.size());
        rows = swapped_case(rest.substr(0, end)) + (rows.empty() ? "" : "/") + rows;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return Chess::from_text(rows + (fields[1] == "w" ? " b " : " w ") + swapped_case(fields[2]) + ' ' +
                            replaced(std::string(fields[3]), "36", "63") + " 0 1");
}

inline Shogi swapped(const Shogi& game) {
    const auto text = game.text();
    const auto fields = split_fields(text);
    std::string rows;
    for (std::size_t i = 0; i < fields[0].size(); ++i) {
        const std::size_t length = fields[0][i] == '+' ? 2 : 1;
        rows = swapped_case(fields[0].substr(i, length)) + rows;
        i += length - 1;
    }
    return Shogi::from_text(rows + (fields[1] == "b" ? " w " : " b ") + swapped_case(fields[2]) + " 1");
}

}  // namespace hyoka::tests
