// SPDX-License-Identifier: Apache-2.0
#include "strengths/othello.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bits.h"

namespace hyoka::strengths {
namespace {

// Squares by their likes under the eight symmetries; C and X squares once more for when their corner is taken.
enum Square : std::uint8_t {
    corner,
    c_square,
    c_square_corner_taken,
    x_square,
    x_square_corner_taken,
    a_square,       // c1
    b_square,       // d1
    second_line_a,  // c2
    second_line_b,  // d2
    box_corner,     // c3
    box_edge,       // d3
    center,         // d4
    pass,
    square_count,
};
constexpr std::size_t mobility = square_count;
constexpr std::size_t mobility_bands = 8;
/// By the number of moves: 0, 1, 2, 3-4, 5-6, 7-9, 10-13, more.
constexpr std::array<std::uint8_t, 65> mobility_band = [] {
    std::array<std::uint8_t, 65> bands{};
    for (std::size_t n = 0; n < bands.size(); ++n)
        bands[n] = static_cast<std::uint8_t>((n > 0) + (n > 1) + (n > 2) + (n > 4) + (n > 6) + (n > 9) + (n > 13));
    return bands;
}();

struct SquareFacts {
    std::uint8_t sort;
    std::uint8_t corner_at;  // of C and X squares
};
constexpr auto facts = [] {
    constexpr Square by_steps[4][4] = {{corner, c_square, a_square, b_square},
                                       {c_square, x_square, second_line_a, second_line_b},
                                       {a_square, second_line_a, box_corner, box_edge},
                                       {b_square, second_line_b, box_edge, center}};
    std::array<SquareFacts, 64> table{};
    for (int square = 0; square < 64; ++square) {
        const int row = square / 8;
        const int column = square % 8;
        table[static_cast<std::size_t>(square)] = {
            by_steps[std::min(row, 7 - row)][std::min(column, 7 - column)],
            static_cast<std::uint8_t>((row < 4 ? 0 : 56) + (column < 4 ? 0 : 7))};
    }
    return table;
}();

}  // namespace

const std::vector<Feature>& MoveFeatures<Othello>::all() {
    static const std::vector<Feature> features = {
        {"corner", 20},
        {"c_square", 0.3f},
        {"c_square_corner_taken", 1.5f},
        {"x_square", 0.05f},
        {"x_square_corner_taken", 1},
        {"a_square", 2},
        {"b_square", 1.5f},
        {"second_line_a", 0.6f},
        {"second_line_b", 0.7f},
        {"box_corner", 1.2f},
        {"box_edge", 1},
        {"centre", 1},
        {"pass", 1},
        {"leaves_no_move", 15},
        {"leaves_1_move", 5},
        {"leaves_2_moves", 3},
        {"leaves_3_to_4_moves", 2},
        {"leaves_5_to_6_moves", 1.4f},
        {"leaves_7_to_9_moves", 1},
        {"leaves_10_to_13_moves", 0.7f},
        {"leaves_14_moves_or_more", 0.5f},
    };
    static_assert(mobility + mobility_bands == 21);
    return features;
}

template <class Sink>
void MoveFeatures<Othello>::visit(const Othello& game, const Context<Othello>&, std::span<const Othello::Move> moves,
                                  Sink sink) {
    const Player us = game.to_play();
    const std::uint64_t taken = game.discs(us) | game.discs(other(us));
    for (const Othello::Move move : moves) {
        if (move == Othello::Move::pass()) {
            sink.add(pass);
            sink.end_move();
            continue;
        }
        const SquareFacts& square = facts[move.square];
        const bool by_corner = square.sort == c_square || square.sort == x_square;
        sink.add(square.sort + (by_corner && (taken >> square.corner_at & 1)));
        Othello after = game;
        after.play(move);
        sink.add(mobility + mobility_band[static_cast<std::size_t>(count_bits(after.playable(other(us))))]);
        sink.end_move();
    }
}

template void MoveFeatures<Othello>::visit(const Othello&, const Context<Othello>&, std::span<const Othello::Move>,
                                           StrengthSink);
template void MoveFeatures<Othello>::visit(const Othello&, const Context<Othello>&, std::span<const Othello::Move>,
                                           ListSink);

}  // namespace hyoka::strengths
