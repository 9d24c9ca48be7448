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

int Tactics<Chess>::material(const Chess& game) {
    int balance = 0;
    for (const Chess::Kind kind : {Chess::pawn, Chess::knight, Chess::bishop, Chess::rook, Chess::queen})
        balance += Chess::exchange_values[kind] *
                   (count_bits(game.pieces(Player::first, kind)) - count_bits(game.pieces(Player::second, kind)));
    return balance;
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

int Tactics<Shogi>::material(const Shogi& game) {
    int balance = 0;
    for (int i = Shogi::pawn; i < Shogi::kind_count; ++i) {
        const auto kind = static_cast<Shogi::Kind>(i);
        if (kind == Shogi::king) continue;
        int more = count_bits(game.pieces(Player::first, kind)) - count_bits(game.pieces(Player::second, kind));
        if (kind < Shogi::king) more += game.in_hand(Player::first, kind) - game.in_hand(Player::second, kind);
        balance += Shogi::exchange_values[kind] * more;
    }
    return balance;
}

}  // namespace hyoka::search
