// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "games/othello.h"
#include "search/limits.h"
#include "search/table_memory.h"

namespace hyoka::search {

struct EndingSettings {
    int hash_mib = 64;
};

struct EndingResult {
    bool solved = false;  // false: a limit came first, and the rest means nothing
    /// Black's discs less White's under best play, empty squares to the winner; of `solve_result` the sign only.
    int score = 0;
    /// Best play to the end, passes included; of `solve_result` the first move only. Empty if the game is over.
    std::vector<Othello::Move> line;
    std::uint64_t nodes = 0;  // positions visited
    double time_s = 0;
};

struct EndingMove {
    Othello::Move move;
    int score;  // as EndingResult's
    friend bool operator==(const EndingMove&, const EndingMove&) = default;
};

struct EndingMoves {
    bool solved = false;            // false: a limit came first, and moves may be missing
    std::vector<EndingMove> moves;  // best for the side to move first
    std::uint64_t nodes = 0;
    double time_s = 0;
};

/// Solves Othello endings exactly: null-window searches with a transposition table, moves ordered by the opponent's
/// mobility and, near the end, by the parity of the empty regions; cut-offs by stable discs.
///
/// The table is kept from call to call: what it holds is true of a position whatever the question was.
class OthelloEnding {
public:
    explicit OthelloEnding(const EndingSettings& settings = {});

    /// The exact score and a line of best play.
    EndingResult solve(const Othello& game, const Limits& limits = {}, const std::atomic<bool>* interrupt = nullptr);
    /// Only who wins, which is quicker.
    EndingResult solve_result(const Othello& game, const Limits& limits = {},
                              const std::atomic<bool>* interrupt = nullptr);
    /// The exact score of every legal move.
    EndingMoves solve_moves(const Othello& game, const Limits& limits = {},
                            const std::atomic<bool>* interrupt = nullptr);
    /// Forgets everything, at no cost.
    void clear();

    const EndingSettings& settings() const { return settings_; }

private:
    using Bits = std::uint64_t;

    /// Table entry of a position: bounds on the score of the side to move.
    struct Entry {
        Bits own;
        Bits opponent;
        std::int8_t lower;
        std::int8_t upper;
        std::uint8_t move;
        std::uint8_t effort;  // logarithm of the nodes spent
        std::uint8_t generation;
        Epoch::Tag epoch;
    };
    static_assert(sizeof(Entry) == 24);
    struct Candidate {
        Bits own;  // after the move, for the one who moves then
        Bits opponent;
        int order;  // the greater the earlier
        std::uint8_t square;
    };

    Entry* bucket_of(Bits own, Bits opponent);
    const Entry* look_up(Bits own, Bits opponent);
    void store(Bits own, Bits opponent, int alpha, int score, int square, std::uint64_t nodes);

    int exceeds(Bits own, Bits opponent, int alpha);
    int search(Bits own, Bits opponent, int alpha, unsigned odd_regions);
    int search_shallow(Bits own, Bits opponent, int alpha, unsigned odd_regions);
    int last_four(Bits own, Bits opponent, int alpha, unsigned odd_regions);
    int last_three(Bits own, Bits opponent, int alpha, Bits empty, unsigned odd_regions);
    int last_two(Bits own, Bits opponent, int alpha, int first, int second);
    int exact(Bits own, Bits opponent, int guess);
    std::optional<Othello::Move> move_worth(const Othello& game, int score);
    void start(const Limits& limits, const std::atomic<bool>* interrupt);

    EndingSettings settings_;
    TableMemory<Entry> table_;
    Epoch epoch_;
    std::uint8_t generation_ = 0;
    std::uint64_t nodes_ = 0;
    Stop stop_{Limits{}};
};

}  // namespace hyoka::search
