// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

#include "evaluation/all.h"
#include "features/all.h"
#include "passes/columns.h"
#include "passes/mets.h"
#include "passes/move_features.h"
#include "passes/outcomes.h"
#include "passes/planes.h"
#include "passes/predictions.h"
#include "passes/quiet.h"
#include "passes/terms.h"
#include "passes/walk.h"
#include "strengths/all.h"

namespace hyoka::passes {

template <class G>
std::unique_ptr<Visitor<G>> ColumnPass::visitor(const Running&) {
    return std::make_unique<ColumnVisitor<G>>(*this);
}

template <class G>
std::unique_ptr<Visitor<G>> OutcomePass::visitor(const Running&) {
    return std::make_unique<OutcomeVisitor<G>>(results);
}

template <class G>
std::unique_ptr<Visitor<G>> TermPass::visitor(const Running&) {
    return std::make_unique<TermVisitor<G>>(parts);
}

template <class G>
std::unique_ptr<Visitor<G>> QuietPass::visitor([[maybe_unused]] const Running& running) {
    if constexpr (search::Tactical<G>) {
        if (weights.size() != 2 * evaluation::Terms<G>::all().size())
            throw std::invalid_argument("two weights a term are needed");
        std::vector<evaluation::Weight> pairs;
        for (std::size_t i = 0; i < weights.size(); i += 2) pairs.push_back({weights[i], weights[i + 1]});
        return std::make_unique<QuietVisitor<G>>(parts, evaluation::LinearEvaluation<G>(std::move(pairs)),
                                                 running.stop);
    } else {
        throw std::invalid_argument(std::string(G::name) + " has no quiescence search");
    }
}

template <class G>
std::unique_ptr<Visitor<G>> MoveFeaturePass::visitor(const Running&) {
    return std::make_unique<MoveFeatureVisitor<G>>(parts);
}

namespace {

[[noreturn]] void refuse_mets(std::string_view game) {
    throw std::invalid_argument("moves of " + std::string(game) + " are no points: it has no METS");
}

}  // namespace

PatternPass::PatternPass(const GameTable& games, bool with_tactics)
    : side(with_game(games.kind,
                     []<class G>(std::type_identity<G>) {
                         if constexpr (mets::ByPoints<G>)
                             return mets::PointGame<G>::side;
                         else
                             return refuse_mets(G::name), 0;
                     })),
      boards(games.rows() * mets::Patterns::bytes_of(side)),
      points(games.rows()),
      movers(games.rows()) {
    if (!with_tactics) return;
    constexpr std::size_t enough_positions = 500'000;
    stride = games.rows() / enough_positions + 1;
    const std::size_t sampled = (games.rows() + stride - 1) / stride;
    answers.resize(games.rows());
    sample.played.resize(sampled);
    sample.others.resize(sampled * mets::Sample::others_each);
    sample.weights.resize(sampled);
}

template <class G>
std::unique_ptr<Visitor<G>> PatternPass::visitor(const Running&) {
    if constexpr (mets::ByPoints<G>)
        return std::make_unique<PatternVisitor<G>>(*this);
    else
        refuse_mets(G::name);
}

template <class G>
std::unique_ptr<Visitor<G>> LeafCountPass::visitor(const Running&) {
    if constexpr (mets::ByPoints<G>)
        return std::make_unique<LeafCountVisitor<G>>(*this);
    else
        refuse_mets(G::name);
}

template <class G>
std::unique_ptr<Visitor<G>> PredictionPass::visitor(const Running&) {
    const auto* own = dynamic_cast<const strengths::MoveModel<G>*>(model.get());
    if (own == nullptr) throw std::invalid_argument("a move model of another game than " + std::string(G::name));
    return std::make_unique<PredictionVisitor<G>>(*this, own->clone());
}

PlanePass::PlanePass(const GameTable& games, std::size_t blocks, bool with_legal)
    : shape{games.rows(), plane_names(games.kind).size(),
            with_game(games.kind, []<class G>(std::type_identity<G>) { return G().cells().size(); })},
      planes(shape[0] * shape[1] * shape[2]),
      played(shape[0]),
      parts(with_legal ? blocks : 0) {}

template <class G>
std::unique_ptr<Visitor<G>> PlanePass::visitor(const Running&) {
    return std::make_unique<PlaneVisitor<G>>(*this);
}

std::vector<std::string> plane_names(GameKind game) {
    return with_game(game, []<class G>(std::type_identity<G>) { return plane_names_of<G>(); });
}

void run(const Pass& pass, const GameTable& games, const std::vector<Block>& blocks, Running& running) {
    with_game(games.kind, [&]<class G>(std::type_identity<G>) {
        walk_games<G>(games, blocks, running, [&] {
            return std::visit([&](auto* chosen) { return chosen->template visitor<G>(running); }, pass);
        });
    });
}

}  // namespace hyoka::passes
