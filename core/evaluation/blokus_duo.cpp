// SPDX-License-Identifier: Apache-2.0
#include "evaluation/blokus_duo.h"

#include <array>

#include "features/blokus_duo.h"

namespace hyoka::evaluation {
namespace {

using blokus::SquareSet;

enum BlokusTerm : std::size_t {
    influence,
    influence_unblocked,
    influence_off_forbidden,
    influence_of_coverable,
    influence_of_coverable_unblocked,
    influence_of_coverable_off_forbidden,
    squares,
    pieces_left,
    attaching,
    reachable,
    coverable_squares,
    placements,
    tempo,
    term_count,
};

constexpr SquareSet whole_board = [] {
    SquareSet set;
    for (int square = 0; square < blokus::area; ++square) set.add(square);
    return set;
}();

}  // namespace

SquareSet coverable(const BlokusDuo& game, Player player) {
    SquareSet closed = game.closed(player);
    SquareSet covered;
    blokus::for_each_square(game.attaching(player), [&](int square) {
        const unsigned sides = blokus::closed_sides(square, closed);
        for_each_bit(std::uint64_t{game.pieces_left(player)}, [&](int piece) {
            for (const int placement : blokus::placements().covering(square, sides, piece)) {
                const SquareSet& cells = blokus::placements().cells(placement);
                if (!cells.intersects(closed)) covered |= cells;
            }
        });
        closed.add(square);  // what else covers it has been met
    });
    return covered;
}

const std::vector<Term>& Terms<BlokusDuo>::all() {
    static const std::vector<Term> terms = {
        {"influence", {}},
        {"influence_unblocked", {}},
        {"influence_off_forbidden", {}},
        {"influence_of_coverable", {1, 1}},
        {"influence_of_coverable_unblocked", {}},
        {"influence_of_coverable_off_forbidden", {}},
        {"squares", {}},
        {"pieces_left", {}},
        {"attaching", {}},
        {"reachable", {}},
        {"coverable", {}},
        {"placements", {}},
        {"tempo", {}},
    };
    assert(terms.size() == term_count);
    return terms;
}

template <class Sink>
void Terms<BlokusDuo>::count(const BlokusDuo& game, Sink& sink) {
    const SquareSet empty = features::empty_squares(game);
    constexpr float most_squares = 2 * 89;  // that the pieces of both could cover
    sink.set_progress(static_cast<float>(blokus::area - empty.count()) / most_squares);
    for (const Player player : {Player::first, Player::second}) {
        const auto add = [&](std::size_t term, int amount) {
            sink.add(term, static_cast<float>(player == Player::first ? amount : -amount));
        };
        const auto add_readings = [&](const SquareSet& sources, const std::array<std::size_t, 3>& readings) {
            const auto [blocked, unblocked, off_forbidden] = readings;
            if (sink.wants(unblocked)) add(unblocked, features::spread_influence(sources, whole_board).sum);
            if (sink.wants(off_forbidden)) {
                const SquareSet open = empty - game.closed(player);
                add(off_forbidden, features::spread_influence(sources, open).sum);
            }
            if (sink.wants(blocked) || (blocked == influence && sink.wants(reachable))) {
                const features::Spread spread = features::spread_influence(sources, empty);
                add(blocked, spread.sum);
                if (blocked == influence) add(reachable, spread.squares);
            }
        };
        add_readings(game.attaching(player), {influence, influence_unblocked, influence_off_forbidden});
        constexpr std::array<std::size_t, 3> of_coverable = {influence_of_coverable, influence_of_coverable_unblocked,
                                                             influence_of_coverable_off_forbidden};
        if (sink.wants(coverable_squares) || sink.wants(of_coverable[0]) || sink.wants(of_coverable[1]) ||
            sink.wants(of_coverable[2])) {
            const SquareSet covered = coverable(game, player);
            add(coverable_squares, covered.count());
            add_readings(covered, of_coverable);
        }
        add(squares, game.squares(player).count());
        add(pieces_left, std::popcount(game.pieces_left(player)));
        add(attaching, game.attaching(player).count());
        if (sink.wants(placements)) add(placements, game.count_placements(player));
        if (game.to_play() == player) add(tempo, 1);
    }
}

template void Terms<BlokusDuo>::count(const BlokusDuo&, ScoreSink&);
template void Terms<BlokusDuo>::count(const BlokusDuo&, VectorSink&);

}  // namespace hyoka::evaluation
