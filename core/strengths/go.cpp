// SPDX-License-Identifier: Apache-2.0
#include "strengths/go.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <string_view>

#include "features/ladder.h"
#include "games/square_symmetry.h"
#include "strengths/bands.h"
#include "strengths/go_eye_space.h"
#include "strengths/go_tactics.h"

namespace hyoka::strengths {
namespace {

// Where the features of each sort begin.
constexpr std::size_t pass_after_move = 0;
constexpr std::size_t pass_after_pass = 1;
constexpr std::size_t capture_saving = 2;
constexpr std::size_t capture_last_moved = 3;
constexpr std::size_t other_capture = 4;
constexpr std::size_t extension_fresh = 5;
constexpr std::size_t extension_old = 6;
constexpr std::size_t self_atari_small = 7;
constexpr std::size_t self_atari_big = 8;
constexpr std::size_t atari = 9;
constexpr std::size_t ladder_escape = 10;   // saves a chain from atari, but a ladder captures it
constexpr std::size_t ladder_capture = 11;  // an atari from which a ladder captures
constexpr std::size_t nakade = 12;
constexpr std::size_t own_vital_point = 13;
constexpr std::size_t attack_to_two = 14;    // leaves an enemy chain two liberties of three
constexpr std::size_t extend_from_two = 15;  // joins an own chain that has two
constexpr std::size_t line = 16;             // first to fifth and beyond
constexpr std::size_t lines = 5;
constexpr std::size_t distance_last = line + lines;  // 2 to 17 and more
constexpr std::size_t distances = 16;
constexpr std::size_t distance_before_last = distance_last + distances;
constexpr std::size_t pattern = distance_before_last + distances;

/// Minimum number of stones of a big chain in self-atari.
constexpr int big_chain = 4;

constexpr std::size_t around = 8;
using Shape = std::array<char, around>;  // o own, x the opponent's, e empty, b off the board; by rows
constexpr std::string_view letters = "oxeb";

Shape shape_of(unsigned code) {
    Shape shape;
    for (std::size_t i = 0; i < around; ++i) shape[i] = letters[code >> (2 * i) & 3];
    return shape;
}

/// Where each of the eight points goes under a symmetry.
std::array<std::size_t, around> turned(int symmetry) {
    std::array<std::size_t, around> to;
    for (int i = 0; i < 8; ++i) {
        const int square = transformed_square(i + (i >= 4), 3, symmetry);
        to[static_cast<std::size_t>(i)] = static_cast<std::size_t>(square - (square > 4));
    }
    return to;
}

/// The lowest of the codes of a shape and its turned and mirrored likenesses.
unsigned canonical(unsigned code) {
    unsigned lowest = code;
    for (int symmetry = 1; symmetry < 8; ++symmetry) {
        const auto to = turned(symmetry);
        unsigned other = 0;
        for (std::size_t i = 0; i < around; ++i) other |= (code >> (2 * i) & 3) << (2 * to[i]);
        lowest = std::min(lowest, other);
    }
    return lowest;
}

/// Whether what is off the board is nothing, one side or two sides that meet.
bool exists(unsigned code) {
    unsigned off = 0;
    for (unsigned i = 0; i < around; ++i) off |= static_cast<unsigned>((code >> (2 * i) & 3) == 3) << i;
    constexpr unsigned top = 0b00000111;
    constexpr unsigned bottom = 0b11100000;
    constexpr unsigned left = 0b00101001;
    constexpr unsigned right = 0b10010100;
    for (const unsigned row : {0u, top, bottom})
        for (const unsigned column : {0u, left, right})
            if (off == (row | column)) return true;
    return false;
}

/// Shapes where MoGo's playouts answer, by rows without the center: X and O are the colors either way round, x and o
/// anything but them, . is empty, # off the board, ? anything. After Gelly, Wang, Munos and Teytaud: Modification of
/// UCT with Patterns in Monte-Carlo Go (2006).
struct ShapeToAnswer {
    std::string_view points;
    float strength;
};
constexpr ShapeToAnswer shapes_to_answer[] = {
    {"XOX..???", 4},  // hane: enclosing
    {"XO...?.?", 4},  // not cutting
    {"XO?X.x.?", 4},  // around the corner
    {"XO?Oo?o?", 4},  // cut: unprotected
    {"XO?OX???", 4},  // peeped at
    {"?X?OOooo", 4},  // pushing through
    {"X.?O?###", 3},  // at the edge: chasing
    {"OX?XO###", 3},  // blocking a cut
    {"?X?xO###", 3},  // blocking a connection
    {"?XOxx###", 3},  // descending
    {"?OXXO###", 3},  // cutting
};

bool matches(const Shape& shape, std::string_view points, char first, char second) {
    for (std::size_t i = 0; i < around; ++i) {
        const char there = shape[i];
        switch (points[i]) {
            case 'X':
                if (there != first) return false;
                break;
            case 'O':
                if (there != second) return false;
                break;
            case 'x':
                if (there == first) return false;
                break;
            case 'o':
                if (there == second) return false;
                break;
            case '.':
                if (there != 'e') return false;
                break;
            case '#':
                if (there != 'b') return false;
                break;
            default: break;
        }
    }
    return true;
}

/// The strength of the first known shape that this is in some likeness; 0 for none.
float known_strength(unsigned code) {
    const Shape shape = shape_of(code);
    for (const ShapeToAnswer& known : shapes_to_answer) {
        for (int symmetry = 0; symmetry < 8; ++symmetry) {
            const auto to = turned(symmetry);
            Shape likeness;
            for (std::size_t i = 0; i < around; ++i) likeness[to[i]] = shape[i];
            if (matches(likeness, known.points, 'o', 'x') || matches(likeness, known.points, 'x', 'o'))
                return known.strength;
        }
    }
    return 0;
}

/// All neighborhoods that differ by more than a symmetry, numbered by their codes.
struct Shapes {
    static constexpr std::size_t codes = 1 << (2 * around);
    std::vector<std::uint16_t> number = std::vector<std::uint16_t>(codes);  // by code
    std::bitset<codes> known;                                               // by code
    std::vector<Feature> features;                                          // by number

    Shapes() {
        for (unsigned code = 0; code < codes; ++code) {
            if (!exists(code)) continue;
            const unsigned lowest = canonical(code);  // met before, or this one
            if (lowest == code) {
                const float strength = known_strength(code);
                const Shape shape = shape_of(code);
                number[code] = static_cast<std::uint16_t>(features.size());
                known[code] = strength > 0;
                features.push_back(
                    {"pattern_" + std::string(shape.begin(), shape.end()), strength > 0 ? strength : 1.0f});
            }
            number[code] = number[lowest];
            known[code] = known[lowest];
        }
    }
};
const Shapes& shapes() {
    static const Shapes table;
    return table;
}

std::vector<Feature> make_features() {
    std::vector<Feature> features = {
        {"pass_after_move", 0.17f},
        {"pass_after_pass", 24.37f},
        {"capture_saving", 30.68f},
        {"capture_last_moved", 5},
        {"other_capture", 3.43f},
        {"extension_from_fresh_atari", 11.37f},
        {"extension_from_atari", 2},
        {"self_atari_small", 0.2f},
        {"self_atari_big", 0.03f},
        {"atari", 1.7f},
        {"ladder_escape", 0.1f},
        {"ladder_capture", 2},
        {"nakade", 3},
        {"own_vital_point", 2},
        {"attack_to_two", 1.2f},
        {"extend_from_two", 1.2f},
        {"line_1", 0.89f},
        {"line_2", 1.49f},
        {"line_3", 1.75f},
        {"line_4", 1.28f},
        {"line_5_or_more", 1},
    };
    assert(features.size() == distance_last);
    const auto add_distances = [&](const std::string& to, std::array<float, 4> first, float sixteenth, float beyond) {
        for (std::size_t i = 0; i < distances; ++i)
            features.push_back(
                {"distance_to_" + to + "_" + std::to_string(i + 2) + (i + 1 < distances ? "" : "_or_more"),
                 i + 1 == distances ? beyond
                 : i < first.size() ? first[i]
                                    : spread(first[3], sixteenth, i - 3, distances - 4)});
    };
    add_distances("last_move", {4.32f, 2.84f, 2.22f, 1.58f}, 0.33f, 0.21f);
    add_distances("move_before", {3.08f, 2.38f, 2.27f, 1.68f}, 0.66f, 0.70f);
    assert(features.size() == pattern);
    features.insert(features.end(), shapes().features.begin(), shapes().features.end());
    return features;
}

const std::vector<Feature>& go_features() {
    static const std::vector<Feature> features = make_features();
    return features;
}

/// Facts about points that depend on the size of the board alone.
template <int N>
struct Points {
    std::array<std::uint8_t, N * N> line_of{};                 // from 0 at the edge to 4
    std::array<std::array<std::uint8_t, N>, N> distance_of{};  // by rows and columns apart: 0 for 2, to 15
};
template <int N>
constexpr Points<N> points_of = [] {
    Points<N> points;
    for (int row = 0; row < N; ++row)
        for (int column = 0; column < N; ++column) {
            const auto r = static_cast<std::size_t>(row);
            const auto c = static_cast<std::size_t>(column);
            points.line_of[r * N + c] =
                static_cast<std::uint8_t>(std::min({row, column, N - 1 - row, N - 1 - column, 4}));
            points.distance_of[r][c] =
                static_cast<std::uint8_t>(std::clamp(row + column + std::max(row, column), 2, 17) - 2);
        }
    return points;
}();

template <int N>
std::size_t distance_band(int a, int b) {
    return points_of<N>.distance_of[static_cast<std::size_t>(std::abs(a / N - b / N))]
                                   [static_cast<std::size_t>(std::abs(a % N - b % N))];
}

/// How many liberties the chain of each stone has, up to four.
template <int N>
class LibertyCounts {
public:
    using Move = typename Go<N>::Move;

    explicit LibertyCounts(const Go<N>& game) {
        game.for_each_chain([&](Move head) {
            // A point has four sides, so that more pairs than twelve need four liberties.
            const int count = game.liberty_pairs(head) > 12 ? 4 : std::min(game.liberties(head), 4);
            game.for_each_stone_of(head, [&](Move stone) { counts_[stone.point] = static_cast<std::uint8_t>(count); });
        });
    }
    int operator()(Move stone) const { return counts_[stone.point]; }

private:
    std::array<std::uint8_t, Go<N>::area> counts_{};
};

/// Ladder result of a move that saves a chain from atari or puts one into it.
template <int N>
struct LadderOutcome {
    bool escape_fails = false;
    bool captures = false;
};
template <int N>
LadderOutcome<N> read_ladders(const Go<N>& game, typename Go<N>::Move move, bool rescues, bool gives_atari) {
    thread_local features::LadderReader<N> reader;  // keeps its boards
    const Player us = game.to_play();
    LadderOutcome<N> outcome;
    Go<N> after = game;
    after.play(move);
    outcome.escape_fails = rescues && reader.captures(after, move, other(us));
    if (gives_atari)
        Go<N>::for_each_neighbor(move, [&](auto beside) {
            if (!outcome.captures && after.owner(beside) == other(us) && after.in_atari(beside))
                outcome.captures = reader.captures(after, beside, other(us));
        });
    return outcome;
}

}  // namespace

const std::bitset<1 << 16>& known_shapes() { return shapes().known; }

template <int N>
const std::vector<Feature>& MoveFeatures<Go<N>>::all() {
    return go_features();
}

template <int N>
template <class Sink>
void MoveFeatures<Go<N>>::visit(const Go<N>& game, const Context<Go<N>>& context, std::span<const Move> moves,
                                Sink sink) {
    const GoTactics<N> tactics(game);
    const std::uint16_t* shape_number = shapes().number.data();
    const bool has_last = context.last && *context.last != Move::pass();
    const bool has_before_last = context.before_last && *context.before_last != Move::pass();

    // What the last move put into atari, where that is answered by a capture, and where the last stones can be taken.
    InlineVector<Move, 4> fresh;                 // where the chains just put into atari could extend
    InlineVector<Move, 4 * Go<N>::area> saving;  // where a capture frees one of them
    Move takes_last = Move::pass();
    if (has_last) {
        tactics.for_each_threatened(*context.last, [&](Move chain) {
            fresh.push_back(game.last_liberty(chain));
            tactics.for_each_capture_around(chain, [&](Move point) { saving.push_back(point); });
        });
        if (game.owner(*context.last) && game.in_atari(*context.last)) takes_last = game.last_liberty(*context.last);
    }
    const auto contains = [](const auto& list, Move move) {
        return std::find(list.begin(), list.end(), move) != list.end();
    };

    const VitalPoints<N> vital(game);
    const LibertyCounts<N> liberties(game);
    const Player us = game.to_play();

    for (const Move move : moves) {
        if (move == Move::pass()) {
            sink.add(context.last == Move::pass() ? pass_after_pass : pass_after_move);
            sink.end_move();
            continue;
        }
        sink.add(line + points_of<N>.line_of[move.point]);
        sink.add(pattern + shape_number[tactics.neighborhood(move)]);
        if (has_last) sink.add(distance_last + distance_band<N>(move.point, context.last->point));
        if (has_before_last) sink.add(distance_before_last + distance_band<N>(move.point, context.before_last->point));
        const auto effect = tactics.effect(move);
        if (effect.captured > 0)
            sink.add(contains(saving, move) ? capture_saving : move == takes_last ? capture_last_moved : other_capture);
        if (effect.is_self_atari())
            sink.add(effect.joined + 1 >= big_chain ? self_atari_big : self_atari_small);
        else if (effect.rescued > 0)
            sink.add(contains(fresh, move) ? extension_fresh : extension_old);
        if (effect.atari) sink.add(atari);
        const bool rescues = effect.rescued > 0 && !effect.is_self_atari();
        if (rescues || effect.atari) {
            const auto ladder = read_ladders(game, move, rescues, effect.atari);
            if (ladder.escape_fails) sink.add(ladder_escape);
            if (ladder.captures) sink.add(ladder_capture);
        }
        if (const auto owner = vital.owner(move)) sink.add(*owner == us ? own_vital_point : nakade);
        bool attacks = false;
        bool extends = false;
        Go<N>::for_each_neighbor(move, [&](Move beside) {
            const int count = liberties(beside);
            if (count != 2 && count != 3) return;
            const bool own = game.owner(beside) == us;
            attacks |= !own && count == 3;
            extends |= own && count == 2;
        });
        if (attacks) sink.add(attack_to_two);
        if (extends) sink.add(extend_from_two);
        sink.end_move();
    }
}

template struct MoveFeatures<Go<3>>;
template void MoveFeatures<Go<3>>::visit(const Go<3>&, const Context<Go<3>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<3>>::visit(const Go<3>&, const Context<Go<3>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<4>>;
template void MoveFeatures<Go<4>>::visit(const Go<4>&, const Context<Go<4>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<4>>::visit(const Go<4>&, const Context<Go<4>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<5>>;
template void MoveFeatures<Go<5>>::visit(const Go<5>&, const Context<Go<5>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<5>>::visit(const Go<5>&, const Context<Go<5>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<6>>;
template void MoveFeatures<Go<6>>::visit(const Go<6>&, const Context<Go<6>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<6>>::visit(const Go<6>&, const Context<Go<6>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<7>>;
template void MoveFeatures<Go<7>>::visit(const Go<7>&, const Context<Go<7>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<7>>::visit(const Go<7>&, const Context<Go<7>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<9>>;
template void MoveFeatures<Go<9>>::visit(const Go<9>&, const Context<Go<9>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<9>>::visit(const Go<9>&, const Context<Go<9>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<13>>;
template void MoveFeatures<Go<13>>::visit(const Go<13>&, const Context<Go<13>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<13>>::visit(const Go<13>&, const Context<Go<13>>&, std::span<const Move>, ListSink);
template struct MoveFeatures<Go<19>>;
template void MoveFeatures<Go<19>>::visit(const Go<19>&, const Context<Go<19>>&, std::span<const Move>, StrengthSink);
template void MoveFeatures<Go<19>>::visit(const Go<19>&, const Context<Go<19>>&, std::span<const Move>, ListSink);

}  // namespace hyoka::strengths
