// SPDX-License-Identifier: Apache-2.0
#include "records/pgn.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "records/commands.h"
#include "records/result.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr auto nowhere = std::string_view::npos;

std::size_t find_byte(std::string_view text, char byte, std::size_t from) {
    if (from >= text.size()) return nowhere;
    const void* found = std::memchr(text.data() + from, byte, text.size() - from);
    return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : nowhere;
}

bool has_digit(std::string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

bool at_line_start(std::string_view text, std::size_t at) {
    return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

/// Size of the text before the line that begins at `at` and the empty lines before it; 0 if none is empty.
char before_empty_lines(std::string_view text, std::size_t at) {
    if (!at_line_start(text, at)) return 0;
    int lines = 0;
    while (at > 0 && is_blank(text[at - 1])) lines += text[--at] == '\n';
    return lines > 1 && at > 0 ? text[at - 1] : '\0';
}

/// Whether an empty line comes before the line that begins at `at`, and before it something other than `(`.
bool follows_empty_line(std::string_view text, std::size_t at) {
    const char before = before_empty_lines(text, at);
    return before != 0 && before != '(';
}

/// Whether a tag such as `[Event "` stands at `at`.
bool is_tag(std::string_view text, std::size_t at) {
    constexpr std::size_t longest = 64;
    const std::size_t end = std::min(text.size(), at + longest);
    if (at >= end || text[at] != '[') return false;
    const std::size_t name = ++at;
    while (at < end && ((text[at] | 32) >= 'a' && (text[at] | 32) <= 'z')) ++at;
    if (at == name) return false;
    const std::size_t blank = at;
    while (at < end && (text[at] == ' ' || text[at] == '\t')) ++at;
    return at > blank && at < end && text[at] == '"';
}

/// Whether moves begin anew at `at`: `1.`, but not `1...`.
bool is_first_number(std::string_view text, std::size_t at) {
    return at + 2 < text.size() && text[at] == '1' && text[at + 1] == '.' && text[at + 2] != '.';
}

/// Where the comment that opens at `open` ends: at its `}`, or where another game begins in it.
struct CommentEnd {
    std::size_t at = nowhere;  // nowhere: not among these bytes
    bool is_closed = false;
    bool holds_brace = false;  // another `{`
};
CommentEnd comment_end(std::string_view text, std::size_t open, bool last) {
    // Nearly all are short and on one line.
    constexpr std::size_t short_size = 64;
    for (std::size_t i = open + 1; i < std::min(text.size(), open + short_size); ++i) {
        if (text[i] == '}') return {i, true};
        if (text[i] == '\n' || text[i] == '{') break;
    }
    std::size_t brace = 0;  // the first behind where moves begin anew
    for (std::size_t from = open + 1;;) {
        const std::size_t line_end = std::min(find_byte(text, '\n', from), text.size());
        if (const auto close = find_byte(text.substr(0, line_end), '}', from); close != nowhere)
            return {close, true, find_byte(text.substr(0, close), '{', open + 1) != nowhere};
        if (line_end == text.size()) return {};
        from = line_end + 1;
        // A comment may speak of anything, but hardly of tags; of moves it may, if it ends before the next begins.
        const bool stands_apart = before_empty_lines(text, from) != 0;
        if (is_tag(text, from) && (stands_apart || text.substr(from).starts_with("[Event "))) return {from, false};
        if (is_first_number(text, from) && stands_apart) {
            if (brace < from) brace = text.find_first_of("{}", from);
            if (brace == nowhere && !last) return {};
            if (brace == nowhere || text[brace] == '{') return {from, false};
        }
    }
}

/// The same for comments in comments, which no game begins in.
CommentEnd nested_comment_end(std::string_view text, std::size_t open) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == '{') ++depth;
        if (text[i] == '}' && --depth == 0) return {i, true};
    }
    return {};
}

/// A move that passes, which chess does not have: writers mark analysis by it, or a game's last move.
bool is_null_move(std::string_view token) {
    return token == "--" || token == "Z0" || token == "@@@@" || token == "0000" || equal_words(token, "null") ||
           equal_words(token, "pass");
}

/// Bytes that end a token of the move text.
constexpr auto ends_token = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {' ', '\t', '\r', '\n', '\v', '\f', '{', '}', '(', ')', ';', '$', '[', ']', '*'})
        table[c] = true;
    return table;
}();

/// How much at the start belongs to no game: blanks, and comments or escaped lines that follow the game before.
std::size_t skip_filling(std::string_view text, bool last) {
    std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    for (;;) {
        at = std::min(text.find_first_not_of(" \t\r\n\v\f", at), text.size());
        if (at == text.size()) return at;
        std::size_t end = nowhere;
        if (text[at] == '{')
            if (const CommentEnd comment = comment_end(text, at, last); comment.is_closed) end = comment.at;
        if (text[at] == ';' || (text[at] == '%' && at_line_start(text, at))) end = find_byte(text, '\n', at);
        if (end == nowhere) return at;
        at = end + 1;
    }
}

/// The text between the label and the next comma or the end, e.g. `d=32, mt=00:02:41` asked for `mt=`. A label counts
/// only where a word begins.
std::optional<std::string_view> value_of(std::string_view comment, std::string_view label) {
    for (auto at = comment.find(label); at != nowhere; at = comment.find(label, at + 1)) {
        if (at > 0 && comment[at - 1] != ' ' && comment[at - 1] != ',') continue;
        const std::string_view rest = comment.substr(at + label.size());
        return rest.substr(0, std::min(rest.find_first_of(", "), rest.size()));
    }
    return std::nullopt;
}

}  // namespace

void PgnReader::Tags::clear() {
    fen.clear();
    result.clear();
    termination.clear();
    variant.clear();
}

Reader::Found PgnReader::next(std::string_view bytes, bool last) {
    saw_nested_ = false;
    const Found found = read_game(bytes, last, Comments::plain);
    // By the standard comments don't nest; where that reading makes no sense, perhaps the writer meant them to.
    if (!saw_nested_ || !refusal_) return found;
    const Refusal plain = *refusal_;
    record_.clear();
    refusal_.reset();
    const Found nested = read_game(bytes.substr(0, found.size), true, Comments::nested);
    if (refusal_ || nested.size != found.size) refusal_ = plain;
    return found;
}

Reader::Found PgnReader::read_game(std::string_view bytes, bool last, Comments comments) {
    const std::size_t filling = skip_filling(bytes, last);
    if (filling > 0) return {filling, false};
    if (bytes.empty()) return {0, false};
    // What follows the game before and has no end: a line may be the last, a comment not.
    if (bytes[0] == '{') {
        const CommentEnd end = comment_end(bytes, 0, last);
        if (end.at == nowhere && !last) return {0, false};
        refuse(Fault::unreadable, "a comment does not end");
        return {std::min(end.at, bytes.size()), true};
    }
    if (bytes[0] == ';' || bytes[0] == '%') return {last ? bytes.size() : 0, false};
    std::size_t at = 0;
    tags_.clear();
    at = read_tags(bytes, at, last);
    if (at == nowhere && last) {
        refuse(Fault::unreadable, "the tags do not end");
        return {bytes.size(), true};
    }
    if (at == nowhere) return {0, false};
    // A result that follows a result is no game of its own.
    const bool tagged = at > 0;
    set_up();

    passed_ = false;
    int variation = 0;
    std::size_t variation_at = 0;
    bool anything = false;
    const auto next_game_at = [&](std::size_t where) -> Found {
        if (variation > 0) refuse(Fault::unreadable, "a variation does not end", variation_at);
        if (!anything && tags_.result.empty() && record_[Field::first].empty())
            refuse(Fault::unreadable, "neither tags nor moves");
        finish();
        return {where, true};
    };
    const std::size_t size = bytes.size();
    while (at < size) {
        const char c = bytes[at];
        switch (c) {
            case ' ':
            case '\t':
            case '\r':
            case '\n':
            case '\v':
            case '\f': ++at; continue;
            case '{': {
                const CommentEnd end =
                    comments == Comments::nested ? nested_comment_end(bytes, at) : comment_end(bytes, at, last);
                if (end.at == nowhere && !last) return {0, false};
                if (!end.is_closed) {
                    refuse(Fault::unreadable, "a comment does not end", at);
                    return {std::min(end.at, size), true};
                }
                const std::string_view text = bytes.substr(at + 1, end.at - at - 1);
                saw_nested_ |= end.holds_brace;
                if (variation == 0) keep_comment(text);
                if (variation == 0 && !refusal_ && !passed_) {
                    if (record_.moves.empty())
                        read_commands(text, record_);  // anything else is about the game
                    else
                        read_comment(text);
                }
                at = end.at + 1;
                continue;
            }
            case ';': {
                const std::size_t end = find_byte(bytes, '\n', at);
                if (end == nowhere && !last) return {0, false};
                std::string_view text = bytes.substr(at + 1, std::min(end, size) - at - 1);
                if (text.ends_with('\r')) text.remove_suffix(1);
                if (variation == 0) keep_comment(text);
                if (end == nowhere) return {(finish(), size), true};
                at = end + 1;
                continue;
            }
            case '%':
                if (at_line_start(bytes, at)) {
                    const std::size_t end = find_byte(bytes, '\n', at);
                    if (end == nowhere) return {last ? (finish(), size) : 0, true};
                    at = end + 1;
                    continue;
                }
                break;
            case '(':
                if (variation++ == 0) variation_at = at;
                ++at;
                continue;
            case ')':
                variation = std::max(0, variation - 1);
                ++at;
                continue;
            case '$':
                at = read_nag(bytes, at, variation == 0);
                if (at == size && !last) return {0, false};
                continue;
            case '[':
                // Another game's tags: this one ended without saying so.
                if (at_line_start(bytes, at)) return next_game_at(at);
                ++at;
                continue;
            case '*':
                ++at;
                if (variation > 0) continue;
                read_pgn_result("*", record_);
                finish();
                return {at, tagged || anything};
            case ']':
            case '}':
                if (variation == 0) refuse(Fault::unreadable, std::string("a stray '") + c + "'", at);
                ++at;
                continue;
            default: break;
        }
        const std::size_t begin = at;
        while (at < size && !ends_token[static_cast<unsigned char>(bytes[at])]) ++at;
        if (at == size && !last) return {0, false};
        std::string_view token = bytes.substr(begin, at - begin);
        const bool first_token = !anything;
        // Moves that begin anew after an empty line are another game's: this one ended without saying so.
        if (anything && is_first_number(bytes, begin) && follows_empty_line(bytes, begin)) return next_game_at(begin);
        anything = true;
        if (variation > 0) continue;
        // `12.`, `12...`, `12.e4`; a result begins with a digit too.
        if (is_digit(token[0])) {
            if (read_pgn_result(token, record_)) {
                finish();
                return {at, tagged || !first_token};
            }
            if (token.starts_with("0-0") || token == "0000") {
                play(token, begin);
                continue;
            }
            const auto digits = token.find_first_not_of("0123456789");
            const auto move = digits == nowhere ? nowhere : token.find_first_not_of('.', digits);
            if (move == nowhere) continue;
            token.remove_prefix(move);
        }
        play(token, begin);
    }
    if (!last) return {0, false};
    return next_game_at(size);
}

/// Reads `$14` at `at` and gives where it ends; what is no number of a NAG is passed over.
std::size_t PgnReader::read_nag(std::string_view bytes, std::size_t at, bool kept) {
    std::uint32_t number = 0;
    const std::size_t begin = ++at;
    for (; at < bytes.size() && is_digit(bytes[at]); ++at)
        number = std::min(10 * number + static_cast<std::uint32_t>(bytes[at] - '0'), 1U << 16);
    if (kept && !refusal_ && at > begin && number < 1U << 16) record_.add_nag(static_cast<std::uint16_t>(number));
    return at;
}

/// The NAG that `!`, `?!` and the like at the end of a move stand for.
void PgnReader::read_glyph(std::string_view token) {
    constexpr std::array<std::string_view, 6> glyphs = {"!", "?", "!!", "??", "!?", "?!"};
    const auto end = token.find_last_not_of("!?");
    const auto found = std::find(glyphs.begin(), glyphs.end(), token.substr(end == nowhere ? 0 : end + 1));
    if (found != glyphs.end()) record_.add_nag(static_cast<std::uint16_t>(found - glyphs.begin() + 1));
}

/// Reads the lines of tags from `at` on and gives where the move text begins; nowhere if the bytes end before.
std::size_t PgnReader::read_tags(std::string_view bytes, std::size_t at, bool last) {
    std::string unescaped;
    for (;;) {
        at = bytes.find_first_not_of(" \t\r\n\v\f", at);
        if (at == nowhere) return last ? bytes.size() : nowhere;
        if (bytes[at] == '%' && at_line_start(bytes, at)) {
            at = find_byte(bytes, '\n', at);
            if (at == nowhere) return nowhere;
            continue;
        }
        if (bytes[at] != '[') return at;
        const std::size_t open = at++;
        while (at < bytes.size() && (bytes[at] == ' ' || bytes[at] == '\t')) ++at;
        const std::size_t name = at;
        while (at < bytes.size() && !is_blank(bytes[at]) && bytes[at] != '"' && bytes[at] != ']') ++at;
        const std::string_view tag = bytes.substr(name, at - name);
        // The event comes first: if it comes again, these tags were of a game without moves.
        if (open > 0 && tag == "Event" && follows_empty_line(bytes, open)) return open;
        while (at < bytes.size() && is_blank(bytes[at])) ++at;
        if (at >= bytes.size()) return nowhere;
        if (bytes[at] != '"') {
            // No value: not a tag of ours; go on behind the line.
            refuse(Fault::unreadable, "a tag without a value in quotes", open);
            at = find_byte(bytes, '\n', open);
            if (at == nowhere) return nowhere;
            continue;
        }
        const std::size_t begin = ++at;
        bool escapes = false;
        // Some writers don't escape quotes: one that ends the value is followed by the bracket.
        const auto ends_value = [&] {
            const auto after = bytes.find_first_not_of(" \t", at + 1);
            return after == nowhere || bytes[after] == ']' || bytes[after] == '\n' || bytes[after] == '\r';
        };
        while (at < bytes.size() && bytes[at] != '\n' && !(bytes[at] == '"' && ends_value())) {
            if (bytes[at] == '\\' && at + 1 < bytes.size()) {
                escapes = true;
                ++at;
            }
            ++at;
        }
        if (at >= bytes.size()) return nowhere;
        std::string_view value = bytes.substr(begin, at - begin);
        if (bytes[at] == '\n' && !trimmed(value).ends_with(']')) refuse(Fault::unreadable, "a tag does not end", open);
        if (escapes) {
            unescaped.clear();
            for (std::size_t i = 0; i < value.size(); ++i) {
                if (value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == '"' || value[i + 1] == '\\')) ++i;
                unescaped += value[i];
            }
            value = unescaped;
        }
        set_tag(tag, value, open);
        // The rest of the line is `]`.
        while (at < bytes.size() && bytes[at] != ']' && bytes[at] != '\n') ++at;
        if (at >= bytes.size()) return nowhere;
        ++at;
    }
}

/// A name with control characters is none, and a value is one line.
void PgnReader::keep_tag(std::string_view name, std::string_view value) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
    if (std::any_of(name.begin(), name.end(), is_control)) return;
    if (find_byte(value, '\n', 0) == nowhere) return record_.add_tag(name, value);
    std::string line(value);
    std::replace(line.begin(), line.end(), '\n', ' ');
    record_.add_tag(name, line);
}

void PgnReader::set_tag(std::string_view name, std::string_view value, std::size_t where) {
    keep_tag(name, value);
    value = trimmed(value);
    const bool blank = value.empty() || value == "-";
    if (blank || (value.find('?') != nowhere && value.find_first_not_of("?-.") == nowhere)) return;  // not known
    const auto field = [&](Field where) { record_[where] = value; };
    if (name.size() < 3) return;
    switch (name[0] << 8 | name[1]) {
        case 'W' << 8 | 'h':
            if (name == "White") field(Field::first);
            if (name == "WhiteElo") field(Field::first_rating);
            break;
        case 'B' << 8 | 'l':
            if (name == "Black") field(Field::second);
            if (name == "BlackElo") field(Field::second_rating);
            break;
        case 'E' << 8 | 'v':
            if (name == "Event") field(Field::event);
            break;
        case 'S' << 8 | 'i':
            if (name == "Site") field(Field::place);
            break;
        case 'R' << 8 | 'o':
            if (name == "Round") field(Field::round);
            break;
        case 'R' << 8 | 'e':
            if (name == "Result") tags_.result = value;
            break;
        case 'D' << 8 | 'a':
            if (name == "Date") field(Field::date);
            break;
        case 'U' << 8 | 'T':
            if (name == "UTCDate" && record_[Field::date].empty()) field(Field::date);
            break;
        case 'T' << 8 | 'i':
            if (name == "TimeControl") field(Field::time_control);
            break;
        case 'T' << 8 | 'e':
            if (name == "Termination") tags_.termination = value;
            break;
        case 'E' << 8 | 'C':
            if (name == "ECO" && record_[Field::opening].empty()) field(Field::opening);
            break;
        case 'O' << 8 | 'p':
            if (name == "Opening") field(Field::opening);
            break;
        case 'F' << 8 | 'E':
            if (name == "FEN") {
                tags_.fen = value;
                tags_.fen_at = where;
            }
            break;
        case 'V' << 8 | 'a':
            if (name == "Variant") tags_.variant = value;
            break;
        default: break;
    }
}

void PgnReader::set_up() {
    static const Chess start = Chess().with_draws(Chess::Draws::ignored);
    record_.game = kind_of<Chess>;
    game_ = start;
    const std::string_view variant = tags_.variant;
    const auto has = [&](std::string_view word) { return starts_with_word(variant, word); };
    if (has("chess960") || has("chess 960") || has("fischer") || has("frc") || has("dfrc"))
        record_[Field::rules] = "chess960";
    else if (!variant.empty() && !has("normal") && !has("standard") && !has("chess") && !has("from position"))
        return refuse(Fault::unsupported, "the variant " + tags_.variant.substr(0, 60));
    if (tags_.fen.empty()) return;
    try {
        const Chess given = Chess::from_text(tags_.fen).with_draws(Chess::Draws::claimed);
        if (!(given == Chess())) record_[Field::start] = given.text();
        game_ = given.with_draws(Chess::Draws::ignored);
    } catch (const std::invalid_argument& error) {
        refuse(Fault::unreadable, error.what(), tags_.fen_at);
    }
}

void PgnReader::add(Chess::Move move) {
    game_.play(move);
    record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
}

void PgnReader::play(std::string_view token, std::size_t where) {
    if (refusal_) return;
    Chess::Move move;
    const Chess::SanError error = game_.read_san(token, move);
    if (error == Chess::SanError::none && !passed_)
        add(move);
    else
        play_unusual(token, where, error);
    if (token.ends_with('!') || token.ends_with('?')) read_glyph(token);
}

/// Text that is not a SAN move, or follows a null move.
void PgnReader::play_unusual(std::string_view token, std::size_t where, Chess::SanError error) {
    if (is_null_move(token)) {
        passed_ = true;
        return;
    }
    // `!?`, `e.p.`, `=`, `+-` and the like stand alone in old files and say nothing of the moves.
    if (token.find_first_not_of("!?+-=#/~.,") == nowhere || token == "e.p." || token == "ep" || token == "N" ||
        token == "mate")
        return;
    if (token.size() > 4 && token.ends_with("e.p.")) return play(token.substr(0, token.size() - 4), where);
    const std::string number = std::to_string(record_.moves.size() + 1);
    const std::string word(token.substr(0, 20));
    if (passed_)
        return refuse(Fault::unsupported,
                      "a null move stands before move " + number + ", " + word + ": only after the last may one be",
                      where);
    if (const auto move = in_coordinates(token)) return add(*move);
    const auto refuse_move = [&](Fault fault, const char* what) {
        refuse(
            fault,
            "move " + number + ", " + word + ", is " + what + " in " + game_.with_draws(Chess::Draws::claimed).text(),
            where);
    };
    if (error == Chess::SanError::illegal) return refuse_move(Fault::illegal_move, "illegal");
    if (error == Chess::SanError::ambiguous) return refuse_move(Fault::unreadable, "ambiguous");
    refuse(Fault::unreadable, "'" + word + "' after move " + std::to_string(record_.moves.size()) + " is no move",
           where);
}

/// A legal move in computers' long notation: `g1f3`, `e2-e4`, `e7e8q`, `e7-e8=Q`.
std::optional<Chess::Move> PgnReader::in_coordinates(std::string_view token) const {
    std::string squares;
    for (const char c : token)
        if (std::string_view("-x:=+#!?").find(c) == nowhere) squares += c;
    const auto is_square = [&](std::size_t i) {
        return squares[i] >= 'a' && squares[i] <= 'h' && squares[i + 1] >= '1' && squares[i + 1] <= '8';
    };
    if (squares.size() < 4 || squares.size() > 5 || !is_square(0) || !is_square(2)) return std::nullopt;
    try {
        const Chess::Move move = game_.parse_move(squares);
        if (game_.is_legal(move)) return move;
    } catch (const std::invalid_argument&) {}
    return std::nullopt;
}

/// A comment's words, wherever it stands; at the start they are about the game.
void PgnReader::keep_comment(std::string_view text) {
    if (!refusal_ && !text.empty()) record_.add_text(record_.remark(), text);
}

/// Values and clocks in the dialects that are known: commands such as [%eval], match runners' `+0.35/12 1.2s`, TCEC's
/// list.
void PgnReader::read_comment(std::string_view text) {
    const Author mover = author_of(other(game_.to_play()));
    if (const auto commands_at = text.find("[%"); commands_at != nowhere) {
        // Our own writer puts commands behind what match runners write.
        const std::string_view before = trimmed(text.substr(0, commands_at));
        if (before == "book") record_.remark().book = true;
        if (!before.empty()) read_engine_comment(before, mover);
    }
    if (read_commands(text, record_)) return;
    text = trimmed(text);
    if (text.empty()) return;
    if (text == "book" || text == "Book" || text.starts_with("book,")) {
        record_.remark().book = true;
        return;
    }
    // TCEC: `wv=` is White's view, and so is `ev=` where it stands alone; beside `wv=` it is the mover's.
    const auto white_view = value_of(text, "wv=");
    const auto score_text = white_view ? white_view : value_of(text, "ev=");
    if (score_text || value_of(text, "mt=")) {
        Remark& remark = record_.remark();
        const auto read = [&](std::optional<std::string_view> word, auto&& parse, auto&& use) {
            if (!word) return;
            if (const auto number = parse(*word))
                use(*number);
            else if (has_digit(*word))
                record_.note_unreadable(*word);
        };
        read(
            score_text, [](std::string_view word) { return pawn_score_in(word); },
            [&](const PawnScore& score) { set_score(remark, score, false, mover); });
        read(value_of(text, "d="), depth_in, [&](std::int16_t depth) { remark.depth = depth; });
        // Later seasons count milliseconds, earlier ones write 00:02:41.
        const auto seconds = [](std::string_view word) -> std::optional<float> {
            const auto number = duration_in(word);
            if (!number) return std::nullopt;
            return static_cast<float>(word.find(':') != nowhere ? *number : *number / 1000);
        };
        read(value_of(text, "mt="), seconds, [&](float spent) { remark.spent_s = spent; });
        read(value_of(text, "tl="), seconds, [&](float left) { remark.clock_s = left; });
        return;
    }
    read_engine_comment(text, mover);
}

/// cutechess and fastchess: `+0.35/12 1.2s, tl=9.8s`, the mover's view; mates count plies.
void PgnReader::read_engine_comment(std::string_view text, Author mover) {
    std::string_view rest = text;
    const std::string_view word = take_until(rest, " \t\r\n,");
    const auto slash = word.find('/');
    if (slash == nowhere) return;
    // A fraction or a date in prose is no evaluation: those have a sign, a point or a mate.
    if (word.substr(0, slash).find_first_of("+-.M") == nowhere) return;
    const auto score = pawn_score_in(word.substr(0, slash), MateUnit::plies);
    const auto depth = depth_in(word.substr(slash + 1));
    if (!score || !depth) {
        const bool begins_number = is_digit(word[0]) || std::string_view("+-.M").find(word[0]) != nowhere;
        if (begins_number && has_digit(word.substr(0, slash)) && (depth || score)) record_.note_unreadable(word);
        return;
    }
    Remark& remark = record_.remark();
    set_score(remark, *score, mover == Author::second, mover);
    remark.depth = *depth;
    const auto read_seconds = [&](std::string_view time, float& seconds) {
        const double unit = time.ends_with("ms") ? 1000 : 1;
        if (!time.ends_with('s') || !has_digit(time)) return;
        time.remove_suffix(unit == 1 ? 1 : 2);
        if (const auto number = number_in(time); number && *number >= 0)
            seconds = static_cast<float>(*number / unit);
        else if (is_digit(time[0]) || time[0] == '-')
            record_.note_unreadable(time);
    };
    rest = trimmed(rest);
    read_seconds(take_until(rest, " \t\r\n,"), remark.spent_s);
    if (const auto left = value_of(text, "tl=")) read_seconds(*left, remark.clock_s);
}

/// Settles winner and ending once the moves are there.
void PgnReader::finish() {
    if (refusal_) return;
    if (record_.winner == Winner::unknown) read_pgn_result(tags_.result, record_);
    const std::string_view how = tags_.termination;
    const auto says = [&](std::string_view word) {
        for (std::size_t i = 0; i + word.size() <= how.size(); ++i)
            if (starts_with_word(how.substr(i), word)) return true;
        return false;
    };
    if (record_.winner == Winner::unknown)
        record_.ending = Ending::unfinished;
    else if (says("time"))
        record_.ending = Ending::time;
    else if (says("illegal") || says("rules infraction"))
        record_.ending = Ending::illegal;
    else if (says("adjudicat") || says("draw rule") || says("win rule") || says("tb position") || says("tablebase"))
        record_.ending = Ending::adjudicated;
    else if (says("forfeit") || says("abandon") || says("stall") || says("disconnect") || says("crash") ||
             says("emergency") || says("death"))
        record_.ending = Ending::forfeit;
    else if (says("unterminated"))
        record_.ending = Ending::unfinished;
    else if (record_.winner == Winner::draw || game_.outcome())
        record_.ending = Ending::normal;
    else
        // A win without mate on the board: somebody gave up.
        record_.ending = Ending::resigned;
}

}  // namespace hyoka::records
