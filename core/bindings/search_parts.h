// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/run_search.h"
#include "bindings/search_options.h"
#include "evaluation/blokus_duo.h"
#include "evaluation/chess.h"
#include "evaluation/go.h"
#include "evaluation/othello.h"
#include "evaluation/shared.h"
#include "evaluation/shogi.h"
#include "playouts/by_strength.h"
#include "playouts/cut.h"
#include "playouts/go_light.h"
#include "playouts/mixed.h"
#include "playouts/uniform.h"
#include "records/replay.h"
#include "search/mcts.h"
#include "search/provers.h"
#include "strengths/blokus_duo.h"
#include "strengths/chess.h"
#include "strengths/go.h"
#include "strengths/othello.h"
#include "strengths/shogi.h"

/// From options to the parts of a search.
namespace hyoka::bindings {

/// A position as Python sees it.
template <Game G>
nb::object to_python(const G& game) {
    if constexpr (Native<G>)
        return nb::cast(game, nb::rv_policy::copy);
    else
        return game.position();
}

/// Asks an evaluator written in Python about some positions at once; what it answers is for the first player. Pre: the
/// interpreter's lock is held.
template <Game G>
nb::object ask_python(const SharedObject& evaluator, const auto& games) {
    nb::list positions;
    for (const G* game : games) positions.append(to_python(*game));
    return evaluator.get()(positions);
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

/// A static evaluation written in Python: one score a position, in the game's unit.
template <Game G>
struct PythonScore {
    SharedObject evaluator;
    int score(const G& game) const {
        nb::gil_scoped_acquire acquired;
        const double score = numbers_of(ask_python<G>(evaluator, std::array{&game}), 1)[0];
        if (std::isnan(score)) throw nb::value_error("a score must be a number");
        return static_cast<int>(std::lround(std::clamp(score, -1e6, 1e6)));
    }
};

/// One that gives values, 0 to 1, turned to the scores that the sigmoid makes these values of.
template <Game G>
struct PythonValue {
    static constexpr double scale = 1000;
    SharedObject evaluator;
    int score(const G& game) const {
        nb::gil_scoped_acquire acquired;
        const double value = numbers_of(ask_python<G>(evaluator, std::array{&game}), 1)[0];
        if (!(value >= 0 && value <= 1)) throw nb::value_error("a value must be 0 to 1");
        const double inside = std::clamp(value, 1e-9, 1 - 1e-9);
        return static_cast<int>(std::lround(scale * std::log(inside / (1 - inside))));
    }
};

template <Game G>
std::vector<evaluation::Weight> weights_from(const std::vector<float>& flat) {
    std::vector<evaluation::Weight> weights;
    for (std::size_t i = 0; i + 1 < flat.size(); i += 2) weights.push_back({flat[i], flat[i + 1]});
    if (weights.size() != evaluation::Terms<G>::all().size() || flat.size() % 2)
        throw nb::value_error("two weights a term are needed");
    return weights;
}

/// For a search that wants scores (alpha-beta), or one that wants values and turns scores into them.
template <Game G>
evaluation::SharedEvaluation<G> make_evaluation(const EvaluationOptions& options, bool wants_scores) {
    using Shared = evaluation::SharedEvaluation<G>;
    if (options.python)
        return wants_scores ? Shared::of(PythonScore<G>{options.python}) : Shared::of(PythonValue<G>{options.python});
    if constexpr (Native<G>) {
        using Linear = evaluation::LinearEvaluation<G>;
        return Shared::of(options.weights.empty() ? Linear() : Linear(weights_from<G>(options.weights)));
    } else {
        return {};
    }
}

template <Game G>
double scale_of(const EvaluationOptions& options) {
    if (options.python) return PythonValue<G>::scale;
    if (options.scale > 0) return options.scale;
    if constexpr (Native<G>) return evaluation::Terms<G>::scale;
    return 1;
}

template <Game G>
strengths::MoveStrengths<G> make_strengths(const std::vector<float>& strengths) {
    if (strengths.empty()) return {};
    if (strengths.size() != strengths::MoveFeatures<G>::all().size()) throw nb::value_error("one strength a feature");
    return strengths::MoveStrengths<G>(strengths);
}

template <Game G>
std::unique_ptr<playouts::StepwisePlayout<G>> make_stepwise(const PlayoutOptions& options) {
    using namespace playouts;
    std::unique_ptr<StepwisePlayout<G>> policy;
    if (options.policy == "uniform") policy = std::make_unique<UniformPlayout<G>>();
    if constexpr (Native<G>)
        if (options.policy == "rated")
            policy = std::make_unique<StrengthPlayout<G>>(make_strengths<G>(options.ratings));
    if constexpr (is_go<G>)
        if (options.policy == "light") policy = std::make_unique<GoLightPlayout<G::size>>();
    if (!policy) throw nb::value_error(("this game has no playouts called " + options.policy).c_str());
    if (options.epsilon > 0 && options.policy != "uniform")
        policy = std::make_unique<MixedPlayout<G>>(options.epsilon, std::move(policy));
    return policy;
}

template <Game G>
std::unique_ptr<playouts::PlayoutPolicy<G>> make_playout(const PlayoutOptions& options,
                                                         const EvaluationOptions& evaluation) {
    auto policy = make_stepwise<G>(options);
    if (options.cut < 0) return policy;
    using Evaluation = evaluation::SharedEvaluation<G>;
    return std::make_unique<playouts::CutPlayout<G, Evaluation>>(
        std::move(policy), make_evaluation<G>(evaluation, false), options.cut, scale_of<G>(evaluation));
}

/// Evaluates leaves in batches by a Python function: values for the first player, or a pair of these and a sequence of
/// strengths for the legal moves of each position.
template <Game G>
class PythonEvaluator final : public search::LeafEvaluator<G> {
public:
    PythonEvaluator(SharedObject evaluator, std::size_t batch, bool weighs_moves)
        : evaluator_(std::move(evaluator)), batch_(batch), weighs_moves_(weighs_moves) {}
    void evaluate(std::span<search::Leaf<G>> leaves) override {
        nb::gil_scoped_acquire acquired;
        std::vector<const G*> games;
        for (const auto& leaf : leaves) games.push_back(leaf.game);
        const nb::object answer = ask_python<G>(evaluator_, games);
        const bool pair = weighs_moves_ && nb::isinstance<nb::tuple>(answer) && nb::len(answer) == 2 &&
                          nb::hasattr(answer[0], "__len__");
        const auto values = numbers_of(pair ? nb::object(answer[0]) : answer, leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            if (!(values[i] >= 0 && values[i] <= 1)) throw nb::value_error("a value must be 0 to 1");
            leaves[i].value = values[i];
            if (!pair) continue;
            const auto strengths = numbers_of(answer[1][i], leaves[i].moves.size());
            for (std::size_t j = 0; j < strengths.size(); ++j) {
                if (!(strengths[j] >= 0)) throw nb::value_error("a strength must not be negative");
                leaves[i].strengths[j] = static_cast<float>(strengths[j]);
            }
        }
    }
    std::size_t batch() const override { return batch_; }
    bool weighs_moves() const override { return weighs_moves_; }
    std::unique_ptr<search::LeafEvaluator<G>> clone() const override {
        return std::make_unique<PythonEvaluator>(evaluator_, batch_, weighs_moves_);
    }

private:
    SharedObject evaluator_;
    std::size_t batch_;
    bool weighs_moves_;
};

/// Strengths by the features of moves.
template <Game G>
class FeatureModel final : public search::MoveModel<G> {
public:
    explicit FeatureModel(strengths::MoveStrengths<G> model) : model_(std::move(model)) {}
    void weigh(const G& game, const strengths::Context<G>& context, std::span<const typename G::Move> moves,
               std::span<float> strengths) override {
        model_.weigh(game, context, moves, strengths);
    }
    std::unique_ptr<search::MoveModel<G>> clone() const override { return std::make_unique<FeatureModel>(model_); }

private:
    strengths::MoveStrengths<G> model_;
};

template <Game G>
search::MctsParts<G> make_parts(const MctsOptions& options) {
    using namespace search;
    MctsParts<G> parts;
    const bool puct = options.formula == "puct";
    if (puct)
        parts.formula = std::make_unique<Puct>();
    else if (options.formula == "ucb1-tuned")
        parts.formula = std::make_unique<Ucb1Tuned>();
    else if (options.formula == "ucb1")
        parts.formula = std::make_unique<Ucb1>();
    else
        throw nb::value_error(("no formula " + options.formula).c_str());
    if (options.widening) {
        const auto [d, c, e] = *options.widening;
        parts.untried = std::make_unique<Widening>(Widening::Constants{.d = d, .c = c, .e = e});
    } else if (puct) {
        parts.untried = std::make_unique<TryByPrior>(options.exploration, options.reduction);
    } else {
        parts.untried = std::make_unique<TryAllFirst>();
    }
    if (options.evaluator)
        parts.evaluator = std::make_unique<PythonEvaluator<G>>(
            options.evaluator, static_cast<std::size_t>(std::max(1, options.batch)), true);
    else
        parts.evaluator = std::make_unique<PlayoutEvaluator<G>>(make_playout<G>(options.playout, options.evaluation));
    if (options.prior_visits > 0) {
        if (options.evaluation.python)
            parts.prior = std::make_unique<PythonEvaluator<G>>(options.evaluation.python, 1, false);
        else
            parts.prior = std::make_unique<StaticEvaluator<G, evaluation::SharedEvaluation<G>>>(
                make_evaluation<G>(options.evaluation, false), scale_of<G>(options.evaluation));
    }
    if constexpr (Native<G>)
        if (options.rated && !options.evaluator)
            parts.strengths = std::make_unique<FeatureModel<G>>(make_strengths<G>(options.playout.ratings));
    if constexpr (std::same_as<G, Chess> || std::same_as<G, Shogi>)
        if (options.mate_nodes > 0) parts.prover = std::make_unique<MateProver<G>>(options.mate_nodes);
    if constexpr (std::same_as<G, Othello>)
        if (options.ending_empties > 0) parts.prover = std::make_unique<EndingProver>(options.ending_empties);
    parts.book = options.book;
    if (options.killer) parts.killer = Killer{*options.killer};
    if (options.history) parts.history = History{*options.history};
    if (options.rave) parts.rave = Rave{*options.rave};
    return parts;
}

template <Game G>
search::MctsSettings settings_of(const MctsOptions& options) {
    const bool slow = !Native<G> || options.evaluator || options.evaluation.python || options.mate_nodes > 0 ||
                      options.ending_empties > 0;
    return {.exploration = options.exploration,
            .expand_at = options.expand_at,
            .prior_visits = options.prior_visits,
            .prior_at_expansion = options.prior_at_expansion,
            .priors_sum_to_one = options.formula == "puct",
            .look_every = slow ? 1u : 16u,
            .proofs = options.proofs,
            .threads = options.threads,
            .seed = options.seed,
            .memory_bytes = static_cast<std::size_t>(options.memory_mib * (1 << 20))};
}

}  // namespace hyoka::bindings
