// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Settings of alpha-beta: one switch per technique.
namespace hyoka::search {

/// Move ordering. It does not change the value of a full-width search.
struct OrderingSettings {
    bool hash_move = true;  // move of the transposition table
    bool noisy = true;      // captures and promotions: good ones early, losing ones last (chess, shogi)
    bool killers = true;    // killer moves: quiet moves with a cutoff at the same ply
    bool history = true;    // history and countermove heuristics for quiet moves
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
    bool principal_variation = true;  // principal variation search: null windows for later moves
    int aspiration = 25;              // aspiration window: half its initial width; 0: full window
    friend bool operator==(const WindowSettings&, const WindowSettings&) = default;
};

/// Extensions, reductions and pruning. With any of these the value is no longer exact minimax.
/// All but late-move reductions need a game's tactics and are ineffective elsewhere.
struct SelectivitySettings {
    bool check_extensions = true;      // a ply more in check
    bool null_move = true;             // null-move pruning
    bool late_move_reductions = true;  // needs principal_variation
    bool late_move_pruning = true;     // skips the last quiet moves near the leaves
    bool futility = true;              // futility pruning near the leaves
    bool exchange_pruning = true;      // static exchange pruning near the leaves
    bool unknown_reductions = true;    // internal iterative reductions
    bool delta_pruning = true;         // skips captures in quiescence that cannot reach the window
    friend bool operator==(const SelectivitySettings&, const SelectivitySettings&) = default;

    static constexpr SelectivitySettings none() { return {false, false, false, false, false, false, false, false}; }
};

struct AlphaBetaSettings {
    TableSettings table{};
    OrderingSettings ordering{};
    WindowSettings windows{};
    SelectivitySettings selectivity{};
    /// Quiescence search at the leaves: captures, promotions and evasions (chess, shogi).
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
