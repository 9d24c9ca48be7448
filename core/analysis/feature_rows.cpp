// SPDX-License-Identifier: Apache-2.0
#include "analysis/feature_rows.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace hyoka::analysis {
namespace {

/// Sums use a fixed number of parts for every number of threads, so that rounding is identical.
constexpr std::size_t lanes = 16;
/// The same where a part is a whole matrix.
constexpr std::size_t matrix_lanes = 4;

/// Calls work(lane, begin, end) with each lane's share of the rows.
template <class Work>
void for_each_lane(std::size_t count, std::size_t rows, unsigned threads, Work&& work) {
    std::atomic<std::size_t> next = 0;
    const auto some = [&] {
        for (std::size_t lane; (lane = next++) < count;) work(lane, rows * lane / count, rows * (lane + 1) / count);
    };
    std::vector<std::jthread> helpers;
    try {
        for (unsigned i = 1; i < std::min<std::size_t>(threads, count); ++i) helpers.emplace_back(some);
    } catch (const std::system_error&) {
        // The machine gives no more threads: those that started do the work.
    }
    some();
}

double score_of(const FeatureRows& rows, const double* weights, std::size_t row) {
    const std::int64_t begin = rows.starts[row], end = rows.starts[row + 1];
    double score = rows.rest.empty() ? 0 : weights[rows.width() - 1] * rows.rest[row];
    if (rows.ending.empty()) {
        for (std::int64_t i = begin; i < end; ++i) score += weights[rows.features[i]] * rows.amounts[i];
        return score;
    }
    double opening = 0, ending = 0;
    for (std::int64_t i = begin; i < end; ++i) {
        const double* pair = weights + 2 * rows.features[i];
        opening += pair[0] * rows.amounts[i];
        ending += pair[1] * rows.amounts[i];
    }
    const double late = rows.ending[row];
    return score + (1 - late) * opening + late * ending;
}

/// Loss of a row with its first and second derivatives by the score.
struct AtScore {
    double loss, pull, bend;
};

AtScore at_score(double score, double target, Loss loss, bool exact) {
    const double tail = std::exp(-std::fabs(score));  // never overflows
    const double win = score >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
    const double slope = tail / ((1 + tail) * (1 + tail));
    if (loss == Loss::logarithmic)
        return {std::log1p(tail) + std::max(score, 0.0) - target * score, target - win, slope};
    const double missing = target - win;
    const double bend = slope * slope - (exact ? missing * slope * (1 - 2 * win) : 0);
    return {missing * missing, 2 * missing * slope, 2 * bend};
}

/// Adds `amount` times what the row has of each weight.
void add_row(const FeatureRows& rows, std::size_t row, double amount, double* sums) {
    const std::int64_t begin = rows.starts[row], end = rows.starts[row + 1];
    if (!rows.rest.empty()) sums[rows.width() - 1] += amount * rows.rest[row];
    if (rows.ending.empty()) {
        for (std::int64_t i = begin; i < end; ++i) sums[rows.features[i]] += amount * rows.amounts[i];
        return;
    }
    const double late = amount * rows.ending[row], early = amount - late;
    for (std::int64_t i = begin; i < end; ++i) {
        double* pair = sums + 2 * rows.features[i];
        pair[0] += early * rows.amounts[i];
        pair[1] += late * rows.amounts[i];
    }
}

bool counts(const FeatureRows& rows, std::size_t row) { return rows.used.empty() || rows.used[row] != 0; }

/// Adds the products of what a row has of any two weights, in the matrix's upper half.
void add_products(const FeatureRows& rows, std::size_t row, double bend, double* matrix) {
    const std::size_t width = rows.width();
    const std::int64_t begin = rows.starts[row], end = rows.starts[row + 1];
    if (rows.ending.empty()) {
        for (std::int64_t i = begin; i < end; ++i) {
            const double amount = bend * rows.amounts[i];
            double* line = matrix + rows.features[i] * width;
            for (std::int64_t j = i; j < end; ++j) line[rows.features[j]] += amount * rows.amounts[j];
            if (!rows.rest.empty()) line[width - 1] += amount * rows.rest[row];
        }
    } else {
        const double late = rows.ending[row], early = 1 - late;
        for (std::int64_t i = begin; i < end; ++i) {
            const double amount = bend * rows.amounts[i];
            double* opening = matrix + 2 * rows.features[i] * width;
            double* ending = opening + width;
            const double early_early = amount * early * early, mixed = amount * early * late,
                         late_late = amount * late * late;
            for (std::int64_t j = i; j < end; ++j) {
                const std::size_t at = 2 * rows.features[j];
                const double other = rows.amounts[j];
                opening[at] += early_early * other;
                opening[at + 1] += mixed * other;
                ending[at] += mixed * other;
                ending[at + 1] += late_late * other;
            }
            if (!rows.rest.empty()) {
                opening[width - 1] += amount * early * rows.rest[row];
                ending[width - 1] += amount * late * rows.rest[row];
            }
        }
    }
    if (!rows.rest.empty()) matrix[width * width - 1] += bend * rows.rest[row] * rows.rest[row];
}

}  // namespace

void check(const FeatureRows& rows) {
    const auto fail = [](const char* what) { throw std::invalid_argument(what); };
    if (rows.starts.empty() || rows.starts.front() != 0) fail("starts begin with 0");
    const std::size_t size = rows.size();
    if (rows.features.size() != rows.amounts.size()) fail("features and amounts differ in length");
    if (static_cast<std::size_t>(rows.starts.back()) != rows.features.size()) fail("starts don't end where rows do");
    if (rows.targets.size() != size || (!rows.ending.empty() && rows.ending.size() != size) ||
        (!rows.rest.empty() && rows.rest.size() != size) || (!rows.used.empty() && rows.used.size() != size))
        fail("columns differ in length");
    if (rows.feature_count > 65'536) fail("there are more features than 65,536");
    for (std::size_t row = 0; row < size; ++row) {
        if (rows.starts[row] > rows.starts[row + 1] || rows.starts[row + 1] > rows.starts.back())
            fail("starts must not fall");
        for (std::int64_t i = rows.starts[row]; i < rows.starts[row + 1]; ++i) {
            if (rows.features[i] >= rows.feature_count) fail("a feature is beyond their number");
            if (i > rows.starts[row] && rows.features[i] <= rows.features[i - 1])
                fail("features must rise within a row");
            if (!std::isfinite(rows.amounts[i])) fail("an amount is not finite");
        }
        if (!(rows.targets[row] >= 0 && rows.targets[row] <= 1)) fail("targets are from 0 to 1");
        if (!rows.ending.empty() && !(rows.ending[row] >= 0 && rows.ending[row] <= 1)) fail("phases are from 0 to 1");
        if (!rows.rest.empty() && !std::isfinite(rows.rest[row])) fail("a score is not finite");
    }
}

std::vector<double> scores(const FeatureRows& rows, std::span<const double> weights, unsigned threads) {
    std::vector<double> found(rows.size());
    for_each_lane(lanes, rows.size(), threads, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) found[row] = score_of(rows, weights.data(), row);
    });
    return found;
}

LossSlope loss_slope(const FeatureRows& rows, std::span<const double> weights, Loss loss, unsigned threads) {
    const std::size_t width = rows.width();
    std::vector<LossSlope> parts(lanes);
    for (LossSlope& part : parts) part.gradient.assign(width, 0);
    for_each_lane(lanes, rows.size(), threads, [&](std::size_t lane, std::size_t begin, std::size_t end) {
        LossSlope& part = parts[lane];
        for (std::size_t row = begin; row < end; ++row) {
            if (!counts(rows, row)) continue;
            const AtScore at = at_score(score_of(rows, weights.data(), row), rows.targets[row], loss, false);
            part.loss += at.loss;
            ++part.rows;
            add_row(rows, row, -at.pull, part.gradient.data());
        }
    });
    LossSlope sum{0, std::vector<double>(width), 0};
    for (const LossSlope& part : parts) {
        sum.loss += part.loss;
        sum.rows += part.rows;
        for (std::size_t i = 0; i < width; ++i) sum.gradient[i] += part.gradient[i];
    }
    return sum;
}

std::vector<double> curvature(const FeatureRows& rows, std::span<const double> weights, Loss loss, bool exact,
                              std::size_t step, unsigned threads) {
    const std::size_t width = rows.width();
    std::vector<std::vector<double>> parts(matrix_lanes);
    for (auto& part : parts) part.assign(width * width, 0);
    for_each_lane(matrix_lanes, rows.size(), threads, [&](std::size_t lane, std::size_t begin, std::size_t end) {
        for (std::size_t row = (begin + step - 1) / step * step; row < end; row += step) {
            if (!counts(rows, row)) continue;
            const AtScore at = at_score(score_of(rows, weights.data(), row), rows.targets[row], loss, exact);
            add_products(rows, row, at.bend, parts[lane].data());
        }
    });
    std::vector<double> sum(width * width);
    for (const auto& part : parts)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    for (std::size_t i = 0; i < width; ++i)
        for (std::size_t j = i; j < width; ++j) {
            // Two phases of one feature stand below each other, too: there both halves are filled already.
            const double product = static_cast<double>(step) * sum[i * width + j];
            sum[i * width + j] = sum[j * width + i] = product;
        }
    return sum;
}

std::vector<std::int64_t> occurrences(const FeatureRows& rows, std::size_t step) {
    std::vector<std::int64_t> found(rows.feature_count);
    for (std::size_t row = 0; row < rows.size(); row += step) {
        if (!counts(rows, row)) continue;
        for (std::int64_t i = rows.starts[row]; i < rows.starts[row + 1]; ++i)
            found[rows.features[i]] += rows.amounts[i] != 0;
    }
    return found;
}

std::vector<double> pulls(const FeatureRows& rows, std::span<const double> weights, Loss loss,
                          std::span<const std::uint32_t> games, std::size_t begin, std::size_t end,
                          std::uint32_t first_game, std::uint32_t game_count) {
    const std::size_t width = rows.width();
    std::vector<double> found(game_count * width);
    for (std::size_t row = begin; row < end; ++row) {
        if (!counts(rows, row)) continue;
        const AtScore at = at_score(score_of(rows, weights.data(), row), rows.targets[row], loss, false);
        add_row(rows, row, at.pull, found.data() + (games[row] - first_game) * width);
    }
    return found;
}

}  // namespace hyoka::analysis
