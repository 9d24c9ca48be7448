// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "evaluation/chess.h"
#include "sparse/feature_set.h"

namespace hyoka::sparse {

/// The named terms of chess, and every piece by its square with either king; each has a weight for the opening and one
/// for the ending. What is the same for the other side, or with left and right exchanged, is one weight.
struct ChessPlaces {
    using Game = Chess;
    using Terms = evaluation::Terms<Chess>;
    static constexpr std::string_view name = "places";
    static constexpr std::string_view unit = Terms::unit;
    static constexpr double scale = Terms::scale;
    static constexpr std::size_t king_places = 32;  // the king on the queen's side
    static constexpr std::size_t places = 12 * 64;  // whose, kind and square
    static std::size_t terms() { return Terms::all().size(); }
    static std::size_t count() { return 2 * (terms() + king_places * places); }
    /// The values of pieces, which are the first terms.
    static std::size_t anchored() { return 2 * 5; }
    static std::vector<float> starting();

    /// A king as its side sees it, which looks into a mirror if that puts the king on the queen's side.
    struct View {
        std::size_t king;
        int flip;  // XOR mask from a square to the mover's view
        View(int square, Player player) {
            flip = player == Player::first ? 0 : 56;
            if ((square & 7) > 3) flip ^= 7;
            const int seen = square ^ flip;
            king = static_cast<std::size_t>(seen / 8 * 4 + seen % 8);
        }
        std::size_t place(bool own, Chess::Kind kind, int square) const {
            return (king * 12 + (own ? 0u : 6u) + kind) * 64 + static_cast<std::size_t>(square ^ flip);
        }
    };

    struct Kept {
        std::array<Chess::Kind, 64> kinds;
        std::array<Chess::Bitboard, 2> colors;
        std::array<int, 2> kings;
        std::array<std::array<int, 2>, 2> sums;  // by player; opening and ending
    };
    static int distance(const Kept& kept, const Chess& game);

    template <class Sink>
    static void visit(const Chess& game, Sink&& sink) {
        thread_local std::vector<float> amounts;
        amounts.assign(terms(), 0.0f);
        evaluation::VectorSink named(amounts);
        Terms::count(game, named);
        const float ending = named.progress();
        for (std::size_t i = 0; i < amounts.size(); ++i)
            if (amounts[i] != 0) {
                sink(2 * i, amounts[i] * (1 - ending));
                sink(2 * i + 1, amounts[i] * ending);
            }
        for (const Player player : {Player::first, Player::second}) {
            const View view(lowest_bit(game.pieces(player, Chess::king)), player);
            const float sign = player == Player::first ? 1.0f : -1.0f;
            for_each_bit(game.occupied(), [&](int square) {
                const bool own = game.pieces(player) >> square & 1;
                const std::size_t index = 2 * (amounts.size() + view.place(own, game.piece_on(square), square));
                sink(index, sign * (1 - ending));
                sink(index + 1, sign * ending);
            });
        }
    }

    class Table {
    public:
        explicit Table(std::span<const float> weights);
        void start(Kept& kept, const Chess& game) const;
        void follow(Kept& kept, const Chess& game) const;
        int score(const Kept& kept, const Chess& game) const;

    private:
        void change(Kept& kept, Player side, const View& view, int square, Chess::Kind kind, bool own, int sign) const;
        void start_side(Kept& kept, Player side) const;
        std::vector<evaluation::Weight> terms_;
        std::vector<std::array<std::int16_t, 2>> places_;  // opening and ending
    };
};

}  // namespace hyoka::sparse
