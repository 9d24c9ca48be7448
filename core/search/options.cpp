// SPDX-License-Identifier: Apache-2.0
#include "search/options.h"

namespace hyoka::search {
namespace {

constexpr std::string_view value_help = "Which value counts as the position's: that of the best move, or of the root.";
constexpr std::string_view scale_help = "A score s is worth 1 / (1 + exp(-s / scale)).";
constexpr std::string_view evaluation_help =
    "A file with an evaluation, or with weights of the built-in one; built-in or learned: what comes with Hyoka.";
constexpr std::string_view book_plies_help = "How far a book that is a file of records goes.";
constexpr double largest_seed = 0x1p63;

template <class Options>
void add_time(SettingTable<Options>& table) {
    table.number("time", &Options::time, 0, 1e7, "Seconds to think; 0: no limit of time.");
}
template <class Options>
void add_threads_and_seed(SettingTable<Options>& table) {
    table.count("threads", &Options::threads, "Threads at work.", 256, 1)
        .count("seed", &Options::seed, "Chance: the same seed on one thread, the same search.", largest_seed);
}
template <class Options>
void add_playouts(SettingTable<Options>& table) {
    table
        .choice("policy", &Options::policy, {"uniform", "strengths", "light"},
                "How playouts choose: all moves alike, by the strengths of moves, or (Go) by captures, escapes and "
                "shapes.")
        .number("epsilon", &Options::epsilon, 0, 1, "The share of playout moves that are random whatever the policy.")
        .count("cut", &Options::cut, "Plies after which a playout ends with an evaluation; 0 at once.", 1e4)
        .flag("quiescence", &Options::quiescence,
              "Evaluate where captures have come to rest, not as the board stands (chess, shogi).")
        .number("scale", &Options::scale, 1e-6, 1e9, scale_help)
        .file("strengths", "A file with the strengths of moves, for whatever uses some; else the built-in ones.");
}

SettingTable<UctOptions> uct_settings() {
    SettingTable<UctOptions> table;
    table.count("playouts", &UctOptions::playouts, "Simulations; 10,000 if no limit is given.")
        .choice("preset", &UctOptions::preset, {"game", "paper"},
                "What is meant by what is not said: what is known to play the game best, or the papers' constants.");
    add_time(table);
    table.count("nodes", &UctOptions::nodes, "Positions whose moves are in the tree.")
        .choice("formula", &UctOptions::formula, {"ucb1", "ucb1-tuned", "puct"}, "How moves are chosen in the tree.")
        .number("c", &UctOptions::c, 0, 1000, "How much is explored: 1, for puct 1.5.")
        .flag("widening", &UctOptions::widening, "Progressive widening: moves join in by strength (Sato 2010).")
        .number("widening_d", &UctOptions::widening_d, 0, 1000, "Widening: the weight of the strength.")
        .number("widening_c", &UctOptions::widening_c, 0, 1000, "Widening: how much is explored.")
        .number("widening_e", &UctOptions::widening_e, 1e-6, 1e9, "Widening: as if visited so often.")
        .flag("ordered", &UctOptions::ordered,
              "Try moves in the order of their strengths; by default for widening, puct.")
        .flag("killer", &UctOptions::killer, "Explore the commonest best move of sibling nodes more (Sato 2010).")
        .number("killer_c", &UctOptions::killer_c, 0, 1000, "Killer: its exploration.")
        .flag("history", &UctOptions::history, "Explore moves more that have often been best (Sato 2010).")
        .number("history_threshold", &UctOptions::history_threshold, 0, 1, "History: from which share on.")
        .number("rave", &UctOptions::rave, 0, 1e9, "All moves as first: its k, about 1000 in Go; 0: off.")
        .number("reduction", &UctOptions::reduction, -1, 1, "PUCT: by how much unvisited moves start below the node.");
    add_playouts(table);
    table.file("prior_strengths", "The same for the priors of PUCT and the order of moves alone.")
        .file("widening_strengths", "The same for widening alone.")
        .file("playout_strengths", "The same for playouts alone.")
        .file("eval", evaluation_help)
        .count("prior", &UctOptions::prior, "Simulations that a node's static evaluation counts as (Nakamura 2007).",
               1e6)
        .choice("prior_when", &UctOptions::prior_when, {"visit", "expansion"},
                "Whether a node is evaluated when first visited, or with all its siblings.")
        .number("mix", &UctOptions::mix, 0, 1,
                "The share of the evaluation in what a leaf is worth; the rest is the playout's.")
        .number("minimax", &UctOptions::minimax, 0, 1,
                "The share of a move's evaluation backed up by minimax beside its mean (implicit minimax); 0: none.")
        .flag("root_quiescence", &UctOptions::root_quiescence,
              "Subtract 0.05 to 0.15 from the win rate of root moves after which captures lose material (Sato 2010; "
              "chess, shogi).")
        .count("mate", &UctOptions::mate, "Nodes for a mate search at each leaf (chess, shogi); 0: none.", 1e9)
        .count("ending", &UctOptions::ending, "Empty squares at which leaves are solved (Othello); 0: none.", 16)
        .flag("proofs", &UctOptions::proofs, "Back up results that are certain.")
        .file("book", "A book (`hyoka book make`) or a file of records: while in it, only its moves are played.")
        .count("book_plies", &UctOptions::book_plies, book_plies_help, 1e4)
        .choice("book_pick", &UctOptions::book_pick, {"search", "frequency"},
                "How a move of the book is chosen: searched, or drawn by how often it was played (Sato 2010).")
        .count("batch", &UctOptions::batch, "Positions at a time for an evaluator in Python.", 4096, 1)
        .count("expand", &UctOptions::expand, "Visits of a leaf before its moves join the tree.", 1e6);
    add_threads_and_seed(table);
    table.number("memory", &UctOptions::memory, 0.001, 0x1p14, "MiB for the tree; when full it grows no further.")
        .flag("reuse", &UctOptions::reuse, "Keep what was found below the position reached.")
        .flag("early", &UctOptions::early, "Stop when the most visited move can't be overtaken.")
        .choice("value", &UctOptions::value, {"best", "root"}, value_help);
    return table;
}

SettingTable<MonteCarloOptions> monte_carlo_settings() {
    SettingTable<MonteCarloOptions> table;
    table
        .count("playouts", &MonteCarloOptions::playouts,
               "Playouts in all, the same for each move, one at least; 5,000 if none.")
        .count("a_move", &MonteCarloOptions::a_move, "Playouts a move, instead.")
        .flag("divide", &MonteCarloOptions::divide,
              "Divide the playouts by the number of legal moves: so many in all, each after another move, drawn at "
              "random (Takeuchi 2010).");
    add_time(table);
    add_playouts(table);
    table.file("eval", evaluation_help);
    add_threads_and_seed(table);
    table.choice("value", &MonteCarloOptions::value, {"best", "root"}, value_help);
    return table;
}

SettingTable<AlphaBetaOptions> alpha_beta_settings() {
    using Options = AlphaBetaOptions;
    SettingTable<Options> table;
    table.count("depth", &Options::depth, "Plies.", 120)
        .count("nodes", &Options::nodes, "Positions to visit; 100,000 if no limit is given.");
    add_time(table);
    const auto in_search = [](auto field) {
        return [field](Options& o) -> auto& { return std::invoke(field, o.search); };
    };
    const auto ordering = [](auto field) { return [field](Options& o) -> auto& { return o.search.ordering.*field; }; };
    const auto windows = [](auto field) { return [field](Options& o) -> auto& { return o.search.windows.*field; }; };
    const auto selectivity = [](auto field) {
        return [field](Options& o) -> auto& { return o.search.selectivity.*field; };
    };
    using O = OrderingSettings;
    using W = WindowSettings;
    using S = SelectivitySettings;
    table
        .flag("quiescence", in_search(&AlphaBetaSettings::quiescence),
              "Go on with captures at the leaves (chess, shogi).")
        .count(
            "hash", [](Options& o) -> auto& { return o.search.table.mebibytes; },
            "MiB for the transposition table; 0: none.", 0x1p15)
        .count("multipv", in_search(&AlphaBetaSettings::variations), "So many best moves with exact scores.", 500, 1)
        .file("eval", evaluation_help)
        .number("scale", &Options::scale, 1e-6, 1e9, scale_help)
        .flag("exact", &Options::exact, "Only what leaves the value that of minimax to the same depth.")
        .flag("plain", &Options::plain, "No table, no ordering, no windows: alpha-beta and nothing else.")
        .flag("hash_move", ordering(&O::hash_move), "Try the table's move first.")
        .flag("captures", ordering(&O::noisy), "Order captures by exchange.")
        .flag("killers", ordering(&O::killers), "Try moves early that cut off beside.")
        .flag("history", ordering(&O::history), "Try moves early that have often cut off.")
        .flag("principal_variation", windows(&W::principal_variation), "Null windows for all but the first move.")
        .count("aspiration", windows(&W::aspiration), "Half the first window around the last score; 0: none.", 1e4)
        .flag("check_extensions", selectivity(&S::check_extensions), "A ply more in check.")
        .flag("null_move", selectivity(&S::null_move), "Who is well off after skipping a turn need not search on.")
        .flag("late_move_reductions", selectivity(&S::late_move_reductions), "Late quiet moves less deep at first.")
        .flag("late_move_pruning", selectivity(&S::late_move_pruning),
              "Leave out the last quiet moves near the leaves.")
        .flag("futility", selectivity(&S::futility), "Leave out what is far from the window near the leaves.")
        .flag("exchange_pruning", selectivity(&S::exchange_pruning),
              "Leave out moves that lose material near the leaves.")
        .flag("unknown_reductions", selectivity(&S::unknown_reductions), "A ply less where the table has no move.")
        .flag("delta_pruning", selectivity(&S::delta_pruning), "Leave out captures that can't reach the window.")
        .file("book", "A book (`hyoka book make`) or a file of records: while in it, only its moves are played.")
        .count("book_plies", &Options::book_plies, book_plies_help, 1e4)
        .choice("book_pick", &Options::book_pick, {"frequency", "search", "uct"},
                "How a move of the book is chosen: drawn by how often it was played, searched, or by `uct` (Sato "
                "2010).")
        .count("seed", &Options::seed, "Chance: what the book draws.", largest_seed);
    return table;
}

template <class Options>
SettingTable<Options> solver_settings() {
    SettingTable<Options> table;
    table.count("nodes", &Options::nodes, "Positions to visit; 0: no limit.");
    add_time(table);
    table.count("hash", &Options::hash, "MiB for the table.", 0x1p15, 1);
    return table;
}

}  // namespace

template <>
const SettingTable<UctOptions>& settings_of() {
    static const auto table = uct_settings();
    return table;
}
template <>
const SettingTable<MonteCarloOptions>& settings_of() {
    static const auto table = monte_carlo_settings();
    return table;
}
template <>
const SettingTable<AlphaBetaOptions>& settings_of() {
    static const auto table = alpha_beta_settings();
    return table;
}
template <>
const SettingTable<MateOptions>& settings_of() {
    static const auto table = solver_settings<MateOptions>();
    return table;
}
template <>
const SettingTable<ExactOptions>& settings_of() {
    static const auto table = solver_settings<ExactOptions>();
    return table;
}
template <>
const SettingTable<RandomOptions>& settings_of() {
    static const auto table = [] {
        SettingTable<RandomOptions> made;
        made.count("seed", &RandomOptions::seed, "Chance: the same seed on one thread, the same search.", largest_seed);
        return made;
    }();
    return table;
}
template <>
const SettingTable<RankingOptions>& settings_of() {
    static const auto table = [] {
        SettingTable<RankingOptions> made;
        made.file("strengths", "A file that ranks moves: strengths, or a tree of METS; else the built-in strengths.");
        return made;
    }();
    return table;
}

}  // namespace hyoka::search
