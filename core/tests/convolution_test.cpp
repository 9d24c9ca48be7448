// SPDX-License-Identifier: Apache-2.0
// Convolution networks against the formula written out point by point, for boards and channels that fill registers and
// such that don't; and numbers that can't be are refused.
#include <algorithm>
#include <cmath>
#include <string>

#include "base/rng.h"
#include "games/all.h"
#include "network/convolution.h"
#include "network/convolution_models.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using network::Convolution;
using network::ConvolutionNumbers;
using network::WholeLayer;
using Numbers = ConvolutionNumbers;

std::int16_t whole(Rng& rng, int largest) {
    return static_cast<std::int16_t>(static_cast<int>(rng.below(static_cast<std::uint32_t>(2 * largest + 1))) -
                                     largest);
}
std::vector<std::int16_t> wholes(std::size_t count, int largest, Rng& rng) {
    std::vector<std::int16_t> found(count);
    for (auto& number : found) number = whole(rng, largest);
    return found;
}
WholeLayer layer(std::size_t outputs, std::size_t width, int largest, Rng& rng) {
    WholeLayer made{wholes(outputs * width, largest, rng), {}, {}};
    for (std::size_t i = 0; i < outputs; ++i) {
        made.bias.push_back(whole(rng, 20000));
        made.shifts.push_back(static_cast<std::uint8_t>(8 + rng.below(4)));
    }
    return made;
}
std::vector<float> floats(std::size_t count, Rng& rng) {
    std::vector<float> found(count);
    for (auto& number : found) number = static_cast<float>(whole(rng, 100)) / 100;
    return found;
}

Numbers random_numbers(std::size_t side, std::size_t planes, std::size_t globals, std::size_t move_planes,
                       std::size_t channels, std::size_t blocks, Rng& rng) {
    Numbers made;
    made.side = side;
    made.planes = planes;
    made.globals = globals;
    made.channels = channels;
    made.move_planes = move_planes;
    made.stem = wholes(planes * Numbers::taps * channels, 60, rng);
    made.global_rows = wholes(globals * channels, 40, rng);
    made.stem_bias = wholes(channels, 60, rng);
    for (std::size_t i = 0; i < blocks; ++i)
        made.blocks.push_back({layer(channels, Numbers::taps * channels, 60, rng),
                               layer(channels, Numbers::taps * channels, 30, rng),
                               layer(channels, 2 * channels, 60, rng)});
    made.value = layer(6, 2 * channels, 60, rng);
    made.value_out = floats(6, rng);
    made.moves = wholes(move_planes * channels, 300, rng);
    made.move_bias = floats(move_planes, rng);
    made.pass = wholes(2 * channels, 300, rng);
    made.move_scale = 1e-4f;
    return made;
}

/// The formula, point by point.
class Slow {
public:
    explicit Slow(const Numbers& numbers) : n_(numbers) {}

    void look(const std::vector<bool>& inputs) {
        const std::size_t area = n_.side * n_.side;
        seen_.assign(area * n_.channels, 0);
        for (std::size_t point = 0; point < area; ++point)
            for (std::size_t c = 0; c < n_.channels; ++c) {
                std::int64_t sum = n_.stem_bias[c];
                for (std::size_t i = 0; i < n_.globals; ++i)
                    if (inputs[n_.planes * area + i]) sum += n_.global_rows[i * n_.channels + c];
                for (std::size_t plane = 0; plane < n_.planes; ++plane)
                    for (std::size_t tap = 0; tap < Numbers::taps; ++tap)
                        if (const auto from = neighbor(point, tap); from >= 0)
                            if (inputs[plane * area + static_cast<std::size_t>(from)])
                                sum += n_.stem[(plane * Numbers::taps + tap) * n_.channels + c];
                seen_[point * n_.channels + c] = clamped(sum);
            }
        for (const auto& block : n_.blocks) {
            const auto first = convolved(seen_, block.first);
            std::vector<std::int64_t> within(first.size());
            std::transform(first.begin(), first.end(), within.begin(), clamped);
            const auto pools = pooled(within);
            const auto second = convolved(within, block.second);
            for (std::size_t i = 0; i < seen_.size(); ++i) {
                const std::size_t c = i % n_.channels;
                seen_[i] = clamped(seen_[i] + second[i] + row(block.squeeze, c, pools));
            }
        }
    }
    float logit() const {
        float sum = 0;
        const auto pools = pooled(seen_);
        for (std::size_t i = 0; i < n_.value_out.size(); ++i)
            sum += static_cast<float>(clamped(row(n_.value, i, pools))) * n_.value_out[i];
        return sum / Numbers::steps + n_.value_out_bias;
    }
    float move_logit(std::size_t plane, std::size_t point) const {
        std::int64_t sum = 0;
        for (std::size_t c = 0; c < n_.channels; ++c)
            sum += n_.moves[plane * n_.channels + c] * seen_[point * n_.channels + c];
        return static_cast<float>(sum) * n_.move_scale + n_.move_bias[plane];
    }

private:
    static std::int64_t clamped(std::int64_t x) { return std::clamp<std::int64_t>(x, 0, Numbers::most); }
    /// The point that a tap looks at; -1 beyond the edge.
    std::ptrdiff_t neighbor(std::size_t point, std::size_t tap) const {
        const auto side = static_cast<std::ptrdiff_t>(n_.side);
        const auto at = static_cast<std::ptrdiff_t>(point);
        const std::ptrdiff_t y = at / side + static_cast<std::ptrdiff_t>(tap / 3) - 1;
        const std::ptrdiff_t x = at % side + static_cast<std::ptrdiff_t>(tap % 3) - 1;
        return y < 0 || x < 0 || y >= side || x >= side ? -1 : y * side + x;
    }
    static std::int64_t divided(std::int64_t sum, const WholeLayer& layer, std::size_t output) {
        const double steps = std::ldexp(1.0, layer.shifts[output]);
        return static_cast<std::int64_t>(std::floor(static_cast<double>(sum + layer.bias[output]) / steps + 0.5));
    }
    std::vector<std::int64_t> convolved(const std::vector<std::int64_t>& from, const WholeLayer& layer) const {
        std::vector<std::int64_t> found(from.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::size_t output = i % n_.channels;
            std::int64_t sum = 0;
            for (std::size_t tap = 0; tap < Numbers::taps; ++tap)
                if (const auto seen = neighbor(i / n_.channels, tap); seen >= 0)
                    for (std::size_t c = 0; c < n_.channels; ++c)
                        sum += from[static_cast<std::size_t>(seen) * n_.channels + c] *
                               layer.weights[(output * Numbers::taps + tap) * n_.channels + c];
            found[i] = divided(sum, layer, output);
        }
        return found;
    }
    std::vector<std::int64_t> pooled(const std::vector<std::int64_t>& from) const {
        const auto area = static_cast<std::int64_t>(n_.side * n_.side);
        std::vector<std::int64_t> found(2 * n_.channels, 0);
        for (std::size_t i = 0; i < from.size(); ++i) {
            const std::size_t c = i % n_.channels;
            found[c] += from[i];
            found[n_.channels + c] = std::max(found[n_.channels + c], from[i]);
        }
        for (std::size_t c = 0; c < n_.channels; ++c) found[c] = (found[c] + area / 2) / area;
        return found;
    }
    static std::int64_t row(const WholeLayer& layer, std::size_t output, const std::vector<std::int64_t>& from) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < from.size(); ++i) sum += layer.weights[output * from.size() + i] * from[i];
        return divided(sum, layer, output);
    }

    const Numbers& n_;
    std::vector<std::int64_t> seen_;
};

void check_size(std::size_t side, std::size_t channels, Rng& rng) {
    const std::string which = std::to_string(side) + " by " + std::to_string(channels);
    const Numbers numbers = random_numbers(side, 3, 5, 2, channels, 2, rng);
    const Convolution network(numbers);
    Slow slow(numbers);
    auto sight = network.sight();
    for (int round = 0; round < 3; ++round) {  // the same room serves again
        std::vector<bool> inputs(numbers.inputs());
        std::vector<std::uint64_t> words((inputs.size() + 63) / 64);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (rng.below(4) == 0) {
                inputs[i] = true;
                words[i / 64] |= std::uint64_t{1} << (i % 64);
            }
        network.look(words, sight);
        slow.look(inputs);
        expect(network.logit(sight) == slow.logit(), "the value of " + which);
        for (std::size_t plane = 0; plane < 2; ++plane)
            for (std::size_t point = 0; point < side * side; point += 3)
                expect(network.move_logit(sight, static_cast<std::uint32_t>(plane * side * side + point)) ==
                           slow.move_logit(plane, point),
                       "a move of " + which);
    }
}

void check_refusals(Rng& rng) {
    const auto refused = [&](auto&& spoil, const std::string& what) {
        Numbers numbers = random_numbers(5, 2, 1, 1, 16, 1, rng);
        numbers.check();
        spoil(numbers);
        try {
            numbers.check();
        } catch (const NotationError&) {
            return;
        }
        expect(false, what + " are taken");
    };
    refused([](Numbers& n) { n.side = 20; }, "boards that are too large");
    refused([](Numbers& n) { n.channels = 24; }, "channels between registers");
    refused([](Numbers& n) { n.stem.pop_back(); }, "too few numbers");
    refused([](Numbers& n) { n.blocks[0].first.shifts[3] = 0; }, "sums that are not divided");
    refused([](Numbers& n) { std::fill(n.value.weights.begin(), n.value.weights.end(), std::int16_t{32767}); },
            "sums that run over");
    refused([](Numbers& n) { n.move_scale = NAN; }, "numbers that are none");
}

/// Every move lies somewhere on the board, and no two at one place.
template <class G>
void check_places() {
    if constexpr (network::OnBoard<G>) {
        using Inputs = network::Inputs<G>;
        std::vector<std::uint32_t> places;
        for (std::uint32_t code = 0; code < G::Move::code_count; ++code)
            if (const std::uint32_t place = Inputs::place(code); place != network::no_place) places.push_back(place);
        expect(places.size() + 1 == G::Move::code_count, "all moves but the pass lie on the board");
        std::sort(places.begin(), places.end());
        expect(std::adjacent_find(places.begin(), places.end()) == places.end(), "two moves at one place");
        expect(places.back() < Inputs::move_planes * Inputs::side * Inputs::side, "a move beside the board");
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka;
    Rng rng = Rng::for_task(1, 1);
    for (const std::size_t side : {2, 3, 8, 9, 14, 19})
        for (const std::size_t channels : {16, 32, 48}) tests::check_size(side, channels, rng);
    tests::check_refusals(rng);
    for_each_game([]<class G>(std::type_identity<G>) { tests::check_places<G>(); });
    return tests::report();
}
