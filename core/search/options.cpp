// SPDX-License-Identifier: Apache-2.0
#include "search/options.h"

#include "search/selection.h"
#include "search/settings.h"

namespace hyoka::search {
namespace {

constexpr std::string_view value_help = "The value reported for the position: the best move's or the root's.";
constexpr std::string_view scale_help = "Logistic scale: a score s has the win probability 1 / (1 + exp(-s / scale)).";
constexpr std::string_view evaluation_help =
    "Evaluation file: an evaluation or weights of the built-in one. The names built-in and learned load bundled "
    "models.";
constexpr std::string_view book_plies_help = "Plies taken from a book that is a file of records.";
constexpr double largest_seed = 0x1p63;
const std::vector<std::string_view> evaluation_kinds = {"weights", "evaluation", "perceptrons", "network",
                                                        "convolution"};
const std::vector<std::string_view> move_model_kinds = {"strengths", "mets",    "latent",
                                                        "combined",  "network", "convolution"};
const std::string built_in = "built-in";

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
        .count("cutoff", &Options::cutoff,
               "Cutoff: plies after which a playout ends with an evaluation; 0: evaluate the leaf.", 1e4)
        .flag("quiescence", &Options::quiescence, "Evaluate after a quiescence search (chess, shogi).")
        .number("scale", &Options::scale, 1e-6, 1e9, scale_help)
        .file("strengths", move_model_kinds,
              "Move strengths (file) for all components that use them; default: the built-in ones.", built_in);
}

/// `conditions`: when positions are evaluated.
template <class Options>
void add_evaluation_needs(SettingTable<Options>& table, std::initializer_list<std::string_view> conditions) {
    table.object("evaluation").needs("not evaluation", {"eval"}).needs("not evaluation=function", {"scale"});
    for (const auto condition : conditions) table.needs(condition, {"eval", "scale", "evaluation", "quiescence"});
}
template <class Options>
void add_book_needs(SettingTable<Options>& table) {
    table.needs("book=FILE", {"book_plies"}).needs("book", {"book_pick"});
}

SettingTable<UctOptions> uct_settings() {
    std::vector<std::string_view> formula_names;
    for (const NamedFormula& formula : formulas) formula_names.push_back(formula.name);
    SettingTable<UctOptions> table;
    table.count("playouts", &UctOptions::playouts, "Number of simulations; 10,000 if no limit is set.")
        .choice("preset", &UctOptions::preset, {"game", "paper"},
                "Defaults of the other settings: game (the strongest known for each game) or paper (the constants of "
                "the papers).");
    add_time(table);
    table.count("nodes", &UctOptions::nodes, "Limit of expanded nodes in the tree.")
        .choice("formula", &UctOptions::formula, formula_names, "Selection formula in the tree.")
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
    table.file("prior_strengths", move_model_kinds, "Move strengths (file) for PUCT priors and move ordering only.")
        .file("widening_strengths", move_model_kinds, "Move strengths (file) for progressive widening only.")
        .file("playout_strengths", move_model_kinds, "Move strengths (file) for playouts only.")
        .file("eval", evaluation_kinds, evaluation_help, built_in)
        .count("eval_visits", &UctOptions::eval_visits,
               "Virtual visits with which the static evaluation initializes a node (Nakamura 2007).", 1e6)
        .choice("eval_when", &UctOptions::eval_when, {"visit", "expansion"},
                "When a node is evaluated: at its first visit, or at its parent's expansion with all siblings.")
        .number("eval_weight", &UctOptions::eval_weight, 0, 1,
                "Weight of the evaluation in a leaf's value; the rest is the playout's.")
        .number("minimax", &UctOptions::minimax, 0, 1,
                "Implicit minimax backups: weight of the minimax value against the mean; 0: none.")
        .flag("root_quiescence", &UctOptions::root_quiescence,
              "Subtract 0.05 to 0.15 from the win rate of root moves after which captures lose material (Sato 2010; "
              "chess, shogi).")
        .choice("root_penalty", &UctOptions::root_penalty, {"subtract", "multiply"},
                "Root quiescence: subtract 0.05 to 0.15 from the win rate, or multiply it by 0.95 to 0.85.")
        .choice("root_loss", &UctOptions::root_loss, {"change", "balance"},
                "Root quiescence: what is lost, the change of material since the root or the balance of material.")
        .count("mate", &UctOptions::mate, "Node limit of a mate search at each leaf (chess, shogi); 0: none.", 1e9)
        .count("ending", &UctOptions::ending,
               "Solve leaves exactly at up to this number of empty squares (Othello); 0: never.", 16)
        .flag("proofs", &UctOptions::proofs, "MCTS-Solver: back up proven wins, losses and draws.")
        .file("book", {"book"},
              "Opening book (`hyoka book make`) or a file of records; positions in it are played from it only.")
        .count("book_plies", &UctOptions::book_plies, book_plies_help, 1e4)
        .choice("book_pick", &UctOptions::book_pick, {"search", "frequency"},
                "Choice among book moves: by search, or drawn by frequency (Sato 2010).")
        .count("batch", &UctOptions::batch, "Batch size of an evaluator in Python.", 4096, 1)
        .count("expand", &UctOptions::expand, "Visits before a leaf is expanded.", 1e6);
    add_threads_and_seed(table);
    table.number("memory", &UctOptions::memory, 0.001, 0x1p14, "Memory of the tree in MiB; a full tree stops growing.")
        .flag("reuse", &UctOptions::reuse, "Reuse the subtree of the position reached.")
        .flag("early", &UctOptions::early, "Stop early when no move can overtake the most visited one.")
        .choice("value", &UctOptions::value, {"best", "root"}, value_help)
        .object("evaluator");
    table.limits({"playouts", "time", "nodes"}, "playouts", 10'000);
    table.default_if("", "ordered", false).default_if("widening", "ordered", true);
    std::string has_priors;
    for (const NamedFormula& formula : formulas) {
        const std::string chosen = "formula=" + std::string(formula.name);
        table.default_if(chosen, "c", formula.exploration);
        if (!formula.uses_priors) continue;
        table.default_if(chosen, "ordered", true);
        has_priors += (has_priors.empty() ? "" : " or ") + chosen;
    }
    table.same_as("strengths", {"prior_strengths", "widening_strengths", "playout_strengths"});
    table
        .needs("not evaluator", {"policy", "epsilon", "cutoff", "eval_weight", "strengths", "prior_strengths",
                                 "widening_strengths", "playout_strengths", "ordered"})
        .needs("evaluator", {"batch"})
        .needs("widening", {"widening_d", "widening_c", "widening_e", "widening_strengths"})
        .needs("killer", {"killer_c"})
        .needs("history", {"history_threshold"})
        .needs("root_quiescence", {"root_penalty", "root_loss"})
        .needs(has_priors, {"reduction"})
        .needs("not widening", {"reduction"})
        .needs("ordered", {"prior_strengths"})
        .needs("not policy=uniform", {"epsilon"})
        .needs("policy=strengths", {"playout_strengths"})
        .needs("policy=strengths or ordered", {"strengths"})
        .needs("eval_visits", {"eval_when"})
        .needs("not cutoff=0", {"eval_weight"});
    add_evaluation_needs(table, {"eval_visits or cutoff or eval_weight or minimax", "eval_visits or not evaluator"});
    add_book_needs(table);
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
    table.file("eval", evaluation_kinds, evaluation_help, built_in);
    add_threads_and_seed(table);
    table.choice("value", &MonteCarloOptions::value, {"best", "root"}, value_help)
        .limits({"playouts", "a_move", "time"}, "playouts", 5'000)
        .needs("not a_move", {"playouts", "divide"})
        .needs("not policy=uniform", {"epsilon"})
        .needs("policy=strengths", {"strengths"});
    add_evaluation_needs(table, {"cutoff"});
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
        .file("eval", evaluation_kinds, evaluation_help, built_in)
        .number("scale", &Options::scale, 1e-6, 1e9, scale_help)
        .flag("exact", &Options::exact, "Sound techniques only: the value equals minimax to the same depth.")
        .flag(
            "plain", &Options::plain,
            "Plain alpha-beta: no table, move ordering, search windows, extensions, reductions, pruning or quiescence.")
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
        .file("book", {"book"},
              "Opening book (`hyoka book make`) or a file of records; positions in it are played from it only.")
        .count("book_plies", &Options::book_plies, book_plies_help, 1e4)
        .choice("book_pick", &Options::book_pick, {"frequency", "search", "uct"},
                "Choice among book moves: drawn by frequency, by search, or by `uct` (Sato 2010).")
        .count("seed", &Options::seed, "Random seed of the book moves.", largest_seed)
        .object("evaluation");
    table.limits({"depth", "nodes", "time"}, "nodes", 100'000);
    for (auto [name, preset] :
         {std::pair{"exact", AlphaBetaSettings::exact()}, std::pair{"plain", AlphaBetaSettings::plain()}}) {
        Options options;
        options.search = preset;
        table.default_if(name, options);
    }
    table.needs("not plain", {"exact"})
        .needs("principal_variation", {"late_move_reductions"})
        .needs("not evaluation", {"eval"})
        .needs("book", {"seed"})
        .needs("not book_pick=search", {"seed"});
    add_book_needs(table);
    return table;
}

template <class Options>
SettingTable<Options> solver_settings() {
    SettingTable<Options> table;
    table.count("nodes", &Options::nodes, "Node limit; 0: none.");
    add_time(table);
    table.count("hash", &Options::hash, "Transposition table size in MiB.", 0x1p15, 1).limits({"nodes", "time"});
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
        built.file("strengths", move_model_kinds,
                   "Move model (file): strengths or a METS tree; default: the built-in strengths.", built_in);
        return built;
    }();
    return table;
}

}  // namespace hyoka::search
