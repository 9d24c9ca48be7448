// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/inline_vector.h"
#include "games/go.h"

namespace hyoka::strengths {

/// Whose eye space a point is the vital one of: three in a row or bent, the pyramid, the cross and the bulky five, the
/// rabbity six, surrounded by stones of one color. Who plays there first makes one eye of it, or two.
template <int N>
class VitalPoints {
public:
    using Move = typename Go<N>::Move;

    explicit VitalPoints(const Go<N>& game) {
        std::array<bool, Go<N>::area> seen{};
        for (std::uint16_t point = 0; point < Go<N>::area; ++point)
            if (!seen[point] && !game.owner({point})) look_at_region(game, {point}, seen);
    }
    /// Of the region that a point is the vital one of; none if it is that of no region.
    std::optional<Player> owner(Move point) const { return owners_[point.point]; }

private:
    void look_at_region(const Go<N>& game, Move start, std::array<bool, Go<N>::area>& seen) {
        InlineVector<Move, Go<N>::area> region;
        std::array<bool, 2> beside{};
        seen[start.point] = true;
        region.push_back(start);
        for (std::size_t i = 0; i < region.size(); ++i)
            Go<N>::for_each_neighbor(region[i], [&](Move next) {
                if (const auto there = game.owner(next)) {
                    beside[static_cast<std::size_t>(*there)] = true;
                } else if (!seen[next.point]) {
                    seen[next.point] = true;
                    region.push_back(next);
                }
            });
        if (region.size() < 3 || region.size() > 6 || beside[0] == beside[1]) return;
        // All empty points beside one of the region's are the region's.
        int most = 0;
        int sides = 0;
        Move middle = start;
        for (const Move point : region) {
            const int open = game.open_sides(point);
            sides += open;
            if (open <= most) continue;
            most = open;
            middle = point;
        }
        const bool vital = (region.size() == 3) || (region.size() == 4 && most == 3) ||
                           (region.size() == 5 && (most == 4 || (most == 3 && sides == 10))) ||
                           (region.size() == 6 && most == 4 && sides == 12);
        if (vital) owners_[middle.point] = beside[0] ? Player::first : Player::second;
    }

    std::array<std::optional<Player>, Go<N>::area> owners_{};
};

}  // namespace hyoka::strengths
