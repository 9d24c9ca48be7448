// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "records/reader.h"

namespace hyoka::records {

/// A position of shogi in 256 bits, as YaneuraOu, Apery's descendants and cshogi pack it: the side to move, the kings'
/// squares, the board and what is off it in Huffman codes, lowest bit first. Rules and plies are not in it.
using PackedSfen = std::array<std::uint8_t, 32>;
PackedSfen pack(const Shogi& position);
/// Throws NotationError if the bits are no position. `ply`: moves played before it.
Shogi unpack(std::string_view bytes, int ply);

/// A move in 16 bits: target, origin or dropped piece (7 bits each), drop, promotion. The declaration is YaneuraOu's
/// MOVE_WIN.
std::uint16_t packed_move(Shogi::Move move);
/// None for what is no move of a piece: none, null, resignation, win.
std::optional<Shogi::Move> unpacked_move(std::uint16_t bits);

/// YaneuraOu's PackedSfenValue (`.bin`), 40 bytes each: packed position, score, move, ply, result, all in the view of
/// the side to move. Positions that follow one another in a game are one record, others records of one move.
class PackedSfenReader : public Reader {
public:
    PackedSfenReader() : Reader(Content::binary) {}

protected:
    Found next(std::string_view bytes, bool last) override;
};

}  // namespace hyoka::records
