// SPDX-License-Identifier: Apache-2.0
#include "bulk/game_table.h"

#include <stdexcept>
#include <string>

namespace hyoka::bulk {
namespace {

constexpr std::size_t rows_of_block = 256;

/// Offsets of `count` runs that lie within `size` items.
void check_offsets(const auto& offsets, std::size_t count, std::size_t size, const char* what) {
    const auto refuse = [&](const char* why) { throw std::invalid_argument(std::string(what) + ": " + why); };
    if (offsets.size() != count + 1) refuse("one offset more than games is needed");
    if (offsets.front() < 0 || static_cast<std::uint64_t>(offsets.back()) > size) refuse("offsets beyond the array");
    for (std::size_t i = 0; i < count; ++i)
        if (offsets[i] > offsets[i + 1]) refuse("offsets must not fall");
}

}  // namespace

void GameTable::check() const {
    if (komi.size() != size()) throw std::invalid_argument("komi: one number a game is needed");
    check_offsets(start_offsets, size(), start_bytes.size(), "starts");
    check_offsets(move_offsets, size(), moves.size(), "moves");
    check_offsets(row_offsets, size(), rows(), "plies");
    if (row_offsets.front() != 0 || at(row_offsets.back()) != rows())
        throw std::invalid_argument("plies: every one belongs to a game");
    for (std::size_t game = 0; game < size(); ++game) {
        std::int64_t before = 0;
        for (const std::int32_t ply : plies_of(game)) {
            if (ply < before || ply > move_offsets[game + 1] - move_offsets[game])
                throw std::invalid_argument("ply " + std::to_string(ply) + " of game " + std::to_string(ids[game]) +
                                            ": plies must rise within a game, to its last");
            before = ply;
        }
    }
}

std::vector<Block> blocks_of(const GameTable& games) {
    std::vector<Block> blocks;
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= games.size(); ++end) {
        const std::size_t rows = games.first_row(end) - games.first_row(begin);
        if (rows >= rows_of_block || (end == games.size() && rows > 0)) {
            blocks.push_back({begin, end});
            begin = end;
        }
    }
    return blocks;
}

}  // namespace hyoka::bulk
