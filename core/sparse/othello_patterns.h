// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "games/othello.h"
#include "sparse/feature_set.h"

namespace hyoka::sparse {

/// Discs on edges, in corners, on lines and diagonals, each pattern as the player to move sees it, with other weights
/// in each of twelve phases. A pattern is the same wherever it lies, and from either end.
struct OthelloPatterns {
    using Game = Othello;
    static constexpr std::string_view name = "patterns";
    static constexpr std::string_view unit = "hundredths of a disc";
    static constexpr double scale = 600;
    static constexpr int phases = 12;
    static constexpr int phase_plies = 5;
    static constexpr int most_squares = 10;
    static constexpr std::size_t pattern_count = 46;
    /// Base 3: empty, Black, White. Two more than there are patterns, so that they fill whole registers.
    using Codes = std::array<std::uint16_t, 48>;
    static std::size_t count();
    static std::size_t anchored() { return 0; }
    static std::vector<float> starting() { return std::vector<float>(count()); }
    static int phase_of(const Othello& game) {
        const int discs = count_bits(game.discs(Player::first) | game.discs(Player::second));
        return std::min((discs - 4) / phase_plies, phases - 1);
    }

    struct Kept {
        std::array<std::uint64_t, 2> discs;
        Codes codes;
    };
    static int distance(const Kept& kept, const Othello& game) {
        // A new start adds as many discs as there are; from nearby it is seldom worth it.
        return count_bits((kept.discs[0] ^ game.discs(Player::first)) | (kept.discs[1] ^ game.discs(Player::second))) /
               3;
    }

    /// The codes of all patterns as Black's and White's discs have them.
    static Codes codes_of(const Othello& game);
    /// The weight of a pattern's code within a phase, as the player to move sees it.
    static std::size_t weight_of(std::size_t pattern, std::uint16_t code, bool first_to_play);
    static std::size_t weights_a_phase();

    template <class Sink>
    static void visit(const Othello& game, Sink&& sink) {
        const bool first = game.to_play() == Player::first;
        const float sign = first ? 1.0f : -1.0f;
        const std::size_t phase = static_cast<std::size_t>(phase_of(game)) * weights_a_phase();
        sink(phase, sign);  // of being on the move
        const auto codes = codes_of(game);
        for (std::size_t i = 0; i < pattern_count; ++i) sink(phase + weight_of(i, codes[i], first), sign);
    }

    class Table {
    public:
        explicit Table(std::span<const float> weights);
        void start(Kept& kept, const Othello& game) const;
        void follow(Kept& kept, const Othello& game) const;
        int score(const Kept& kept, const Othello& game) const;

    private:
        /// By phase: what is added up for Black and for White to move, pattern by pattern.
        std::array<std::array<std::vector<std::int16_t>, 2>, phases> weights_;
        std::array<std::int32_t, phases> turns_;
    };
};

}  // namespace hyoka::sparse
