// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "games/all.h"

/// Passes over many games at once: what is asked of all positions of a study is answered here, on all cores.
namespace hyoka::bulk {

/// Games of one kind side by side, and which of their positions are wanted. Views: somebody else keeps the arrays.
/// A wanted position is a row; rows are in the order of games and, within a game, of plies.
struct GameTable {
    GameKind kind{};
    std::span<const std::int64_t> ids;            // by game: its number, for messages
    std::span<const std::int32_t> start_offsets;  // game i's start is bytes [i, i + 1); none: the standard start
    std::span<const char> start_bytes;
    std::span<const double> komi;                // by game; NaN: none
    std::span<const std::int64_t> move_offsets;  // game i's moves are [i, i + 1)
    std::span<const std::uint16_t> moves;        // codes
    std::span<const std::int64_t> row_offsets;   // game i's rows are [i, i + 1)
    std::span<const std::int32_t> plies;         // by row: moves played before the position

    std::size_t size() const { return ids.size(); }
    std::size_t rows() const { return plies.size(); }
    std::string_view start_of(std::size_t game) const {
        return {start_bytes.data() + start_offsets[game],
                static_cast<std::size_t>(start_offsets[game + 1] - start_offsets[game])};
    }
    std::span<const std::uint16_t> moves_of(std::size_t game) const {
        return moves.subspan(at(move_offsets[game]), at(move_offsets[game + 1] - move_offsets[game]));
    }
    std::size_t first_row(std::size_t game) const { return at(row_offsets[game]); }
    /// The wanted plies of a game.
    std::span<const std::int32_t> plies_of(std::size_t game) const {
        return plies.subspan(first_row(game), first_row(game + 1) - first_row(game));
    }
    /// Throws std::invalid_argument if the arrays don't fit together: everything else relies on them.
    void check() const;

private:
    static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
};

/// Some consecutive games, which one thread walks.
struct Block {
    std::size_t begin;
    std::size_t end;
};

/// All games with rows, cut into blocks of about as many rows each. The cuts depend on the table alone.
std::vector<Block> blocks_of(const GameTable& games);

}  // namespace hyoka::bulk
