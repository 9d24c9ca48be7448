// SPDX-License-Identifier: Apache-2.0
#include "records/lines.h"

#include "records/replay.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr auto nowhere = std::string_view::npos;

bool take_word(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word) || (text.size() > word.size() && !is_blank(text[word.size()]))) return false;
    text = trimmed(text.substr(word.size()));
    return true;
}

std::string_view next_word(std::string_view& text) {
    const auto end = std::min(text.find_first_of(" \t\r"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r", end), text.size()));
    return word;
}

bool is_code(std::string_view word) {
    const auto hexadecimal = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'e'); };
    return word.size() == 4 && (word == "0000" || (hexadecimal(word[0]) && hexadecimal(word[1]) && word[2] >= 'a' &&
                                                   word[2] <= 'u' && word[3] >= '0' && word[3] <= '7'));
}

bool is_transcript(std::string_view text) {
    if (text.size() < 2 || text.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < text.size(); i += 2)
        if ((text[i] | 32) < 'a' || (text[i] | 32) > 'h' || text[i + 1] < '1' || text[i + 1] > '8') return false;
    return true;
}

/// `e2e4`, `7g7f` or `P*5e`: a move of UCI or USI.
bool is_coordinate_move(std::string_view word) {
    if (word.size() < 4 || word.size() > 5) return false;
    const auto uci_square = [&](std::size_t i) {
        return word[i] >= 'a' && word[i] <= 'h' && word[i + 1] >= '1' && word[i + 1] <= '8';
    };
    const auto usi_square = [&](std::size_t i) {
        return word[i] >= '1' && word[i] <= '9' && word[i + 1] >= 'a' && word[i + 1] <= 'i';
    };
    return (uci_square(0) && uci_square(2)) || ((usi_square(0) || word[1] == '*') && usi_square(2));
}

}  // namespace

Reader::Found LineReader::next(std::string_view bytes, bool last) {
    if (bytes.empty()) return {0, false};
    const auto end = bytes.find('\n');
    if (end == nowhere && !last) return {0, false};
    const std::size_t size = end == nowhere ? bytes.size() : end + 1;
    std::string_view line = bytes.substr(0, size);
    if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    line = trimmed(line);
    if (line.empty() || line[0] == '#') return {size, false};
    read_line(line);
    return {size, true};
}

void LineReader::read_line(std::string_view line) {
    take_word(line, "position");
    const auto split = line.find("moves");
    const bool has_moves = split != nowhere && split > 0 && is_blank(line[split - 1]);
    const std::string_view start = trimmed(line.substr(0, has_moves ? split : nowhere));
    const std::string_view moves = has_moves ? trimmed(line.substr(split + 5)) : std::string_view{};
    std::string_view rest = line;
    const std::string_view first = next_word(rest);
    if (has_moves || first == "startpos" || first == "sfen" || first == "fen")
        read_moves_after(start, moves);
    else if (is_coordinate_move(first))
        read_moves_after("startpos", line);
    else if (is_code(first))
        read_codes(line);
    else if (is_transcript(first))
        read_transcript(line);
    else if (first.find('/') != nowhere)
        read_moves_after(line, {});
    else
        refuse(Fault::unreadable, "'" + std::string(line.substr(0, 40)) + "' is no line of moves");
}

void LineReader::read_moves_after(std::string_view start, std::string_view moves) {
    // USI names the file by a digit (7g7f, P*5e), UCI by a letter (e2e4).
    const bool chess_moves = moves.size() > 1 && moves[0] >= 'a' && moves[0] <= 'h';
    if (take_word(start, "startpos")) {
        if (chess_moves)
            replay(kind_of<Chess>, Chess(), moves);
        else
            replay(kind_of<Shogi>, Shogi(), moves);
        return;
    }
    const bool is_fen = take_word(start, "fen");
    take_word(start, "sfen");
    const std::string_view board = start.substr(0, start.find(' '));
    const auto rows = std::count(board.begin(), board.end(), '/') + 1;
    try {
        if (is_fen || rows == 8)
            replay(kind_of<Chess>, Chess::from_text(start), moves);
        else
            replay(kind_of<Shogi>, Shogi::from_text(start), moves);
    } catch (const std::invalid_argument& error) {
        refuse(Fault::unreadable, error.what());
    }
}

template <class G>
void LineReader::replay(GameKind kind, const G& start, std::string_view moves) {
    record_.game = kind;
    record_.ending = Ending::unfinished;
    if (!(start == G())) record_[Field::start] = start.text();
    G game = as_recorded(start);
    while (!moves.empty()) {
        const std::string_view word = next_word(moves);
        typename G::Move move;
        try {
            move = game.parse_move(word);
        } catch (const std::invalid_argument&) {
            return refuse(Fault::unreadable, "'" + std::string(word.substr(0, 40)) + "' after move " +
                                                 std::to_string(record_.moves.size()) + " is no move");
        }
        if (!play_recorded(game, move))
            return refuse(Fault::illegal_move, "move " + std::to_string(record_.moves.size() + 1) + ", " + move.text() +
                                                   ", is illegal in " + game.text());
        record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
    }
    if (const auto over = game.outcome()) {
        record_.winner = static_cast<Winner>(over->result);
        record_.ending = Ending::normal;
        if constexpr (std::is_same_v<G, BlokusDuo>) record_.margin = static_cast<float>(game.score());
    }
}

void LineReader::read_codes(std::string_view codes) { replay(kind_of<BlokusDuo>, BlokusDuo(), codes); }

/// Passes are not written in a transcript.
void LineReader::read_transcript(std::string_view moves) {
    record_.game = kind_of<Othello>;
    record_.ending = Ending::unfinished;
    std::string squares;
    while (!moves.empty()) {
        const std::string_view word = next_word(moves);
        if (!is_transcript(word))
            return refuse(Fault::unreadable, "'" + std::string(word.substr(0, 40)) + "' is no move");
        squares += word;
    }
    Othello game;
    for (std::size_t i = 0; i + 1 < squares.size(); i += 2) {
        const auto move = game.parse_move(std::string_view(squares).substr(i, 2));
        if (!game.is_legal(move) && game.is_legal(Othello::Move::pass())) {
            game.play(Othello::Move::pass());
            record_.moves.push_back(static_cast<std::uint16_t>(Othello::Move::pass().code()));
        }
        if (!play_recorded(game, move))
            return refuse(Fault::illegal_move, "move " + std::to_string(record_.moves.size() + 1) + ", " + move.text() +
                                                   ", is illegal in " + game.text());
        record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
    }
    if (const auto over = game.outcome()) {
        record_.winner = static_cast<Winner>(over->result);
        record_.ending = Ending::normal;
        record_.margin = static_cast<float>(game.score());
    }
}

}  // namespace hyoka::records
