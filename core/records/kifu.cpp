// SPDX-License-Identifier: Apache-2.0
#include "records/kifu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "games/shogi.h"
#include "records/commands.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr auto nowhere = std::string_view::npos;

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != nowhere; }

bool skip_blank(std::string_view& text) {
    if (take_prefix(text, "　")) return true;
    if (text.empty() || !is_blank(text.front())) return false;
    text.remove_prefix(1);
    return true;
}
void skip_blanks(std::string_view& text) {
    while (skip_blank(text)) {}
}

/// Without blanks of either width at its ends.
std::string_view stripped(std::string_view text) {
    skip_blanks(text);
    for (;;) {
        text = trimmed(text);
        if (!take_suffix(text, "　")) return text;
    }
}

constexpr std::array<std::string_view, 10> wide_digits = {"０", "１", "２", "３", "４", "５", "６", "７", "８", "９"};
constexpr std::array<std::string_view, 9> numerals = {"一", "二", "三", "四", "五", "六", "七", "八", "九"};

template <std::size_t n>
std::optional<int> take_name(std::string_view& text, const std::array<std::string_view, n>& names) {
    for (std::size_t i = 0; i < n; ++i)
        if (take_prefix(text, names[i])) return static_cast<int>(i);
    return std::nullopt;
}

std::optional<int> take_digit(std::string_view& text) {
    if (text.empty() || !is_digit(text[0])) return take_name(text, wide_digits);
    const int digit = text[0] - '0';
    text.remove_prefix(1);
    return digit;
}

/// A number in digits of either width; nothing if there is none, or one beyond all need.
std::optional<int> take_count(std::string_view& text) {
    int count = 0;
    int digits = 0;
    while (const auto digit = take_digit(text)) {
        if (++digits > 6) return std::nullopt;
        count = 10 * count + *digit;
    }
    return digits > 0 ? std::optional(count) : std::nullopt;
}

/// 一 to 十九.
std::optional<int> take_numeral(std::string_view& text) {
    const int tens = take_prefix(text, "十") ? 10 : 0;
    const auto ones = take_name(text, numerals);
    return ones ? std::optional(tens + *ones + 1) : tens > 0 ? std::optional(tens) : std::nullopt;
}

/// The start of a text that may be a megabyte, for messages.
std::string excerpt(std::string_view text) {
    constexpr std::size_t most = 60;
    if (text.size() <= most) return std::string(text);
    std::size_t end = most;
    while ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80 && end > 0) --end;
    return std::string(text.substr(0, end)) + "…";
}

/// `1999/07/15(木) 19:07:12` as 1999-07-15; as much of a date as there is.
std::string iso_date(std::string_view text) {
    std::string date;
    const auto take_part = [&](int low, int high) {
        const auto number = take_count(text);
        if (!number || *number < low || *number > high) return false;
        if (!date.empty()) date += *number < 10 ? "-0" : "-";
        date += std::to_string(*number);
        return take_prefix(text, "/") || take_prefix(text, "-") || take_prefix(text, ".") || take_prefix(text, "年") ||
               take_prefix(text, "月");
    };
    if (take_part(1000, 9999) && take_part(1, 12)) take_part(1, 31);
    return date;
}

/// The rank that a name ends in, such as 四段, 1級 or 女流初段; empty if it has none.
std::string_view rank_in(std::string_view name) {
    std::string_view rest = name;
    const bool is_dan = take_suffix(rest, "段");
    if (!is_dan && !take_suffix(rest, "級")) return {};
    const auto take_last = [&](const auto& names) {
        return std::any_of(names.begin(), names.end(), [&](std::string_view each) { return take_suffix(rest, each); });
    };
    const auto take_last_digit = [&] {
        if (rest.empty() || !is_digit(rest.back())) return take_last(wide_digits);
        rest.remove_suffix(1);
        return true;
    };
    if (take_last_digit()) {
        take_last_digit();
    } else if (!(is_dan && take_suffix(rest, "初")) && !take_suffix(rest, "十")) {
        // One numeral before 段 and no more: names may end in others (加藤一二三九段).
        if (!take_last(numerals)) return {};
        if (!is_dan) take_suffix(rest, "十");
    }
    take_last(std::array<std::string_view, 3>{"女流", "アマ", "奨励会"});
    return name.substr(rest.size());
}

/// Handicaps as 手合割 names them, without 落ち; those that Shogi has no name for as the ranks that differ.
struct Handicap {
    std::string_view stem;
    std::string_view name;
    std::int16_t pieces;
    std::string_view ranks = {};
};
constexpr std::array<Handicap, 16> handicaps = {{
    {"香", "lance", 1},
    {"右香", "right-lance", 1},
    {"角", "bishop", 1},
    {"飛車", "rook", 1},
    {"飛", "rook", 1},
    {"飛香", "rook-lance", 2},
    {"二枚", "two-piece", 2},
    {"三枚", "", 3, "lnsgkgsn1/9/"},
    {"四枚", "four-piece", 4},
    {"五枚", "five-piece", 5},
    {"左五枚", "", 5, "1nsgkgs2/9/"},
    {"六枚", "six-piece", 6},
    {"左七枚", "", 7, "2sgkg3/9/"},
    {"右七枚", "", 7, "3gkgs2/9/"},
    {"八枚", "eight-piece", 8},
    {"十枚", "ten-piece", 10},
}};

Shogi start_with(const Handicap& handicap) {
    if (!handicap.name.empty()) return Shogi::with_handicap(handicap.name);
    return Shogi::from_text(std::string(handicap.ranks) + "ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
}

// How diagrams write pieces, and SFEN.
constexpr std::array<std::string_view, 16> piece_names = {"歩", "香", "桂", "銀", "角", "飛", "金", "玉",
                                                          "王", "と", "杏", "圭", "全", "馬", "龍", "竜"};
constexpr std::array<std::string_view, 16> piece_letters = {"P", "L",  "N",  "S",  "B",  "R",  "G",  "K",
                                                            "K", "+P", "+L", "+N", "+S", "+B", "+R", "+R"};

std::string lowered(std::string_view letters) {
    std::string text(letters);
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 32);
    return text;
}

enum class Effect : std::uint8_t { none, mover_loses, mover_wins, draw };
struct EndWord {
    std::string_view word;
    Ending ending;
    Effect effect;
};
/// Words in place of a move that end a game; the mover is the side whose turn it is.
constexpr std::array<EndWord, 15> end_words = {{
    {"投了", Ending::resigned, Effect::mover_loses},
    {"中断", Ending::unfinished, Effect::none},
    {"持将棋", Ending::normal, Effect::draw},
    {"千日手", Ending::normal, Effect::draw},
    {"詰み", Ending::normal, Effect::mover_loses},
    {"詰", Ending::normal, Effect::mover_loses},
    {"不詰", Ending::unfinished, Effect::none},
    {"切れ負け", Ending::time, Effect::mover_loses},
    {"時間切れ", Ending::time, Effect::mover_loses},
    {"反則勝ち", Ending::illegal, Effect::mover_wins},
    {"反則負け", Ending::illegal, Effect::mover_loses},
    {"入玉勝ち", Ending::normal, Effect::mover_wins},
    {"入玉宣言", Ending::normal, Effect::mover_wins},
    {"不戦敗", Ending::forfeit, Effect::mover_loses},
    {"不戦勝", Ending::forfeit, Effect::mover_wins},
}};

/// What tells in a line with まで how the game ended, the most telling first. Effects count if no winner is named.
constexpr std::array<EndWord, 11> result_words = {{
    {"反則", Ending::illegal, Effect::none},
    {"時間切れ", Ending::time, Effect::none},
    {"切れ負け", Ending::time, Effect::none},
    {"不戦", Ending::forfeit, Effect::none},
    {"千日手", Ending::normal, Effect::draw},
    {"持将棋", Ending::normal, Effect::draw},
    {"引き分け", Ending::normal, Effect::draw},
    {"中断", Ending::unfinished, Effect::none},
    {"入玉", Ending::normal, Effect::none},
    {"詰", Ending::normal, Effect::mover_loses},
    {"投了", Ending::resigned, Effect::mover_loses},
}};

/// 時間切れにより後手の勝ち: the side named last before the last 勝 or 負.
std::optional<Player> winner_in(std::string_view result) {
    const auto last_of = [](std::string_view text, std::string_view a, std::string_view b) {
        const auto at_a = text.rfind(a);
        const auto at_b = text.rfind(b);
        return at_a == nowhere ? at_b : at_b == nowhere ? at_a : std::max(at_a, at_b);
    };
    const auto verdict = last_of(result, "勝ち", "負け");
    if (verdict == nowhere) return std::nullopt;
    const bool won = result.substr(verdict).starts_with("勝");
    result = result.substr(0, verdict);
    const auto black = last_of(result, "先手", "下手");
    const auto white = last_of(result, "後手", "上手");
    if (black == white) return std::nullopt;  // neither is named
    const Player named = white == nowhere || (black != nowhere && black > white) ? Player::first : Player::second;
    return won ? named : other(named);
}

const EndWord* end_word(std::string_view word) {
    const auto found =
        std::find_if(end_words.begin(), end_words.end(), [&](const EndWord& e) { return e.word == word; });
    return found == end_words.end() ? nullptr : &*found;
}

constexpr Winner winner_of(Player player) { return player == Player::first ? Winner::first : Winner::second; }

/// The marks before moves of KI2, Black's and White's in turn.
constexpr std::array<std::string_view, 8> marks = {"▲", "△", "☗", "☖", "▼", "▽", "⛊", "⛉"};

/// The move or end word that starts `text`, which is removed: `７六歩(77)`, `同　銀右`, `投了`.
std::string_view take_word(std::string_view& text) {
    std::string_view rest = text;
    take_name(rest, marks);
    if (take_prefix(rest, "同")) skip_blanks(rest);
    const auto size = rest.size();
    while (!rest.empty()) {
        std::string_view after = rest;
        // Marks are three bytes long, and each begins with this one.
        if (rest[0] == '(' || skip_blank(after) || (rest[0] == '\xe2' && take_name(after, marks))) break;
        rest.remove_prefix(1);
    }
    if (rest.size() < size && rest.size() >= 4 && rest[0] == '(' && is_digit(rest[1]) && is_digit(rest[2]) &&
        rest[3] == ')')
        rest.remove_prefix(4);
    const std::string_view word = text.substr(0, text.size() - rest.size());
    text = rest;
    return word;
}

bool looks_like_move(std::string_view word) {
    take_name(word, marks);
    if (word.starts_with("同")) return true;
    return take_digit(word) && (take_name(word, numerals) || take_digit(word));
}

enum class LineKind : std::uint8_t {
    empty,      // blank, a bookmark, or only for people
    hash,       // # what programs pass over
    comment,    // * on the move before
    header,     // key：value
    board,      // of a diagram
    columns,    // the heading above the moves
    move,       // KIF: a number and a move
    end,        // KIF: a number and an end word
    moves,      // KI2
    result,     // まで
    variation,  // 変化
    turn,       // 後手番
    other,
};

struct Line {
    LineKind kind = LineKind::empty;
    std::string_view text;   // of a header its value, of a move what follows its number, of an end the word
    std::string_view key{};  // of a header
    int number = 0;          // of a move or an end
};

Line classified(std::string_view line) {
    take_prefix(line, "\xef\xbb\xbf");
    const std::string_view text = stripped(line);
    if (text.empty() || text[0] == '&') return {LineKind::empty, text};
    if (text[0] == '#') return {LineKind::hash, text};
    if (text[0] == '*') return {LineKind::comment, text};
    if (text[0] == '|' || text.starts_with("+-")) return {LineKind::board, text};
    std::string_view rest = text;
    if (take_name(rest, marks)) return {LineKind::moves, text};
    if (const auto number = is_digit(text[0]) ? take_count(rest) : std::nullopt; number && skip_blank(rest)) {
        skip_blanks(rest);
        std::string_view after = rest;
        const std::string_view word = take_word(after);
        if (end_word(word)) return {LineKind::end, word, {}, *number};
        return looks_like_move(word) ? Line{LineKind::move, rest, {}, *number} : Line{LineKind::other, text};
    }
    if (text.starts_with("まで")) return {LineKind::result, text};
    if (text.starts_with("変化")) return {LineKind::variation, text};
    if (text.starts_with("手数--")) return {LineKind::columns, text};
    if (text.size() == std::string_view("後手番").size() && text.ends_with("手番")) return {LineKind::turn, text};
    constexpr std::string_view colon = "：";
    if (const auto at = text.find(colon); at != nowhere)
        return {LineKind::header, stripped(text.substr(at + colon.size())), stripped(text.substr(0, at))};
    return {LineKind::other, text};
}

bool is_hand(std::string_view key) { return key.ends_with("手の持駒"); }

/// Whether a line that comes after moves, or after the end of a game, belongs to the next one.
bool begins_game(const Line& line, bool is_over) {
    constexpr std::array<std::string_view, 10> first_keys = {"手合割", "開始日時", "対局日", "先手",   "下手",
                                                             "後手",   "上手",     "棋戦",   "対局ID", "記録ID"};
    switch (line.kind) {
        case LineKind::columns: return true;
        case LineKind::hash: return is_over || line.text.starts_with("#KIF");
        case LineKind::board: return is_over;
        case LineKind::header:
            return std::find(first_keys.begin(), first_keys.end(), line.key) != first_keys.end() ||
                   (is_over && is_hand(line.key));
        default: return false;
    }
}

/// Reads the lines of one game into a record.
class Transcript {
public:
    explicit Transcript(Record& record) : record_(record) {}

    /// `where` is the line's place in the text.
    void read(const Line& line, std::size_t where);
    void finish();
    /// Whether there was more than comments.
    bool has_content() const { return has_content_; }
    const std::optional<Refusal>& refusal() const { return refusal_; }

private:
    void read_header(const Line& line, std::size_t where);
    void read_name(std::string_view name, Field field, Field rating);
    void read_rank(std::string_view text, std::size_t where);
    void read_hand(std::string_view text, Player player);
    void read_comment(std::string_view text);
    void check_number(const Line& line, std::size_t where);
    void read_numbered(const Line& line, std::size_t where);
    void read_marked(std::string_view text, std::size_t where);
    void read_move(std::string_view word, std::size_t where);
    void read_result(std::string_view text, std::size_t where);
    void end_with(const EndWord& end);
    void settle(Ending ending, Effect effect);
    void begin_moves();
    std::string diagram_text() const;

    void refuse(Fault fault, std::string reason, std::size_t where) {
        if (!refusal_) refusal_ = Refusal{fault, std::move(reason), where};
    }
    /// Whose turn it would be, were an illegal move at the end played.
    Player mover() const { return illegal_ ? other(game_.to_play()) : game_.to_play(); }

    Record& record_;
    std::optional<Refusal> refusal_;
    std::optional<Refusal> illegal_;  // a move that is to be the last, and to be called 反則
    bool has_content_ = false;
    bool has_header_ = false;
    bool has_begun_ = false;
    bool is_over_ = false;
    bool has_times_ = false;  // times that are all 0:00 are none
    bool in_variation_ = false;

    std::string handicap_;
    std::size_t handicap_at_ = 0;
    std::string ranks_;  // of a diagram, as SFEN
    int rank_count_ = 0;
    std::size_t diagram_at_ = 0;
    std::array<std::string, 2> hands_;
    Player first_mover_ = Player::first;

    Shogi game_;
    std::optional<Shogi::Move> previous_;
    int first_number_ = 1;
    int numbers_ = 0;  // read so far
    int last_end_number_ = 0;
};

void Transcript::read(const Line& line, std::size_t where) {
    in_variation_ |= line.kind == LineKind::variation;
    if (in_variation_) return;
    has_content_ |= line.kind != LineKind::empty && line.kind != LineKind::hash && line.kind != LineKind::comment;
    if (refusal_) return;
    switch (line.kind) {
        case LineKind::comment: read_comment(line.text); break;
        case LineKind::header:
            if (!has_begun_) read_header(line, where);
            break;
        case LineKind::board:
            if (!has_begun_) read_rank(line.text, where);
            break;
        case LineKind::turn:
            first_mover_ = line.text.starts_with("後") || line.text.starts_with("上") ? Player::second : Player::first;
            break;
        case LineKind::columns: has_header_ = true; break;
        case LineKind::move: read_numbered(line, where); break;
        case LineKind::end:
            if (numbers_ > 0 && !is_over_) check_number(line, where);
            last_end_number_ = line.number;
            end_with(*end_word(line.text));
            break;
        case LineKind::moves: read_marked(line.text, where); break;
        case LineKind::result: read_result(line.text, where); break;
        default: break;
    }
}

void Transcript::read_header(const Line& line, std::size_t where) {
    const std::string_view key = line.key;
    record_.add_tag(key, line.text);
    const auto set = [&](Field field, std::string_view text) {
        has_header_ = true;
        if (record_[field].empty()) record_[field] = text;
    };
    if (key == "先手" || key == "下手") read_name(line.text, Field::first, Field::first_rating);
    if (key == "後手" || key == "上手") read_name(line.text, Field::second, Field::second_rating);
    if (key == "先手段級" || key == "下手段級") set(Field::first_rating, line.text);
    if (key == "後手段級" || key == "上手段級") set(Field::second_rating, line.text);
    if (key == "棋戦") set(Field::event, line.text);
    if (key == "場所") set(Field::place, line.text);
    if (key == "持ち時間") set(Field::time_control, line.text);
    if (key == "戦型") set(Field::opening, line.text);
    if (key == "開始日時" || key == "対局日") set(Field::date, iso_date(line.text));
    if (key == "手合割") {
        has_header_ = true;
        handicap_ = line.text;
        handicap_at_ = where;
    }
    if (is_hand(key))
        read_hand(line.text, key.starts_with("先") || key.starts_with("下") ? Player::first : Player::second);
}

void Transcript::read_name(std::string_view name, Field field, Field rating) {
    has_header_ = true;
    const std::string_view rank = rank_in(name);
    if (record_[rating].empty()) record_[rating] = rank;
    // A rank set off by a blank is no part of the name.
    const std::string_view before = name.substr(0, name.size() - rank.size());
    const std::string_view bare = stripped(before);
    record_[field] = !rank.empty() && bare.size() < before.size() && !bare.empty() ? bare : name;
}

void Transcript::read_rank(std::string_view text, std::size_t where) {
    if (!take_prefix(text, "|")) return;
    if (rank_count_ == 0) diagram_at_ = where;
    if (rank_count_++ > 0) ranks_ += '/';
    int empty = 0;
    for (int cell = 0; cell < 9; ++cell) {
        while (take_prefix(text, " ")) {}
        const bool is_white = take_prefix(text, "v") || take_prefix(text, "V");
        if (!is_white) take_prefix(text, "^");
        if (take_prefix(text, "・")) {
            ++empty;
            continue;
        }
        const auto piece = take_name(text, piece_names);
        if (!piece) return refuse(Fault::unreadable, "bad rank of a diagram: '" + excerpt(text) + "'", where);
        if (empty > 0) ranks_ += static_cast<char>('0' + std::exchange(empty, 0));
        const std::string_view letters = piece_letters[static_cast<std::size_t>(*piece)];
        ranks_ += is_white ? lowered(letters) : std::string(letters);
    }
    if (empty > 0) ranks_ += static_cast<char>('0' + empty);
    skip_blanks(text);
    if (rank_count_ > 9 || !text.starts_with("|"))
        refuse(Fault::unreadable, "a diagram is nine squares wide and high", where);
}

void Transcript::read_hand(std::string_view text, Player player) {
    std::string hand;
    constexpr std::size_t longest = 64;
    while (hand.size() < longest) {
        skip_blanks(text);
        const auto piece = take_name(text, piece_names);
        if (!piece) break;
        auto count = take_numeral(text);
        if (!count) count = take_count(text);
        if (count.value_or(1) > 1) hand += std::to_string(*count);
        const std::string_view letters = piece_letters[static_cast<std::size_t>(*piece)];
        hand += player == Player::first ? std::string(letters) : lowered(letters);
    }
    // What is no piece is left for the diagram's check: SFEN knows no such letter.
    if (!text.empty() && text != "なし") hand += '?';
    hands_[static_cast<std::size_t>(index_of(player))] = hand;
}

std::string Transcript::diagram_text() const {
    const std::string hands = hands_[0] + hands_[1];
    return ranks_ + (first_mover_ == Player::first ? " b " : " w ") + (hands.empty() ? "-" : hands) + " 1";
}

/// Settles the position that the moves begin at.
void Transcript::begin_moves() {
    if (std::exchange(has_begun_, true)) return;
    if (rank_count_ > 0) {
        try {
            game_ = Shogi::from_text(diagram_text());
        } catch (const NotationError& error) {
            return refuse(Fault::unreadable, error.what(), diagram_at_);
        }
    } else if (!handicap_.empty() && handicap_ != "平手") {
        std::string_view stem = handicap_;
        take_suffix(stem, "ち");
        take_suffix(stem, "落");
        const auto found = std::find_if(handicaps.begin(), handicaps.end(),
                                        [&](const Handicap& handicap) { return handicap.stem == stem; });
        if (found == handicaps.end())
            return refuse(Fault::unsupported, "no start is known for the handicap '" + excerpt(handicap_) + "'",
                          handicap_at_);
        game_ = start_with(*found);
        record_.handicap = found->pieces;
    } else if (first_mover_ == Player::second) {
        game_ = Shogi::from_text("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    }
    if (!(game_ == Shogi())) record_[Field::start] = game_.text();
}

void Transcript::read_comment(std::string_view text) {
    if (illegal_ || is_over_) return;  // it is about no position that was reached
    text.remove_prefix(1);
    if (!text.empty()) record_.add_text(record_.remark(), text, '\n');
    if (text.starts_with("[%")) {
        read_commands(text, record_);
        has_times_ |= contains(text, "[%emt ");
        return;
    }
    const auto set = [&](std::string_view rest, Author author) {
        const std::string_view at = rest;
        const auto score = take_number(rest);
        if (!score || !ends_number(rest)) {
            if (score) record_.note_unreadable(at.substr(0, at.find(' ')));
            return;
        }
        Remark& remark = record_.remark();
        if (!std::isnan(remark.score)) return;
        remark.said_by(author);
        remark.score = static_cast<float>(*score);
    };
    const Author mover = record_.moves.empty() ? Author::unknown : author_of(other(game_.to_play()));
    // All of these are Black's view: ShogiHome and Kakinoki Shogi say in words beside the number whom it favors;
    // ShogiHome takes those of ShogiGUI and floodgate as Black's, and cshogi writes ShogiGUI's so. ShogiHome's players
    // write `*`, its analysis `#`; ShogiGUI says 対局 or 解析.
    std::string_view rest = text;
    if (take_prefix(rest, "#評価値=")) return set(rest, Author::unknown);
    if (take_prefix(rest, "*評価値=")) return set(rest, mover);
    if (take_prefix(rest, "形勢：")) {
        if (contains(rest, "先手") || contains(rest, "後手") || contains(rest, "互角")) set(rest, Author::unknown);
        return;
    }
    if (take_prefix(rest, "#詰み=") || take_prefix(rest, "*詰み=")) {
        const bool is_black = rest.starts_with("先手勝ち:");
        if (!is_black && !rest.starts_with("後手勝ち:")) return;
        rest.remove_prefix(rest.find(':') + 1);
        const std::string_view at = rest;
        const auto moves = take_count(rest);
        if (!moves || *moves == 0 || *moves > 9999 || !ends_number(rest)) {
            if (!at.empty()) record_.note_unreadable(excerpt(at));
        } else {
            record_.remark().said_by(text[0] == '*' ? mover : Author::unknown);
            record_.remark().mate = static_cast<std::int16_t>(is_black ? *moves : -*moves);
        }
        return;
    }
    constexpr std::string_view word = " 評価値 ";
    if (text.starts_with("*対局 ") || text.starts_with("*解析 ") || text.starts_with("* ")) {
        if (const auto at = text.find(word); at != nowhere)
            return set(text.substr(at + word.size()), text.starts_with("*解析") ? Author::unknown : mover);
    }
    if (take_prefix(rest, "* ")) {
        skip_blanks(rest);
        std::string_view after = rest;
        if (take_number(after) && (after.empty() || is_blank(after[0]))) set(rest, mover);
    }
}

void Transcript::check_number(const Line& line, std::size_t where) {
    const int due = first_number_ + numbers_;
    if (line.number != due)
        refuse(Fault::unreadable,
               "move " + std::to_string(line.number) + " stands where move " + std::to_string(due) + " should", where);
}

void Transcript::read_numbered(const Line& line, std::size_t where) {
    std::string_view rest = line.text;
    const std::string_view word = take_word(rest);
    if (numbers_ == 0) first_number_ = line.number;
    check_number(line, where);
    ++numbers_;
    read_move(word, where);
    if (refusal_ || illegal_) return;
    skip_blanks(rest);
    if (!take_prefix(rest, "(")) return;
    skip_blanks(rest);
    const std::string_view time = rest.substr(0, rest.find_first_of("/) "));
    if (const auto spent = duration_in(time))
        record_.remark().spent_s = static_cast<float>(*spent);
    else if (!time.empty() && is_digit(time[0]))
        record_.note_unreadable(time);
}

void Transcript::read_marked(std::string_view text, std::size_t where) {
    const char* const begin = text.data();
    while (!text.empty() && !refusal_) {
        const auto at = where + static_cast<std::size_t>(text.data() - begin);
        const std::string_view word = take_word(text);
        std::string_view bare = word;
        take_name(bare, marks);
        if (const EndWord* const end = end_word(bare))
            end_with(*end);
        else
            read_move(word, at);
        skip_blanks(text);
    }
}

void Transcript::read_move(std::string_view word, std::size_t where) {
    begin_moves();
    if (refusal_) return;
    if (illegal_) {
        refusal_ = illegal_;
        return;
    }
    const auto about = [&](const std::string& what) {
        return "move " + std::to_string(record_.moves.size() + 1) + ", " + excerpt(word) + ", " + what;
    };
    constexpr std::size_t longest = 64;
    if (is_over_) return refuse(Fault::unreadable, about("follows the end of the game"), where);
    if (word.size() > longest) return refuse(Fault::unreadable, about("is no move"), where);
    const auto illegal = [&] {
        illegal_ = Refusal{Fault::illegal_move, about("is illegal in " + game_.text()), where};
    };
    Shogi::Move move;
    try {
        if (word.ends_with(')')) {
            take_name(word, marks);
            move = game_.parse_kif(word, previous_);
        } else {
            move = game_.parse_ki2(word, previous_);
        }
    } catch (const IllegalMoveError&) {
        return illegal();
    } catch (const NotationError& error) {
        return refuse(Fault::unreadable, "move " + std::to_string(record_.moves.size() + 1) + ": " + error.what(),
                      where);
    }
    if (!game_.is_legal(move)) return illegal();
    game_.play(move);
    previous_ = move;
    record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
}

void Transcript::end_with(const EndWord& end) {
    begin_moves();
    if (is_over_ || refusal_) return;
    is_over_ = true;
    settle(end.ending, end.effect);
}

void Transcript::settle(Ending ending, Effect effect) {
    record_.ending = ending;
    if (effect == Effect::draw) record_.winner = Winner::draw;
    if (effect == Effect::mover_wins) record_.winner = winner_of(mover());
    if (effect == Effect::mover_loses) record_.winner = winner_of(other(mover()));
    // The player of an illegal move loses, whichever side the word names.
    if (illegal_ && ending == Ending::illegal) record_.winner = winner_of(mover());
}

/// `まで110手で後手の勝ち`: checks the number, and says who won if no end word has.
void Transcript::read_result(std::string_view text, std::size_t where) {
    begin_moves();
    if (refusal_) return;
    take_prefix(text, "まで");
    take_prefix(text, "、");
    skip_blanks(text);
    const auto stated = take_count(text);
    if (stated && text.starts_with("手")) {
        const auto played = static_cast<int>(record_.moves.size());
        const auto agrees = [&](int plies) { return *stated == plies || *stated == plies + first_number_ - 1; };
        // Where an end word follows another, the first is counted as well.
        const bool counts_ends = last_end_number_ > 0 && *stated + 1 == last_end_number_;
        if (!agrees(played) && !(illegal_ && agrees(played + 1)) && !counts_ends)
            return refuse(Fault::unreadable,
                          "the record speaks of " + std::to_string(*stated) + " moves but has " +
                              std::to_string(played + (illegal_ ? 1 : 0)),
                          where);
    }
    if (record_.winner != Winner::unknown) return;

    is_over_ = true;
    const auto how = std::find_if(result_words.begin(), result_words.end(),
                                  [&](const EndWord& each) { return contains(text, each.word); });
    const auto winner = winner_in(text);
    if (how != result_words.end())
        settle(how->ending, winner ? Effect::none : how->effect);
    else if (winner && *winner != mover() && record_.ending == Ending::unknown)  // other ways to lose have their words
        record_.ending = game_.count_moves() == 0 ? Ending::normal : Ending::resigned;
    if (winner && !illegal_) record_.winner = winner_of(*winner);
}

void Transcript::finish() {
    begin_moves();
    const bool has_game = has_header_ || is_over_ || illegal_ || !record_.moves.empty();
    if (!has_game && has_content_)
        refuse(Fault::unreadable, rank_count_ > 0 ? "a position without moves" : "nothing here reads as KIF or KI2", 0);
    if (illegal_ && record_.ending != Ending::illegal && !refusal_) refusal_ = illegal_;
    if (record_.ending == Ending::unknown && record_.winner == Winner::unknown) record_.ending = Ending::unfinished;
    // Programs write 0:00 where no time was taken.
    has_times_ |= std::any_of(record_.remarks.begin(), record_.remarks.end(),
                              [](const Remark& remark) { return remark.spent_s > 0; });
    if (!has_times_)
        for (Remark& remark : record_.remarks) remark.spent_s = no_number;
}

}  // namespace

Reader::Found KifuReader::next(std::string_view bytes, bool last) {
    record_.game = kind_of<Shogi>;
    const std::size_t size = end_of_game(bytes, last);
    Transcript transcript(record_);
    for (std::string_view rest = bytes.substr(0, size); !rest.empty();) {
        const std::string_view line = take_line(rest);
        transcript.read(classified(line), static_cast<std::size_t>(line.data() - bytes.data()));
    }
    if (!transcript.has_content()) return {size, false};
    transcript.finish();
    if (const auto& refusal = transcript.refusal()) refuse(refusal->fault, refusal->reason, refusal->where);
    return {size, true};
}

/// 0 if it is not among these bytes.
std::size_t KifuReader::end_of_game(std::string_view bytes, bool last) {
    while (search_.at < bytes.size()) {
        std::string_view rest = bytes.substr(search_.at);
        const std::string_view text = take_line(rest);
        if (rest.empty() && !last) return 0;  // the line may go on
        const Line line = classified(text);
        const bool goes_on = !search_.has_moves && !search_.is_over;
        // A file of KIF says so in its first line.
        const bool is_first_line = line.kind == LineKind::hash && line.text.starts_with("#KIF");
        if (goes_on ? search_.has_headers && is_first_line : begins_game(line, search_.is_over))
            return std::exchange(search_, {}).at;
        search_.has_headers |= line.kind == LineKind::header;
        search_.has_moves |= line.kind == LineKind::move || line.kind == LineKind::moves;
        search_.is_over |= line.kind == LineKind::end || line.kind == LineKind::result;
        search_.at = bytes.size() - rest.size();
    }
    if (!last) return 0;
    return std::exchange(search_, {}).at;
}

}  // namespace hyoka::records
