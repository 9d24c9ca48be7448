// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/chess.h"
#include "network/inputs.h"

namespace hyoka::network {

/// Every piece by its square, alone and by where the mover's king is; castling rights and check. The mover plays
/// up the board, with the own king on its left half.
template <>
struct Inputs<Chess> {
    static constexpr std::size_t zones = 16;  // four files, and first, second, third to fourth, and all other ranks
    static constexpr std::size_t kinds = 12;  // own ones first
    static constexpr std::size_t places = kinds * 64;
    static constexpr std::size_t by_king = places;
    static constexpr std::size_t castling = by_king + zones * places;
    static constexpr std::size_t check = castling + 4;
    static constexpr std::size_t count = check + 1;

    static void find(const Chess& game, const Context<Chess>&, InputSet<count>& inputs) {
        const Player mover = game.to_play();
        const int flip = flip_of(game);
        const std::size_t zone = zone_of(lowest_bit(game.pieces(mover, Chess::king)) ^ flip);
        for_each_bit(game.occupied(), [&](int square) {
            const bool own = game.pieces(mover) >> square & 1;
            const std::size_t place = (static_cast<std::size_t>(game.piece_on(square)) + (own ? 0u : 6u)) * 64 +
                                      static_cast<std::size_t>(square ^ flip);
            inputs.add(place);
            inputs.add(by_king + zone * places + place);
        });
        for (const Player player : {mover, other(mover)})
            for_each_bit(game.castling_rooks(player), [&](int rook) {
                const bool right = ((rook ^ flip) & 7) > (((lowest_bit(game.pieces(player, Chess::king))) ^ flip) & 7);
                inputs.add(castling + (player == mover ? 0u : 2u) + (right ? 1u : 0u));
            });
        if (game.in_check()) inputs.add(check);
    }
    static std::uint32_t seen(const Chess& game, Chess::Move move) {
        const auto flip = static_cast<std::uint32_t>(flip_of(game));
        return move.code() ^ (flip | flip << 6);
    }

    /// From where, to where, and to what a pawn promotes.
    static constexpr std::size_t part_count = 64 + 64 + 4;
    static void visit_parts(std::uint32_t seen, auto&& sink) {
        const auto move = Chess::Move::from_code(seen);
        sink(static_cast<std::size_t>(move.from()));
        sink(64 + static_cast<std::size_t>(move.to()));
        if (move.type() == Chess::Move::Type::promotion)
            sink(128 + static_cast<std::size_t>(move.promoted() - Chess::knight));
    }

private:
    /// Turns a square into one as the mover sees it.
    static int flip_of(const Chess& game) {
        const Player mover = game.to_play();
        const int king = lowest_bit(game.pieces(mover, Chess::king));
        return (mover == Player::first ? 0 : 56) ^ ((king & 7) > 3 ? 7 : 0);
    }
    static std::size_t zone_of(int king) {
        constexpr std::array<std::size_t, 8> ranks = {0, 1, 2, 2, 3, 3, 3, 3};
        return ranks[static_cast<std::size_t>(king / 8)] * 4 + static_cast<std::size_t>(king % 8);
    }
};

}  // namespace hyoka::network
