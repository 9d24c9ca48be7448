// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/bind_game.h"
#include "bindings/shared_object.h"
#include "search/assembly.h"

namespace hyoka::bindings {

/// The root moves to choose among; all if not given.
using Only = std::optional<nb::typed<nb::sequence, nb::object>>;

/// A game as its searches in Python need it: what crosses between the two, and how searches and models are made.
class GameFace {
public:
    virtual ~GameFace() = default;
    /// Whether searches must hold the interpreter's lock.
    virtual bool needs_lock() const = 0;
    /// The line that a search starts from.
    virtual std::shared_ptr<search::AnyLine> line(nb::handle root) const = 0;
    /// Throws IllegalMoveError.
    virtual search::Codes codes(const search::AnyLine& root, const Only& only) const = 0;
    /// A line of play as Python sees it; ends where a move isn't legal.
    virtual nb::list moves(const search::AnyLine& root, std::span<const std::uint16_t> codes) const = 0;

    virtual std::unique_ptr<search::AnyTreeSearch> tree_search(const search::UctOptions& options,
                                                               const search::GivenModels& models) const = 0;
    virtual std::unique_ptr<search::AnyAlphaBeta> alpha_beta(const search::AlphaBetaOptions& options,
                                                             const search::GivenModels& models) const = 0;
    virtual std::unique_ptr<search::AnyMonteCarlo> monte_carlo(const search::MonteCarloOptions& options,
                                                               const search::GivenModels& models) const = 0;
    virtual std::unique_ptr<search::AnyPlayouts> playouts(const search::PlayoutOptions& options,
                                                          const search::GivenModels& models) const = 0;
    virtual std::shared_ptr<Model> linear_evaluation(std::span<const float> weights, double scale) const = 0;
    virtual std::shared_ptr<Model> feature_strengths(std::span<const float> strengths,
                                                     std::shared_ptr<const strengths::GoShapes> shapes) const = 0;
    virtual std::shared_ptr<Model> python_scores(SharedObject function) const = 0;
    virtual std::shared_ptr<Model> python_values(SharedObject function) const = 0;
    virtual std::shared_ptr<Model> python_leaves(SharedObject function, std::size_t batch) const = 0;
};

/// By the game's name; none: games written in Python.
const GameFace& face_of(std::optional<std::string_view> game);

}  // namespace hyoka::bindings
