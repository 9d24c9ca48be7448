// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "game.h"
#include "strengths/move_model.h"

namespace hyoka::strengths {

/// Something a move may have to it. A move's strength is the product of its features' strengths, and in the model of
/// Bradley and Terry a move is chosen with the probability strength / sum of all moves' strengths (Sato 2010, 3.1).
struct Feature {
    std::string name;
    float strength;  // by default; the gamma of the paper, > 0
};

/// Move features of G. For each game there is a specialization with
///
///     static const std::vector<Feature>& all();  // names and default strengths; the order is that of the numbers
///     template <class Sink>
///     static void visit(const G&, const Context<G>&, std::span<const typename G::Move>, Sink sink);
///
/// `visit` goes through the moves, which must be legal; for each it calls sink.add(feature) for the features it has and
/// then sink.end_move(). A sink is passed by value, as an iterator is. The same code multiplies strengths and lists
/// features, so that the two cannot disagree. It is defined in the game's .cpp and instantiated there for both sinks.
template <class G>
struct MoveFeatures;

/// A quicker way to draw a move by its features' strengths than to weigh all of them, for games that have one.
template <class G>
class MoveDraw {
public:
    explicit MoveDraw(std::span<const float>) {}
};
template <class G>
inline constexpr bool draws_quickly = requires(MoveDraw<G> draw, const G& game, const Context<G>& context, Rng& rng) {
    { draw(game, context, rng) } -> std::same_as<std::optional<typename G::Move>>;
};

/// Multiplies strengths.
class StrengthSink {
public:
    StrengthSink(const float* by_feature, float* strengths) : by_feature_(by_feature), next_(strengths) {}
    void add(std::size_t feature) { strength_ *= by_feature_[feature]; }
    void end_move() {
        *next_++ = strength_;
        strength_ = 1;
    }

private:
    const float* by_feature_;
    float* next_;
    float strength_ = 1;
};

/// The features of some moves in one array, move after move.
struct FeatureLists {
    std::vector<std::uint16_t> features;
    std::vector<std::uint32_t> ends;  // by move: where its features end and the next one's begin

    std::span<const std::uint16_t> of(std::size_t move) const {
        const std::size_t begin = move ? ends[move - 1] : 0;
        return std::span(features).subspan(begin, ends[move] - begin);
    }
};

/// Lists features, after those that the lists already hold.
class ListSink {
public:
    explicit ListSink(FeatureLists& lists) : lists_(lists) {}
    void add(std::size_t feature) { lists_.features.push_back(static_cast<std::uint16_t>(feature)); }
    void end_move() { lists_.ends.push_back(static_cast<std::uint32_t>(lists_.features.size())); }

private:
    FeatureLists& lists_;
};

}  // namespace hyoka::strengths
