// SPDX-License-Identifier: Apache-2.0
#include "strengths/blokus_duo.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hyoka::strengths {

using blokus::placement_count;
using blokus::placements;

namespace {

// Where the features of each sort begin.
constexpr std::size_t pass = 0;
constexpr std::size_t size = 1;  // 1 to 5
constexpr std::size_t opened = size + 5;
constexpr int opened_most = 7;  // that many or more
constexpr std::size_t blocked = opened + opened_most + 1;
constexpr int blocked_most = 3;
constexpr std::size_t distance = blocked + blocked_most + 1;

/// By placement: its size, and how many steps of a king its nearest square is from the four in the centre.
struct PlacementFacts {
    std::uint8_t size;
    std::uint8_t distance;
};
const std::vector<PlacementFacts>& facts() {
    static const std::vector<PlacementFacts> table = [] {
        std::vector<PlacementFacts> facts(placement_count);
        for (int placement = 0; placement < placement_count; ++placement) {
            const auto& cells = placements().cells(placement);
            int nearest = BlokusDuo::size;
            for_each_square(cells, [&](int square) {
                const auto steps = [](int x) { return x < BlokusDuo::size / 2 ? 6 - x : x - 7; };
                nearest = std::min(nearest, std::max(steps(square / BlokusDuo::size), steps(square % BlokusDuo::size)));
            });
            facts[static_cast<std::size_t>(placement)] = {static_cast<std::uint8_t>(cells.count()),
                                                          static_cast<std::uint8_t>(nearest)};
        }
        return facts;
    }();
    return table;
}

}  // namespace

const std::vector<Feature>& MoveFeatures<BlokusDuo>::all() {
    static const std::vector<Feature> features = {
        {"pass", 1},
        {"size_1", 0.05f},
        {"size_2", 0.1f},
        {"size_3", 0.25f},
        {"size_4", 0.7f},
        {"size_5", 2},
        {"opens_no_corner", 0.4f},
        {"opens_1_corner", 0.5f},
        {"opens_2_corners", 0.7f},
        {"opens_3_corners", 0.9f},
        {"opens_4_corners", 1.2f},
        {"opens_5_corners", 1.6f},
        {"opens_6_corners", 2.1f},
        {"opens_7_corners_or_more", 2.8f},
        {"blocks_no_corner", 0.8f},
        {"blocks_1_corner", 1.4f},
        {"blocks_2_corners", 2.2f},
        {"blocks_3_corners_or_more", 3.2f},
        {"distance_to_centre_0", 1.6f},
        {"distance_to_centre_1", 1.4f},
        {"distance_to_centre_2", 1.2f},
        {"distance_to_centre_3", 1},
        {"distance_to_centre_4", 0.8f},
        {"distance_to_centre_5", 0.7f},
        {"distance_to_centre_6", 0.6f},
    };
    static_assert(distance + 7 == 25);
    return features;
}

template <class Sink>
void MoveFeatures<BlokusDuo>::visit(const BlokusDuo& game, const Context<BlokusDuo>&,
                                    std::span<const BlokusDuo::Move> moves, Sink sink) {
    const auto& table = placements();
    const PlacementFacts* facts_of = facts().data();
    const Player us = game.to_play();
    const auto closed = game.closed(us) | game.attaching(us);  // no new corner there
    const auto& theirs = game.attaching(other(us));
    for (const BlokusDuo::Move move : moves) {
        if (move == BlokusDuo::Move::pass()) {
            sink.add(pass);
            sink.end_move();
            continue;
        }
        const PlacementFacts& piece = facts_of[move.placement];
        sink.add(size + piece.size - 1);
        sink.add(opened +
                 static_cast<std::size_t>(std::min((table[move.placement].corners - closed).count(), opened_most)));
        sink.add(blocked +
                 static_cast<std::size_t>(std::min((table.cells(move.placement) & theirs).count(), blocked_most)));
        sink.add(distance + piece.distance);
        sink.end_move();
    }
}

template void MoveFeatures<BlokusDuo>::visit(const BlokusDuo&, const Context<BlokusDuo>&,
                                             std::span<const BlokusDuo::Move>, StrengthSink);
template void MoveFeatures<BlokusDuo>::visit(const BlokusDuo&, const Context<BlokusDuo>&,
                                             std::span<const BlokusDuo::Move>, ListSink);

}  // namespace hyoka::strengths
