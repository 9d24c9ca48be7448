// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "records/reader.h"

namespace hyoka::records {

/// WTHOR's `.wtb` files of Othello games; names of players and tournaments come from `.jou` and `.trn` files.
class WthorReader : public Reader {
public:
    WthorReader(std::string players, std::string tournaments)
        : Reader(Content::binary), players_(std::move(players)), tournaments_(std::move(tournaments)) {}

protected:
    Found next(std::string_view bytes, bool last) override;
    bool is_incomplete() override;

private:
    void read_game(std::string_view bytes);

    std::string players_;
    std::string tournaments_;
    bool header_read_ = false;
    std::int64_t games_left_ = 0;  // by the header's count; < 0: games beyond it
    bool is_over_ = false;
    int year_ = 0;
};

}  // namespace hyoka::records
