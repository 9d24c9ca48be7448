// SPDX-License-Identifier: Apache-2.0
#include "records/sgf.h"

#include <algorithm>
#include <cstring>

#include "games/text_fields.h"
#include "records/commands.h"
#include "records/replay.h"
#include "records/result.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

// A file with one parenthesis a move needs some hundreds.
constexpr int deepest = 10'000;
constexpr auto nowhere = std::string_view::npos;

/// Where the value that begins after `[` at `open` ends: the index of its `]`.
std::size_t value_end(std::string_view text, std::size_t open) {
    for (std::size_t at = open + 1;;) {
        const void* found = std::memchr(text.data() + at, ']', text.size() - at);
        if (!found) return nowhere;
        const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
        std::size_t slashes = 0;
        while (end - slashes > open + 1 && text[end - slashes - 1] == '\\') ++slashes;
        if (slashes % 2 == 0) return end;
        at = end + 1;
        if (at >= text.size()) return nowhere;
    }
}

/// Takes the escapes out of a text; most have none.
std::string_view unescape(std::string_view text, std::string& buffer) {
    if (text.find('\\') == nowhere) return text;
    buffer.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            buffer += text[i];
            continue;
        }
        ++i;
        if (i >= text.size()) break;
        const bool soft_break = text[i] == '\n' || text[i] == '\r';
        // A line ends in one of LF, CR, CR LF and LF CR.
        if (soft_break && i + 1 < text.size() && text[i + 1] != text[i] && (text[i + 1] == '\n' || text[i + 1] == '\r'))
            ++i;
        if (!soft_break) buffer += text[i];
    }
    return buffer;
}

struct Extent {
    std::size_t size = 0;  // 0: the tree does not end here
    int depth = 0;
    bool too_deep = false;
    bool is_cut = false;  // another game begins where this one has not ended
};

/// Whether a game begins at `at`, recognized by properties that only a root has.
bool is_another_game(std::string_view text, std::size_t at) {
    const std::string_view root = text.substr(at, 5);
    if (!root.starts_with("(;") || !root.ends_with('[')) return false;
    const std::string_view name = root.substr(2, 2);
    if (name == "GM" || name == "FF" || name == "CA") return true;
    const bool at_line_start = at > 0 && (text[at - 1] == '\n' || text[at - 1] == '\r');
    return at_line_start && (name == "SZ" || name == "AP" || name == "ST");
}

/// Where another game begins in the value from `open` to `end`, which then lacks its `]`. Who quotes a game escapes it.
std::size_t game_in_value(std::string_view text, std::size_t open, std::size_t end) {
    const std::string_view value = text.substr(0, end);
    for (auto at = value.find('(', open); at != nowhere; at = value.find('(', at + 1)) {
        if (!is_another_game(value, at)) continue;
        const auto escape = value.rfind('\\');
        if (escape == nowhere || escape < at) return at;
        at = escape;
    }
    return nowhere;
}

/// Whether a value has swallowed the property that follows it, `PB[Shusaku;B[qd]`: it lacks its `]`.
bool lacks_its_end(std::string_view value) {
    if (value.find('[') == nowhere) return false;
    const auto open = value.rfind('[');
    if (open == 0 || value.find('\\', open) != nowhere) return false;
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    std::size_t begin = open;
    while (begin > 0 && open - begin < 2 && is_capital(value[begin - 1])) --begin;
    if (begin == open) return false;
    const std::string_view name = value.substr(begin, open - begin);
    constexpr std::string_view of_roots = "AB AP AW BR CA DT EV FF GM HA KM ON OT PB PC PL PW RE RO RU ST SZ TM WR ";
    if (name.size() == 2) return of_roots.find(std::string(name) + ' ') != nowhere;
    if (begin == 0 || (value[begin - 1] != ';' && value[begin - 1] != '\n')) return false;
    return begin == 1 || value[begin - 2] != '(';  // `(;B[qd` may be text
}

/// How far the game tree reaches that begins at the start of `text`.
Extent tree_extent(std::string_view text) {
    Extent extent;
    for (std::size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
            case '(':
                if (extent.depth > 0 && is_another_game(text, i)) {
                    extent.size = i;
                    extent.is_cut = true;
                    return extent;
                }
                if (++extent.depth > deepest) extent.too_deep = true;
                break;
            case ')':
                if (--extent.depth == 0) {
                    extent.size = i + 1;
                    return extent;
                }
                break;
            case '[': {
                const std::size_t end = value_end(text, i);
                if (end == nowhere) return extent;
                if (const auto next = game_in_value(text, i, end); next != nowhere) {
                    extent.size = next;
                    extent.is_cut = true;
                    return extent;
                }
                i = end;
                break;
            }
            default: break;
        }
    }
    return extent;
}

std::optional<GameKind> go_of_size(int size) {
    std::optional<GameKind> found;
    for_each_game([&]<class G>(std::type_identity<G>) {
        if constexpr (is_go<G>)
            if (G::size == size) found = kind_of<G>;
    });
    return found;
}

bool is_of_go(GameKind kind) {
    return with_game(kind, []<class G>(std::type_identity<G>) { return is_go<G>; });
}

/// A game for which SGF has no number of its own, by our name for it.
std::optional<GameKind> other_game_called(std::string_view name) {
    for (std::size_t i = 0; i < game_names.size(); ++i)
        if (game_names[i] == name && !is_of_go(static_cast<GameKind>(i))) return static_cast<GameKind>(i);
    return std::nullopt;
}

/// Whether a number stands after `label` in `text`, and which if it can be read.
struct Labeled {
    std::string_view text;  // from the label to the end of its line
    bool is_number = false;
    std::optional<double> number;
};
Labeled number_after(std::string_view text, std::string_view label) {
    const auto found = text.find(label);
    if (found == nowhere) return {};
    std::string_view rest = text.substr(found + label.size());
    Labeled labeled;
    labeled.text = text.substr(found, text.find_first_of("\r\n", found) - found);
    const std::string_view digits = rest.substr(rest.starts_with('-') || rest.starts_with('+'));
    labeled.is_number = !digits.empty() && (is_digit(digits[0]) || digits[0] == '.');
    const auto number = take_number(rest);
    if (ends_number(rest)) labeled.number = number;
    return labeled;
}

/// Whether a property of the root is text, in which a backslash only escapes; in others it may part values.
bool is_text(std::string_view name) {
    constexpr std::string_view texts = "AN BR BT CP DT EV GC GN ON OT PB PC PW RE RO RU SO US WR WT ";
    return name.size() == 2 && texts.find(std::string(name) + ' ') != nowhere;
}

constexpr std::uint32_t id(std::string_view name) {
    return name.size() == 1 ? static_cast<unsigned char>(name[0])
                            : static_cast<unsigned char>(name[0]) << 8 | static_cast<unsigned char>(name[1]);
}

/// Puts an analysis in Black's view into the remark on the position that it is about.
void set_analysis(Remark& remark, const SgfAnalysis& analysis, Author author) {
    remark.said_by(author);
    remark.value = static_cast<float>(analysis.value);
    if (analysis.score) remark.score = static_cast<float>(*analysis.score);
    if (analysis.visits) remark.nodes = analysis.visits;
}

}  // namespace

Reader::Found SgfReader::next(std::string_view bytes, bool last) {
    const std::size_t begin = bytes.find('(');
    if (begin == nowhere) return {bytes.size(), false};
    if (begin > 0) return {begin, false};
    // Only `(` and a node begin a tree; anything else there is text around the games.
    const std::size_t node = bytes.find_first_not_of(" \t\r\n", 1);
    if (node == nowhere && !last) return {0, false};
    if (node == nowhere || (bytes[node] != ';' && bytes[node] != '(')) return {1, false};

    const Extent extent = tree_extent(bytes);
    if (extent.size == 0 && !last) return {0, false};
    const Found found{extent.size ? extent.size : bytes.size(), true};
    if (extent.too_deep) {
        refuse(Fault::too_large, "parentheses more than " + std::to_string(deepest) + " deep");
        return found;
    }
    if (extent.size == 0 || extent.is_cut) {
        refuse(Fault::unreadable, "the game tree does not end: a ) or ] is missing");
        return found;
    }
    kind_ = kind_of<Go<19>>;
    size_ = "19";
    start_.clear();
    turns_.clear();
    set_up_.clear();
    to_play_.reset();
    root_.reset();
    lizzie_root_.reset();
    root_author_ = Author::unknown;
    read_main_line(bytes.substr(0, found.size));
    if (!refusal_) replay();
    return found;
}

/// Collects properties and moves from the first `(` to the first `)`: the main line takes the first branch everywhere.
void SgfReader::read_main_line(std::string_view tree) {
    std::size_t i = 0;
    const std::size_t end = tree.size();
    while (i < end && tree[i] != ')' && !refusal_) {
        // Nearly every node is `;B[dd]`.
        if (i + 6 <= end && tree[i] == ';' && tree[i + 2] == '[' && tree[i + 5] == ']' &&
            (tree[i + 1] == 'B' || tree[i + 1] == 'W') && tree[i + 3] >= 'a' && tree[i + 4] >= 'a') {
            turns_.push_back({tree[i + 1] == 'B' ? Player::first : Player::second, tree.substr(i + 3, 2), i + 1, {}});
            i += 6;
            continue;
        }
        const char c = tree[i];
        if (c < 'A' || c > 'z' || c == '[' || c == ']' || c == '\\') {
            if (c == '[' || c == ']') {
                refuse(Fault::unreadable, "a value without a property before '" + std::string(1, c) + "'", i);
                return;
            }
            ++i;
            continue;
        }
        // FF[3] writes `White[aa]` for `W[aa]`: small letters don't count.
        name_.clear();
        const std::size_t where = i;
        for (;
             i < end && ((tree[i] >= 'A' && tree[i] <= 'Z') || (tree[i] >= 'a' && tree[i] <= 'z') || is_digit(tree[i]));
             ++i)
            if (tree[i] >= 'A' && tree[i] <= 'Z') name_ += tree[i];
        i = std::min(tree.find_first_not_of(" \t\r\n", i), end);
        if (i >= end || tree[i] != '[') {
            refuse(Fault::unreadable, "a property without a value", where);
            return;
        }
        for (int count = 0; i < end && tree[i] == '['; ++count) {
            const std::size_t close = value_end(tree, i);
            if (close == nowhere) return;  // can't be: the tree's end was found
            const std::string_view value = tree.substr(i + 1, close - i - 1);
            if (name_.size() == 1 || name_.size() == 2) read_property(name_, value, where);
            if (name_ == "KT" && count == 2) read_katrain(value);
            if (name_ == "LZ" || name_ == "LZOP") read_lizzie(name_, value);
            if (!refusal_) keep_property(name_, value, count == 0);
            i = std::min(tree.find_first_not_of(" \t\r\n", close + 1), end);
        }
    }
}

/// Everything but moves is kept: the root's properties as tags, those of nodes as they are written, comments as words.
void SgfReader::keep_property(std::string_view name, std::string_view value, bool is_first) {
    if (name.empty() || name == "B" || name == "W") return;
    if (name == "C" && turns_.empty()) {
        if (value.empty()) return;
        record_.add_text(record_.remark(), unescape(value, unescaped_));
        // It is about the game, and only commands are about the first position.
        read_commands(unescape(value, unescaped_), record_);
    } else if (name == "C") {
        record_.add_text(turns_.back().remark, unescape(value, unescaped_));
        turns_.back().remarked = true;
    } else if (turns_.empty()) {
        record_.add_tag(name, is_text(name) ? unescape(value, unescaped_) : value);
    } else {
        record_.add_property(turns_.back().remark, is_first ? name : "", value);
        turns_.back().remarked = true;
    }
}

void SgfReader::read_property(std::string_view name, std::string_view value, std::size_t where) {
    const auto text = [&](Field field) { record_[field] = trimmed(unescape(value, unescaped_)); };
    const auto remark = [&]() -> Remark& {
        turns_.back().remarked = true;
        return turns_.back().remark;
    };
    if (lacks_its_end(value)) {
        refuse(Fault::unreadable, "the ] of " + std::string(name) + " is missing", where);
        return;
    }
    switch (id(name)) {
        case id("B"):
        case id("W"):
            turns_.push_back({name[0] == 'B' ? Player::first : Player::second, trimmed(value), where, {}});
            break;
        case id("GM"):
            value = trimmed(value);
            if (value == "2")
                kind_ = kind_of<Othello>;
            else if (equal_words(value, "Blokus Duo"))
                kind_ = kind_of<BlokusDuo>;
            else if (const auto other = other_game_called(value))
                kind_ = *other;
            else if (value != "1" && !value.empty())
                refuse(Fault::unsupported, "a game of kind GM[" + std::string(value.substr(0, 40)) + "]", where);
            break;
        case id("SU"):
            start_ = trimmed(unescape(value, unescaped_));
            set_up_at_ = where;
            break;
        case id("SZ"):
            size_ = trimmed(value);
            size_at_ = where;
            break;
        case id("PB"): text(Field::first); break;
        case id("PW"): text(Field::second); break;
        case id("BR"): text(Field::first_rating); break;
        case id("WR"): text(Field::second_rating); break;
        case id("EV"): text(Field::event); break;
        case id("RO"): text(Field::round); break;
        case id("PC"): text(Field::place); break;
        case id("DT"): text(Field::date); break;
        case id("RU"): text(Field::rules); break;
        case id("ON"): text(Field::opening); break;
        case id("TM"):
        case id("OT"): {
            std::string& control = record_[Field::time_control];
            if (!control.empty()) control += ' ';
            control += trimmed(unescape(value, unescaped_));
            break;
        }
        case id("RE"): read_sgf_result(value, record_); break;
        case id("KM"): {
            std::string number(trimmed(value).substr(0, 40));
            std::replace(number.begin(), number.end(), ',', '.');
            std::string_view rest = number;
            if (const auto komi = take_number(rest)) record_.komi = komi_in_points(*komi);
            break;
        }
        case id("HA"): {
            std::string_view rest = trimmed(value);
            if (const auto stones = take_number(rest); stones && *stones >= 0 && *stones < 400)
                record_.handicap = static_cast<std::int16_t>(*stones);
            break;
        }
        case id("PL"): {
            const std::string_view who = trimmed(value);
            if (turns_.empty() && !who.empty())
                to_play_ = who[0] == 'W' || who[0] == 'w' || who == "2" ? Player::second : Player::first;
            break;
        }
        case id("AB"):
        case id("AW"):
        case id("AE"):
            if (!turns_.empty())
                refuse(Fault::unsupported, "stones set up in the middle of the game", where);
            else
                set_up_.push_back({name[1] == 'E'   ? std::nullopt
                                   : name[1] == 'B' ? std::optional(Player::first)
                                                    : std::optional(Player::second),
                                   trimmed(value), where});
            break;
        case id("BL"):
        case id("WL"):
            // A node may tell both clocks; the mover's is kept.
            if (turns_.empty() || (turns_.back().color == Player::first) != (name[0] == 'B')) break;
            if (const auto left = number_in(value); left && *left >= 0)
                remark().clock_s = static_cast<float>(*left);
            else if (!trimmed(value).empty())
                record_.note_unreadable(value, turns_.size());
            break;
        case id("C"):
            if (!turns_.empty()) read_comment(value);
            break;
        default: break;
    }
}

/// The last of the three values of `KT`; the others are ownership and policy.
void SgfReader::read_katrain(std::string_view value) {
    const auto analysis = katrain_analysis(value);
    if (!analysis) return record_.note_unreadable("KT[…]", turns_.size());
    if (turns_.empty()) {
        root_ = analysis;
        return;
    }
    Turn& turn = turns_.back();
    set_analysis(turn.remark, *analysis, Author::unknown);
    turn.remarked = turn.analyzed = true;
}

void SgfReader::read_lizzie(std::string_view name, std::string_view value) {
    const auto analysis = lizzie_analysis(unescape(value, unescaped_));
    if (!analysis) return;  // without playouts, often
    if (turns_.empty() || name == "LZOP") {
        lizzie_root_ = analysis;
        return;
    }
    Turn& turn = turns_.back();
    set_analysis(turn.remark, turn.color == Player::first ? *analysis : analysis->turned(), Author::unknown);
    turn.remarked = turn.analyzed = true;
}

/// Win rates that programs write into comments, as far as their point of view is known.
void SgfReader::read_comment(std::string_view text) {
    Turn& turn = turns_.back();
    if (text.find("[%") != nowhere) {
        scratch_.remarks.assign(1, turn.remark);
        scratch_.remarks[0].ply = 0;
        scratch_.unreadable = 0;
        if (read_commands(unescape(text, unescaped_), scratch_)) {
            for (std::uint32_t i = 0; i < scratch_.unreadable; ++i)
                record_.note_unreadable(scratch_.first_unreadable, turns_.size());
            turn.remark = scratch_.remarks[0];
            turn.remarked = true;
            return;
        }
    }
    // KataGo's bots on OGS: on the opponent's move, in the bot's own view; in March 2019 in White's.
    const auto is_percentage = [](std::optional<double> number) { return number && *number >= 0 && *number <= 100; };
    const auto note = [&](const Labeled& labeled) {
        if (labeled.is_number) record_.note_unreadable(labeled.text, turns_.size());
    };
    if (const Labeled rate = number_after(text, "Winrate "); !is_percentage(rate.number)) {
        note(rate);
    } else {
        const bool whites_view = record_[Field::date].starts_with("2019-03");
        turn.remark.said_by(author_of(other(turn.color)));
        const Player view = whites_view ? Player::second : other(turn.color);
        const bool turned = view == Player::second;
        turn.remark.value = static_cast<float>((turned ? 100 - *rate.number : *rate.number) / 100);
        if (const Labeled mean = number_after(text, "ScoreMean "); mean.number)
            turn.remark.score = static_cast<float>(turned ? -*mean.number : *mean.number);
        else
            note(mean);
        turn.remarked = true;
        return;
    }
    if (const auto analysis = self_play_analysis(text)) {
        const Author author = author_of(turn.color);
        if (turns_.size() == 1) {
            root_ = analysis->turned();
            root_author_ = author;
            return;
        }
        Turn& before = turns_[turns_.size() - 2];
        set_analysis(before.remark, analysis->turned(), author);
        before.remarked = true;
        return;
    }
    if (turn.analyzed) return;
    // KaTrain: `Score: B+3.2`, `Win rate: W 53.1%`, the leader named.
    for (const bool black : {true, false}) {
        const Labeled rate = number_after(text, black ? "Win rate: B " : "Win rate: W ");
        if (!is_percentage(rate.number)) {
            note(rate);
            continue;
        }
        turn.remark.said_by(Author::unknown);
        turn.remark.value = static_cast<float>((black ? *rate.number : 100 - *rate.number) / 100);
        turn.remarked = true;
        return;
    }
}

template <class G>
G SgfReader::start_of() {
    if constexpr (!is_go<G>) {
        if (!start_.empty()) return G::from_text(start_);
        // Some programs set up the usual start of Othello.
        std::array<std::vector<std::string_view>, 2> usual = {{{"e4", "d5", "ed", "de"}, {"d4", "e5", "dd", "ee"}}};
        for (const Stone& stone : set_up_) {
            set_up_at_ = stone.where;
            const bool is_usual = std::is_same_v<G, Othello> && set_up_.size() == 4 && stone.color &&
                                  std::erase(usual[static_cast<std::size_t>(index_of(*stone.color))], stone.point) == 1;
            if (!is_usual) throw NotationError("set-up stones in this game");
        }
        return G();
    } else {
        using Move = typename G::Move;
        std::array<std::optional<Player>, G::area> board;
        for (const Stone& stone : set_up_) {
            set_up_at_ = stone.where;
            const bool rectangle = stone.point.size() == 5 && stone.point[2] == ':';
            const int first = G::parse_sgf(rectangle ? stone.point.substr(0, 2) : stone.point).point;
            const int last = rectangle ? G::parse_sgf(stone.point.substr(3, 2)).point : first;
            if (std::max(first, last) >= G::area) throw NotationError("a pass is no stone");
            for (int row = first / G::size; row <= last / G::size; ++row)
                for (int column = first % G::size; column <= last % G::size; ++column)
                    board[static_cast<std::size_t>(row * G::size + column)] = stone.color;
        }
        std::vector<Move> stones[2];
        for (std::size_t point = 0; point < board.size(); ++point)
            if (board[point]) stones[index_of(*board[point])].push_back({static_cast<std::uint16_t>(point)});
        if (record_.handicap == 0 && stones[0].size() > 1 && stones[1].empty())
            record_.handicap = static_cast<std::int16_t>(stones[0].size());
        const Player to_play = !turns_.empty()    ? turns_[0].color
                               : to_play_         ? *to_play_
                               : !set_up_.empty() ? Player::second
                                                  : Player::first;
        const double komi = board_komi(record_.komi);
        if (set_up_.empty()) return G(komi).with_to_play(to_play);
        return G::from_stones(stones[0], stones[1], to_play, komi);
    }
}

template <class G>
void SgfReader::replay_as() {
    using Move = typename G::Move;
    G game;
    try {
        game = start_of<G>();
    } catch (const std::invalid_argument& error) {
        return refuse(Fault::unreadable, std::string("the set-up: ") + error.what(), set_up_at_);
    }
    const bool is_usual = (set_up_.empty() && start_.empty()) || game == start_position<G>({}, record_.komi);
    if (!is_usual || game.to_play() != Player::first) record_[Field::start] = game.text();
    game = as_recorded(game);
    if (lizzie_root_) root_ = game.to_play() == Player::first ? lizzie_root_->turned() : *lizzie_root_;
    if (root_) set_analysis(record_.remark(), *root_, root_author_);
    constexpr bool has_passes = requires { Move::pass(); };
    for (const Turn& turn : turns_) {
        if (turn.color != game.to_play()) {
            bool has_passed = false;
            // Who moves twice running has seen the other pass.
            if constexpr (has_passes) has_passed = play_recorded(game, Move::pass());
            if (!has_passed)
                return refuse(Fault::illegal_move,
                              "move " + std::to_string(record_.moves.size() + 1) + " is by the wrong player",
                              turn.where);
            if constexpr (has_passes) record_.moves.push_back(static_cast<std::uint16_t>(Move::pass().code()));
        }
        Move move;
        try {
            if constexpr (is_go<G>)
                move = G::parse_sgf(turn.point);
            else if constexpr (has_passes)
                move = turn.point.empty() ? Move::pass() : game.parse_move(turn.point);
            else
                move = game.parse_move(turn.point);
        } catch (const NotationError& error) {
            return refuse(Fault::unreadable, error.what(), turn.where);
        }
        if (!play_recorded(game, move))
            return refuse(Fault::illegal_move,
                          "move " + std::to_string(record_.moves.size() + 1) + ", " + move.text() + ", is illegal",
                          turn.where);
        record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
        if (turn.remarked) {
            record_.remarks.push_back(turn.remark);
            record_.remarks.back().ply = static_cast<std::int32_t>(record_.moves.size());
        }
    }
}

void SgfReader::replay() {
    if (is_of_go(kind_)) {
        std::string_view size = size_;
        if (const auto colon = size.find(':'); colon != nowhere && size.substr(0, colon) == size.substr(colon + 1))
            size = size.substr(0, colon);
        const auto lines = parse_number(size, 1, 99);
        const auto kind = lines ? go_of_size(*lines) : std::nullopt;
        if (!kind) return refuse(Fault::unsupported, "a board of size " + std::string(size.substr(0, 20)), size_at_);
        kind_ = *kind;
    }
    record_.game = kind_;
    with_game(kind_, [&]<class G>(std::type_identity<G>) { replay_as<G>(); });
}

}  // namespace hyoka::records
