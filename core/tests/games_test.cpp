// SPDX-License-Identifier: Apache-2.0
// The laws over all games and their lines, attack tables two ways, and the known perft counts.
// Runs under AddressSanitizer and UBSan in `make sanitize`.
#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/go.h"
#include "games/othello.h"
#include "games/shogi.h"
#include "line.h"
#include "perft.h"
#include "tests/laws.h"

namespace hyoka::tests {
namespace {

template <Game G>
void check_game(const std::string& name, const G& start, int games, int plies) {
    for (int seed = 0; seed < games; ++seed) {
        check_laws(name, start, static_cast<std::uint64_t>(seed), plies);
        check_laws(name + " line", Line<G>(start), static_cast<std::uint64_t>(seed), plies / 2);
    }
}

void check_chess_sliders() {
    Rng rng(1);
    for (int i = 0; i < 20000; ++i) {
        const int square = static_cast<int>(rng.below(64));
        const auto occupied = rng.bits() & rng.bits();
        expect(chess::rook_attacks(square, occupied) == chess::rook_attacks_by_rays(square, occupied), "rook attacks");
        expect(chess::bishop_attacks(square, occupied) == chess::bishop_attacks_by_rays(square, occupied),
               "bishop attacks");
    }
}

void check_shogi_sliders() {
    Rng rng(2);
    constexpr int steps[8][2] = {{0, 1}, {1, -1}, {1, 0}, {1, 1}, {0, -1}, {-1, 1}, {-1, 0}, {-1, -1}};
    for (int i = 0; i < 20000; ++i) {
        const int square = static_cast<int>(rng.below(81));
        const auto direction = static_cast<shogi::Direction>(rng.below(8));
        const uint128 occupied = ((static_cast<uint128>(rng.bits()) << 64 | rng.bits()) &
                                  (static_cast<uint128>(rng.bits()) << 64 | rng.bits())) &
                                 shogi::whole_board;
        uint128 walked = 0;
        int file = shogi::file_of(square) + steps[direction][0];
        int rank = shogi::rank_of(square) + steps[direction][1];
        for (; file >= 0 && file < 9 && rank >= 0 && rank < 9;
             file += steps[direction][0], rank += steps[direction][1]) {
            walked |= shogi::bit(shogi::square_at(file, rank));
            if (occupied & shogi::bit(shogi::square_at(file, rank))) break;
        }
        expect(shogi::ray_attacks(direction, square, occupied) == walked, "shogi rays");
    }
}

void check_perft() {
    expect(perft(Chess().movement_only(), 4) == 197281, "chess perft 4");
    const auto kiwipete = Chess::from_text("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
    expect(perft(kiwipete.movement_only(), 3) == 97862, "Kiwipete perft 3");
    expect(perft(Shogi(), 3) == 25470, "shogi perft 3");
    expect(perft(Othello(), 7) == 55092, "Othello perft 7");
}

void check_bad_texts() {
    Rng rng(3);
    const auto survives = [&](auto game, const std::string& text) {
        using G = decltype(game);
        std::string mangled = text;
        for (int edits = 1 + static_cast<int>(rng.below(3)); edits > 0; --edits) {
            const auto at = rng.below(static_cast<std::uint32_t>(mangled.size()));
            const auto byte = static_cast<char>(rng.below(3) ? 32 + rng.below(95) : rng.below(256));
            switch (rng.below(3)) {
                case 0: mangled[at] = byte; break;
                case 1: mangled.insert(at, 1, byte); break;
                default: mangled.erase(at, 1 + rng.below(4));
            }
            if (mangled.empty()) break;
        }
        bool fine = true;
        try {
            const G read = G::from_text(mangled);
            read.check_consistency();
            fine = read.outcome().has_value() == read.legal_moves().empty();
        } catch (const NotationError&) {
        } catch (const IllegalMoveError&) {}
        try {
            (void)game.is_legal(game.parse_move(mangled.substr(0, rng.below(12))));
        } catch (const NotationError&) {
        } catch (const IllegalMoveError&) {}
        expect(fine, "mangled text " + mangled);
    };
    for (int i = 0; i < 3000; ++i) {
        survives(Chess(), Chess().text());
        survives(Shogi(), "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1");
        survives(Othello(), Othello().text());
        survives(Go<5>(), "2X2/X1XO1/1X3/5/OO3 w C5 1 0.5");
        survives(BlokusDuo(), BlokusDuo().text());
        survives(Line<Chess>(), Chess().text() + " moves e2e4 e7e5 g1f3");
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    check_chess_sliders();
    check_shogi_sliders();
    check_perft();
    check_bad_texts();
    check_game("go3", Go<3>(), 20, 60);
    check_game("go5", Go<5>(), 10, 120);
    check_game("go9", Go<9>(), 4, 250);
    check_game("go19", Go<19>(0.5, 4), 1, 60);
    check_game("othello", Othello(), 10, 100);
    check_game("chess", Chess(), 4, 250);
    check_game("chess", Chess::from_text("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"), 2, 150);
    check_game("shogi", Shogi().with_rules({true, 200}), 4, 220);
    check_game("shogi", Shogi::with_handicap("two-piece"), 2, 150);
    check_game("blokus_duo", BlokusDuo(true), 2, 80);
    return report();
}
