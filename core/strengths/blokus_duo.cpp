// SPDX-License-Identifier: Apache-2.0
#include "strengths/blokus_duo.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <initializer_list>
#include <string>
#include <string_view>

namespace hyoka::strengths {

using blokus::placement_count;
using blokus::placements;
using blokus::SquareSet;

namespace {

/// Pieces that the player has laid: none to two, three to six, seven to ten, more.
constexpr std::size_t phases = 4;
constexpr std::array<std::string_view, phases> phase_names = {"opening", "early", "middle", "late"};
constexpr std::size_t phase_of(int laid) {
    return static_cast<std::size_t>(laid >= 3) + static_cast<std::size_t>(laid >= 7) +
           static_cast<std::size_t>(laid >= 11);
}
constexpr std::size_t pieces = blokus::piece_count;
constexpr std::size_t distances = 7;

/// Features that count something: 0 to `most`, which stands for more as well.
struct Count {
    std::size_t begin;
    int most;
    constexpr std::size_t end() const { return begin + static_cast<std::size_t>(most) + 1; }
    constexpr std::size_t operator()(int number) const {
        return begin + static_cast<std::size_t>(std::min(number, most));
    }
};

// Where the features of each sort begin.
constexpr std::size_t pass = 0;
constexpr std::size_t piece = 1;                                 // by phase
constexpr std::size_t distance = piece + phases * pieces;        // by phase
constexpr Count opened_early{distance + phases * distances, 7};  // the first two phases
constexpr Count opened_late{opened_early.end(), 7};
constexpr Count opened_in_reach{opened_late.end(), 3};
constexpr Count blocked{opened_in_reach.end(), 3};
constexpr Count taken{blocked.end(), 5};
constexpr Count given_up{taken.end(), 4};
constexpr Count last_corners{given_up.end(), 2};
constexpr std::size_t touches_last = last_corners.end();
constexpr std::size_t feature_count = touches_last + 1;

constexpr SquareSet squares_where(auto&& holds) {
    SquareSet set;
    for (int square = 0; square < blokus::area; ++square)
        if (holds(square)) set.add(square);
    return set;
}
constexpr SquareSet not_left_edge = squares_where([](int square) { return square % blokus::size != 0; });
constexpr SquareSet not_right_edge =
    squares_where([](int square) { return square % blokus::size != blokus::size - 1; });

/// The squares and those beside them, some perhaps off the board.
SquareSet widened(const SquareSet& set) {
    SquareSet wide = set;
    const auto add_up = [&](const SquareSet& from, int by) {
        for (std::size_t i = 0; i < 4; ++i)
            wide.words[i] |= from.words[i] << by | (i > 0 ? from.words[i - 1] >> (64 - by) : 0);
    };
    const auto add_down = [&](const SquareSet& from, int by) {
        for (std::size_t i = 0; i < 4; ++i)
            wide.words[i] |= from.words[i] >> by | (i < 3 ? from.words[i + 1] << (64 - by) : 0);
    };
    add_up(set, blokus::size);
    add_down(set, blokus::size);
    add_up(set & not_right_edge, 1);
    add_down(set & not_left_edge, 1);
    return wide;
}

/// By placement: its piece, and how many steps of a king its nearest square is from the four in the center.
struct PlacementFacts {
    std::uint8_t piece;
    std::uint8_t distance;
};
const std::vector<PlacementFacts>& facts() {
    static const std::vector<PlacementFacts> table = [] {
        std::vector<PlacementFacts> facts(placement_count);
        for (int placement = 0; placement < placement_count; ++placement) {
            int nearest = BlokusDuo::size;
            for_each_square(placements().cells(placement), [&](int square) {
                const auto steps = [](int x) { return x < BlokusDuo::size / 2 ? 6 - x : x - 7; };
                nearest = std::min(nearest, std::max(steps(square / BlokusDuo::size), steps(square % BlokusDuo::size)));
            });
            facts[static_cast<std::size_t>(placement)] = {placements()[placement].piece,
                                                          static_cast<std::uint8_t>(nearest)};
        }
        return facts;
    }();
    return table;
}

/// Fitted to where tree searches of 3,000 playouts went in games against themselves, twice over.
constexpr std::array<std::array<float, pieces>, phases> piece_strengths = {
    {{0.8f, 0.62f, 0.61f, 0.38f, 0.77f, 0.46f, 0.41f, 0.72f, 0.45f, 4.3f, 1.5f,
      1.4f, 0.71f, 1.3f,  1.1f,  1.8f,  1.2f,  1.4f,  1.5f,  1.2f,  3.3f},
     {0.8f, 0.61f, 0.45f, 0.43f, 0.56f, 0.3f, 0.36f, 0.68f, 0.35f, 2.7f, 1.3f,
      2.1f, 0.6f,  1.2f,  1,     2.8f,  1.5f, 2.1f,  1.9f,  1.3f,  5.7f},
     {0.23f, 0.27f, 0.34f, 0.28f, 0.44f, 0.37f, 0.46f, 0.56f, 0.38f, 1.6f, 1.4f,
      2.1f,  1.3f,  2.3f,  1.9f,  2.8f,  1.5f,  3.3f,  2.5f,  1.8f,  6.5f},
     {0.082f, 0.19f, 0.45f, 0.36f, 0.84f, 0.88f, 1.1f, 1.6f, 0.72f, 1.9f, 1.6f,
      0.92f,  3.2f,  3,     1.9f,  1.8f,  1.7f,  1.5f, 1.1f, 2.1f,  0.77f}}};
constexpr std::array<std::array<float, distances>, phases> distance_strengths = {
    {{2.1f, 2.4f, 1, 0.64f, 0.57f, 0.55f, 0.95f},
     {2.3f, 1.9f, 1.2f, 0.9f, 0.57f, 0.56f, 0.65f},
     {1.1f, 1.7f, 2, 1.2f, 0.67f, 0.53f, 0.65f},
     {1.5f, 1.1f, 1.1f, 1.2f, 0.76f, 0.75f, 0.82f}}};

std::vector<Feature> make_features() {
    std::vector<Feature> features = {{"pass", 1}};
    for (std::size_t phase = 0; phase < phases; ++phase)
        for (std::size_t i = 0; i < pieces; ++i)
            features.push_back(
                {std::string("piece_") + static_cast<char>('a' + i) + '_' + std::string(phase_names[phase]),
                 piece_strengths[phase][i]});
    for (std::size_t phase = 0; phase < phases; ++phase)
        for (std::size_t i = 0; i < distances; ++i)
            features.push_back({"distance_to_centre_" + std::to_string(i) + '_' + std::string(phase_names[phase]),
                                distance_strengths[phase][i]});
    const auto add_counts = [&](const std::string& verb, const std::string& what, const Count& count,
                                std::initializer_list<float> strengths) {
        assert(features.size() == count.begin && strengths.size() == count.end() - count.begin);
        int i = 0;
        for (const float strength : strengths) {
            features.push_back(
                {verb + '_' + std::to_string(i) + (i == count.most ? "_or_more_" : "_") + what, strength});
            ++i;
        }
    };
    add_counts("opens", "corners_early", opened_early, {0.22f, 0.46f, 0.66f, 0.89f, 1.3f, 1.9f, 2.8f, 2.5f});
    add_counts("opens", "corners_late", opened_late, {0.56f, 0.76f, 1.2f, 1.4f, 1, 1.3f, 1, 1});
    add_counts("opens", "corners_in_reach", opened_in_reach, {0.83f, 1, 0.98f, 1.2f});
    add_counts("blocks", "corners", blocked, {0.58f, 0.77f, 1.2f, 1.8f});
    add_counts("takes", "squares_in_reach", taken, {0.22f, 0.53f, 1.1f, 1.4f, 2.4f, 2.4f});
    add_counts("gives_up", "own_corners", given_up, {1, 1.1f, 0.92f, 1.3f, 0.8f});
    add_counts("blocks", "corners_of_last_piece", last_corners, {0.67f, 0.76f, 2});
    features.push_back({"touches_last_piece", 1.6f});
    assert(features.size() == feature_count);
    return features;
}

}  // namespace

const std::vector<Feature>& MoveFeatures<BlokusDuo>::all() {
    static const std::vector<Feature> features = make_features();
    return features;
}

template <class Sink>
void MoveFeatures<BlokusDuo>::visit(const BlokusDuo& game, const Context<BlokusDuo>& context,
                                    std::span<const BlokusDuo::Move> moves, Sink sink) {
    const auto& table = placements();
    const PlacementFacts* facts_of = facts().data();
    const Player us = game.to_play();
    const std::size_t phase = phase_of(blokus::piece_count - std::popcount(game.pieces_left(us)));
    const std::size_t pieces_begin = piece + phase * pieces;
    const std::size_t distances_begin = distance + phase * distances;
    const Count opened = phase < 2 ? opened_early : opened_late;
    const SquareSet& own = game.attaching(us);
    const SquareSet no_new_corner = game.closed(us) | own;
    const SquareSet& theirs = game.attaching(other(us));
    const SquareSet& closed_to_them = game.closed(other(us));
    // Where their next piece may come within two squares of a corner.
    const SquareSet reach = widened(widened(theirs) - closed_to_them) - closed_to_them;
    SquareSet corners_of_last;
    SquareSet edges_of_last;
    if (context.last && *context.last != Move::pass()) {
        corners_of_last = table[context.last->placement].corners & theirs;
        edges_of_last = table[context.last->placement].edges;
    }
    for (const BlokusDuo::Move move : moves) {
        if (move == BlokusDuo::Move::pass()) {
            sink.add(pass);
            sink.end_move();
            continue;
        }
        const PlacementFacts& fact = facts_of[move.placement];
        const SquareSet& cells = table.cells(move.placement);
        const auto& placement = table[move.placement];
        sink.add(pieces_begin + fact.piece);
        sink.add(distances_begin + fact.distance);
        const SquareSet corners = placement.corners - no_new_corner;
        sink.add(opened(corners.count()));
        sink.add(opened_in_reach((corners & reach).count()));
        sink.add(blocked((cells & theirs).count()));
        sink.add(taken((cells & reach).count()));
        sink.add(given_up((own & (cells | placement.edges)).count()));
        sink.add(last_corners((cells & corners_of_last).count()));
        if (cells.intersects(edges_of_last)) sink.add(touches_last);
        sink.end_move();
    }
}

template void MoveFeatures<BlokusDuo>::visit(const BlokusDuo&, const Context<BlokusDuo>&,
                                             std::span<const BlokusDuo::Move>, StrengthSink);
template void MoveFeatures<BlokusDuo>::visit(const BlokusDuo&, const Context<BlokusDuo>&,
                                             std::span<const BlokusDuo::Move>, ListSink);

}  // namespace hyoka::strengths
