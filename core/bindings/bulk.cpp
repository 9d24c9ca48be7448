// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include <algorithm>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "bulk/bulk.h"
#include "features/all.h"

namespace hyoka::bindings {
namespace {

using namespace bulk;

/// The columns' numbers; throws KeyError for a name that the game has none of.
std::vector<std::size_t> columns_named(GameKind game, const std::vector<std::string>& names) {
    const auto columns =
        with_game(game, []<class G>(std::type_identity<G>) { return features::Describer<G>::columns(); });
    std::vector<std::size_t> found;
    for (const std::string& name : names) {
        const auto column = std::ranges::find(columns, name, &features::Column::name);
        if (column == columns.end()) throw nb::key_error(name.c_str());
        found.push_back(static_cast<std::size_t>(column - columns.begin()));
    }
    return found;
}

nb::dict describe(const HeldTable& held, const std::vector<std::string>& names, unsigned threads,
                  const Progress& progress) {
    ColumnPass pass(columns_named(held.games.kind, names), held.games.rows());
    run_pass(&pass, held, threads, progress);
    nb::dict found;
    found["first_to_play"] = to_numpy(std::move(pass.first_to_play));
    for (std::size_t i = 0; i < names.size(); ++i) found[names[i].c_str()] = to_numpy(std::move(pass.columns[i]));
    return found;
}

auto outcomes(const HeldTable& held, unsigned threads, const Progress& progress) {
    OutcomePass pass(held.games.rows());
    run_pass(&pass, held, threads, progress);
    return to_numpy(std::move(pass.results));
}

/// Offsets, terms, amounts and progress of the rows that `get` finds in parts.
template <class Part, class Get>
auto terms_to_numpy(std::vector<Part>& parts, Get&& get) {
    return std::tuple(to_numpy(joined_offsets(parts, [&](Part& part) -> auto& { return get(part).amounts.offsets; })),
                      to_numpy(joined(parts, [&](Part& part) -> auto& { return get(part).amounts.columns; })),
                      to_numpy(joined(parts, [&](Part& part) -> auto& { return get(part).amounts.amounts; })),
                      to_numpy(joined(parts, [&](Part& part) -> auto& { return get(part).progress; })));
}
/// Offsets and items of lists that `get` finds in parts.
template <class Part, class Get>
auto lists_to_numpy(std::vector<Part>& parts, Get&& get) {
    return std::tuple(to_numpy(joined_offsets(parts, [&](Part& part) -> auto& { return get(part).offsets; })),
                      to_numpy(joined(parts, [&](Part& part) -> auto& { return get(part).items; })));
}

auto count_terms(const HeldTable& held, unsigned threads, const Progress& progress) {
    TermPass pass(held.blocks.size());
    run_pass(&pass, held, threads, progress);
    return terms_to_numpy(pass.parts, [](TermRows& part) -> auto& { return part; });
}

auto count_quiet_terms(const HeldTable& held, std::vector<float> weights, unsigned threads, const Progress& progress) {
    QuietPass pass(std::move(weights), held.blocks.size());
    run_pass(&pass, held, threads, progress);
    return std::tuple(terms_to_numpy(pass.parts, [](QuietRows& part) -> auto& { return part.terms; }),
                      to_numpy(joined(pass.parts, [](QuietRows& part) -> auto& { return part.scores; })),
                      to_numpy(joined(pass.parts, [](QuietRows& part) -> auto& { return part.rests; })),
                      lists_to_numpy(pass.parts, [](QuietRows& part) -> auto& { return part.moves; }));
}

auto list_move_features(const HeldTable& held, unsigned threads, const Progress& progress) {
    MoveFeaturePass pass(held.blocks.size());
    run_pass(&pass, held, threads, progress);
    return std::tuple(lists_to_numpy(pass.parts, [](MoveFeatureRows& part) -> auto& { return part.moves; }),
                      lists_to_numpy(pass.parts, [](MoveFeatureRows& part) -> auto& { return part.features; }),
                      to_numpy(joined(pass.parts, [](MoveFeatureRows& part) -> auto& { return part.played; })));
}

auto predict(const HeldTable& held, const std::shared_ptr<Model>& model, unsigned threads, const Progress& progress) {
    PredictionPass pass(model, held.games.rows());
    run_pass(&pass, held, threads, progress);
    return std::tuple(to_numpy(std::move(pass.ranks)), to_numpy(std::move(pass.choices)),
                      to_numpy(std::move(pass.losses)), to_numpy(std::move(pass.entropies)));
}

auto weigh(const HeldTable& held, const std::shared_ptr<Model>& model, unsigned threads, const Progress& progress) {
    WeighingPass pass(model, held.blocks.size());
    run_pass(&pass, held, threads, progress);
    return std::tuple(lists_to_numpy(pass.parts, [](WeighingRows& part) -> auto& { return part.strengths; }),
                      to_numpy(joined(pass.parts, [](WeighingRows& part) -> auto& { return part.played; })));
}

auto draw_planes(const HeldTable& held, bool with_legal, unsigned threads, const Progress& progress) {
    PlanePass pass(held.games, held.blocks.size(), with_legal);
    run_pass(&pass, held, threads, progress);
    return std::tuple(to_numpy(std::move(pass.planes), {pass.shape[0], pass.shape[1], pass.shape[2]}),
                      to_numpy(std::move(pass.played)),
                      lists_to_numpy(pass.parts, [](Lists<std::uint16_t>& part) -> auto& { return part; }));
}

auto list_network_inputs(const HeldTable& held, const View<std::int64_t>& offsets, const View<std::uint16_t>& codes,
                         std::uint64_t seed, bool with_legal, unsigned threads, const Progress& progress) {
    NetworkPass pass(held.games, span_of(offsets), span_of(codes), seed, with_legal);
    run_pass(&pass, held, threads, progress);
    const std::size_t rows = held.games.rows();
    return std::tuple(to_numpy(std::move(pass.inputs), {rows, pass.input_bytes}),
                      to_numpy(std::move(pass.legal), {with_legal ? rows : 0, pass.code_bytes}),
                      to_numpy(std::move(pass.targets)), to_numpy(std::move(pass.first_to_play)));
}

}  // namespace

void bind_bulk(nb::module_& module) {
    nb::class_<HeldTable> table(
        module, "GameTable",
        "Games of one kind side by side and the positions wanted of them; see hyoka.records.bulk.");
    table
        .def(
            "__init__",
            [](HeldTable* made, std::string_view game, const View<std::int64_t>& ids,
               const View<std::int32_t>& start_offsets, const View<std::uint8_t>& start_bytes, const View<double>& komi,
               const View<std::int64_t>& move_offsets, const View<std::uint16_t>& moves,
               const View<std::int64_t>& row_offsets, const View<std::int32_t>& plies) {
                const std::span bytes = span_of(start_bytes);
                GameTable games{.kind = game_named(game),
                                .ids = span_of(ids),
                                .start_offsets = span_of(start_offsets),
                                .start_bytes = {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                .komi = span_of(komi),
                                .move_offsets = span_of(move_offsets),
                                .moves = span_of(moves),
                                .row_offsets = span_of(row_offsets),
                                .plies = span_of(plies)};
                games.check();
                new (made) HeldTable{ids,   start_offsets, start_bytes, komi,  move_offsets,
                                     moves, row_offsets,   plies,       games, blocks_of(games)};
            },
            "game"_a, "ids"_a, "start_offsets"_a, "start_bytes"_a, "komi"_a, "move_offsets"_a, "moves"_a,
            "row_offsets"_a, "plies"_a,
            "Views of arrays: texts, moves and wanted plies of game i are those from offset i to offset i + 1.")
        .def("__len__", [](const HeldTable& held) { return held.games.rows(); })
        .def("describe", &describe, "columns"_a, "threads"_a, "progress"_a.none(),
             nb::sig("def describe(self, columns: collections.abc.Sequence[str], threads: int, progress: "
                     "collections.abc.Callable[[int], None] | None) -> dict[str, NDArray[typing.Any]]"),
             "Columns that describe the positions, and `first_to_play`.")
        .def("outcomes", &outcomes, "threads"_a, "progress"_a.none(),
             "Results by the rules: 1, 0, -1 for the first player, 2 if the game goes on.")
        .def("terms", &count_terms, "threads"_a, "progress"_a.none(),
             "Of an evaluation's terms those that are not 0: offsets, terms, amounts; and the positions' progress.")
        .def("quiet_terms", &count_quiet_terms, "weights"_a, "threads"_a, "progress"_a.none(),
             "The same of the positions where quiescence searches come to rest; what the searches say for the first "
             "player, whether that is the last position's evaluation, and the moves to it (offsets, codes).")
        .def("move_features", &list_move_features, "threads"_a, "progress"_a.none(),
             "The legal moves of each position (offsets, codes), the features of each move (offsets, features), and "
             "which of its moves was played, or -1.")
        .def("predict", &predict, "model"_a, "threads"_a, "progress"_a.none(),
             "How high a move model puts the moves played: ranks from 1 on (0: no legal move), how many legal moves "
             "there are, -log of the chance that the strengths give to the move, and the entropy of those chances.")
        .def("weigh", &weigh, "model"_a, "threads"_a, "progress"_a.none(),
             "How strong a move model finds each legal move (offsets, strengths), and which was played, or -1.")
        .def("network_inputs", &list_network_inputs, "target_offsets"_a, "target_codes"_a, "seed"_a, "with_legal"_a,
             "threads"_a, "progress"_a.none(),
             "Positions as networks see them, a bit an input; the legal moves, a bit a code; the codes given by "
             "position, as the mover sees them; and whether the first player is to move.")
        .def("planes", &draw_planes, "with_legal"_a, "threads"_a, "progress"_a.none(),
             "Planes by position, plane and cell; the codes of the moves played, or -1; the legal ones (offsets, "
             "codes).");
    module.def(
        "plane_names", [](std::string_view game) { return plane_names(game_named(game)); }, "game"_a,
        "Meanings of a game's planes.");
}

}  // namespace hyoka::bindings
