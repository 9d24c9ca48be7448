// SPDX-License-Identifier: Apache-2.0
#include "mets/othello_tactical.h"

#include <bit>

namespace hyoka::mets {
namespace {

// The questions, in the order of their list.
enum Asked : std::size_t { turned, replies, more_replies, own_places, corner, empties };

constexpr std::uint64_t corners = 0x8100000000000081ULL;

}  // namespace

const std::vector<TacticalQuestion>& Tactical<Othello>::questions() {
    static const std::vector<TacticalQuestion> all = {
        {"discs turned", {"none: no move", "1 or 2", "3 to 5", "6 or more"}},
        {"moves of the other side then", {"3 or less", "4 or 5", "6 or 7", "8 or more"}},
        {"moves of the other side then", {"7 or less", "8 or 9", "10 or 11", "12 or more"}},
        {"own places to play then", {"3 or less", "4 to 6", "7 to 9", "10 or more"}},
        {"corners", {"no", "this is one", "opens one to the other side", ""}},
        {"empty squares", {"12 or less", "13 to 24", "25 to 40", "41 or more"}},
    };
    return all;
}

void Tactical<Othello>::answer(const Othello& game, const strengths::Context<Othello>&, std::span<Answers> of_points) {
    const Player mover = game.to_play();
    const std::uint64_t discs = game.discs(mover) | game.discs(other(mover));
    const int own = std::popcount(game.discs(mover));
    const std::uint64_t open_before = game.playable(other(mover)) & corners;
    AnswerSheet of_position;
    of_position.put(empties, band(64 - std::popcount(discs), {13, 25, 41}));
    for (std::uint32_t at = 0; at < 64; ++at) {
        if (discs >> at & 1) continue;
        AnswerSheet sheet = of_position;
        const Othello::Move move = Othello::Move::from_code(at);
        if (game.is_legal(move)) {
            Othello then = game;
            then.play(move);
            const int gained = std::popcount(then.discs(mover)) - own - 1;
            sheet.put(turned, band(gained, {1, 3, 6}));
            const std::uint64_t answers = then.playable(other(mover));
            const int number = std::popcount(answers);
            sheet.put(replies, band(number, {4, 6, 8}));
            sheet.put(more_replies, band(number, {8, 10, 12}));
            sheet.put(own_places, band(std::popcount(then.playable(mover)), {4, 7, 10}));
            const bool opens = answers & corners & ~open_before;
            sheet.put(corner, corners >> at & 1 ? 1 : opens ? 2 : 0);
        }
        of_points[at] = sheet.all();
    }
}

}  // namespace hyoka::mets
