// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "evaluation/shared.h"
#include "line.h"
#include "search/alphabeta_scores.h"
#include "search/alphabeta_settings.h"
#include "search/limits.h"
#include "search/ordering.h"
#include "search/path.h"
#include "search/tactics.h"
#include "search/transposition.h"

namespace hyoka::search {

/// Score of a finished game for the first player, `ply` moves from the root.
template <Game G>
int final_score(const G& game, const Outcome& outcome, int ply) {
    const int sign = static_cast<int>(outcome.result);
    if (outcome.reason != Reason::score) return sign * (mate - ply);
    const double margin = std::min(std::abs(game.score()), double{quickest_mates - won_by_points - 1});
    return sign * (won_by_points + static_cast<int>(std::lround(margin)));
}

/// A root move, what it is worth to the first player, and what the search expects after it.
template <Game G>
struct Variation {
    int score = 0;
    /// Begins with the root move. Ends, unless the game does, in the position whose evaluation is the score.
    std::vector<typename G::Move> moves;
};

/// Result of a completed depth.
template <Game G>
struct Iteration {
    int depth = 0;
    int selective_depth = 0;               // the longest path
    std::uint64_t nodes = 0;               // so far
    double time_s = 0;                     // so far
    int permille_full = 0;                 // of the table
    std::vector<Variation<G>> variations;  // the best first
};

template <Game G>
struct AlphaBetaResult {
    /// As many as were asked for, all of the same depth, the best first; none if the game is over.
    std::vector<Variation<G>> variations;
    int score = 0;  // of the best; of the game, if it is over
    int depth = 0;  // completed; a single variation may come from the depth begun after
    int selective_depth = 0;
    std::uint64_t nodes = 0;
    double time_s = 0;
    int permille_full = 0;
    std::vector<Iteration<G>> iterations;  // completed ones

    std::optional<typename G::Move> best() const {
        if (variations.empty()) return std::nullopt;
        return variations.front().moves.front();
    }
    std::optional<int> mate_plies() const { return variations.empty() ? std::nullopt : search::mate_plies(score); }
};

/// One search's task besides its limits.
template <Game G>
struct SearchOptions {
    /// Root moves to choose among; empty, or none of them legal: all.
    std::span<const typename G::Move> among{};
    /// Set by another thread to end the search.
    const std::atomic<bool>* interrupt = nullptr;
    /// Called after every completed depth.
    std::function<void(const Iteration<G>&)> report{};
};

/// The game after `move`, for as long as this lives. Where undoing takes a copy anyway, only one is made.
template <Game G>
class Played {
public:
    Played(G& game, typename G::Move move) : game_(game), token_(game.play_undoable(move)) {}
    Played(const Played&) = delete;
    Played& operator=(const Played&) = delete;
    ~Played() { game_.undo(token_); }
    G& game() { return game_; }

private:
    G& game_;
    typename G::Undo token_;
};
template <Game G>
    requires std::same_as<typename G::Undo, G>
class Played<G> {
public:
    Played(const G& game, typename G::Move move) : game_(game) { game_.play(move); }
    G& game() { return game_; }

private:
    G game_;
};

/// Iterative deepening alpha-beta for every game. `Evaluator` has `int score(const G&) const`, the first player's view.
///
/// Inside, values are for the side to move, and turned where the side changes: a game where one side moves twice in a
/// row just works. What was learned (table, history) stays for the next search until clear().
template <Game G, class Evaluator>
class AlphaBeta {
public:
    using Move = typename G::Move;
    using Result = AlphaBetaResult<G>;
    static constexpr int max_depth = 120;
    static_assert(G::Move::code_count <= 1 << 16, "the table keeps moves as 16-bit codes");

    explicit AlphaBeta(Evaluator evaluator = {}, const AlphaBetaSettings& settings = {})
        : evaluator_(std::move(evaluator)),
          settings_(settings),
          table_(static_cast<std::size_t>(std::max(0, settings.table.mebibytes))),
          memory_(settings.ordering, max_ply + 1),
          frames_(max_ply + 2),
          variations_((max_ply + 2) * (max_ply + 2)),
          lengths_(max_ply + 2) {
        for (std::size_t i = 1; i < logarithms_.size(); ++i)
            logarithms_[i] = static_cast<float>(std::log(static_cast<double>(i)));
    }

    const AlphaBetaSettings& settings() const { return settings_; }
    const Evaluator& evaluator() const { return evaluator_; }
    /// Forgets what earlier searches have learned: the next one is as a new object's first. Costs next to nothing.
    void clear() {
        table_.clear();
        memory_.clear();
        searches_ = 0;
    }

    /// Searches deeper and deeper until a limit is reached or nothing is left to find out. The result is the last
    /// completed depth's; of a single variation that of the depth begun after, as soon as its first move is done. Pre:
    /// some limit, or an interrupt; else it goes on to max_depth.
    Result search(const Line<G>& line, const Limits& limits, const SearchOptions<G>& options = {}) {
        start(line, limits, options);
        Result result;
        if (roots_.empty()) {
            result.score = final_score(line, *line.outcome(), 0);
            return result;
        }
        G game = line.position();
        const Player us = game.to_play();
        frames_[0].evaluation = evaluate(game, 0);
        result.variations = {{turned(frames_[0].evaluation, us), {roots_.front().move}}};

        const int deepest = limits.depth > 0 ? std::min(limits.depth, max_depth) : max_depth;
        const std::size_t wanted =
            std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, settings_.variations)), 1, roots_.size());
        for (int depth = 1; depth <= deepest && !stop_.reached(); ++depth) {
            root_depth_ = depth;
            horizon_ = 0;
            for (Root& root : roots_) root.previous = root.score;
            so_far_.reset();
            std::size_t found = 0;
            while (found < wanted && deepen(game, depth, found)) ++found;
            if (found < wanted) {
                // Values of different depths do not compare: several variations are those of the last completed one.
                if (so_far_ && (wanted == 1 || result.depth == 0)) result.variations = {variation(*so_far_, us)};
                break;
            }
            const auto settled = roots_.begin() + static_cast<std::ptrdiff_t>(wanted);
            std::stable_sort(roots_.begin(), settled, better);
            result.variations.clear();
            for (std::size_t i = 0; i < wanted; ++i) result.variations.push_back(variation(roots_[i], us));
            result.depth = depth;
            result.iterations.push_back(
                {depth, selective_depth_, nodes_, stop_.elapsed_s(), table_.permille_full(), result.variations});
            if (options.report) options.report(result.iterations.back());
            stop_.look();
            const auto mate_in = mate_plies(result.variations.front().score);
            const bool mate_settled = wanted == 1 && mate_in && std::abs(*mate_in) <= depth;
            if (mate_settled || horizon_ == 0) break;
        }
        result.score = result.variations.front().score;
        result.selective_depth = selective_depth_;
        result.nodes = nodes_;
        result.time_s = stop_.elapsed_s();
        result.permille_full = table_.permille_full();
        return result;
    }

private:
    static constexpr int max_ply = 2 * max_depth;
    static constexpr int solved = 255;  // a table entry's depth: the horizon was nowhere in sight

    struct Root {
        Move move;
        int score = -infinite_score;  // for the side to move; of the running iteration
        int previous = -infinite_score;
        std::vector<Move> moves;  // the variation, this move first
    };
    static bool better(const Root& a, const Root& b) { return a.score > b.score; }
    struct Frame {
        std::uint32_t shape = Place::no_shape;  // of the move being tried
        int evaluation = 0;                     // for the side to move, if not in check
        std::uint64_t path_key = 0;
    };

    /// Information about a position before its moves are searched.
    struct Node {
        Place place;
        int depth;
        int evaluation = -infinite_score;  // for the side to move; unknown in check, and where nothing asks for it
        bool checked;
        bool open;               // the window is wider than the question "better or not?"
        bool improving = false;  // better evaluated than at the mover's last turn
    };

    static int turned(int score, Player us) { return us == Player::first ? score : -score; }

    void start(const Line<G>& line, const Limits& limits, const SearchOptions<G>& options) {
        stop_ = Stop(limits, options.interrupt);
        nodes_ = 0;
        selective_depth_ = 0;
        table_.start_search(limits.nodes);
        memory_.start_search();
        path_.start(line, max_ply + 2);
        stack_.clear();
        frames_[0] = {.path_key = settings_.table.exact ? split_mix(++searches_) : 0};
        roots_.clear();
        const auto legal = line.legal_moves();
        const auto holds = [](const auto& moves, Move move) {
            return std::find(moves.begin(), moves.end(), move) != moves.end();
        };
        const bool restricted =
            std::any_of(legal.begin(), legal.end(), [&](Move move) { return holds(options.among, move); });
        const G& game = line.position();
        std::optional<Move> hash_move;
        if (const TableEntry* known = table_.find(game.hash() ^ frames_[0].path_key)) hash_move = usable(game, *known);
        MovePicker<G> picker(game, memory_, stack_, hash_move, {game.to_play(), 0, Place::no_shape});
        while (const auto move = picker.next())
            if (holds(legal, *move) && (!restricted || holds(options.among, *move)))
                roots_.push_back({.move = *move, .moves = {*move}});
    }

    Variation<G> variation(const Root& root, Player us) const { return {turned(root.score, us), root.moves}; }

    /// One iteration for the best root move but `first`, which are settled. Starts with a narrow window around the last
    /// score and opens it where the new one turns out to lie. Afterwards the best move is in its place; false: stopped.
    bool deepen(G& game, int depth, std::size_t first) {
        const int center = roots_[first].previous;
        int width = settings_.windows.aspiration;
        const bool narrow = width > 0 && depth >= 4 && std::abs(center) <= highest_evaluation;
        int alpha = narrow ? center - width : -infinite_score;
        int beta = narrow ? center + width : infinite_score;
        const auto begin = roots_.begin() + static_cast<std::ptrdiff_t>(first);
        while (true) {
            const int value = search_root(game, depth, alpha, beta, first);
            std::stable_sort(begin, roots_.end(), better);
            if (first == 0 && begin->score > alpha) so_far_ = *begin;
            if (stop_.reached()) return false;
            width *= 4;
            const bool wide = width > 1000;
            if (value <= alpha && alpha > -infinite_score)
                alpha = wide ? -infinite_score : center - width;
            else if (value >= beta && beta < infinite_score)
                beta = wide ? infinite_score : center + width;
            else
                return true;
        }
    }

    /// Tries all root moves from `first` on.
    int search_root(G& game, int depth, int alpha, int beta, std::size_t first) {
        const Player us = game.to_play();
        if (first == 0 && !enter(0)) return 0;
        for (std::size_t i = first; i < roots_.size(); ++i) roots_[i].score = -infinite_score;
        if (in_check(game) && settings_.selectivity.check_extensions) ++depth;
        path_.push(game);
        int best = -infinite_score;
        for (std::size_t i = first; i < roots_.size() && best < beta; ++i) {
            Root& root = roots_[i];
            enter_frame(game, root.move, 0);
            Played<G> next(game, root.move);
            const int value = try_move(us, next.game(), in_check(next.game()), depth - 1, 0, i > first, alpha, beta, 1);
            if (stop_.reached()) break;
            if (i == first || value > alpha) {
                root.score = value;
                root.moves.assign(1, root.move);
                const auto line = variation_from(1);
                root.moves.insert(root.moves.end(), line.begin(), line.end());
            }
            best = std::max(best, value);
            alpha = std::max(alpha, value);
        }
        path_.pop();
        return best;
    }

    /// Counts a position; false: the search must end.
    bool enter(int ply) {
        if (stop_.reached()) return false;
        ++nodes_;
        selective_depth_ = std::max(selective_depth_, ply);
        lengths_[at(ply)] = 0;
        return !stop_.reached(nodes_);
    }

    /// The value for `us` of the position after a move. Moves that aren't the first must show in a null window, perhaps
    /// at less depth, that they deserve more.
    int try_move(Player us, G& next, bool checked, int depth, int reduction, bool late, int alpha, int beta, int ply) {
        if (late && settings_.windows.principal_variation) {
            int value = value_for(us, next, checked, depth - reduction, alpha, alpha + 1, ply);
            if (value > alpha && reduction > 0) value = value_for(us, next, checked, depth, alpha, alpha + 1, ply);
            if (value <= alpha || value >= beta) return value;
        }
        return value_for(us, next, checked, depth, alpha, beta, ply);
    }
    int value_for(Player us, G& game, bool checked, int depth, int alpha, int beta, int ply) {
        return game.to_play() == us ? visit(game, checked, depth, alpha, beta, ply)
                                    : -visit(game, checked, depth, -beta, -alpha, ply);
    }

    /// The value of a position for its side to move: exact if between alpha and beta, else a bound of it.
    int visit(G& game, bool checked, int depth, int alpha, int beta, int ply) {
        const SelectivitySettings& selective = settings_.selectivity;
        if (checked && selective.check_extensions && ply < 2 * root_depth_) ++depth;
        if (depth <= 0) return leaf(game, checked, alpha, beta, ply);
        if (!enter(ply)) return 0;
        if (const auto value = value_by_past(game, ply)) return *value;
        if (ply >= max_ply) return evaluate(game, ply);
        if constexpr (Tactical<G>)
            if (Tactics<G>::over_by_rule(game)) return value_if_over(game, ply);

        const std::uint64_t key = game.hash() ^ frames_[at(ply)].path_key;
        std::optional<Move> hash_move;
        if (const TableEntry* known = table_.find(key)) {
            const int score = from_table(known->score, ply);
            if (deep_enough(*known, depth) && known->settles(score, alpha, beta)) {
                horizon_ += known->depth != solved;
                return score;
            }
            hash_move = usable(game, *known);
        }
        const std::uint64_t horizon_before = horizon_;
        Node node = look_at(game, checked, depth, beta - alpha > 1, ply);
        if constexpr (Tactical<G>) {
            if (const auto value = cut_early(game, node, beta)) return *value;
            if (stop_.reached()) return 0;
            if (selective.unknown_reductions && depth >= 5 && !hash_move) --node.depth;
        }

        MovePicker<G> picker(game, memory_, stack_, hash_move, node.place);
        InlineVector<Move, 32> tried;  // quiet moves that did not cut off
        const int alpha_before = alpha;
        int best = -infinite_score;
        std::optional<Move> best_move;
        int count = 0;
        path_.push(game);
        while (const auto move = picker.next()) {
            if (path_.forbids(game, *move)) {
                ++horizon_;
                continue;
            }
            ++count;
            const bool noisy = is_noisy(game, *move);
            const bool choosy = best > -quickest_mates && !checked;  // a move that isn't lost was found
            if (choosy && comes_too_late(node, count)) {
                ++horizon_;
                picker.skip_quiet();
                if (!noisy) continue;
            }
            if (choosy && costs_too_much(game, *move, noisy, node)) {
                ++horizon_;
                continue;
            }
            const int history = noisy ? 0 : memory_.history(game, *move, node.place);
            enter_frame(game, *move, ply);
            Played<G> next(game, *move);
            table_.prefetch(next.game().hash());
            const bool gives_check = in_check(next.game());
            if (choosy && !noisy && !gives_check && is_futile(node, alpha)) continue;
            const int reduction = noisy ? 0 : reduction_of(node, count, gives_check, history);
            const int value = try_move(node.place.player, next.game(), gives_check, node.depth - 1, reduction,
                                       count > 1, alpha, beta, ply + 1);
            if (stop_.reached()) {
                path_.pop();
                return 0;
            }
            if (value > best) {
                best = value;
                if (value > alpha) {
                    best_move = *move;
                    alpha = value;
                    if (value < beta) keep_variation(*move, ply);
                }
                if (value >= beta) {
                    if (!noisy) memory_.cut_off(game, *move, {tried.begin(), tried.size()}, node.place, node.depth);
                    break;
                }
            }
            if (!noisy && tried.size() < 32) tried.push_back(*move);
        }
        path_.pop();
        if (count == 0) return value_if_over(game, ply);
        const bool all_seen = horizon_ == horizon_before && !settings_.table.exact;
        remember(key, best_move, best, ply, all_seen ? solved : node.depth, alpha_before, beta);
        return best;
    }

    Node look_at(const G& game, bool checked, int depth, bool open, int ply) {
        Node node{.place = {game.to_play(), ply, frames_[at(ply - 1)].shape},
                  .depth = depth,
                  .checked = checked,
                  .open = open};
        if constexpr (Tactical<G>) {
            if (!settings_.selectivity.futility && !settings_.selectivity.null_move) return node;
            const int before = ply >= 2 ? frames_[at(ply - 2)].evaluation : -infinite_score;
            frames_[at(ply)].evaluation = checked ? before : evaluate(game, ply);
            if (!checked) node.evaluation = frames_[at(ply)].evaluation;
            node.improving = ply >= 2 && node.evaluation > before;
        }
        return node;
    }
    /// A value at or above beta if the side to move is so well off that its moves need no look.
    std::optional<int> cut_early(const G& game, const Node& node, int beta) {
        const SelectivitySettings& selective = settings_.selectivity;
        if (node.checked || node.open || node.evaluation < beta || std::abs(beta) > highest_evaluation)
            return std::nullopt;
        const int margin = Tactics<G>::margin;
        const int surplus = node.evaluation - beta;
        if (selective.futility && node.depth <= 7 && surplus >= margin * (node.depth - node.improving))
            return node.evaluation;
        if (selective.null_move && node.depth >= 3 && node.place.previous != Place::no_shape &&
            Tactics<G>::may_skip(game)) {
            const int reduction = 3 + node.depth / 4 + std::min(surplus / (2 * margin), 3);
            const int value = value_if_skipped(game, node.depth - 1 - reduction, beta, node.place.ply);
            if (value >= beta && !stop_.reached()) return std::min(value, highest_evaluation);
        }
        return std::nullopt;
    }
    bool comes_too_late(const Node& node, int count) const {
        return Tactical<G> && settings_.selectivity.late_move_pruning && node.depth <= 6 &&
               count > (6 + 2 * node.depth * node.depth) / (2 - node.improving);
    }
    bool costs_too_much([[maybe_unused]] const G& game, [[maybe_unused]] Move move, [[maybe_unused]] bool noisy,
                        [[maybe_unused]] const Node& node) const {
        if constexpr (Tactical<G>)
            return settings_.selectivity.exchange_pruning && node.depth <= (noisy ? 6 : 4) &&
                   loses_more_than((noisy ? 100 : 40) * node.depth, game, move);
        else
            return false;
    }
    bool is_futile([[maybe_unused]] const Node& node, [[maybe_unused]] int alpha) const {
        if constexpr (Tactical<G>)
            return settings_.selectivity.futility && !node.open && node.depth <= 6 &&
                   node.evaluation + Tactics<G>::margin * (node.depth + 1) <= alpha;
        else
            return false;
    }
    /// How many plies less a quiet move is searched at first.
    int reduction_of(const Node& node, int count, bool gives_check, int history) const {
        if (!settings_.selectivity.late_move_reductions || node.depth < 3 || count <= (node.open ? 4 : 2) ||
            node.checked)
            return 0;
        const auto log = [&](int n) { return logarithms_[std::min(at(n), logarithms_.size() - 1)]; };
        const int usual = static_cast<int>(0.5f + log(node.depth) * log(count) / 2.2f);
        const int wanted = usual - node.open - gives_check + !node.improving - history / (MoveMemory<G>::limit / 2);
        return std::clamp(wanted, 0, node.depth - 2);
    }

    int leaf(G& game, bool checked, int alpha, int beta, int ply) {
        if constexpr (Tactical<G>)
            if (settings_.quiescence) return quiesce(game, checked, alpha, beta, ply);
        if (!enter(ply)) return 0;
        if (const auto value = value_by_past(game, ply)) return *value;
        if (const auto over = game.outcome()) return turned(final_score(game, *over, ply), game.to_play());
        return evaluate(game, ply);
    }

    /// Only captures and promotions that don't lose material, or standing pat; in check all evasions. Stalemate isn't
    /// looked for.
    int quiesce(G& game, bool checked, int alpha, int beta, int ply) {
        if (!enter(ply)) return 0;
        if (const auto value = value_by_past(game, ply)) return *value;
        if (Tactics<G>::over_by_rule(game)) return value_if_over(game, ply);
        if (ply >= max_ply) return evaluate(game, ply);

        const std::uint64_t key = game.hash() ^ frames_[at(ply)].path_key;
        std::optional<Move> hash_move;
        if (const TableEntry* known = table_.find(key)) {
            const int score = from_table(known->score, ply);
            if (deep_enough(*known, 0) && known->settles(score, alpha, beta)) {
                horizon_ += known->depth != solved;
                return score;
            }
            hash_move = usable(game, *known);
            if (hash_move && !checked &&
                (!Tactics<G>::is_noisy(game, *hash_move) || loses_more_than(0, game, *hash_move)))
                hash_move.reset();
        }
        const int alpha_before = alpha;
        int best = -infinite_score;
        if (!checked) {
            best = evaluate(game, ply);
            if (best >= beta) return best;
            alpha = std::max(alpha, best);
        }
        const int optimistic = best + 2 * Tactics<G>::margin;
        MovePicker<G> picker(game, memory_, stack_, hash_move, {game.to_play(), ply, frames_[at(ply - 1)].shape},
                             checked ? Wanted::all : Wanted::profitable);
        std::optional<Move> best_move;
        int count = 0;
        path_.push(game);
        while (const auto move = picker.next()) {
            ++count;
            if (!checked && settings_.selectivity.delta_pruning && alpha > -highest_evaluation) {
                const int hoped = optimistic + Tactics<G>::gain(game, *move);
                if (hoped <= alpha) {
                    best = std::max(best, hoped);
                    continue;
                }
            }
            enter_frame(game, *move, ply);
            Played<G> next(game, *move);
            table_.prefetch(next.game().hash());
            const int value = -quiesce(next.game(), in_check(next.game()), -beta, -alpha, ply + 1);
            if (stop_.reached()) {
                path_.pop();
                return 0;
            }
            if (value > best) {
                best = value;
                if (value > alpha) {
                    best_move = *move;
                    alpha = value;
                    if (value < beta) keep_variation(*move, ply);
                }
                if (value >= beta) break;
            }
        }
        path_.pop();
        if (checked && count == 0) return value_if_over(game, ply);
        remember(key, best_move, best, ply, 0, alpha_before, beta);
        return best;
    }

    /// The opponent moves twice in a row.
    int value_if_skipped(const G& game, int depth, int beta, int ply) {
        G next = game;
        next.skip_turn();
        path_.push(game);
        const std::size_t floor = path_.cut();
        enter_frame(game, std::nullopt, ply);
        const int value = -visit(next, false, depth, -beta, -beta + 1, ply + 1);
        path_.restore(floor);
        path_.pop();
        return value;
    }
    std::optional<int> value_by_past(const G& game, int ply) {
        const auto result = path_.repetition(game);
        if (!result) return std::nullopt;
        ++horizon_;
        return turned(static_cast<int>(*result) * (mate - ply), game.to_play());
    }
    /// Pre: the game is over.
    int value_if_over(const G& game, int ply) const {
        return turned(final_score(game, *game.outcome(), ply), game.to_play());
    }
    int evaluate(const G& game, int ply) {
        ++horizon_;
        const int score = evaluation::score_at_ply(evaluator_, game, ply);
        return turned(std::clamp(score, -highest_evaluation, highest_evaluation), game.to_play());
    }

    bool deep_enough(const TableEntry& known, int depth) const {
        return settings_.table.exact ? known.depth == depth : known.depth >= depth;
    }
    /// Mates are stored as seen from their position, not from the root.
    static int to_table(int score, int ply) {
        return score > quickest_mates ? score + ply : score < -quickest_mates ? score - ply : score;
    }
    static int from_table(int score, int ply) {
        return score > quickest_mates ? score - ply : score < -quickest_mates ? score + ply : score;
    }
    void remember(std::uint64_t key, std::optional<Move> move, int value, int ply, int depth, int alpha, int beta) {
        const Bound bound = value >= beta ? Bound::lower : value > alpha ? Bound::exact : Bound::upper;
        table_.store(key, move ? move->code() : TableEntry::no_move, to_table(value, ply), depth, bound);
    }
    /// Two positions may share a key: what the entry remembers is not always legal here.
    std::optional<Move> usable(const G& game, const TableEntry& known) const {
        if (!settings_.ordering.hash_move || known.move == TableEntry::no_move) return std::nullopt;
        const Move move = Move::from_code(known.move);
        return game.is_legal(move) ? std::optional(move) : std::nullopt;
    }

    void enter_frame(const G& game, std::optional<Move> move, int ply) {
        frames_[at(ply)].shape = move ? shape_of(game, *move) : Place::no_shape;
        std::uint64_t path_key = frames_[at(ply)].path_key;
        if constexpr (Path<G>::needed)
            if (settings_.table.exact) path_key += split_mix(game.hash());
        frames_[at(ply + 1)].path_key = path_key;
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
    AlphaBetaSettings settings_;
    TranspositionTable table_;
    MoveMemory<G> memory_;
    MoveStack<G> stack_;
    Path<G> path_;
    Stop stop_{Limits{}};
    std::vector<Root> roots_;       // settled ones first, then as good as they were in the last iteration
    std::optional<Root> so_far_;    // the best move of an unfinished iteration
    std::vector<Frame> frames_;     // by ply
    std::vector<Move> variations_;  // by ply, one row each: the best line found from there
    std::vector<std::size_t> lengths_;
    std::array<float, 256> logarithms_{};
    std::uint64_t searches_ = 0;
    std::uint64_t nodes_ = 0;
    std::uint64_t horizon_ = 0;  // how often this iteration could not look further
    int root_depth_ = 0;
    int selective_depth_ = 0;
};

}  // namespace hyoka::search
