// SPDX-License-Identifier: Apache-2.0
#include "bindings/game_face.h"

#include "bindings/python_models.h"
#include "games/all.h"

namespace hyoka::bindings {
namespace {

template <Game G>
Line<G> line_from(nb::handle root) {
    if constexpr (std::same_as<G, PythonGame>) {
        // A game written in Python comes as a position, or as one with the moves that led to it.
        if (!nb::hasattr(root, "moves") || !nb::hasattr(root, "start")) return Line<G>(PythonGame(nb::borrow(root)));
        Line<G> line(PythonGame(root.attr("start")));
        for (const nb::handle move : nb::iter(root.attr("moves"))) line.play(line.position().move_of(move));
        return line;
    } else {
        return nb::cast<const Line<G>&>(root);
    }
}
template <Game G>
typename G::Move move_from(const G& game, nb::handle move) {
    if constexpr (std::same_as<G, PythonGame>)
        return game.move_of(move);
    else
        return nb::cast<typename G::Move>(move);
}
template <Game G>
nb::object move_object(const G& game, typename G::Move move) {
    if constexpr (std::same_as<G, PythonGame>)
        return game.move_object(move);
    else
        return nb::cast(move);
}

template <Game G>
class FaceOf final : public GameFace {
public:
    using Assembly = search::Assembly<G>;

    bool needs_lock() const override { return std::same_as<G, PythonGame>; }
    std::shared_ptr<search::AnyLine> line(nb::handle root) const override {
        return std::make_shared<search::HeldLine<G>>(line_from<G>(root));
    }
    search::Codes codes(const search::AnyLine& root, const Only& only) const override {
        const Line<G>& line = search::line_of<G>(root);
        search::Codes codes;
        if (only)
            for (const nb::handle object : nb::iter(*only)) {
                const auto move = move_from(line.position(), object);
                if (!line.is_legal(move)) throw IllegalMoveError("illegal move " + move.text() + " in " + line.text());
                codes.push_back(static_cast<std::uint16_t>(move.code()));
            }
        return codes;
    }
    nb::list moves(const search::AnyLine& root, std::span<const std::uint16_t> codes) const override {
        G game = search::line_of<G>(root).position();
        nb::list moves;
        for (const std::uint16_t code : codes) {
            const auto move = G::Move::from_code(code);
            if (!game.is_legal(move)) break;
            moves.append(move_object(game, move));
            game.play(move);
        }
        return moves;
    }

    std::unique_ptr<search::AnyTreeSearch> tree_search(const search::UctOptions& options,
                                                       const search::GivenModels& models) const override {
        return Assembly::tree_search(options, models);
    }
    std::unique_ptr<search::AnyAlphaBeta> alpha_beta(const search::AlphaBetaOptions& options,
                                                     const search::GivenModels& models) const override {
        return Assembly::alpha_beta(options, models);
    }
    std::unique_ptr<search::AnyMonteCarlo> monte_carlo(const search::MonteCarloOptions& options,
                                                       const search::GivenModels& models) const override {
        return Assembly::monte_carlo(options, models);
    }
    std::unique_ptr<search::AnyPlayouts> playouts(const search::PlayoutOptions& options,
                                                  const search::GivenModels& models) const override {
        return Assembly::playouts(options, models);
    }
    std::shared_ptr<Model> linear_evaluation(std::span<const float> weights, double scale) const override {
        return Assembly::linear_evaluation(weights, scale);
    }
    std::shared_ptr<Model> feature_strengths(std::span<const float> strengths,
                                             std::shared_ptr<const strengths::GoShapes> shapes) const override {
        return Assembly::feature_strengths(strengths, std::move(shapes));
    }
    std::shared_ptr<Model> python_scores(SharedObject function) const override {
        return std::make_shared<PythonScores<G>>(std::move(function));
    }
    std::shared_ptr<Model> python_values(SharedObject function) const override {
        return std::make_shared<PythonValues<G>>(std::move(function));
    }
    std::shared_ptr<Model> python_leaves(SharedObject function, std::size_t batch) const override {
        return std::make_shared<PythonLeaves<G>>(std::move(function), batch);
    }
};

}  // namespace

const GameFace& face_of(std::optional<std::string_view> game) {
    static const FaceOf<PythonGame> python;
    if (!game) return python;
    return with_game(game_named(*game), []<class G>(std::type_identity<G>) -> const GameFace& {
        static const FaceOf<G> face;
        return face;
    });
}

}  // namespace hyoka::bindings
