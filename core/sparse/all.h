// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sparse/chess_places.h"
#include "sparse/othello_patterns.h"
#include "sparse/shogi_kpp.h"
#include "sparse/shogi_relations.h"
#include "sparse/shogi_terms.h"

namespace hyoka::sparse {

/// **The one list of sets**; the first of a game is the one that is meant if none is named.
template <class Visit>
void for_each_set(Visit&& visit) {
    visit(std::type_identity<ShogiTerms>{});
    visit(std::type_identity<ShogiRelations>{});
    visit(std::type_identity<ShogiKpp>{});
    visit(std::type_identity<ChessPlaces>{});
    visit(std::type_identity<OthelloPatterns>{});
}

/// Calls `act` with the set of a game that has this name. Throws NotationError if there is none.
template <class Act>
void with_set(std::string_view game, std::string_view name, Act&& act) {
    bool found = false;
    for_each_set([&]<class Set>(std::type_identity<Set> set) {
        if (found || game != Set::Game::name || name != Set::name) return;
        found = true;
        act(set);
    });
    if (!found) throw NotationError(std::string(game) + " has no set of features " + std::string(name));
}

}  // namespace hyoka::sparse
