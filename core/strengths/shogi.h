// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "games/shogi.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// The features of Sato 2010. Where its table 3 gives a range, the sub-features are spread over it: the worst change of
/// a piece's place has the lowest value, the best one the highest. The values of pieces by place are learned from
/// records.
template <>
struct MoveFeatures<Shogi> {
    static const std::vector<Feature>& all();
    template <class Sink>
    static void visit(const Shogi& game, const Context<Shogi>& context, std::span<const Shogi::Move> moves, Sink sink);
};

extern template void MoveFeatures<Shogi>::visit(const Shogi&, const Context<Shogi>&, std::span<const Shogi::Move>,
                                                StrengthSink);
extern template void MoveFeatures<Shogi>::visit(const Shogi&, const Context<Shogi>&, std::span<const Shogi::Move>,
                                                ListSink);

/// Draws without weighing every move: by quickly computed bounds of strengths, first; the move drawn is weighed
/// exactly and kept with the probability strength / bound, which leaves each move exactly its share.
template <>
class MoveDraw<Shogi> {
public:
    /// Pre: one positive strength a feature.
    explicit MoveDraw(std::span<const float> strengths);
    /// None when the game is over.
    std::optional<Shogi::Move> operator()(const Shogi& game, const Context<Shogi>& context, Rng& rng);

private:
    static constexpr std::size_t max_listed = Shogi::max_moves;
    using Row = std::array<float, 88>;  // by square, to a multiple of eight
    /// The strengths of drops by kind, as far as they depend on the kings alone.
    struct DropPlaces {
        int key = -1;
        std::array<Row, 7> strengths{};
    };
    class Lottery;

    const DropPlaces& drop_places(Player us, int own_king, int enemy_king);
    std::optional<Shogi::Move> draw_from_all(const Shogi& game, const Context<Shogi>& context, Rng& rng) const;

    std::vector<float> strengths_;
    std::array<float, 15> at_most_{};  // by band of exchange: the greatest strength up to there
    std::array<Row, 82> near_last_{};  // by square of the last move, 81: there is none
    std::array<Row, 82> near_before_last_{};
    std::vector<DropPlaces> known_places_{256};  // of kings met lately
};

}  // namespace hyoka::strengths
