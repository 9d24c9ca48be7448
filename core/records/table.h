// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "games/all.h"

/// Game records: bytes in, tables of games out. Nothing here opens a file.
namespace hyoka::records {

/// Winner according to the record, or `unknown`.
enum class Winner : std::int8_t { second = -1, draw = 0, first = 1, unknown = 2 };

/// How a game came to its end.
enum class Ending : std::uint8_t { unknown, normal, resigned, time, illegal, adjudicated, forfeit, unfinished };
inline constexpr std::array<std::string_view, 8> ending_names = {"unknown", "normal",      "resigned", "time",
                                                                 "illegal", "adjudicated", "forfeit",  "unfinished"};

/// Text fields of a record.
enum class Field : std::uint8_t {
    first,
    second,
    first_rating,
    second_rating,
    event,
    round,
    place,
    date,
    rules,
    time_control,
    opening,
    start,  // the position the moves begin at, as the game's from_text reads it; empty: the usual start
};
inline constexpr std::array<std::string_view, 12> field_names = {
    "first", "second", "first_rating", "second_rating", "event",   "round",
    "place", "date",   "rules",        "time_control",  "opening", "start"};

inline constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

/// Author of a value: one of the players (an engine on its own move, a bot), or nobody who is known to be one (a site's
/// analysis, a commentator).
enum class Author : std::uint8_t { unknown, first, second };
inline constexpr std::array<std::string_view, 3> author_names = {"unknown", "first", "second"};
constexpr Author author_of(Player player) { return player == Player::first ? Author::first : Author::second; }

/// A part of what a record says in words, or of its NAGs; both follow one another in the record.
struct Stretch {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
};

/// A record's evaluation of the position after a move, in the first player's view.
struct Remark {
    std::int32_t ply = 0;             // moves played before the position
    float value = no_number;          // expected result, 0 to 1
    float score = no_number;          // centipawns or points
    std::int16_t mate = 0;            // moves to mate: > 0 the first player mates, < 0 the second, 0 no mate is known
    std::int16_t depth = 0;           // 0: not given
    std::int64_t nodes = 0;           // nodes, visits or playouts of the evaluation; 0: not given
    float clock_s = no_number;        // left on the mover's clock
    float spent_s = no_number;        // on the move
    bool book = false;                // the move came from an opening book
    Author author = Author::unknown;  // of value, score and mate
    Stretch text;                     // comments as they are written; a form feed between two
    Stretch properties;               // of a node of SGF, other than moves and comments, as they are written
    Stretch nags;

    bool says_value() const { return mate || !std::isnan(value) || !std::isnan(score); }
    /// To be called before a value is put in: what two have said between them is nobody's.
    void said_by(Author who) { author = !says_value() || author == who ? who : Author::unknown; }
    bool says_anything() const {
        return book || depth || nodes || says_value() || !std::isnan(clock_s) || !std::isnan(spent_s) || text.size ||
               properties.size || nags.size;
    }
};

/// Between the values of a tag that comes several times, and between comments: in no text, whose other control
/// characters become blanks.
inline constexpr char value_separator = '\f';

/// One game on its way from a reader into a table.
struct Record {
    GameKind game{};
    std::array<std::string, field_names.size()> fields;
    double komi = std::numeric_limits<double>::quiet_NaN();
    std::int16_t handicap = 0;
    Winner winner = Winner::unknown;
    Ending ending = Ending::unknown;
    float margin = no_number;  // points by which the first player won
    std::vector<std::uint16_t> moves;
    std::vector<Remark> remarks;  // in the order of their plies
    struct Tag {
        Stretch name;
        Stretch value;
    };
    std::vector<Tag> tags;  // all headers as they are written, in their order
    std::string tag_words;
    std::string texts;  // of remarks, and so are the next two
    std::string properties;
    std::vector<std::uint16_t> nags;
    /// Evaluations, depths and times in comments that are not numbers as a whole, and so were left out.
    std::uint32_t unreadable = 0;
    std::string first_unreadable;           // verbatim
    std::int32_t first_unreadable_ply = 0;  // moves played before it

    std::string& operator[](Field field) { return fields[static_cast<std::size_t>(field)]; }
    const std::string& operator[](Field field) const { return fields[static_cast<std::size_t>(field)]; }
    /// Empties everything but keeps the memory.
    void clear();
    /// The remark on the position after the last move.
    Remark& remark() {
        const auto ply = static_cast<std::int32_t>(moves.size());
        if (remarks.empty() || remarks.back().ply != ply) remarks.emplace_back().ply = ply;
        return remarks.back();
    }
    std::string_view name_of(const Tag& tag) const { return part_of(tag_words, tag.name); }
    std::string_view value_of(const Tag& tag) const { return part_of(tag_words, tag.value); }
    std::string_view text_of(const Remark& remark) const { return part_of(texts, remark.text); }
    std::string_view properties_of(const Remark& remark) const { return part_of(properties, remark.properties); }
    /// A tag that comes again at once adds a value to the one before.
    void add_tag(std::string_view name, std::string_view value);
    /// Adds a comment to the remark on the last position that has any.
    void add_text(Remark& remark, std::string_view text, char separator = value_separator);
    /// Adds what an SGF node says to the remark on it, likewise the last; a property that goes on has no name.
    void add_property(Remark& remark, std::string_view name, std::string_view value);
    void add_nag(std::uint16_t nag);
    /// Counts a number in a comment that is left out; the first is kept, shortened.
    void note_unreadable(std::string_view text, std::size_t ply);
    void note_unreadable(std::string_view text) { note_unreadable(text, moves.size()); }

private:
    static std::string_view part_of(const std::string& words, Stretch part) {
        return std::string_view(words).substr(part.begin, part.size);
    }
};

/// Why a game was not taken.
enum class Fault : std::uint8_t { unreadable, illegal_move, unsupported, too_large };
inline constexpr std::array<std::string_view, 4> fault_names = {"unreadable", "illegal move", "unsupported",
                                                                "too large"};

struct Refusal {
    Fault fault;
    std::string reason;
    std::size_t where;  // bytes from the game's beginning
};

/// Texts side by side, as Arrow keeps them: always UTF-8.
struct TextColumn {
    std::vector<std::int32_t> offsets = {0};
    std::vector<char> bytes;
    void add(std::string_view text);
    /// Words of a record, whose lines and separators stay.
    void add_words(std::string_view words);
    std::string_view operator[](std::size_t i) const {
        return {bytes.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

/// Games side by side: one entry a game in each column; moves and remarks follow one another.
struct Table {
    std::vector<std::uint8_t> game;
    std::array<TextColumn, field_names.size()> fields;
    std::vector<double> komi;
    std::vector<std::int16_t> handicap;
    std::vector<std::int8_t> winner;
    std::vector<std::uint8_t> ending;
    std::vector<float> margin;
    std::vector<std::int64_t> line;    // where in the file the game begins, from 1
    std::vector<std::int64_t> number;  // which game of the file it is, from 1
    std::vector<std::int64_t> move_offsets = {0};
    std::vector<std::uint16_t> moves;
    std::vector<std::int64_t> remark_offsets = {0};
    std::vector<Remark> remarks;
    TextColumn remark_texts;  // one entry a remark in this and the next two
    TextColumn remark_properties;
    std::vector<std::int32_t> nag_offsets = {0};
    std::vector<std::uint16_t> nags;
    std::vector<std::int32_t> tag_offsets = {0};  // a game's tags, each name once
    TextColumn tag_names;
    TextColumn tag_values;
    std::vector<std::int32_t> unreadable;  // numbers in a game's comments that were left out

    /// The first such number of a game; only some games' are kept.
    struct Unreadable {
        std::int64_t line;
        std::int64_t number;
        std::int32_t ply;
        std::string text;
    };
    std::vector<Unreadable> first_unreadable;

    struct Refused {
        std::int64_t line;
        std::int64_t number;
        std::int32_t ply;  // moves that were good
        Fault fault;
        std::string reason;
    };
    std::vector<Refused> refused;

    std::size_t size() const { return game.size(); }
    std::span<const std::uint16_t> moves_of(std::size_t i) const {
        return {moves.data() + move_offsets[i], static_cast<std::size_t>(move_offsets[i + 1] - move_offsets[i])};
    }
    std::string_view start_of(std::size_t i) const { return fields[static_cast<std::size_t>(Field::start)][i]; }
    void add(const Record& record, std::int64_t line_of_game, std::int64_t number_of_game);

private:
    void add_remarks(const Record& record);
    void add_tags(const Record& record);
    std::vector<std::uint32_t> order_;  // of a game's tags by their names
};

}  // namespace hyoka::records
