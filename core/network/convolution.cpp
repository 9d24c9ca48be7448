// SPDX-License-Identifier: Apache-2.0
#include "network/convolution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "game.h"
#include "network/inputs.h"
#include "network/int16_simd.h"

namespace hyoka::network {
namespace {

using Numbers = ConvolutionNumbers;
constexpr std::size_t group = Numbers::channel_unit;  // outputs that are summed side by side

void require(bool holds, const char* what) {
    if (!holds) throw NotationError(std::string("no network: ") + what);
}

/// Whether the products of any activations and a row's weights, and what is added to them, stay within 32 bits.
bool rows_fit(const WholeLayer& layer, std::size_t width) {
    for (std::size_t row = 0; row < layer.bias.size(); ++row) {
        if (layer.shifts[row] < Numbers::least_shift || layer.shifts[row] > Numbers::most_shift) return false;
        std::int64_t sum = std::abs(std::int64_t{layer.bias[row]}) + (std::int64_t{1} << layer.shifts[row]);
        for (std::size_t i = 0; i < width; ++i)
            sum += std::abs(std::int64_t{layer.weights[row * width + i]}) * Numbers::most;
        if (sum > std::numeric_limits<std::int32_t>::max()) return false;
    }
    return true;
}

void check_layer(const WholeLayer& layer, std::size_t rows, std::size_t width) {
    require(layer.weights.size() == rows * width && layer.bias.size() == rows && layer.shifts.size() == rows,
            "one of its layers is of another size");
    require(rows_fit(layer, width), "its weights are too large");
}

bool products_fit(std::span<const std::int16_t> rows, std::size_t width) {
    for (std::size_t begin = 0; begin < rows.size(); begin += width) {
        std::int64_t sum = 0;
        for (const std::int16_t weight : rows.subspan(begin, width))
            sum += std::abs(std::int64_t{weight}) * Numbers::most;
        if (sum > std::numeric_limits<std::int32_t>::max()) return false;
    }
    return true;
}

/// Whether nothing that is made of these runs over.
bool all_fit(std::span<const float> numbers) {
    return std::all_of(numbers.begin(), numbers.end(),
                       [](float x) { return std::abs(x) <= Numbers::largest_number; });  // and none is NaN
}

std::int32_t dot(const std::int16_t* a, const std::int16_t* b, std::size_t count) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += std::int32_t{a[i]} * b[i];
    return sum;
}

/// A sum in the steps of activations.
std::int32_t scaled(std::int32_t sum, std::uint8_t shift) { return (sum + (std::int32_t{1} << (shift - 1))) >> shift; }

std::int16_t clamped(std::int32_t x) {
    return static_cast<std::int16_t>(std::clamp<std::int32_t>(x, 0, Numbers::most));
}

/// Weights in the order in which they are multiplied: groups of outputs, taps, pairs of inputs, outputs, inputs.
std::vector<std::int16_t> packed(const WholeLayer& layer, std::size_t channels) {
    std::vector<std::int16_t> found;
    found.reserve(layer.weights.size());
    const std::size_t row = Numbers::taps * channels;
    for (std::size_t first = 0; first < channels; first += group)
        for (std::size_t tap = 0; tap < Numbers::taps; ++tap)
            for (std::size_t in = 0; in < channels; in += 2)
                for (std::size_t out = first; out < first + group; ++out)
                    for (std::size_t of_pair = 0; of_pair < 2; ++of_pair)
                        found.push_back(layer.weights[out * row + tap * channels + in + of_pair]);
    return found;
}

}  // namespace

void Numbers::check() const {
    require(side >= 2 && side <= most_side && planes > 0, "its board can't be");
    require(channels > 0 && channels % channel_unit == 0 && channels <= most_channels && blocks.size() <= most_blocks,
            "its size can't be");
    require(stem.size() == planes * taps * channels && global_rows.size() == globals * channels &&
                stem_bias.size() == channels,
            "its first layer is of another size");
    for (const Block& block : blocks) {
        check_layer(block.first, channels, taps * channels);
        check_layer(block.second, channels, taps * channels);
        check_layer(block.squeeze, channels, 2 * channels);
    }
    require(!value_out.empty() && value_out.size() <= most_value_units, "its values' layers are of another size");
    check_layer(value, value_out.size(), 2 * channels);
    require(move_planes > 0 && moves.size() == move_planes * channels && move_bias.size() == move_planes &&
                pass.size() == 2 * channels,
            "its moves are of another number");
    require(products_fit(moves, channels) && products_fit(pass, 2 * channels), "its weights are too large");
    require(all_fit(value_out) && all_fit(move_bias) && all_fit({&value_out_bias, 1}) && all_fit({&pass_bias, 1}) &&
                all_fit({&move_scale, 1}),
            "some of its numbers are not finite, or too large");
}

Convolution::Convolution(ConvolutionNumbers numbers) : numbers_(std::move(numbers)), stride_(numbers_.side + 2) {
    numbers_.check();
    for (const Numbers::Block& block : numbers_.blocks)
        packed_.push_back({packed(block.first, numbers_.channels), packed(block.second, numbers_.channels)});
}

Convolution::Sight Convolution::sight() const {
    const std::size_t room = stride_ * stride_ * numbers_.channels;
    return {std::vector<std::int16_t>(room), std::vector<std::int16_t>(room),
            std::vector<std::int16_t>(2 * numbers_.channels), std::vector<std::int32_t>(numbers_.channels)};
}

void Convolution::begin(Words inputs, std::int16_t* seen) const {
    const std::size_t channels = numbers_.channels;
    const std::size_t side = numbers_.side;
    const std::size_t area = side * side;
    // Unsigned, so that sums that run over wrap.
    std::array<std::uint16_t, Numbers::most_channels> bias;
    const auto add = [channels](auto* to, const std::int16_t* row) {
        for (std::size_t i = 0; i < channels; ++i)
            to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(static_cast<std::uint16_t>(to[i]) +
                                                                          static_cast<std::uint16_t>(row[i]));
    };
    std::copy(numbers_.stem_bias.begin(), numbers_.stem_bias.end(), bias.begin());
    const auto for_each_input = [&](auto&& visit) {
        for (std::size_t word = 0; word < inputs.size(); ++word)
            for (std::uint64_t bits = inputs[word]; bits; bits &= bits - 1)
                visit(64 * word + static_cast<std::size_t>(std::countr_zero(bits)));
    };
    const std::size_t on_board = numbers_.planes * area;
    for_each_input([&](std::size_t input) {
        if (input >= on_board) add(bias.data(), numbers_.global_rows.data() + (input - on_board) * channels);
    });
    for (std::size_t row = 1; row <= side; ++row)
        for (std::size_t column = 1; column <= side; ++column)
            std::copy_n(bias.begin(), channels, seen + (row * stride_ + column) * channels);
    for_each_input([&](std::size_t input) {
        if (input >= on_board) return;
        const std::size_t plane = input / area;
        const std::size_t row = input % area / side + 1;
        const std::size_t column = input % side + 1;
        // A tap looks from a point to one of its neighbors: this input is seen from the opposite side.
        for (std::size_t tap = 0; tap < Numbers::taps; ++tap)
            add(seen + ((row + 1 - tap / 3) * stride_ + column + 1 - tap % 3) * channels,
                numbers_.stem.data() + (plane * Numbers::taps + tap) * channels);
    });
    for (std::size_t row = 0; row < stride_; ++row)
        for (std::size_t column = 0; column < stride_; ++column) {
            std::int16_t* point = seen + (row * stride_ + column) * channels;
            if (row == 0 || row > side || column == 0 || column > side)
                std::fill_n(point, channels, std::int16_t{0});
            else
                for (std::size_t i = 0; i < channels; ++i)
                    point[i] = std::clamp<std::int16_t>(point[i], 0, Numbers::most);
        }
}

void Convolution::pool(const std::int16_t* from, std::int16_t* pooled) const {
    const std::size_t channels = numbers_.channels;
    const auto area = static_cast<std::int32_t>(numbers_.side * numbers_.side);
    std::array<std::int32_t, Numbers::most_channels> sums{};
    std::int16_t* greatest = pooled + channels;
    std::fill_n(greatest, channels, std::int16_t{0});
    for (std::size_t row = 1; row <= numbers_.side; ++row)
        for (std::size_t column = 1; column <= numbers_.side; ++column) {
            const std::int16_t* point = from + (row * stride_ + column) * channels;
            for (std::size_t i = 0; i < channels; ++i) {
                sums[i] += point[i];
                greatest[i] = std::max(greatest[i], point[i]);
            }
        }
    for (std::size_t i = 0; i < channels; ++i) pooled[i] = static_cast<std::int16_t>((sums[i] + area / 2) / area);
}

template <std::size_t Points, std::size_t Groups>
void Convolution::convolve_points(const std::int16_t* weights, const std::int16_t* from, std::int32_t* sums) const {
    const std::size_t channels = numbers_.channels;
    const std::size_t group_weights = Numbers::taps * channels * group;
    std::array<std::array<Int32x16, Groups>, Points> found;
    for (std::size_t tap = 0; tap < Numbers::taps; ++tap) {
        const std::int16_t* seen = from + (tap / 3 * stride_ + tap % 3) * channels;
        for (std::size_t in = 0; in < channels; in += 2, weights += 2 * group)
#pragma GCC unroll 14
            for (std::size_t point = 0; point < Points; ++point) {
                const Pair pair = pair_at(seen + point * channels + in);
#pragma GCC unroll 2
                for (std::size_t g = 0; g < Groups; ++g) found[point][g].add(weights + g * group_weights, pair);
            }
    }
    for (std::size_t point = 0; point < Points; ++point)
        for (std::size_t g = 0; g < Groups; ++g) found[point][g].store(sums + (point * Groups + g) * group);
}

template <bool Residual>
void Convolution::convolve(const std::vector<std::int16_t>& packed, const WholeLayer& layer, const std::int16_t* from,
                           std::int16_t* to, const std::int32_t* squeezed) const {
    constexpr std::size_t most_points = 14;
    const std::size_t channels = numbers_.channels;
    alignas(64) std::array<std::int32_t, most_points * 2 * group> sums;
    // Points of a row at a time, for some outputs at a time.
    const auto finish = [&](std::size_t points, std::size_t outputs, std::size_t first, std::int16_t* row) {
        for (std::size_t point = 0; point < points; ++point)
            for (std::size_t i = 0; i < outputs; ++i) {
                std::int16_t& place = row[point * channels + first + i];
                std::int32_t sum = scaled(sums[point * outputs + i] + layer.bias[first + i], layer.shifts[first + i]);
                if constexpr (Residual) sum += place + squeezed[first + i];
                place = clamped(sum);
            }
    };
    const auto some_points = [&]<std::size_t Points>(const std::int16_t* seen, std::int16_t* row) {
        std::size_t first = 0;
        if constexpr (Points * 2 <= int16s_at_once)
            for (; first + 2 * group <= channels; first += 2 * group) {
                convolve_points<Points, 2>(packed.data() + first * Numbers::taps * channels, seen, sums.data());
                finish(Points, 2 * group, first, row);
            }
        for (; first < channels; first += group) {
            convolve_points<Points, 1>(packed.data() + first * Numbers::taps * channels, seen, sums.data());
            finish(Points, group, first, row);
        }
    };
    constexpr std::size_t at_once = std::min(most_points, int16s_at_once);
    for (std::size_t y = 0; y < numbers_.side; ++y) {
        std::size_t left = numbers_.side;
        std::size_t x = 0;
        while (left > 0) {
            // Parts of a row of nearly the same length.
            const std::size_t parts = (left + at_once - 1) / at_once;
            const std::size_t points = (left + parts - 1) / parts;
            const std::int16_t* seen = from + (y * stride_ + x) * channels;
            std::int16_t* row = to + ((y + 1) * stride_ + x + 1) * channels;
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                ((points == I + 1 ? some_points.template operator()<I + 1>(seen, row) : void()), ...);
            }(std::make_index_sequence<at_once>());
            x += points;
            left -= points;
        }
    }
}

void Convolution::look(Words inputs, Sight& sight) const {
    const std::size_t channels = numbers_.channels;
    begin(inputs, sight.seen.data());
    for (std::size_t i = 0; i < packed_.size(); ++i) {
        const Numbers::Block& block = numbers_.blocks[i];
        convolve<false>(packed_[i].first, block.first, sight.seen.data(), sight.within.data(), nullptr);
        pool(sight.within.data(), sight.pooled.data());
        for (std::size_t c = 0; c < channels; ++c)
            sight.squeezed[c] =
                scaled(dot(block.squeeze.weights.data() + c * 2 * channels, sight.pooled.data(), 2 * channels) +
                           block.squeeze.bias[c],
                       block.squeeze.shifts[c]);
        convolve<true>(packed_[i].second, block.second, sight.within.data(), sight.seen.data(), sight.squeezed.data());
    }
    pool(sight.seen.data(), sight.pooled.data());
}

float Convolution::logit(const Sight& sight) const {
    const std::size_t width = 2 * numbers_.channels;
    float logit = 0;
    for (std::size_t i = 0; i < numbers_.value_out.size(); ++i) {
        const std::int32_t sum = dot(numbers_.value.weights.data() + i * width, sight.pooled.data(), width);
        const std::int16_t unit = clamped(scaled(sum + numbers_.value.bias[i], numbers_.value.shifts[i]));
        logit += static_cast<float>(unit) * numbers_.value_out[i];
    }
    return logit / Numbers::steps + numbers_.value_out_bias;
}

float Convolution::move_logit(const Sight& sight, std::uint32_t place) const {
    const std::size_t channels = numbers_.channels;
    if (place == no_place) {
        const std::int32_t sum = dot(numbers_.pass.data(), sight.pooled.data(), 2 * channels);
        return static_cast<float>(sum) * numbers_.move_scale + numbers_.pass_bias;
    }
    const std::size_t area = numbers_.side * numbers_.side;
    const std::size_t plane = place / area;
    const std::size_t point = place % area;
    const std::int16_t* seen =
        sight.seen.data() + ((point / numbers_.side + 1) * stride_ + point % numbers_.side + 1) * channels;
    const std::int32_t sum = dot(numbers_.moves.data() + plane * channels, seen, channels);
    return static_cast<float>(sum) * numbers_.move_scale + numbers_.move_bias[plane];
}

}  // namespace hyoka::network
