// SPDX-License-Identifier: Apache-2.0
#include "records/sgf_analysis.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "records/commands.h"
#include "records/inflate.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr auto nowhere = std::string_view::npos;

std::size_t blanks_end(std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

/// Where the string of JSON ends that begins with the quote at `at`: behind its other quote.
std::size_t string_end(std::string_view text, std::size_t at) {
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            return at + 1;
    }
    return nowhere;
}

/// Where a value of JSON ends that begins at `at`: before what follows it.
std::size_t json_end(std::string_view text, std::size_t at) {
    for (int depth = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') {
            at = string_end(text, at);
            if (at == nowhere) return nowhere;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        ++at;
    }
    return at;
}

/// A member of an object in JSON, verbatim; empty if there is none.
std::string_view member(std::string_view object, std::string_view name) {
    std::size_t at = blanks_end(object, 0);
    if (at >= object.size() || object[at] != '{') return {};
    for (;;) {
        at = blanks_end(object, at + 1);
        if (at >= object.size() || object[at] != '"') return {};
        const std::size_t end = string_end(object, at);
        if (end == nowhere) return {};
        const bool is_found = object.substr(at + 1, end - at - 2) == name;
        at = blanks_end(object, end);
        if (at >= object.size() || object[at] != ':') return {};
        at = blanks_end(object, at + 1);
        const std::size_t value_end = json_end(object, at);
        if (value_end == nowhere) return {};
        if (is_found) return trimmed(object.substr(at, value_end - at));
        at = value_end;
        if (at >= object.size() || object[at] != ',') return {};
    }
}

std::string_view next_word(std::string_view& text) {
    text = trimmed(text);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

bool is_share(std::optional<double> number) { return number && *number >= 0 && *number <= 1; }

/// `845`, `1.2k`, `13k` or `12.3m`.
std::int64_t playouts_in(std::string_view text) {
    double unit = 1;
    if (!text.empty() && (text.back() == 'k' || text.back() == 'm')) {
        unit = text.back() == 'k' ? 1e3 : 1e6;
        text.remove_suffix(1);
    }
    const auto number = number_in(text);
    return number && *number > 0 && *number < 1e9 ? std::llround(*number * unit) : 0;
}

}  // namespace

std::optional<SgfAnalysis> katrain_analysis(std::string_view value) {
    // JSON shrinks to a tenth; what grows more than a hundredfold is no analysis.
    constexpr std::size_t most = 1 << 20;
    constexpr std::size_t most_times = 100;
    const auto packed = base64_bytes(value);
    if (!packed) return std::nullopt;
    const auto json = gunzip(*packed, std::min(most, most_times * packed->size()));
    if (!json) return std::nullopt;
    const std::string_view root = member(*json, "root");
    const auto winrate = number_in(member(root, "winrate"));
    if (!is_share(winrate)) return std::nullopt;
    return SgfAnalysis{*winrate, number_in(member(root, "scoreLead")), nodes_in(member(root, "visits")).value_or(0)};
}

std::optional<SgfAnalysis> lizzie_analysis(std::string_view value) {
    std::string_view line = take_line(value);
    next_word(line);  // the program
    std::string percent(next_word(line).substr(0, 40));
    std::replace(percent.begin(), percent.end(), ',', '.');  // some locales
    const auto winrate = number_in(percent);
    const std::int64_t playouts = playouts_in(next_word(line));
    if (!winrate || *winrate < 0 || *winrate > 100 || playouts == 0) return std::nullopt;
    const auto score = number_in(next_word(line));
    return SgfAnalysis{*winrate / 100, score ? std::optional(0 - *score) : std::nullopt, playouts};
}

std::optional<SgfAnalysis> self_play_analysis(std::string_view comment) {
    // Words may come before the numbers: `Pass for ko 0.53 …`.
    const auto visits_at = comment.find(" v=");
    if (visits_at == nowhere) return std::nullopt;
    std::string_view rest = comment.substr(visits_at + 3);
    const auto visits = nodes_in(next_word(rest));
    rest = comment.substr(0, visits_at);
    double numbers[4];
    for (int i = 3; i >= 0; --i) {
        const auto blank = rest.rfind(' ');
        const auto number = number_in(rest.substr(blank == nowhere ? 0 : blank + 1));
        if (!number || (blank == nowhere && i > 0)) return std::nullopt;
        numbers[i] = *number;
        rest = rest.substr(0, blank == nowhere ? 0 : blank);
    }
    const auto [win, loss, no_result, points] = numbers;
    constexpr double rounding = 0.02;
    const bool are_chances = is_share(win) && is_share(loss) && is_share(no_result);
    if (!visits || !are_chances || std::abs(win + loss + no_result - 1) > rounding) return std::nullopt;
    return SgfAnalysis{std::clamp(win + no_result / 2, 0.0, 1.0), points, *visits};
}

}  // namespace hyoka::records
