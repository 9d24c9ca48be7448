// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/blokus_duo.h"
#include "network/inputs.h"

namespace hyoka::network {

/// Squares of either player, where each can attach, what is closed to each, and the pieces in hand. The second player
/// sees the board upside down, so that the own starting square is always the same.
template <>
struct Inputs<BlokusDuo> {
    using Squares = blokus::SquareSet;
    static constexpr std::size_t area = blokus::area;
    static constexpr std::size_t side = 14;
    static constexpr std::size_t planes = 6;
    static constexpr std::size_t pieces = planes * area;
    static constexpr std::size_t count = pieces + 2 * blokus::piece_count;

    static void find(const BlokusDuo& game, const Context<BlokusDuo>&, InputSet<count>& inputs) {
        const Player mover = game.to_play();
        std::size_t plane = 0;
        std::size_t hand = pieces;
        for (const Player player : {mover, other(mover)}) {
            const Squares& own = game.squares(player);
            const Squares occupied = own | game.squares(other(player));
            for (const Squares& squares : {own, game.attaching(player), game.closed(player) - occupied}) {
                const Squares seen = mover == Player::first ? squares : turned(squares);
                for (std::size_t word = 0; word < 4; ++word) inputs.add_bits(plane + 64 * word, seen.words[word]);
                plane += area;
            }
            inputs.add_bits(hand, game.pieces_left(player));
            hand += blokus::piece_count;
        }
    }
    static std::uint32_t seen(const BlokusDuo& game, BlokusDuo::Move move) {
        if (game.to_play() == Player::first || move == BlokusDuo::Move::pass()) return move.code();
        return turned_placements()[move.placement];
    }

    /// A move covers squares with a piece in some orientation.
    static constexpr std::size_t orientations = 8 * blokus::piece_count;
    static constexpr std::size_t part_count = area + orientations + blokus::piece_count;
    static void visit_parts(std::uint32_t seen, auto&& sink) {
        if (seen >= blokus::placement_count) return;
        const auto& table = blokus::placements();
        const int placement = static_cast<int>(seen);
        blokus::for_each_square(table.cells(placement), [&](int square) { sink(static_cast<std::size_t>(square)); });
        const blokus::Placement& laid = table[placement];
        sink(area + laid.piece * 8u + laid.rotation);
        sink(area + orientations + laid.piece);
    }

    /// A plane an orientation; a move lies where the first of its squares does.
    static constexpr std::size_t move_planes = orientations;
    static std::uint32_t place(std::uint32_t seen) {
        if (seen >= blokus::placement_count) return no_place;
        const auto& table = blokus::placements();
        const int placement = static_cast<int>(seen);
        const blokus::Placement& laid = table[placement];
        std::uint32_t first = area;
        blokus::for_each_square(table.cells(placement),
                                [&](int square) { first = std::min(first, static_cast<std::uint32_t>(square)); });
        return static_cast<std::uint32_t>((laid.piece * 8u + laid.rotation) * area) + first;
    }

private:
    static std::uint64_t reversed(std::uint64_t bits) {
        bits = (bits >> 1 & 0x5555555555555555) | (bits & 0x5555555555555555) << 1;
        bits = (bits >> 2 & 0x3333333333333333) | (bits & 0x3333333333333333) << 2;
        bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0f) | (bits & 0x0f0f0f0f0f0f0f0f) << 4;
        return __builtin_bswap64(bits);
    }
    /// Square i becomes square 195 - i.
    static Squares turned(const Squares& squares) {
        constexpr int unused = 256 - static_cast<int>(area);
        std::array<std::uint64_t, 4> from_end;
        for (std::size_t i = 0; i < 4; ++i) from_end[i] = reversed(squares.words[3 - i]);
        Squares found;
        for (std::size_t i = 0; i < 4; ++i)
            found.words[i] = from_end[i] >> unused | (i < 3 ? from_end[i + 1] << (64 - unused) : 0);
        return found;
    }
    static const std::vector<std::uint16_t>& turned_placements() {
        static const auto table = [] {
            std::vector<std::uint16_t> made;
            for (int i = 0; i < blokus::placement_count; ++i)
                made.push_back(
                    static_cast<std::uint16_t>(blokus::placements().find(turned(blokus::placements().cells(i)))));
            return made;
        }();
        return table;
    }
};

}  // namespace hyoka::network
