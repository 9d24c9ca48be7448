// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "evaluation/linear.h"
#include "games/go.h"

namespace hyoka::evaluation {

/// Bouzy's map of territory and influence by mathematical morphology, above 0 for Black. A stone begins with 64 (as in
/// Bouzy's paper; GNU Go begins with 128). A dilation adds to a point that is not negative and has no negative
/// neighbor the number of its positive neighbors; an erosion takes from a positive point the number of its
/// neighbors that are not positive, but never more than it has; for negative points the same with signs swapped.
/// 5 dilations and 21 erosions show territory, fewer erosions influence. Points as in Go's moves.
template <int N>
std::array<std::int16_t, Go<N>::area> bouzy(const Go<N>& game, int dilations, int erosions);

/// The score if the game ended now, territory and influence by Bouzy's maps, and the state of the chains.
template <int N>
struct Terms<Go<N>> {
    static const std::vector<Term>& all();
    static constexpr std::string_view unit = "points";
    // 14 and 51 by logistic fits to 60,000 positions each of OGS 9x9 and professional 19x19 games.
    static constexpr double scale = N * N / 6.5;
    template <class Sink>
    static void count(const Go<N>& game, Sink& sink);
};

}  // namespace hyoka::evaluation
