// SPDX-License-Identifier: Apache-2.0
#include "network/layers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "game.h"

namespace hyoka::network {
namespace {

/// As wide as any machine's registers: narrower ones take it in parts. Unsigned, so that sums that run over wrap.
using Lanes = std::uint16_t __attribute__((vector_size(64)));
constexpr std::size_t lanes = sizeof(Lanes) / sizeof(std::uint16_t);

void load(Lanes& into, const std::int16_t* from) { std::memcpy(&into, from, sizeof into); }

/// Pre: no sum runs over; Numbers::check sees to that.
std::int32_t dot(const std::int16_t* a, const std::int16_t* b, std::size_t count) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::int32_t{a[i]} * b[i];
    return sum;
}

void activate(const std::int16_t* sums, std::int16_t* units, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto clamped = std::clamp<std::int16_t>(sums[i], 0, Numbers::sum_steps);
        units[i] = static_cast<std::int16_t>(clamped * clamped);
    }
}

constexpr float unit_steps = static_cast<float>(Numbers::sum_steps) * Numbers::sum_steps * Numbers::weight_steps;

void require(bool holds, const char* what) {
    if (!holds) throw NotationError(std::string("no network: ") + what);
}

/// Whether the products of any activations and a row's weights stay within 32 bits.
bool rows_fit(std::span<const std::int16_t> rows, std::size_t width) {
    constexpr std::int64_t greatest = std::int64_t{Numbers::sum_steps} * Numbers::sum_steps;
    for (std::size_t begin = 0; begin < rows.size(); begin += width) {
        std::int64_t sum = 0;
        for (const std::int16_t weight : rows.subspan(begin, width)) sum += std::abs(int{weight}) * greatest;
        if (sum > std::numeric_limits<std::int32_t>::max()) return false;
    }
    return true;
}

/// Whether nothing that is made of these runs over.
bool all_fit(std::span<const float> numbers) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [](float x) { return std::abs(x) <= Numbers::largest_number; });  // and none is NaN
}

}  // namespace

void Numbers::check() const {
    require(inputs > 0 && width > 0 && width % width_unit == 0 && width <= largest_width, "its width can't be");
    require(first.size() % width == 0 && first.size() / width == inputs && first_bias.size() == width,
            "its first layer is of another size");
    require(value_units() > 0 && value_units() <= most_units && value.size() == value_units() * width &&
                value_out.size() == value_units(),
            "its values' layers are of another size");
    require(policy_units() <= most_units && policy.size() == policy_units() * width,
            "its moves' layer is of another size");
    const std::size_t judged = judges_moves() ? codes : 0;
    require(moves.size() == judged * policy_units() && move_bias.size() == judged, "its moves are of another number");
    require(rows_fit(value, width) && rows_fit(policy, width), "its weights are too large");
    require(all_fit(value_bias) && all_fit(value_out) && all_fit(policy_bias) && all_fit(move_bias) &&
                all_fit({&value_out_bias, 1}) && all_fit({&move_scale, 1}),
            "some of its numbers are not finite, or too large");
}

Layers::Layers(Numbers numbers) : numbers_(std::move(numbers)) {
    numbers_.check();
    moves_.assign(numbers_.moves.begin(), numbers_.moves.end());
}

void Layers::change(const std::uint32_t* added, std::size_t adds, const std::uint32_t* removed, std::size_t removes,
                    std::int16_t* sums) const {
    const std::size_t width = numbers_.width;
    const std::int16_t* first = numbers_.first.data();
    // Two registers' worth at a time stay in registers during the loop over rows.
    for (std::size_t begin = 0; begin < width; begin += 2 * lanes) {
        Lanes low, high, row_low, row_high;
        load(low, sums + begin);
        load(high, sums + begin + lanes);
        for (std::size_t i = 0; i < adds; ++i) {
            const std::int16_t* row = first + added[i] * width + begin;
            load(row_low, row);
            load(row_high, row + lanes);
            low += row_low;
            high += row_high;
        }
        for (std::size_t i = 0; i < removes; ++i) {
            const std::int16_t* row = first + removed[i] * width + begin;
            load(row_low, row);
            load(row_high, row + lanes);
            low -= row_low;
            high -= row_high;
        }
        std::memcpy(sums + begin, &low, sizeof low);
        std::memcpy(sums + begin + lanes, &high, sizeof high);
    }
}

namespace {

/// Inputs by number, as many at a time as are worth a pass over the sums.
struct InputList {
    std::array<std::uint32_t, 512> numbers;
    std::size_t count = 0;
    bool has_room() const { return count + 64 <= numbers.size(); }
    void add(std::size_t word, std::uint64_t bits) {
        for (; bits; bits &= bits - 1)
            numbers[count++] = static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
    }
};

}  // namespace

void Layers::start(Words inputs, std::int16_t* sums) const {
    std::copy(numbers_.first_bias.begin(), numbers_.first_bias.end(), sums);
    InputList added;
    for (std::size_t word = 0; word < inputs.size(); ++word) {
        if (!added.has_room()) {
            change(added.numbers.data(), added.count, nullptr, 0, sums);
            added.count = 0;
        }
        added.add(word, inputs[word]);
    }
    change(added.numbers.data(), added.count, nullptr, 0, sums);
}

void Layers::follow(Words before, Words inputs, std::int16_t* sums) const {
    InputList added;
    InputList removed;
    for (std::size_t word = 0; word < inputs.size(); ++word) {
        const std::uint64_t changed = before[word] ^ inputs[word];
        if (!changed) continue;
        if (!added.has_room() || !removed.has_room()) {
            change(added.numbers.data(), added.count, removed.numbers.data(), removed.count, sums);
            added.count = removed.count = 0;
        }
        added.add(word, changed & inputs[word]);
        removed.add(word, changed & before[word]);
    }
    change(added.numbers.data(), added.count, removed.numbers.data(), removed.count, sums);
}

float Layers::logit(const std::int16_t* sums) const {
    alignas(64) std::array<std::int16_t, Numbers::largest_width> units;
    activate(sums, units.data(), numbers_.width);
    float logit = numbers_.value_out_bias;
    for (std::size_t i = 0; i < numbers_.value_units(); ++i) {
        const std::int32_t sum = dot(units.data(), numbers_.value.data() + i * numbers_.width, numbers_.width);
        const float hidden = static_cast<float>(sum) / unit_steps + numbers_.value_bias[i];
        logit += std::clamp(hidden, 0.0f, 1.0f) * numbers_.value_out[i];
    }
    return logit;
}

void Layers::see(const std::int16_t* sums, std::int16_t* sight) const {
    alignas(64) std::array<std::int16_t, Numbers::largest_width> units;
    activate(sums, units.data(), numbers_.width);
    for (std::size_t i = 0; i < numbers_.policy_units(); ++i) {
        const std::int32_t sum = dot(units.data(), numbers_.policy.data() + i * numbers_.width, numbers_.width);
        const float seen = static_cast<float>(sum) / unit_steps + numbers_.policy_bias[i];
        sight[i] = static_cast<std::int16_t>(std::lround(std::clamp(seen, 0.0f, 1.0f) * Numbers::sight_steps));
    }
}

float Layers::move_logit(const std::int16_t* sight, std::uint32_t code) const {
    const std::size_t units = numbers_.policy_units();
    const std::int32_t sum = dot(sight, moves_.data() + code * units, units);
    return static_cast<float>(sum) * numbers_.move_scale + numbers_.move_bias[code];
}

}  // namespace hyoka::network
