// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bulk/walk.h"
#include "network/all.h"

namespace hyoka::bulk {

template <class G>
class NetworkVisitor final : public Visitor<G> {
public:
    using Inputs = network::Inputs<G>;
    using Move = typename G::Move;

    explicit NetworkVisitor(NetworkPass& pass) : pass_(pass) {}

    void visit(std::size_t row, const records::RecordedGame<G>& at) override {
        Rng rng = Rng::for_task(pass_.seed, row);
        const int symmetry = drawn_symmetry(rng);
        const G game = turned(at.open_position(), symmetry);
        strengths::Context<G> context;
        if (rng.below(2)) {
            if (at.last()) context.last = turned(*at.last(), symmetry);
            if (at.before_last()) context.before_last = turned(*at.before_last(), symmetry);
        }
        network::InputSet<Inputs::count> inputs;
        Inputs::find(game, context, inputs);
        for (std::size_t i = 0; i < pass_.input_bytes; ++i)
            pass_.inputs[row * pass_.input_bytes + i] =
                static_cast<std::uint8_t>(inputs.words[i / 8] >> (8 * (i % 8)) & 0xff);
        pass_.first_to_play[row] = game.to_play() == Player::first;
        for (auto i = pass_.target_offsets[row]; i < pass_.target_offsets[row + 1]; ++i) {
            const auto target = static_cast<std::size_t>(i);
            const Move move = turned(checked_move<Move>(pass_.target_codes[target]), symmetry);
            pass_.targets[target] = static_cast<std::uint16_t>(Inputs::seen(game, move));
        }
        if (pass_.legal.empty()) return;
        std::uint8_t* legal = &pass_.legal[row * pass_.code_bytes];
        for (const Move move : game.legal_moves()) {
            const std::uint32_t code = Inputs::seen(game, move);
            legal[code / 8] = static_cast<std::uint8_t>(legal[code / 8] | 1u << (code % 8));
        }
    }

private:
    static int drawn_symmetry([[maybe_unused]] Rng& rng) {
        if constexpr (requires { G::symmetries; })
            return static_cast<int>(rng.below(G::symmetries));
        else
            return 0;
    }
    template <class T>
    static T turned(const T& what, [[maybe_unused]] int symmetry) {
        if constexpr (!requires { G::symmetries; })
            return what;
        else if constexpr (std::is_same_v<T, Move>)
            return G::transformed(what, symmetry);
        else
            return what.transformed(symmetry);
    }
    NetworkPass& pass_;
};

}  // namespace hyoka::bulk
