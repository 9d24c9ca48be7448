// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "evaluation/all.h"
#include "games/all.h"
#include "playouts/by_strength.h"
#include "playouts/cutoff.h"
#include "playouts/go_light.h"
#include "playouts/mixed.h"
#include "playouts/uniform.h"
#include "search/alphabeta.h"
#include "search/assembly.h"
#include "search/best_move_change.h"
#include "search/mcts.h"
#include "search/monte_carlo.h"
#include "search/provers.h"
#include "search/quiet.h"
#include "strengths/all.h"

namespace hyoka::search {

/// Casts a model to the type it must have. Throws NotationError if it is of another game or another kind.
template <class Wanted>
std::shared_ptr<Wanted> model_as(const std::shared_ptr<Model>& given) {
    if (!given) return nullptr;
    auto model = std::dynamic_pointer_cast<Wanted>(given);
    if (!model) throw NotationError("a model of another game or of another kind");
    return model;
}

/// The model that was given, or the built-in one. Throws NotationError if the game's moves have no features.
template <Game G>
std::shared_ptr<MoveModel<G>> strengths_or_built_in(const std::shared_ptr<Model>& given) {
    if (auto model = model_as<MoveModel<G>>(given)) return model;
    return Assembly<G>::feature_strengths({}, nullptr);
}

template <Game G>
evaluation::SharedEvaluation<G> evaluation_or_built_in(const GivenModels& models) {
    if (auto given = model_as<evaluation::StaticEvaluation<G>>(models.evaluation))
        return evaluation::SharedEvaluation<G>(std::move(given));
    return evaluation::SharedEvaluation<G>(Assembly<G>::linear_evaluation({}, evaluation::Terms<G>::scale));
}

template <Game G>
std::unique_ptr<playouts::StepwisePlayout<G>> stepwise_playout(const PlayoutOptions& options,
                                                               const GivenModels& models) {
    using namespace playouts;
    std::unique_ptr<StepwisePlayout<G>> policy;
    if (options.policy == "uniform") policy = std::make_unique<UniformPlayout<G>>();
    if (options.policy == "strengths")
        policy = std::make_unique<StrengthPlayout<G>>(strengths_or_built_in<G>(models.playout_strengths)->clone());
    if constexpr (is_go<G>)
        if (options.policy == "light") policy = std::make_unique<GoLightPlayout<G::size>>();
    if (!policy) throw NotationError("this game has no playouts called " + options.policy);
    if (options.epsilon > 0 && options.policy != "uniform")
        policy = std::make_unique<MixedPlayout<G>>(options.epsilon, std::move(policy));
    return policy;
}

/// The refusal of a game whose captures never come to rest.
[[noreturn]] inline void refuse_quiescence() { throw NotationError("this game has no quiescence search"); }

template <Game G>
std::unique_ptr<playouts::PlayoutPolicy<G>> playout_policy(const PlayoutOptions& options, const GivenModels& models) {
    auto policy = stepwise_playout<G>(options, models);
    if (!options.cutoff) return policy;
    using Evaluation = evaluation::SharedEvaluation<G>;
    auto evaluation = evaluation_or_built_in<G>(models);
    const double scale = options.scale.value_or(evaluation.scale());
    if (options.quiescence) {
        if constexpr (Tactical<G>) {
            using Quiet = QuietEvaluation<G, Evaluation>;
            return std::make_unique<playouts::CutoffPlayout<G, Quiet>>(
                std::move(policy), Quiet(std::move(evaluation), leaf_reach), *options.cutoff, scale);
        }
        refuse_quiescence();
    }
    return std::make_unique<playouts::CutoffPlayout<G, Evaluation>>(std::move(policy), std::move(evaluation),
                                                                    *options.cutoff, scale);
}

/// Static evaluation of a position, or its quiescence value.
template <Game G>
std::unique_ptr<LeafEvaluator<G>> position_evaluator(const PlayoutOptions& options, const GivenModels& models) {
    auto evaluation = evaluation_or_built_in<G>(models);
    const double scale = options.scale.value_or(evaluation.scale());
    if (!options.quiescence) return std::make_unique<StaticEvaluator<G>>(std::move(evaluation), scale);
    if constexpr (Tactical<G>) {
        using Quiet = typename QuietEvaluator<G>::Evaluation;
        return std::make_unique<QuietEvaluator<G>>(Quiet(std::move(evaluation), leaf_reach), scale);
    }
    refuse_quiescence();
}

template <Game G>
std::unique_ptr<RootJudge<G>> root_judge(const UctOptions& options) {
    if (!options.root_quiescence) return nullptr;
    if constexpr (Tactical<G>)
        return std::make_unique<RootQuiescence<G>>(options.root_loss == "balance" ? RootLoss::balance
                                                                                  : RootLoss::change);
    refuse_quiescence();
}

template <Game G>
std::unique_ptr<LeafProver<G>> leaf_prover(const UctOptions& options) {
    if constexpr (std::same_as<G, Chess> || std::same_as<G, Shogi>)
        if (options.mate > 0) return std::make_unique<MateProver<G>>(options.mate);
    if constexpr (std::same_as<G, Othello>)
        if (options.ending > 0) return std::make_unique<EndingProver>(options.ending);
    if (options.mate > 0 || options.ending > 0) throw NotationError("this game has no solver for its leaves");
    return nullptr;
}

inline std::unique_ptr<Untried> untried_policy(const UctOptions& options) {
    if (options.widening)
        return std::make_unique<Widening>(
            Widening::Constants{.d = options.widening_d, .c = options.widening_c, .e = options.widening_e});
    if (formula_named(options.formula).uses_priors)
        return std::make_unique<TryByPrior>(options.c.value(), options.reduction);
    return std::make_unique<TryAllFirst>();
}

template <Game G>
MctsParts<G> mcts_parts(const UctOptions& options, const GivenModels& models) {
    MctsParts<G> parts;
    parts.formula = formula_named(options.formula).make();
    parts.untried = untried_policy(options);
    if (const auto leaves = model_as<LeafEvaluator<G>>(models.leaves))
        parts.evaluator = leaves->clone();
    else
        parts.evaluator = std::make_unique<PlayoutEvaluator<G>>(playout_policy<G>(options, models));
    if (options.eval_weight > 0 && !models.leaves)
        parts.evaluator = std::make_unique<MixedEvaluator<G>>(position_evaluator<G>(options, models),
                                                              options.eval_weight, std::move(parts.evaluator));
    if (options.eval_visits > 0) parts.prior_value = position_evaluator<G>(options, models);
    // Where leaves are evaluated at once, that is what minimax backs up.
    if (options.minimax > 0 && !models.leaves && options.cutoff != 0)
        parts.judge = position_evaluator<G>(options, models);
    parts.root_judge = root_judge<G>(options);
    const bool has_features = !strengths::MoveFeatures<G>::all().empty();
    if (options.ordered.value() && !models.leaves && (has_features || models.prior_strengths))
        parts.move_priors = strengths_or_built_in<G>(models.prior_strengths)->clone();
    // Priors and widening with the same strengths share them in the tree.
    if (options.widening && models.widening_strengths && models.widening_strengths != models.prior_strengths)
        parts.widening = model_as<MoveModel<G>>(models.widening_strengths)->clone();
    parts.prover = leaf_prover<G>(options);
    parts.book = models.book;
    if (options.killer) parts.killer = Killer{options.killer_c};
    if (options.history) parts.history = History{options.history_threshold};
    if (options.rave > 0) parts.rave = Rave{options.rave};
    return parts;
}

inline MctsSettings mcts_settings(const UctOptions& options, const GivenModels& models) {
    const bool slow = models.slow || options.mate > 0 || options.ending > 0;
    return {.exploration = options.c.value(),
            .expand_at = options.expand,
            .prior_visits = options.eval_visits,
            .prior_at_expansion = options.eval_when == "expansion",
            .priors_sum_to_one = formula_named(options.formula).uses_priors,
            .look_every = slow ? 1u : 16u,
            .minimax = options.minimax,
            .penalties_multiply = options.root_penalty == "multiply",
            .proofs = options.proofs,
            .threads = options.threads,
            .seed = options.seed,
            .memory_bytes = static_cast<std::size_t>(options.memory * (1 << 20))};
}

template <Game G>
class TreeSearch final : public AnyTreeSearch {
public:
    TreeSearch(const UctOptions& options, const GivenModels& models)
        : mcts_(mcts_parts<G>(options, models), mcts_settings(options, models)),
          reuse_(options.reuse),
          early_(options.early) {}

    void set_root(const AnyLine& line, std::span<const std::uint16_t> only) override {
        mcts_.set_root(line_of<G>(line), reuse_, moves_of<G>(only));
    }
    MctsEnd run(const MctsLimits& limits, const std::atomic<bool>& interrupt) override {
        MctsLimits all = limits;
        all.early_stop = early_;
        return mcts_.run(all, interrupt);
    }
    void clear() override { mcts_.clear(); }
    const Tree& tree() const override { return mcts_.tree(); }
    std::uint64_t playouts() const override { return mcts_.playouts(); }
    int depth() const override { return mcts_.depth(); }
    std::optional<int> plies_to_result() const override { return mcts_.plies_to_result(); }

private:
    Mcts<G> mcts_;
    bool reuse_;
    bool early_;
};

/// Inputs of a position's value that its hash omits.
template <Game G>
std::string rules_of([[maybe_unused]] const G& game) {
    if constexpr (requires { game.komi(); }) return std::to_string(game.komi());
    if constexpr (requires { game.draws(); }) return std::to_string(static_cast<int>(game.draws()));
    if constexpr (requires { game.rules(); })
        return std::to_string(game.rules().declaration) + ' ' + std::to_string(game.rules().ply_limit);
    if constexpr (requires { game.bonus(); }) return std::to_string(game.bonus());
    return {};
}

template <Game G>
class AlphaBetaSearch final : public AnyAlphaBeta {
public:
    AlphaBetaSearch(const AlphaBetaOptions& options, const GivenModels& models)
        : search_(evaluation_or_built_in<G>(models), options.settings()) {}

    CodedResult search(const AnyLine& any, std::span<const std::uint16_t> only, const Limits& limits,
                       const std::atomic<bool>& interrupt,
                       const std::function<void(const CodedIteration&)>& report) override {
        const Line<G>& line = line_of<G>(any);
        // A position's hash leaves out the rules; other rules, other values.
        if (std::string rules = rules_of(line.position()); rules != rules_) {
            search_.clear();
            rules_ = std::move(rules);
        }
        const auto among = moves_of<G>(only);
        SearchOptions<G> options;
        options.among = among;
        options.interrupt = &interrupt;
        options.report = [&](const Iteration<G>& iteration) { report(coded(iteration)); };
        const AlphaBetaResult<G> found = search_.search(line, limits, options);
        CodedResult result;
        result.depth = found.depth;
        result.selective_depth = found.selective_depth;
        result.nodes = found.nodes;
        result.time_s = found.time_s;
        result.permille_full = found.permille_full;
        result.variations = coded(found.variations);
        result.score = found.score;
        for (const auto& iteration : found.iterations) result.iterations.push_back(coded(iteration));
        return result;
    }
    void clear() override { search_.clear(); }

private:
    static std::vector<CodedVariation> coded(const std::vector<Variation<G>>& variations) {
        std::vector<CodedVariation> codes;
        for (const auto& variation : variations) codes.push_back({variation.score, codes_of<G>(variation.moves)});
        return codes;
    }
    static CodedIteration coded(const Iteration<G>& iteration) {
        return {iteration.depth,  iteration.selective_depth, iteration.nodes,
                iteration.time_s, iteration.permille_full,   coded(iteration.variations)};
    }

    AlphaBeta<G, evaluation::SharedEvaluation<G>> search_;
    std::string rules_;  // that the table's values hold for
};

template <Game G>
class MonteCarlo final : public AnyMonteCarlo {
public:
    MonteCarlo(const MonteCarloOptions& options, const GivenModels& models)
        : policy_(playout_policy<G>(options, models)),
          seed_(options.seed),
          threads_(options.threads),
          divide_(options.divide) {}

    std::vector<CodedSample> sample(const AnyLine& any, std::span<const std::uint16_t> only, std::uint64_t first,
                                    std::uint64_t playouts, std::uint64_t a_move, double time_s,
                                    const std::atomic<bool>& interrupt) const override {
        const Line<G>& line = line_of<G>(any);
        auto moves = moves_of<G>(only);
        if (moves.empty()) {
            const auto legal = line.legal_moves();
            moves.assign(legal.begin(), legal.end());
        }
        const std::uint64_t each =
            a_move ? a_move
                   : std::max<std::uint64_t>(playouts / std::max<std::size_t>(moves.size(), 1), playouts ? 1 : 0);
        const bool divided = divide_ && !a_move;
        if (divided) shuffle(moves);  // few get a playout at all: which ones must not depend on how they are listed
        const std::uint64_t count = !each     ? std::numeric_limits<std::uint64_t>::max()
                                    : divided ? each
                                              : each * moves.size();
        std::vector<CodedSample> samples;
        for (const auto& sample :
             sample_moves<G>(line, moves, *policy_, first, count, time_s, seed_, threads_, interrupt))
            samples.push_back(
                {static_cast<std::uint16_t>(sample.move.code()), sample.playouts, sample.value, sample.score});
        return samples;
    }

private:
    void shuffle(std::vector<typename G::Move>& moves) const {
        Rng rng = Rng::for_task(seed_, 1);
        for (std::size_t left = moves.size(); left > 1; --left)
            std::swap(moves[left - 1], moves[rng.below(static_cast<std::uint32_t>(left))]);
    }

    std::unique_ptr<playouts::PlayoutPolicy<G>> policy_;
    std::uint64_t seed_;
    unsigned threads_;
    bool divide_;
};

template <Game G>
class ManyPlayouts final : public AnyPlayouts {
public:
    explicit ManyPlayouts(std::unique_ptr<playouts::StepwisePlayout<G>> policy) : policy_(std::move(policy)) {}

    void fill(std::vector<PlayoutEnd>& ends, const AnyLine& any, std::uint64_t seed, std::optional<int> limit,
              unsigned threads, const std::atomic<bool>& stop) const override {
        const Line<G>& line = line_of<G>(any);
        const auto& moves = line.moves();
        playouts::PlayoutStart<G> start{line.position(), std::nullopt};
        if (!moves.empty()) start.last = moves.back();
        if (moves.size() > 1) start.before_last = moves[moves.size() - 2];
        const int plies = limit.value_or(playout_limit<G>());
        fill_with_playouts(ends, seed, threads, stop, [&] {
            return [&start, plies, policy = policy_->copy()](Rng& rng) {
                const int played = policy->advance(start, rng, nullptr, plies);
                const G& end = policy->reached();
                return PlayoutEnd{end.score(), played, played < plies || end.outcome().has_value()};
            };
        });
    }

private:
    std::unique_ptr<playouts::StepwisePlayout<G>> policy_;
};

template <class G>
std::unique_ptr<AnyTreeSearch> Assembly<G>::tree_search(const UctOptions& options, const GivenModels& models) {
    return std::make_unique<TreeSearch<G>>(options, models);
}
template <class G>
std::unique_ptr<AnyAlphaBeta> Assembly<G>::alpha_beta(const AlphaBetaOptions& options, const GivenModels& models) {
    return std::make_unique<AlphaBetaSearch<G>>(options, models);
}
template <class G>
std::unique_ptr<AnyMonteCarlo> Assembly<G>::monte_carlo(const MonteCarloOptions& options, const GivenModels& models) {
    return std::make_unique<MonteCarlo<G>>(options, models);
}

template <class G>
std::unique_ptr<AnyPlayouts> Assembly<G>::playouts(const PlayoutOptions& options, const GivenModels& models) {
    return std::make_unique<ManyPlayouts<G>>(stepwise_playout<G>(options, models));
}

/// An evaluation linear in its terms, with the scale of its scores.
template <Game G>
class ScaledLinear final : public evaluation::StaticEvaluation<G> {
public:
    ScaledLinear(evaluation::LinearEvaluation<G> linear, double scale) : linear_(std::move(linear)), scale_(scale) {}
    int score(const G& game) const override { return linear_.score(game); }
    double scale() const override { return scale_; }

private:
    evaluation::LinearEvaluation<G> linear_;
    double scale_;
};

template <class G>
std::shared_ptr<evaluation::StaticEvaluation<G>> Assembly<G>::linear_evaluation(std::span<const float> weights,
                                                                                double scale) {
    using Linear = evaluation::LinearEvaluation<G>;
    if (weights.empty()) return std::make_shared<ScaledLinear<G>>(Linear(), scale);
    if (weights.size() != 2 * evaluation::Terms<G>::all().size()) throw NotationError("two weights a term are needed");
    std::vector<evaluation::Weight> pairs;
    for (std::size_t i = 0; i < weights.size(); i += 2) pairs.push_back({weights[i], weights[i + 1]});
    return std::make_shared<ScaledLinear<G>>(Linear(std::move(pairs)), scale);
}

template <class G>
std::shared_ptr<MoveModel<G>> Assembly<G>::feature_strengths(std::span<const float> strengths,
                                                             std::shared_ptr<const strengths::GoShapes> shapes) {
    if (strengths::MoveFeatures<G>::all().empty()) throw NotationError("the moves of this game have no features");
    if (shapes && !is_go<G>) throw NotationError("this game has no shapes of stones");
    if (strengths.empty()) return std::make_shared<strengths::MoveStrengths<G>>();
    if (strengths.size() != strengths::FeatureFinder<G>(shapes).count())
        throw NotationError("one strength a feature is needed");
    return std::make_shared<strengths::MoveStrengths<G>>(std::vector<float>(strengths.begin(), strengths.end()),
                                                         std::move(shapes));
}

template <class G>
std::vector<std::int8_t> Assembly<G>::duels(const AlphaBetaOptions& options, const GivenModels& one,
                                            const GivenModels& other, std::span<const Codes> openings,
                                            const Limits& limits, int max_plies, const std::atomic<bool>& interrupt) {
    using Search = AlphaBeta<G, evaluation::SharedEvaluation<G>>;
    std::array<Search, 2> players = {Search(evaluation_or_built_in<G>(one), options.settings()),
                                     Search(evaluation_or_built_in<G>(other), options.settings())};
    std::vector<std::int8_t> results;
    for (const Codes& opening : openings)
        for (const bool one_first : {true, false}) {
            Line<G> line{G()};
            for (const auto move : moves_of<G>(opening)) {
                if (!line.is_legal(move)) throw IllegalMoveError("an opening with an illegal move " + move.text());
                line.play(move);
            }
            for (Search& player : players) player.clear();
            SearchOptions<G> asked;
            asked.interrupt = &interrupt;
            int plies = 0;
            while (!line.outcome() && plies++ < max_plies && !interrupt) {
                Search& player = players[(line.to_play() == Player::first) == one_first ? 0 : 1];
                line.play(*player.search(line, limits, asked).best());
            }
            const auto over = line.outcome();
            const int result = over ? static_cast<int>(over->result) : 0;
            results.push_back(static_cast<std::int8_t>(one_first ? result : -result));
        }
    return results;
}

template <class G>
PlayedGames Assembly<G>::self_play(std::span<const TreeSearcher> players, std::span<const double> komi,
                                   std::uint64_t first, const SelfPlayPlan& plan, const std::atomic<bool>& interrupt) {
    std::vector<G> starts;
    for ([[maybe_unused]] const double given : komi) {
        starts.emplace_back();
        if constexpr (is_go<G>)
            if (!std::isnan(given)) starts.back() = starts.back().with_komi(given);
    }
    const auto maker = [](const TreeSearcher& player) {
        return [&player](std::uint64_t seed) -> std::unique_ptr<AnyTreeSearch> {
            UctOptions own = player.options;
            own.seed = seed;
            return std::make_unique<TreeSearch<G>>(own, player.models);
        };
    };
    using Make = decltype(maker(players[0]));
    std::vector<Make> makers;
    for (const TreeSearcher& player : players) makers.push_back(maker(player));
    return play_games<G, Make>(makers, starts, first, plan, interrupt);
}

template <class G>
std::vector<BestMoveChange> Assembly<G>::best_move_changes(std::span<const G> positions,
                                                           std::span<const typename G::Move> experts,
                                                           const AlphaBetaOptions& options, const GivenModels& models,
                                                           int depths, unsigned threads,
                                                           const std::atomic<bool>* interrupt) {
    return search::best_move_changes<G>(positions, experts, evaluation_or_built_in<G>(models), options.settings(),
                                        depths, threads, interrupt);
}

}  // namespace hyoka::search
