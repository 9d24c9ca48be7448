// SPDX-License-Identifier: Apache-2.0
#include "records/wthor.h"

#include "games/othello.h"
#include "records/text.h"

namespace hyoka::records {

namespace {

constexpr std::size_t header_size = 16;
constexpr std::size_t game_size = 68;
constexpr std::size_t player_size = 20;
constexpr std::size_t tournament_size = 26;

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }
unsigned short_at(std::string_view bytes, std::size_t i) { return byte_at(bytes, i) | byte_at(bytes, i + 1) << 8; }

/// The entry of a table of names in Latin-1, as UTF-8; empty if there is none.
std::string name_in(std::string_view table, std::size_t entry_size, unsigned number) {
    const std::size_t begin = header_size + entry_size * number;
    if (begin + entry_size > table.size()) return {};
    const std::string_view entry = table.substr(begin, entry_size);
    std::string name;
    for (const char c : entry.substr(0, entry.find('\0'))) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x80) {
            name += c;
        } else {
            name += static_cast<char>(0xc0 | code >> 6);
            name += static_cast<char>(0x80 | (code & 0x3f));
        }
    }
    return std::string(trimmed(name));
}

}  // namespace

Reader::Found WthorReader::next(std::string_view bytes, bool last) {
    if (!header_read_) {
        if (bytes.size() < header_size) {
            if (!last || bytes.empty()) return {0, false};
            refuse(Fault::unreadable, "shorter than WTHOR's header");
            return {bytes.size(), true};
        }
        header_read_ = true;
        games_left_ = static_cast<std::int64_t>(short_at(bytes, 4)) | static_cast<std::int64_t>(short_at(bytes, 6))
                                                                          << 16;
        year_ = static_cast<int>(short_at(bytes, 10));
        if (const unsigned size = byte_at(bytes, 12); size != 0 && size != 8) {
            refuse(Fault::unsupported, "a board of size " + std::to_string(size));
            is_over_ = true;
            games_left_ = 0;
            return {header_size, true};
        }
        return {header_size, false};
    }
    if (bytes.empty()) return {0, false};
    if (is_over_) return {bytes.size(), false};
    const std::string_view game = bytes.substr(0, game_size);
    if (game.size() < game_size && !last) return {0, false};
    // The header may count fewer games than there are; what follows them is filling, or games as good as the others.
    const bool is_filling = games_left_ <= 0 && game.find_first_not_of('\0') == std::string_view::npos;
    if (is_filling) return {game.size(), false};
    if (game.size() < game_size) {
        refuse(Fault::unreadable, "the file ends within a game");
        games_left_ = 0;
        return {game.size(), true};
    }
    --games_left_;
    read_game(game);
    return {game_size, true};
}

bool WthorReader::is_incomplete() {
    if (games_left_ <= 0) return false;
    refuse(Fault::unreadable,
           "the file ends " + std::to_string(games_left_) + " games before the number in its header");
    games_left_ = 0;
    return true;
}

void WthorReader::read_game(std::string_view bytes) {
    record_.game = kind_of<Othello>;
    record_[Field::event] = name_in(tournaments_, tournament_size, short_at(bytes, 0));
    record_[Field::first] = name_in(players_, player_size, short_at(bytes, 2));
    record_[Field::second] = name_in(players_, player_size, short_at(bytes, 4));
    if (year_ > 0) record_[Field::date] = std::to_string(year_);
    Othello game;
    for (std::size_t i = 8; i < game_size && bytes[i] != 0; ++i) {
        const unsigned row = byte_at(bytes, i) / 10 - 1;
        const unsigned column = byte_at(bytes, i) % 10 - 1;
        if (row > 7 || column > 7)
            return refuse(Fault::unreadable, "byte " + std::to_string(byte_at(bytes, i)) + " after move " +
                                                 std::to_string(record_.moves.size()) + " is no square");
        const Othello::Move move{static_cast<std::uint8_t>(8 * row + column)};
        // Passes are not written.
        if (!game.is_legal(move) && game.is_legal(Othello::Move::pass())) {
            game.play(Othello::Move::pass());
            record_.moves.push_back(static_cast<std::uint16_t>(Othello::Move::pass().code()));
        }
        if (!game.is_legal(move))
            return refuse(Fault::illegal_move, "move " + std::to_string(record_.moves.size() + 1) + ", " + move.text() +
                                                   ", is illegal in " + game.text());
        game.play(move);
        record_.moves.push_back(static_cast<std::uint16_t>(move.code()));
    }
    const int discs = static_cast<int>(byte_at(bytes, 6));
    record_.margin = static_cast<float>(2 * discs - 64);
    record_.winner = discs > 32 ? Winner::first : discs < 32 ? Winner::second : Winner::draw;
    // Some games were resigned or lost on time; which, the file does not say.
    record_.ending = game.outcome() ? Ending::normal : Ending::unfinished;
}

}  // namespace hyoka::records
