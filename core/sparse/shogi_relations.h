// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#include "sparse/feature_set.h"
#include "sparse/shogi_pieces.h"

namespace hyoka::sparse {

/// Sato 2013's first features: the values of pieces, each piece with either king, and pairs of pieces; and the two
/// kings. What is the same for the other side, or with left and right exchanged, is one weight.
struct ShogiRelations {
    using Game = Shogi;
    using Kept = shogi_pieces::Kept;
    static constexpr std::string_view name = "relations";
    static constexpr std::string_view unit = "centipawns";
    static constexpr double scale = 600;
    static std::size_t count();
    static std::size_t anchored() { return shogi_pieces::turn_value; }
    static std::vector<float> starting();
    static int distance(const Kept& kept, const Shogi& game) {
        return kept.position.distance(shogi_pieces::Snapshot::of(game));
    }

    /// Which weight, from 1 on; negative if it counts for the other side, 0 if there is none.
    using Signed = std::int32_t;
    /// Of a piece and the king of the side that sees it.
    static Signed with_king(int king, int place);
    /// Of two pieces as Black sees them.
    static Signed of_pair(int one, int other);
    /// Of Black's king and White's.
    static Signed of_kings(int black, int white);

    template <class Sink>
    static void visit(const Shogi& game, Sink&& sink) {
        const auto values = shogi_pieces::count_values(game);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i]) sink(i, static_cast<float>(values[i]));
        visit_relations(game, sink);
    }
    /// All but the values of pieces.
    template <class Sink>
    static void visit_relations(const Shogi& game, Sink&& sink) {
        using namespace shogi_pieces;
        Pieces pieces;
        for_each_piece(Snapshot::of(game), [&](Piece piece, Shogi::Kind) { pieces.add(piece); });
        const int black = king_square(game, Player::first);
        const int white = king_square(game, Player::second);
        const auto add = [&](Signed number) {
            if (number) sink(static_cast<std::size_t>(std::abs(number) - 1), number > 0 ? 1.0f : -1.0f);
        };
        if (black >= 0 && white >= 0) add(of_kings(black, white));
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (black >= 0) add(with_king(black, pieces[i].black));
            if (white >= 0) add(-with_king(turned(white), pieces[i].white));
            for (std::size_t j = 0; j < i; ++j) add(of_pair(pieces[i].black, pieces[j].black));
        }
    }

    class Table : public shogi_pieces::Table<Table> {
    public:
        explicit Table(std::span<const float> weights);
        void add(Kept& kept, shogi_pieces::Piece piece) const { change(kept, piece, 1); }
        void remove(Kept& kept, shogi_pieces::Piece piece) const { change(kept, piece, -1); }
        void move_kings(Kept& kept, bool black, bool white) const;

    private:
        void change(Kept& kept, shogi_pieces::Piece piece, int sign) const {
            const std::int16_t* row = &pairs_[piece.black * std::size_t{shogi_pieces::place_count}];
            int sum = 0;
            for (const shogi_pieces::Piece other : kept.pieces) sum += row[other.black];
            kept.sums[0] += sign * sum;
            if (kept.kings[0] >= 0) kept.sums[1] += sign * king_row(kept.kings[0])[piece.black];
            if (kept.kings[1] >= 0) kept.sums[1] -= sign * king_row(shogi_pieces::turned(kept.kings[1]))[piece.white];
        }
        const std::int16_t* king_row(int king) const {
            return &with_king_[static_cast<std::size_t>(king) * shogi_pieces::place_count];
        }
        std::vector<std::int16_t> pairs_;      // by both places as Black sees them
        std::vector<std::int16_t> with_king_;  // by king and place as the king's side sees them
        std::vector<std::int16_t> kings_;      // by Black's and White's square
    };
};

}  // namespace hyoka::sparse
