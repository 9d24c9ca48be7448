// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "records/reader.h"

namespace hyoka::records {

/// One game a line: USI or UCI moves, alone or after `startpos`, `sfen …`, `fen …` or a bare SFEN or FEN (a leading
/// `position` is skipped), Blokus Duo's 4-character codes, or an Othello transcript such as `f5d6c3`. Lines that start
/// with # are skipped.
class LineReader : public Reader {
protected:
    Found next(std::string_view bytes, bool last) override;

private:
    void read_line(std::string_view line);
    void read_moves_after(std::string_view start, std::string_view moves);
    template <class G>
    void replay(GameKind kind, const G& start, std::string_view moves);
    void read_codes(std::string_view codes);
    void read_transcript(std::string_view moves);
};

}  // namespace hyoka::records
