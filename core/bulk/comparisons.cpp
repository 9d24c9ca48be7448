// SPDX-License-Identifier: Apache-2.0
#include "bulk/comparisons.h"

#include <cmath>
#include <mutex>
#include <utility>

#include "bulk/walk.h"
#include "search/quiescence.h"
#include "sparse/all.h"

namespace hyoka::bulk {
namespace {

using sparse::FeatureSet;

/// The leaves of one block's positions, row by row.
struct LeafBlock {
    std::vector<std::uint16_t> leaves;  // by row: moves within reach, the record's first; 0: nothing to compare
    std::vector<std::uint16_t> better;  // by row: moves out of reach that are better
    std::vector<std::uint8_t> lengths;  // by leaf: moves from the position to it
    std::vector<std::uint16_t> moves;   // codes
};

/// Values of positions where captures have come to rest, the first player's view, and how to get there.
template <class G>
class Resting {
public:
    using Evaluation = evaluation::SharedEvaluation<G>;
    using Move = typename G::Move;
    Resting(Evaluation evaluation, const std::atomic<bool>& stop) : search_(std::move(evaluation), stop) {}

    int value(const G& game, int low, int high) {
        const auto [score, moves] = search_.rest(game, low, high);
        moves_ = moves;
        return score;
    }
    std::span<const Move> moves() const { return moves_; }
    /// Whether the value is the evaluation where the moves end: no mate, no draw by rule.
    bool rests(const G& end, int value) {
        return evaluation::score_at_ply(search_.evaluator(), end, static_cast<int>(moves_.size())) == value;
    }

private:
    search::QuiescenceSearch<G, Evaluation> search_;
    std::span<const Move> moves_;
};
/// A game without captures to follow rests at once.
template <class G>
    requires(!search::Tactical<G>)
class Resting<G> {
public:
    using Evaluation = evaluation::SharedEvaluation<G>;
    using Move = typename G::Move;
    Resting(Evaluation evaluation, const std::atomic<bool>&) : evaluation_(std::move(evaluation)) {}
    int value(const G& game, int, int) {
        if (const auto over = game.outcome()) return search::final_score(game, *over, 0);
        return evaluation_.score(game, 0);
    }
    std::span<const Move> moves() const { return {}; }
    bool rests(const G&, int value) const { return std::abs(value) <= search::highest_evaluation; }

private:
    Evaluation evaluation_;
};

template <class G>
class SearchVisitor final : public Visitor<G> {
public:
    using Move = typename G::Move;
    SearchVisitor(std::vector<LeafBlock>& blocks, Agreement& agreement, std::span<const float> reach,
                  evaluation::SharedEvaluation<G> evaluation, const std::atomic<bool>& stop)
        : blocks_(blocks), agreement_(agreement), reach_(reach), resting_(std::move(evaluation), stop) {}

    void start_block(std::size_t block) override {
        block_ = &blocks_[block];
        *block_ = {};
    }

    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        block_->leaves.push_back(0);
        block_->better.push_back(0);
        const G game = at.usual_position();
        const auto played = at.next();
        if (!played || game.outcome()) return;
        const auto legal = game.legal_moves();
        const bool first = game.to_play() == Player::first;
        G after = game;
        after.play(*played);
        const int value = resting_.value(after, -search::infinite_score, search::infinite_score);
        agreement_.choices[row] = static_cast<std::int32_t>(legal.size());
        agreement_.scores[row] = value;
        if (!keep(after, *played, value)) {
            // Of a won game nothing is to be learned; one that is lost can't be compared.
            agreement_.ranks[row] = (first ? value : -value) > search::highest_evaluation ? 1 : 0;
            return;
        }
        block_->leaves.back() = 1;
        const auto reach = static_cast<int>(std::ceil(std::max(reach_[row], 1.0f)));
        int rank = 1;
        bool before = true;
        for (const Move move : legal) {
            if (move == *played) {
                before = false;
                continue;
            }
            after = game;
            after.play(move);
            const int other = resting_.value(after, value - reach, value + reach);
            const int ahead = first ? other - value : value - other;
            rank += ahead > 0 || (ahead == 0 && before);
            if (ahead >= reach)
                ++block_->better.back();
            else if (ahead > -reach && keep(after, move, other))
                ++block_->leaves.back();
        }
        agreement_.ranks[row] = rank;
    }

private:
    /// False if there is nothing to learn from where it ends.
    bool keep(const G& after, Move move, int value) {
        G end = after;
        const auto moves = resting_.moves();
        for (const Move next : moves) end.play(next);
        if (!resting_.rests(end, value) || end.outcome()) return false;
        block_->lengths.push_back(static_cast<std::uint8_t>(moves.size() + 1));
        block_->moves.push_back(static_cast<std::uint16_t>(move.code()));
        for (const Move next : moves) block_->moves.push_back(static_cast<std::uint16_t>(next.code()));
        return true;
    }

    std::vector<LeafBlock>& blocks_;
    Agreement& agreement_;
    std::span<const float> reach_;
    LeafBlock* block_ = nullptr;
    Resting<G> resting_;
};

/// Where threads put what they have found.
struct Sums {
    /// Derivatives are added as whole numbers: so the order of positions, and of threads, is no matter.
    static constexpr double fixed_point = 4294967296.0;
    std::vector<Losses> losses;  // by block
    std::vector<std::int64_t> gradient;
    std::mutex mutex;
};

template <FeatureSet Set>
class GradientVisitor final : public Visitor<typename Set::Game> {
public:
    using G = typename Set::Game;
    using Move = typename G::Move;
    GradientVisitor(const std::vector<LeafBlock>& blocks, const std::vector<std::size_t>& chosen,
                    std::span<const float> weights, const Objective& objective, Sums& sums)
        : blocks_(blocks), chosen_(chosen), weights_(weights), objective_(objective), sums_(sums) {
        gradient_.resize(sums.gradient.size());
    }
    GradientVisitor(const GradientVisitor&) = delete;
    GradientVisitor& operator=(const GradientVisitor&) = delete;
    ~GradientVisitor() override {
        const std::scoped_lock lock(sums_.mutex);
        for (std::size_t i = 0; i < gradient_.size(); ++i) sums_.gradient[i] += gradient_[i];
    }

    void start_block(std::size_t block) override {
        block_ = &blocks_[chosen_[block]];
        losses_ = &sums_.losses[chosen_[block]];
        row_ = leaf_ = move_ = 0;
    }

    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        const std::size_t here = row_++;
        const std::size_t leaves = block_->leaves[here];
        if (leaves == 0) return;
        const auto& [slope, margin, moves_weight, outcome_weight] = objective_.weights[row];
        const G game = at.usual_position();
        const double sign = game.to_play() == Player::first ? 1 : -1;
        const double value = list_leaf(game, expert_);
        double slope_here = 0;  // of the record's own leaf
        Losses found{.positions = 1, .leaves = leaves};
        found.moves = moves_weight * static_cast<double>(block_->better[here]);
        for (std::size_t i = 1; i < leaves; ++i) {
            const double ahead = sign * (list_leaf(game, other_) - value);
            const double chance = 1 / (1 + std::exp(-slope * (ahead + margin)));
            found.moves += moves_weight * chance;
            const double derivative = sign * moves_weight * slope * chance * (1 - chance);
            add(other_, derivative);
            slope_here -= derivative;
        }
        if (const double result = objective_.results[row]; !std::isnan(result)) {
            const double steps = value / objective_.outcome_scale;
            // log(1 + exp(z)) without overflow.
            const double log_one_plus = std::max(steps, 0.0) + std::log1p(std::exp(-std::abs(steps)));
            found.outcomes = outcome_weight * (log_one_plus - result * steps);
            const double chance = 1 / (1 + std::exp(-steps));
            slope_here += outcome_weight * (chance - result) / objective_.outcome_scale;
        }
        add(expert_, slope_here);
        *losses_ += found;
    }

private:
    struct Amount {
        std::uint32_t weight;
        float amount;
    };

    double list_leaf(const G& game, std::vector<Amount>& features) {
        G end = game;
        for (std::size_t i = block_->lengths[leaf_++]; i > 0; --i) end.play(Move::from_code(block_->moves[move_++]));
        features.clear();
        double sum = 0;
        Set::visit(end, [&](std::size_t weight, float amount) {
            features.push_back({static_cast<std::uint32_t>(weight), amount});
            sum += static_cast<double>(weights_[weight]) * amount;
        });
        return sum;
    }
    void add(const std::vector<Amount>& features, double derivative) {
        if (gradient_.empty() || derivative == 0) return;
        const double scaled = derivative * Sums::fixed_point;
        for (const auto& [weight, amount] : features)
            gradient_[weight] += static_cast<std::int64_t>(scaled * static_cast<double>(amount));
    }

    const std::vector<LeafBlock>& blocks_;
    const std::vector<std::size_t>& chosen_;
    std::span<const float> weights_;
    const Objective& objective_;
    Sums& sums_;
    const LeafBlock* block_ = nullptr;
    Losses* losses_ = nullptr;
    std::size_t row_ = 0;
    std::size_t leaf_ = 0;
    std::size_t move_ = 0;
    std::vector<std::int64_t> gradient_;
    std::vector<Amount> expert_;
    std::vector<Amount> other_;
};

template <FeatureSet Set>
class ComparisonsOf final : public Comparisons {
public:
    using G = typename Set::Game;
    ComparisonsOf(const GameTable& games, const std::vector<Block>& blocks)
        : games_(games), blocks_(blocks), leaves_(blocks.size()) {}

    void search(std::span<const float> weights, std::span<const float> reach, Running& running) override {
        const evaluation::SharedEvaluation<G> evaluation(std::make_shared<const sparse::SparseEvaluation<Set>>(
            std::make_shared<const typename Set::Table>(weights), Set::scale));
        agreement_ = {.ranks = std::vector<std::int32_t>(games_.rows()),
                      .choices = std::vector<std::int32_t>(games_.rows()),
                      .scores = std::vector<std::int32_t>(games_.rows())};
        walk_games<G>(games_, blocks_, running, [&] {
            return std::make_unique<SearchVisitor<G>>(leaves_, agreement_, reach, evaluation, running.stop);
        });
    }

    Losses differentiate(std::span<const float> weights, const Objective& objective, std::size_t batch,
                         std::size_t batches, std::span<float> gradient, Running& running) const override {
        std::vector<Block> some;
        std::vector<std::size_t> chosen;
        for (std::size_t i = batch; i < blocks_.size(); i += batches) {
            some.push_back(blocks_[i]);
            chosen.push_back(i);
        }
        Sums sums;
        sums.losses.resize(blocks_.size());
        sums.gradient.resize(gradient.size());
        walk_games<G>(games_, some, running, [&] {
            return std::make_unique<GradientVisitor<Set>>(leaves_, chosen, weights, objective, sums);
        });
        for (std::size_t i = 0; i < gradient.size(); ++i)
            gradient[i] += static_cast<float>(static_cast<double>(sums.gradient[i]) / Sums::fixed_point);
        Losses all;
        for (const Losses& each : sums.losses) all += each;
        return all;
    }

private:
    const GameTable& games_;
    const std::vector<Block>& blocks_;
    std::vector<LeafBlock> leaves_;
};

}  // namespace

std::unique_ptr<Comparisons> Comparisons::of(const GameTable& games, const std::vector<Block>& blocks,
                                             std::string_view set) {
    std::unique_ptr<Comparisons> made;
    sparse::with_set(game_names[static_cast<std::size_t>(games.kind)], set, [&]<class Set>(std::type_identity<Set>) {
        made = std::make_unique<ComparisonsOf<Set>>(games, blocks);
    });
    return made;
}

}  // namespace hyoka::bulk
