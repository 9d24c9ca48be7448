// SPDX-License-Identifier: Apache-2.0
#include "evaluation/othello.h"

#include <algorithm>

#include "base/bits.h"
#include "features/othello.h"

namespace hyoka::evaluation {
namespace {

using namespace features::othello;

enum OthelloTerm : std::size_t {
    tempo,
    parity,
    disc_diff,
    mobility,
    corner_mobility,
    potential_mobility,
    frontier,
    corners,
    x_squares,
    c_squares,
    edge_discs,
    stable_edge,
    term_count,
};

constexpr Bits all_edges = column_a | column_h | row_1 | row_8;

/// The C-squares beside the given corners: one step along the edge.
constexpr Bits c_squares_of(Bits corners) { return grown(corners) & all_edges & ~all_corners; }

}  // namespace

const std::vector<Term>& Terms<Othello>::all() {
    static const std::vector<Term> terms = {
        {"tempo", {-5, 0}},         {"parity", {0, 1}},          {"disc_diff", {-1, 1}},
        {"mobility", {1.5, 2.25}},  {"corner_mobility", {1, 4}}, {"potential_mobility", {1, -1}},
        {"frontier", {-1.5, -1.5}}, {"corners", {18, 0}},        {"x_squares", {-12, 0}},
        {"c_squares", {-4, 0}},     {"edge_discs", {2.5, -1}},   {"stable_edge", {0.5, 1.5}},
    };
    assert(terms.size() == term_count);
    return terms;
}

template <class Sink>
void Terms<Othello>::count(const Othello& game, Sink& sink) {
    const Bits black = game.discs(Player::first);
    const Bits white = game.discs(Player::second);
    const Bits empty = ~(black | white);
    const Bits black_moves = game.playable(Player::first);
    const Bits white_moves = game.playable(Player::second);
    const auto add = [&](std::size_t term, int amount) { sink.add(term, static_cast<float>(amount)); };
    const auto add_difference = [&](std::size_t term, Bits of_black, Bits of_white) {
        add(term, count_bits(of_black) - count_bits(of_white));
    };

    const int empties = count_bits(empty);
    const int mover = game.to_play() == Player::first ? 1 : -1;
    sink.set_progress(static_cast<float>(60 - std::min(empties, 60)) / 60);
    add(tempo, mover);
    // Without passes the mover has the last move exactly if the empty squares are odd in number.
    add(parity, empties % 2 ? mover : -mover);
    add_difference(disc_diff, black, white);
    add_difference(mobility, black_moves, white_moves);
    add_difference(corner_mobility, black_moves & all_corners, white_moves & all_corners);
    add_difference(potential_mobility, empty & grown(white), empty & grown(black));
    const Bits open = grown(empty);
    add_difference(frontier, black & open, white & open);
    add_difference(corners, black & all_corners, white & all_corners);
    const Bits open_corners = all_corners & empty;
    const Bits bad_x = x_squares_of(open_corners);
    const Bits bad_c = c_squares_of(open_corners);
    add_difference(x_squares, black & bad_x, white & bad_x);
    add_difference(c_squares, black & bad_c, white & bad_c);
    add_difference(edge_discs, black & all_edges, white & all_edges);
    add_difference(stable_edge, stable_on_edges(black, ~empty), stable_on_edges(white, ~empty));
}

template void Terms<Othello>::count(const Othello&, ScoreSink&);
template void Terms<Othello>::count(const Othello&, VectorSink&);

}  // namespace hyoka::evaluation
