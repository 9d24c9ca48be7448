// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include "search/leaves.h"
#include "search/limits.h"
#include "search/mcts_limits.h"
#include "search/selection.h"
#include "search/statistics.h"
#include "search/tree.h"
#include "search/walk.h"

namespace hyoka::search {

/// Components of a tree search. Null components are omitted.
template <Game G>
struct MctsParts {
    std::unique_ptr<Formula> formula;
    std::unique_ptr<Untried> untried;
    std::unique_ptr<LeafEvaluator<G>> evaluator;
    std::unique_ptr<LeafEvaluator<G>> prior_value;  // may be null; see MctsSettings::prior_visits
    std::unique_ptr<MoveModel<G>> move_priors;      // may be null: moves are tried in random order
    std::unique_ptr<MoveModel<G>> widening;         // may be null: then the priors say which moves join in first
    std::unique_ptr<LeafProver<G>> prover;          // may be null
    std::unique_ptr<LeafEvaluator<G>> judge;        // for minimax; null: what the evaluator says of a new leaf
    std::unique_ptr<RootJudge<G>> root_judge;       // may be null
    std::shared_ptr<const Book> book;               // may be null
    std::optional<Killer> killer;
    std::optional<History> history;
    std::optional<Rave> rave;
};

struct MctsSettings {
    double exploration = 1.0;         // c
    std::uint32_t expand_at = 1;      // visits of a leaf before its children are made
    std::uint32_t prior_visits = 0;   // how many simulations a static evaluation counts as
    bool prior_at_expansion = false;  // all children get it when they are made; else a node when first visited
    bool priors_sum_to_one = false;   // PUCT's P_i; else the greatest is 1, widening's R_i
    std::uint32_t look_every = 16;    // simulations between looks at the clock; fewer where each takes long
    double minimax = 0;               // the share of a child's minimax value beside its mean; 0: none is kept
    bool penalties_multiply = false;  // the root judge's penalties p: X_i (1 - p); else X_i - p
    bool proofs = true;               // results that are certain are backed up and end simulations
    unsigned threads = 1;
    std::uint64_t seed = 0;
    std::size_t memory_bytes = std::size_t{256} << 20;  // or what the moves of a root may take, if that is more
};

/// Monte-Carlo tree search: go down to a leaf, evaluate it, back its value up; again and again.
///
/// Threads share one tree without locks. A simulation counts as a visit from the moment it takes a branch, and so as a
/// loss until its value comes back: the virtual loss. When the memory is full the tree grows no further, and its
/// leaves are evaluated again and again. On one thread the same seed gives the same tree; the playout of the k-th
/// simulation is the one that hyoka.playouts(leaf, 1, seed=seed + k) plays.
template <Game G>
class Mcts {
public:
    using Move = typename G::Move;
    static_assert(G::Move::code_count <= 1 << 16, "the tree keeps moves as 16-bit codes");

    Mcts(MctsParts<G> parts, const MctsSettings& settings)
        : parts_(std::move(parts)),
          settings_(settings),
          tree_(layout_of(parts_, settings), std::max(settings.memory_bytes, room_for_root(parts_, settings))) {
        if (parts_.root_judge) root_penalties_.resize(G::Move::code_count);
        if (parts_.history) history_.emplace(G::Move::code_count);
        tree_.plant(Player::second);
    }

    /// Forgets everything.
    void clear() {
        line_.reset();
        tree_.plant(Player::second);
        simulations_ = 0;
    }
    /// Takes a line as the root. What was found below it in the search before is kept if `reuse` and the line goes on
    /// from that one. Only the moves in `only` are looked at, if there are any.
    void set_root(const Line<G>& line, bool reuse, std::vector<Move> only = {}) {
        if (!reuse || !only.empty() || !only_.empty() || !follow(line)) tree_.plant(other(line.to_play()));
        line_ = line;
        only_ = std::move(only);
        playouts_ = 0;
        depth_ = 0;
        if (history_) history_->clear();
        if (parts_.root_judge)
            for (const Move move : line.legal_moves())
                root_penalties_[move.code()] = static_cast<float>(parts_.root_judge->penalty(line.position(), move));
    }
    /// Searches the root. `interrupt` ends it from outside. Pre: a root is set.
    MctsEnd run(const MctsLimits& limits, const std::atomic<bool>& interrupt) {
        if (line_->outcome()) return MctsEnd::proven;
        Run run(*this, limits, interrupt);
        {
            std::vector<std::jthread> helpers;
            try {
                for (unsigned i = 1; i < settings_.threads; ++i) helpers.emplace_back([&] { work(run); });
            } catch (const std::system_error&) {
                // The machine gives no more threads: those that started do the work.
            }
            work(run);
        }
        if (run.failure.any()) clear();  // visits under way have left their marks
        run.failure.rethrow();
        return run.end;
    }

    // What was found; may be asked by another thread during the search.
    const Tree& tree() const { return tree_; }
    /// None before the first search.
    const std::optional<Line<G>>& line() const { return line_; }
    /// Plies to the root's forced result; unknown where a solver has proven leaves.
    std::optional<int> plies_to_result() const {
        return parts_.prover ? std::nullopt : tree_.plies_to_result(tree_.root());
    }
    std::uint64_t playouts() const { return playouts_.load(std::memory_order_relaxed); }
    int depth() const { return depth_.load(std::memory_order_relaxed); }

private:
    static Layout layout_of(const MctsParts<G>& parts, const MctsSettings& settings) {
        return {.rave = parts.rave.has_value(), .widening = parts.widening != nullptr, .minimax = settings.minimax > 0};
    }
    /// The moves of the root always have room: a search must choose one.
    static std::size_t room_for_root(const MctsParts<G>& parts, const MctsSettings& settings) {
        return 8 * Arena::first_word + Children::bytes(G::max_moves, layout_of(parts, settings));
    }

    /// State shared by the threads of one search.
    struct Run {
        Run(Mcts& mcts, const MctsLimits& what, const std::atomic<bool>& stop)
            : tree(mcts.tree_), playouts(mcts.playouts_), limits(what), interrupt(stop) {}
        const Tree& tree;
        const std::atomic<std::uint64_t>& playouts;
        const MctsLimits limits;
        const std::atomic<bool>& interrupt;
        const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
        std::atomic<std::uint64_t> started{0};
        std::atomic<bool> over{false};
        FirstFailure failure;
        MctsEnd end = MctsEnd::playouts;

        void finish(MctsEnd why) {
            if (!over.exchange(true)) end = why;
        }
        /// Looks at everything that may end the search.
        void look() {
            const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            if (interrupt.load(std::memory_order_relaxed)) finish(MctsEnd::interrupted);
            if (limits.time_s > 0 && elapsed_s >= limits.time_s) finish(MctsEnd::time);
            // A tree that can't grow has as many nodes as it will ever have.
            if (limits.nodes && (tree.expanded() >= limits.nodes || tree.full())) finish(MctsEnd::nodes);
            if (limits.early_stop && tree.best_is_settled(simulations_left(elapsed_s))) finish(MctsEnd::early);
        }
        /// How many simulations are still to come; without a limit nobody knows.
        double simulations_left(double elapsed_s) const {
            const auto done = static_cast<double>(playouts.load(std::memory_order_relaxed));
            double left = std::numeric_limits<double>::infinity();
            if (limits.playouts) left = static_cast<double>(limits.playouts) - done;
            // The rate may rise: some more must be reckoned with.
            if (limits.time_s > 0 && done > 100)
                left = std::min(left, 1.25 * done / std::max(elapsed_s, 1e-6) * (limits.time_s - elapsed_s));
            return left;
        }
    };

    /// A way down the tree and what was found at its end.
    struct Descent {
        explicit Descent(const Line<G>& line) : walk(line) { path.reserve(256); }
        Walk<G> walk;
        std::vector<Node> path;  // from the root
        std::uint64_t seed = 0;
        Proof proof = Proof::none;     // of the last node, found just now
        std::optional<double> value;   // for the first player
        std::optional<double> judged;  // the same for minimax, if it is new
        std::vector<playouts::PlayedMove<G>> played;
        Moves<G> moves;  // of the leaf, where the evaluator rates them
        std::vector<float> strengths;
        bool all_moves = true;  // none was left out by the book or the caller
        bool is_new = false;    // nobody has been at the leaf before
    };

    /// One thread's part in a search, with its own room to work in.
    class Worker {
    public:
        explicit Worker(Mcts& mcts)
            : mcts_(mcts),
              parts_(mcts.parts_),
              settings_(mcts.settings_),
              tree_(mcts.tree_),
              evaluator_(parts_.evaluator->clone()),
              prior_value_(parts_.prior_value ? parts_.prior_value->clone() : nullptr),
              move_priors_(parts_.move_priors ? parts_.move_priors->clone() : nullptr),
              widening_(parts_.widening ? parts_.widening->clone() : nullptr),
              prover_(parts_.prover ? parts_.prover->clone() : nullptr),
              judge_(parts_.judge ? parts_.judge->clone() : nullptr),
              add_{settings_.threads > 1} {
            descents_.reserve(evaluator_->batch());
            for (std::size_t i = 0; i < evaluator_->batch(); ++i) descents_.emplace_back(*mcts.line_);
            if (parts_.killer) move_counts_.resize(G::Move::code_count);
            if (parts_.rave) played_later_.emplace(G::Move::code_count);
        }

        void run(Run& run) {
            while (const std::size_t count = descend_some(run)) {
                evaluate(count);
                for (Descent& descent : std::span(descents_).first(count)) back_up(descent);
                if (is_result(tree_.root().proof())) run.finish(MctsEnd::proven);
            }
        }

    private:
        /// As many descents as the evaluator wants leaves, if the limits allow; 0 when the search is over.
        std::size_t descend_some(Run& run) {
            std::size_t count = 0;
            while (count < descents_.size() && !run.over.load(std::memory_order_relaxed)) {
                const std::uint64_t k = run.started.fetch_add(1, std::memory_order_relaxed);
                if (run.limits.playouts && k >= run.limits.playouts) break;
                if (k % settings_.look_every == 0 && k > 0) run.look();  // one simulation there is, whatever the limits
                if (run.over.load(std::memory_order_relaxed)) break;
                descend(descents_[count++]);
                // As long as the root has no children, all others would end there, too.
                if (evaluator_->weighs_moves() && !tree_.children_of(tree_.root())) break;
            }
            return count;
        }

        void descend(Descent& descent) {
            descent.walk.rewind();
            descent.path.clear();
            descent.played.clear();
            descent.proof = Proof::none;
            descent.value.reset();
            descent.judged.reset();
            descent.is_new = false;
            descent.seed = settings_.seed + mcts_.simulations_.fetch_add(1, std::memory_order_relaxed);
            descent.path.push_back(tree_.root());
            std::uint32_t visits_before = visit(tree_.root());
            while (true) {
                const Node node = descent.path.back();
                if (const Proof known = node.proof(); is_result(known)) {
                    descent.value = for_first(node.mover(), value_of(known));
                    return;
                }
                auto children = tree_.children_of(node);
                if (!children) {
                    if (const auto outcome = descent.walk.outcome())
                        return conclude(descent, proof_of(outcome->result, node.mover()));
                    descent.is_new = visits_before == 0;
                    const bool ripe =
                        visits_before >= settings_.expand_at + own_prior(node) || descent.path.size() == 1;
                    if (ripe && !evaluator_->weighs_moves()) children = expand(descent);
                    if (!children) return;
                }
                const auto chosen = choose(descent, *children);
                if (!chosen) {
                    // All moves are lost. Unless some were left out, that decides the node, here or in another thread.
                    if (children->head().complete) continue;
                    descent.value = for_first(children->head().chooser, 0);
                    return;
                }
                descent.walk.play(Move::from_code(children->move(*chosen)));
                descent.path.push_back({*children, *chosen});
                visits_before = visit(descent.path.back());
            }
        }

        /// How many of a node's visits a static evaluation stands for.
        std::uint32_t own_prior(const Node& node) const {
            if (!prior_value_ || node.visits() <= 1) return 0;
            return settings_.prior_visits;
        }
        std::uint32_t visit(const Node& node) {
            add_(node.siblings.head().visits, 1u);
            return add_(node.siblings.visits(node.index), 1u);
        }
        /// The leaf's result is certain.
        void conclude(Descent& descent, Proof for_mover) {
            if (settings_.proofs) descent.proof = for_mover;
            descent.value = for_first(descent.path.back().mover(), value_of(for_mover));
        }

        void evaluate(std::size_t count) {
            asked_.clear();
            leaves_.clear();
            for (Descent& descent : std::span(descents_).first(count)) {
                if (prover_ && !descent.value && descent.path.size() > 1) prove_leaf(descent);
                if (descent.value) {
                    descent.judged = descent.value;
                    continue;
                }
                asked_.push_back(&descent);
                leaves_.push_back({.game = &descent.walk.game(),
                                   .context = descent.walk.context(),
                                   .rng = Rng::for_task(descent.seed, 0),
                                   .played = parts_.rave ? &descent.played : nullptr,
                                   .moves = {},
                                   .strengths = {}});
                if (evaluator_->weighs_moves()) {
                    descent.moves = moves_at(descent);
                    descent.strengths.assign(descent.moves.size(), 1.0f);
                    leaves_.back().moves = {descent.moves.begin(), descent.moves.end()};
                    leaves_.back().strengths = descent.strengths;
                }
            }
            if (leaves_.empty()) return;
            if (prior_value_ && !settings_.prior_at_expansion) give_priors();
            evaluator_->evaluate(leaves_);
            for (std::size_t i = 0; i < leaves_.size(); ++i) {
                asked_[i]->value = asked_[i]->judged = leaves_[i].value;
                if (evaluator_->weighs_moves()) make_children(*asked_[i], asked_[i]->moves, asked_[i]->strengths);
            }
            if (judge_) judge_new_leaves();
        }

        void judge_new_leaves() {
            new_leaves_.clear();
            for (std::size_t i = 0; i < leaves_.size(); ++i)
                if (needs_judge(*asked_[i])) new_leaves_.push_back(leaves_[i]);
            if (new_leaves_.empty()) return;
            judge_->evaluate(new_leaves_);
            auto evaluated = new_leaves_.begin();
            for (Descent* descent : asked_)
                if (needs_judge(*descent)) descent->judged = (evaluated++)->value;
        }
        static bool needs_judge(const Descent& descent) {
            const Node leaf = descent.path.back();
            return leaf.siblings.minimax(leaf.index).load(std::memory_order_relaxed) == Children::unknown;
        }

        void prove_leaf(Descent& descent) {
            const Proof found = prover_->prove(descent.walk.game());
            if (!is_result(found)) return;
            const bool same = descent.walk.game().to_play() == descent.path.back().mover();
            conclude(descent, same ? found : for_other(found));
        }

        /// A node met for the first time starts as if it had been simulated some times with the evaluation's value.
        void give_priors() {
            new_leaves_.clear();
            for (std::size_t i = 0; i < leaves_.size(); ++i)
                if (asked_[i]->is_new && asked_[i]->path.size() > 1) new_leaves_.push_back(leaves_[i]);
            if (new_leaves_.empty()) return;
            prior_value_->evaluate(new_leaves_);
            auto evaluated = new_leaves_.begin();
            for (const Descent* descent : asked_) {
                if (!descent->is_new || descent->path.size() == 1) continue;
                const Node leaf = descent->path.back();
                const std::uint32_t n = settings_.prior_visits;
                add_(leaf.siblings.visits(leaf.index), n);
                add_(leaf.siblings.head().visits, n);
                add_(leaf.siblings.total(leaf.index), n * for_first(leaf.mover(), (evaluated++)->value));
            }
        }

        void back_up(Descent& descent) {
            for (const Node& node : descent.path)
                add_(node.siblings.total(node.index), for_first(node.mover(), *descent.value));
            if (settings_.minimax > 0) back_up_minimax(descent);
            if (parts_.killer || mcts_.history_) update_best_moves(descent.path);
            if (parts_.rave) played_later_->back_up(tree_, descent.path, descent.played, *descent.value, add_);
            if (is_result(descent.proof)) tree_.prove(descent.path, descent.proof);
            mcts_.playouts_.fetch_add(1, std::memory_order_relaxed);
            const int depth = static_cast<int>(descent.path.size()) - 1;
            if (depth > mcts_.depth()) mcts_.depth_.store(depth, std::memory_order_relaxed);
        }

        /// The leaf's evaluation, if it has none yet or a certain one now, and the best of their children for all
        /// above. Moves that were never tried are taken to be worth what the position itself is.
        void back_up_minimax(const Descent& descent) {
            const Node leaf = descent.path.back();
            auto& of_leaf = leaf.siblings.minimax(leaf.index);
            if (of_leaf.load(std::memory_order_relaxed) == Children::unknown || is_result(descent.proof))
                for (auto* value : {&of_leaf, &leaf.siblings.evaluation(leaf.index)})
                    value->store(static_cast<float>(for_first(leaf.mover(), *descent.judged)),
                                 std::memory_order_relaxed);
            for (std::size_t above = descent.path.size() - 1; above-- > 0;) {
                const Node node = descent.path[above];
                const Children children = descent.path[above + 1].siblings;
                const std::uint32_t opened = children.head().opened.load(std::memory_order_relaxed);
                const bool same = node.mover() == children.head().chooser;
                float best = Children::unknown;
                if (const float own = node.siblings.evaluation(node.index).load(std::memory_order_relaxed);
                    own != Children::unknown && opened < children.count())
                    best = same ? own : 1 - own;
                for (std::uint32_t i = 0; i < opened; ++i)
                    best = std::max(best, children.minimax(i).load(std::memory_order_relaxed));
                if (best == Children::unknown) continue;
                node.siblings.minimax(node.index).store(same ? best : 1 - best, std::memory_order_relaxed);
            }
        }

        /// Keeps the most visited child of every node known.
        void update_best_moves(std::span<const Node> path) {
            for (std::size_t i = 1; i < path.size(); ++i) {
                auto& head = path[i].siblings.head();
                const Node former{path[i].siblings, head.best.load(std::memory_order_relaxed)};
                const bool is_new = path[i].visits() > former.visits();
                if (is_new) head.best.store(path[i].index, std::memory_order_relaxed);
                if (mcts_.history_)
                    mcts_.history_->note(path[i].mover(), path[i].move(), is_new || former.index == path[i].index,
                                         add_);
                // What is best at this node may be the killer of the node's siblings.
                if (is_new || head.visits.load(std::memory_order_relaxed) <= 1 + settings_.prior_visits)
                    path[i - 1].siblings.head().killer_stale.store(true, std::memory_order_relaxed);
            }
        }

        /// The legal moves, as far as the book or the caller allow.
        Moves<G> moves_at(Descent& descent) const {
            const bool at_root = descent.path.size() == 1;
            // Superko is asked about at once where a move must be chosen; below, when a move is first tried.
            Moves<G> moves = at_root ? mcts_.line_->legal_moves() : descent.walk.game().legal_moves();
            const std::size_t count = moves.size();
            const auto keep = [&](auto&& wanted) {
                Moves<G> kept;
                for (const Move move : moves)
                    if (wanted(move)) kept.push_back(move);
                if (!kept.empty()) moves = kept;
            };
            if (at_root && !mcts_.only_.empty())
                keep([&](Move move) {
                    return std::find(mcts_.only_.begin(), mcts_.only_.end(), move) != mcts_.only_.end();
                });
            else if (parts_.book)
                if (const auto page = parts_.book->find(descent.walk.game().hash()); page != parts_.book->end())
                    keep([&](Move move) {
                        return std::find(page->second.begin(), page->second.end(), move.code()) != page->second.end();
                    });
            descent.all_moves = moves.size() == count;
            return moves;
        }

        std::optional<Children> expand(Descent& descent) {
            const Moves<G> moves = moves_at(descent);
            weights_.assign(moves.size(), 1.0f);
            if (move_priors_)
                move_priors_->weigh(descent.walk.game(), descent.walk.context(), {moves.begin(), moves.end()},
                                    weights_);
            return make_children(descent, moves, weights_);
        }

        std::optional<Children> make_children(const Descent& descent, const Moves<G>& moves,
                                              std::span<const float> strengths) {
            return tree_.grow(descent.path.back(), static_cast<std::uint32_t>(moves.size()),
                              descent.walk.game().to_play(), [&](const Children& made) {
                                  fill(descent, made, moves, strengths);
                                  made.head().complete = descent.all_moves;
                                  if (prior_value_ && settings_.prior_at_expansion) evaluate_children(descent, made);
                                  // All-moves-as-first statistics tell of children that were never tried, too.
                                  if (parts_.rave) made.head().opened.store(made.count(), std::memory_order_relaxed);
                              });
        }

        /// Puts the moves in the order in which they will be tried: the strongest first, equals at random.
        void fill(const Descent& descent, const Children& made, const Moves<G>& moves,
                  std::span<const float> strengths) {
            Rng rng = Rng::for_task(descent.seed, 1);
            order_.resize(moves.size());
            for (std::uint32_t i = 0; i < moves.size(); ++i) {
                const std::uint32_t j = rng.below(i + 1);
                order_[i] = order_[j];
                order_[j] = i;
            }
            std::span<const float> promises = strengths;
            if (widening_) {
                promises_.assign(moves.size(), 1.0f);
                widening_->weigh(descent.walk.game(), descent.walk.context(), {moves.begin(), moves.end()}, promises_);
                promises = promises_;
            }
            if (move_priors_ || widening_ || evaluator_->weighs_moves())
                std::stable_sort(order_.begin(), order_.end(),
                                 [&](std::uint32_t a, std::uint32_t b) { return promises[a] > promises[b]; });
            double unit = strengths.empty() ? 1 : *std::max_element(strengths.begin(), strengths.end());
            if (settings_.priors_sum_to_one) {
                unit = 0;
                for (const float strength : strengths) unit += strength;
            }
            for (std::size_t i = 0; i < order_.size(); ++i) {
                made.move(i) = static_cast<std::uint16_t>(moves[order_[i]].code());
                made.prior(i) = unit > 0 ? static_cast<float>(strengths[order_[i]] / unit) : 0;
                // The strongest come first, so that the first is the greatest.
                if (widening_)
                    made.promise(i) = promises[order_[0]] > 0 ? promises[order_[i]] / promises[order_[0]] : 0;
            }
        }

        /// Every child starts as if it had been simulated some times with the evaluation's value.
        void evaluate_children(const Descent& descent, const Children& made) {
            std::vector<G> games(made.count(), descent.walk.game());
            std::vector<Leaf<G>> leaves(made.count());
            for (std::size_t i = 0; i < games.size(); ++i) {
                const Move move = Move::from_code(made.move(i));
                games[i].play(move);
                leaves[i].game = &games[i];
                leaves[i].context = descent.walk.context().after(move);
            }
            prior_value_->evaluate(leaves);
            const std::uint32_t n = settings_.prior_visits;
            for (std::size_t i = 0; i < games.size(); ++i) {
                made.visits(i).store(n, std::memory_order_relaxed);
                made.total(i).store(n * for_first(made.head().chooser, leaves[i].value), std::memory_order_relaxed);
            }
            made.head().visits.store(n * made.count(), std::memory_order_relaxed);
            made.head().opened.store(made.count(), std::memory_order_relaxed);
        }

        /// The child that deserves this visit; none if all are decided.
        std::optional<std::uint32_t> choose(const Descent& descent, const Children& children) {
            auto& head = children.head();
            while (true) {
                const std::uint32_t opened = head.opened.load(std::memory_order_relaxed);
                const bool more = opened < children.count();
                std::optional<std::uint32_t> best;
                double urgency = 0;
                if (!more || !parts_.untried->comes_first()) best = most_urgent(descent, children, opened, urgency);
                if (more) {
                    const double n = head.visits.load(std::memory_order_relaxed);
                    const double node_mean = for_chooser(descent.path.back(), head.chooser);
                    if (!best || parts_.untried->urgency(n, children.promise(opened), node_mean) > urgency) {
                        std::uint32_t expected = opened;
                        if (!head.opened.compare_exchange_strong(expected, opened + 1, std::memory_order_relaxed))
                            continue;  // another thread has just taken it
                        best = opened;
                    }
                }
                if (!best) return std::nullopt;
                const Node child{children, *best};
                const bool untried = child.visits() == 0 || (prior_value_ && !tree_.children_of(child));
                if (!untried || !descent.walk.is_forbidden(Move::from_code(child.move()))) return best;
                tree_.forbid(descent.path, child);
            }
        }

        /// Value of a node for its side to move, without the simulation in progress.
        double for_chooser(const Node& node, Player chooser) const {
            const double total = node.siblings.total(node.index).load(std::memory_order_relaxed);
            const std::uint32_t visits = node.visits() - 1;
            const double mean = with_minimax(visits > 0 ? total / visits : 0.5, node.siblings, node.index);
            return node.mover() == chooser ? mean : 1 - mean;
        }

        /// A mean blended with the minimax value, where that is known (Lanctot et al. 2014: implicit minimax).
        double with_minimax(double mean, const Children& children, std::uint32_t i) const {
            if (settings_.minimax <= 0) return mean;
            const float minimax = children.minimax(i).load(std::memory_order_relaxed);
            if (minimax == Children::unknown) return mean;
            return (1 - settings_.minimax) * mean + settings_.minimax * static_cast<double>(minimax);
        }

        /// The child with the greatest urgency among the first `opened`, decided ones aside.
        std::optional<std::uint32_t> most_urgent(const Descent& descent, const Children& children, std::uint32_t opened,
                                                 double& urgency) {
            auto& head = children.head();
            candidates_.resize(opened);
            for (std::uint32_t i = 0; i < opened; ++i) {
                candidates_.visits[i] = children.visits(i).load(std::memory_order_relaxed);
                candidates_.means[i] = children.total(i).load(std::memory_order_relaxed);
                candidates_.priors[i] = children.prior(i);
                candidates_.explorations[i] = settings_.exploration;
            }
            for (std::uint32_t i = 0; i < opened; ++i) candidates_.means[i] /= std::max(candidates_.visits[i], 1.0);
            if (parts_.rave) {
                const double node_mean = for_chooser(descent.path.back(), head.chooser);
                mix_in(*parts_.rave, children, parts_.untried->unknown(node_mean), candidates_);
            }
            if (settings_.minimax > 0)
                for (std::uint32_t i = 0; i < opened; ++i)
                    candidates_.means[i] = with_minimax(candidates_.means[i], children, i);
            if (parts_.root_judge && descent.path.size() == 1)
                for (std::uint32_t i = 0; i < opened; ++i) {
                    const auto penalty = static_cast<double>(mcts_.root_penalties_[children.move(i)]);
                    candidates_.means[i] -= settings_.penalties_multiply ? penalty * candidates_.means[i] : penalty;
                }
            if (mcts_.history_)
                for (std::uint32_t i = 0; i < opened; ++i)
                    candidates_.explorations[i] += std::max(
                        0.0, mcts_.history_->share(head.chooser, children.move(i)) - parts_.history->threshold);
            if (parts_.killer)
                if (const auto killer = tree_.killer_of(descent.path.back(), move_counts_))
                    for (std::uint32_t i = 0; i < opened; ++i)
                        if (children.move(i) == *killer) candidates_.explorations[i] = parts_.killer->exploration;
            parts_.formula->judge(candidates_.view(head.visits.load(std::memory_order_relaxed), opened));

            std::optional<std::uint32_t> best;
            const bool some_decided = head.undecided.load(std::memory_order_relaxed) < children.count();
            for (std::uint32_t i = 0; i < opened; ++i) {
                if (best && candidates_.urgencies[i] <= urgency) continue;
                if (some_decided) {
                    const Proof proof = children.proof(i).load(std::memory_order_relaxed);
                    if (proof == Proof::lost || proof == Proof::forbidden) continue;
                }
                best = i;
                urgency = candidates_.urgencies[i];
            }
            return best;
        }

        Mcts& mcts_;
        const MctsParts<G>& parts_;
        const MctsSettings& settings_;
        Tree& tree_;
        std::unique_ptr<LeafEvaluator<G>> evaluator_;
        std::unique_ptr<LeafEvaluator<G>> prior_value_;
        std::unique_ptr<MoveModel<G>> move_priors_;
        std::unique_ptr<MoveModel<G>> widening_;
        std::unique_ptr<LeafProver<G>> prover_;
        std::unique_ptr<LeafEvaluator<G>> judge_;
        const Adder add_;
        std::vector<Descent> descents_;
        std::vector<Descent*> asked_;
        std::vector<Leaf<G>> leaves_;
        std::vector<Leaf<G>> new_leaves_;
        std::vector<std::uint32_t> order_;
        std::vector<float> weights_;
        std::vector<float> promises_;
        CandidateColumns candidates_;
        std::vector<std::uint16_t> move_counts_;
        std::optional<PlayedLater> played_later_;
    };

    void work(Run& run) {
        run.failure.guard([&] { Worker(*this).run(run); }, run.over);
    }

    /// Whether the tree could go on from a line that continues the one before.
    bool follow(const Line<G>& line) {
        if (!line_ || !(line_->start() == line.start())) return false;
        const auto before = line_->moves();
        const auto now = line.moves();
        if (now.size() < before.size() || !std::equal(before.begin(), before.end(), now.begin())) return false;
        std::vector<std::uint16_t> codes;
        for (const Move move : now.subspan(before.size())) codes.push_back(static_cast<std::uint16_t>(move.code()));
        return tree_.follow(codes);
    }

    MctsParts<G> parts_;
    MctsSettings settings_;
    Tree tree_;
    std::optional<Line<G>> line_;
    std::vector<Move> only_;
    std::optional<HistoryTable> history_;
    std::vector<float> root_penalties_;          // by code of a move
    std::atomic<std::uint64_t> simulations_{0};  // since everything was forgotten
    std::atomic<std::uint64_t> playouts_{0};     // of this search
    std::atomic<int> depth_{0};
};

}  // namespace hyoka::search
