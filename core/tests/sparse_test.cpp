// SPDX-License-Identifier: Apache-2.0
// Evaluations over many features: sums kept up equal those from scratch, sides and mirrors are alike, and the score is
// the product of weights and features.
#include <cmath>

#include "base/rng.h"
#include "sparse/all.h"
#include "tests/expect.h"

using namespace hyoka;
using namespace hyoka::sparse;
using hyoka::tests::expect;

namespace {

/// Weights that searches hold as they are.
template <class Set>
std::vector<float> random_weights(Rng& rng) {
    std::vector<float> weights(Set::count());
    for (float& weight : weights) weight = static_cast<float>(static_cast<int>(rng.below(2001)) - 1000) / steps_to_unit;
    return weights;
}

template <class Set>
double product(const std::vector<float>& weights, const typename Set::Game& game) {
    double sum = 0;
    Set::visit(game, [&](std::size_t index, float amount) {
        expect(index < weights.size(), "a weight that there is");
        sum += static_cast<double>(weights[index]) * amount;
    });
    return sum;
}

template <class Set>
void check_position(const std::vector<float>& weights, const SparseEvaluation<Set>& evaluation,
                    const typename Set::Game& game) {
    const int score = evaluation.score(game);
    expect(std::abs(score - product<Set>(weights, game)) <= 1.001, "the score is the product of weights and features");
}

/// Walks through random games as a search does: down, back up, aside, and by skipped turns.
template <class Set>
void check_following(std::uint64_t seed, int games) {
    using G = typename Set::Game;
    Rng rng = Rng::for_task(seed, 0);
    const auto weights = random_weights<Set>(rng);
    const SparseEvaluation<Set> evaluation(std::make_shared<const typename Set::Table>(weights), Set::scale);
    for (int i = 0; i < games; ++i) {
        const auto followed = evaluation.followed();
        G game;
        for (int ply = 0; ply < 200 && !game.outcome(); ++ply) {
            if (ply % 16 == 0) check_position(weights, evaluation, game);
            // Some nodes of a search are not evaluated: those in check, and those the table knows.
            if (rng.below(4))
                expect(followed->score(game, ply) == evaluation.score(game), "sums kept up equal those from scratch");
            for (int child = 0; child < 2; ++child) {
                G next = game;
                if (const auto move = game.random_move(rng)) next.play(*move);
                expect(followed->score(next, ply + 1) == evaluation.score(next),
                       "sums kept up equal those from scratch, a move on");
                G after = next;
                if (!next.outcome()) after.play(*next.random_move(rng));
                expect(followed->score(after, ply + 2) == evaluation.score(after),
                       "sums kept up equal those from scratch, two moves on");
            }
            game.play(*game.random_move(rng));
        }
        // Another search may begin anywhere.
        expect(followed->score(G(), 3) == evaluation.score(G()), "another search may begin anywhere");
    }
}

template <class G>
G mirrored_game(const G& game) {
    if constexpr (std::same_as<G, Chess>)
        return game;  // castling has sides
    else
        return game.transformed(1);
}

template <class Set>
void check_mirror(std::uint64_t seed) {
    using G = typename Set::Game;
    Rng rng = Rng::for_task(seed, 1);
    const SparseEvaluation<Set> evaluation(std::make_shared<const typename Set::Table>(random_weights<Set>(rng)), 1);
    G game;
    for (int ply = 0; ply < 150 && !game.outcome(); ++ply) {
        expect(evaluation.score(game) == evaluation.score(mirrored_game(game)), "a mirror image is worth the same");
        game.play(*game.random_move(rng));
    }
}

template <class Set>
void check(std::uint64_t seed, int games) {
    check_following<Set>(seed, games);
    check_mirror<Set>(seed);
}

void check_pairs_of_shogi() {
    // Every pair of places counts as much for one side as its counterpart for the other.
    using namespace shogi_pieces;
    std::size_t none = 0;
    for (int one = 0; one < place_count; one += 7)
        for (int other = 0; other < place_count; ++other) {
            if (one == other) continue;
            const auto number = ShogiRelations::of_pair(one, other);
            none += number == 0;
            expect(number == ShogiRelations::of_pair(other, one), "pairs have no order");
            expect(number == ShogiRelations::of_pair(mirrored_places[at(one)], mirrored_places[at(other)]),
                   "pairs in a mirror are alike");
            expect(number == -ShogiRelations::of_pair(turned_places[at(one)], turned_places[at(other)]),
                   "pairs count for the other side likewise");
        }
    expect(none > 0 && none < 2000, "few pairs count for nobody");
    for (int place = 0; place < place_count; ++place) {
        expect(mirrored_places[mirrored_places[at(place)]] == place, "a mirror of a mirror");
        expect(turned_places[turned_places[at(place)]] == place, "turned twice");
    }
}

}  // namespace

int main() {
    check<ShogiRelations>(1, 6);
    check<ShogiTerms>(5, 4);
    check<ChessPlaces>(2, 6);
    check<OthelloPatterns>(3, 6);
    check_pairs_of_shogi();
    check<ShogiKpp>(4, 1);
    return tests::report();
}
