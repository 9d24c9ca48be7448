// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "games/shogi.h"
#include "sparse/feature_set.h"

/// Pieces by where they are, on the board or in hand: what the sets of features for shogi have in common.
namespace hyoka::sparse::shogi_pieces {

using Bitboard = Shogi::Bitboard;
constexpr std::size_t at(int index) { return static_cast<std::size_t>(index); }
constexpr std::size_t at(Player player) { return static_cast<std::size_t>(player); }

constexpr int turned(int square) { return 80 - square; }
constexpr int mirrored(int square) { return 9 * (8 - square / 9) + square % 9; }

// A place is a piece as one side sees it: its own or the enemy's, how it moves, and its square from that side's view;
// or how many of a kind somebody has in hand. All that moves like a gold is one.
inline constexpr int mover_count = 9;
inline constexpr std::array<std::uint8_t, Shogi::kind_count> mover_of = {0, 0, 1, 2, 3, 5, 6, 4, 0, 4, 4, 4, 4, 7, 8};
inline constexpr int hand_kinds = 7;
inline constexpr std::array<int, hand_kinds + 1> hand_starts = {0, 0, 18, 22, 26, 30, 32, 34};  // by Kind
inline constexpr int hand_places = 38;                                                          // of one side
inline constexpr int place_count = 2 * hand_places + 2 * mover_count * 81;

constexpr int board_place(bool own, Shogi::Kind kind, int square) {
    return 2 * hand_places + ((own ? 0 : mover_count) + mover_of[kind]) * 81 + square;
}
constexpr int hand_place(bool own, int kind, int count) {
    return (own ? 0 : hand_places) + hand_starts[at(kind)] + count - 1;
}

using PlaceTable = std::array<std::uint16_t, place_count>;
/// The same piece with left and right exchanged, and as the other side sees it.
inline constexpr auto changed_places = [](auto&& square_of, bool other_owner) {
    PlaceTable table{};
    for (int place = 0; place < 2 * hand_places; ++place)
        table[at(place)] = static_cast<std::uint16_t>(other_owner ? (place + hand_places) % (2 * hand_places) : place);
    for (int piece = 0; piece < 2 * mover_count; ++piece)
        for (int square = 0; square < 81; ++square) {
            const int whose = other_owner ? (piece + mover_count) % (2 * mover_count) : piece;
            table[at(2 * hand_places + piece * 81 + square)] =
                static_cast<std::uint16_t>(2 * hand_places + whose * 81 + square_of(square));
        }
    return table;
};
inline constexpr PlaceTable mirrored_places = changed_places(mirrored, false);
inline constexpr PlaceTable turned_places = changed_places(turned, true);

/// A piece as Black and as White see it.
struct Piece {
    std::uint16_t black = 0;
    std::uint16_t white = 0;
    static Piece seen_by_black(int place) { return {static_cast<std::uint16_t>(place), turned_places[at(place)]}; }
    static Piece on_board(Player owner, Shogi::Kind kind, int square) {
        return seen_by_black(board_place(owner == Player::first, kind, square));
    }
    static Piece in_hand(Player owner, int kind, int count) {
        return seen_by_black(hand_place(owner == Player::first, kind, count));
    }
    friend bool operator==(const Piece&, const Piece&) = default;
};

/// All pieces but the kings; what is in hand counts as one for each kind.
class Pieces {
public:
    std::size_t size() const { return size_; }
    const Piece* begin() const { return all_.data(); }
    const Piece* end() const { return all_.data() + size_; }
    Piece operator[](std::size_t index) const { return all_[index]; }
    void add(Piece piece) { all_[size_++] = piece; }
    /// Pre: it is there.
    void remove(Piece piece) {
        std::size_t i = 0;
        while (!(all_[i] == piece)) ++i;
        assert(i < size_);
        all_[i] = all_[--size_];
    }

private:
    std::array<Piece, 40> all_;
    std::size_t size_ = 0;
};

/// The part of a position that determines pieces and kings.
struct Snapshot {
    std::array<Shogi::Kind, 81> kinds;
    std::array<Bitboard, 2> colors;
    std::array<std::array<std::uint8_t, hand_kinds + 1>, 2> hands;

    static Snapshot of(const Shogi& game) {
        Snapshot made;
        made.kinds = game.board();
        for (const Player player : {Player::first, Player::second}) {
            made.colors[at(player)] = game.pieces(player);
            made.hands[at(player)] = game.hand(player);
        }
        return made;
    }
    /// Squares where other pieces stand.
    Bitboard changed_from(const Snapshot& other) const {
        Bitboard changed = (colors[0] ^ other.colors[0]) | (colors[1] ^ other.colors[1]);
        // The same side's piece may be another one, if positions are more than a move apart.
        for (std::size_t i = 0; i < 80; i += 8) {
            std::uint64_t here = 0;
            std::uint64_t there = 0;
            std::memcpy(&here, kinds.data() + i, 8);
            std::memcpy(&there, other.kinds.data() + i, 8);
            for (std::uint64_t bits = here ^ there; bits;) {
                const int byte = lowest_bit(bits) / 8;
                changed |= Bitboard{1} << (static_cast<int>(i) + byte);
                bits &= ~(std::uint64_t{0xff} << 8 * byte);
            }
        }
        if (kinds[80] != other.kinds[80]) changed |= Bitboard{1} << 80;
        return changed;
    }
    Player owner(int square) const { return colors[0] >> square & 1 ? Player::first : Player::second; }
    int distance(const Snapshot& other) const { return count_bits(changed_from(other)); }
};

/// -1: there is none, as in problems.
inline int king_square(const Shogi& game, Player player) {
    const Bitboard king = game.pieces(player, Shogi::king);
    return king ? lowest_bit(king) : -1;
}

/// The pieces of a position in no particular order; `visit` gets each, its kind, and its owner.
template <class Visit>
void for_each_piece(const Snapshot& position, Visit&& visit) {
    const auto on_board = [&](int square) {
        const auto kind = position.kinds[at(square)];
        if (kind != Shogi::king) visit(Piece::on_board(position.owner(square), kind, square), kind);
    };
    const Bitboard occupied = position.colors[0] | position.colors[1];
    for_each_bit(low_word(occupied), on_board);
    for_each_bit(high_word(occupied), [&](int square) { on_board(64 + square); });
    for (const Player player : {Player::first, Player::second})
        for (int kind = 1; kind <= hand_kinds; ++kind)
            if (const int count = position.hands[at(player)][at(kind)])
                visit(Piece::in_hand(player, kind, count), Shogi::no_piece);
}

// The values of pieces come first among the weights of each set: thirteen kinds on the board, seven in hand, and last
// what it is worth to be on the move.
inline constexpr int board_values = 13;
inline constexpr int turn_value = board_values + hand_kinds;
inline constexpr int value_count = turn_value + 1;
constexpr int value_of_kind(int kind) { return kind < Shogi::king ? kind - 1 : kind - 2; }

inline std::array<float, value_count> starting_values() {
    std::array<float, value_count> values{};
    for (int kind = 1; kind < Shogi::kind_count; ++kind)
        if (kind != Shogi::king) values[at(value_of_kind(kind))] = static_cast<float>(Shogi::exchange_values[at(kind)]);
    for (int kind = 1; kind <= hand_kinds; ++kind)
        values[at(board_values + kind - 1)] = static_cast<float>(Shogi::exchange_values[at(kind)]);
    return values;
}

/// How much of each value a position has: Black's less White's.
inline std::array<int, value_count> count_values(const Shogi& game) {
    std::array<int, value_count> counts{};
    for (const Player player : {Player::first, Player::second}) {
        const int sign = player == Player::first ? 1 : -1;
        for (int kind = 1; kind < Shogi::kind_count; ++kind)
            if (kind != Shogi::king)
                counts[at(value_of_kind(kind))] +=
                    sign * count_bits(game.pieces(player, static_cast<Shogi::Kind>(kind)));
        for (int kind = 1; kind <= hand_kinds; ++kind)
            counts[at(board_values + kind - 1)] += sign * game.in_hand(player, static_cast<Shogi::Kind>(kind));
    }
    counts[turn_value] = game.to_play() == Player::first ? 1 : -1;
    return counts;
}

/// A position, its pieces, and the sums that a table keeps up.
struct Kept {
    Snapshot position;
    Pieces pieces;
    std::array<int, 2> kings;
    int material = 0;
    std::array<int, 3> sums{};
};

/// Shared base of incremental tables for shogi: computes the pieces that were added and removed. `Own` has
///
///     void add(Kept&, Piece) const, void remove(Kept&, Piece) const;  // the piece is not among kept.pieces
///     void move_kings(Kept&, bool black, bool white) const;            // which have moved
template <class Own>
class Table {
public:
    void start(Kept& kept, const Shogi& game) const {
        kept.position = Snapshot::of(game);
        kept.pieces = {};
        kept.sums = {};
        kept.material = 0;
        kept.kings = {king_square(game, Player::first), king_square(game, Player::second)};
        for_each_piece(kept.position, [&](Piece piece, Shogi::Kind kind) {
            if (kind != Shogi::no_piece)
                kept.material += (board_place_is_blacks(piece) ? 1 : -1) * values_[at(value_of_kind(kind))];
            own().add(kept, piece);
            kept.pieces.add(piece);
        });
        for (const Player player : {Player::first, Player::second})
            for (int kind = 1; kind <= hand_kinds; ++kind)
                kept.material +=
                    sign_of(player) * kept.position.hands[at(player)][at(kind)] * values_[at(board_values + kind - 1)];
        own().move_kings(kept, true, true);
    }

    void follow(Kept& kept, const Shogi& game) const {
        const Snapshot now = Snapshot::of(game);
        const Bitboard changed = now.changed_from(kept.position);
        const auto leave = [&](int square) {
            const auto kind = kept.position.kinds[at(square)];
            if (kind == Shogi::no_piece || kind == Shogi::king) return;
            const Player owner = kept.position.owner(square);
            kept.material -= sign_of(owner) * values_[at(value_of_kind(kind))];
            take_off(kept, Piece::on_board(owner, kind, square));
        };
        const auto come = [&](int square) {
            const auto kind = now.kinds[at(square)];
            if (kind == Shogi::no_piece || kind == Shogi::king) return;
            const Player owner = now.owner(square);
            kept.material += sign_of(owner) * values_[at(value_of_kind(kind))];
            put_on(kept, Piece::on_board(owner, kind, square));
        };
        for_each_bit(low_word(changed), leave);
        for_each_bit(high_word(changed), [&](int square) { leave(64 + square); });
        for (const Player player : {Player::first, Player::second}) {
            const auto& before = kept.position.hands[at(player)];
            const auto& after = now.hands[at(player)];
            if (before == after) continue;
            for (int kind = 1; kind <= hand_kinds; ++kind) {
                if (before[at(kind)] == after[at(kind)]) continue;
                if (before[at(kind)]) take_off(kept, Piece::in_hand(player, kind, before[at(kind)]));
                if (after[at(kind)]) put_on(kept, Piece::in_hand(player, kind, after[at(kind)]));
                kept.material +=
                    sign_of(player) * (after[at(kind)] - before[at(kind)]) * values_[at(board_values + kind - 1)];
            }
        }
        for_each_bit(low_word(changed), come);
        for_each_bit(high_word(changed), [&](int square) { come(64 + square); });
        kept.position = now;
        const std::array<int, 2> kings = {king_square(game, Player::first), king_square(game, Player::second)};
        if (kings != kept.kings) {
            const std::array<int, 2> before = kept.kings;
            kept.kings = kings;
            own().move_kings(kept, kings[0] != before[0], kings[1] != before[1]);
        }
    }

    /// In steps.
    int sum(const Kept& kept, const Shogi& game) const {
        return kept.material + kept.sums[0] + kept.sums[1] + kept.sums[2] +
               sign_of(game.to_play()) * values_[turn_value];
    }
    int score(const Kept& kept, const Shogi& game) const {
        return sum(kept, game) / steps_to_unit;  // towards 0: the same for either side
    }

protected:
    explicit Table(std::span<const float> weights) {
        for (std::size_t i = 0; i < value_count; ++i) values_[i] = in_steps(weights[i]);
    }
    static constexpr int sign_of(Player player) { return player == Player::first ? 1 : -1; }

private:
    const Own& own() const { return static_cast<const Own&>(*this); }
    static bool board_place_is_blacks(Piece piece) { return piece.black < 2 * hand_places + mover_count * 81; }
    void take_off(Kept& kept, Piece piece) const {
        kept.pieces.remove(piece);
        own().remove(kept, piece);
    }
    void put_on(Kept& kept, Piece piece) const {
        own().add(kept, piece);
        kept.pieces.add(piece);
    }

    std::array<int, value_count> values_;
};

}  // namespace hyoka::sparse::shogi_pieces
