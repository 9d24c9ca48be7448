// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <span>
#include <utility>

#include "playouts/stepwise.h"
#include "strengths/move_model.h"

namespace hyoka::playouts {

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
        if constexpr (any_legal_move) {
            return model_->draw(playout.game(), context, rng);
        } else {
            const auto moves = candidates(playout.game());
            if (moves.empty()) return std::nullopt;
            if (moves.size() == 1) return moves[0];
            model_->weigh(position_of(playout.game()), context, {moves.begin(), moves.size()}, strengths_);
            return moves[strengths::draw_weighted({strengths_.data(), moves.size()}, rng)];
        }
    }
    std::unique_ptr<StepwisePlayout<G>> copy() const override {
        return std::make_unique<StrengthPlayout>(model_->clone());
    }

private:
    static constexpr bool any_legal_move =
        std::same_as<G, Position> &&
        !requires(const Position& position, typename G::Move move) { position.fills_own_eye(move); };

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
