// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/any_search.h"
#include "search/difficulty.h"
#include "search/leaves.h"
#include "search/options.h"
#include "search/self_play.h"
#include "strengths/go_shapes.h"

/// From plain options and the models that a search is given to a search.
namespace hyoka::search {

/// Each may be null: the built-in one is taken where one is needed.
struct GivenModels {
    std::shared_ptr<Model> evaluation;       // a StaticEvaluation<G>: for alpha-beta, priors of nodes, cut playouts
    std::shared_ptr<Model> leaves;           // a LeafEvaluator<G>, in the place of playouts
    std::shared_ptr<Model> prior_strengths;  // MoveModel<G>s
    std::shared_ptr<Model> widening_strengths;
    std::shared_ptr<Model> playout_strengths;
    std::shared_ptr<const Book> book;
    bool slow = false;  // asking one takes so long that the clock is read after every simulation
};

/// Components of a tree search.
struct TreeSearcher {
    UctOptions options;
    GivenModels models;
};

/// The searches and models of G. Declared here for all who only use them; `assembly_impl.h` has the insides, and each
/// game is instantiated in a file of its own.
template <class G>
struct Assembly {
    static std::unique_ptr<AnyTreeSearch> tree_search(const UctOptions& options, const GivenModels& models);
    static std::unique_ptr<AnyAlphaBeta> alpha_beta(const AlphaBetaOptions& options, const GivenModels& models);
    static std::unique_ptr<AnyMonteCarlo> monte_carlo(const MonteCarloOptions& options, const GivenModels& models);

    /// Playouts that choose as the options say; `cutoff` and `scale` are not for them.
    static std::unique_ptr<AnyPlayouts> playouts(const PlayoutOptions& options, const GivenModels& models);

    /// Opening and ending weight of each term in turn; none: the built-in ones.
    static std::shared_ptr<evaluation::StaticEvaluation<G>> linear_evaluation(std::span<const float> weights,
                                                                              double scale);
    /// A strength a feature, then one a shape (Go); none: the built-in ones.
    static std::shared_ptr<MoveModel<G>> feature_strengths(std::span<const float> strengths,
                                                           std::shared_ptr<const strengths::GoShapes> shapes);

    /// Two evaluations play each other by alpha-beta, twice from each opening (codes of moves from the usual start):
    /// the results of the one, 1, 0 or -1, moving first and then second. What lasts longer than `max_plies` is drawn. A
    /// result does not depend on the games before it.
    static std::vector<std::int8_t> duels(const AlphaBetaOptions& options, const GivenModels& one,
                                          const GivenModels& other, std::span<const Codes> openings,
                                          const Limits& limits, int max_plies, const std::atomic<bool>& interrupt);

    /// Games number `first`, `first` + 1, ... of tree searches: one with itself, or two with each other; see
    /// play_games. Games of Go have the komi given, if it is a number.
    static PlayedGames self_play(std::span<const TreeSearcher> players, std::span<const double> komi,
                                 std::uint64_t first, const SelfPlayPlan& plan, const std::atomic<bool>& interrupt);

    /// See best_move_changes.
    static std::vector<BestMoveChange> best_move_changes(std::span<const G> positions,
                                                         std::span<const typename G::Move> experts,
                                                         const AlphaBetaOptions& options, const GivenModels& models,
                                                         int depths, unsigned threads,
                                                         const std::atomic<bool>* interrupt);
};

}  // namespace hyoka::search
