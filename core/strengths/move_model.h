// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "game.h"
#include "model.h"

namespace hyoka::strengths {

/// The moves that led to a position, as far as they are known: the opponent's last one, and the mover's own before.
template <class G>
struct Context {
    std::optional<typename G::Move> last;
    std::optional<typename G::Move> before_last;

    /// What the next position has as its context.
    Context after(typename G::Move move) const { return {move, last}; }
};

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

/// How good moves look before they are searched: positive numbers of any scale. One a thread: it may keep room to work
/// in.
template <class G>
class MoveModel : public Model {
public:
    /// Puts the strength of each move into `strengths`. Pre: the moves are legal, and there is room for as many.
    virtual void weigh(const G& game, const Context<G>& context, std::span<const typename G::Move> moves,
                       std::span<float> strengths) = 0;
    /// One of the legal moves, each with the probability strength / sum of all; none when the game is over.
    virtual std::optional<typename G::Move> draw(const G& game, const Context<G>& context, Rng& rng) {
        const auto moves = game.legal_moves();
        if (moves.empty()) return std::nullopt;
        if (moves.size() == 1) return moves[0];
        std::array<float, G::max_moves> strengths;
        weigh(game, context, {moves.begin(), moves.size()}, strengths);
        return moves[draw_weighted({strengths.data(), moves.size()}, rng)];
    }
    virtual std::unique_ptr<MoveModel> clone() const = 0;
};

/// Several models as one: the product of their strengths, each to the power of its weight.
template <class G>
class CombinedModel final : public MoveModel<G> {
public:
    struct Part {
        std::shared_ptr<MoveModel<G>> model;
        float weight;
    };

    explicit CombinedModel(std::vector<Part> parts) : parts_(std::move(parts)) {}

    void weigh(const G& game, const Context<G>& context, std::span<const typename G::Move> moves,
               std::span<float> strengths) override {
        logs_.assign(moves.size(), 0.0f);
        for (const Part& part : parts_) {
            part.model->weigh(game, context, moves, strengths);
            for (std::size_t i = 0; i < moves.size(); ++i) logs_[i] += part.weight * std::log(strengths[i]);
        }
        for (std::size_t i = 0; i < moves.size(); ++i) strengths[i] = std::exp(std::clamp(logs_[i], -80.0f, 80.0f));
    }
    std::unique_ptr<MoveModel<G>> clone() const override {
        std::vector<Part> parts;
        for (const Part& part : parts_) parts.push_back({part.model->clone(), part.weight});
        return std::make_unique<CombinedModel>(std::move(parts));
    }

private:
    std::vector<Part> parts_;
    std::vector<float> logs_;
};

}  // namespace hyoka::strengths
