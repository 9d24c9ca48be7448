// SPDX-License-Identifier: Apache-2.0
#include "bulk/bulk.h"

#include <algorithm>

#include "bulk/columns.h"
#include "bulk/competitions.h"
#include "bulk/mets.h"
#include "bulk/move_features.h"
#include "bulk/network_inputs.h"
#include "bulk/outcomes.h"
#include "bulk/planes.h"
#include "bulk/predictions.h"
#include "bulk/quiet.h"
#include "bulk/terms.h"
#include "bulk/walk.h"
#include "evaluation/all.h"
#include "features/all.h"
#include "strengths/all.h"

namespace hyoka::bulk {

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

CompetitionPass::CompetitionPass(const GameTable& table, std::size_t blocks,
                                 std::shared_ptr<const strengths::GoShapes> learned)
    : games(table), shapes(std::move(learned)) {
    found.features = with_game(table.kind, [&]<class G>(std::type_identity<G>) {
        if (shapes && !is_go<G>) throw std::invalid_argument(std::string(G::name) + " has no shapes of stones");
        return strengths::FeatureFinder<G>(shapes).count();
    });
    if (found.features > 1 << 16) throw std::invalid_argument("more features than can be numbered: 65,536");
    found.games = table.size();
    found.blocks.resize(blocks);
}

std::uint32_t CompetitionPass::game_of(std::size_t row) const {
    const auto after = std::ranges::upper_bound(games.row_offsets, static_cast<std::int64_t>(row));
    return static_cast<std::uint32_t>(after - games.row_offsets.begin() - 1);
}

template <class G>
std::unique_ptr<Visitor<G>> CompetitionPass::visitor(const Running&) {
    return std::make_unique<CompetitionVisitor<G>>(*this);
}

template <class G>
std::unique_ptr<Visitor<G>> ShapePass::visitor(const Running&) {
    if constexpr (is_go<G>)
        return std::make_unique<ShapeVisitor<G::size>>(*this);
    else
        throw std::invalid_argument(std::string(G::name) + " has no shapes of stones");
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

namespace {

/// A thread's own of a move model; throws std::invalid_argument if it is another game's.
template <class G>
std::unique_ptr<strengths::MoveModel<G>> own_of(const Model& model) {
    const auto* own = dynamic_cast<const strengths::MoveModel<G>*>(&model);
    if (own == nullptr) throw std::invalid_argument("a move model of another game than " + std::string(G::name));
    return own->clone();
}

}  // namespace

template <class G>
std::unique_ptr<Visitor<G>> PredictionPass::visitor(const Running&) {
    return std::make_unique<PredictionVisitor<G>>(*this, own_of<G>(*model));
}

template <class G>
std::unique_ptr<Visitor<G>> WeighingPass::visitor(const Running&) {
    return std::make_unique<WeighingVisitor<G>>(*this, own_of<G>(*model));
}

PlanePass::PlanePass(const GameTable& games, std::size_t blocks, bool with_legal)
    : shape{games.rows(), plane_names(games.kind).size(),
            with_game(games.kind, []<class G>(std::type_identity<G>) { return G().cells().size(); })},
      planes(shape[0] * shape[1] * shape[2]),
      played(shape[0]),
      parts(with_legal ? blocks : 0) {}

NetworkPass::NetworkPass(const GameTable& games, std::span<const std::int64_t> offsets,
                         std::span<const std::uint16_t> codes, std::uint64_t chance, bool with_legal)
    : target_offsets(offsets), target_codes(codes), seed(chance), targets(codes.size()), first_to_play(games.rows()) {
    bool fits = offsets.size() == games.rows() + 1 && offsets.front() == 0 &&
                offsets.back() == static_cast<std::int64_t>(codes.size());
    for (std::size_t i = 0; fits && i + 1 < offsets.size(); ++i) fits = offsets[i] <= offsets[i + 1];
    if (!fits) throw std::invalid_argument("targets and rows don't fit together");
    with_game(games.kind, [&]<class G>(std::type_identity<G>) {
        input_bytes = (network::Inputs<G>::count + 7) / 8;
        code_bytes = (G::Move::code_count + 7) / 8;
    });
    inputs.resize(games.rows() * input_bytes);
    if (with_legal) legal.resize(games.rows() * code_bytes);
}

template <class G>
std::unique_ptr<Visitor<G>> NetworkPass::visitor(const Running&) {
    return std::make_unique<NetworkVisitor<G>>(*this);
}

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

}  // namespace hyoka::bulk
