// SPDX-License-Identifier: Apache-2.0
#include "records/commands.h"

#include <algorithm>
#include <cmath>

#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr double most_moves = 9999;

/// A whole number from `low` to 9999.
std::optional<std::int16_t> count_in(std::string_view text, double low) {
    const auto number = number_in(text);
    if (!number || *number != std::floor(*number) || *number < low || *number > most_moves) return std::nullopt;
    return static_cast<std::int16_t>(*number);
}

bool take_sign(std::string_view& text, bool& negative) {
    if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
    negative = text[0] == '-';
    text.remove_prefix(1);
    return true;
}

bool take_mate_mark(std::string_view& text) {
    for (const std::string_view mark : {"#", "mate", "M"}) {
        if (!text.starts_with(mark)) continue;
        text.remove_prefix(mark.size());
        return true;
    }
    return false;
}

}  // namespace

std::optional<std::int16_t> depth_in(std::string_view text) { return count_in(text, 0); }

std::optional<std::int64_t> nodes_in(std::string_view text) {
    const auto number = number_in(text);
    if (!number || *number != std::floor(*number) || *number < 0 || *number > 1e15) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

std::optional<PawnScore> pawn_score_in(std::string_view text, MateUnit unit) {
    text = trimmed(text);
    bool negative = false;
    bool has_sign = take_sign(text, negative);
    const bool is_mate = take_mate_mark(text);
    if (is_mate && !has_sign) has_sign = take_sign(text, negative);
    if (text.empty() || text[0] == '+' || text[0] == '-') return std::nullopt;
    PawnScore score;
    if (is_mate) {
        const auto distance = count_in(text, 1);
        if (!distance) return std::nullopt;
        const int moves = unit == MateUnit::plies ? (*distance + 1) / 2 : *distance;
        score.mate = negative ? -moves : moves;
    } else {
        const auto pawns = number_in(text);
        if (!pawns) return std::nullopt;
        score.pawns = negative ? -*pawns : *pawns;
    }
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
        std::string_view word = take_until(rest, " \t\r\n,]");
        // Uses the number that the word is; a word that is none is counted.
        const auto read = [&](const auto& number, auto&& use) {
            if (number)
                use(*number);
            else if (!word.empty())
                record.note_unreadable(comment.substr(at, comment.find(']', at) - at + 1));
        };
        const auto said = [&]() -> Remark& {
            record.remark().said_by(Author::unknown);
            return record.remark();
        };
        const auto set_depth = [&](std::int16_t depth) { record.remark().depth = depth; };
        if (name == "eval") {
            read(pawn_score_in(word),
                 [&](const PawnScore& score) { set_score(record.remark(), score, false, Author::unknown); });
            if (rest.starts_with(",")) {
                rest.remove_prefix(1);
                word = take_until(rest, ",]");
                read(depth_in(word), set_depth);
            }
        } else if (name == "clk") {
            read(duration_in(word), [&](double left) { record.remark().clock_s = static_cast<float>(left); });
        } else if (name == "emt") {
            read(duration_in(word), [&](double spent) { record.remark().spent_s = static_cast<float>(spent); });
        } else if (name == "value") {
            const auto value = number_in(word);
            const bool is_value = value && *value >= 0 && *value <= 1;
            read(is_value ? value : std::nullopt, [&](double v) { said().value = static_cast<float>(v); });
        } else if (name == "score") {
            read(number_in(word), [&](double score) { said().score = static_cast<float>(score); });
        } else if (name == "mate") {
            const auto mate = count_in(word, -most_moves);
            read(mate && *mate != 0 ? mate : std::nullopt, [&](std::int16_t moves) { said().mate = moves; });
        } else if (name == "depth") {
            read(depth_in(word), set_depth);
        } else if (name == "nodes") {
            read(nodes_in(word), [&](std::int64_t nodes) { record.remark().nodes = nodes; });
        } else if (name == "book") {
            record.remark().book = true;
        } else if (name == "author") {
            for (std::size_t i = 0; i < author_names.size(); ++i)
                if (word == author_names[i]) record.remark().author = static_cast<Author>(i);
        }
    }
    return any;
}

}  // namespace hyoka::records
