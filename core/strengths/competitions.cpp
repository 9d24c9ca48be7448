// SPDX-License-Identifier: Apache-2.0
#include "strengths/competitions.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>

namespace hyoka::strengths {
namespace {

/// Sums use a fixed number of parts for every number of threads, so that rounding is identical.
constexpr std::size_t lanes = 16;

/// Calls work(lane) for all lanes, shared among threads.
template <class Work>
void for_each_lane(unsigned threads, Work&& work) {
    std::atomic<std::size_t> next = 0;
    const auto some = [&] {
        for (std::size_t lane; (lane = next++) < lanes;) work(lane);
    };
    std::vector<std::jthread> helpers;
    try {
        for (unsigned i = 1; i < std::min<std::size_t>(threads, lanes); ++i) helpers.emplace_back(some);
    } catch (const std::system_error&) {
        // The machine gives no more threads: those that started do the work.
    }
    some();
}

/// One competition, as its block holds it.
struct Competition {
    const std::uint16_t* features;  // of its first team
    const std::uint8_t* sizes;
    std::size_t teams;
    std::size_t winner;
    std::uint32_t game;
};

template <class Visit>
void for_each_competition(const CompetitionBlock& block, Visit&& visit) {
    const std::uint16_t* features = block.features.data();
    const std::uint8_t* sizes = block.sizes.data();
    for (std::size_t i = 0; i < block.teams.size(); ++i) {
        const Competition competition{features, sizes, block.teams[i], block.winners[i], block.games[i]};
        visit(competition);
        for (std::size_t team = 0; team < competition.teams; ++team) features += *sizes++;
    }
}

/// Puts each team's chance to win into `chances`, and tells the logarithm of the winner's.
double chances_of(const Competition& competition, const double* strengths, std::vector<double>& chances) {
    if (chances.size() < competition.teams) chances.resize(competition.teams);
    const std::uint16_t* feature = competition.features;
    double sum = 0;
    for (std::size_t team = 0; team < competition.teams; ++team) {
        double strength = 1;
        for (const std::uint16_t* end = feature + competition.sizes[team]; feature != end; ++feature)
            strength *= strengths[*feature];
        chances[team] = strength;
        sum += strength;
    }
    const double share = 1 / sum;
    for (std::size_t team = 0; team < competition.teams; ++team) chances[team] *= share;
    return std::log(chances[competition.winner]);
}

/// Calls add(feature, wins less chance) for each feature of each team.
template <class Add>
void for_each_surprise(const Competition& competition, const std::vector<double>& chances, Add&& add) {
    const std::uint16_t* feature = competition.features;
    for (std::size_t team = 0; team < competition.teams; ++team) {
        const double surprise = (team == competition.winner) - chances[team];
        for (const std::uint16_t* end = feature + competition.sizes[team]; feature != end; ++feature)
            add(*feature, surprise);
    }
}

}  // namespace

std::size_t Competitions::size() const {
    std::size_t sum = 0;
    for (const auto& block : blocks) sum += block.teams.size();
    return sum;
}
std::size_t Competitions::teams() const {
    std::size_t sum = 0;
    for (const auto& block : blocks) sum += block.sizes.size();
    return sum;
}
std::size_t Competitions::bytes() const {
    std::size_t sum = 0;
    for (const auto& block : blocks) sum += 2 * block.features.size() + block.sizes.size() + 8 * block.teams.size();
    return sum;
}

namespace {

/// By feature: the sum over teams with it of the team's amount; and the log-likelihood. `replace` turns the chances of
/// a competition's teams into their amounts.
template <class Replace>
Expectation sum_over_teams(const Competitions& competitions, std::span<const double> strengths, unsigned threads,
                           const std::atomic<bool>& stop, Replace&& replace) {
    const std::size_t features = competitions.features;
    std::vector<Expectation> parts(lanes);
    for_each_lane(threads, [&](std::size_t lane) {
        Expectation& part = parts[lane];
        part.wins.resize(features);
        std::vector<double> chances;
        for (std::size_t i = lane; i < competitions.blocks.size(); i += lanes) {
            if (stop.load(std::memory_order_relaxed)) return;
            for_each_competition(competitions.blocks[i], [&](const Competition& competition) {
                part.log_likelihood += chances_of(competition, strengths.data(), chances);
                replace(competition, std::span(chances.data(), competition.teams));
                const std::uint16_t* feature = competition.features;
                for (std::size_t team = 0; team < competition.teams; ++team)
                    for (const std::uint16_t* end = feature + competition.sizes[team]; feature != end; ++feature)
                        part.wins[*feature] += chances[team];
            });
        }
    });
    Expectation whole{0, std::vector<double>(features)};
    for (const Expectation& part : parts) {
        whole.log_likelihood += part.log_likelihood;
        for (std::size_t i = 0; i < part.wins.size(); ++i) whole.wins[i] += part.wins[i];
    }
    return whole;
}

}  // namespace

Expectation expect(const Competitions& competitions, std::span<const double> strengths, unsigned threads,
                   const std::atomic<bool>& stop) {
    return sum_over_teams(competitions, strengths, threads, stop, [](const Competition&, std::span<double>) {});
}

std::vector<double> spread_of_wins(const Competitions& competitions, std::span<const double> strengths,
                                   unsigned threads, const std::atomic<bool>& stop) {
    const auto replace = [](const Competition&, std::span<double> chances) {
        for (double& chance : chances) chance *= 1 - chance;
    };
    return sum_over_teams(competitions, strengths, threads, stop, replace).wins;
}

std::vector<double> information_times(const Competitions& competitions, std::span<const double> strengths,
                                      std::span<const double> direction, unsigned threads,
                                      const std::atomic<bool>& stop) {
    // A team's chance changes by chance * (change of its log strength - mean change of the teams).
    const auto replace = [&](const Competition& competition, std::span<double> chances) {
        const std::uint16_t* feature = competition.features;
        double mean = 0;
        for (std::size_t team = 0; team < competition.teams; ++team) {
            double change = 0;
            for (const std::uint16_t* end = feature + competition.sizes[team]; feature != end; ++feature)
                change += direction[*feature];
            mean += chances[team] * change;
        }
        feature = competition.features;
        for (std::size_t team = 0; team < competition.teams; ++team) {
            double change = 0;
            for (const std::uint16_t* end = feature + competition.sizes[team]; feature != end; ++feature)
                change += direction[*feature];
            chances[team] *= change - mean;
        }
    };
    return sum_over_teams(competitions, strengths, threads, stop, replace).wins;
}

FeatureCounts count_features(const Competitions& competitions) {
    FeatureCounts counts{std::vector<std::int64_t>(competitions.features),
                         std::vector<std::int64_t>(competitions.features)};
    for (const auto& block : competitions.blocks)
        for_each_competition(block, [&](const Competition& competition) {
            const std::uint16_t* feature = competition.features;
            for (std::size_t team = 0; team < competition.teams; ++team)
                for (const std::uint16_t* end = feature + competition.sizes[team]; feature != end; ++feature) {
                    ++counts.teams[*feature];
                    counts.wins[*feature] += team == competition.winner;
                }
        });
    return counts;
}

std::vector<std::uint16_t> exclusive_groups(const Competitions& competitions) {
    const std::size_t features = competitions.features;
    const std::size_t words = (features + 63) / 64;
    std::vector<std::uint64_t> together(features * words);  // by feature: those that some team has beside it
    for (const auto& block : competitions.blocks) {
        const std::uint16_t* team = block.features.data();
        for (const std::uint8_t size : block.sizes) {
            for (std::size_t i = 0; i < size; ++i)
                for (std::size_t j = 0; j < size; ++j)
                    if (i != j) together[team[i] * words + team[j] / 64] |= std::uint64_t{1} << (team[j] % 64);
            team += size;
        }
    }
    constexpr std::uint16_t none = 0xffff;
    std::vector<std::uint16_t> groups(features, none);
    std::vector<bool> taken;
    for (std::size_t feature = 0; feature < features; ++feature) {
        taken.assign(features, false);
        for (std::size_t word = 0; word < words; ++word)
            for (std::uint64_t bits = together[feature * words + word]; bits; bits &= bits - 1) {
                const std::size_t other = 64 * word + static_cast<std::size_t>(__builtin_ctzll(bits));
                if (groups[other] != none) taken[groups[other]] = true;
            }
        groups[feature] = static_cast<std::uint16_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    }
    return groups;
}

std::vector<float> scores_by_game(const Competitions& competitions, std::span<const double> strengths,
                                  std::size_t features) {
    std::vector<float> scores(competitions.games * features);
    std::vector<double> chances;
    for (const auto& block : competitions.blocks)
        for_each_competition(block, [&](const Competition& competition) {
            chances_of(competition, strengths.data(), chances);
            float* own = scores.data() + competition.game * features;
            for_each_surprise(competition, chances, [&](std::size_t feature, double surprise) {
                if (feature < features) own[feature] += static_cast<float>(surprise);
            });
        });
    return scores;
}

std::vector<double> squared_scores(const Competitions& competitions, std::span<const double> strengths) {
    std::vector<double> squares(competitions.features);
    std::vector<double> own(competitions.features);
    std::vector<std::uint16_t> touched;
    std::vector<double> chances;
    for (const auto& block : competitions.blocks) {
        std::uint32_t game = 0;
        const auto finish = [&] {
            for (const std::uint16_t feature : touched) {
                squares[feature] += own[feature] * own[feature];
                own[feature] = 0;
            }
            touched.clear();
        };
        for_each_competition(block, [&](const Competition& competition) {
            if (competition.game != game) finish();
            game = competition.game;
            chances_of(competition, strengths.data(), chances);
            for_each_surprise(competition, chances, [&](std::uint16_t feature, double surprise) {
                if (own[feature] == 0) touched.push_back(feature);
                own[feature] += surprise;
            });
        });
        finish();
    }
    return squares;
}

std::vector<double> information(const Competitions& competitions, std::span<const double> strengths,
                                std::size_t features, std::size_t every, unsigned threads,
                                const std::atomic<bool>& stop) {
    std::vector<double> whole(features * features);
    constexpr std::size_t parts = 4;  // fewer than lanes: each is a matrix
    std::vector<std::vector<double>> by_part(parts, std::vector<double>(features * features));
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t part; (part = next++) < parts;) {
            std::vector<double>& matrix = by_part[part];
            std::vector<double> chances;
            std::vector<double> means(features);
            std::vector<std::uint16_t> met;
            for (std::size_t i = part; i < competitions.blocks.size(); i += parts) {
                std::size_t number = i;  // blocks begin at different places, so that no kind of position is left out
                for_each_competition(competitions.blocks[i], [&](const Competition& competition) {
                    if (stop.load(std::memory_order_relaxed) || number++ % every != 0) return;
                    chances_of(competition, strengths.data(), chances);
                    met.clear();
                    const std::uint16_t* team_features = competition.features;
                    for (std::size_t team = 0; team < competition.teams; ++team) {
                        const std::size_t size = competition.sizes[team];
                        const double chance = chances[team];
                        for (std::size_t a = 0; a < size; ++a) {
                            const std::uint16_t feature = team_features[a];
                            if (feature >= features) continue;
                            if (means[feature] == 0) met.push_back(feature);
                            means[feature] += chance;
                            for (std::size_t b = 0; b < size; ++b)
                                if (team_features[b] < features)
                                    matrix[feature * features + team_features[b]] += chance;
                        }
                        team_features += size;
                    }
                    for (const std::uint16_t a : met)
                        for (const std::uint16_t b : met) matrix[a * features + b] -= means[a] * means[b];
                    for (const std::uint16_t a : met) means[a] = 0;
                });
            }
        }
    };
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < std::min<std::size_t>(threads, parts); ++i) helpers.emplace_back(work);
        } catch (const std::system_error&) {
            // The machine gives no more threads: those that started do the work.
        }
        work();
    }
    for (const auto& matrix : by_part)
        for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += static_cast<double>(every) * matrix[i];
    return whole;
}

}  // namespace hyoka::strengths
