// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "records/table.h"

namespace hyoka::records {

/// Reads SGF's RE, e.g. `B+3.5`, `W+Resign`, `0`, `Void`; `B` is the first player.
void read_sgf_result(std::string_view text, Record& record);

/// Reads PGN's Result (`1-0`) into the record; false if it is none.
bool read_pgn_result(std::string_view text, Record& record);

}  // namespace hyoka::records
