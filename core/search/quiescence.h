// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "evaluation/shared.h"
#include "search/alphabeta.h"
#include "search/transposition.h"

namespace hyoka::search {

/// Finds where alpha-beta's quiescence comes to rest: the position whose evaluation is its value. Captures and
/// promotions that don't lose material, or standing pat; in check all evasions; nothing is pruned, so the value is that
/// of AlphaBeta with SelectivitySettings::none(). For learning, which wants the positions behind values.
template <Tactical G, class Evaluator>
class QuiescenceSearch {
public:
    using Move = typename G::Move;
    static constexpr int max_ply = 2 * AlphaBeta<G, Evaluator>::max_depth;

    struct Rest {
        int score;                    // for the first player; mates count their plies from the position
        std::span<const Move> moves;  // to where it comes to rest, or to where the game ends
    };

    /// `stop`, raised by another thread, ends a search at once; what it then says is nothing. After `reach` plies a
    /// position is taken as it stands.
    QuiescenceSearch(Evaluator evaluator, const std::atomic<bool>& stop, int reach = max_ply)
        : evaluator_(std::move(evaluator)),
          stop_(stop),
          reach_(std::min(reach, max_ply)),
          // Nothing is learned of quiet moves: they are only ever tried as evasions.
          memory_({.killers = false, .history = false}, max_ply + 1),
          known_(table_size),
          variations_((max_ply + 2) * (max_ply + 2)),
          lengths_(max_ply + 2) {}

    Evaluator& evaluator() { return evaluator_; }
    const Evaluator& evaluator() const { return evaluator_; }

    /// From a position without a past. The moves are there until the next call.
    Rest rest(const G& position) { return rest(position, -infinite_score, infinite_score); }
    /// The same if its score, the first player's, is between two others; beyond them a bound, and the moves are none.
    Rest rest(const G& position, int low, int high) {
        path_.start(Line<G>(position), max_ply + 2);
        // What was found in other searches is not asked for: so a result depends on its position alone.
        salt_ = split_mix(++searches_);
        G game = position;
        const bool first = position.to_play() == Player::first;
        const int value = visit(game, game.in_check(), first ? low : -high, first ? high : -low, 0);
        return {turned(value, position.to_play()), variation_from(0)};
    }

private:
    static constexpr std::size_t table_size = std::size_t{1} << 13;  // stays in a core's own cache

    static int turned(int score, Player us) { return us == Player::first ? score : -score; }
    int evaluate(const G& game, int ply) {
        const int score = evaluation::score_at_ply(evaluator_, game, ply);
        return turned(std::clamp(score, -highest_evaluation, highest_evaluation), game.to_play());
    }
    /// Pre: the game is over.
    static int value_if_over(const G& game, int ply) {
        return turned(final_score(game, *game.outcome(), ply), game.to_play());
    }

    /// The value of a position for its side to move: exact if between alpha and beta, else a bound of it.
    int visit(G& game, bool checked, int alpha, int beta, int ply) {
        lengths_[at(ply)] = 0;
        if (stop_.load(std::memory_order_relaxed)) return alpha;
        if (const auto result = path_.repetition(game))
            return turned(static_cast<int>(*result) * (mate - ply), game.to_play());
        if (Tactics<G>::over_by_rule(game)) return value_if_over(game, ply);
        if (ply >= reach_) return evaluate(game, ply);
        // A value beyond the window is believed; of one within it the moves are wanted, too.
        std::uint64_t key = game.hash() ^ salt_;
        if (reach_ < max_ply) key += static_cast<std::uint64_t>(ply);  // what is left to look at counts
        TableEntry& entry = known_[key % table_size];
        if (entry.key == key)
            if (const int score = to_table(entry.score, -ply); entry.settles(score, alpha, beta)) return score;
        const int alpha_before = alpha;
        int best = -infinite_score;
        if (!checked) {
            best = evaluate(game, ply);
            if (best >= beta) return best;
            alpha = std::max(alpha, best);
        }
        MovePicker<G> picker(game, memory_, stack_, std::nullopt, {game.to_play(), ply, Place::no_shape},
                             checked ? Wanted::all : Wanted::profitable);
        int count = 0;
        path_.push(game);
        while (const auto move = picker.next()) {
            Played<G> next(game, *move);
            const bool checks = next.game().in_check();
            // Moves after the first must show in a null window that they are better.
            const bool late = ++count > 1 && beta - alpha > 1;
            int value = late ? -visit(next.game(), checks, -alpha - 1, -alpha, ply + 1) : 0;
            if (!late || (value > alpha && value < beta)) value = -visit(next.game(), checks, -beta, -alpha, ply + 1);
            best = std::max(best, value);
            if (value <= alpha) continue;
            alpha = value;
            if (value >= beta) break;
            keep_variation(*move, ply);
        }
        path_.pop();
        if (checked && count == 0) return value_if_over(game, ply);
        const Bound bound = best >= beta ? Bound::lower : best > alpha_before ? Bound::exact : Bound::upper;
        entry = {.key = key,
                 .move = TableEntry::no_move,
                 .epoch = 0,
                 .score = static_cast<std::int16_t>(to_table(best, ply)),
                 .depth = 0,
                 .age_and_bound = static_cast<std::uint8_t>(bound)};
        return best;
    }

    /// Mates are stored as seen from their position, not from where the search began.
    static int to_table(int score, int ply) {
        return score > quickest_mates ? score + ply : score < -quickest_mates ? score - ply : score;
    }

    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    std::span<Move> variation_row(int ply) {
        return std::span(variations_).subspan(at(ply) * (max_ply + 2), max_ply + 2);
    }
    std::span<const Move> variation_from(int ply) { return variation_row(ply).first(lengths_[at(ply)]); }
    void keep_variation(Move move, int ply) {
        const auto tail = variation_from(ply + 1);
        variation_row(ply)[0] = move;
        std::copy(tail.begin(), tail.end(), variation_row(ply).begin() + 1);
        lengths_[at(ply)] = tail.size() + 1;
    }

    Evaluator evaluator_;
    const std::atomic<bool>& stop_;
    int reach_;
    MoveMemory<G> memory_;
    MoveStack<G> stack_;
    Path<G> path_;
    std::vector<TableEntry> known_;
    std::uint64_t salt_ = 0;
    std::uint64_t searches_ = 0;
    std::vector<Move> variations_;  // by ply, one row each: the best line found from there
    std::vector<std::size_t> lengths_;
};

}  // namespace hyoka::search
