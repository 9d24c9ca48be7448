// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/bits.h"
#include "game.h"
#include "strengths/move_model.h"

/// Networks over many inputs that are on or off: small enough to be asked at every leaf of a search.
namespace hyoka::network {

using strengths::Context;

/// Which of N inputs are on.
template <std::size_t N>
struct InputSet {
    static constexpr std::size_t size = N;
    static constexpr std::size_t word_count = (N + 63) / 64;
    std::array<std::uint64_t, word_count> words{};

    void add(std::size_t input) { words[input / 64] |= std::uint64_t{1} << (input % 64); }
    /// Inputs `begin`, `begin` + 1, ... for the bits that are set.
    void add_bits(std::size_t begin, std::uint64_t bits) {
        if (!bits) return;
        words[begin / 64] |= bits << (begin % 64);
        if (begin % 64 && bits >> (64 - begin % 64)) words[begin / 64 + 1] |= bits >> (64 - begin % 64);
    }
    /// The first `count` inputs from `begin` on.
    void add_first(std::size_t begin, int count) {
        for (int i = 0; i < count; ++i) add(begin + static_cast<std::size_t>(i));
    }
    friend bool operator==(const InputSet&, const InputSet&) = default;
};

/// A position as a network sees it: by the player to move, who always sees the board from the same side. A game has
///
///     static constexpr std::size_t count;                                      // of inputs
///     static void find(const G&, const Context<G>&, InputSet<count>&);         // into an empty set
///     static std::uint32_t seen(const G&, typename G::Move);                   // the move's code as the mover sees it
///     static constexpr std::size_t part_count;                                 // what moves can have in common
///     static void visit_parts(std::uint32_t seen, auto&& sink);                // sink(part): what a move has of that
///
/// Parts of moves serve learning alone: what is learned of one move is then known of those like it. A game without a
/// specialization shows its cells. One whose inputs and moves lie on a square board, so that convolutions can go over
/// it, has besides
///
///     static constexpr std::size_t side;                                       // of the board
///     static constexpr std::size_t planes;                                     // the first planes * side² inputs are
///                                                                              // planes of points, row by row
///     static constexpr std::size_t move_planes;                                // moves lie on planes, too:
///     static std::uint32_t place(std::uint32_t seen);                          // plane * side² + point, or no_place
template <class G>
struct Inputs;

/// Of a move that lies nowhere: a pass.
inline constexpr std::uint32_t no_place = ~std::uint32_t{0};

/// Whether a game's inputs and moves lie on a board.
template <class G>
concept OnBoard = requires {
    Inputs<G>::planes;
    { Inputs<G>::place(0) } -> std::same_as<std::uint32_t>;
};

/// For games whose moves have nothing in common.
struct NoMoveParts {
    static constexpr std::size_t part_count = 0;
    static void visit_parts(std::uint32_t, auto&&) {}
};

template <class G>
struct Inputs : NoMoveParts {
    static constexpr std::size_t most_cells = 256;
    static constexpr std::size_t most_kinds = 4;
    static constexpr std::size_t count = 2 * most_kinds * most_cells;

    static void find(const G& game, const Context<G>&, InputSet<count>& inputs) {
        const std::vector<std::int8_t> cells = game.cells();
        for (std::size_t cell = 0; cell < std::min(cells.size(), most_cells); ++cell) {
            if (cells[cell] == 0) continue;
            const bool own = (cells[cell] > 0) == (game.to_play() == Player::first);
            const auto kind = static_cast<std::size_t>(std::abs(cells[cell]) - 1) % most_kinds;
            inputs.add(((own ? 0 : most_kinds) + kind) * most_cells + cell);
        }
    }
    static std::uint32_t seen(const G&, typename G::Move move) { return move.code(); }
};

}  // namespace hyoka::network
