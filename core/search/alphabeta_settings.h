// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What makes up an alpha-beta search: each idea a switch.
namespace hyoka::search {

/// Which moves are tried first. None of these changes the value of a full-width search.
struct OrderingSettings {
    bool hash_move = true;  // what the transposition table remembers
    bool noisy = true;      // captures and promotions: good ones early, losing ones last (chess, shogi)
    bool killers = true;    // quiet moves that cut off at the same ply
    bool history = true;    // quiet moves that often cut off anywhere, or in reply to the same move
    friend bool operator==(const OrderingSettings&, const OrderingSettings&) = default;
};

struct TableSettings {
    int mebibytes = 16;  // 0: no table
    /// Believes only what this search has found out for exactly the depth and path in question. Repetition and superko
    /// make a position's value depend on the way to it, which tables otherwise ignore.
    bool exact = false;
    friend bool operator==(const TableSettings&, const TableSettings&) = default;
};

struct WindowSettings {
    bool principal_variation = true;  // later moves must first show, in a null window, that they are better
    int aspiration = 25;              // half the first window around the last iteration's score; 0: all scores
    friend bool operator==(const WindowSettings&, const WindowSettings&) = default;
};

/// What makes a search go deeper here and less deep there: with any of these its value is a judgement, not a minimax.
/// All but late move reductions need to know a game's tactics and are without effect elsewhere.
struct SelectivitySettings {
    bool check_extensions = true;      // a ply more in check
    bool null_move = true;             // a side that is well off even after skipping a turn need not search on
    bool late_move_reductions = true;  // late quiet moves are searched less deep at first; needs principal_variation
    bool late_move_pruning = true;     // near the leaves the last quiet moves are left out
    bool futility = true;              // near the leaves what is far from the window is left out
    bool exchange_pruning = true;      // near the leaves moves that lose material are left out
    bool unknown_reductions = true;    // a ply less where the table has no move
    bool delta_pruning = true;         // captures in quiescence that can't reach the window are left out
    friend bool operator==(const SelectivitySettings&, const SelectivitySettings&) = default;

    static constexpr SelectivitySettings none() { return {false, false, false, false, false, false, false, false}; }
};

struct AlphaBetaSettings {
    TableSettings table{};
    OrderingSettings ordering{};
    WindowSettings windows{};
    SelectivitySettings selectivity{};
    /// Goes on at the leaves with captures, promotions and evasions until it's quiet (chess, shogi).
    bool quiescence = true;
    int variations = 1;  // how many of the best root moves get an exact score
    friend bool operator==(const AlphaBetaSettings&, const AlphaBetaSettings&) = default;

    /// Fast, and its value is that of minimax to the same depth (with the same quiescence).
    static AlphaBetaSettings exact() {
        AlphaBetaSettings settings;
        settings.table.exact = true;
        settings.selectivity = SelectivitySettings::none();
        return settings;
    }
    /// Alpha-beta and nothing else, moves in the game's order.
    static AlphaBetaSettings plain() {
        return {.table = {.mebibytes = 0, .exact = true},
                .ordering = {false, false, false, false},
                .windows = {.principal_variation = false, .aspiration = 0},
                .selectivity = SelectivitySettings::none(),
                .quiescence = false};
    }
};

}  // namespace hyoka::search
