// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "records/table.h"

namespace hyoka::records {

/// A score in pawns or a mate.
struct PawnScore {
    std::optional<double> pawns;
    int mate = 0;
};
/// Unit of a mate's number: `+M5` by match runners is a mate in five plies, anywhere else in five moves.
enum class MateUnit : std::uint8_t { moves, plies };
/// `1.44`, `+0.35`, `#-3`, `M5`, `-M4`, `-mate8`; nothing if the text is anything else, or goes on behind it.
std::optional<PawnScore> pawn_score_in(std::string_view text, MateUnit unit = MateUnit::moves);
/// Puts it into the remark as centipawns; `turned`: it was the second player's view.
void set_score(Remark& remark, const PawnScore& score, bool turned, Author author);
/// A depth: a whole number from 0 (not given) to 9999.
std::optional<std::int16_t> depth_in(std::string_view text);

/// A number of nodes, visits or playouts: a whole number from 0 (not given).
std::optional<std::int64_t> nodes_in(std::string_view text);

/// Reads the commands in a comment, `[%eval 1.44,20] [%clk 1:02:03]` as lichess writes them (`emt` too), and our own
/// `[%value 0.53] [%score 3.5] [%mate -4] [%depth 20] [%nodes 600] [%book 1] [%author first]`, all in the first
/// player's view. Nobody is the author of a value unless that is said (`unknown` takes back what the notation implies).
/// Numbers are read whole, or left out and counted. False if the comment has no commands.
bool read_commands(std::string_view comment, Record& record);

}  // namespace hyoka::records
