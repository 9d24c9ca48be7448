// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace hyoka {

__extension__ using uint128 = unsigned __int128;

constexpr std::uint64_t low_word(uint128 bits) { return static_cast<std::uint64_t>(bits); }
constexpr std::uint64_t high_word(uint128 bits) { return static_cast<std::uint64_t>(bits >> 64); }

constexpr int count_bits(std::uint64_t bits) { return std::popcount(bits); }
constexpr int count_bits(uint128 bits) { return std::popcount(low_word(bits)) + std::popcount(high_word(bits)); }

/// Index of the lowest set bit; pre: `bits` is not 0.
constexpr int lowest_bit(std::uint64_t bits) { return std::countr_zero(bits); }
constexpr int lowest_bit(uint128 bits) {
    return low_word(bits) ? std::countr_zero(low_word(bits)) : 64 + std::countr_zero(high_word(bits));
}

/// Index of the highest set bit; pre: `bits` is not 0.
constexpr int highest_bit(std::uint64_t bits) { return 63 - std::countl_zero(bits); }
constexpr int highest_bit(uint128 bits) {
    return high_word(bits) ? 127 - std::countl_zero(high_word(bits)) : 63 - std::countl_zero(low_word(bits));
}

/// Removes the lowest set bit and returns its index; pre: `bits` is not 0.
template <class Bits>
constexpr int pop_lowest_bit(Bits& bits) {
    const int index = lowest_bit(bits);
    bits &= bits - 1;
    return index;
}

/// Index of the set bit that has `n` set bits below it; pre: n < count_bits(bits).
inline int nth_bit(std::uint64_t bits, int n) {
#if defined(__BMI2__)
    return std::countr_zero(_pdep_u64(std::uint64_t{1} << n, bits));
#else
    while (n-- > 0) bits &= bits - 1;
    return std::countr_zero(bits);
#endif
}
inline int nth_bit(uint128 bits, int n) {
    const int low_count = std::popcount(low_word(bits));
    return n < low_count ? nth_bit(low_word(bits), n) : 64 + nth_bit(high_word(bits), n - low_count);
}

/// Calls `visit(index)` for each set bit, lowest first.
template <class Bits, class Visit>
constexpr void for_each_bit(Bits bits, Visit&& visit) {
    while (bits) visit(pop_lowest_bit(bits));
}

}  // namespace hyoka
