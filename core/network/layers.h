// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hyoka::network {

/// A network's numbers as a file holds them. All but the last steps are whole numbers, so that every machine, and
/// every way to a position, gives the same answer.
///
///     sums    = first_bias + the rows of `first` whose inputs are on        in steps of 1 / sum_steps
///     units   = clamp(sums, 0, 1)²
///     hidden  = clamp(value · units + value_bias, 0, 1)                     weights in steps of 1 / weight_steps
///     logit   = value_out · hidden + value_out_bias                         of the mover's expected result
///     sight   = clamp(policy · units + policy_bias, 0, 1)                   in steps of 1 / sight_steps
///     strength of a move = exp(move_scale · moves[code] · sight + move_bias[code])
struct Numbers {
    static constexpr int sum_steps = 128;
    static constexpr int weight_steps = 64;
    static constexpr int sight_steps = 127;
    static constexpr std::size_t width_unit = 64;  // widths are multiples of this
    static constexpr std::size_t largest_width = 1024;
    static constexpr std::size_t most_units = 256;
    static constexpr float largest_number = 1e6f;  // of those that are not whole

    std::size_t inputs = 0;
    std::size_t width = 0;
    std::size_t codes = 0;                 // of moves
    std::vector<std::int16_t> first;       // a row an input
    std::vector<std::int16_t> first_bias;  // width
    std::vector<std::int16_t> value;       // a row a hidden unit
    std::vector<float> value_bias;
    std::vector<float> value_out;
    float value_out_bias = 0;
    std::vector<std::int16_t> policy;  // a row a unit of sight; none: moves are not judged
    std::vector<float> policy_bias;
    std::vector<std::int8_t> moves;  // a row a code
    std::vector<float> move_bias;
    float move_scale = 0;

    std::size_t value_units() const { return value_bias.size(); }
    std::size_t policy_units() const { return policy_bias.size(); }
    bool judges_moves() const { return !policy_bias.empty(); }
    /// Throws NotationError if the numbers don't fit together, or are such that sums could overflow or be none.
    void check() const;
};

/// A network at work. Inputs come as words of bits.
class Layers {
public:
    using Words = std::span<const std::uint64_t>;

    /// Throws NotationError; see Numbers::check.
    explicit Layers(Numbers numbers);

    std::size_t width() const { return numbers_.width; }
    std::size_t policy_units() const { return numbers_.policy_units(); }
    bool judges_moves() const { return numbers_.judges_moves(); }

    // `sums` has `width` places.
    /// From nothing.
    void start(Words inputs, std::int16_t* sums) const;
    /// From the sums of `before` to those of `inputs`: the same as a start, and quicker if few differ.
    void follow(Words before, Words inputs, std::int16_t* sums) const;
    /// Of the expected result of the mover.
    float logit(const std::int16_t* sums) const;
    /// Move features for the policy; `sight` has `policy_units` places.
    void see(const std::int16_t* sums, std::int16_t* sight) const;
    /// The logarithm of a move's strength; pre: the code is below `codes`.
    float move_logit(const std::int16_t* sight, std::uint32_t code) const;

private:
    void change(const std::uint32_t* added, std::size_t adds, const std::uint32_t* removed, std::size_t removes,
                std::int16_t* sums) const;
    Numbers numbers_;
    std::vector<std::int16_t> moves_;  // widened, as the machine multiplies them
};

}  // namespace hyoka::network
