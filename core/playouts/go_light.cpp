// SPDX-License-Identifier: Apache-2.0
#include "playouts/go_light.h"

#include "strengths/go_tactics.h"

namespace hyoka::playouts {
namespace {

template <int N>
using Points = InlineVector<typename Go<N>::Move, 4 * Go<N>::area>;

template <int N>
typename Go<N>::Move any_of(const Points<N>& points, Rng& rng) {
    return points[rng.below(static_cast<std::uint32_t>(points.size()))];
}

/// Where to answer an atari on stones beside the last move.
template <int N>
void find_answers(const Go<N>& game, typename Go<N>::Move last, Points<N>& found) {
    const GoTactics<N> tactics(game);
    tactics.for_each_threatened(last, [&](auto chain) {
        tactics.for_each_capture_around(chain, [&](auto point) {
            if (tactics.is_playable(point)) found.push_back(point);
        });
        const auto extension = game.last_liberty(chain);
        if (tactics.is_playable(extension) && !tactics.effect(extension).one_liberty) found.push_back(extension);
    });
}

/// Where stones at or around the last move can be captured.
template <int N>
void find_captures(const Go<N>& game, typename Go<N>::Move last, Points<N>& found) {
    const GoTactics<N> tactics(game);
    tactics.for_each_capture_near(last, [&](auto point) {
        if (tactics.is_playable(point)) found.push_back(point);
    });
}

/// Where the points around the last move have one of these shapes.
template <int N>
void find_shapes(const Go<N>& game, typename Go<N>::Move last, const std::bitset<1 << 16>& shapes, Points<N>& found) {
    const GoTactics<N> tactics(game);
    tactics.for_each_shape_around(last, shapes, [&](auto point) {
        if (tactics.is_playable(point) && !tactics.is_self_atari(point)) found.push_back(point);
    });
}

}  // namespace

template <int N>
std::optional<typename Go<N>::Move> GoLightPlayout<N>::choose(RandomPlayout<Go<N>>& playout, const Context& context,
                                                              Rng& rng) {
    const Go<N>& game = playout.game();
    if (context.last && *context.last != Move::pass()) {
        Points<N> found;
        if (chance(rules_.answer_atari, rng)) find_answers(game, *context.last, found);
        if (found.empty() && chance(rules_.capture, rng)) find_captures(game, *context.last, found);
        if (found.empty() && chance(rules_.pattern, rng)) find_shapes(game, *context.last, *shapes_, found);
        if (!found.empty()) return any_of<N>(found, rng);
    }
    constexpr int big = 3;
    constexpr int attempts = 4;
    auto move = playout.draw(rng);
    for (int i = 1; i < attempts && move && *move != Move::pass() && game.open_sides(*move) < 2; ++i) {
        const auto effect = GoTactics<N>(game).effect(*move);
        if (!effect.is_self_atari() || effect.joined + 1 < big || !chance(rules_.refuse_self_atari, rng)) break;
        move = playout.draw(rng);
    }
    return move;
}

template class GoLightPlayout<3>;
template class GoLightPlayout<4>;
template class GoLightPlayout<5>;
template class GoLightPlayout<6>;
template class GoLightPlayout<7>;
template class GoLightPlayout<9>;
template class GoLightPlayout<13>;
template class GoLightPlayout<19>;

}  // namespace hyoka::playouts
