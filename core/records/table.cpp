// SPDX-License-Identifier: Apache-2.0
#include "records/table.h"

#include <algorithm>
#include <numeric>

#include "records/text.h"

namespace hyoka::records {

namespace {

std::uint32_t end_of(const std::string& words) { return static_cast<std::uint32_t>(words.size()); }

}  // namespace

void Record::clear() {
    for (std::string& field : fields) field.clear();
    komi = std::numeric_limits<double>::quiet_NaN();
    handicap = 0;
    winner = Winner::unknown;
    ending = Ending::unknown;
    margin = no_number;
    moves.clear();
    remarks.clear();
    tags.clear();
    tag_words.clear();
    texts.clear();
    properties.clear();
    nags.clear();
    unreadable = 0;
}

void Record::note_unreadable(std::string_view text, std::size_t ply) {
    constexpr std::size_t longest = 40;
    if (unreadable++ > 0) return;
    first_unreadable = text.substr(0, longest);
    first_unreadable_ply = static_cast<std::int32_t>(ply);
}

void Record::add_tag(std::string_view name, std::string_view value) {
    if (name.empty()) return;
    if (!tags.empty() && name_of(tags.back()) == name) {
        tag_words += value_separator;
    } else {
        Tag& tag = tags.emplace_back();
        tag.name.begin = end_of(tag_words);
        append_words(tag_words, name);
        tag.value.begin = end_of(tag_words);
        tag.name.size = tag.value.begin - tag.name.begin;
    }
    append_words(tag_words, value);
    tags.back().value.size = end_of(tag_words) - tags.back().value.begin;
}

void Record::add_text(Remark& remark, std::string_view text, char separator) {
    if (text.empty()) return;
    if (remark.text.size == 0)
        remark.text.begin = end_of(texts);
    else
        texts += separator;
    append_words(texts, text);
    remark.text.size = end_of(texts) - remark.text.begin;
}

void Record::add_property(Remark& remark, std::string_view name, std::string_view value) {
    if (remark.properties.size == 0) remark.properties.begin = end_of(properties);
    properties += name;
    properties += '[';
    append_words(properties, value);
    properties += ']';
    remark.properties.size = end_of(properties) - remark.properties.begin;
}

void Record::add_nag(std::uint16_t nag) {
    Remark& said = remark();
    if (said.nags.size == 0) said.nags.begin = static_cast<std::uint32_t>(nags.size());
    nags.push_back(nag);
    ++said.nags.size;
}

void TextColumn::add(std::string_view text) {
    append_utf8(bytes, text);
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
}

void TextColumn::add_words(std::string_view words) {
    append_utf8(bytes, words, Controls::kept);
    offsets.push_back(static_cast<std::int32_t>(bytes.size()));
}

void Table::add(const Record& record, std::int64_t line_of_game, std::int64_t number_of_game) {
    game.push_back(static_cast<std::uint8_t>(record.game));
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i].add(record.fields[i]);
    komi.push_back(record.komi);
    handicap.push_back(record.handicap);
    winner.push_back(static_cast<std::int8_t>(record.winner));
    ending.push_back(static_cast<std::uint8_t>(record.ending));
    margin.push_back(record.margin);
    line.push_back(line_of_game);
    number.push_back(number_of_game);
    moves.insert(moves.end(), record.moves.begin(), record.moves.end());
    move_offsets.push_back(static_cast<std::int64_t>(moves.size()));
    add_remarks(record);
    add_tags(record);
    unreadable.push_back(static_cast<std::int32_t>(record.unreadable));
    constexpr std::size_t most_kept = 20;
    if (record.unreadable && first_unreadable.size() < most_kept)
        first_unreadable.push_back(
            {line_of_game, number_of_game, record.first_unreadable_ply, record.first_unreadable});
}

void Table::add_remarks(const Record& record) {
    if (remarks.empty() && !record.remarks.empty()) remarks.reserve(moves.capacity() / 2);
    for (const Remark& remark : record.remarks) {
        if (!remark.says_anything()) continue;
        remarks.push_back(remark);
        remark_texts.add_words(record.text_of(remark));
        remark_properties.add_words(record.properties_of(remark));
        const auto first = record.nags.begin() + remark.nags.begin;
        nags.insert(nags.end(), first, first + remark.nags.size);
        nag_offsets.push_back(static_cast<std::int32_t>(nags.size()));
    }
    remark_offsets.push_back(static_cast<std::int64_t>(remarks.size()));
}

/// Each name once: what comes again under it goes behind a separator.
void Table::add_tags(const Record& record) {
    const auto name_of = [&](std::uint32_t i) { return record.name_of(record.tags[i]); };
    order_.resize(record.tags.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return name_of(a) < name_of(b); });
    const auto same_as_next = [&](std::uint32_t a, std::uint32_t b) { return name_of(a) == name_of(b); };
    if (std::adjacent_find(order_.begin(), order_.end(), same_as_next) == order_.end()) {
        for (const Record::Tag& tag : record.tags) {
            tag_names.add_words(record.name_of(tag));
            tag_values.add_words(record.value_of(tag));
        }
    } else {
        std::vector<std::string> values(record.tags.size());
        std::vector<bool> is_first(record.tags.size(), false);
        for (std::size_t i = 0; i < order_.size();) {
            const std::uint32_t first = order_[i];
            is_first[first] = true;
            values[first] = record.value_of(record.tags[first]);
            for (++i; i < order_.size() && same_as_next(first, order_[i]); ++i)
                (values[first] += value_separator) += record.value_of(record.tags[order_[i]]);
        }
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            if (!is_first[i]) continue;
            tag_names.add_words(name_of(i));
            tag_values.add_words(values[i]);
        }
    }
    tag_offsets.push_back(static_cast<std::int32_t>(tag_names.offsets.size() - 1));
}

}  // namespace hyoka::records
