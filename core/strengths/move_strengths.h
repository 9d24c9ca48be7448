// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "strengths/go_shapes.h"
#include "strengths/move_features.h"

namespace hyoka::strengths {

/// Learned features other than a game's own: shapes, in Go only.
template <class G>
class ShapeFinder {
public:
    explicit ShapeFinder(const std::shared_ptr<const GoShapes>&) {}
    static constexpr std::size_t count() { return 0; }
    template <class Visit>
    void for_each(const G&, std::span<const typename G::Move>, Visit&&) {}
};

/// The largest shape known around each point that is played.
template <int N>
class ShapeFinder<Go<N>> {
public:
    using Move = typename Go<N>::Move;

    explicit ShapeFinder(std::shared_ptr<const GoShapes> shapes)
        : shapes_(std::move(shapes)), watcher_(shapes_ ? std::make_unique<ShapeWatcher<N>>() : nullptr) {}
    std::size_t count() const { return shapes_ ? shapes_->count() : 0; }
    /// Calls visit(index of the move, number of the shape), in the order of the moves.
    template <class Visit>
    void for_each(const Go<N>& game, std::span<const Move> moves, Visit&& visit) {
        if (!shapes_) return;
        watcher_->look_at(game);
        for (std::size_t i = 0; i < moves.size(); ++i) {
            if (moves[i] == Move::pass()) continue;
            const std::uint32_t shape = watcher_->largest(*shapes_, moves[i].point, game.to_play());
            if (shape != GoShapes::none) visit(i, shape);
        }
    }

private:
    std::shared_ptr<const GoShapes> shapes_;
    std::unique_ptr<ShapeWatcher<N>> watcher_;  // none without shapes: it is large
};

/// Finds the features of moves: the game's own and, numbered after them, shapes. One a thread: it keeps up with the
/// board.
template <class G>
class FeatureFinder {
public:
    using Move = typename G::Move;

    explicit FeatureFinder(const std::shared_ptr<const GoShapes>& shapes = nullptr) : shapes_(shapes) {}

    std::size_t count() const { return own_count() + shapes_.count(); }

    /// Puts the product of the features' strengths of each move into `strengths`.
    void multiply(const G& game, const Context<G>& context, std::span<const Move> moves, const float* by_feature,
                  float* strengths) {
        MoveFeatures<G>::visit(game, context, moves, StrengthSink(by_feature, strengths));
        const float* by_shape = by_feature + own_count();
        shapes_.for_each(game, moves, [&](std::size_t move, std::size_t shape) { strengths[move] *= by_shape[shape]; });
    }
    /// The features of each move.
    const FeatureLists& list(const G& game, const Context<G>& context, std::span<const Move> moves) {
        own_.features.clear();
        own_.ends.clear();
        MoveFeatures<G>::visit(game, context, moves, ListSink(own_));
        if (shapes_.count() == 0) return own_;
        shape_of_.assign(moves.size(), GoShapes::none);
        shapes_.for_each(game, moves, [&](std::size_t move, std::uint32_t shape) { shape_of_[move] = shape; });
        all_.features.clear();
        all_.ends.clear();
        for (std::size_t move = 0; move < moves.size(); ++move) {
            const auto own = own_.of(move);
            all_.features.insert(all_.features.end(), own.begin(), own.end());
            if (shape_of_[move] != GoShapes::none)
                all_.features.push_back(static_cast<std::uint16_t>(own_count() + shape_of_[move]));
            all_.ends.push_back(static_cast<std::uint32_t>(all_.features.size()));
        }
        return all_;
    }

private:
    static std::size_t own_count() { return MoveFeatures<G>::all().size(); }

    ShapeFinder<G> shapes_;
    FeatureLists own_;
    FeatureLists all_;
    std::vector<std::uint32_t> shape_of_;
};

/// How good moves of G look by their features.
template <class G>
class MoveStrengths final : public MoveModel<G> {
public:
    using Move = typename G::Move;

    /// With the default strengths.
    MoveStrengths() : MoveStrengths(default_strengths()) {}
    /// Pre: one positive strength a feature, in the order of MoveFeatures<G>::all(), then one a shape.
    explicit MoveStrengths(std::vector<float> strengths, std::shared_ptr<const GoShapes> shapes = nullptr)
        : MoveStrengths(std::make_shared<const std::vector<float>>(std::move(strengths)), std::move(shapes)) {
        assert(strengths_->size() == finder_.count());
    }

    void weigh(const G& game, const Context<G>& context, std::span<const Move> moves,
               std::span<float> strengths) override {
        assert(strengths.size() >= moves.size());
        finder_.multiply(game, context, moves, strengths_->data(), strengths.data());
    }
    std::optional<Move> draw(const G& game, const Context<G>& context, Rng& rng) override {
        if constexpr (draws_quickly<G>)
            return draw_(game, context, rng);
        else
            return MoveModel<G>::draw(game, context, rng);
    }
    /// Adds the game's own features of each move to `lists`. Pre: the moves are legal.
    static void list(const G& game, const Context<G>& context, std::span<const Move> moves, FeatureLists& lists) {
        MoveFeatures<G>::visit(game, context, moves, ListSink(lists));
    }
    std::unique_ptr<MoveModel<G>> clone() const override {
        return std::unique_ptr<MoveModel<G>>(new MoveStrengths(strengths_, shapes_));
    }
    const std::vector<float>& strengths() const { return *strengths_; }

private:
    MoveStrengths(std::shared_ptr<const std::vector<float>> strengths, std::shared_ptr<const GoShapes> shapes)
        : strengths_(std::move(strengths)), shapes_(std::move(shapes)), finder_(shapes_), draw_(*strengths_) {}
    static std::vector<float> default_strengths() {
        std::vector<float> strengths;
        for (const Feature& feature : MoveFeatures<G>::all()) strengths.push_back(feature.strength);
        return strengths;
    }

    std::shared_ptr<const std::vector<float>> strengths_;
    std::shared_ptr<const GoShapes> shapes_;
    FeatureFinder<G> finder_;
    MoveDraw<G> draw_;
};

}  // namespace hyoka::strengths
