// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluation/shared.h"

/// Evaluations over many small features: where pieces stand, pairs of them, patterns of discs.
namespace hyoka::sparse {

/// Searches add integers: steps per unit of a score.
inline constexpr int steps_to_unit = 32;
inline constexpr float largest_weight = 1000;

inline std::int32_t in_steps(float weight) {
    return static_cast<std::int32_t>(std::lround(static_cast<double>(weight) * steps_to_unit));
}
/// The same for the many weights that are small.
inline std::int16_t to_int16_steps(float weight) {
    return static_cast<std::int16_t>(in_steps(std::clamp(weight, -largest_weight, largest_weight)));
}

/// A set of features of a game's positions, of which an evaluation is linear in its weights. A set has
///
///     using Game = ...;
///     static constexpr std::string_view name;         // one game's sets have different ones
///     static constexpr std::string_view unit;         // of the score
///     static constexpr double scale;                  // score s: the first player wins with 1 / (1 + exp(-s / scale))
///     static std::size_t count();                     // of weights
///     static std::size_t anchored();                  // the first weights: they stay as `starting` has them
///     static std::vector<float> starting();           // the weights that learning begins with
///     template <class Sink>
///     static void visit(const Game& game, Sink&&);    // sink(weight's index, amount): their products' sum is the
///     score struct Kept;                                    // a position and the sums of its weights static int
///     distance(const Kept&, const Game&);  // changed squares, or as many as make it worth a new start class Table; //
///     weights as searches use them:
///         explicit Table(std::span<const float>);
///         void start(Kept&, const Game&) const;
///         void follow(Kept&, const Game&) const;      // from a position nearby to this one
///         int score(const Kept&, const Game&) const;  // the first player's view; the same whichever way it came
///
/// `visit` computes the same evaluation without the rounding of weights and score.
template <class Set>
concept FeatureSet =
    requires(const typename Set::Game& game, typename Set::Kept& kept, const typename Set::Table& table) {
        { Set::name } -> std::convertible_to<std::string_view>;
        { Set::count() } -> std::same_as<std::size_t>;
        { Set::distance(kept, game) } -> std::same_as<int>;
        { table.score(kept, game) } -> std::same_as<int>;
        table.start(kept, game);
        table.follow(kept, game);
    };

/// Keeps a position a ply, and starts from the nearest.
template <FeatureSet Set>
class FollowedSums final : public evaluation::FollowedEvaluation<typename Set::Game> {
public:
    using Game = typename Set::Game;
    explicit FollowedSums(std::shared_ptr<const typename Set::Table> table) : table_(std::move(table)) {}

    int score(const Game& game, int ply) override {
        const auto here = static_cast<std::size_t>(std::max(ply, 0));
        while (plies_.size() <= here) plies_.emplace_back();
        Place* nearest = nullptr;
        int least = too_far;
        // As a rule the position before was asked for; else a sibling was, or, after a check, the one two plies before.
        for (const std::size_t back : {std::size_t{1}, std::size_t{0}, std::size_t{2}}) {
            if (back > here || !plies_[here - back].known) continue;
            const int distance = Set::distance(plies_[here - back].kept, game);
            if (distance >= least) continue;
            least = distance;
            nearest = &plies_[here - back];
            if (distance <= near) break;
        }
        Place& place = plies_[here];
        if (!nearest) {
            table_->start(place.kept, game);
            place.known = true;
            return table_->score(place.kept, game);
        }
        if (nearest != &place) place = *nearest;
        table_->follow(place.kept, game);
        return table_->score(place.kept, game);
    }

private:
    static constexpr int near = 3;
    static constexpr int too_far = 9;  // from this distance a fresh start costs less
    struct Place {
        typename Set::Kept kept;
        bool known = false;
    };
    std::shared_ptr<const typename Set::Table> table_;
    std::vector<Place> plies_;
};

template <FeatureSet Set>
class SparseEvaluation final : public evaluation::StaticEvaluation<typename Set::Game> {
public:
    using Game = typename Set::Game;
    SparseEvaluation(std::shared_ptr<const typename Set::Table> table, double scale)
        : table_(std::move(table)), scale_(scale) {}
    int score(const Game& game) const override {
        typename Set::Kept kept;
        table_->start(kept, game);
        return table_->score(kept, game);
    }
    double scale() const override { return scale_; }
    std::unique_ptr<evaluation::FollowedEvaluation<Game>> followed() const override {
        return std::make_unique<FollowedSums<Set>>(table_);
    }

private:
    std::shared_ptr<const typename Set::Table> table_;
    double scale_;
};

}  // namespace hyoka::sparse
