// SPDX-License-Identifier: Apache-2.0
#include "search/options.h"

namespace hyoka::search {
namespace {

constexpr std::string_view value_help = "The value reported for the position: the best move's or the root's.";
constexpr std::string_view scale_help = "Logistic scale: a score s has the win probability 1 / (1 + exp(-s / scale)).";
constexpr std::string_view evaluation_help =
    "Evaluation file: an evaluation or weights of the built-in one. The names built-in and learned load bundled "
    "models.";
constexpr std::string_view book_plies_help = "Plies taken from a book that is a file of records.";
constexpr double largest_seed = 0x1p63;

template <class Options>
void add_time(SettingTable<Options>& table) {
    table.number("time", &Options::time, 0, 1e7, "Time limit in seconds; 0: none.");
}
template <class Options>
void add_threads_and_seed(SettingTable<Options>& table) {
    table.count("threads", &Options::threads, "Number of search threads.", 256, 1)
        .count("seed", &Options::seed, "Random seed. Searches on one thread with equal seeds are identical.",
               largest_seed);
}
template <class Options>
void add_playouts(SettingTable<Options>& table) {
    table
        .choice("policy", &Options::policy, {"uniform", "strengths", "light"},
                "Playout policy: uniform, by move strengths, or light (Go: captures, escapes and shapes).")
        .number("epsilon", &Options::epsilon, 0, 1,
                "Share of playout moves that are uniformly random (epsilon-greedy).")
        .count("cut", &Options::cut,
               "Cutoff: plies after which a playout ends with an evaluation; 0: evaluate the leaf.", 1e4)
        .flag("quiescence", &Options::quiescence, "Evaluate after a quiescence search (chess, shogi).")
        .number("scale", &Options::scale, 1e-6, 1e9, scale_help)
        .file("strengths", "Move strengths (file) for all components that use them; default: the built-in ones.");
}

SettingTable<UctOptions> uct_settings() {
    SettingTable<UctOptions> table;
    table.count("playouts", &UctOptions::playouts, "Number of simulations; 10,000 if no limit is set.")
        .choice("preset", &UctOptions::preset, {"game", "paper"},
                "Defaults of the other settings: game (the strongest known for each game) or paper (the constants of "
                "the papers).");
    add_time(table);
    table.count("nodes", &UctOptions::nodes, "Limit of expanded nodes in the tree.")
        .choice("formula", &UctOptions::formula, {"ucb1", "ucb1-tuned", "puct"}, "Selection formula in the tree.")
        .number("c", &UctOptions::c, 0, 1000, "Exploration constant; default 1, for puct 1.5.")
        .flag("widening", &UctOptions::widening, "Progressive widening by move strength (Sato 2010).")
        .number("widening_d", &UctOptions::widening_d, 0, 1000, "Progressive widening: weight of the strength.")
        .number("widening_c", &UctOptions::widening_c, 0, 1000, "Progressive widening: exploration constant.")
        .number("widening_e", &UctOptions::widening_e, 1e-6, 1e9, "Progressive widening: virtual visits of each move.")
        .flag("ordered", &UctOptions::ordered,
              "Try unvisited moves in order of strength; default: on for widening and puct.")
        .flag("killer", &UctOptions::killer,
              "Killer moves: explore the most frequent best move of sibling nodes more (Sato 2010).")
        .number("killer_c", &UctOptions::killer_c, 0, 1000, "Killer moves: exploration constant.")
        .flag("history", &UctOptions::history,
              "History heuristic: explore moves more that have often been best (Sato 2010).")
        .number("history_threshold", &UctOptions::history_threshold, 0, 1,
                "History heuristic: minimum share of nodes at which a move was best.")
        .number("rave", &UctOptions::rave, 0, 1e9,
                "RAVE (all moves as first): its equivalence parameter k, about 1000 in Go; 0: off.")
        .number("reduction", &UctOptions::reduction, -1, 1,
                "PUCT: first-play urgency, as a reduction from the node's value.");
    add_playouts(table);
    table.file("prior_strengths", "Move strengths (file) for PUCT priors and move ordering only.")
        .file("widening_strengths", "Move strengths (file) for progressive widening only.")
        .file("playout_strengths", "Move strengths (file) for playouts only.")
        .file("eval", evaluation_help)
        .count("prior", &UctOptions::prior,
               "Virtual visits with which the static evaluation initializes a node (Nakamura 2007).", 1e6)
        .choice("prior_when", &UctOptions::prior_when, {"visit", "expansion"},
                "When a node is evaluated: at its first visit, or at its parent's expansion with all siblings.")
        .number("mix", &UctOptions::mix, 0, 1, "Weight of the evaluation in a leaf's value; the rest is the playout's.")
        .number("minimax", &UctOptions::minimax, 0, 1,
                "Implicit minimax backups: weight of the minimax value against the mean; 0: none.")
        .flag("root_quiescence", &UctOptions::root_quiescence,
              "Subtract 0.05 to 0.15 from the win rate of root moves after which captures lose material (Sato 2010; "
              "chess, shogi).")
        .count("mate", &UctOptions::mate, "Node limit of a mate search at each leaf (chess, shogi); 0: none.", 1e9)
        .count("ending", &UctOptions::ending,
               "Solve leaves exactly at up to this number of empty squares (Othello); 0: never.", 16)
        .flag("proofs", &UctOptions::proofs, "MCTS-Solver: back up proven wins, losses and draws.")
        .file("book", "Opening book (`hyoka book make`) or a file of records; positions in it are played from it only.")
        .count("book_plies", &UctOptions::book_plies, book_plies_help, 1e4)
        .choice("book_pick", &UctOptions::book_pick, {"search", "frequency"},
                "Choice among book moves: by search, or drawn by frequency (Sato 2010).")
        .count("batch", &UctOptions::batch, "Batch size of an evaluator in Python.", 4096, 1)
        .count("expand", &UctOptions::expand, "Visits before a leaf is expanded.", 1e6);
    add_threads_and_seed(table);
    table.number("memory", &UctOptions::memory, 0.001, 0x1p14, "Memory of the tree in MiB; a full tree stops growing.")
        .flag("reuse", &UctOptions::reuse, "Reuse the subtree of the position reached.")
        .flag("early", &UctOptions::early, "Stop early when no move can overtake the most visited one.")
        .choice("value", &UctOptions::value, {"best", "root"}, value_help);
    return table;
}

SettingTable<MonteCarloOptions> monte_carlo_settings() {
    SettingTable<MonteCarloOptions> table;
    table
        .count("playouts", &MonteCarloOptions::playouts,
               "Total number of playouts, equal for all moves and at least one each; default 5,000.")
        .count("a_move", &MonteCarloOptions::a_move, "Playouts per move; replaces `playouts`.")
        .flag("divide", &MonteCarloOptions::divide,
              "Divide the total by the number of legal moves; each playout starts with a different random move "
              "(Takeuchi 2010).");
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
    table.count("depth", &Options::depth, "Search depth in plies.", 120)
        .count("nodes", &Options::nodes, "Node limit; 100,000 if no limit is set.");
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
              "Quiescence search at the leaves (chess, shogi).")
        .count(
            "hash", [](Options& o) -> auto& { return o.search.table.mebibytes; },
            "Transposition table size in MiB; 0: none.", 0x1p15)
        .count("multipv", in_search(&AlphaBetaSettings::variations), "Number of best moves with exact scores.", 500, 1)
        .file("eval", evaluation_help)
        .number("scale", &Options::scale, 1e-6, 1e9, scale_help)
        .flag("exact", &Options::exact, "Sound techniques only: the value equals minimax to the same depth.")
        .flag("plain", &Options::plain, "Plain alpha-beta without table, move ordering and search windows.")
        .flag("hash_move", ordering(&O::hash_move), "Try the transposition table's move first.")
        .flag("captures", ordering(&O::noisy), "Order captures by static exchange evaluation.")
        .flag("killers", ordering(&O::killers),
              "Killer moves: try quiet moves early that caused a cutoff at the same ply.")
        .flag("history", ordering(&O::history), "History heuristic: try quiet moves early that often caused cutoffs.")
        .flag("principal_variation", windows(&W::principal_variation),
              "Principal variation search: null windows for all but the first move.")
        .count("aspiration", windows(&W::aspiration),
               "Aspiration window: half its initial width around the last score; 0: none.", 1e4)
        .flag("check_extensions", selectivity(&S::check_extensions), "Check extensions: one more ply in check.")
        .flag("null_move", selectivity(&S::null_move), "Null-move pruning.")
        .flag("late_move_reductions", selectivity(&S::late_move_reductions),
              "Late-move reductions: search late quiet moves less deeply first.")
        .flag("late_move_pruning", selectivity(&S::late_move_pruning),
              "Late-move pruning: skip the last quiet moves near the leaves.")
        .flag("futility", selectivity(&S::futility), "Futility pruning near the leaves.")
        .flag("exchange_pruning", selectivity(&S::exchange_pruning),
              "Static exchange pruning: skip moves near the leaves that lose material.")
        .flag("unknown_reductions", selectivity(&S::unknown_reductions),
              "Internal iterative reductions: one ply less without a table move.")
        .flag("delta_pruning", selectivity(&S::delta_pruning),
              "Delta pruning: skip captures that cannot reach the window.")
        .file("book", "Opening book (`hyoka book make`) or a file of records; positions in it are played from it only.")
        .count("book_plies", &Options::book_plies, book_plies_help, 1e4)
        .choice("book_pick", &Options::book_pick, {"frequency", "search", "uct"},
                "Choice among book moves: drawn by frequency, by search, or by `uct` (Sato 2010).")
        .count("seed", &Options::seed, "Random seed of the book moves.", largest_seed);
    return table;
}

template <class Options>
SettingTable<Options> solver_settings() {
    SettingTable<Options> table;
    table.count("nodes", &Options::nodes, "Node limit; 0: none.");
    add_time(table);
    table.count("hash", &Options::hash, "Transposition table size in MiB.", 0x1p15, 1);
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
        SettingTable<RandomOptions> built;
        built.count("seed", &RandomOptions::seed, "Random seed. Searches on one thread with equal seeds are identical.",
                    largest_seed);
        return built;
    }();
    return table;
}
template <>
const SettingTable<RankingOptions>& settings_of() {
    static const auto table = [] {
        SettingTable<RankingOptions> built;
        built.file("strengths", "Move model (file): strengths or a METS tree; default: the built-in strengths.");
        return built;
    }();
    return table;
}

}  // namespace hyoka::search
