// SPDX-License-Identifier: Apache-2.0
#include "search/tactics.h"

#include <algorithm>

namespace hyoka::search {

std::optional<Result> Tactics<Chess>::repetition(const Chess& game, std::span<const Chess::Trace> past) {
    if (game.draws() == Chess::Draws::ignored) return std::nullopt;
    const auto reach = std::min<std::size_t>(past.size(), static_cast<std::size_t>(game.halfmove_clock()));
    for (std::size_t back = 4; back <= reach; back += 2)
        if (past[past.size() - back] == game.trace()) return Result::draw;
    return std::nullopt;
}

std::optional<Result> Tactics<Shogi>::repetition(const Shogi& game, std::span<const Shogi::Trace> past) {
    if (game.over_by_rule()) return std::nullopt;  // a declaration leaves the board, and so its hash, as it was
    bool they_checked = game.in_check();           // the side that has just moved, with every move since
    bool we_checked = true;
    for (std::size_t back = 1; back <= past.size(); ++back) {
        const Shogi::Trace& trace = past[past.size() - back];
        const bool our_turn = back % 2 == 0;
        if (our_turn && trace.hash == game.hash()) {
            if (they_checked) return win_for(game.to_play());
            if (we_checked) return win_for(other(game.to_play()));
            return Result::draw;
        }
        (our_turn ? they_checked : we_checked) &= trace.in_check;
    }
    return std::nullopt;
}

}  // namespace hyoka::search
