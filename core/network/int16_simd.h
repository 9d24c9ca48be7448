// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// Sixteen sums of products of pairs of 16-bit numbers, as wide as the machine goes; the same on all of them.
namespace hyoka::network {

#if defined(__AVX512BW__)

/// How many of these fit into registers at a time.
inline constexpr std::size_t int16s_at_once = 28;

/// Two numbers, for all sixteen.
using Pair = __m512i;
inline Pair pair_at(const std::int16_t* numbers) {
    std::int32_t both;
    std::memcpy(&both, numbers, sizeof both);
    return _mm512_set1_epi32(both);
}

struct Int32x16 {
    __m512i sums = _mm512_setzero_si512();
    /// `weights`: two for each sum.
    void add(const std::int16_t* weights, Pair pair) {
        const __m512i loaded = _mm512_loadu_si512(weights);
#if defined(__AVX512VNNI__)
        sums = _mm512_dpwssd_epi32(sums, loaded, pair);
#else
        sums = _mm512_add_epi32(sums, _mm512_madd_epi16(loaded, pair));
#endif
    }
    void store(std::int32_t* to) const { _mm512_storeu_si512(to, sums); }
};

#elif defined(__AVX2__)

inline constexpr std::size_t int16s_at_once = 6;

using Pair = __m256i;
inline Pair pair_at(const std::int16_t* numbers) {
    std::int32_t both;
    std::memcpy(&both, numbers, sizeof both);
    return _mm256_set1_epi32(both);
}

struct Int32x16 {
    __m256i low = _mm256_setzero_si256();
    __m256i high = _mm256_setzero_si256();
    void add(const std::int16_t* weights, Pair pair) {
        const auto* from = reinterpret_cast<const __m256i*>(weights);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_loadu_si256(from), pair));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_loadu_si256(from + 1), pair));
    }
    void store(std::int32_t* to) const {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, high);
    }
};

#elif defined(__SSE2__)

inline constexpr std::size_t int16s_at_once = 3;

using Pair = __m128i;
inline Pair pair_at(const std::int16_t* numbers) {
    std::int32_t both;
    std::memcpy(&both, numbers, sizeof both);
    return _mm_set1_epi32(both);
}

struct Int32x16 {
    __m128i parts[4] = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    void add(const std::int16_t* weights, Pair pair) {
        const auto* from = reinterpret_cast<const __m128i*>(weights);
        for (int i = 0; i < 4; ++i) parts[i] = _mm_add_epi32(parts[i], _mm_madd_epi16(_mm_loadu_si128(from + i), pair));
    }
    void store(std::int32_t* to) const {
        for (int i = 0; i < 4; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, parts[i]);
    }
};

#else

inline constexpr std::size_t int16s_at_once = 4;

struct Pair {
    std::int32_t first, second;
};
inline Pair pair_at(const std::int16_t* numbers) { return {numbers[0], numbers[1]}; }

struct Int32x16 {
    std::int32_t sums[16] = {};
    void add(const std::int16_t* weights, Pair pair) {
        for (int i = 0; i < 16; ++i) sums[i] += weights[2 * i] * pair.first + weights[2 * i + 1] * pair.second;
    }
    void store(std::int32_t* to) const { std::memcpy(to, sums, sizeof sums); }
};

#endif

}  // namespace hyoka::network
