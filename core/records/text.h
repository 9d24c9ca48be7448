// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hyoka::records {

enum class Controls : std::uint8_t { blank, kept };
/// Appends `text` as valid UTF-8, wrong bytes as U+FFFD; control characters become blanks unless they are kept.
void append_utf8(std::vector<char>& to, std::string_view text, Controls controls = Controls::blank);
/// Appends text of several lines: they end in LF, and control characters other than that and tabs become blanks.
void append_words(std::string& to, std::string_view text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trimmed(std::string_view text);

std::optional<double> take_long_number(std::string_view& text);

/// Reads a decimal number such as `-1.25` from the start of `text` and removes it; nothing if there is none.
inline std::optional<double> take_number(std::string_view& text) {
    // Nearly all are whole and short; records have millions.
    constexpr std::size_t most = 6;
    const bool negative = !text.empty() && text[0] == '-';
    int whole = 0;
    std::size_t i = negative;
    for (; i < text.size() && i < most && is_digit(text[i]); ++i) whole = 10 * whole + (text[i] - '0');
    if (i == negative || (i < text.size() && (is_digit(text[i]) || text[i] == '.'))) return take_long_number(text);
    text.remove_prefix(i);
    return negative ? -whole : whole;
}
/// The same when nothing else may follow.
std::optional<double> number_in(std::string_view text);
/// `1:02:03.5`, `02:03` or `3.5` as seconds, taken from the start of `text`.
std::optional<double> take_duration(std::string_view& text);
/// The same when nothing else may follow.
std::optional<double> duration_in(std::string_view text);

/// Whether a number right before `rest` ends there: `1.5` does before ` x`, `%` or `, 2`, but not before `x`, `e3`,
/// `.5` or `,5`.
bool ends_number(std::string_view rest);
/// Removes and returns what comes before the first of `ends`, without blanks around it; `ends` stay.
std::string_view take_until(std::string_view& text, std::string_view ends);

/// Whether `text` starts with `prefix`, ASCII letters alike in either case.
bool starts_with_word(std::string_view text, std::string_view prefix);
bool equal_words(std::string_view a, std::string_view b);

/// The line that starts `text`, without its end (LF, CR LF or CR), which is removed as well.
std::string_view take_line(std::string_view& text);

}  // namespace hyoka::records
