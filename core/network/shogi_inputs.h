// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/shogi.h"
#include "network/inputs.h"

namespace hyoka::network {

/// Every piece by its square, alone and by where the mover's king is, and the pieces in hand. The mover plays up
/// the board, with the own king on the right half or in the middle. A king may be missing (problems).
template <>
struct Inputs<Shogi> : NoMoveParts {
    static constexpr std::size_t zones = 20;  // five files, and the last three ranks or all others
    static constexpr std::size_t places = 2 * 14 * 81;
    static constexpr std::size_t by_king = places;
    static constexpr std::size_t hands = by_king + zones * places;
    /// By kind of piece: how many in hand are distinguished.
    static constexpr std::array<std::size_t, 8> most_in_hand = {0, 6, 4, 4, 4, 2, 2, 4};
    static constexpr std::size_t a_hand = 26;
    static constexpr std::size_t count = hands + 2 * a_hand;

    static void find(const Shogi& game, const Context<Shogi>&, InputSet<count>& inputs) {
        const Player mover = game.to_play();
        const View view(game);
        const auto& board = game.board();
        const Shogi::Bitboard own = game.pieces(mover);
        for_each_bit(game.occupied(), [&](int square) {
            const bool is_own = (own >> square & 1) != 0;
            const std::size_t kind = board[static_cast<std::size_t>(square)] - 1u + (is_own ? 0u : 14u);
            const std::size_t place = kind * 81 + static_cast<std::size_t>(view.square(square));
            inputs.add(place);
            inputs.add(by_king + view.zone * places + place);
        });
        std::size_t begin = hands;
        for (const Player player : {mover, other(mover)})
            for (std::size_t kind = 1; kind < most_in_hand.size(); begin += most_in_hand[kind++])
                inputs.add_first(begin,
                                 static_cast<int>(std::min<std::size_t>(game.hand(player)[kind], most_in_hand[kind])));
    }
    static std::uint32_t seen(const Shogi& game, Shogi::Move move) {
        if (move == Shogi::Move::declaration()) return move.code();
        const View view(game);
        const int from = move.from() < 81 ? view.square(move.from()) : move.from();
        return Shogi::Move(from, view.square(move.to()), move.promotes()).code();
    }

private:
    struct View {
        bool turned;
        bool mirrored = false;
        std::size_t zone = 0;

        explicit View(const Shogi& game) : turned(game.to_play() == Player::second) {
            const auto kings = game.pieces(game.to_play(), Shogi::king);
            if (!kings) return;
            const int king = lowest_bit(kings);
            mirrored = square(king) / 9 > 4;
            const int seen = square(king);
            const int rank = seen % 9;
            zone = static_cast<std::size_t>(seen / 9 * 4 + (rank >= 6 ? rank - 5 : 0));
        }
        int square(int square) const {
            if (turned) square = 80 - square;
            return mirrored ? (8 - square / 9) * 9 + square % 9 : square;
        }
    };
};

}  // namespace hyoka::network
