// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "records/reader.h"

namespace hyoka::records {

/// Shogi in KIF or KI2, as UTF-8 (http://kakinoki.o.oo7.jp/kif_format.html). Of variations only the main line is read.
/// Games that follow one another are separated by the headers of the next.
class KifuReader : public Reader {
protected:
    Found next(std::string_view bytes, bool last) override;

private:
    std::size_t end_of_game(std::string_view bytes, bool last);

    /// How far the search for the end of the present game has come, should its bytes come again with more.
    struct Search {
        std::size_t at = 0;
        bool has_headers = false;
        bool has_moves = false;
        bool is_over = false;
    };
    Search search_;
};

}  // namespace hyoka::records
