// SPDX-License-Identifier: Apache-2.0
// Strengths of moves and playout policies. Runs under AddressSanitizer and UBSan in `make sanitize`.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "line.h"
#include "playouts/by_strength.h"
#include "playouts/cutoff.h"
#include "playouts/go_light.h"
#include "playouts/mixed.h"
#include "playouts/uniform.h"
#include "strengths/all.h"
#include "strengths/go_tactics.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using namespace playouts;
using strengths::Context;
using strengths::MoveFeatures;
using strengths::MoveStrengths;

template <class G>
std::span<const typename G::Move> span_of(const Moves<G>& moves) {
    return {moves.begin(), moves.size()};
}

/// The names of a legal move's features.
template <class G>
std::set<std::string> features_of(const G& game, typename G::Move move, const Context<G>& context = {}) {
    strengths::FeatureLists lists;
    MoveStrengths<G>::list(game, context, {&move, 1}, lists);
    std::set<std::string> names;
    for (const auto feature : lists.of(0)) names.insert(MoveFeatures<G>::all()[feature].name);
    return names;
}

template <class G>
void expect_features(const G& game, const std::string& move, const std::set<std::string>& expected,
                     const Context<G>& context = {}) {
    const auto found = features_of(game, game.parse_move(move), context);
    std::string names;
    for (const auto& name : found) names += ' ' + name;
    expect(found == expected, "features of " + move + " in " + game.text() + ":" + names);
}

void check_othello_features() {
    expect_features(Othello(), "d3", {"box_edge", "leaves_3_to_4_moves"});
    const auto by_corner = Othello::from_text("-OX-----OOX-----XXX--------------------------------------------- X");
    expect_features(by_corner, "a1", {"corner", "leaves_no_move"});
    const auto taken = Othello::from_text("XOOX------------------------------------------------------------ O");
    expect(features_of(taken, Othello::Move::pass()) == std::set<std::string>{"pass"}, "a pass in Othello");
}

void check_blokus_features() {
    const BlokusDuo start;
    expect_features(
        start, "e10",
        {"piece_a_opening", "distance_to_centre_2_opening", "opens_4_corners_early", "opens_0_corners_in_reach",
         "blocks_0_corners", "takes_0_squares_in_reach", "gives_up_1_own_corners", "blocks_0_corners_of_last_piece"});
    expect_features(
        start, "e10,f10,g10,h10,i10",
        {"piece_j_opening", "distance_to_centre_2_opening", "opens_4_corners_early", "opens_0_corners_in_reach",
         "blocks_0_corners", "takes_0_squares_in_reach", "gives_up_1_own_corners", "blocks_0_corners_of_last_piece"});
}

void check_go_features() {
    using G = Go<5>;
    // White's stone at C3 has one liberty, C2; Black's at E5 has one, D5, after White's last move at E4.
    const auto game = G::from_text("4X/2X1O/1XOX1/5/5 b - 0 0");
    const Context<G> context{game.parse_move("E4"), {}};
    auto names = features_of(game, game.parse_move("C2"), context);
    expect(names.contains("other_capture") && names.contains("line_2"), "a capture");
    names = features_of(game, game.parse_move("D5"), context);
    expect(names.contains("extension_from_fresh_atari") && names.contains("distance_to_last_move_3") &&
               names.contains("line_1"),
           "an extension");
    names = features_of(game, game.parse_move("E3"), context);
    expect(names.contains("atari") && !names.contains("self_atari_small"), "an atari");
    expect(features_of(game, G::Move::pass(), context) == std::set<std::string>{"pass_after_move"}, "a pass");
    names = features_of(game.with_to_play(Player::second), game.parse_move("D5"));
    expect(names.contains("other_capture"), "White captures in the corner");

    // White's B5 has just been put into atari; taking A5 saves it.
    const auto saving = G::from_text("XOX2/5/5/5/5 w - 0 0");
    names = features_of(saving, saving.parse_move("A4"), Context<G>{saving.parse_move("C5"), {}});
    expect(names.contains("capture_saving"), "a capture that saves");

    const auto small = G::from_text("1X3/X4/5/5/5 w - 0 0");
    expect(!small.is_legal(small.parse_move("A5")), "suicide");
    const auto alone = G::from_text("2X2/X4/5/5/5 w - 0 0");
    names = features_of(alone, alone.parse_move("A5"));
    expect(names.contains("self_atari_small"), "a self-atari");

    std::size_t patterns = 0;
    for (const auto& feature : MoveFeatures<G>::all()) patterns += feature.name.starts_with("pattern_");
    // By Burnside's lemma: 954 in the middle, 135 at the edge, 18 in the corner.
    expect(patterns == 954 + 135 + 18, "patterns: " + std::to_string(patterns));
    expect(strengths::known_shapes().any(), "known shapes");
}

/// What GoTactics reads from sums must be what playing the move shows.
template <int N>
void check_go_tactics() {
    using G = Go<N>;
    Rng rng(7);
    for (int round = 0; round < 30; ++round) {
        G game;
        for (int ply = 0; ply < 2 * N * N && !game.outcome(); ++ply) {
            for (const auto move : game.legal_moves()) {
                if (move == G::Move::pass()) continue;
                const auto effect = GoTactics<N>(game).effect(move);
                G after = game;
                after.play(move);
                int enemies = 0;
                const auto before_cells = game.cells();
                const auto after_cells = after.cells();
                const int enemy = game.to_play() == Player::first ? -1 : 1;
                bool atari = false;
                for (std::size_t i = 0; i < before_cells.size(); ++i)
                    enemies += (before_cells[i] == enemy) - (after_cells[i] == enemy);
                G::for_each_neighbor(move, [&](auto beside) {
                    atari |= after.owner(beside) == other(game.to_play()) && after.in_atari(beside) &&
                             !game.in_atari(beside);
                });
                expect(effect.captured == enemies, "captured stones");
                expect(effect.joined + 1 == after.chain_size(move), "joined stones");
                if (enemies == 0) expect(effect.is_self_atari() == after.in_atari(move), "self-atari");
                if (enemies == 0) expect(effect.atari == atari, "atari");
                expect(!effect.is_self_atari() || GoTactics<N>(game).is_self_atari(move), "quick self-atari test");
            }
            game.play(*game.random_move(rng));
        }
    }
}

/// Which bands of exchange, and which moves with check, the rules themselves would give.
template <class G, class Band>
void check_piece_features(const std::string& name, Band&& band) {
    Rng rng(11);
    for (int round = 0; round < 12; ++round) {
        G game;
        Context<G> context;
        for (int ply = 0; ply < 150; ++ply) {
            const auto moves = game.legal_moves();
            if (moves.empty()) break;
            strengths::FeatureLists lists;
            MoveStrengths<G>::list(game, context, span_of<G>(moves), lists);
            for (std::size_t i = 0; i < moves.size(); ++i) {
                std::set<std::string> names;
                for (const auto feature : lists.of(i)) names.insert(MoveFeatures<G>::all()[feature].name);
                expect(names.size() == lists.of(i).size(), name + ": no feature twice");
                const auto expected = band(game, moves[i]);
                expect(expected.empty() || names.contains(expected),
                       name + ": " + expected + " of " + moves[i].text() + " in " + game.text());
                G after = game;
                after.play(moves[i]);
                expect(names.contains("check") == after.in_check(),
                       name + ": check by " + moves[i].text() + " in " + game.text());
            }
            const auto move = moves[rng.below(static_cast<std::uint32_t>(moves.size()))];
            game.play(move);
            context = context.after(move);
        }
    }
}

std::string shogi_band(const Shogi& game, Shogi::Move move) {
    const int hundreds = static_cast<int>(std::clamp(std::floor((game.see(move) + 50) / 100.0), -7.0, 7.0));
    if (hundreds == 0) return "exchange_even";
    return (hundreds < 0 ? "exchange_loses_" : "exchange_wins_") + std::to_string(std::abs(hundreds) * 100);
}

std::string chess_band(const Chess& game, Chess::Move move) {
    if (move.type() == Chess::Move::Type::castling) return "";
    const int value = game.see(move);
    if (value < -650) return "exchange_loses_queen";
    if (value < -400) return "exchange_loses_rook";
    if (value < -200) return "exchange_loses_piece";
    if (value < -50) return "exchange_loses_pawn";
    if (value <= 50) return "exchange_even";
    if (value <= 200) return "exchange_wins_pawn";
    if (value <= 400) return "exchange_wins_piece";
    return value <= 650 ? "exchange_wins_rook" : "exchange_wins_queen";
}

void check_shogi_features() {
    const Shogi start;
    const auto pushed = start.parse_move("7g7f");
    expect_features(start, "7g7f", {"exchange_even", "move_of_pawn_better"});  // professionals' first move
    Shogi game = start;
    game.play(pushed);
    const auto reply = game.parse_move("3c3d");
    game.play(reply);
    const Context<Shogi> context{reply, pushed};
    const auto takes = features_of(game, game.parse_move("8h2b+"), context);
    for (const auto* name : {"exchange_even", "other_capture", "promotion", "escape_of_bishop_from_major_piece",
                             "distance_to_last_move_2", "distance_to_move_before_3_or_more"})
        expect(takes.contains(name), std::string("8h2b+ is ") + name);
    Shogi after = game;
    after.play(game.parse_move("8h2b+"));
    const auto retakes = features_of(after, after.parse_move("3a2b"), Context<Shogi>{game.parse_move("8h2b+"), reply});
    expect(retakes.contains("recapture") && retakes.contains("distance_to_last_move_1"), "3a2b retakes");
    expect(features_of(game, game.parse_move("7f7e"), context).contains("previous_piece_is_pawn"), "7f7e goes on");

    const auto waits = Shogi::from_text("4k4/9/9/9/9/9/9/4G4/4K4 b - 1");
    const auto back = features_of(waits, waits.parse_move("5h4h"), Context<Shogi>{{}, waits.parse_move("4h5h")});
    expect(back.contains("return_without_capture") && back.contains("previous_piece_is_general"), "a return");
    const auto king = Shogi::from_text("4k4/9/9/9/9/9/3p5/9/4K4 b - 1");
    expect(features_of(king, king.parse_move("5i4i")).contains("king_goes_to_fewer_attacks"), "a king that flees");
    const auto alone = Shogi::from_text("4k4/9/9/9/9/9/9/9/9 b G 1");
    expect(features_of(alone, alone.parse_move("G*5b")).contains("check"), "a side without king may check");
    const auto declaring = Shogi::from_text("K8/RRBBGGGGS/SSS6/9/9/9/9/9/4k4 b - 1 declaration");
    expect(declaring.is_legal(Shogi::Move::declaration()), "a declaration");
    expect(features_of(declaring, Shogi::Move::declaration()) == std::set<std::string>{"declaration"},
           "and its features");
    expect(MoveFeatures<Shogi>::all().size() == 197, "about 200 features");
}

void check_chess_features() {
    const auto game = Chess::from_text("r3k2r/8/8/3p4/4P3/8/8/R3K2R w KQkq - 0 1");
    const auto takes = features_of(game, game.parse_move("e4d5"), Context<Chess>{Chess::Move(51, 35), {}});
    for (const auto* name : {"exchange_wins_pawn", "recapture", "escape_of_pawn_from_pawn"})
        expect(takes.contains(name), std::string("e4d5 is ") + name);
    expect(features_of(game, game.parse_move("e1g1")).contains("castling_short"), "castling");
    expect(features_of(game, game.parse_move("e1c1")).contains("castling_long"), "long castling");
    const auto pawn = Chess::from_text("8/P7/1P6/8/8/8/8/k1K5 w - - 0 1");
    expect(features_of(pawn, pawn.parse_move("a7a8q")).contains("promotion_to_queen"), "a queen");
    expect(features_of(pawn, pawn.parse_move("a7a8n")).contains("other_promotion"), "a knight");
    expect(features_of(pawn, pawn.parse_move("b6b7")).contains("pawn_to_seventh"), "a pawn on the seventh rank");
}

/// Names are different snake_case words, strengths positive; a move's strength is the product of its features'.
template <class G>
void check_strengths(const std::string& name, const G& start) {
    std::set<std::string> names;
    for (const auto& feature : MoveFeatures<G>::all()) {
        expect(feature.strength > 0, name + ": strength of " + feature.name);
        expect(names.insert(feature.name).second, name + ": two features " + feature.name);
        expect(feature.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos,
               name + ": name " + feature.name);
    }
    std::vector<float> doubled;
    for (const auto& feature : MoveFeatures<G>::all()) doubled.push_back(2 * feature.strength);
    MoveStrengths<G> model;
    MoveStrengths<G> other_model(doubled);
    Rng rng(3);
    G game = start;
    Context<G> context;
    std::vector<float> strengths(G::max_moves);
    std::vector<float> other_strengths(G::max_moves);
    for (int ply = 0; ply < 60; ++ply) {
        const auto moves = game.legal_moves();
        if (moves.empty()) break;
        model.weigh(game, context, span_of<G>(moves), strengths);
        other_model.weigh(game, context, span_of<G>(moves), other_strengths);
        strengths::FeatureLists lists;
        MoveStrengths<G>::list(game, context, span_of<G>(moves), lists);
        expect(lists.ends.size() == moves.size(), name + ": a list for each move");
        for (std::size_t i = 0; i < moves.size(); ++i) {
            double product = 1;
            for (const auto feature : lists.of(i)) product *= MoveFeatures<G>::all()[feature].strength;
            expect(strengths[i] > 0 && std::isfinite(strengths[i]), name + ": a strength");
            expect(std::abs(strengths[i] / product - 1) < 1e-4, name + ": product of strengths");
            const double factor = std::pow(2.0, static_cast<double>(lists.of(i).size()));
            expect(std::abs(other_strengths[i] / (product * factor) - 1) < 1e-4, name + ": other strengths");
        }
        const auto move = *game.random_move(rng);
        game.play(move);
        context = context.after(move);
    }
}

template <class G>
void check_uniform(const std::string& name, const G& start) {
    UniformPlayout<G> policy;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Rng rng(seed);
        RandomPlayout<G> playout(start);
        const auto expected = play_out(playout, rng, playout_limit<G>());
        for (const bool listed : {false, true}) {
            Rng again(seed);
            std::vector<PlayedMove<G>> played;
            const auto result = policy.play({start, {}}, again, listed ? &played : nullptr);
            expect(result.score == expected.score && result.plies == expected.plies, name + ": the same playout");
            expect(result.value == value_of_score(expected.score), name + ": its value");
            expect(Rng(again).bits() == Rng(rng).bits(), name + ": the same random numbers");
            expect(played.size() == (listed ? static_cast<std::size_t>(expected.plies) : 0), name + ": moves listed");
        }
    }
}

/// Plays a few playouts: all moves are legal, the score is that of the position they lead to.
template <class G>
void check_policy(const std::string& name, PlayoutPolicy<G>& policy, const G& start, int count) {
    const auto clone = policy.clone();
    for (int i = 0; i < count; ++i) {
        Rng rng = Rng::for_task(5, static_cast<std::uint64_t>(i));
        std::vector<PlayedMove<G>> played;
        const auto result = policy.play({start, {}}, rng, &played);
        G game = start;
        for (const auto& [move, player] : played) {
            expect(game.is_legal(move) && game.to_play() == player, name + ": " + move.text() + " in " + game.text());
            game.play(move);
        }
        expect(static_cast<int>(played.size()) == result.plies && result.plies <= playout_limit<G>(), name + ": plies");
        expect(game.score() == result.score, name + ": score");
        expect(result.value >= 0 && result.value <= 1, name + ": value");
        Rng again = Rng::for_task(5, static_cast<std::uint64_t>(i));
        const auto twin = clone->play({start, {}}, again, nullptr);
        expect(twin.score == result.score && twin.value == result.value && twin.plies == result.plies,
               name + ": the clone plays the same");
    }
}

/// The same score always; notes nothing.
template <class G>
struct Always {
    int points;
    int score(const G&) const { return points; }
};

template <class G>
void check_policies(const std::string& name, const G& start) {
    using Position = PositionOf<G>;
    UniformPlayout<G> uniform;
    StrengthPlayout<G> by_strength(std::make_unique<MoveStrengths<Position>>());
    check_policy<G>(name + " uniform", uniform, start, 5);
    check_policy<G>(name + " by strength", by_strength, start, 5);
    MixedPlayout<G> mixed(0.3, by_strength.copy());
    check_policy<G>(name + " mixed", mixed, start, 5);
    CutoffPlayout<G, Always<Position>> cut(by_strength.copy(), {100}, 6, 100.0);
    check_policy<G>(name + " cut", cut, start, 5);
    Rng rng(1);
    const auto result = cut.play({start, {}}, rng, nullptr);
    expect(result.plies == 6 && std::abs(result.value - 1 / (1 + std::exp(-1.0))) < 1e-9, name + ": a cut playout");

    // Mixtures at the ends are their parts, but for the random number that decides.
    MixedPlayout<G> random(1, by_strength.copy());
    RandomPlayout<G> playout(start);
    Rng mixed_rng(9);
    Rng plain_rng(9);
    const auto move = random.choose(playout, {}, mixed_rng);
    plain_rng.bits();
    expect(move == playout.draw(plain_rng), name + ": a mixture of one part");
}

/// How often moves are drawn fits their strengths: chi-square at about 1 in 10,000.
template <class G>
void check_frequencies(const std::string& name, const G& game, const Context<PositionOf<G>>& context,
                       const std::vector<std::string>& never = {}, MoveStrengths<PositionOf<G>> model = {}) {
    StrengthPlayout<G> policy(model.clone());
    std::map<std::uint32_t, double> expected;
    double sum = 0;
    const auto moves = game.legal_moves();
    std::vector<float> strengths(moves.size());
    model.weigh(position_of(game), context, span_of<G>(moves), strengths);
    for (std::size_t i = 0; i < moves.size(); ++i) {
        if (std::find(never.begin(), never.end(), moves[i].text()) != never.end()) continue;
        expected[moves[i].code()] = strengths[i];
        sum += strengths[i];
    }
    std::map<std::uint32_t, int> counts;
    constexpr int draws = 40000;
    Rng rng(13);
    RandomPlayout<G> playout(game);
    for (int i = 0; i < draws; ++i) ++counts[policy.choose(playout, context, rng)->code()];
    double chi_square = 0;
    double rest = 0;  // moves that are met too seldom are counted together
    double rest_count = 0;
    int freedom = -1;
    const auto add = [&](double mean, double count) {
        chi_square += (count - mean) * (count - mean) / mean;
        ++freedom;
    };
    for (const auto& [code, strength] : expected) {
        const double mean = strength / sum * draws;
        if (mean >= 5) {
            add(mean, counts[code]);
        } else {
            rest += mean;
            rest_count += counts[code];
        }
    }
    if (rest >= 5) add(rest, rest_count);
    for (const auto& [code, count] : counts)
        expect(count == 0 || expected.contains(code), name + ": drew what it never should");
    expect(chi_square < freedom + 3.7 * std::sqrt(2.0 * freedom) + 9,
           name + ": chi-square " + std::to_string(chi_square) + " with " + std::to_string(freedom));
}

/// Shogi draws by bounds: every kind of move must get its share, by whatever strengths.
void check_shogi_draws() {
    Rng rng(23);
    std::vector<float> strange;
    for (const auto& feature : MoveFeatures<Shogi>::all())
        strange.push_back(feature.strength * static_cast<float>(1 + rng.below(1000)) / 500);
    for (const auto& model : {MoveStrengths<Shogi>(), MoveStrengths<Shogi>(strange)}) {
        auto playing = model;
        Shogi game;
        Context<Shogi> context;
        for (int ply = 0; ply < 140; ++ply) {
            const auto move = playing.draw(game, context, rng);
            if (!move) break;
            expect(game.is_legal(*move), "shogi: a legal move is drawn");
            game.play(*move);
            context = context.after(*move);
            if (ply % 20 == 19 && !game.outcome()) check_frequencies("shogi " + game.text(), game, context, {}, model);
        }
    }
    const auto checked = Shogi::from_text("4k4/9/9/9/9/9/4l4/3p5/3GK4 b RBGSNLP 1");
    expect(checked.in_check(), "a check");
    check_frequencies("shogi in check", checked, {});
    const auto declaring = Shogi::from_text("K8/RRBBGGGGS/SSS6/9/9/9/9/9/4k4 b - 1 declaration");
    check_frequencies("shogi with a declaration", declaring, {});
    expect(!MoveStrengths<Shogi>().draw(Shogi::from_text("4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1"), {}, rng), "mate");
}

/// The sets hold the legal moves, each once.
void check_shogi_sets() {
    Rng rng(29);
    Shogi game;
    for (int ply = 0; ply < 200 && !game.outcome(); ++ply) {
        std::multiset<std::uint32_t> listed;
        std::multiset<std::uint32_t> in_sets;
        for (const auto move : game.legal_moves()) listed.insert(move.code());
        for (const auto& set : game.move_sets()) {
            expect(set.targets != 0, "shogi: no set is empty");
            for_each_bit(set.targets, [&](int to) { in_sets.insert(set.move_to(to, game.to_play()).code()); });
        }
        expect(listed == in_sets, "shogi: sets of moves in " + game.text());
        game.play(*game.random_move(rng));
    }
}

void check_light_go() {
    using G = Go<9>;
    const GoLightRules always{.answer_atari = 1, .capture = 1, .pattern = 1, .refuse_self_atari = 1};
    const auto choices = [&](const std::string& text, const std::string& last) {
        const auto game = G::from_text(text);
        GoLightPlayout<9> policy(always);
        std::set<std::string> found;
        Rng rng(17);
        RandomPlayout<G> playout(game);
        const Context<G> context{game.parse_move(last), {}};
        for (int i = 0; i < 300; ++i) found.insert(policy.choose(playout, context, rng)->text());
        return found;
    };
    using Names = std::set<std::string>;
    expect(choices("9/9/9/3O5/2OXO4/9/9/9/9 b - 0 7", "C5") == Names{"D4"}, "a stone in atari extends");
    expect(choices("9/9/9/3XO4/2XO5/3X5/9/9/9 w - 0 7", "D6") == Names{"E5"}, "and another");
    expect(choices("9/9/9/3X5/2XO5/3X5/9/9/9 b - 0 7", "D5") == Names{"E5"}, "the last stone is captured");
    // Black's A8 is in atari and can't run; taking A9 saves it.
    expect(choices("O8/XO7/1O7/O8/9/9/9/9/9 b - 0 7", "B8") == Names{"B9"}, "capturing instead of running");
    // At A2 Black's A1 would still be in atari.
    expect(choices("9/9/9/9/9/9/1O7/1O7/XO7 b - 0 7", "B1").size() > 5, "no hopeless extension");
    const auto shapes = choices("9/9/9/9/3OX4/9/9/9/9 b - 0 7", "D5");
    for (const auto& point : shapes)
        expect(Names({"C6", "D6", "E6", "C5", "C4", "D4", "E4", "F5"}).contains(point) || shapes.size() > 8,
               "a shape around the last move, not " + point);
    // A big chain is not put into atari: A1 and B1 are the last liberties of Black's stones.
    const auto big = G::from_text("9/9/9/9/9/9/OOOO5/XXXO5/2XO5 b - 0 7");
    expect(GoTactics<9>(big).is_self_atari(big.parse_move("A1")), "a self-atari of five stones");
    GoLightPlayout<9> policy(always);
    int foolish = 0;
    Rng rng(19);
    RandomPlayout<G> playout(big);
    for (int i = 0; i < 2000; ++i) {
        const auto move = policy.choose(playout, {}, rng)->text();
        foolish += move == "A1" || move == "B1";
    }
    expect(foolish < 3, "foolish self-ataris: " + std::to_string(foolish));
    GoLightPlayout<9> light;
    check_policy<G>("light Go 9", light, G(), 40);
    GoLightPlayout<3> tiny;
    check_policy<Go<3>>("light Go 3", tiny, Go<3>(), 40);
    GoLightPlayout<19> large;
    check_policy<Go<19>>("light Go 19", large, Go<19>(), 4);
}

template <class G>
void check_game(const std::string& name, const G& start) {
    check_strengths(name, start);
    check_uniform(name, start);
    check_uniform(name + " line", Line<G>(start));
    check_policies(name, start);
    check_policies(name + " line", Line<G>(start));
}

void run() {
    check_othello_features();
    check_blokus_features();
    check_go_features();
    check_go_tactics<5>();
    check_go_tactics<9>();
    check_shogi_features();
    check_chess_features();
    check_piece_features<Shogi>("shogi", shogi_band);
    check_piece_features<Chess>("chess", chess_band);
    check_game("Othello", Othello());
    check_game("Go 5", Go<5>());
    check_game("Go 9", Go<9>());
    check_game("chess", Chess());
    check_game("shogi", Shogi());
    check_game("Blokus Duo", BlokusDuo());
    check_light_go();

    const Othello othello;
    check_frequencies("Othello", othello, {});
    check_frequencies("chess", Chess::from_text("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1"), {});
    check_frequencies("shogi", Shogi::from_text("4k4/9/9/9/9/9/9/4G4/4K4 b P 1"), {});
    check_shogi_draws();
    check_shogi_sets();
    check_frequencies("Blokus Duo", BlokusDuo(), {});
    // A1 is Black's eye; a pass is for when nothing else is left.
    check_frequencies("Go", Go<3>::from_text("2O/X2/1X1 b - 0 0"), {}, {"A1", "pass"});
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    hyoka::tests::run();
    return hyoka::tests::report();
}
