// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "evaluation/all.h"
#include "evaluation/shared.h"
#include "network/all.h"
#include "network/layers.h"
#include "strengths/move_model.h"

/// A network as searches take it: what positions are worth, and how strong moves are.
namespace hyoka::network {

/// The sums of the first layer for positions looked at lately, each from the nearest one.
template <Game G>
class Sums {
public:
    using Set = InputSet<Inputs<G>::count>;

    Sums(std::shared_ptr<const Layers> layers, std::size_t places) : layers_(std::move(layers)), places_(places) {
        for (Place& place : places_) place.sums.resize(layers_->width());
    }

    /// Into `place`, starting from whichever of `near` differs least.
    const std::int16_t* look(const G& game, const Context<G>& context, std::size_t place,
                             std::span<const std::size_t> near) {
        Set inputs;
        Inputs<G>::find(game, context, inputs);
        int least = 0;  // what a start would cost
        for (const std::uint64_t word : inputs.words) least += count_bits(word);
        const Place* nearest = nullptr;
        for (const std::size_t candidate : near) {
            const Place& kept = places_[candidate];
            if (!kept.known) continue;
            int distance = 0;
            for (std::size_t i = 0; i < inputs.words.size(); ++i)
                distance += count_bits(inputs.words[i] ^ kept.inputs.words[i]);
            if (distance >= least) continue;
            least = distance;
            nearest = &kept;
        }
        Place& here = places_[place];
        if (!nearest) {
            layers_->start(inputs.words, here.sums.data());
        } else {
            const Set before = nearest->inputs;
            if (nearest != &here) here.sums = nearest->sums;
            layers_->follow(before.words, inputs.words, here.sums.data());
        }
        here.inputs = inputs;
        here.known = true;
        return here.sums.data();
    }
    const Layers& layers() const { return *layers_; }
    const std::shared_ptr<const Layers>& shared() const { return layers_; }
    std::size_t size() const { return places_.size(); }
    void add_place() { places_.emplace_back().sums.resize(layers_->width()); }

private:
    struct Place {
        Set inputs;
        std::vector<std::int16_t> sums;
        bool known = false;
    };
    std::shared_ptr<const Layers> layers_;
    std::vector<Place> places_;
};

/// The sums for positions that come in any order, as the nodes of a tree do.
template <Game G>
class RecentSums {
public:
    explicit RecentSums(std::shared_ptr<const Layers> layers) : sums_(std::move(layers), kept) {}
    const std::int16_t* look(const G& game, const Context<G>& context) {
        next_ = (next_ + 1) % kept;
        return sums_.look(game, context, next_, all);
    }
    const Layers& layers() const { return sums_.layers(); }
    const std::shared_ptr<const Layers>& shared() const { return sums_.shared(); }

private:
    static constexpr std::size_t kept = 4;
    static constexpr std::array<std::size_t, kept> all = {0, 1, 2, 3};
    Sums<G> sums_;
    std::size_t next_ = 0;
};

/// How strong a network finds moves. Pre: it judges them.
template <Game G>
class NetworkMoves final : public strengths::MoveModel<G> {
public:
    explicit NetworkMoves(std::shared_ptr<const Layers> layers)
        : sums_(std::move(layers)), sight_(sums_.layers().policy_units()) {}
    void weigh(const G& game, const Context<G>& context, std::span<const typename G::Move> moves,
               std::span<float> strengths) override {
        if (moves.empty()) return;
        const Layers& layers = sums_.layers();
        layers.see(sums_.look(game, context), sight_.data());
        float greatest = -std::numeric_limits<float>::infinity();
        for (std::size_t i = 0; i < moves.size(); ++i) {
            strengths[i] = layers.move_logit(sight_.data(), Inputs<G>::seen(game, moves[i]));
            greatest = std::max(greatest, strengths[i]);
        }
        // The strongest has 1; others have something, however weak.
        for (std::size_t i = 0; i < moves.size(); ++i)
            strengths[i] = std::exp(std::max(strengths[i] - greatest, -20.0f));
    }
    std::unique_ptr<strengths::MoveModel<G>> clone() const override {
        return std::make_unique<NetworkMoves>(sums_.shared());
    }

private:
    RecentSums<G> sums_;
    std::vector<std::int16_t> sight_;
};

/// Score of a logit of 1. Where alpha-beta has margins they are in the game's usual unit; elsewhere scores are
/// as fine as searches can tell apart.
template <class G>
inline constexpr double score_scale = 1000;
template <>
inline constexpr double score_scale<Chess> = evaluation::Terms<Chess>::scale;
template <>
inline constexpr double score_scale<Shogi> = evaluation::Terms<Shogi>::scale;

/// A logit as a score, far from those that mean a result known for certain.
template <class G>
int rounded_score(float logit) {
    constexpr double largest = 15000;
    return static_cast<int>(std::lround(std::clamp(static_cast<double>(logit) * score_scale<G>, -largest, largest)));
}

/// A network as a static evaluation. It knows no last moves.
template <Game G>
class NetworkEvaluation final : public evaluation::StaticEvaluation<G> {
public:
    explicit NetworkEvaluation(std::shared_ptr<const Layers> layers) : layers_(std::move(layers)) {}
    int score(const G& game) const override { return rounded_score<G>(logit(game)); }
    double value(const G& game, double scale) const override {
        return 1 / (1 + std::exp(-static_cast<double>(logit(game)) * this->scale() / scale));
    }
    double scale() const override { return score_scale<G>; }
    std::unique_ptr<evaluation::FollowedEvaluation<G>> followed() const override {
        return std::make_unique<Followed>(*this);
    }

private:
    float logit(const G& game) const {
        InputSet<Inputs<G>::count> inputs;
        Inputs<G>::find(game, {}, inputs);
        alignas(64) std::array<std::int16_t, Numbers::largest_width> sums;
        layers_->start(inputs.words, sums.data());
        return for_first(game, layers_->logit(sums.data()));
    }
    static float for_first(const G& game, float logit) { return game.to_play() == Player::first ? logit : -logit; }

    /// Keeps the sums of a position a ply.
    class Followed final : public evaluation::FollowedEvaluation<G> {
    public:
        explicit Followed(const NetworkEvaluation& evaluation) : sums_(evaluation.layers_, 2) {}
        int score(const G& game, int ply) override {
            const auto here = static_cast<std::size_t>(std::max(ply, 0));
            while (sums_.size() <= here) sums_.add_place();
            // The mover sees the board: a sibling, or the position two plies before, is nearer than the one before.
            const std::array<std::size_t, 2> near = {here, here >= 2 ? here - 2 : here};
            return rounded_score<G>(for_first(game, sums_.layers().logit(sums_.look(game, {}, here, near))));
        }

    private:
        Sums<G> sums_;
    };

    std::shared_ptr<const Layers> layers_;
};

}  // namespace hyoka::network
