// SPDX-License-Identifier: Apache-2.0
// The exact solvers against plain ones: check generation by filtering, mates by working out every position that checks
// can reach, Othello endings by negamax.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <unordered_map>
#include <vector>

#include "search/mate.h"
#include "search/othello_ending.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using namespace search;

template <class G>
bool gives_check(const G& game, typename G::Move move) {
    G after = game;
    after.play(move);
    return after.in_check();
}

template <class G>
std::vector<std::uint32_t> sorted_codes(const Moves<G>& moves) {
    std::vector<std::uint32_t> codes;
    for (const auto move : moves) codes.push_back(move.code());
    std::sort(codes.begin(), codes.end());
    return codes;
}

template <class G>
void check_checking_moves(const G& start, std::uint64_t seed, int plies) {
    Rng rng(seed);
    G game = start;
    for (int ply = 0; ply < plies && !game.outcome(); ++ply) {
        Moves<G> filtered;
        std::optional<typename G::Move> mating;
        for (const auto move : game.legal_moves()) {
            if (!gives_check(game, move)) continue;
            filtered.push_back(move);
            G after = game;
            after.play(move);
            const auto over = after.outcome();
            if (over && over->reason == Reason::checkmate) mating = move;
        }
        const auto checks = game.checking_moves();
        expect(sorted_codes<G>(checks) == sorted_codes<G>(filtered), "the moves that give check, " + game.text());
        expect(mate_in_one(game).has_value() == mating.has_value(), "mate in one, " + game.text());
        if constexpr (std::is_same_v<G, Shogi>) {
            const auto hash = game.board_hash();
            for (const auto move : game.legal_moves()) {
                G after = game;
                after.play(move);
                expect(game.board_hash_after(hash, move) == after.board_hash(), "the board's hash, " + game.text());
            }
        }
        // Checks now and then, for discovered ones, counter-checks and mates.
        if (!checks.empty() && rng.below(3) == 0)
            game.play(checks[rng.below(static_cast<std::uint32_t>(checks.size()))]);
        else
            game.play(*game.random_move(rng));
    }
}

/// Works out all positions that checks and the answers to them can reach, then which of these are mates: the least
/// set that holds each position with a check all answers to which lead into it.
template <class G>
class CheckGraph {
public:
    /// Whether the side to move mates by checks; nullopt: more than `limit` positions.
    static std::optional<bool> is_mate(const G& root, std::size_t limit) {
        CheckGraph graph;
        if (!graph.grow(root, limit)) return std::nullopt;
        for (bool changed = true; changed;) {
            changed = false;
            for (Node& node : graph.nodes_) {
                if (node.mate) continue;
                for (const auto& answers : node.checks)
                    node.mate |= std::all_of(answers.begin(), answers.end(),
                                             [&](std::size_t answer) { return graph.nodes_[answer].mate; });
                changed |= node.mate;
            }
        }
        return graph.nodes_[0].mate;
    }

private:
    struct Node {
        G game;
        std::vector<std::vector<std::size_t>> checks;  // for each check, where the answers lead
        bool mate = false;
    };

    bool grow(const G& root, std::size_t limit) {
        add(root);
        for (std::size_t at = 0; at < nodes_.size(); ++at) {
            if (nodes_.size() > limit) return false;
            const G game = nodes_[at].game;
            for (const auto move : game.legal_moves()) {
                if (!gives_check(game, move)) continue;
                G after = game;
                after.play(move);
                std::vector<std::size_t> answers;
                for (const auto answer : after.legal_moves()) {
                    G next = after;
                    next.play(answer);
                    answers.push_back(add(next));
                }
                nodes_[at].checks.push_back(std::move(answers));
            }
        }
        return true;
    }
    std::size_t add(const G& game) {
        const auto [found, fresh] = places_.try_emplace(game.hash(), nodes_.size());
        if (fresh) nodes_.push_back({game, {}, false});
        return found->second;
    }

    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::size_t> places_;
};

template <class G>
bool is_mating_line(const G& start, const std::vector<typename G::Move>& line) {
    G game = start;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (!game.is_legal(line[i]) || (i % 2 == 0 && !gives_check(game, line[i]))) return false;
        game.play(line[i]);
    }
    const auto over = game.outcome();
    return line.size() % 2 == 1 && over && over->reason == Reason::checkmate;
}

struct VerdictCounts {
    int mates = 0;
    int refuted = 0;
};

template <class G>
void check_against_graph(MateSolver<G>& solver, const G& game, VerdictCounts& counts) {
    const auto known = CheckGraph<G>::is_mate(game, 2000);
    if (!known) return;
    const auto result = solver.solve(game, {.nodes = 300000});
    expect(result.verdict == (*known ? MateVerdict::mate : MateVerdict::no_mate), "verdict on " + game.text());
    expect(*known == is_mating_line(game, result.line), "mating line of " + game.text());
    ++(*known ? counts.mates : counts.refuted);
}

/// A king on the top row among its own men and a few attackers: checks reach few positions, yet mate now and then.
template <class G>
G random_position(Rng& rng, int size, const std::string& defenders, const std::string& attackers,
                  const std::string& rest) {
    const auto pick = [&](const std::string& from) { return from[rng.below(static_cast<std::uint32_t>(from.size()))]; };
    const auto below = [&](int n) { return static_cast<int>(rng.below(static_cast<std::uint32_t>(n))); };
    for (;;) {
        std::string board(static_cast<std::size_t>(size * size), '1');
        const int king = below(size);
        board[static_cast<std::size_t>(king)] = 'k';
        for (int i = 0; i < 2 * size; ++i)
            if (i != king && std::abs(i % size - king) <= 1 && below(3))
                board[static_cast<std::size_t>(i)] = pick(defenders);
        for (const char piece : attackers) {
            auto at = static_cast<std::size_t>(below(size * size / 2));
            while (board[at] != '1') at = static_cast<std::size_t>(below(size * size / 2));
            board[at] = piece;
        }
        if constexpr (std::is_same_v<G, Chess>) board.back() = 'K';
        for (int row = size - 1; row > 0; --row) board.insert(static_cast<std::size_t>(row * size), "/");
        try {
            return G::from_text(board + rest).movement_only();
        } catch (const NotationError&) {}
    }
}
Chess random_chess(Rng& rng) {
    constexpr std::array<const char*, 6> sets = {"QN", "RN", "QB", "RRN", "QP", "NNR"};
    return random_position<Chess>(rng, 8, "pppbnr", sets[rng.below(sets.size())], " w - - 0 1");
}
Shogi random_shogi(Rng& rng) {
    constexpr std::array<const char*, 6> sets = {"RP", "BN", "RL", "GSP", "GN", "LSN"};
    constexpr std::array<const char*, 6> hands = {" b G 1", " b GP 1", " b RGp 1", " b SNp 1", " b BGP 1", " b NG 1"};
    return random_position<Shogi>(rng, 9, "gslnpppp", sets[rng.below(sets.size())], hands[rng.below(hands.size())]);
}

void check_mates() {
    MateSolver<Shogi> shogi({.hash_mib = 4});
    const auto mate =
        Shogi::from_text("ln1gkg1nl/6+P2/2sppps1p/2p3p2/p8/P1P1P3P/2NP1PP2/3s1KSR1/L1+b2G1NL w R2Pbgp 42");
    auto result = shogi.solve(mate);
    expect(result.verdict == MateVerdict::mate && is_mating_line(mate, result.line), "a mate in three");
    const auto longer =
        Shogi::from_text("ln1G1g1nl/1R2gk1s1/p2ppp1pp/2p3p2/4N2P1/P3P3P/1PPP4K/1B3sG2/LN5+bL w Srs3p 68");
    result = shogi.solve(longer, {.nodes = 1000000});
    expect(result.verdict == MateVerdict::mate && is_mating_line(longer, result.line), "a mate in eleven");
    expect(shogi.solve(Shogi()).verdict == MateVerdict::no_mate, "no mate at the start");
    MateSolver<Shogi> fresh({.hash_mib = 1});
    expect(fresh.solve(longer, {.nodes = 10}).verdict == MateVerdict::unknown, "ten nodes do not suffice");
    const std::atomic<bool> interrupt = true;
    expect(fresh.solve(longer, {}, &interrupt).verdict == MateVerdict::unknown, "an interrupt ends the search");
    // The pawn would mate, but may not be dropped to mate.
    const auto pawn_drop = Shogi::from_text("7lk/9/8S/9/9/9/9/9/9 b P2r2b4g3s4n3l17p 1");
    expect(shogi.solve(pawn_drop).verdict == MateVerdict::no_mate, "a pawn drop does not mate");

    VerdictCounts counts;
    Rng rng(5);
    for (int i = 0; i < 4000; ++i) check_against_graph(shogi, random_shogi(rng), counts);
    expect(counts.mates > 10 && counts.refuted > 100, "shogi: both verdicts were met");

    MateSolver<Chess> chess({.hash_mib = 4});
    const auto smothered = Chess::from_text("r5rk/5ppp/8/6N1/2Q5/8/8/6K1 w - - 0 1");
    const auto answer = chess.solve(smothered);
    expect(answer.verdict == MateVerdict::mate && is_mating_line(smothered, answer.line), "a mate in chess");
    counts = {};
    for (int i = 0; i < 1000; ++i) check_against_graph(chess, random_chess(rng), counts);
    expect(counts.mates > 20 && counts.refuted > 50, "chess: both verdicts were met");
}

/// The score of a position for the side to move, without any art.
int negamax(const Othello& game, int alpha, int beta) {
    if (game.outcome()) return static_cast<int>(game.score()) * (game.to_play() == Player::first ? 1 : -1);
    int best = -65;
    for (const auto move : game.legal_moves()) {
        Othello after = game;
        after.play(move);
        best = std::max(best, -negamax(after, -beta, -std::max(alpha, best)));
        if (best >= beta) break;
    }
    return best;
}
int plain_score(const Othello& game) { return negamax(game, -65, 65) * (game.to_play() == Player::first ? 1 : -1); }

Othello with_empties(Rng& rng, int empties, bool from_play) {
    const auto empty_squares = [](const Othello& game) {
        return 64 - count_bits(game.discs(Player::first) | game.discs(Player::second));
    };
    while (from_play) {
        Othello game;
        while (empty_squares(game) > empties && !game.outcome()) game.play(*game.random_move(rng));
        if (empty_squares(game) == empties) return game;
    }
    // Not from play: boards where many squares are dead, sides must pass or the game ends early.
    std::string text(64, '-');
    const std::uint32_t share = 1 + rng.below(15);
    for (char& square : text) square = rng.below(16) < share ? 'X' : 'O';
    for (int i = 0; i < empties;) {
        char& square = text[rng.below(64)];
        i += square != '-';
        square = '-';
    }
    return Othello::from_text(text + (rng.below(2) ? " X" : " O"));
}

void check_endings() {
    OthelloEnding solver({.hash_mib = 1});
    Rng rng(9);
    int early = 0;
    int passes = 0;
    for (int i = 0; i < 1500; ++i) {
        const int empties = i % 50 == 0 ? 9 + i / 50 % 2 : static_cast<int>(rng.below(9));
        const Othello game = with_empties(rng, empties, i % 3 == 0);
        const int score = plain_score(game);
        const auto result = solver.solve(game);
        expect(result.solved && result.score == score, "the score of " + game.text());
        Othello end = game;
        bool legal = true;
        for (const auto move : result.line) {
            legal &= end.is_legal(move);
            if (!legal) break;
            passes += move == Othello::Move::pass();
            end.play(move);
        }
        expect(legal && end.outcome() && end.score() == score, "the line of " + game.text());
        early += end.outcome() && count_bits(end.discs(Player::first) | end.discs(Player::second)) < 64;
        const auto sign = solver.solve_result(game);
        expect(sign.solved && sign.score == (score > 0) - (score < 0), "the result of " + game.text());
        if (i % 5 == 0) {
            const auto scored = solver.solve_moves(game);
            expect(scored.solved && scored.moves.size() == game.count_moves(), "all moves of " + game.text());
            for (const auto& [move, worth] : scored.moves) {
                Othello after = game;
                after.play(move);
                expect(plain_score(after) == worth, "the score of " + move.text() + " in " + game.text());
            }
            if (!scored.moves.empty()) expect(scored.moves[0].score == score, "the best move of " + game.text());
        }
    }
    expect(early > 25 && passes > 100, "passes and early ends were met");

    // Fourteen empty squares.
    const auto known = Othello::from_text("----OX----OOXX---OOOXX-XOOXXOOOOOXXOXXOOOXXXOOOOOXXXXOXO--OOOOOX X");
    const auto solved = solver.solve(known);
    expect(solved.score == 2 && !solved.line.empty() && solved.line[0].text() == "d1", "the first Fforum position");
    solver.clear();
    expect(!solver.solve(known, {.nodes = 100}).solved, "a hundred nodes do not suffice");
    const std::atomic<bool> interrupt = true;
    expect(!solver.solve(Othello(), {}, &interrupt).solved, "an interrupt ends the search");
    expect(!solver.solve(Othello(), {.time_s = 0.01}).solved, "so does the clock");
    expect(solver.solve(known).score == 2, "an unfinished search leaves nothing false behind");
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    using namespace hyoka::tests;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        check_checking_moves(Chess(), seed, 120);
        check_checking_moves(Chess::from_text("r3k2r/1P1n1qP1/3p4/2pPp3/3R1b2/5N2/1pQ2BpP/R3K2R w KQkq c6 0 1"), seed,
                             60);
        check_checking_moves(Shogi(), seed, 150);
        check_checking_moves(Shogi::from_text("l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1"),
                             seed, 80);
    }
    check_mates();
    check_endings();
    return report();
}
