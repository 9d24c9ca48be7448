// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/blokus_duo.h"
#include "evaluation/chess.h"
#include "evaluation/go.h"
#include "evaluation/othello.h"
#include "evaluation/shogi.h"

namespace hyoka::evaluation {

/// A game that has no terms of its own: all its positions are alike. Defined after all that have some, so that none of
/// them can be taken for one of these.
template <class G>
struct Terms {
    static const std::vector<Term>& all() {
        static const std::vector<Term> none;
        return none;
    }
    static constexpr std::string_view unit = "points";
    static constexpr double scale = 1;
    template <class Sink>
    static void count(const G&, Sink& sink) {
        sink.set_progress(0);
    }
};

}  // namespace hyoka::evaluation
