// SPDX-License-Identifier: Apache-2.0
// https://github.com/official-stockfish/Stockfish/blob/tools/docs/binpack.md
#include "records/binpack.h"

#include <algorithm>
#include <bit>
#include <string>

#include "games/chess.h"
#include "records/replay.h"
#include "records/training_scores.h"

namespace hyoka::records {

namespace {

using chess::Bitboard;
using Move = Chess::Move;

constexpr std::string_view chunk_sign = "BINP";
constexpr std::size_t header_size = 8;
constexpr std::size_t largest_chunk = 100U << 20;
constexpr std::size_t stem_size = 32;
constexpr std::size_t head_size = stem_size + 2;  // and the number of moves that follow
constexpr unsigned max_pieces = 32;

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }
unsigned word_at(std::string_view bytes, std::size_t i) { return byte_at(bytes, i) << 8 | byte_at(bytes, i + 1); }

/// Numbers are stored with the sign in the lowest bit: 0, -1, 1, -2, …
int signed_number(unsigned number) { return static_cast<std::int16_t>(number & 1 ? ~(number >> 1) : number >> 1); }
int in_16_bits(int number) { return static_cast<std::int16_t>(number); }

struct ChainError {
    Fault fault;
    std::string reason;
};
/// Thrown when a chain goes on behind the bytes that are there.
struct EndOfBytes {};

/// Bits, highest first.
class Bits {
public:
    explicit Bits(std::string_view bytes) : bytes_(bytes) {}
    unsigned take(int count) {
        if (at_ + static_cast<std::size_t>(count) > 8 * bytes_.size()) throw EndOfBytes();
        unsigned bits = 0;
        for (; count > 0; --count, ++at_) bits = bits << 1 | (byte_at(bytes_, at_ / 8) >> (7 - at_ % 8) & 1);
        return bits;
    }
    /// One of `count`: as few bits as tell them apart.
    unsigned take_choice(unsigned count) {
        const unsigned choice = take(std::bit_width(std::max(count, 1U) - 1));
        if (choice >= count) throw ChainError{Fault::unreadable, "a move of a piece that is not there"};
        return choice;
    }
    /// A number of up to 16 bits in groups of four, the lowest first; a fifth bit says that another follows.
    unsigned take_number() {
        unsigned number = 0;
        for (int shift = 0;; shift += 4) {
            const unsigned group = take(5);
            if (shift >= 16) throw ChainError{Fault::unreadable, "a score of more than 16 bits"};
            number |= (group & 15) << shift;
            if (group < 16) return number & 0xffff;
        }
    }
    std::size_t bytes_taken() const { return (at_ + 7) / 8; }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

struct Stem {
    Chess position;
    std::optional<Move> move;
    int score;
    int result;
};

/// A bitboard of all pieces and four bits for each; then move, score, ply and result, and plies without progress.
Stem read_stem(std::string_view bytes) {
    constexpr std::string_view letters = "PpNnBbRrQqKk";
    Bitboard occupied = 0;
    for (std::size_t i = 0; i < 8; ++i) occupied = occupied << 8 | byte_at(bytes, i);
    if (count_bits(occupied) > static_cast<int>(max_pieces)) throw NotationError("a position with more than 32 pieces");
    std::array<char, 64> board{};
    std::string rights;
    std::string en_passant = "-";
    bool is_second = false;
    std::size_t place = 0;
    for_each_bit(occupied, [&](int square) {
        const unsigned half = byte_at(bytes, 8 + place / 2) >> 4 * (place % 2) & 15;
        ++place;
        char& piece = board[static_cast<std::size_t>(square)];
        const int file = chess::file_of(square);
        const int rank = chess::rank_of(square);
        if (half < letters.size()) {
            piece = letters[half];
        } else if (half == 12) {  // a pawn that has just gone two squares and can be captured in passing
            if (rank != 3 && rank != 4) throw NotationError("a pawn to be captured in passing on a wrong rank");
            piece = rank == 3 ? 'P' : 'p';
            en_passant = {static_cast<char>('a' + file), rank == 3 ? '3' : '6'};
        } else if (half == 15) {  // Black is to move
            piece = 'k';
            is_second = true;
        } else {  // a rook that may castle
            const bool is_white = half == 13;
            if (rank != (is_white ? 0 : 7) || (file != 0 && file != 7))
                throw NotationError("a rook that may castle is not in its corner");
            piece = is_white ? 'R' : 'r';
            const char right = file == 0 ? 'Q' : 'K';
            rights += is_white ? right : static_cast<char>(right | 32);
        }
    });
    std::string fen;
    for (int rank = 7; rank >= 0; --rank) {
        for (int file = 0; file < 8; ++file) {
            const char piece = board[static_cast<std::size_t>(8 * rank + file)];
            fen += piece ? piece : '1';
        }
        if (rank) fen += '/';
    }
    const unsigned ply_and_result = word_at(bytes, 28);
    const unsigned ply = ply_and_result & 0x3fff;
    fen += is_second ? " b " : " w ";
    fen += rights.empty() ? "-" : rights;
    fen += ' ' + en_passant + ' ' + std::to_string(word_at(bytes, 30)) + ' ' + std::to_string(ply / 2 + 1);
    Stem stem;
    stem.position = Chess::from_text(fen);
    stem.score = signed_number(word_at(bytes, 26));
    stem.result = signed_number(ply_and_result >> 14);
    if (stem.result < -1) throw NotationError("a result that is none");
    const unsigned bits = word_at(bytes, 24);
    if (bits) {
        const int from = static_cast<int>(bits >> 8 & 63);
        const int to = static_cast<int>(bits >> 2 & 63);
        constexpr std::array types = {Move::Type::normal, Move::Type::promotion, Move::Type::castling,
                                      Move::Type::en_passant};
        const Move::Type type = types[bits >> 14];
        const auto promoted = static_cast<Chess::Kind>(Chess::knight + (type == Move::Type::promotion ? bits & 3 : 0));
        stem.move = Move(from, to, type, promoted);
    }
    return stem;
}

Move take_pawn_move(Bits& bits, const Chess& game, int from) {
    const Player player = game.to_play();
    const bool is_white = player == Player::first;
    const int step = is_white ? 8 : -8;
    const Bitboard victims = game.pieces(other(player)) | game.en_passant();
    Bitboard targets = chess::tables.pawn[index_of(player)][from] & victims;
    if (!(game.occupied() & chess::bit(from + step))) {
        targets |= chess::bit(from + step);
        const bool at_home = chess::rank_of(from) == (is_white ? 1 : 6);
        if (at_home && !(game.occupied() & chess::bit(from + 2 * step))) targets |= chess::bit(from + 2 * step);
    }
    const auto count = static_cast<unsigned>(count_bits(targets));
    if (chess::rank_of(from) == (is_white ? 6 : 1)) {
        const unsigned choice = bits.take_choice(4 * count);
        return {from, nth_bit(targets, static_cast<int>(choice / 4)), Move::Type::promotion,
                static_cast<Chess::Kind>(Chess::knight + choice % 4)};
    }
    const int to = nth_bit(targets, static_cast<int>(bits.take_choice(count)));
    const bool in_passing = game.en_passant() & chess::bit(to);
    return {from, to, in_passing ? Move::Type::en_passant : Move::Type::normal};
}

Move take_move(Bits& bits, const Chess& game) {
    const Player player = game.to_play();
    const Bitboard own = game.pieces(player);
    const auto piece = bits.take_choice(static_cast<unsigned>(count_bits(own)));
    const int from = nth_bit(own, static_cast<int>(piece));
    const Chess::Kind kind = game.piece_on(from);
    if (kind == Chess::pawn) return take_pawn_move(bits, game, from);
    Bitboard targets = 0;
    if (kind == Chess::knight) targets = chess::tables.knight[from];
    if (kind == Chess::king) targets = chess::tables.king[from];
    if (kind == Chess::bishop || kind == Chess::queen) targets |= chess::bishop_attacks(from, game.occupied());
    if (kind == Chess::rook || kind == Chess::queen) targets |= chess::rook_attacks(from, game.occupied());
    targets &= ~own;
    const auto count = static_cast<unsigned>(count_bits(targets));
    // The king's castlings come last, the long one first.
    const Bitboard castlers = kind == Chess::king ? game.castling_rooks(player) : 0;
    const unsigned choice = bits.take_choice(count + static_cast<unsigned>(count_bits(castlers)));
    if (choice >= count) return {from, nth_bit(castlers, static_cast<int>(choice - count)), Move::Type::castling};
    return {from, nth_bit(targets, static_cast<int>(choice))};
}

}  // namespace

Reader::Found BinpackReader::next_header(std::string_view bytes, bool last) {
    if (bytes.size() < header_size && !last) return {0, false};
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4 && bytes.size() >= header_size; ++i)
        size |= static_cast<std::size_t>(byte_at(bytes, 4 + i)) << (8 * i);
    if (bytes.size() < header_size || !bytes.starts_with(chunk_sign) || size > largest_chunk) {
        refuse(Fault::unreadable, "no chunk of a binpack begins here; the rest of the file is not read");
        is_skipping_ = true;
        chunk_left_ = std::string_view::npos;
        return {bytes.size(), true};
    }
    chunk_left_ = size;
    return {header_size, false};
}

Reader::Found BinpackReader::next(std::string_view bytes, bool last) {
    if (bytes.empty()) return {0, false};
    if (chunk_left_ == 0) {
        is_skipping_ = false;
        return next_header(bytes, last);
    }
    const std::string_view chunk = bytes.substr(0, chunk_left_);
    const auto take = [&](std::size_t size, bool is_game) {
        if (chunk_left_ != std::string_view::npos) chunk_left_ -= size;
        return Found{size, is_game};
    };
    // A chunk's last bytes may be filling.
    if (is_skipping_ || chunk_left_ < head_size) return take(chunk.size(), false);
    const bool has_more = chunk.size() < chunk_left_ && !last;
    const auto give_up = [&](Fault fault, std::string reason) {
        refuse(fault, std::move(reason) + "; the rest of its chunk is not read");
        is_skipping_ = true;
        return take(chunk.size(), true);
    };
    if (chunk.size() < head_size) {
        if (has_more) return {0, false};
        return give_up(Fault::unreadable, "the file ends within a position");
    }
    try {
        const Stem stem = read_stem(chunk);
        Chess game = as_recorded(stem.position);
        record_.game = kind_of<Chess>;
        if (!(stem.position == Chess())) record_[Field::start] = stem.position.text();
        record_.winner = static_cast<Winner>(game.to_play() == Player::first ? stem.result : -stem.result);
        const unsigned following = word_at(chunk, stem_size);
        Bits bits(chunk.substr(head_size));
        int score = stem.score;
        std::optional<Move> move = stem.move;
        for (unsigned i = 0;; ++i) {
            set_training_score(record_.remark(), score, game.to_play(), MateUnit::moves);
            if (!move && following == 0) break;
            if (!move || !play_recorded(game, *move))
                throw ChainError{Fault::illegal_move, "move " + std::to_string(record_.moves.size() + 1) + ", " +
                                                          (move ? move->text() : "none") + ", is illegal in " +
                                                          game.text()};
            record_.moves.push_back(static_cast<std::uint16_t>(move->code()));
            if (i == following) break;
            move = take_move(bits, game);
            score = in_16_bits(signed_number(bits.take_number()) - score);
        }
        record_.ending = game.outcome() ? Ending::normal : Ending::unfinished;
        return take(head_size + bits.bytes_taken(), true);
    } catch (const EndOfBytes&) {
        if (has_more) return {0, false};
        return give_up(Fault::unreadable, "a game that its chunk or file does not hold to the end");
    } catch (const ChainError& error) {
        return give_up(error.fault, error.reason);
    } catch (const std::invalid_argument& error) {
        return give_up(Fault::unreadable, error.what());
    }
}

bool BinpackReader::is_incomplete() {
    if (is_skipping_ || chunk_left_ == 0) return false;
    refuse(Fault::unreadable, "the file ends within its last chunk");
    return true;
}

}  // namespace hyoka::records
