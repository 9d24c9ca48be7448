// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/ladder.h"
#include "games/go.h"
#include "mets/tactical.h"
#include "strengths/move_model.h"

namespace hyoka::mets {

/// Go: how near the last moves are, liberties, captures, ladders, the edge.
template <int N>
struct Tactical<Go<N>> {
    static const std::vector<TacticalQuestion>& questions();
    /// Pre: room for every point. What it says of points with stones on them means nothing.
    void answer(const Go<N>& game, const strengths::Context<Go<N>>& context, std::span<Answers> of_points);

private:
    using Move = typename Go<N>::Move;
    static constexpr int words = (N * N + 63) / 64;

    /// A set of points.
    struct Points {
        std::array<std::uint64_t, words> bits{};

        void add(int point) { bits[static_cast<std::size_t>(point / 64)] |= std::uint64_t{1} << (point % 64); }
        void remove(int point) { bits[static_cast<std::size_t>(point / 64)] &= ~(std::uint64_t{1} << (point % 64)); }
        void add(const Points& more) {
            for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= more.bits[i];
        }
        int size() const {
            int sum = 0;
            for (const std::uint64_t word : bits) sum += std::popcount(word);
            return sum;
        }
    };
    struct Chain {
        Move stone;
        Player owner;
        int stones;
        int liberties;
        Points where;    // its liberties
        bool caught;     // in a ladder: by the mover if it is the other's, with either side moving first if it is the
                         // mover's
        bool in_danger;  // the mover's own: would be caught if the other moved first
    };
    /// Effects of a stone on a point.
    struct Touched {
        InlineVector<std::uint16_t, 4> own;
        InlineVector<std::uint16_t, 4> others;
        int open = 0;
    };

    void find_chains(const Go<N>& game);
    Touched touched_by(const Go<N>& game, Move point) const;
    int liberties_after(const Go<N>& game, Move point, const Touched& touched) const;

    static constexpr std::uint16_t no_chain = 0xffff;
    std::vector<Chain> chains_;
    std::array<std::uint16_t, N * N> chain_of_;  // by point
    features::LadderReader<N> ladders_;
};

extern template struct Tactical<Go<3>>;
extern template struct Tactical<Go<4>>;
extern template struct Tactical<Go<5>>;
extern template struct Tactical<Go<6>>;
extern template struct Tactical<Go<7>>;
extern template struct Tactical<Go<9>>;
extern template struct Tactical<Go<13>>;
extern template struct Tactical<Go<19>>;

}  // namespace hyoka::mets
