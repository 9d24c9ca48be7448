// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sparse/feature_set.h"
#include "sparse/shogi_pieces.h"

namespace hyoka::sparse {

/// Sato 2013's second features, Bonanza's: the values of pieces, both kings with a piece, and a king with two pieces.
/// Each side counts them as it sees the board; what is the same with left and right exchanged is one weight.
struct ShogiKpp {
    using Game = Shogi;
    using Kept = shogi_pieces::Kept;
    static constexpr std::string_view name = "kpp";
    static constexpr std::string_view unit = "centipawns";
    static constexpr double scale = 600;
    static constexpr std::size_t king_places = 45;  // the king on its own left half
    static constexpr std::size_t places = shogi_pieces::place_count;
    static constexpr std::size_t pairs = places * (places + 1) / 2;
    static constexpr std::size_t kkp_start = shogi_pieces::value_count;
    static constexpr std::size_t kpp_start = kkp_start + king_places * 81 * places;
    static std::size_t count() { return kpp_start + king_places * pairs; }
    static std::size_t anchored() { return shogi_pieces::turn_value; }
    static std::vector<float> starting();
    static int distance(const Kept& kept, const Shogi& game) {
        return kept.position.distance(shogi_pieces::Snapshot::of(game));
    }

    /// A king and how its side looks at the board: from the middle file on in a mirror.
    struct View {
        std::size_t king;
        bool mirror;
        explicit View(int seen)
            : king(static_cast<std::size_t>(seen / 9 > 4 ? shogi_pieces::mirrored(seen) : seen)),
              mirror(seen / 9 > 4) {}
        std::size_t place(std::size_t seen) const { return mirror ? shogi_pieces::mirrored_places[seen] : seen; }
        std::size_t square(int seen) const {
            return static_cast<std::size_t>(mirror ? shogi_pieces::mirrored(seen) : seen);
        }
        /// On the middle file the board and its mirror image are the same.
        bool between() const { return king / 9 == 4; }
    };
    static constexpr std::size_t pair(std::size_t one, std::size_t other) {
        return one >= other ? one * (one + 1) / 2 + other : other * (other + 1) / 2 + one;
    }
    /// Squares and places as the view has them.
    static std::size_t kkp(const View& view, std::size_t enemy_king, std::size_t place) {
        using namespace shogi_pieces;
        std::size_t seen = enemy_king * places + place;
        if (view.between())
            seen = std::min(seen, at(mirrored(static_cast<int>(enemy_king))) * places + mirrored_places[place]);
        return kkp_start + view.king * 81 * places + seen;
    }
    static std::size_t kpp(const View& view, std::size_t one, std::size_t other) {
        using namespace shogi_pieces;
        std::size_t seen = pair(one, other);
        if (view.between()) seen = std::min(seen, pair(mirrored_places[one], mirrored_places[other]));
        return kpp_start + view.king * pairs + seen;
    }

    template <class Sink>
    static void visit(const Shogi& game, Sink&& sink) {
        using namespace shogi_pieces;
        const auto values = count_values(game);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i]) sink(i, static_cast<float>(values[i]));
        Pieces pieces;
        for_each_piece(Snapshot::of(game), [&](Piece piece, Shogi::Kind) { pieces.add(piece); });
        const int black = king_square(game, Player::first);
        const int white = king_square(game, Player::second);
        for (const bool blacks : {true, false}) {
            const int own = blacks ? black : white < 0 ? -1 : turned(white);
            const int enemy = blacks ? white : black < 0 ? -1 : turned(black);
            if (own < 0) continue;
            const View view(own);
            const float sign = blacks ? 1.0f : -1.0f;
            std::array<std::size_t, 40> seen;
            for (std::size_t i = 0; i < pieces.size(); ++i) {
                seen[i] = view.place(blacks ? pieces[i].black : pieces[i].white);
                if (enemy >= 0) sink(kkp(view, view.square(enemy), seen[i]), sign);
                for (std::size_t j = 0; j < i; ++j) sink(kpp(view, seen[i], seen[j]), sign);
            }
        }
    }

    class Table : public shogi_pieces::Table<Table> {
    public:
        explicit Table(std::span<const float> weights);
        void add(Kept& kept, shogi_pieces::Piece piece) const { change(kept, piece, 1); }
        void remove(Kept& kept, shogi_pieces::Piece piece) const { change(kept, piece, -1); }
        void move_kings(Kept& kept, bool black, bool white) const;

    private:
        void change(Kept& kept, shogi_pieces::Piece piece, int sign) const;
        /// Pairs of a piece with others, as a king's side sees them.
        template <bool blacks>
        int pairs_with(int king, shogi_pieces::Piece piece, const shogi_pieces::Piece* begin,
                       const shogi_pieces::Piece* end) const;
        std::vector<std::int16_t> kkp_;
        std::vector<std::int16_t> kpp_;  // by king and both places, whichever is first
    };
};

}  // namespace hyoka::sparse
