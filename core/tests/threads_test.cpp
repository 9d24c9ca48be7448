// SPDX-License-Identifier: Apache-2.0
// Playouts on several threads: the same numbers as on one, and no data race under ThreadSanitizer.
#include "games/blokus_duo.h"
#include "games/chess.h"
#include "games/othello.h"
#include "games/shogi.h"
#include "playout.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

template <Game G>
void check_threads(const std::string& name, const G& start, std::size_t count) {
    const std::atomic<bool> stop = false;
    std::vector<PlayoutEnd> alone(count);
    std::vector<PlayoutEnd> together(count);
    play_out_many(start, alone, 7, playout_limit<G>(), 1, stop);
    play_out_many(start, together, 7, playout_limit<G>(), 4, stop);
    bool same = true;
    for (std::size_t i = 0; i < count; ++i)
        same &= alone[i].score == together[i].score && alone[i].plies == together[i].plies;
    expect(same, name + ": playouts do not depend on the number of threads");
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    // Blokus Duo first: its tables are made by whichever thread asks first.
    check_threads("blokus_duo", BlokusDuo(), 300);
    check_threads("go9", Go<9>(), 300);
    check_threads("othello", Othello(), 300);
    check_threads("chess", Line<Chess>(Chess()), 300);
    check_threads("shogi", Shogi(), 300);
    return report();
}
