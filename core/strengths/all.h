// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strengths/blokus_duo.h"
#include "strengths/chess.h"
#include "strengths/go.h"
#include "strengths/move_strengths.h"
#include "strengths/othello.h"
#include "strengths/shogi.h"

namespace hyoka::strengths {

/// A game whose moves have no features: all of them are equally strong. Defined after all that have some, so that none
/// of them can be taken for one of these.
template <class G>
struct MoveFeatures {
    static const std::vector<Feature>& all() {
        static const std::vector<Feature> none;
        return none;
    }
    template <class Sink>
    static void visit(const G&, const Context<G>&, std::span<const typename G::Move> moves, Sink sink) {
        for (std::size_t i = 0; i < moves.size(); ++i) sink.end_move();
    }
};

}  // namespace hyoka::strengths
