// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "games/all.h"
#include "mets/grow.h"
#include "mets/model.h"
#include "mets/starts.h"

namespace hyoka::bindings {
namespace {

using namespace bulk;

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

mets::Tree grow_tree(const HeldTable& held, std::uint32_t threshold, bool symmetric, bool tactics, unsigned threads,
                     const Progress& progress) {
    PatternPass found(held.games, tactics);
    run_pass(&found, held, threads, {});
    const mets::Patterns patterns{.side = found.side,
                                  .boards = found.boards,
                                  .points = found.points,
                                  .movers = found.movers,
                                  .symmetries = symmetric ? 8 : 1,
                                  .answers = found.answers};
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (found.points.size() > most / static_cast<std::size_t>(patterns.symmetries))
        throw std::invalid_argument("more moves than a tree can be grown from: some 4 billion patterns");
    mets::Growing growing;
    growing.threshold = std::max(threshold, 1u);
    growing.threads = std::clamp(threads, 1u, 1024u);
    mets::Tree tree;
    const Tick tick = telling(progress, growing.done);
    mets::Asking asking;
    std::uint64_t fingerprint = 0;
    if (tactics)
        with_points(game_names[static_cast<std::size_t>(held.games.kind)], [&]<class G>(std::type_identity<G>) {
            asking.questions = mets::Tactical<G>::questions().size();
            fingerprint = mets::fingerprint(mets::Tactical<G>::questions());
        });
    run_beside(growing.stop, 0.2, tick, [&] {
        const mets::Top top = tactics ? mets::grow_top(found.sample, asking) : mets::Top();
        tree = mets::grow(patterns, top, growing).with_tactics(top.nodes.empty() ? 0 : fingerprint);
    });
    return tree;
}

mets::Tree count_leaves(const mets::Tree& tree, const HeldTable& held, unsigned threads, const Progress& progress) {
    LeafCountPass pass(tree);
    run_pass(&pass, held, threads, progress);
    return tree.with_leaves(std::move(pass.leaves));
}

using Code = std::optional<std::uint32_t>;

/// The moves that led to a position, by their codes.
template <class G>
strengths::Context<G> context_of(Code last, Code before_last) {
    strengths::Context<G> context;
    const auto move = [](std::uint32_t code) {
        if (code >= G::Move::code_count) throw nb::value_error("no move has this code");
        return G::Move::from_code(code);
    };
    if (last) context.last = move(*last);
    if (before_last) context.before_last = move(*before_last);
    return context;
}

/// A position, ready to look for leaves.
template <class G>
struct Looked {
    using Points = mets::PointGame<G>;

    const mets::Tree& tree;
    const G& at;
    mets::Board<Points::side> board;
    mets::Starts<G> starts;

    Looked(const mets::Tree& asked, nb::handle position, Code last, Code before_last)
        : tree(asked), at(nb::cast<const G&>(position)), starts(asked) {
        for (int point = 0; point < Points::side * Points::side; ++point) board.set(point, Points::stone(at, point));
        starts.look(at, context_of<G>(last, before_last));
    }
};

/// The leaf of each empty point of a position, -1 for none; -2 where there is a stone.
std::vector<std::int64_t> leaves_of(const mets::Tree& tree, nb::handle position, std::string_view game, Code last,
                                    Code before_last) {
    return with_points(game, [&]<class G>(std::type_identity<G>) {
        const Looked<G> looked(tree, position, last, before_last);
        std::vector<std::int64_t> found;
        for (int point = 0; point < mets::PointGame<G>::side * mets::PointGame<G>::side; ++point) {
            if (looked.board.stone(point) != mets::vacant) {
                found.push_back(-2);
                continue;
            }
            const mets::Branch start = looked.starts(static_cast<std::size_t>(point));
            const mets::Branch end = looked.board.classify(tree, point, looked.at.to_play(), start).branch;
            found.push_back(mets::is_leaf(end) ? static_cast<std::int64_t>(mets::leaf_number(end)) : -1);
        }
        return found;
    });
}

/// The odds of each empty point of a position; 0 where there is a stone, and where no pattern came unless smoothed.
auto odds_of(const mets::Tree& tree, nb::handle position, std::string_view game, Code last, Code before_last) {
    return with_points(game, [&]<class G>(std::type_identity<G>) {
        const Looked<G> looked(tree, position, last, before_last);
        const mets::Odds odds(tree);
        std::vector<double> found;
        for (int point = 0; point < mets::PointGame<G>::side * mets::PointGame<G>::side; ++point) {
            found.push_back(0);
            if (looked.board.stone(point) != mets::vacant) continue;
            const mets::Branch start = looked.starts(static_cast<std::size_t>(point));
            const auto end = looked.board.classify(tree, point, looked.at.to_play(), start);
            const float own = odds.of(end.branch, end.above);
            if (own > odds.of_nowhere) found.back() = static_cast<double>(own);
        }
        return found;
    });
}

/// Questions on the path to a point's leaf: first about tactics, in words, then points down and right from it, with
/// their states.
auto path_of(const mets::Tree& tree, nb::handle position, std::string_view game, int middle, Code last,
             Code before_last) {
    return with_points(game, [&]<class G>(std::type_identity<G>) {
        using Points = mets::PointGame<G>;
        constexpr int side = Points::side;
        if (middle < 0 || middle >= side * side) throw nb::index_error("no point of the board");
        const Looked<G> looked(tree, position, last, before_last);
        if (looked.board.stone(middle) != mets::vacant) throw nb::value_error("there is a stone on the point");
        std::vector<std::tuple<std::string, std::string>> tactics;
        std::vector<std::tuple<int, int, int>> path;
        mets::Branch branch = tree.root();
        while (mets::is_node(branch)) {
            const mets::Node& node = tree.nodes()[branch];
            unsigned state = mets::outside;
            if (node.question >= mets::question_count) {
                const auto number = static_cast<std::size_t>(node.question - mets::question_count);
                state = mets::answer_to(looked.starts.answers(static_cast<std::size_t>(middle)), number);
                const auto& question = mets::Tactical<G>::questions().at(number);
                tactics.emplace_back(question.about, question.answers[state]);
            } else {
                const mets::Offset to = mets::questions[node.question];
                const int row = middle / side + to.down;
                const int column = middle % side + to.right;
                if (row >= 0 && row < side && column >= 0 && column < side) {
                    const unsigned stone = looked.board.stone(row * side + column);
                    state = stone == 2                                            ? mets::vacant
                            : stone == static_cast<unsigned>(looked.at.to_play()) ? mets::own
                                                                                  : mets::others;
                }
                path.emplace_back(to.down, to.right, static_cast<int>(state));
            }
            branch = node.children[state];
        }
        return std::tuple(std::move(tactics), std::move(path));
    });
}

std::vector<std::tuple<std::string, std::vector<std::string>>> tactical_questions(std::string_view game) {
    return with_points(game, []<class G>(std::type_identity<G>) {
        std::vector<std::tuple<std::string, std::vector<std::string>>> all;
        for (const mets::TacticalQuestion& question : mets::Tactical<G>::questions())
            all.emplace_back(question.about,
                             std::vector<std::string>(question.answers.begin(), question.answers.end()));
        return all;
    });
}

auto tactical_answers(nb::handle position, std::string_view game, Code last, Code before_last) {
    return with_points(game, [&]<class G>(std::type_identity<G>) {
        std::vector<mets::Answers> answers(mets::PointGame<G>::side * mets::PointGame<G>::side);
        mets::Tactical<G>().answer(nb::cast<const G&>(position), context_of<G>(last, before_last), answers);
        return to_numpy(std::move(answers));
    });
}

}  // namespace

void bind_mets(nb::module_& module) {
    using mets::Tree;
    nb::class_<Tree>(module, "MetsTree", "A decision tree over the stones around a point; see hyoka.learning.mets.")
        .def_static(
            "grow", &grow_tree, "table"_a, "threshold"_a, "symmetric"_a, "tactics"_a, "threads"_a, "progress"_a.none(),
            "A tree over the patterns around the moves of a table's positions, below tactical questions if asked "
            "for; its leaves have no counts yet.")
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
             "The same tree, smoothed: adds points to each leaf at the odds of the nodes above.")
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
        .def_prop_ro("asks_tactics", [](const Tree& tree) { return tree.tactics() != 0; })
        .def(
            "odds", [](const Tree& tree) { return to_numpy(mets::Odds(tree).of_leaves); },
            "By leaf: how many times likelier a point there is the move than not, smoothed.")
        .def(
            "odds_of", &odds_of, "position"_a, "game"_a, "last"_a = nb::none(), "before_last"_a = nb::none(),
            "By point: how many times likelier it is the move than not; 0 where there is a stone, and, unless the tree "
            "is smoothed, where no pattern came.")
        .def("leaves_of", &leaves_of, "position"_a, "game"_a, "last"_a = nb::none(), "before_last"_a = nb::none(),
             "By point: the number of its leaf; -1 where no pattern came, -2 where there is a stone. The codes of the "
             "last two moves are what tactics look at.")
        .def("path_of", &path_of, "position"_a, "game"_a, "point"_a, "last"_a = nb::none(),
             "before_last"_a = nb::none(),
             "Questions on the path to a point's leaf: tactical questions with their answers; points down and right "
             "from it, and their states (0 own, 1 the other's, 2 empty, 3 off the board).");
    module.def("tactical_questions", &tactical_questions, "game"_a,
               "Tactical questions of a tree: subject and up to four answers.");
    module.def("tactical_answers", &tactical_answers, "position"_a, "game"_a, "last"_a = nb::none(),
               "before_last"_a = nb::none(), "By point: the answers, two bits each; means nothing where stones are.");
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
