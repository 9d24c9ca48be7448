// SPDX-License-Identifier: Apache-2.0
// Tree searches of all games with every part and any number of threads: under ThreadSanitizer, and under
// AddressSanitizer with tiny memories. What a tree must be whatever the search was is checked at the end of each.
#include "search/mcts.h"

#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/go.h"
#include "games/othello.h"
#include "games/shogi.h"
#include "playouts/uniform.h"
#include "search/monte_carlo.h"
#include "search/provers.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using namespace search;

/// Strengths that differ from move to move and need no knowledge.
template <Game G>
class CodeStrengths final : public MoveModel<G> {
public:
    void weigh(const G&, const strengths::Context<G>&, std::span<const typename G::Move> moves,
               std::span<float> strengths) override {
        for (std::size_t i = 0; i < moves.size(); ++i)
            strengths[i] = 1 + static_cast<float>(split_mix(moves[i].code()) % 100);
    }
    std::unique_ptr<MoveModel<G>> clone() const override { return std::make_unique<CodeStrengths>(); }
};

/// Evaluates leaves in batches, by their hash; also rates moves.
template <Game G>
class HashEvaluator final : public LeafEvaluator<G> {
public:
    void evaluate(std::span<Leaf<G>> leaves) override {
        for (auto& leaf : leaves) {
            leaf.value = static_cast<double>(split_mix(leaf.game->hash()) >> 11) * 0x1p-53;
            for (std::size_t i = 0; i < leaf.strengths.size(); ++i) leaf.strengths[i] = static_cast<float>(i % 7);
        }
    }
    std::size_t batch() const override { return 4; }
    bool weighs_moves() const override { return true; }
    std::unique_ptr<LeafEvaluator<G>> clone() const override { return std::make_unique<HashEvaluator>(); }
};

template <Game G>
MctsParts<G> make_parts(int variant) {
    MctsParts<G> parts;
    parts.evaluator = std::make_unique<PlayoutEvaluator<G>>(std::make_unique<playouts::UniformPlayout<G>>());
    parts.untried = std::make_unique<TryAllFirst>();
    parts.formula = std::make_unique<Ucb1>();
    switch (variant) {
        case 1: parts.formula = std::make_unique<Ucb1Tuned>(); break;
        case 2:
            parts.move_priors = std::make_unique<CodeStrengths<G>>();
            parts.untried = std::make_unique<Widening>(Widening::Constants{});
            parts.killer = Killer{};
            parts.history = History{};
            break;
        case 3: parts.rave = Rave{}; break;
        case 4:
            parts.formula = std::make_unique<Puct>();
            parts.untried = std::make_unique<TryByPrior>(1.5, 0.1);
            parts.evaluator = std::make_unique<HashEvaluator<G>>();
            break;
        default: break;
    }
    return parts;
}
constexpr int variants = 5;

/// Invariants of every tree when no search is running.
void check_tree(const Tree& tree, std::uint32_t prior_visits, const std::string& what) {
    std::vector<Node> nodes = {tree.root()};
    bool sums = true, values = true, proofs = true;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        const auto children = tree.children_of(nodes[at]);
        if (!children) continue;
        std::uint64_t visits = 0;
        bool all_decided = true, any_won = false;
        for (std::uint32_t i = 0; i < children->count(); ++i) {
            const Node child{*children, i};
            visits += child.visits();
            values &= child.mean() >= 0 && child.mean() <= 1;
            all_decided &= child.proof() != Proof::none;
            any_won |= child.proof() == Proof::won;
            nodes.push_back(child);
        }
        sums &= visits == children->head().visits.load();
        sums &= nodes[at].visits() + prior_visits * children->count() >= visits;
        proofs &= (nodes[at].proof() != Proof::none) || !(all_decided || any_won);
    }
    expect(sums, what + ": visits add up");
    expect(values, what + ": means lie between 0 and 1");
    expect(proofs, what + ": what follows from proofs is proven");
}

template <Game G>
Line<G> random_line(int plies, std::uint64_t seed) {
    Rng rng(seed);
    Line<G> line{G()};
    for (int i = 0; i < plies; ++i) {
        const auto move = line.random_move(rng);
        if (!move) break;
        line.play(*move);
    }
    return line;
}

template <Game G>
void search_everything(const std::string& name, int searches) {
    const std::atomic<bool> never = false;
    for (int k = 0; k < searches; ++k) {
        const auto seed = static_cast<std::uint64_t>(k);
        MctsSettings settings;
        settings.threads = k % 3 == 0 ? 4 : 1;
        settings.seed = seed;
        settings.memory_bytes = k % 4 == 0 ? 100 + 1000 * seed : std::size_t{1} << 22;
        Mcts<G> mcts(make_parts<G>(k % variants), settings);
        Line<G> line = random_line<G>(static_cast<int>(split_mix(seed) % 60), seed);
        const std::string what = name + " search " + std::to_string(k);
        for (int move = 0; move < 3 && !line.outcome(); ++move) {
            mcts.set_root(line, true);
            mcts.run({.playouts = 1 + split_mix(seed + 7) % 200, .time_s = k % 5 == 0 ? 1e-4 : 0}, never);
            check_tree(mcts.tree(), 0, what);
            const auto children = mcts.tree().children_of(mcts.tree().root());
            const auto best = children ? mcts.tree().ranked(*children) : std::vector<Node>{};
            if (best.empty()) break;
            const auto played = G::Move::from_code(best.front().move());
            expect(line.is_legal(played), what + ": a legal move");
            if (!line.is_legal(played)) break;
            line.play(played);
        }
    }
}

double urgency_by(const Formula& formula, double n, double visits, double mean, double prior, double exploration) {
    double urgency = 0;
    formula.judge({.n = n,
                   .visits = {&visits, 1},
                   .means = {&mean, 1},
                   .priors = {&prior, 1},
                   .explorations = {&exploration, 1},
                   .urgencies = {&urgency, 1}});
    return urgency;
}

/// Worked out by hand from the papers' formulas, with ln 100 = 4.605170 and ln 2 = 0.693147.
void formulas_are_those_of_the_papers() {
    const auto close = [](double a, double b) { return std::abs(a - b) < 1e-6; };
    expect(close(urgency_by(Ucb1(), 100, 20, 0.6, 1, 1), 1.278614), "UCB1: 0.6 + sqrt(2 ln 100 / 20)");
    expect(close(urgency_by(Ucb1(), 100, 20, 0.6, 1, 0.5), 0.939307), "UCB1 with c = 0.5");
    expect(close(urgency_by(Ucb1Tuned(), 100, 20, 0.6, 1, 1), 0.839926), "UCB1-tuned where 1/4 is the lesser");
    expect(close(urgency_by(Ucb1Tuned(), 2, 50, 0.95, 1, 1), 1.004468), "UCB1-tuned where the variance is");
    expect(close(urgency_by(Puct(), 81, 8, 0.5, 0.2, 1.5), 0.8), "PUCT: 0.5 + 1.5 * 0.2 * 9 / 9");
    const Widening widening({.d = 4, .c = 0.5, .e = 10});
    expect(close(widening.urgency(100, 0.5, 0), 2.479853), "widening: 4 * 0.5 + 0.5 sqrt(2 ln 100 / 10)");
    expect(close(TryByPrior(1.5, 0.1).urgency(16, 0.25, 0.6), 2.0), "PUCT of a move never tried");
    expect(close(Rave{.equivalence = 300}.beta(100), 0.707107), "beta: sqrt(300 / 600)");
}

void solved_games_are_proven() {
    // Mate in one and a stalemate trap: certain after few simulations.
    const Chess mates = Chess::from_text("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1");
    Mcts<Chess> mcts(make_parts<Chess>(0), {});
    mcts.set_root(Line<Chess>(mates), false);
    const std::atomic<bool> never = false;
    expect(mcts.run({.playouts = 100'000}, never) == MctsEnd::proven, "a mate in one is proven");
    expect(for_other(mcts.tree().root().proof()) == Proof::won, "and won");
    expect(mcts.tree().plies_to_result(mcts.tree().root()) == 1, "in one ply");

    MctsParts<Chess> parts = make_parts<Chess>(0);
    parts.prover = std::make_unique<MateProver<Chess>>(1000);
    Mcts<Chess> solver(std::move(parts), {});
    solver.set_root(Line<Chess>(Chess::from_text("7k/8/8/8/8/8/R7/1R5K w - - 0 1")), false);
    expect(solver.run({.playouts = 100'000}, never) == MctsEnd::proven, "a mate solver at the leaves proves a mate");
}

void follow_keeps_what_was_found() {
    const std::atomic<bool> never = false;
    Mcts<Othello> mcts(make_parts<Othello>(0), {});
    Line<Othello> line{Othello()};
    mcts.set_root(line, true);
    mcts.run({.playouts = 2000}, never);
    const auto before = mcts.tree().ranked(*mcts.tree().children_of(mcts.tree().root())).front();
    const std::uint32_t visits = before.visits();
    const double mean = before.mean();
    const auto replies = mcts.tree().arrays(false);
    line.play(Othello::Move::from_code(before.move()));
    mcts.set_root(line, true);
    expect(mcts.tree().root().visits() == visits && mcts.tree().root().mean() == mean, "the root keeps its visits");
    check_tree(mcts.tree(), 0, "after following");
    expect(mcts.tree().arrays(false).visits.size() < replies.visits.size(), "the rest is let go");
}

void limits_hold() {
    const std::atomic<bool> never = false;
    const std::atomic<bool> at_once = true;
    Mcts<Go<9>> mcts(make_parts<Go<9>>(0), {});
    mcts.set_root(Line<Go<9>>(Go<9>()), false);
    expect(mcts.run({.playouts = 123}, never) == MctsEnd::playouts && mcts.playouts() == 123, "playouts are counted");
    expect(mcts.run({}, at_once) == MctsEnd::interrupted, "an interrupt ends a search without limits");
    mcts.set_root(Line<Go<9>>(Go<9>()), false);
    expect(mcts.run({.nodes = 50}, never) == MctsEnd::nodes, "nodes are counted");
    MctsSettings tiny;
    tiny.memory_bytes = 5000;
    Mcts<Go<9>> small(make_parts<Go<9>>(0), tiny);
    small.set_root(Line<Go<9>>(Go<9>()), false);
    small.run({.playouts = 5000}, never);
    expect(small.tree().full() && small.tree().used_bytes() <= 5000, "a full memory stays within its bounds");
    expect(small.playouts() == 5000, "and the search goes on");
    expect(small.run({.nodes = 1'000'000}, never) == MctsEnd::nodes, "unless only nodes could have ended it");
    expect(Layout{}.bytes_a_child() <= 40 && Layout{.rave = true}.bytes_a_child() <= 40, "a child is small");
}

void flat_monte_carlo_is_the_same_on_any_number_of_threads() {
    const std::atomic<bool> never = false;
    const Line<Othello> line{Othello()};
    const auto moves = line.legal_moves();
    const playouts::UniformPlayout<Othello> policy;
    const auto sample = [&](unsigned threads) {
        return sample_moves<Othello>(line, {moves.begin(), moves.size()}, policy, 0, 400, 0, 1, threads, never);
    };
    const auto one = sample(1);
    const auto four = sample(4);
    bool same = one.size() == four.size();
    for (std::size_t i = 0; same && i < one.size(); ++i)
        same = one[i].playouts == 100 && four[i].playouts == 100 && one[i].value == four[i].value;
    expect(same, "threads change nothing");
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    search_everything<Othello>("Othello", 30);
    search_everything<Go<5>>("Go 5x5", 30);
    search_everything<Go<9>>("Go 9x9", 15);
    search_everything<Chess>("chess", 15);
    search_everything<Shogi>("shogi", 10);
    search_everything<BlokusDuo>("Blokus Duo", 10);
    formulas_are_those_of_the_papers();
    solved_games_are_proven();
    follow_keeps_what_was_found();
    limits_hold();
    flat_monte_carlo_is_the_same_on_any_number_of_threads();
    return report();
}
