// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "games/chess.h"
#include "records/reader.h"

namespace hyoka::records {

/// PGN: the main line of chess and Chess960, with what comments say of values and clocks.
class PgnReader : public Reader {
protected:
    Found next(std::string_view bytes, bool last) override;

private:
    struct Tags {
        std::string fen;
        std::string result;
        std::string termination;
        std::string variant;
        std::size_t fen_at = 0;
        void clear();
    };
    enum class Comments : std::uint8_t { plain, nested };

    Found read_game(std::string_view bytes, bool last, Comments comments);
    std::size_t read_tags(std::string_view bytes, std::size_t at, bool last);
    std::size_t read_nag(std::string_view bytes, std::size_t at, bool kept);
    void read_glyph(std::string_view token);
    void keep_tag(std::string_view name, std::string_view value);
    void set_tag(std::string_view name, std::string_view value, std::size_t where);
    void set_up();
    void play(std::string_view token, std::size_t where);
    void play_unusual(std::string_view token, std::size_t where, Chess::SanError error);
    std::optional<Chess::Move> in_coordinates(std::string_view token) const;
    void add(Chess::Move move);
    void keep_comment(std::string_view text);
    void read_comment(std::string_view text);
    void read_engine_comment(std::string_view text, Author mover);
    void finish();

    Tags tags_;
    Chess game_;
    bool saw_nested_ = false;
    bool passed_ = false;  // a null move was the last
};

}  // namespace hyoka::records
