// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "games/all.h"
#include "mets/grow.h"
#include "mets/model.h"

namespace hyoka::bindings {
namespace {

using namespace passes;

/// Runs `work`, which `game` must be fit for: its moves are points.
template <class Work>
auto with_points(std::string_view game, Work&& work) {
    return with_game(game_named(game), [&]<class G>(std::type_identity<G> kind) {
        if constexpr (mets::ByPoints<G>)
            return work(kind);
        else
            return throw std::invalid_argument("moves of " + std::string(G::name) + " are no points: it has no METS"),
                   work(std::type_identity<Othello>());
    });
}

mets::Tree grow_tree(const HeldTable& held, std::uint32_t threshold, bool symmetric, unsigned threads,
                     const Progress& progress) {
    PatternPass found(held.games);
    run_pass(&found, held, threads, {});
    const mets::Patterns patterns{.side = found.side,
                                  .boards = found.boards,
                                  .points = found.points,
                                  .movers = found.movers,
                                  .symmetries = symmetric ? 8 : 1};
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (found.points.size() > most / static_cast<std::size_t>(patterns.symmetries))
        throw std::invalid_argument("more moves than a tree can be grown from: some 4 billion patterns");
    mets::Growing growing;
    growing.threshold = std::max(threshold, 1u);
    growing.threads = std::clamp(threads, 1u, 1024u);
    mets::Tree tree;
    const Tick tick = telling(progress, growing.done);
    run_beside(growing.stop, 0.2, tick, [&] { tree = mets::grow(patterns, growing); });
    return tree;
}

mets::Tree count_leaves(const mets::Tree& tree, const HeldTable& held, unsigned threads, const Progress& progress) {
    LeafCountPass pass(tree);
    run_pass(&pass, held, threads, progress);
    return tree.with_leaves(std::move(pass.leaves));
}

/// The leaf of each empty point of a position, -1 for none; -2 where there is a stone.
std::vector<std::int64_t> leaves_of(const mets::Tree& tree, nb::handle position, std::string_view game) {
    return with_points(game, [&]<class G>(std::type_identity<G>) {
        using Points = mets::PointGame<G>;
        const G& at = nb::cast<const G&>(position);
        mets::Board<Points::side> board;
        constexpr int area = Points::side * Points::side;
        for (int point = 0; point < area; ++point) board.set(point, Points::stone(at, point));
        std::vector<std::int64_t> found;
        for (int point = 0; point < area; ++point) {
            const auto branch = board.stone(point) == mets::vacant
                                    ? std::optional(board.classify(tree, point, at.to_play()).branch)
                                    : std::nullopt;
            found.push_back(!branch                  ? -2
                            : mets::is_leaf(*branch) ? static_cast<std::int64_t>(mets::leaf_number(*branch))
                                                     : -1);
        }
        return found;
    });
}

/// The points that are asked about on the way to a point's leaf, as down and right from it, with their states.
std::vector<std::tuple<int, int, int>> path_of(const mets::Tree& tree, nb::handle position, std::string_view game,
                                               int middle) {
    return with_points(game, [&]<class G>(std::type_identity<G>) {
        using Points = mets::PointGame<G>;
        constexpr int side = Points::side;
        if (middle < 0 || middle >= side * side) throw nb::index_error("no point of the board");
        const G& at = nb::cast<const G&>(position);
        std::vector<std::tuple<int, int, int>> path;
        mets::Branch branch = tree.root();
        while (mets::is_node(branch)) {
            const mets::Node& node = tree.nodes()[branch];
            const mets::Offset to = mets::questions[node.question];
            const int row = middle / side + to.down;
            const int column = middle % side + to.right;
            int state = mets::outside;
            if (row >= 0 && row < side && column >= 0 && column < side) {
                const int stone = Points::stone(at, row * side + column);
                state = stone == 2 ? mets::vacant : stone == static_cast<int>(at.to_play()) ? mets::own : mets::others;
            }
            path.emplace_back(to.down, to.right, state);
            branch = node.children[state];
        }
        return path;
    });
}

}  // namespace

void bind_mets(nb::module_& module) {
    using mets::Tree;
    nb::class_<Tree>(module, "MetsTree", "A decision tree over the stones around a point; see hyoka.learning.mets.")
        .def_static("grow", &grow_tree, "table"_a, "threshold"_a, "symmetric"_a, "threads"_a, "progress"_a.none(),
                    "A tree over the patterns around the moves of a table's positions; its leaves have no counts yet.")
        .def("counted", &count_leaves, "table"_a, "threads"_a, "progress"_a.none(),
             "The same tree with what came to each leaf in a table's positions.")
        .def_static(
            "from_bytes",
            [](const View<std::uint8_t>& bytes) {
                auto kept = std::make_shared<View<std::uint8_t>>(bytes);
                const auto owner = std::shared_ptr<const void>(kept.get(), [kept](const void*) mutable {
                    const nb::gil_scoped_acquire acquired;
                    kept.reset();
                });
                return Tree::from_bytes(std::as_bytes(span_of(*kept)), owner);
            },
            "bytes"_a, "A tree where it lies in memory, not copied; raises ValueError if it is none.")
        .def("to_bytes",
             [](const Tree& tree) {
                 const auto bytes = tree.to_bytes();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("with_smoothing", &Tree::with_smoothing, "smoothing"_a,
             "The same with so many points of the usual odds added to each leaf's own.")
        .def_prop_ro("smoothing", &Tree::smoothing)
        .def_prop_ro("node_count", [](const Tree& tree) { return tree.nodes().size(); })
        .def_prop_ro("leaf_count", [](const Tree& tree) { return tree.leaves().size(); })
        .def(
            "depths", [](const Tree& tree) { return to_numpy(mets::depths(tree)); },
            "By leaf: how many points are asked about on the way.")
        .def(
            "counts",
            [](const Tree& tree) {
                std::vector<std::int64_t> positive;
                std::vector<std::int64_t> negative;
                for (const mets::Leaf& leaf : tree.leaves()) {
                    positive.push_back(leaf.positive);
                    negative.push_back(static_cast<std::int64_t>(leaf.negative));
                }
                return std::tuple(to_numpy(std::move(positive)), to_numpy(std::move(negative)));
            },
            "By leaf: how often a point there was the move, and how often it was not.")
        .def("leaves_of", &leaves_of, "position"_a, "game"_a,
             "By point: the number of its leaf; -1 where no pattern came, -2 where there is a stone.")
        .def(
            "path_of", &path_of, "position"_a, "game"_a, "point"_a,
            "What is asked on the way to a point's leaf: points down and right from it, and their states (0 own, 1 the "
            "other's, 2 empty, 3 off the board).");
    module.def(
        "mets_model",
        [](std::string_view game, const Tree& tree) {
            const auto ranking = std::make_shared<const mets::Ranking>(tree);
            return with_points(game, [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
                return std::make_shared<mets::MetsModel<G>>(ranking);
            });
        },
        "game"_a, "tree"_a, "A tree as a move model: a move is as strong as the odds of its leaf.");
}

}  // namespace hyoka::bindings
