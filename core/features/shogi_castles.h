// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "games/shogi.h"

namespace hyoka::features {

inline constexpr std::array<std::string_view, 16> castle_names = {
    "none",       "igyoku",  "yagura",    "gin_yagura", "kata_yagura", "mino",  "takamino",  "kata_mino",
    "ginkanmuri", "anaguma", "funagakoi", "kinmuso",    "elmo",        "gangi", "nakazumai", "kani",
};
/// Which castle a player's king lives in, as an index into the names. A castle is its king and the few generals that
/// make it, wherever the others are; it may be mirrored left and right.
int castle_of(const Shogi& game, Player player);

}  // namespace hyoka::features
