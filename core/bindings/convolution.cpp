// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "bindings/held_table.h"
#include "games/all.h"
#include "search/convolution_leaves.h"

/// Convolution networks of games that lie on a board.
namespace hyoka::bindings {
namespace {

using network::Convolution;
using network::ConvolutionNumbers;
using network::Inputs;
using network::OnBoard;
using network::WholeLayer;
using Positions = nb::typed<nb::sequence, nb::object>;
using Arrays = nb::typed<nb::dict, std::string, nb::object>;

/// A network of one game as Python holds it.
struct HeldConvolution {
    std::string game;
    std::shared_ptr<const Convolution> network;
};

/// Calls `use` with the game, which must lie on a board.
template <class Use>
auto with_board(std::string_view game, Use&& use) {
    using Found = decltype(use(std::type_identity<Othello>()));
    return with_game(game_named(game), [&]<class G>(std::type_identity<G> found) -> Found {
        if constexpr (OnBoard<G>)
            return use(found);
        else
            throw NotationError("this game's positions and moves lie on no board for convolutions");
    });
}

template <class T>
std::vector<T> numbers_named(const nb::dict& arrays, const char* name) {
    const auto view = nb::cast<View<T>>(arrays[name]);
    return {view.data(), view.data() + view.size()};
}

/// Several layers of as many outputs each, one after the other.
std::vector<WholeLayer> layers_named(const nb::dict& arrays, const std::string& name, std::size_t outputs) {
    const auto weights = numbers_named<std::int16_t>(arrays, name.c_str());
    const auto bias = numbers_named<std::int32_t>(arrays, (name + "_bias").c_str());
    const auto shifts = numbers_named<std::uint8_t>(arrays, (name + "_shifts").c_str());
    if (outputs == 0 || bias.size() % outputs || shifts.size() != bias.size() ||
        (!bias.empty() && weights.size() % bias.size()))
        throw NotationError("no network: one of its layers is of another size");
    std::vector<WholeLayer> found;
    const std::size_t width = bias.empty() ? 0 : weights.size() / bias.size();
    for (std::size_t i = 0; i < bias.size(); i += outputs) {
        const auto part = [&]<class T>(const std::vector<T>& from, std::size_t each) {
            return std::vector<T>(from.begin() + static_cast<std::ptrdiff_t>(i * each),
                                  from.begin() + static_cast<std::ptrdiff_t>((i + outputs) * each));
        };
        found.push_back({part(weights, width), part(bias, 1), part(shifts, 1)});
    }
    return found;
}

HeldConvolution made_convolution(std::string_view game, std::size_t channels, const nb::dict& arrays) {
    ConvolutionNumbers numbers;
    with_board(game, [&]<class G>(std::type_identity<G>) {
        numbers.side = Inputs<G>::side;
        numbers.planes = Inputs<G>::planes;
        numbers.globals = Inputs<G>::count - Inputs<G>::planes * Inputs<G>::side * Inputs<G>::side;
        numbers.move_planes = Inputs<G>::move_planes;
    });
    numbers.channels = channels;
    numbers.stem = numbers_named<std::int16_t>(arrays, "stem");
    numbers.global_rows = numbers_named<std::int16_t>(arrays, "globals");
    numbers.stem_bias = numbers_named<std::int16_t>(arrays, "stem_bias");
    auto first = layers_named(arrays, "first", channels);
    auto second = layers_named(arrays, "second", channels);
    auto squeeze = layers_named(arrays, "squeeze", channels);
    if (first.size() != second.size() || first.size() != squeeze.size())
        throw NotationError("no network: its blocks are of another number");
    for (std::size_t i = 0; i < first.size(); ++i)
        numbers.blocks.push_back({std::move(first[i]), std::move(second[i]), std::move(squeeze[i])});
    numbers.value_out = numbers_named<float>(arrays, "value_out");
    auto value = layers_named(arrays, "value", numbers.value_out.size());
    if (value.size() != 1) throw NotationError("no network: its values' layers are of another size");
    numbers.value = std::move(value[0]);
    numbers.moves = numbers_named<std::int16_t>(arrays, "moves");
    numbers.move_bias = numbers_named<float>(arrays, "move_bias");
    numbers.pass = numbers_named<std::int16_t>(arrays, "pass");
    const auto rest = numbers_named<float>(arrays, "constants");
    if (rest.size() != 3) throw NotationError("no network: three constants are needed");
    numbers.value_out_bias = rest[0];
    numbers.pass_bias = rest[1];
    numbers.move_scale = rest[2];
    return {std::string(game), std::make_shared<const Convolution>(std::move(numbers))};
}

auto logits(const HeldConvolution& held, const Positions& objects) {
    std::vector<float> found;
    with_board(held.game, [&]<class G>(std::type_identity<G>) {
        network::Looker<G> looker(held.network);
        for (const nb::handle object : nb::iter(objects)) {
            const G& game = nb::cast<const G&>(object);
            looker.look(game, {});
            found.push_back(looker.logit(game));
        }
    });
    return to_numpy(std::move(found));
}

}  // namespace

void bind_convolution(nb::module_& module) {
    module.def(
        "board_of",
        [](std::string_view game) {
            return with_board(game, []<class G>(std::type_identity<G>) {
                std::vector<std::int64_t> places;
                for (std::uint32_t code = 0; code < G::Move::code_count; ++code) {
                    const std::uint32_t place = Inputs<G>::place(code);
                    places.push_back(place == network::no_place ? -1 : static_cast<std::int64_t>(place));
                }
                return std::tuple(std::size_t{Inputs<G>::side}, std::size_t{Inputs<G>::planes},
                                  std::size_t{Inputs<G>::move_planes}, to_numpy(std::move(places)));
            });
        },
        "game"_a,
        "How a game's inputs and moves lie on its board: its side, planes of inputs, planes of moves, and by code of a "
        "move plane · side² + point, -1 for a pass. Raises NotationError if they lie on none.");
    nb::class_<HeldConvolution>(module, "Convolution", "A convolution network; see hyoka.models.networks.")
        .def(
            "__init__",
            [](HeldConvolution* made, std::string_view game, std::size_t channels, const Arrays& arrays) {
                new (made) HeldConvolution(made_convolution(game, channels, arrays));
            },
            "game"_a, "channels"_a, "arrays"_a, "Raises NotationError if the numbers don't fit together.")
        .def(
            "evaluation",
            [](const HeldConvolution& held) {
                return with_board(held.game, [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
                    return std::make_shared<network::ConvolutionEvaluation<G>>(held.network);
                });
            },
            "Evaluation of positions, for searches.")
        .def(
            "move_model",
            [](const HeldConvolution& held) {
                return with_board(held.game, [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
                    return std::make_shared<network::ConvolutionMoves<G>>(held.network);
                });
            },
            "How strong moves are, as searches take it.")
        .def(
            "leaves",
            [](const HeldConvolution& held) {
                return with_board(held.game, [&]<class G>(std::type_identity<G>) -> std::shared_ptr<Model> {
                    return std::make_shared<search::ConvolutionLeaves<G>>(held.network);
                });
            },
            "Both at once for tree searches, by one look.")
        .def("logits", &logits, "positions"_a, "Of the first player's expected result; no last moves are known.");
}

}  // namespace hyoka::bindings
