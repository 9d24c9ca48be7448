// SPDX-License-Identifier: Apache-2.0
#include "records/result.h"

#include "records/text.h"

namespace hyoka::records {

void read_sgf_result(std::string_view text, Record& record) {
    text = trimmed(text);
    if (text == "0" || starts_with_word(text, "draw") || starts_with_word(text, "jigo")) {
        record.winner = Winner::draw;
        record.ending = Ending::normal;
        record.margin = 0;
        return;
    }
    if (text.size() < 2 || text[1] != '+' || std::string_view("BWbw").find(text[0]) == std::string_view::npos) {
        const bool unfinished = starts_with_word(text, "void") || starts_with_word(text, "unfinished") ||
                                starts_with_word(text, "suspended") || starts_with_word(text, "no result") ||
                                starts_with_word(text, "left unfinished");
        record.winner = Winner::unknown;
        record.ending = unfinished ? Ending::unfinished : Ending::unknown;
        return;
    }
    const bool first_won = text[0] == 'B' || text[0] == 'b';
    record.winner = first_won ? Winner::first : Winner::second;
    std::string_view how = trimmed(text.substr(2));
    std::string_view number = how;
    if (auto margin = take_number(number)) {
        if (number.starts_with(",") && number.size() > 1 && is_digit(number[1])) {  // 3,5
            number.remove_prefix(1);
            if (const auto fraction = take_number(number)) *margin += *fraction < 10 ? *fraction / 10 : *fraction / 100;
        }
        record.ending = Ending::normal;
        record.margin = static_cast<float>(first_won ? *margin : -*margin);
    } else if (starts_with_word(how, "r")) {
        record.ending = Ending::resigned;
    } else if (starts_with_word(how, "t")) {
        record.ending = Ending::time;
    } else if (starts_with_word(how, "f")) {
        record.ending = Ending::forfeit;
    } else {
        record.ending = Ending::unknown;
    }
}

bool read_pgn_result(std::string_view text, Record& record) {
    if (text == "1-0" || text == "1–0")
        record.winner = Winner::first;
    else if (text == "0-1" || text == "0–1")
        record.winner = Winner::second;
    else if (text == "1/2-1/2" || text == "1/2" || text == "½-½" || text == "0.5-0.5")
        record.winner = Winner::draw;
    else if (text == "*")
        record.winner = Winner::unknown;
    else
        return false;
    return true;
}

}  // namespace hyoka::records
