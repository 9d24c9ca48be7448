// SPDX-License-Identifier: Apache-2.0
#include "records/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace hyoka::records {

namespace {

/// How many bytes the UTF-8 character at the start of `text` has; 0 if it is none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const unsigned low = first == 0xe0 ? 0xa0 : 0x80;   // no longer than needed
        const unsigned high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
        return follows(1, low, high) && follows(2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const unsigned low = first == 0xf0 ? 0x90 : 0x80;
        const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
        return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; }

}  // namespace

void append_utf8(std::vector<char>& to, std::string_view text, Controls controls) {
    const bool kept = controls == Controls::kept;
    const bool plain =
        kept ? std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) >= 0; })
             : std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; });
    if (plain) {
        to.insert(to.end(), text.begin(), text.end());
        return;
    }
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            to.insert(to.end(), {'\xef', '\xbf', '\xbd'});
            text.remove_prefix(1);
        } else if (!kept && length == 1 && (static_cast<unsigned char>(text[0]) < ' ' || text[0] == 127)) {
            to.push_back(' ');
            text.remove_prefix(1);
        } else {
            to.insert(to.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
            text.remove_prefix(length);
        }
    }
}

void append_words(std::string& to, std::string_view text) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
    if (std::none_of(text.begin(), text.end(), is_control)) {
        to += text;
        return;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i).starts_with("\r\n")) continue;
        to += is_control(text[i]) && text[i] != '\n' && text[i] != '\t' ? ' ' : text[i];
    }
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::optional<double> take_long_number(std::string_view& text) {
    const std::size_t begin = !text.empty() && text[0] == '+';
    const std::size_t unsigned_at = begin + (begin == 0 && !text.empty() && text[0] == '-');
    if (unsigned_at >= text.size() || !(is_digit(text[unsigned_at]) || text[unsigned_at] == '.')) return std::nullopt;
    double value = 0;
    const char* const end = text.data() + std::min<std::size_t>(text.size(), 400);
    const auto [stop, error] = std::from_chars(text.data() + begin, end, value, std::chars_format::fixed);
    if (error != std::errc{} || !(std::abs(value) < 1e15)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    return value;
}

std::optional<double> number_in(std::string_view text) {
    text = trimmed(text);
    const auto value = take_number(text);
    return text.empty() ? value : std::nullopt;
}

std::optional<double> take_duration(std::string_view& text) {
    auto total = take_number(text);
    while (total && text.size() > 1 && text[0] == ':' && is_digit(text[1])) {
        text.remove_prefix(1);
        const auto part = take_number(text);
        if (!part) return std::nullopt;
        total = 60 * *total + *part;
    }
    return total;
}

std::optional<double> duration_in(std::string_view text) {
    text = trimmed(text);
    const auto duration = take_duration(text);
    return text.empty() && duration && *duration >= 0 ? duration : std::nullopt;
}

bool ends_number(std::string_view rest) {
    if (rest.empty()) return true;
    const char c = rest[0];
    if (is_digit(c) || c == '_' || (lower(c) >= 'a' && lower(c) <= 'z')) return false;
    return !((c == '.' || c == ',') && rest.size() > 1 && is_digit(rest[1]));
}

std::string_view take_until(std::string_view& text, std::string_view ends) {
    const auto end = std::min(text.find_first_of(ends), text.size());
    const std::string_view word = trimmed(text.substr(0, end));
    text.remove_prefix(end);
    return word;
}

bool starts_with_word(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() && equal_words(text.substr(0, prefix.size()), prefix);
}

bool equal_words(std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view take_line(std::string_view& text) {
    const auto end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (text.starts_with("\r\n"))
        text.remove_prefix(2);
    else if (!text.empty())
        text.remove_prefix(1);
    return line;
}

}  // namespace hyoka::records
