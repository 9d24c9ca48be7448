// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Networks that see the same shapes wherever they lie on the board.
namespace hyoka::network {

/// Whole numbers that a layer multiplies activations by, a row an output: its sums are divided by 2^shift.
struct WholeLayer {
    std::vector<std::int16_t> weights;
    std::vector<std::int32_t> bias;    // an output: in the steps of its sums
    std::vector<std::uint8_t> shifts;  // an output
};

/// A convolution network's numbers as a file holds them. Activations are whole numbers in steps of 1 / steps from 0 to
/// `most`; only the last steps of the heads are not whole, so that every machine gives the same answer.
///
///     x     = clamp(stem · planes + globals · inputs that lie nowhere + stem_bias)
///     a block: h = clamp(first · x), x = clamp(x + second · h + squeeze · pooled(h))
///     pooled(h) = each channel's mean and its greatest over the board
///     value = value_out · clamp(value · pooled(x)) + value_out_bias          the logit of the mover's expected result
///     a move's logit = move_scale · moves[its plane] · x at its point + move_bias[its plane]; a pass has `pass` ·
///     pooled(x)
struct ConvolutionNumbers {
    static constexpr int steps = 256;
    static constexpr std::int16_t most = 16 * steps - 1;
    static constexpr std::size_t channel_unit = 16;  // channels are a multiple of this
    static constexpr std::size_t most_channels = 128;
    static constexpr std::size_t most_blocks = 20;
    static constexpr std::size_t most_value_units = 256;
    static constexpr std::size_t most_side = 19;
    static constexpr std::size_t taps = 9;
    static constexpr std::uint8_t least_shift = 4;  // three sums that are divided so can be added
    static constexpr std::uint8_t most_shift = 20;
    static constexpr float largest_number = 1e6f;  // of those that are not whole

    struct Block {
        WholeLayer first, second;  // rows of taps * channels
        WholeLayer squeeze;        // rows of 2 * channels
    };

    std::size_t side = 0;
    std::size_t planes = 0;
    std::size_t globals = 0;  // inputs that lie nowhere
    std::size_t channels = 0;
    std::size_t move_planes = 0;
    std::vector<std::int16_t> stem;         // a row a plane and tap
    std::vector<std::int16_t> global_rows;  // a row an input that lies nowhere
    std::vector<std::int16_t> stem_bias;
    std::vector<Block> blocks;
    WholeLayer value;  // rows of 2 * channels
    std::vector<float> value_out;
    float value_out_bias = 0;
    std::vector<std::int16_t> moves;  // a row a plane of moves
    std::vector<float> move_bias;
    std::vector<std::int16_t> pass;  // a row of 2 * channels
    float pass_bias = 0;
    float move_scale = 0;

    std::size_t inputs() const { return planes * side * side + globals; }
    /// Throws NotationError if the numbers don't fit together, or are such that sums could overflow or be none.
    void check() const;
};

/// A convolution network at work. Inputs come as words of bits.
class Convolution {
public:
    using Words = std::span<const std::uint64_t>;

    /// Inputs and scratch memory of one inference. One per thread.
    struct Sight {
        std::vector<std::int16_t> seen;    // a row a point of the board with an edge around it
        std::vector<std::int16_t> within;  // the same inside of a block
        std::vector<std::int16_t> pooled;
        std::vector<std::int32_t> squeezed;
    };

    /// Throws NotationError; see ConvolutionNumbers::check.
    explicit Convolution(ConvolutionNumbers numbers);

    Sight sight() const;
    void look(Words inputs, Sight& sight) const;
    /// Of the expected result of the mover.
    float logit(const Sight& sight) const;
    /// The logarithm of the strength of a move that lies at a place (see Inputs), or of a pass.
    float move_logit(const Sight& sight, std::uint32_t place) const;

private:
    struct PackedBlock {
        std::vector<std::int16_t> first, second;
    };
    void begin(Words inputs, std::int16_t* seen) const;
    void pool(const std::int16_t* from, std::int16_t* pooled) const;
    template <bool Residual>
    void convolve(const std::vector<std::int16_t>& packed, const WholeLayer& layer, const std::int16_t* from,
                  std::int16_t* to, const std::int32_t* squeezed) const;
    template <std::size_t Points, std::size_t Groups>
    void convolve_points(const std::int16_t* weights, const std::int16_t* from, std::int32_t* sums) const;

    ConvolutionNumbers numbers_;
    std::size_t stride_;  // points from a row to the next
    std::vector<PackedBlock> packed_;
};

}  // namespace hyoka::network
