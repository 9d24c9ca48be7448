// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mets/questions.h"

namespace hyoka::mets {

/// Tactical questions about a point. Up to four answers; what has more comes as several
/// questions, each of which tells some apart.
struct TacticalQuestion {
    std::string about;
    std::array<std::string_view, state_count> answers;  // unused ones are empty
};

/// The answers to all of a game's tactical questions about a point, two bits each.
using Answers = std::uint64_t;
inline constexpr std::size_t most_tactical_questions = 32;

constexpr unsigned answer_to(Answers answers, std::size_t question) {
    return static_cast<unsigned>(answers >> (2 * question)) & 3u;
}

/// Which band a number is in: below the first bound, below the second, …
constexpr unsigned band(int number, std::array<int, state_count - 1> bounds) {
    unsigned answer = 0;
    for (const int bound : bounds) answer += number >= bound;
    return answer;
}

/// Puts answers together: each question is answered once.
class AnswerSheet {
public:
    void put(std::size_t question, unsigned answer) { all_ |= static_cast<Answers>(answer) << (2 * question); }
    Answers all() const { return all_; }

private:
    Answers all_ = 0;
};

/// The tactics of a game whose moves are points: `questions()`, and `answer(game, context, of_points)`, which answers
/// them for every empty point. One a thread: it may keep room to work in.
template <class G>
struct Tactical {};

/// Fingerprint of a list of questions; trees refer to questions by number.
std::uint64_t fingerprint(const std::vector<TacticalQuestion>& questions);

}  // namespace hyoka::mets
