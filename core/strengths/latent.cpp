// SPDX-License-Identifier: Apache-2.0
#include "strengths/latent.h"

#include <algorithm>
#include <numeric>

#include "base/rng.h"

namespace hyoka::strengths {
namespace {

/// Where each competition of a block begins.
struct Place {
    std::uint32_t block;
    std::uint32_t feature;
    std::uint32_t team;
    std::uint32_t competition;
};

/// Competitions of the games that are marked so.
std::vector<Place> places_of(const Competitions& competitions, std::span<const std::uint8_t> games, bool marked) {
    std::vector<Place> places;
    for (std::uint32_t b = 0; b < competitions.blocks.size(); ++b) {
        const auto& block = competitions.blocks[b];
        std::uint32_t feature = 0;
        std::uint32_t team = 0;
        for (std::uint32_t i = 0; i < block.teams.size(); ++i) {
            if ((games[block.games[i]] != 0) == marked) places.push_back({b, feature, team, i});
            for (std::uint16_t k = 0; k < block.teams[i]; ++k) feature += block.sizes[team++];
        }
    }
    return places;
}

/// The chances of a competition's teams, and the sums of their factors.
class Chances {
public:
    Chances(const Competitions& competitions, const LatentFactors& model)
        : competitions_(competitions), model_(model) {}

    /// Tells -log of the winner's chance.
    double look_at(const Place& place) {
        const auto& block = competitions_.blocks[place.block];
        const std::size_t teams = block.teams[place.competition];
        values.resize(teams);
        sums.resize(teams * model_.rank);
        const std::uint16_t* team = block.features.data() + place.feature;
        float greatest = -std::numeric_limits<float>::infinity();
        for (std::size_t i = 0; i < teams; ++i) {
            const std::size_t size = block.sizes[place.team + i];
            values[i] = model_.log_strength(team, size, sums.data() + i * model_.rank);
            greatest = std::max(greatest, values[i]);
            team += size;
        }
        const float winner = values[block.winners[place.competition]] - greatest;
        double sum = 0;
        for (float& value : values) sum += value = std::exp(value - greatest);
        for (float& value : values) value = static_cast<float>(value / sum);
        return std::log(sum) - winner;
    }

    std::vector<float> values;
    std::vector<float> sums;

private:
    const Competitions& competitions_;
    const LatentFactors& model_;
};

}  // namespace

void learn_once(const Competitions& competitions, std::span<const std::uint8_t> games, const LatentLearning& learning,
                LatentFactors& model, LatentHistory& history, const std::atomic<bool>& stop) {
    std::vector<Place> places = places_of(competitions, games, true);
    Rng rng = Rng::for_task(learning.seed, 0);
    for (std::size_t left = places.size(); left > 1; --left)
        std::swap(places[left - 1], places[rng.below(static_cast<std::uint32_t>(left))]);
    const std::size_t rank = model.rank;
    constexpr float hardly = 1e-5f;  // a team with so small a chance teaches nothing
    Chances chances(competitions, model);
    std::vector<float> log_slopes(model.features());
    std::vector<float> factor_slopes(model.factors.size());
    std::vector<std::uint16_t> touched;
    std::vector<std::uint8_t> is_touched(model.features());
    const auto rate = static_cast<float>(learning.rate);
    const auto decay = static_cast<float>(learning.decay);
    for (const Place& place : places) {
        if (stop.load(std::memory_order_relaxed)) return;
        chances.look_at(place);
        const auto& block = competitions.blocks[place.block];
        const std::uint16_t* team = block.features.data() + place.feature;
        for (std::size_t i = 0; i < chances.values.size(); ++i) {
            const std::size_t size = block.sizes[place.team + i];
            const bool won = i == block.winners[place.competition];
            const float slope = chances.values[i] - static_cast<float>(won);
            if (won || slope > hardly) {
                const float* sum = chances.sums.data() + i * rank;
                for (std::size_t j = 0; j < size; ++j) {
                    const std::uint16_t feature = team[j];
                    if (!is_touched[feature]) {
                        is_touched[feature] = 1;
                        touched.push_back(feature);
                    }
                    log_slopes[feature] += slope;
                    const float* factor = model.factors.data() + feature * rank;
                    float* slopes = factor_slopes.data() + feature * rank;
                    for (std::size_t k = 0; k < rank; ++k) slopes[k] += slope * (sum[k] - factor[k]);
                }
            }
            team += size;
        }
        const auto step = [&](float& number, float& slope, float& past) {
            const float whole = slope + decay * number;
            past += whole * whole;
            number -= rate * whole / (std::sqrt(past) + 1e-6f);
            slope = 0;
        };
        for (const std::uint16_t feature : touched) {
            step(model.logs[feature], log_slopes[feature], history.logs[feature]);
            for (std::size_t k = feature * rank; k < (feature + std::size_t{1}) * rank; ++k)
                step(model.factors[k], factor_slopes[k], history.factors[k]);
            is_touched[feature] = 0;
        }
        touched.clear();
    }
}

double loss_on_others(const Competitions& competitions, std::span<const std::uint8_t> games,
                      const LatentFactors& model) {
    const std::vector<Place> places = places_of(competitions, games, false);
    Chances chances(competitions, model);
    double sum = 0;
    for (const Place& place : places) sum += chances.look_at(place);
    return places.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(places.size());
}

}  // namespace hyoka::strengths
