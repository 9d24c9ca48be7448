// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "records/table.h"

namespace hyoka::records {

/// `1.44`, `+0.35`, `#-3`, `M5`, `-M4`, `-mate8`: a score in pawns or a mate.
struct PawnScore {
    std::optional<double> pawns;
    int mate = 0;
};
/// Taken from the start of `text`.
PawnScore take_pawn_score(std::string_view& text);
/// Puts it into the remark as centipawns; `turned`: it was the second player's view.
void set_score(Remark& remark, const PawnScore& score, bool turned, Author author);

/// Reads the commands in a comment, `[%eval 1.44,20] [%clk 1:02:03]` as lichess writes them (`emt` too), and our own
/// `[%value 0.53] [%score 3.5] [%mate -4] [%depth 20] [%book 1] [%author first]`, all in the first player's view.
/// Nobody is the author of a value unless that is said (`unknown` takes back what the notation implies). False if it
/// has none.
bool read_commands(std::string_view comment, Record& record);

}  // namespace hyoka::records
