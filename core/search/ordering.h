// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "game.h"
#include "search/alphabeta_settings.h"
#include "search/tactics.h"

namespace hyoka::search {

/// Where in a search moves are looked for.
struct Place {
    Player player;  // to move
    int ply;
    std::uint32_t previous;  // the shape of the move before; no_shape: none, or a skipped turn
    static constexpr std::uint32_t no_shape = 0xffffffff;
};

/// Many scores that start as 0, few of which are ever written: clearing them costs as much as was written.
class SparseScores {
public:
    using Score = std::int16_t;

    explicit SparseScores(std::size_t count) : scores_(count), is_written_(count / block_size + 1) {}

    Score operator[](std::size_t index) const { return scores_[index]; }
    Score& write(std::size_t index) {
        const std::size_t block = index / block_size;
        if (!is_written_[block]) {
            is_written_[block] = true;
            written_.push_back(block);
        }
        return scores_[index];
    }
    void clear() {
        for (const std::size_t block : written_) {
            const std::size_t begin = block * block_size;
            std::fill_n(&scores_[begin], std::min(block_size, scores_.size() - begin), Score{0});
            is_written_[block] = false;
        }
        written_.clear();
    }

private:
    static constexpr std::size_t block_size = 256;

    std::vector<Score> scores_;
    std::vector<std::uint8_t> is_written_;  // by block
    std::vector<std::size_t> written_;      // the blocks
};

/// Killer moves and history of quiet moves.
template <Game G>
class MoveMemory {
public:
    using Move = typename G::Move;
    static constexpr int limit = 8192;  // of a history score, either way

    MoveMemory(const OrderingSettings& settings, int plies)
        : settings_(settings),
          mask_(std::bit_ceil(std::min<std::uint32_t>(G::Move::code_count, 1u << 16)) - 1),
          killers_(static_cast<std::size_t>(plies)),
          history_(2 * (std::size_t{mask_} + 1)),
          replies_(std::size_t{2} * shapes<G> * shapes<G>) {}

    void clear() {
        std::fill(killers_.begin(), killers_.end(), Killers{});
        history_.clear();
        replies_.clear();
    }
    /// Killers belong to one search; the rest still holds in the next.
    void start_search() { std::fill(killers_.begin(), killers_.end(), Killers{}); }
    const OrderingSettings& settings() const { return settings_; }
    /// From -2 * limit to 2 * limit: how often the move cut off here rather than not, alone and as a reply.
    int history(const G& game, Move move, const Place& place) const {
        if (!settings_.history) return 0;
        const int alone = history_[slot(place.player, move)];
        if (place.previous == Place::no_shape) return alone;
        return alone + replies_[reply_row(place) + shape_of(game, move)];
    }
    /// Where a quiet move stands among the others.
    int score(const G& game, Move move, const Place& place) const {
        if (settings_.killers) {
            const Killers& killers = killers_[static_cast<std::size_t>(place.ply)];
            if (killers[0] == move) return 4 * limit;
            if (killers[1] == move) return 3 * limit;
        }
        return history(game, move, place);
    }
    /// A quiet move has cut off after the quiet moves `tried`, which have not.
    void cut_off(const G& game, Move move, std::span<const Move> tried, const Place& place, int depth) {
        Killers& killers = killers_[static_cast<std::size_t>(place.ply)];
        if (killers[0] != move) killers = {move, killers[0]};
        const int bonus = std::min(16 * depth * depth, 1200);
        adjust(game, move, place, bonus);
        for (const Move failed : tried) adjust(game, failed, place, -bonus);
    }

private:
    using Killers = std::array<std::optional<Move>, 2>;
    using Score = SparseScores::Score;

    std::size_t slot(Player player, Move move) const {
        return static_cast<std::size_t>(index_of(player)) * (mask_ + 1) + (move.code() & mask_);
    }
    static std::size_t reply_row(const Place& place) {
        return (static_cast<std::size_t>(index_of(place.player)) * shapes<G> + place.previous) * shapes<G>;
    }
    void adjust(const G& game, Move move, const Place& place, int bonus) {
        adjust(history_.write(slot(place.player, move)), bonus);
        if (place.previous != Place::no_shape) adjust(replies_.write(reply_row(place) + shape_of(game, move)), bonus);
    }
    /// The nearer to the limit a score is, the less it moves towards it.
    static void adjust(Score& score, int bonus) {
        score = static_cast<Score>(score + bonus - score * std::abs(bonus) / limit);
    }

    OrderingSettings settings_;
    std::uint32_t mask_;
    std::vector<Killers> killers_;  // by ply
    SparseScores history_;          // by player and move
    SparseScores replies_;          // by player, the shape of the move before, and the move's
};

template <class Move>
struct ScoredMove {
    Move move;
    int score;
};

/// The moves of all positions on the search's path, one list upon the other. Grows at first, then allocates no more.
template <Game G>
using MoveStack = std::vector<ScoredMove<typename G::Move>>;

/// Which moves of a position a search wants.
enum class Wanted : std::uint8_t {
    all,
    profitable,  // noisy ones that lose no material
};

/// The moves of one position, likely cutoffs first: the table's move, good captures, quiet moves, losing captures.
/// Moves are generated when they are asked for. The youngest of several pickers must go first.
template <Game G>
class MovePicker {
public:
    using Move = typename G::Move;

    MovePicker(const G& game, const MoveMemory<G>& memory, MoveStack<G>& stack, std::optional<Move> hash_move,
               const Place& place, Wanted wanted = Wanted::all)
        : game_(game),
          memory_(memory),
          stack_(stack),
          begin_(stack.size()),
          hash_move_(hash_move),
          place_(place),
          wanted_(wanted),
          noisy_apart_(Tactical<G> && (memory.settings().noisy || wanted == Wanted::profitable)),
          next_(begin_) {}
    MovePicker(const MovePicker&) = delete;
    MovePicker& operator=(const MovePicker&) = delete;
    ~MovePicker() { stack_.resize(begin_); }

    std::optional<Move> next() {
        switch (stage_) {
            case Stage::hash:
                stage_ = Stage::start;
                if (hash_move_) return hash_move_;
                [[fallthrough]];
            case Stage::start:
                stage_ = Stage::noisy;
                if (noisy_apart_) list_noisy();
                [[fallthrough]];
            case Stage::noisy:
                while (next_ < stack_.size()) {
                    const Move move = pick();
                    if (!postponed(move)) return move;
                }
                if (wanted_ == Wanted::profitable) return std::nullopt;
                stage_ = Stage::quiet;
                losers_end_ = begin_ + losers_;
                stack_.resize(losers_end_);
                if (!skips_quiet_) list_quiet();
                next_ = losers_end_;
                picked_ = 0;
                [[fallthrough]];
            case Stage::quiet:
                if (next_ < stack_.size() && !skips_quiet_) return pick();
                stage_ = Stage::losing;
                next_ = begin_;
                [[fallthrough]];
            case Stage::losing: break;
        }
        if (next_ < losers_end_) return stack_[next_++].move;
        return std::nullopt;
    }
    /// No quiet move is wanted any more.
    void skip_quiet() { skips_quiet_ = true; }

private:
    enum class Stage : std::uint8_t { hash, start, noisy, quiet, losing };

    void add(Move move, int score) {
        if (move != hash_move_) stack_.push_back({move, score});
    }
    void list_noisy() {
        if constexpr (Tactical<G>)
            for (const Move move : game_.noisy_moves()) add(move, memory_.settings().noisy ? noisy_score(move) : 0);
    }
    /// The biggest victim first, taken by the smallest piece.
    int noisy_score(Move move) const {
        if constexpr (Tactical<G>)
            return 16 * Tactics<G>::gain(game_, move) - Tactics<G>::stake(game_, move);
        else
            return 0;
    }
    void list_quiet() {
        const auto add_all = [&](const auto& moves) {
            for (const Move move : moves) add(move, memory_.score(game_, move, place_));
        };
        if constexpr (Tactical<G>)
            if (noisy_apart_) return add_all(game_.quiet_moves());
        add_all(game_.legal_moves());
    }
    /// Selects the best of the moves left. After a few the rest is worth sorting.
    Move pick() {
        const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(next_);
        const auto better = [](const auto& a, const auto& b) { return a.score > b.score; };
        if (picked_ < 6)
            std::iter_swap(first, std::min_element(first, stack_.end(), better));
        else if (picked_ == 6)
            std::sort(first, stack_.end(), better);
        ++picked_;
        return stack_[next_++].move;
    }
    /// Puts a capture that loses material back to the list's front, for the end.
    bool postponed(Move move) {
        if constexpr (Tactical<G>) {
            if (!loses_more_than(0, game_, move)) return false;
            stack_[begin_ + losers_++] = {move, 0};
            return true;
        } else {
            return false;
        }
    }

    const G& game_;
    const MoveMemory<G>& memory_;
    MoveStack<G>& stack_;
    std::size_t begin_;  // of this position's part of the stack
    std::optional<Move> hash_move_;
    Place place_;
    Wanted wanted_;
    bool noisy_apart_;
    bool skips_quiet_ = false;
    Stage stage_ = Stage::hash;
    std::size_t next_;
    std::size_t picked_ = 0;
    std::size_t losers_ = 0;
    std::size_t losers_end_ = 0;
};

}  // namespace hyoka::search
