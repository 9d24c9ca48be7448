// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/go.h"
#include "playouts/stepwise.h"
#include "strengths/go.h"

namespace hyoka::playouts {

/// How often each rule of GoLightPlayout is asked, from 0 to 1.
struct GoLightRules {
    double answer_atari = 0.95;
    double capture = 0.9;
    double pattern = 0.95;
    double refuse_self_atari = 0.9;
};

/// Answers the last move where that seems urgent, as the playouts of MoGo, michi and Pachi do. The first rule that
/// finds something decides, at random among what it finds:
/// 1. Own stones beside the last move are in atari: capture around them, or extend if that is no self-atari.
/// 2. Stones at or around the last move are in atari: capture them.
/// 3. A point around the last move has one of MoGo's shapes and is no self-atari: play there.
/// 4. Otherwise any move that fills no own eye; one that puts three or more stones into self-atari is drawn again.
template <int N>
class GoLightPlayout final : public StepwisePlayout<Go<N>> {
public:
    using Move = typename Go<N>::Move;
    using typename StepwisePlayout<Go<N>>::Context;

    explicit GoLightPlayout(GoLightRules rules = {}) : rules_(rules) {}

    std::optional<Move> choose(RandomPlayout<Go<N>>& playout, const Context& context, Rng& rng) override;
    std::unique_ptr<StepwisePlayout<Go<N>>> copy() const override { return std::make_unique<GoLightPlayout>(*this); }

private:
    GoLightRules rules_;
    const std::bitset<1 << 16>* shapes_ = &strengths::known_shapes();
};

extern template class GoLightPlayout<3>;
extern template class GoLightPlayout<4>;
extern template class GoLightPlayout<5>;
extern template class GoLightPlayout<6>;
extern template class GoLightPlayout<7>;
extern template class GoLightPlayout<9>;
extern template class GoLightPlayout<13>;
extern template class GoLightPlayout<19>;

}  // namespace hyoka::playouts
