// SPDX-License-Identifier: Apache-2.0
#include "records/csa.h"

#include <cstring>

#include "records/commands.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr auto nowhere = std::string_view::npos;
using Kind = Shogi::Kind;

constexpr Kind kind_named(char a, char b) {
    switch (a << 8 | b) {
        case 'F' << 8 | 'U': return Shogi::pawn;
        case 'K' << 8 | 'Y': return Shogi::lance;
        case 'K' << 8 | 'E': return Shogi::knight;
        case 'G' << 8 | 'I': return Shogi::silver;
        case 'K' << 8 | 'A': return Shogi::bishop;
        case 'H' << 8 | 'I': return Shogi::rook;
        case 'K' << 8 | 'I': return Shogi::gold;
        case 'O' << 8 | 'U': return Shogi::king;
        case 'T' << 8 | 'O': return Shogi::promoted_pawn;
        case 'N' << 8 | 'Y': return Shogi::promoted_lance;
        case 'N' << 8 | 'K': return Shogi::promoted_knight;
        case 'N' << 8 | 'G': return Shogi::promoted_silver;
        case 'U' << 8 | 'M': return Shogi::horse;
        case 'R' << 8 | 'Y': return Shogi::dragon;
        default: return Shogi::no_piece;
    }
}

constexpr std::string_view sfen_letters = ".PLNSBRGK";
constexpr std::array<int, 9> pieces_in_all = {0, 18, 4, 4, 4, 2, 2, 4, 2};

std::string sfen_piece(Kind kind, Player player) {
    const bool is_promoted = kind > Shogi::king;
    const char letter = sfen_letters[static_cast<std::size_t>(is_promoted ? kind - 8 : kind)];
    std::string text = is_promoted ? "+" : "";
    return text += player == Player::first ? letter : static_cast<char>(letter | 32);
}

/// The square of two digits, file and rank; -1 if they name none.
constexpr int square_of(char file, char rank) {
    if (file < '1' || file > '9' || rank < '1' || rank > '9') return -1;
    return shogi::square_at(file - '1', rank - '1');
}

/// Whether a word is meant as a number: it begins as one does.
bool begins_number(std::string_view word) {
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (word.starts_with('.')) word.remove_prefix(1);
    return !word.empty() && is_digit(word[0]);
}

/// Whether a word has the form of a move, `+7776FU`.
bool is_move(std::string_view word) {
    if (word.size() != 7 || (word[0] != '+' && word[0] != '-')) return false;
    for (std::size_t i = 1; i < 5; ++i)
        if (!is_digit(word[i])) return false;
    return kind_named(word[5], word[6]) != Shogi::no_piece;
}

std::array<std::string, 81> usual_squares() {
    std::array<std::string, 81> squares;
    const Shogi start;
    for (int square = 0; square < 81; ++square)
        for (const Player player : {Player::first, Player::second})
            if (const Kind kind = start.piece_on(square); kind != Shogi::no_piece)
                if (start.pieces(player, kind) & shogi::bit(square))
                    squares[static_cast<std::size_t>(square)] = sfen_piece(kind, player);
    return squares;
}

/// The line at `from` without its end, and where the next begins.
struct Line {
    std::string_view text;
    std::size_t next;
    bool ended;  // false: the bytes ended before the line did
};
Line line_at(std::string_view bytes, std::size_t from) {
    const void* found = std::memchr(bytes.data() + from, '\n', bytes.size() - from);
    const auto end = found ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data()) : bytes.size();
    std::string_view text = bytes.substr(from, end - from);
    if (text.ends_with('\r')) text.remove_suffix(1);
    return {text, found ? end + 1 : end, found != nullptr};
}

}  // namespace

std::string CsaReader::SetUp::sfen(Player to_play) const {
    std::string text;
    for (int rank = 0; rank < 9; ++rank) {
        if (rank) text += '/';
        int empty = 0;
        for (int file = 8; file >= 0; --file) {
            const std::string& piece = squares[static_cast<std::size_t>(shogi::square_at(file, rank))];
            if (piece.empty()) {
                ++empty;
                continue;
            }
            if (empty) text += std::to_string(std::exchange(empty, 0));
            text += piece;
        }
        if (empty) text += std::to_string(empty);
    }
    text += to_play == Player::first ? " b " : " w ";
    std::string hand;
    for (const Player player : {Player::first, Player::second})
        for (const Kind kind :
             {Shogi::rook, Shogi::bishop, Shogi::gold, Shogi::silver, Shogi::knight, Shogi::lance, Shogi::pawn}) {
            const int count = hands[static_cast<std::size_t>(index_of(player))][kind];
            if (count > 1) hand += std::to_string(count);
            if (count > 0) hand += sfen_piece(kind, player);
        }
    return text + (hand.empty() ? "-" : hand) + " 1";
}

Reader::Found CsaReader::next(std::string_view bytes, bool last) {
    static const Shogi start;
    game_ = start;
    set_up_.reset();
    said_ = Winner::unknown;
    started_ = ended_ = has_header_ = false;
    record_.game = kind_of<Shogi>;

    bool anything = false;
    std::size_t at = bytes.starts_with("\xef\xbb\xbf") ? 3 : 0;
    while (at < bytes.size()) {
        const Line line = line_at(bytes, at);
        if (!line.ended && !last) return {0, false};
        const std::string_view text = line.text;
        switch (text.empty() ? ' ' : text[0]) {
            case '+':
            case '-':
                anything = true;
                if (text.size() == 7)
                    read_move(text, at);
                else
                    read_statements(text, at);
                break;
            case 'T':
            case '%':
                anything = true;
                read_statements(text, at);
                break;
            case '\'': read_comment(text); break;
            case '/':
                if (text.size() > 1) break;
                if (anything) finish();
                return {line.next, anything};
            case ' ': break;
            case 'V':
            case 'N':
            case '$':
            case 'P':
                // Another game begins with its version, after moves with its players or its board, and with any header
                // once this one has ended; only when it ended may come after its moves.
                if (text.starts_with("$END_TIME")) {
                    keep_header(text);
                    break;
                }
                if ((started_ && ended_) || (has_header_ && text[0] == 'V' && text.size() > 1 && is_digit(text[1])) ||
                    (!record_.moves.empty() && text[0] != '$')) {
                    finish();
                    return {at, true};
                }
                anything = has_header_ = true;
                read_statement(text, at);
                break;
            default: anything = true;  // no statement of CSA
        }
        at = line.next;
    }
    if (!last) return {0, false};
    if (anything) finish();
    return {bytes.size(), anything};
}

/// Several statements may share a line, with commas between them.
void CsaReader::read_statements(std::string_view line, std::size_t where) {
    for (;;) {
        const std::size_t comma = line.find(',');
        read_statement(line.substr(0, comma), where);
        if (comma == nowhere) return;
        line.remove_prefix(comma + 1);
    }
}

void CsaReader::read_statement(std::string_view line, std::size_t where) {
    switch (line.empty() ? '\0' : line[0]) {
        case '+':
        case '-':
            if (line.size() == 1 || is_blank(line[1]))
                begin_moves(line[0] == '+' ? Player::first : Player::second, where);
            else
                read_move(line, where);
            break;
        case 'T':
            if (!record_.moves.empty() && !ended_) {
                line = trimmed(line.substr(1));
                if (const auto spent = number_in(line); spent && *spent >= 0)
                    record_.remark().spent_s = static_cast<float>(*spent);
                else if (!line.empty())
                    record_.note_unreadable(line);
            }
            break;
        case '\'': read_comment(line); break;
        case '%': read_end(trimmed(line)); break;
        case 'N':
        case '$':
            keep_header(line);
            read_header(line);
            break;
        case 'P': read_set_up(line, where); break;
        default: break;
    }
}

void CsaReader::begin_moves(Player to_play, std::size_t where) {
    if (started_ || refusal_) return;
    started_ = true;
    if (!set_up_ && to_play == Player::first) return;
    if (!set_up_) set_up_ = SetUp{usual_squares(), {}, 0};
    try {
        game_ = Shogi::from_text(set_up_->sfen(to_play));
        if (!(game_ == Shogi())) record_[Field::start] = game_.text();
    } catch (const std::invalid_argument& error) {
        refuse(Fault::unreadable, error.what(), where);
    }
    if (set_up_->taken_away) record_.handicap = static_cast<std::int16_t>(set_up_->taken_away);
}

void CsaReader::read_move(std::string_view text, std::size_t where) {
    if (refusal_ || ended_) return;
    const Player mover = text[0] == '+' ? Player::first : Player::second;
    if (!started_) begin_moves(mover, where);
    const auto unreadable = [&] {
        refuse(Fault::unreadable, "'" + std::string(text.substr(0, 20)) + "' is no move", where);
    };
    if (text.size() < 7) return unreadable();
    const int to = square_of(text[3], text[4]);
    const Kind kind = kind_named(text[5], text[6]);
    if (to < 0 || kind == Shogi::no_piece) return unreadable();
    Shogi::Move move;
    bool fits = mover == game_.to_play();
    if (text[1] == '0' && text[2] == '0') {
        if (kind > Shogi::gold) return unreadable();
        move = Shogi::Move::drop(kind, to);
    } else {
        const int from = square_of(text[1], text[2]);
        if (from < 0) return unreadable();
        const Kind standing = game_.piece_on(from);
        const bool promotes = standing != kind;
        fits = fits && (!promotes || (standing != Shogi::no_piece && standing <= Shogi::rook && standing + 8 == kind));
        move = {from, to, promotes};
    }
    if (!fits || !game_.is_legal(move))
        return refuse(Fault::illegal_move,
                      "move " + std::to_string(record_.moves.size() + 1) + ", " + std::string(text.substr(0, 7)) +
                          ", is illegal in " + game_.text(),
                      where);
    game_.play(move);
    record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
}

/// `$EVENT:x`, `N+x` and `'summary:x`, each under the name that stands before its value.
void CsaReader::keep_header(std::string_view line) {
    if (line[0] == 'N' && (line.starts_with("N+") || line.starts_with("N-")))
        record_.add_tag(line.substr(0, 2), line.substr(2));
    if (line[0] == 'N') return;
    const std::size_t name = std::min(line.find(':'), line.size());
    record_.add_tag(line.substr(0, name), line.substr(std::min(name + 1, line.size())));
}

/// Whether a comment is a header in disguise, `'summary:toryo:…`: it stands beside the moves, not among them.
bool CsaReader::is_header(std::string_view line) const {
    if (!record_.moves.empty() && !ended_) return false;
    const auto end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 1);
    return end != nowhere && end > 1 && line[end] == ':';
}

void CsaReader::read_comment(std::string_view line) {
    if (is_header(line))
        keep_header(line);
    else if (!refusal_ && !ended_ && line.size() > 1 && !line.starts_with("'CSA encoding="))
        record_.add_text(record_.remark(), line.substr(1), '\n');
    line.remove_prefix(1);
    if (line.starts_with("**")) {
        if (record_.moves.empty() || ended_) return;
        line = trimmed(line.substr(2));
        const std::string_view word = take_until(line, " \t");
        if (const auto score = number_in(word)) {
            Remark& remark = record_.remark();
            remark.said_by(author_of(other(game_.to_play())));
            remark.score = static_cast<float>(*score);
        } else if (begins_number(word) && !is_move(word)) {
            record_.note_unreadable(word);
        }
        return;
    }
    if (line.starts_with("[%")) read_commands(line, record_);
    const auto rate = [&](Field field) {
        const std::string_view text = line.substr(line.rfind(':') + 1);
        record_[field] = trimmed(text);
    };
    if (line.starts_with("handicap:"))
        if (const auto pieces = number_in(line.substr(9)); pieces && *pieces >= 0 && *pieces < 40)
            record_.handicap = static_cast<std::int16_t>(*pieces);
    if (line.starts_with("round:")) record_[Field::round] = trimmed(line.substr(6));
    if (line.starts_with("black_rate:")) rate(Field::first_rating);
    if (line.starts_with("white_rate:")) rate(Field::second_rating);
    if (line.starts_with("result:")) {
        line.remove_prefix(7);
        if (line.starts_with("black")) said_ = Winner::first;
        if (line.starts_with("white")) said_ = Winner::second;
        if (line.starts_with("draw")) said_ = Winner::draw;
    }
}

void CsaReader::read_header(std::string_view line) {
    const auto set = [&](Field field, std::string_view text) {
        text = trimmed(text);
        if (text != "?") record_[field] = text;
    };
    const auto value = [&](std::string_view name) -> std::optional<std::string_view> {
        if (!line.starts_with(name)) return std::nullopt;
        return line.substr(name.size());
    };
    if (const auto name = value("N+")) set(Field::first, *name);
    if (const auto name = value("N-")) set(Field::second, *name);
    if (const auto event = value("$EVENT:")) set(Field::event, *event);
    if (const auto site = value("$SITE:")) set(Field::place, *site);
    if (const auto opening = value("$OPENING:")) set(Field::opening, *opening);
    if (const auto limit = value("$TIME_LIMIT:")) set(Field::time_control, *limit);
    if (const auto limit = value("$TIME:")) set(Field::time_control, *limit);
    if (const auto begun = value("$START_TIME:")) set(Field::date, begun->substr(0, begun->find(' ')));
}

void CsaReader::read_set_up(std::string_view line, std::size_t where) {
    if (line.size() < 2 || started_) return;
    const auto bad = [&] { refuse(Fault::unreadable, "bad set-up '" + std::string(line.substr(0, 60)) + "'", where); };
    if (line == "PI") return;
    if (line[1] == 'I') {
        set_up_ = SetUp{usual_squares(), {}, 0};
        for (line.remove_prefix(2); line.size() >= 4; line.remove_prefix(4)) {
            const int square = square_of(line[0], line[1]);
            if (square < 0) return bad();
            set_up_->squares[static_cast<std::size_t>(square)].clear();
            ++set_up_->taken_away;
        }
        return;
    }
    if (!set_up_) set_up_ = SetUp{};
    if (line[1] >= '1' && line[1] <= '9') {
        const int rank = line[1] - '1';
        std::string_view cells = line.substr(2);
        for (int file = 8; file >= 0; --file) {
            std::string& square = set_up_->squares[static_cast<std::size_t>(shogi::square_at(file, rank))];
            square.clear();
            const std::string_view cell = cells.substr(0, 3);
            cells.remove_prefix(cell.size());
            if (cell.size() < 3 || (cell[0] != '+' && cell[0] != '-')) continue;  // ` * `
            const Kind kind = kind_named(cell[1], cell[2]);
            if (kind == Shogi::no_piece) return bad();
            square = sfen_piece(kind, cell[0] == '+' ? Player::first : Player::second);
        }
        return;
    }
    if (line[1] != '+' && line[1] != '-') return bad();
    const Player player = line[1] == '+' ? Player::first : Player::second;
    auto& hand = set_up_->hands[static_cast<std::size_t>(index_of(player))];
    for (line.remove_prefix(2); line.size() >= 4; line.remove_prefix(4)) {
        if (line.starts_with("00AL")) {  // whatever is nowhere yet
            std::array<int, 9> left = pieces_in_all;
            for (const std::string& piece : set_up_->squares)
                if (!piece.empty()) --left[sfen_letters.find(static_cast<char>(piece.back() & ~32))];
            for (const auto& either : set_up_->hands)
                for (std::size_t kind = Shogi::pawn; kind <= Shogi::gold; ++kind) left[kind] -= either[kind];
            for (std::size_t kind = Shogi::pawn; kind <= Shogi::gold; ++kind) hand[kind] += std::max(0, left[kind]);
            continue;
        }
        const Kind kind = kind_named(line[2], line[3]);
        if (kind == Shogi::no_piece) return bad();
        if (line.starts_with("00")) {
            if (kind > Shogi::gold || ++hand[kind] > pieces_in_all[kind]) return bad();
            continue;
        }
        const int square = square_of(line[0], line[1]);
        if (square < 0) return bad();
        set_up_->squares[static_cast<std::size_t>(square)] = sfen_piece(kind, player);
    }
}

void CsaReader::read_end(std::string_view mark) {
    if (ended_) return;
    if (!started_) begin_moves(Player::first, 0);
    ended_ = true;
    if (!refusal_) record_.add_tag("%", mark.substr(1));
    const auto win = [](Player player) { return player == Player::first ? Winner::first : Winner::second; };
    const Player mover = game_.to_play();
    const auto end = [&](Winner winner, Ending ending) {
        record_.winner = winner;
        record_.ending = ending;
    };
    if (mark == "%TORYO")
        end(win(other(mover)), Ending::resigned);
    else if (mark == "%TSUMI")
        end(win(other(mover)), Ending::normal);
    else if (mark == "%TIME_UP")
        end(win(other(mover)), Ending::time);
    else if (mark == "%ILLEGAL_MOVE")
        end(win(other(mover)), Ending::illegal);
    else if (mark == "%+ILLEGAL_ACTION")
        end(Winner::second, Ending::illegal);
    else if (mark == "%-ILLEGAL_ACTION")
        end(Winner::first, Ending::illegal);
    else if (mark == "%KACHI")
        end(win(mover), Ending::normal);
    else if (mark == "%SENNICHITE" || mark == "%JISHOGI" || mark == "%HIKIWAKE" || mark == "%MAX_MOVES")
        end(Winner::draw, Ending::normal);
    else
        end(Winner::unknown, Ending::unfinished);  // %CHUDAN, %MATTA, %FUZUMI, %ERROR
}

void CsaReader::finish() {
    if (!started_ && !has_header_) return refuse(Fault::unreadable, "nothing here reads as CSA");
    if (!ended_) record_.ending = Ending::unfinished;
    if (record_.winner != Winner::unknown || said_ == Winner::unknown) return;
    record_.winner = said_;
    record_.ending = Ending::unknown;
}

}  // namespace hyoka::records
