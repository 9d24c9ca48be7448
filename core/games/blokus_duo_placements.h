// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/// Every way to lay a piece on the 14 x 14 board of Blokus Duo, numbered once and for all.
namespace hyoka::blokus {

inline constexpr int size = 14;
inline constexpr int area = size * size;
inline constexpr int piece_count = 21;
inline constexpr int placement_count = 13729;

/// A set of squares; square = 14 * row + column, rows from the top.
struct alignas(32) SquareSet {
    std::array<std::uint64_t, 4> words{};

    constexpr bool contains(int square) const {
        return words[static_cast<std::size_t>(square / 64)] >> (square % 64) & 1;
    }
    constexpr void add(int square) {
        words[static_cast<std::size_t>(square / 64)] |= std::uint64_t{1} << (square % 64);
    }
    constexpr int count() const {
        return count_bits(words[0]) + count_bits(words[1]) + count_bits(words[2]) + count_bits(words[3]);
    }
    constexpr bool empty() const { return !(words[0] | words[1] | words[2] | words[3]); }
    bool intersects(const SquareSet& other) const {
#if defined(__AVX2__)
        return !_mm256_testz_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(words.data())),
                                   _mm256_load_si256(reinterpret_cast<const __m256i*>(other.words.data())));
#else
        return ((words[0] & other.words[0]) | (words[1] & other.words[1]) | (words[2] & other.words[2]) |
                (words[3] & other.words[3])) != 0;
#endif
    }
    constexpr SquareSet& operator|=(const SquareSet& other) {
        for (std::size_t i = 0; i < 4; ++i) words[i] |= other.words[i];
        return *this;
    }
    friend constexpr SquareSet operator|(SquareSet a, const SquareSet& b) { return a |= b; }
    friend constexpr SquareSet operator&(SquareSet a, const SquareSet& b) {
        for (std::size_t i = 0; i < 4; ++i) a.words[i] &= b.words[i];
        return a;
    }
    /// The squares of `a` that are not in `b`.
    friend constexpr SquareSet operator-(SquareSet a, const SquareSet& b) {
        for (std::size_t i = 0; i < 4; ++i) a.words[i] &= ~b.words[i];
        return a;
    }
    friend bool operator==(const SquareSet&, const SquareSet&) = default;
};

template <class Visit>
void for_each_square(const SquareSet& set, Visit&& visit) {
    for (int word = 0; word < 4; ++word)
        for_each_bit(set.words[static_cast<std::size_t>(word)], [&](int bit) { visit(64 * word + bit); });
}

/// Properties of a placement for its player.
struct Placement {
    SquareSet edges;           // squares next to it: closed to the player from now on
    SquareSet corners;         // squares at its corners: where the player's next pieces may attach
    std::uint16_t transposed;  // the placement mirrored in the diagonal through both starting squares
    std::uint8_t piece;
    std::uint8_t rotation;  // lowest of the numbers 0-7 that the 4-character code gives this orientation
    std::uint8_t anchor;    // the square that the 4-character code names
};

class PlacementTable {
public:
    PlacementTable();

    const SquareSet& cells(int placement) const { return cells_[static_cast<std::size_t>(placement)]; }
    const Placement& operator[](int placement) const { return placements_[static_cast<std::size_t>(placement)]; }

    /// The placements of `piece` that cover `square` and none of its neighbors named in `closed`
    /// (bit 0 above, 1 left, 2 right, 3 below).
    std::span<const std::uint16_t> covering(int square, unsigned closed, int piece) const {
        const std::uint32_t* start =
            &starts_[(static_cast<std::size_t>(square) * 16 + closed) * piece_count + static_cast<std::size_t>(piece)];
        return {lists_.data() + start[0], lists_.data() + start[1]};
    }
    /// The same for all pieces.
    std::span<const std::uint16_t> covering(int square, unsigned closed) const {
        const std::uint32_t* start = &starts_[(static_cast<std::size_t>(square) * 16 + closed) * piece_count];
        return {lists_.data() + start[0], lists_.data() + start[piece_count]};
    }
    /// The placement of exactly these squares, or -1.
    int find(const SquareSet& cells) const;
    /// The placement that a 4-character code's piece, rotation and square name, or -1.
    int find(int piece, int rotation, int column, int row) const;

private:
    std::vector<SquareSet> cells_;
    std::vector<Placement> placements_;
    std::vector<std::uint16_t> lists_;
    std::vector<std::uint32_t> starts_;
};
/// Made when first asked for.
const PlacementTable& placements();

/// The neighbors of `square` that are in `closed` or off the board, as bits for PlacementTable::covering.
inline unsigned closed_sides(int square, const SquareSet& closed) {
    const int column = square % size;
    return static_cast<unsigned>(square < size || closed.contains(square - size)) |
           static_cast<unsigned>(column == 0 || closed.contains(square - 1)) << 1 |
           static_cast<unsigned>(column == size - 1 || closed.contains(square + 1)) << 2 |
           static_cast<unsigned>(square >= area - size || closed.contains(square + size)) << 3;
}

}  // namespace hyoka::blokus
