// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "playouts/stepwise.h"
#include "strengths/move_model.h"

namespace hyoka::playouts {

/// A number drawn with the probability of its weight; pre: there is one, and all are positive.
inline std::size_t draw_weighted(std::span<const float> weights, Rng& rng) {
    assert(!weights.empty());
    float sum = 0;
    for (const float weight : weights) sum += weight;
    float left = sum * static_cast<float>(rng.bits() >> 40) * 0x1p-24f;
    std::size_t drawn = 0;
    // Rounding may leave a little at the end: then it is the last one.
    while (drawn + 1 < weights.size() && (left -= weights[drawn]) >= 0) ++drawn;
    return drawn;
}

/// Draws moves by their strengths, as Sato 2010 does. In Go no own eye is filled, and a pass is for when nothing else
/// is left.
template <Game G>
class StrengthPlayout final : public StepwisePlayout<G> {
public:
    using Position = PositionOf<G>;
    using Model = strengths::MoveModel<Position>;
    using typename StepwisePlayout<G>::Context;

    explicit StrengthPlayout(std::unique_ptr<Model> model) : model_(std::move(model)) {}

    std::optional<typename G::Move> choose(RandomPlayout<G>& playout, const Context& context, Rng& rng) override {
        const auto moves = candidates(playout.game());
        if (moves.empty()) return std::nullopt;
        if (moves.size() == 1) return moves[0];
        model_->weigh(position_of(playout.game()), context, {moves.begin(), moves.size()}, strengths_);
        return moves[draw_weighted({strengths_.data(), moves.size()}, rng)];
    }
    std::unique_ptr<StepwisePlayout<G>> copy() const override {
        return std::make_unique<StrengthPlayout>(model_->clone());
    }

private:
    static Moves<G> candidates(const G& game) {
        const Moves<G> legal = game.legal_moves();
        if constexpr (requires(const Position& position, typename G::Move move) { position.fills_own_eye(move); }) {
            Moves<G> sensible;
            for (const auto move : legal)
                if (move != G::Move::pass() && !position_of(game).fills_own_eye(move)) sensible.push_back(move);
            if (sensible.empty() && !legal.empty()) sensible.push_back(G::Move::pass());
            return sensible;
        } else {
            return legal;
        }
    }

    std::unique_ptr<Model> model_;
    std::array<float, G::max_moves> strengths_{};
};

}  // namespace hyoka::playouts
