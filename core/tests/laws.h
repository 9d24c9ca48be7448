// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "game.h"
#include "tests/expect.h"

namespace hyoka::tests {

/// Walks a game at random and holds every position on the way to what any Game promises.
template <Game G>
void check_laws(const std::string& name, const G& start, std::uint64_t seed, int plies) {
    Rng rng(seed);
    G game = start;
    for (int ply = 0; ply < plies; ++ply) {
        const std::string where = name + " after " + std::to_string(ply) + " plies: " + game.text();
        game.check_consistency();
        const auto moves = game.legal_moves();
        expect(moves.empty() == game.outcome().has_value(), "over exactly when no move is left, " + where);
        expect(game.count_moves() == moves.size(), "moves are counted right, " + where);
        const G reread = G::from_text(game.text());
        expect(reread == game && reread.hash() == game.hash(), "the text says it all, " + where);
        for (const auto move : moves) {
            expect(game.is_legal(move), "listed moves are legal, " + move.text() + ", " + where);
            expect(game.parse_move(move.text()) == move, "moves are read as written, " + move.text() + ", " + where);
            G walked = game;
            const auto token = walked.play_undoable(move);
            G played = game;
            played.play(move);
            expect(walked == played && walked.hash() == played.hash(), "both ways to play agree, " + where);
            walked.undo(token);
            expect(walked == game && walked.hash() == game.hash(), "undo is exact, " + move.text() + ", " + where);
        }
        const auto drawn = game.random_move(rng);
        expect(drawn.has_value() == !moves.empty(), "a random move exists exactly when the game goes on, " + where);
        if (moves.empty()) break;
        expect(game.is_legal(*drawn), "a random move is legal, " + drawn->text() + ", " + where);
        game.play(rng.below(4) ? *drawn : moves[rng.below(static_cast<std::uint32_t>(moves.size()))]);
    }
}

}  // namespace hyoka::tests
