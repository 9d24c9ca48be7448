// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>

#include "bindings/python_game.h"
#include "bindings/shared_object.h"
#include "search/assembly.h"

/// Models that are functions in Python. What they answer is for the first player.
namespace hyoka::bindings {

/// A position as Python sees it.
template <Game G>
nb::object to_python(const G& game) {
    if constexpr (std::same_as<G, PythonGame>)
        return game.position();
    else
        return nb::cast(game, nb::rv_policy::copy);
}

/// Asks a function about some positions at once. Pre: the interpreter's lock is held.
template <Game G>
nb::object ask_python(const SharedObject& function, const auto& games) {
    nb::list positions;
    for (const G* game : games) positions.append(to_python(*game));
    return function.get()(positions);
}

inline std::vector<double> numbers_of(nb::handle answer, std::size_t count) {
    std::vector<double> numbers;
    if (!nb::hasattr(answer, "__iter__")) throw nb::type_error("an evaluator must give a list of numbers");
    for (const nb::handle number : nb::iter(answer)) numbers.push_back(nb::cast<double>(nb::float_(number)));
    if (numbers.size() != count)
        throw nb::value_error(("the evaluator answered " + std::to_string(numbers.size()) + " numbers where " +
                               std::to_string(count) + " were asked for")
                                  .c_str());
    return numbers;
}

inline double checked_value(double value) {
    if (!(value >= 0 && value <= 1)) throw nb::value_error("a value must be 0 to 1");
    return value;
}

/// Positions to scores, in the game's unit.
template <Game G>
class PythonScores final : public evaluation::StaticEvaluation<G> {
public:
    explicit PythonScores(SharedObject function) : function_(std::move(function)) {}
    int score(const G& game) const override {
        nb::gil_scoped_acquire acquired;
        const double score = numbers_of(ask_python<G>(function_, std::array{&game}), 1)[0];
        if (std::isnan(score)) throw nb::value_error("a score must be a number");
        return static_cast<int>(std::lround(std::clamp(score, -1e6, 1e6)));
    }
    double scale() const override { return 1; }

private:
    SharedObject function_;
};

/// Positions to values, 0 to 1; where a score is wanted, the one that the sigmoid makes this value of.
template <Game G>
class PythonValues final : public evaluation::StaticEvaluation<G> {
public:
    explicit PythonValues(SharedObject function) : function_(std::move(function)) {}
    int score(const G& game) const override {
        const double inside = std::clamp(ask(game), 1e-9, 1 - 1e-9);
        return static_cast<int>(std::lround(own_scale * std::log(inside / (1 - inside))));
    }
    double value(const G& game, double) const override { return ask(game); }
    double scale() const override { return own_scale; }

private:
    static constexpr double own_scale = 1000;
    double ask(const G& game) const {
        nb::gil_scoped_acquire acquired;
        return checked_value(numbers_of(ask_python<G>(function_, std::array{&game}), 1)[0]);
    }
    SharedObject function_;
};

/// Evaluates leaves in batches: values, or a pair of these and a sequence of strengths for the legal moves of each
/// position.
template <Game G>
class PythonLeaves final : public search::LeafEvaluator<G> {
public:
    PythonLeaves(SharedObject function, std::size_t batch) : function_(std::move(function)), batch_(batch) {}
    void evaluate(std::span<search::Leaf<G>> leaves) override {
        nb::gil_scoped_acquire acquired;
        std::vector<const G*> games;
        for (const auto& leaf : leaves) games.push_back(leaf.game);
        const nb::object answer = ask_python<G>(function_, games);
        const bool pair =
            nb::isinstance<nb::tuple>(answer) && nb::len(answer) == 2 && nb::hasattr(answer[0], "__len__");
        const auto values = numbers_of(pair ? nb::object(answer[0]) : answer, leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            leaves[i].value = checked_value(values[i]);
            if (!pair) continue;
            const auto strengths = numbers_of(answer[1][i], leaves[i].moves.size());
            for (std::size_t j = 0; j < strengths.size(); ++j) {
                if (!(strengths[j] >= 0)) throw nb::value_error("a strength must not be negative");
                leaves[i].strengths[j] = static_cast<float>(strengths[j]);
            }
        }
    }
    std::size_t batch() const override { return batch_; }
    bool weighs_moves() const override { return true; }
    std::unique_ptr<search::LeafEvaluator<G>> clone() const override {
        return std::make_unique<PythonLeaves>(function_, batch_);
    }

private:
    SharedObject function_;
    std::size_t batch_;
};

}  // namespace hyoka::bindings
