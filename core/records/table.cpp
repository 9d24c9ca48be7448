// SPDX-License-Identifier: Apache-2.0
#include "records/table.h"

#include <algorithm>
#include <iterator>

#include "records/text.h"

namespace hyoka::records {

void Record::clear() {
    for (std::string& field : fields) field.clear();
    komi = std::numeric_limits<double>::quiet_NaN();
    handicap = 0;
    winner = Winner::unknown;
    ending = Ending::unknown;
    margin = no_number;
    moves.clear();
    remarks.clear();
}

void TextColumn::add(std::string_view text) {
    append_utf8(bytes, text);
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
    if (remarks.empty() && !record.remarks.empty()) remarks.reserve(moves.capacity() / 2);
    std::copy_if(record.remarks.begin(), record.remarks.end(), std::back_inserter(remarks),
                 [](const Remark& remark) { return remark.says_anything(); });
    remark_offsets.push_back(static_cast<std::int64_t>(remarks.size()));
}

}  // namespace hyoka::records
