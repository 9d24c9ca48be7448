// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>

#include "base/inline_vector.h"
#include "games/go.h"

namespace hyoka {

/// Reads what a stone would do, from the chains' sums and without playing it.
template <int N>
class GoTactics {
public:
    using Move = typename Go<N>::Move;

    explicit GoTactics(const Go<N>& game) : game_(game) {}

    struct Effect {
        int captured = 0;          // stones taken
        int rescued = 0;           // own stones in atari that it joins
        int joined = 0;            // own stones that it joins
        bool one_liberty = false;  // its chain has one liberty or none, not counting those that a capture gives
        bool atari = false;        // leaves an enemy chain one liberty

        bool is_self_atari() const { return one_liberty && captured == 0; }
    };
    /// Of a stone of the player to move; pre: the point is empty.
    Effect effect(Move point) const {
        const int place = Go<N>::place_of(point);
        const auto own = Go<N>::color_of(game_.to_play_);
        const int open = game_.around_[z(place)] >> (4 * Go<N>::empty);
        std::array<int, 4> heads;
        int liberty = 0;  // one that the new chain has
        bool more = open >= 2;
        for (std::size_t i = 0; i < 4; ++i) {
            const int neighbor = place + Go<N>::sides[i];
            heads[i] = game_.head_[z(neighbor)];  // 0 where no stone is
            if (game_.color(neighbor) == Go<N>::empty) liberty = neighbor;
        }
        Effect effect;
        for (std::size_t i = 0; i < 4; ++i) {
            const int head = heads[i];
            if (head == 0) continue;
            std::uint64_t lost = Go<N>::liberty_of[z(place)];
            for (std::size_t j = i + 1; j < 4; ++j) {
                if (heads[j] != head) continue;
                heads[j] = 0;
                lost += Go<N>::liberty_of[z(place)];
            }
            const auto rest = game_.liberties_[z(head)] - lost;
            const int stones = game_.stones_[z(head)];
            if (game_.color(head) != own) {
                if (rest == 0)
                    effect.captured += stones;
                else
                    effect.atari |= Go<N>::is_atari(rest);
                continue;
            }
            effect.joined += stones;
            if (rest == 0) {
                effect.rescued += stones;
            } else if (!more) {
                const int other = Go<N>::is_atari(rest) ? place_in(rest) : 0;
                more = other == 0 || (liberty != 0 && liberty != other);
                liberty = other;
            }
        }
        effect.one_liberty = !more;
        return effect;
    }

    /// The colors around a point, two bits each by rows from the top left: 0 the mover's, 1 the opponent's, 2 empty,
    /// 3 off the board.
    unsigned neighborhood(Move point) const {
        const int place = Go<N>::place_of(point);
        const auto at = [&](int step) { return static_cast<unsigned>(game_.color(place + step)); };
        constexpr int row = Go<N>::stride;
        const unsigned code = at(-row - 1) | at(-row) << 2 | at(-row + 1) << 4 | at(-1) << 6 | at(1) << 8 |
                              at(row - 1) << 10 | at(row) << 12 | at(row + 1) << 14;
        return game_.to_play_ == Player::first ? code : swapped(code);
    }

    /// Calls visit(head) for each chain of the player to move that is in atari beside a stone just played.
    template <class Visit>
    void for_each_threatened(Move last, Visit&& visit) const {
        const int place = Go<N>::place_of(last);
        std::array<int, 4> heads{};
        for (std::size_t i = 0; i < 4; ++i) {
            const int neighbor = place + Go<N>::sides[i];
            if (game_.color(neighbor) != Go<N>::color_of(game_.to_play_)) continue;
            const int head = game_.head_[z(neighbor)];
            if (!Go<N>::is_atari(game_.liberties_[z(head)])) continue;
            if (head == heads[0] || head == heads[1] || head == heads[2]) continue;
            heads[i] = head;
            visit(Go<N>::move_at(head));
        }
    }
    /// Calls visit(point) where a stone captures a chain beside this one, perhaps more than once.
    template <class Visit>
    void for_each_capture_around(Move chain, Visit&& visit) const {
        const int head = game_.head_[z(Go<N>::place_of(chain))];
        const auto enemy = Go<N>::enemy_of(game_.color(head));
        game_.for_each_stone(head, [&](int stone) {
            for (const int side : Go<N>::sides) {
                if (game_.color(stone + side) != enemy) continue;
                const int prey = game_.head_[z(stone + side)];
                if (Go<N>::is_atari(game_.liberties_[z(prey)])) visit(Go<N>::move_at(game_.only_liberty(prey)));
            }
        });
    }
    /// Calls visit(point) where a stone captures the chain of the one just played or of one around it, perhaps more
    /// than once.
    template <class Visit>
    void for_each_capture_near(Move last, Visit&& visit) const {
        const int place = Go<N>::place_of(last);
        const auto enemy = Go<N>::enemy_of(Go<N>::color_of(game_.to_play_));
        constexpr int row = Go<N>::stride;
        constexpr std::array<int, 9> steps = {0, -row - 1, -row, -row + 1, -1, 1, row - 1, row, row + 1};
        unsigned weak = 0;  // found without a branch: what stands there can't be predicted
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const int there = place + steps[i];
            const bool atari = Go<N>::is_atari(game_.liberties_[game_.head_[z(there)]]);
            weak |= static_cast<unsigned>((game_.color(there) == enemy) & atari) << i;
        }
        for (; weak; weak &= weak - 1) {
            const int prey = game_.head_[z(place + steps[z(std::countr_zero(weak))])];
            visit(Go<N>::move_at(game_.only_liberty(prey)));
        }
    }
    /// Calls visit(point) for each of the empty points, up to eight, around a point whose neighborhood is in `shapes`.
    /// Those must be the same for both colors.
    template <class Shapes, class Visit>
    void for_each_shape_around(Move point, const Shapes& shapes, Visit&& visit) const {
        const int place = Go<N>::place_of(point);
        std::array<unsigned, 5> rows;  // five by five colors around the point, two bits each
        for (int i = 0; i < 5; ++i) {
            const int middle = place + (i - 2) * Go<N>::stride;
            // What lies beyond the border is only around points off the board.
            if (middle < 2 || middle + 2 >= Go<N>::places) {
                rows[z(i)] = 0x3ff;
                continue;
            }
            unsigned row = 0;
            for (int j = 0; j < 5; ++j) row |= static_cast<unsigned>(game_.color(middle + j - 2)) << (2 * j);
            rows[z(i)] = row;
        }
        unsigned found = 0;  // bit 3 * row + column; again without a branch
        for (unsigned i = 0; i < 3; ++i)
            for (unsigned j = 0; j < 3; ++j) {
                const unsigned beside = rows[i + 1] >> (2 * j);
                const unsigned code = (rows[i] >> (2 * j) & 63) | (beside & 3) << 6 | (beside >> 4 & 3) << 8 |
                                      (rows[i + 2] >> (2 * j) & 63) << 10;
                const bool open = (beside >> 2 & 3) == Go<N>::empty;
                found |= static_cast<unsigned>(shapes[code] & open) << (3 * i + j);
            }
        for (; found; found &= found - 1) {
            const int at = std::countr_zero(found);
            visit(Go<N>::move_at(place + (at / 3 - 1) * Go<N>::stride + at % 3 - 1));
        }
    }
    /// Whether a stone there would be in atari with nothing captured; pre: the point is empty.
    bool is_self_atari(Move point) const { return game_.open_sides(point) < 2 && effect(point).is_self_atari(); }
    /// Whether a playout may play there: legal, and no own eye.
    bool is_playable(Move point) const {
        const int place = Go<N>::place_of(point);
        return game_.color(place) == Go<N>::empty && game_.is_playable(place, Go<N>::color_of(game_.to_play_));
    }

private:
    static constexpr std::size_t z(int i) { return static_cast<std::size_t>(i); }
    /// A neighborhood with black and white exchanged.
    static constexpr unsigned swapped(unsigned code) { return code ^ (~(code >> 1) & 0x5555); }
    /// The place that all pairs of these sums name.
    static int place_in(std::uint64_t sums) {
        return static_cast<int>(static_cast<std::uint32_t>(sums >> 30 & ((1 << 22) - 1)) /
                                static_cast<std::uint32_t>(sums >> 52));
    }

    const Go<N>& game_;
};

}  // namespace hyoka
