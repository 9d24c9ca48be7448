// SPDX-License-Identifier: Apache-2.0
#include "sparse/othello_patterns.h"

#include <algorithm>

namespace hyoka::sparse {
namespace {

using Squares = std::vector<int>;

/// Squares from a1 along the rows, for one place of each kind of pattern.
const std::vector<Squares>& kinds() {
    static const std::vector<Squares> all = {
        {0, 1, 2, 8, 9, 10, 16, 17, 18},    // corner
        {0, 1, 2, 3, 4, 8, 9, 10, 11, 12},  // corner, two by five
        {9, 0, 1, 2, 3, 4, 5, 6, 7, 14},    // edge and what is diagonal to its corners
        {8, 9, 10, 11, 12, 13, 14, 15},     // second line
        {16, 17, 18, 19, 20, 21, 22, 23},   // third
        {24, 25, 26, 27, 28, 29, 30, 31},   // fourth
        {0, 9, 18, 27, 36, 45, 54, 63},     // diagonals
        {1, 10, 19, 28, 37, 46, 55},       {2, 11, 20, 29, 38, 47}, {3, 12, 21, 30, 39}, {4, 13, 22, 31},
    };
    return all;
}

/// One of the eight ways to lay the board: left and right, top and bottom, rows and columns exchanged.
int laid(int square, int symmetry) {
    int row = square / 8;
    int column = square % 8;
    if (symmetry & 1) column = 7 - column;
    if (symmetry & 2) row = 7 - row;
    if (symmetry & 4) std::swap(row, column);
    return 8 * row + column;
}

struct Pattern {
    std::size_t kind;
    Squares squares;
};

struct Layout {
    std::vector<Pattern> patterns;
    std::array<OthelloPatterns::Codes, 64> of_disc{};  // what a black one adds to the codes
    std::vector<std::vector<std::uint16_t>> numbers;   // by kind and code: weights within the kind
    std::vector<std::size_t> starts;                   // by kind: within a phase
    std::array<std::uint32_t, OthelloPatterns::pattern_count> table_starts{};  // within a phase of a search's table
    std::vector<std::size_t> table_kinds;                                      // by kind: the same
    std::size_t weights = 1;  // a phase's; the first is that of being on the move
    std::size_t table_size = 0;

    Layout() {
        for (std::size_t kind = 0; kind < kinds().size(); ++kind) add_kind(kind);
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            std::uint16_t power = 1;
            for (const int square : patterns[i].squares) {
                of_disc[static_cast<std::size_t>(square)][i] = power;
                power = static_cast<std::uint16_t>(power * 3);
            }
            table_starts[i] = static_cast<std::uint32_t>(table_kinds[patterns[i].kind]);
        }
    }

private:
    void add_kind(std::size_t kind) {
        const Squares& squares = kinds()[kind];
        std::vector<Squares> there;        // as sets
        std::vector<std::size_t> turning;  // the order in which the same squares come from the other end
        for (int symmetry = 0; symmetry < 8; ++symmetry) {
            Squares place;
            for (const int square : squares) place.push_back(laid(square, symmetry));
            Squares sorted = place;
            std::ranges::sort(sorted);
            if (std::ranges::find(there, sorted) == there.end()) {
                there.push_back(sorted);
                patterns.push_back({kind, place});
            } else if (sorted == there.front() && place != squares) {
                turning.clear();
                for (const int square : place)
                    turning.push_back(static_cast<std::size_t>(std::ranges::find(squares, square) - squares.begin()));
            }
        }
        std::size_t codes = 1;
        for (std::size_t i = 0; i < squares.size(); ++i) codes *= 3;
        auto& numbered = numbers.emplace_back(codes);
        std::uint16_t next = 0;
        for (std::size_t code = 0; code < codes; ++code) {
            const std::size_t from_other_end = turned(code, turning);
            numbered[code] = from_other_end < code ? numbered[from_other_end] : next++;
        }
        starts.push_back(weights);
        weights += next;
        table_kinds.push_back(table_size);
        table_size += codes;
    }
    static std::size_t turned(std::size_t code, const std::vector<std::size_t>& turning) {
        if (turning.empty()) return code;
        std::array<std::size_t, OthelloPatterns::most_squares> digits{};
        for (std::size_t i = 0; i < turning.size(); ++i, code /= 3) digits[i] = code % 3;
        std::size_t made = 0;
        for (std::size_t i = turning.size(); i-- > 0;) made = 3 * made + digits[turning[i]];
        return made;
    }
};

const Layout& layout() {
    static const Layout made;
    return made;
}

/// The same code with the colors exchanged.
std::uint16_t exchanged(std::uint16_t code) {
    static const auto table = [] {
        std::vector<std::uint16_t> made(59049);
        for (std::size_t i = 1; i < made.size(); ++i) {
            constexpr std::array<std::uint16_t, 3> other = {0, 2, 1};
            made[i] = static_cast<std::uint16_t>(3 * made[i / 3] + other[i % 3]);
        }
        return made;
    }();
    return table[code];
}

/// `digit`: what a disc changes by, from empty to Black or from Black to White.
template <int digit>
void add_discs(OthelloPatterns::Codes& codes, const Layout& all, std::uint64_t discs) {
    for_each_bit(discs, [&](int square) {
        const OthelloPatterns::Codes& one = all.of_disc[static_cast<std::size_t>(square)];
        for (std::size_t i = 0; i < codes.size(); ++i)
            codes[i] = static_cast<std::uint16_t>(codes[i] + static_cast<std::uint16_t>(digit) * one[i]);
    });
}

}  // namespace

std::size_t OthelloPatterns::weights_a_phase() { return layout().weights; }
std::size_t OthelloPatterns::count() { return phases * weights_a_phase(); }

OthelloPatterns::Codes OthelloPatterns::codes_of(const Othello& game) {
    Codes codes{};
    add_discs<1>(codes, layout(), game.discs(Player::first));
    add_discs<2>(codes, layout(), game.discs(Player::second));
    return codes;
}

std::size_t OthelloPatterns::weight_of(std::size_t pattern, std::uint16_t code, bool first_to_play) {
    const std::size_t kind = layout().patterns[pattern].kind;
    return layout().starts[kind] + layout().numbers[kind][first_to_play ? code : exchanged(code)];
}

OthelloPatterns::Table::Table(std::span<const float> weights) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
        const auto own = weights.subspan(phase * weights_a_phase(), weights_a_phase());
        turns_[phase] = in_steps(own[0]);
        for (const bool first : {true, false}) {
            auto& table = weights_[phase][first ? 0 : 1];
            table.reserve(layout().table_size);
            for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
                const auto& numbers = layout().numbers[kind];
                for (std::size_t code = 0; code < numbers.size(); ++code) {
                    const std::size_t seen = first ? code : exchanged(static_cast<std::uint16_t>(code));
                    table.push_back(to_int16_steps(own[layout().starts[kind] + numbers[seen]]));
                }
            }
        }
    }
}

void OthelloPatterns::Table::start(Kept& kept, const Othello& game) const {
    kept.discs = {game.discs(Player::first), game.discs(Player::second)};
    kept.codes = codes_of(game);
}

void OthelloPatterns::Table::follow(Kept& kept, const Othello& game) const {
    const Layout& all = layout();
    const std::array<std::uint64_t, 2> now = {game.discs(Player::first), game.discs(Player::second)};
    const auto [black, white] = kept.discs;
    add_discs<1>(kept.codes, all, (now[0] & ~black & ~white) | (now[1] & black));
    add_discs<-1>(kept.codes, all, (black & ~now[0] & ~now[1]) | (now[0] & white));
    add_discs<2>(kept.codes, all, now[1] & ~black & ~white);
    add_discs<-2>(kept.codes, all, white & ~now[0] & ~now[1]);
    kept.discs = now;
}

int OthelloPatterns::Table::score(const Kept& kept, const Othello& game) const {
    const auto phase = static_cast<std::size_t>(phase_of(game));
    const bool first = game.to_play() == Player::first;
    const std::int16_t* const table = weights_[phase][first ? 0 : 1].data();
    const auto& starts = layout().table_starts;
    int sum = turns_[phase];
    for (std::size_t i = 0; i < pattern_count; ++i) sum += table[starts[i] + kept.codes[i]];
    const int score = sum / steps_to_unit;
    return first ? score : -score;
}

}  // namespace hyoka::sparse
