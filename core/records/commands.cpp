// SPDX-License-Identifier: Apache-2.0
#include "records/commands.h"

#include <algorithm>

#include "records/text.h"

namespace hyoka::records {

namespace {

std::int16_t small(double number, double most) { return static_cast<std::int16_t>(std::clamp(number, -most, most)); }

}  // namespace

PawnScore take_pawn_score(std::string_view& text) {
    PawnScore score;
    std::string_view rest = text;
    bool negative = false;
    bool mate = false;
    for (; !rest.empty() && !is_digit(rest[0]) && rest[0] != '.'; rest.remove_prefix(1)) {
        if (rest[0] == '-') {
            negative = true;
        } else if (rest[0] == '#' || rest[0] == 'M') {
            mate = true;
        } else if (rest.starts_with("mate")) {
            mate = true;
            rest.remove_prefix(3);
        } else if (rest[0] != '+') {
            return score;
        }
    }
    const auto number = take_number(rest);
    if (!number) return score;
    text = rest;
    if (mate)
        score.mate = small(negative ? -*number : *number, 9999);
    else
        score.pawns = negative ? -*number : *number;
    return score;
}

void set_score(Remark& remark, const PawnScore& score, bool turned, Author author) {
    if (score.mate || score.pawns) remark.said_by(author);
    if (score.mate)
        remark.mate = static_cast<std::int16_t>(turned ? -score.mate : score.mate);
    else if (score.pawns)
        remark.score = static_cast<float>(100 * (turned ? 0 - *score.pawns : *score.pawns));
}

bool read_commands(std::string_view comment, Record& record) {
    bool any = false;
    for (auto at = comment.find("[%"); at != std::string_view::npos; at = comment.find("[%", at + 2)) {
        std::string_view rest = comment.substr(at + 2);
        const auto blank = rest.find_first_of(" \t\r\n");
        if (blank == std::string_view::npos) break;
        const std::string_view name = rest.substr(0, blank);
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n", blank), rest.size()));
        any = true;
        const auto number = [&](auto&& use) {
            if (const auto value = take_number(rest)) use(*value);
        };
        const auto said = [&]() -> Remark& {
            record.remark().said_by(Author::unknown);
            return record.remark();
        };
        if (name == "eval") {
            Remark& remark = record.remark();
            set_score(remark, take_pawn_score(rest), false, Author::unknown);
            if (rest.starts_with(",")) {
                rest.remove_prefix(1);
                number([&](double depth) { remark.depth = small(depth, 9999); });
            }
        } else if (name == "clk") {
            if (const auto left = take_duration(rest)) record.remark().clock_s = static_cast<float>(*left);
        } else if (name == "emt") {
            if (const auto spent = take_duration(rest)) record.remark().spent_s = static_cast<float>(*spent);
        } else if (name == "value") {
            number([&](double value) { said().value = static_cast<float>(std::clamp(value, 0.0, 1.0)); });
        } else if (name == "score") {
            number([&](double score) { said().score = static_cast<float>(score); });
        } else if (name == "mate") {
            number([&](double mate) { said().mate = small(mate, 9999); });
        } else if (name == "depth") {
            number([&](double depth) { record.remark().depth = small(depth, 9999); });
        } else if (name == "book") {
            record.remark().book = true;
        } else if (name == "author") {
            for (std::size_t i = 0; i < author_names.size(); ++i)
                if (rest.starts_with(author_names[i])) record.remark().author = static_cast<Author>(i);
        }
    }
    return any;
}

}  // namespace hyoka::records
