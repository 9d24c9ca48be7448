// SPDX-License-Identifier: Apache-2.0
// METS: the same tree however many threads grow it, leaves kept up as stones come and go, and bytes that are no tree.
#include <cstring>

#include "mets/board.h"
#include "mets/grow.h"
#include "mets/point_game.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using namespace mets;
using G = Go<9>;
using Points = PointGame<G>;
constexpr int area = Points::side * Points::side;

/// Boards of random games, with the moves that were played next.
struct RandomGames {
    std::vector<std::uint8_t> boards;
    std::vector<std::int16_t> points;
    std::vector<std::uint8_t> movers;
    std::vector<G> positions;

    explicit RandomGames(int games) {
        Rng rng = Rng::for_task(3, 0);
        const std::size_t bytes = Patterns::bytes_of(Points::side);
        for (int game = 0; game < games; ++game) {
            G at;
            for (int ply = 0; ply < 60; ++ply) {
                const auto move = at.random_move(rng);
                if (!move) break;
                boards.resize(boards.size() + bytes);
                std::uint8_t* cells = boards.data() + boards.size() - bytes;
                for (int point = 0; point < area; ++point)
                    cells[point / 4] |= static_cast<std::uint8_t>(Points::stone(at, point) << (2 * (point % 4)));
                points.push_back(static_cast<std::int16_t>(Points::point(*move)));
                movers.push_back(static_cast<std::uint8_t>(at.to_play()));
                positions.push_back(at);
                at.play(*move);
            }
        }
    }
    Tree grow(std::uint32_t threshold, unsigned threads, int symmetries) const {
        Growing how;
        how.threshold = threshold;
        how.threads = threads;
        how.worth_a_task = 50;
        return mets::grow({Points::side, boards, points, movers, symmetries}, how);
    }
};

void check_threads(const RandomGames& games) {
    for (const int symmetries : {1, 8}) {
        const auto alone = games.grow(3, 1, symmetries).to_bytes();
        expect(alone == games.grow(3, 4, symmetries).to_bytes(), "the tree does not depend on the number of threads");
        expect(alone.size() > 10'000, "the tree has grown");
    }
}

void check_watcher(const RandomGames& games) {
    const Tree tree = games.grow(4, 2, 1);
    Watcher<Points::side> watcher(tree);
    bool same = true;
    for (const G& at : games.positions) {
        Board<Points::side> fresh;
        for (int point = 0; point < area; ++point) {
            const std::uint8_t stone = Points::stone(at, point);
            fresh.set(point, stone);
            if (watcher.stone(point) != stone) watcher.set(point, stone);
        }
        watcher.for_each_empty(at.to_play(), [&](int point, Branch branch) {
            same = same && branch == fresh.classify(tree, point, at.to_play()).branch;
        });
    }
    expect(same, "leaves kept up are those found afresh");
}

void check_bytes(const RandomGames& games) {
    const auto bytes = games.grow(20, 1, 1).to_bytes();
    Rng rng = Rng::for_task(4, 0);
    int refused = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        std::vector<std::uint64_t> kept(bytes.size() / 8 + 1);  // aligned
        std::memcpy(kept.data(), bytes.data(), bytes.size());
        auto* data = reinterpret_cast<std::byte*>(kept.data());
        data[rng.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<std::byte>(rng.below(256));
        const std::size_t size = trial % 10 ? bytes.size() : rng.below(static_cast<std::uint32_t>(bytes.size()));
        try {
            const Tree tree = Tree::from_bytes({data, size}, nullptr);
            Board<Points::side> board;
            for (int point = 0; point < area; ++point) board.set(point, vacant);
            for (int point = 0; point < area; ++point) board.classify(tree, point, Player::first);
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    expect(refused > 200, "what is no tree is refused");
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka::tests;
    const RandomGames games(30);
    check_threads(games);
    check_watcher(games);
    check_bytes(games);
    return report();
}
