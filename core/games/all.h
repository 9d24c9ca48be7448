// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/go.h"
#include "games/othello.h"
#include "games/shogi.h"

/// All games, once. Whatever is done for each of them goes through this list.
namespace hyoka {

template <class... G>
struct GameList {
    static constexpr std::array<std::string_view, sizeof...(G)> names = {G::name...};
};

// clang-format off
using AllGames = GameList<
    Go<3>, Go<4>, Go<5>, Go<6>, Go<7>, Go<9>, Go<13>, Go<19>,
    Othello, Chess, Shogi, BlokusDuo>;
// clang-format on

/// Which of them: its place in the list. The numbers stand in tables of records, by those names.
enum class GameKind : std::uint8_t {};
inline constexpr auto& game_names = AllGames::names;

/// Calls visit(std::type_identity<G>{}) for every game.
template <class Visit>
constexpr void for_each_game(Visit&& visit) {
    [&]<class... G>(GameList<G...>*) { (visit(std::type_identity<G>{}), ...); }(static_cast<AllGames*>(nullptr));
}

template <class G>
inline constexpr GameKind kind_of = [] {
    std::size_t place = 0;
    while (game_names[place] != G::name) ++place;
    return static_cast<GameKind>(place);
}();

/// Throws NotationError if no game has this name.
inline GameKind game_named(std::string_view name) {
    for (std::size_t i = 0; i < game_names.size(); ++i)
        if (game_names[i] == name) return static_cast<GameKind>(i);
    throw NotationError("no game '" + std::string(name) + "'");
}

/// Returns visit(std::type_identity<G>{}) for the game's type.
template <class Visit>
decltype(auto) with_game(GameKind kind, Visit&& visit) {
    return [&]<class First, class... Others>(GameList<First, Others...>*) -> decltype(auto) {
        using Answer = decltype(visit(std::type_identity<First>{}));
        using Ask = Answer (*)(std::remove_reference_t<Visit>&);
        constexpr std::array<Ask, 1 + sizeof...(Others)> asks = {
            [](std::remove_reference_t<Visit>& ask) -> Answer { return ask(std::type_identity<First>{}); },
            [](std::remove_reference_t<Visit>& ask) -> Answer { return ask(std::type_identity<Others>{}); }...};
        const auto place = static_cast<std::size_t>(kind);
        if (place >= asks.size()) throw std::invalid_argument("no such game");
        return asks[place](visit);
    }(static_cast<AllGames*>(nullptr));
}

template <class G>
inline constexpr bool is_go = requires(const G& game) { game.resumed(); };

}  // namespace hyoka
