// SPDX-License-Identifier: Apache-2.0
#include "mets/top.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

namespace hyoka::mets {
namespace {

/// Points of the sample that came somewhere: moves, and how many other points (times `others_each`). Whole numbers:
/// the sum does not depend on the order.
struct Came {
    std::uint64_t moves = 0;
    std::uint64_t others = 0;
};
using ByAnswer = std::array<Came, state_count>;

/// How well it is known there which points are moves: a log likelihood, 0 if they all are or none is.
double certainty(const Came& came) {
    const auto moves = static_cast<double>(came.moves);
    const double others = static_cast<double>(came.others) / Sample::others_each;
    const double all = moves + others;
    return (moves > 0 ? moves * std::log(moves / all) : 0) + (others > 0 ? others * std::log(others / all) : 0);
}

class TopGrower {
public:
    TopGrower(const Sample& sample, const Asking& how) : sample_(sample), how_(how) {}

    Top grow() {
        std::vector<std::uint32_t> ids;  // position * (others_each + 1), and 0 for the move, 1… for the others
        for (std::size_t at = 0; at < sample_.played.size(); ++at)
            if (sample_.weights[at] > 0)
                for (std::size_t i = 0; i <= Sample::others_each; ++i)
                    ids.push_back(static_cast<std::uint32_t>(at * (Sample::others_each + 1) + i));
        top_.ends = 0;
        top_.root = ask(ids);
        return std::move(top_);
    }

private:
    static bool is_move(std::uint32_t id) { return id % (Sample::others_each + 1) == 0; }
    Answers answers(std::uint32_t id) const {
        const std::size_t at = id / (Sample::others_each + 1);
        const std::size_t which = id % (Sample::others_each + 1);
        return which == 0 ? sample_.played[at] : sample_.others[at * Sample::others_each + which - 1];
    }

    Branch ask(std::span<std::uint32_t> ids) {
        const auto question = most_telling(ids);
        if (!question) return leaf_bit | top_.ends++;
        const auto node = static_cast<std::uint32_t>(top_.nodes.size());
        top_.nodes.push_back({.children = {nowhere, nowhere, nowhere, nowhere},
                              .question = static_cast<std::uint16_t>(question_count + *question)});
        auto begin = ids.begin();
        for (unsigned answer = 0; answer < state_count; ++answer) {
            const auto end = std::stable_partition(
                begin, ids.end(), [&](std::uint32_t id) { return answer_to(answers(id), *question) == answer; });
            // Where none of the sample came some move of all games may: it goes on by stones.
            const Branch below = begin == end ? leaf_bit | top_.ends++ : ask({begin, end});
            top_.nodes[node].children[answer] = below;
            begin = end;
        }
        return node;
    }

    std::optional<std::size_t> most_telling(std::span<const std::uint32_t> ids) const {
        std::vector<ByAnswer> came(how_.questions);
        Came all;
        for (const std::uint32_t id : ids) {
            const Answers said = answers(id);
            const bool move = is_move(id);
            const std::uint64_t weight = move ? 0 : sample_.weights[id / (Sample::others_each + 1)];
            all.moves += move;
            all.others += weight;
            for (std::size_t question = 0; question < how_.questions; ++question) {
                Came& there = came[question][answer_to(said, question)];
                there.moves += move;
                there.others += weight;
            }
        }
        if (all.moves < how_.least) return std::nullopt;
        std::optional<std::size_t> best;
        double most = how_.gain * static_cast<double>(all.moves);
        for (std::size_t question = 0; question < how_.questions; ++question) {
            double gain = -certainty(all);
            for (const Came& there : came[question]) gain += certainty(there);
            if (gain > most) {
                most = gain;
                best = question;
            }
        }
        return best;
    }

    const Sample& sample_;
    const Asking& how_;
    Top top_;
};

}  // namespace

Top grow_top(const Sample& sample, const Asking& how) { return TopGrower(sample, how).grow(); }

}  // namespace hyoka::mets
