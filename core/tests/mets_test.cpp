// SPDX-License-Identifier: Apache-2.0
// METS: the same tree however many threads grow it, leaves kept up as stones come and go and as tactics change, and
// bytes that are no tree.
#include <cstring>

#include "mets/board.h"
#include "mets/grow.h"
#include "mets/odds.h"
#include "mets/point_game.h"
#include "mets/starts.h"
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
    std::vector<strengths::Context<G>> contexts;
    std::vector<Answers> answers;  // about the moves
    Sample sample;

    explicit RandomGames(int games) {
        Rng rng = Rng::for_task(3, 0);
        const std::size_t bytes = Patterns::bytes_of(Points::side);
        for (int game = 0; game < games; ++game) {
            G at;
            strengths::Context<G> context;
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
                contexts.push_back(context);
                describe(at, context, *move, rng);
                at.play(*move);
                context = context.after(*move);
            }
        }
    }
    Tree grow(std::uint32_t threshold, unsigned threads, int symmetries, bool tactics = false) const {
        Growing how;
        how.threshold = threshold;
        how.threads = threads;
        how.worth_a_task = 50;
        Top top;
        const auto& asked = Tactical<G>::questions();
        if (tactics) top = grow_top(sample, {.questions = asked.size(), .gain = 0.001, .least = 20});
        return mets::grow({Points::side, boards, points, movers, symmetries, answers}, top, how)
            .with_tactics(tactics ? fingerprint(asked) : 0);
    }

private:
    Tactical<G> tactical_;

    void describe(const G& at, const strengths::Context<G>& context, G::Move move, Rng& rng) {
        std::array<Answers, area> all{};
        tactical_.answer(at, context, all);
        const int point = Points::point(move);
        answers.push_back(point < 0 ? 0 : all[static_cast<std::size_t>(point)]);
        sample.played.push_back(answers.back());
        std::vector<Answers> others;
        for (int other = 0; other < area; ++other)
            if (other != point && Points::stone(at, other) == vacant)
                others.push_back(all[static_cast<std::size_t>(other)]);
        sample.weights.push_back(static_cast<std::uint16_t>(point < 0 ? 0 : others.size()));
        for (std::size_t i = 0; i < Sample::others_each; ++i)
            sample.others.push_back(others.empty() ? 0 : others[rng.below(static_cast<std::uint32_t>(others.size()))]);
    }
};

void check_threads(const RandomGames& games) {
    for (const int symmetries : {1, 8})
        for (const bool tactics : {false, true}) {
            const auto alone = games.grow(3, 1, symmetries, tactics).to_bytes();
            const auto together = games.grow(3, 4, symmetries, tactics).to_bytes();
            expect(alone == together, "the tree does not depend on the number of threads");
            expect(alone.size() > 10'000, "the tree has grown");
        }
}

void check_watcher(const RandomGames& games, bool tactics) {
    const Tree tree = games.grow(4, 2, 1, tactics);
    expect((tree.nodes()[tree.root()].question >= question_count) == tactics, "tactics are asked about if they may be");
    Watcher<Points::side> watcher(tree);
    Starts<G> starts(tree);
    bool same = true;
    for (std::size_t i = 0; i < games.positions.size(); ++i) {
        const G& at = games.positions[i];
        Board<Points::side> fresh;
        for (int point = 0; point < area; ++point) {
            const std::uint8_t stone = Points::stone(at, point);
            fresh.set(point, stone);
            if (watcher.stone(point) != stone) watcher.set(point, stone);
        }
        starts.look(at, games.contexts[i]);
        watcher.for_each_empty(at.to_play(), starts, [&](int point, Branch branch) {
            const Branch start = starts(static_cast<std::size_t>(point));
            same = same && branch == fresh.classify(tree, point, at.to_play(), start).branch;
        });
    }
    expect(same, "leaves kept up are those found afresh");
}

void check_bytes(const RandomGames& games, bool tactics) {
    const auto bytes = games.grow(20, 1, 1, tactics).to_bytes();
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
            for (std::size_t point = 0; point < area; ++point) {
                const Branch start = tree.tactics() ? tree.below_tactics(games.answers[point]) : tree.root();
                board.classify(tree, static_cast<int>(point), Player::first, start);
            }
            const Odds odds(tree);
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
    for (const bool tactics : {false, true}) {
        check_watcher(games, tactics);
        check_bytes(games, tactics);
    }
    return report();
}
