// SPDX-License-Identifier: Apache-2.0
#include "network/blokus_patterns.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace hyoka::network {
namespace {

constexpr int states = 3;

constexpr int power(int base, int exponent) {
    int product = 1;
    for (int i = 0; i < exponent; ++i) product *= base;
    return product;
}

/// By code of a window of `side` x `side` squares: the number of its pattern, from `first` on.
std::vector<std::uint16_t> numbered(int side, std::size_t first) {
    const int squares = side * side;
    const int codes = power(states, squares);
    std::vector<int> smallest(static_cast<std::size_t>(codes));
    std::vector<int> digits(static_cast<std::size_t>(squares)), turned(digits);
    const auto at = [&](int row, int column) { return static_cast<std::size_t>(side * row + column); };
    const auto code_of = [&](const std::vector<int>& window) {
        int code = 0;
        for (const int digit : window) code = states * code + digit;
        return code;
    };
    for (int code = 0; code < codes; ++code) {
        for (int square = squares, rest = code; square-- > 0; rest /= states)
            digits[static_cast<std::size_t>(square)] = rest % states;
        int least = code;
        for (int likeness = 0; likeness < 8; ++likeness) {
            for (int row = 0; row < side; ++row)
                for (int column = 0; column < side; ++column)
                    turned[at(row, column)] =
                        likeness == 4 ? digits[at(row, side - 1 - column)] : digits[at(side - 1 - column, row)];
            digits = turned;
            least = std::min(least, code_of(digits));
        }
        smallest[static_cast<std::size_t>(code)] = least;
    }
    std::vector<std::uint16_t> numbers(static_cast<std::size_t>(codes));
    auto next = static_cast<std::uint16_t>(first);
    for (std::size_t code = 0; code < numbers.size(); ++code) {
        const auto least = static_cast<std::size_t>(smallest[code]);
        numbers[code] = least == code ? next++ : numbers[least];
    }
    assert(next == first + patterns_by_size[static_cast<std::size_t>(side - 1)]);
    return numbers;
}

struct Numbers {
    std::vector<std::uint16_t> twos = numbered(2, patterns_by_size[0]);
    std::vector<std::uint16_t> threes = numbered(3, patterns_by_size[0] + patterns_by_size[1]);
};

const Numbers& numbers() {
    static const Numbers made;
    return made;
}

}  // namespace

Windows pattern_windows(const BlokusDuo& game) {
    constexpr int size = BlokusDuo::size;
    const Numbers& table = numbers();
    const blokus::SquareSet& own = game.squares(game.to_play());
    const blokus::SquareSet& others = game.squares(other(game.to_play()));
    // Whole words at a time: the squares beyond the last are empty and not looked at.
    std::array<std::uint16_t, 4 * 64> cells;
    for (std::size_t word = 0; word < 4; ++word)
        for (std::size_t bit = 0; bit < 64; ++bit)
            cells[64 * word + bit] =
                static_cast<std::uint16_t>((own.words[word] >> bit & 1) + 2 * (others.words[word] >> bit & 1));
    std::array<std::uint16_t, blokus::area> pairs, triples;  // from each square to the right, over the edge too
    for (std::size_t square = 0; square < blokus::area; ++square) {
        pairs[square] = static_cast<std::uint16_t>(states * cells[square] + cells[square + 1]);
        triples[square] = static_cast<std::uint16_t>(states * pairs[square] + cells[square + 2]);
    }
    Windows windows;
    auto next = windows.begin();
    for (std::size_t square = 0; square < blokus::area; ++square) *next++ = cells[square];
    for (std::size_t row = 0; row + 1 < size; ++row)
        for (std::size_t column = 0; column + 1 < size; ++column) {
            const std::size_t square = size * row + column;
            *next++ = table.twos[static_cast<std::size_t>(9 * pairs[square] + pairs[square + size])];
        }
    for (std::size_t row = 0; row + 2 < size; ++row)
        for (std::size_t column = 0; column + 2 < size; ++column) {
            const std::size_t square = size * row + column;
            *next++ = table.threes[static_cast<std::size_t>(729 * triples[square] + 27 * triples[square + size] +
                                                            triples[square + 2 * size])];
        }
    assert(next == windows.end());
    return windows;
}

int pieces_laid(const BlokusDuo& game) {
    return 2 * blokus::piece_count - std::popcount(game.pieces_left(Player::first)) -
           std::popcount(game.pieces_left(Player::second));
}

}  // namespace hyoka::network
