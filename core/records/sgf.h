// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "records/reader.h"
#include "records/sgf_analysis.h"

namespace hyoka::records {

/// SGF FF[3] and FF[4]: Go of our sizes, Othello (GM[2]) and Pentobi's dialect for Blokus Duo; any other game under its
/// own name (`GM[chess]`), its moves as they print and a start that is not the standard one as text (`SU`). The main
/// line is read, variations are skipped. Text must be in UTF-8 already.
class SgfReader : public Reader {
protected:
    Found next(std::string_view bytes, bool last) override;

private:
    struct Stone {
        std::optional<Player> color;  // none: the point is cleared
        std::string_view point;
        std::size_t where;
    };
    struct Turn {
        Player color;
        std::string_view point;
        std::size_t where;
        Remark remark;
        bool remarked = false;
        bool analyzed = false;  // by a property, which is more exact than words
    };

    void read_main_line(std::string_view tree);
    void read_property(std::string_view name, std::string_view value, std::size_t where);
    void keep_property(std::string_view name, std::string_view value, bool is_first);
    void read_comment(std::string_view text);
    void read_katrain(std::string_view value);
    void read_lizzie(std::string_view name, std::string_view value);
    void replay();
    template <class G>
    void replay_as();
    template <class G>
    G start_of();
    GameKind kind_{};
    std::vector<Turn> turns_;
    std::vector<Stone> set_up_;
    std::optional<Player> to_play_;
    // Of the first position: in Black's view, and in that of the player who is not to move.
    std::optional<SgfAnalysis> root_;
    std::optional<SgfAnalysis> lizzie_root_;
    Author root_author_ = Author::unknown;
    std::string_view size_;
    std::string start_;
    std::size_t size_at_ = 0;
    std::size_t set_up_at_ = 0;
    std::string name_;
    std::string unescaped_;
    Record scratch_;  // where a comment's commands are read into; it has no moves
};

}  // namespace hyoka::records
