// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/shogi.h"
#include "records/reader.h"

namespace hyoka::records {

/// CSA 2.x and 3: one game, or several between lines that hold a single slash. Values in `'**` comments are Black's
/// view, for both players, as on floodgate; who has moved says them.
class CsaReader : public Reader {
protected:
    Found next(std::string_view bytes, bool last) override;

private:
    /// A board on its way through `P` lines; squares as Shogi's, pieces as SFEN letters.
    struct SetUp {
        std::array<std::string, 81> squares;
        std::array<std::array<int, Shogi::gold + 1>, 2> hands{};
        int taken_away = 0;  // from the usual start
        std::string sfen(Player to_play) const;
    };

    void read_statements(std::string_view line, std::size_t where);
    void read_statement(std::string_view line, std::size_t where);
    void read_move(std::string_view text, std::size_t where);
    void read_comment(std::string_view line);
    bool is_header(std::string_view line) const;
    void keep_header(std::string_view line);
    void read_header(std::string_view line);
    void read_set_up(std::string_view line, std::size_t where);
    void read_end(std::string_view mark);
    void begin_moves(Player to_play, std::size_t where);
    void finish();

    Shogi game_;
    std::optional<SetUp> set_up_;
    Winner said_ = Winner::unknown;  // what a `'result:` comment says
    bool has_header_ = false;
    bool started_ = false;
    bool ended_ = false;
};

}  // namespace hyoka::records
