// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "records/reader.h"

namespace hyoka::records {

/// Stockfish's training data (`.binpack`): chunks of chains. A chain is a position with a move, a score and the result,
/// and the moves and scores that follow, in as few bits as the pieces have moves. Each chain is one record.
class BinpackReader : public Reader {
public:
    BinpackReader() : Reader(Content::binary) {}

protected:
    Found next(std::string_view bytes, bool last) override;
    bool is_incomplete() override;

private:
    Found next_header(std::string_view bytes, bool last);
    std::size_t chunk_left_ = 0;
    bool is_skipping_ = false;  // after a chain that can't be read nobody knows where the next begins
};

}  // namespace hyoka::records
