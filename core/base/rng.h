// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bits.h"

namespace hyoka {

/// One step of SplitMix64: turns a counter into well-mixed bits.
constexpr std::uint64_t split_mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// A small, fast random generator (wyrand). Equal seeds give equal streams on every machine.
class Rng {
public:
    explicit constexpr Rng(std::uint64_t seed = 0) : state_(split_mix(seed)) {}

    /// The generator of the `index`-th independent task of a run with `seed`.
    static constexpr Rng for_task(std::uint64_t seed, std::uint64_t index) {
        return Rng(split_mix(seed) ^ split_mix(~index));
    }

    constexpr std::uint64_t bits() {
        state_ += 0xa0761d6478bd642fULL;
        const uint128 product = static_cast<uint128>(state_) * (state_ ^ 0xe7037ed1a0b428dbULL);
        return high_word(product) ^ low_word(product);
    }

    /// Uniform in [0, n); the bias is below n / 2^32. Pre: n > 0.
    constexpr std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((bits() >> 32) * n) >> 32); }

private:
    std::uint64_t state_;
};

}  // namespace hyoka
