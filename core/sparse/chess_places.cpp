// SPDX-License-Identifier: Apache-2.0
#include "sparse/chess_places.h"

#include <cstring>

namespace hyoka::sparse {
namespace {

constexpr std::size_t at(Player player) { return static_cast<std::size_t>(player); }

std::uint64_t changed_squares(const ChessPlaces::Kept& kept, const Chess& game) {
    std::uint64_t changed =
        (kept.colors[0] ^ game.pieces(Player::first)) | (kept.colors[1] ^ game.pieces(Player::second));
    const auto& now = game.board();
    for (std::size_t i = 0; i < 64; i += 8) {
        std::uint64_t here = 0;
        std::uint64_t there = 0;
        std::memcpy(&here, now.data() + i, 8);
        std::memcpy(&there, kept.kinds.data() + i, 8);
        for (std::uint64_t bits = here ^ there; bits;) {
            const int byte = lowest_bit(bits) / 8;
            changed |= std::uint64_t{1} << (static_cast<int>(i) + byte);
            bits &= ~(std::uint64_t{0xff} << 8 * byte);
        }
    }
    return changed;
}

}  // namespace

std::vector<float> ChessPlaces::starting() {
    std::vector<float> weights(count());
    for (std::size_t i = 0; i < terms(); ++i) {
        weights[2 * i] = Terms::all()[i].weight.opening;
        weights[2 * i + 1] = Terms::all()[i].weight.ending;
    }
    return weights;
}

int ChessPlaces::distance(const Kept& kept, const Chess& game) { return count_bits(changed_squares(kept, game)); }

ChessPlaces::Table::Table(std::span<const float> weights) {
    for (std::size_t i = 0; i < terms(); ++i) terms_.push_back({weights[2 * i], weights[2 * i + 1]});
    for (std::size_t i = 2 * terms(); i < count(); i += 2)
        places_.push_back({to_int16_steps(weights[i]), to_int16_steps(weights[i + 1])});
}

void ChessPlaces::Table::change(Kept& kept, Player side, const View& view, int square, Chess::Kind kind, bool own,
                                int sign) const {
    const auto [opening, ending] = places_[view.place(own, kind, square)];
    kept.sums[at(side)][0] += sign * opening;
    kept.sums[at(side)][1] += sign * ending;
}

void ChessPlaces::Table::start_side(Kept& kept, Player side) const {
    kept.sums[at(side)] = {};
    const View view(kept.kings[at(side)], side);
    for_each_bit(kept.colors[0] | kept.colors[1], [&](int square) {
        const bool own = kept.colors[at(side)] >> square & 1;
        change(kept, side, view, square, kept.kinds[static_cast<std::size_t>(square)], own, 1);
    });
}

void ChessPlaces::Table::start(Kept& kept, const Chess& game) const {
    kept.kinds = game.board();
    for (const Player side : {Player::first, Player::second}) {
        kept.colors[at(side)] = game.pieces(side);
        kept.kings[at(side)] = lowest_bit(game.pieces(side, Chess::king));
    }
    for (const Player side : {Player::first, Player::second}) start_side(kept, side);
}

void ChessPlaces::Table::follow(Kept& kept, const Chess& game) const {
    const std::uint64_t changed = changed_squares(kept, game);
    const Kept before = kept;
    kept.kinds = game.board();
    for (const Player side : {Player::first, Player::second}) kept.colors[at(side)] = game.pieces(side);
    for (const Player side : {Player::first, Player::second}) {
        const int king = lowest_bit(game.pieces(side, Chess::king));
        if (king != kept.kings[at(side)]) {
            kept.kings[at(side)] = king;
            start_side(kept, side);
            continue;
        }
        const View view(king, side);
        const auto change_all = [&](const Kept& there, int sign) {
            for_each_bit(changed & (there.colors[0] | there.colors[1]), [&](int square) {
                const bool own = there.colors[at(side)] >> square & 1;
                change(kept, side, view, square, there.kinds[static_cast<std::size_t>(square)], own, sign);
            });
        };
        change_all(before, -1);
        change_all(kept, 1);
    }
}

int ChessPlaces::Table::score(const Kept& kept, const Chess& game) const {
    evaluation::ScoreSink sink(terms_.data());
    Terms::count(game, sink);
    const auto opening = static_cast<float>(kept.sums[0][0] - kept.sums[1][0]) / steps_to_unit;
    const auto ending = static_cast<float>(kept.sums[0][1] - kept.sums[1][1]) / steps_to_unit;
    return static_cast<int>(std::lround(sink.score() + opening + (ending - opening) * sink.progress()));
}

}  // namespace hyoka::sparse
