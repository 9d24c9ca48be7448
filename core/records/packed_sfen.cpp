// SPDX-License-Identifier: Apache-2.0
#include "records/packed_sfen.h"

#include <algorithm>
#include <string>

#include "records/replay.h"
#include "records/training_scores.h"

namespace hyoka::records {

namespace {

using Kind = Shogi::Kind;

constexpr int squares = 81;
constexpr int size_in_bits = 256;
constexpr std::array<int, 8> in_all = {0, 18, 4, 4, 4, 2, 2, 4};  // by Kind
constexpr std::array<Kind, 7> kinds = {Shogi::pawn,   Shogi::lance, Shogi::knight, Shogi::silver,
                                       Shogi::bishop, Shogi::rook,  Shogi::gold};

/// A kind's code, lowest bit first. On the board a 1 comes before it, since an empty square is 0. Behind it come
/// promotion, which gold lacks, and color. A promoted piece off the board is one that a handicap took away: in the box.
struct Code {
    unsigned bits;
    int size;
};
constexpr std::array<Code, 8> codes = {{{0, 0}, {0, 1}, {1, 3}, {5, 3}, {3, 3}, {15, 5}, {31, 5}, {7, 4}}};
/// The gold in the box is a promoted silver of White.
constexpr Code box_gold = {0b11011, 5};

class Writer {
public:
    void add(unsigned bits, int size) {
        for (int i = 0; i < size; ++i, ++at_)
            if (bits >> i & 1 && at_ < size_in_bits)
                bytes_[static_cast<std::size_t>(at_ / 8)] |= static_cast<std::uint8_t>(1 << at_ % 8);
    }
    void add_piece(Kind kind, bool is_promoted, Player player) {
        const Code code = codes[kind];
        add(code.bits, code.size);
        if (kind != Shogi::gold) add(is_promoted, 1);
        add(player == Player::second, 1);
    }
    const PackedSfen& bytes() const { return bytes_; }

private:
    PackedSfen bytes_{};
    int at_ = 0;
};

class BitReader {
public:
    explicit BitReader(std::string_view bytes) : bytes_(bytes) {}
    int take(int size) {
        int bits = 0;
        for (int i = 0; i < size; ++i) {
            if (at_ >= size_in_bits) throw NotationError("the packed position does not end");
            bits |= (static_cast<unsigned char>(bytes_[static_cast<std::size_t>(at_ / 8)]) >> at_ % 8 & 1) << i;
            ++at_;
        }
        return bits;
    }
    Kind take_kind() {
        if (!take(1)) return Shogi::pawn;
        if (!take(1)) return take(1) ? Shogi::knight : Shogi::lance;
        if (!take(1)) return Shogi::silver;
        if (!take(1)) return Shogi::gold;
        return take(1) ? Shogi::rook : Shogi::bishop;
    }
    bool at_end() const { return at_ == size_in_bits; }

private:
    std::string_view bytes_;
    int at_ = 0;
};

unsigned king_square(const Shogi& position, Player player) {
    const auto kings = position.pieces(player, Shogi::king);
    return static_cast<unsigned>(kings ? lowest_bit(kings) : squares);
}

void append_letter(std::string& sfen, Kind kind, bool is_promoted, bool is_second) {
    constexpr std::string_view letters = " PLNSBRGK";
    if (is_promoted) sfen += '+';
    sfen += is_second ? static_cast<char>(letters[kind] | 32) : letters[kind];
}

constexpr std::size_t entry_size = 40;

/// One position of a file.
struct Entry {
    std::string_view sfen;
    int score;
    std::optional<Shogi::Move> move;
    int ply;
    int result;  // of the side to move
};

Entry entry_at(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const auto word = [&](std::size_t i) { return static_cast<std::uint16_t>(byte(i) | byte(i + 1) << 8); };
    return {bytes.substr(0, 32), static_cast<std::int16_t>(word(32)), unpacked_move(word(34)),
            std::max(0, word(36) - 1), static_cast<std::int8_t>(byte(38))};
}

}  // namespace

PackedSfen pack(const Shogi& position) {
    Writer bits;
    bits.add(position.to_play() == Player::second, 1);
    for (const Player player : {Player::first, Player::second}) bits.add(king_square(position, player), 7);
    std::array<int, 8> left = in_all;
    for (int square = 0; square < squares; ++square) {
        const Kind piece = position.piece_on(square);
        if (piece == Shogi::king) continue;
        bits.add(piece != Shogi::no_piece, 1);
        if (piece == Shogi::no_piece) continue;
        const Kind kind = piece > Shogi::king ? static_cast<Kind>(piece - Shogi::king) : piece;
        --left[kind];
        const bool is_first = position.pieces(Player::first) >> square & 1;
        bits.add_piece(kind, piece != kind, is_first ? Player::first : Player::second);
    }
    for (const Player player : {Player::first, Player::second})
        for (const Kind kind : kinds)
            for (int i = 0; i < position.in_hand(player, kind); ++i, --left[kind]) bits.add_piece(kind, false, player);
    // Gold comes before bishop here.
    for (const Kind kind :
         {Shogi::pawn, Shogi::lance, Shogi::knight, Shogi::silver, Shogi::gold, Shogi::bishop, Shogi::rook})
        for (; left[kind] > 0; --left[kind]) {
            if (kind == Shogi::gold)
                bits.add(box_gold.bits, box_gold.size);
            else
                bits.add_piece(kind, true, Player::first);
        }
    return bits.bytes();
}

Shogi unpack(std::string_view bytes, int ply) {
    BitReader bits(bytes);
    const bool is_second = bits.take(1);
    std::array<int, 2> kings{};
    for (int& king : kings) {
        king = bits.take(7);
        if (king > squares) throw NotationError("a packed position with a king off the board");
    }
    if (kings[0] == kings[1] && kings[0] < squares) throw NotationError("a packed position with kings on one square");
    std::array<std::string, squares> board;
    for (int square = 0; square < squares; ++square) {
        std::string& place = board[static_cast<std::size_t>(square)];
        if (square == kings[0] || square == kings[1]) {
            append_letter(place, Shogi::king, false, square == kings[1]);
        } else if (bits.take(1)) {
            const Kind kind = bits.take_kind();
            const bool is_promoted = kind != Shogi::gold && bits.take(1);
            append_letter(place, kind, is_promoted, bits.take(1));
        }
    }
    std::array<std::array<int, 8>, 2> hands{};
    while (!bits.at_end()) {
        const Kind kind = bits.take_kind();
        const bool in_box = kind != Shogi::gold && bits.take(1);
        const int player = bits.take(1);
        if (!in_box) ++hands[static_cast<std::size_t>(player)][kind];
    }
    std::string sfen;
    for (int rank = 0; rank < 9; ++rank) {
        if (rank) sfen += '/';
        for (int file = 8; file >= 0; --file) {
            const std::string& piece = board[static_cast<std::size_t>(shogi::square_at(file, rank))];
            sfen += piece.empty() ? "1" : piece;
        }
    }
    sfen += is_second ? " w " : " b ";
    const std::size_t before = sfen.size();
    for (std::size_t player = 0; player < hands.size(); ++player)
        for (const Kind kind : kinds) {
            if (hands[player][kind] == 0) continue;
            sfen += std::to_string(hands[player][kind]);
            append_letter(sfen, kind, false, player == 1);
        }
    if (sfen.size() == before) sfen += '-';
    return Shogi::from_text(sfen + ' ' + std::to_string(ply + 1));
}

std::uint16_t packed_move(Shogi::Move move) {
    constexpr std::uint16_t win = 3 << 7 | 3;
    if (move == Shogi::Move::declaration()) return win;
    if (move.is_drop()) return static_cast<std::uint16_t>(move.to() | move.dropped() << 7 | 1 << 14);
    return static_cast<std::uint16_t>(move.to() | move.from() << 7 | move.promotes() << 15);
}

std::optional<Shogi::Move> unpacked_move(std::uint16_t bits) {
    const int to = bits & 127;
    const int from = bits >> 7 & 127;
    const bool is_drop = bits >> 14 & 1;
    if (to >= squares || (!is_drop && (from == to || from >= squares)) ||
        (is_drop && (from < Shogi::pawn || from > Shogi::gold)))
        return std::nullopt;
    if (is_drop) return Shogi::Move::drop(static_cast<Kind>(from), to);
    return Shogi::Move(from, to, bits >> 15);
}

Reader::Found PackedSfenReader::next(std::string_view bytes, bool last) {
    if (bytes.size() < entry_size) {
        if (!last || bytes.empty()) return {0, false};
        refuse(Fault::unreadable, "the file ends within a position");
        return {bytes.size(), true};
    }
    Entry entry = entry_at(bytes);
    const Found first = {entry_size, true};
    Shogi game;
    try {
        game = unpack(entry.sfen, entry.ply);
    } catch (const std::invalid_argument& error) {
        refuse(Fault::unreadable, error.what());
        return first;
    }
    if (entry.result < -1 || entry.result > 1) {
        refuse(Fault::unreadable, "the result is " + std::to_string(entry.result) + ", not 1, 0 or -1");
        return first;
    }
    record_.game = kind_of<Shogi>;
    if (!(game == Shogi())) record_[Field::start] = game.text();
    record_.winner = static_cast<Winner>(game.to_play() == Player::first ? entry.result : -entry.result);
    // No game is longer; a file of one that never ends is not to be read again and again.
    constexpr std::size_t most_entries = 10'000;
    std::size_t size = entry_size;
    for (;;) {
        set_training_score(record_.remark(), entry.score, game.to_play(), MateUnit::plies);
        if (!entry.move) break;
        if (!play_recorded(game, *entry.move)) {
            refuse(Fault::illegal_move, "move " + std::to_string(record_.moves.size() + 1) + ", " + entry.move->text() +
                                            ", is illegal in " + game.text());
            return {size, true};
        }
        record_.moves.push_back(static_cast<std::uint16_t>(entry.move->code()));
        if (bytes.size() < size + entry_size) {
            if (!last && size < most_entries * entry_size) return {0, false};
            break;
        }
        const Entry following = entry_at(bytes.substr(size));
        const PackedSfen reached = pack(game);
        const bool goes_on = following.ply == entry.ply + 1 && following.result == -entry.result &&
                             std::equal(reached.begin(), reached.end(), following.sfen.begin(),
                                        [](std::uint8_t a, char b) { return a == static_cast<unsigned char>(b); });
        if (!goes_on || size >= most_entries * entry_size) break;
        entry = following;
        size += entry_size;
    }
    record_.ending = game.outcome() ? Ending::normal : Ending::unfinished;
    return {size, true};
}

}  // namespace hyoka::records
