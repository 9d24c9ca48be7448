// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"
#include "records/binpack.h"
#include "records/csa.h"
#include "records/game_set.h"
#include "records/kifu.h"
#include "records/lines.h"
#include "records/packed_sfen.h"
#include "records/pgn.h"
#include "records/recorded_game.h"
#include "records/replay.h"
#include "records/sgf.h"
#include "records/text.h"
#include "records/wthor.h"

namespace hyoka::bindings {
namespace {

using namespace records;

/// A view of a table's column that keeps the table alive.
template <class T>
nb::ndarray<nb::numpy, const T> column(nb::handle table, const std::vector<T>& values) {
    return nb::ndarray<nb::numpy, const T>(values.data(), {values.size()}, table);
}

template <class T>
void bind_column(nb::class_<Table>& type, const char* name, std::vector<T> Table::* member, const char* doc) {
    type.def_prop_ro(
        name, [member](nb::handle self) { return column(self, nb::cast<const Table&>(self).*member); },
        nb::rv_policy::reference_internal, doc);
}

template <class T>
void bind_remark(nb::class_<Table>& type, const char* name, T Remark::* member, const char* doc) {
    type.def_prop_ro(
        name,
        [member](nb::handle self) {
            const auto& remarks = nb::cast<const Table&>(self).remarks;
            std::vector<T> values;
            values.reserve(remarks.size());
            for (const Remark& remark : remarks) values.push_back(remark.*member);
            return to_numpy(std::move(values));
        },
        nb::rv_policy::move, doc);
}

/// A column of texts: of games by the names of fields, of their tags, or of remarks.
const TextColumn& texts_named(const Table& table, std::string_view name) {
    if (name == "tag_names") return table.tag_names;
    if (name == "tag_values") return table.tag_values;
    if (name == "remark_texts") return table.remark_texts;
    if (name == "remark_properties") return table.remark_properties;
    const auto found = std::find(field_names.begin(), field_names.end(), name);
    if (found == field_names.end()) throw nb::key_error(std::string(name).c_str());
    return table.fields[static_cast<std::size_t>(found - field_names.begin())];
}

std::unique_ptr<Reader> make_reader(std::string_view format, std::string players, std::string tournaments) {
    if (format == "sgf") return std::make_unique<SgfReader>();
    if (format == "pgn") return std::make_unique<PgnReader>();
    if (format == "csa") return std::make_unique<CsaReader>();
    if (format == "kifu") return std::make_unique<KifuReader>();
    if (format == "lines") return std::make_unique<LineReader>();
    if (format == "wthor") return std::make_unique<WthorReader>(std::move(players), std::move(tournaments));
    if (format == "psv") return std::make_unique<PackedSfenReader>();
    if (format == "binpack") return std::make_unique<BinpackReader>();
    throw nb::value_error("no such format");
}

/// Type-erased reader for Python.
struct OpenReader {
    std::unique_ptr<Reader> reader;
};

using Codes = nb::ndarray<nb::numpy, const std::uint16_t, nb::ndim<1>, nb::c_contig>;

std::vector<std::string> move_texts(std::string_view kind, std::string_view start, double komi, const Codes& moves,
                                    std::string_view notation) {
    return with_game(game_named(kind), [&]<class G>(std::type_identity<G>) {
        std::vector<std::string> texts;
        texts.reserve(moves.size());
        std::optional<typename G::Move> previous;
        RecordedGame<G> at(start, komi, {moves.data(), moves.size()});
        const auto write = [&](const G& game, typename G::Move move) {
            if constexpr (std::is_same_v<G, Chess>) {
                texts.push_back(notation == "san" ? game.san(move) : move.text());
            } else if constexpr (std::is_same_v<G, Shogi>) {
                texts.push_back(notation == "csa"   ? game.csa(move)
                                : notation == "kif" ? game.kif(move, previous)
                                : notation == "ki2" ? game.ki2(move, previous)
                                                    : move.text());
                previous = move;
            } else if constexpr (is_go<G>) {
                texts.push_back(notation == "sgf" ? move.sgf() : move.text());
            } else if constexpr (std::is_same_v<G, BlokusDuo>) {
                texts.push_back(notation == "code" ? move.short_code() : move.text());
            } else {
                texts.push_back(move.text());
            }
        };
        while (!at.at_end()) at.advance(write);
        return texts;
    });
}

/// A recorded game as Python walks it.
class Replay {
public:
    virtual ~Replay() = default;
    /// The position after a number of moves, under the standard rules.
    virtual nb::object position(std::size_t ply) = 0;
    /// The line after a number of moves, from which a search can continue. Where a record goes on although the
    /// rules would have ended the game (a draw that nobody claimed), the line begins at the position reached instead.
    virtual nb::object line(std::size_t ply) = 0;
};

/// Plays every move once as long as the plies that are asked for rise.
template <class G>
class ReplayOf final : public Replay {
public:
    ReplayOf(std::string_view start, double komi, std::vector<std::uint16_t> codes)
        : codes_(std::move(codes)), start_(start, komi, codes_), at_(start_), line_(start_.usual_position()) {}
    nb::object position(std::size_t ply) override {
        walk_to(ply);
        return nb::cast(at_.usual_position());
    }
    nb::object line(std::size_t ply) override {
        check(ply);
        if (ply < line_.moves().size()) line_ = Line<G>(line_.start());
        while (line_.moves().size() < std::min(ply, playable_)) {
            const auto move = checked_move<typename G::Move>(codes_[line_.moves().size()]);
            if (line_.is_legal(move))
                line_.play(move);
            else
                playable_ = line_.moves().size();
        }
        if (ply <= playable_) return nb::cast(line_);
        walk_to(ply);
        return nb::cast(Line<G>(at_.usual_position()));
    }

private:
    void check(std::size_t ply) const {
        if (ply > codes_.size()) throw nb::index_error("no such ply");
    }
    void walk_to(std::size_t ply) {
        check(ply);
        if (ply < at_.ply()) at_ = start_;
        at_.advance_to(ply);
    }

    std::vector<std::uint16_t> codes_;
    RecordedGame<G> start_;
    RecordedGame<G> at_;
    Line<G> line_;
    std::size_t playable_ = codes_.size();  // how many moves the rules with a past allow
};

std::unique_ptr<Replay> make_replay(std::string_view kind, std::string_view start, double komi, const Codes& moves) {
    return with_game(game_named(kind), [&]<class G>(std::type_identity<G>) -> std::unique_ptr<Replay> {
        return std::make_unique<ReplayOf<G>>(start, komi,
                                             std::vector<std::uint16_t>(moves.data(), moves.data() + moves.size()));
    });
}

}  // namespace

void bind_records(nb::module_& module) {
    nb::class_<Table> table(module, "Table", "Recorded games side by side: one entry a game in each column.");
    table.def(nb::init<>()).def("__len__", &Table::size);
    bind_column(table, "game", &Table::game, "Which game, a number into `game_names`.");
    bind_column(table, "komi", &Table::komi, "NaN where the record has none.");
    bind_column(table, "handicap", &Table::handicap, "Stones or pieces given.");
    bind_column(table, "winner", &Table::winner, "1 the first player, -1 the second, 0 a draw, 2 not known.");
    bind_column(table, "ending", &Table::ending, "How it ended, a number into `ending_names`.");
    bind_column(table, "margin", &Table::margin, "Points by which the first player won; NaN if not known.");
    bind_column(table, "line", &Table::line, "Where in the file the game begins, from 1; 0 in a binary file.");
    bind_column(table, "number", &Table::number, "Which game of the file, from 1.");
    bind_column(table, "move_offsets", &Table::move_offsets, "Game i's moves are [offsets[i], offsets[i + 1]).");
    bind_column(table, "moves", &Table::moves, "Codes of all games' moves, one after another.");
    bind_column(table, "unreadable", &Table::unreadable, "Numbers in a game's comments that could not be read.");
    bind_column(table, "tag_offsets", &Table::tag_offsets, "Game i's tags are [offsets[i], offsets[i + 1]).");
    bind_column(table, "nag_offsets", &Table::nag_offsets, "Remark i's NAGs, likewise.");
    bind_column(table, "nags", &Table::nags, "NAGs of all remarks, one after another.");
    bind_column(table, "remark_offsets", &Table::remark_offsets, "Game i's remarks, likewise.");
    bind_remark(table, "remark_ply", &Remark::ply, "Moves played before the position that the remark is about.");
    bind_remark(table, "remark_value", &Remark::value, "The first player's expected result.");
    bind_remark(table, "remark_score", &Remark::score, "Centipawns or points, the first player's view.");
    bind_remark(table, "remark_mate", &Remark::mate, "Moves to mate, > 0 by the first player; 0 none known.");
    bind_remark(table, "remark_depth", &Remark::depth, "0 if not given.");
    bind_remark(table, "remark_nodes", &Remark::nodes, "Nodes, visits or playouts; 0 if not given.");
    bind_remark(table, "remark_clock_s", &Remark::clock_s, "Left on the mover's clock.");
    bind_remark(table, "remark_spent_s", &Remark::spent_s, "Spent on the move.");
    table
        .def_prop_ro(
            "remark_author",
            [](const Table& self) {
                std::vector<std::uint8_t> values;
                values.reserve(self.remarks.size());
                for (const Remark& remark : self.remarks) values.push_back(static_cast<std::uint8_t>(remark.author));
                return to_numpy(std::move(values));
            },
            nb::rv_policy::move, "Author of value, score and mate: 1 the first player, 2 the second, 0 unknown.")
        .def_prop_ro(
            "remark_book",
            [](const Table& self) {
                std::vector<std::uint8_t> values;
                values.reserve(self.remarks.size());
                for (const Remark& remark : self.remarks) values.push_back(remark.book);
                return to_numpy(std::move(values));
            },
            nb::rv_policy::move, "1 for a move from an opening book.")
        .def(
            "text_buffers",
            [](nb::handle self, std::string_view name) {
                const TextColumn& texts = texts_named(nb::cast<const Table&>(self), name);
                return nb::make_tuple(column(self, texts.offsets), nb::ndarray<nb::numpy, const std::uint8_t>(
                                                                       texts.bytes.data(), {texts.bytes.size()}, self));
            },
            "name"_a, nb::sig("def text_buffers(self, name: str) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint8]]"),
            "A column of texts as Arrow keeps it, offsets and UTF-8 bytes: a field of games, `tag_names` and "
            "`tag_values`, or `remark_texts` and `remark_properties`.")
        .def(
            "text",
            [](const Table& self, std::string_view name) {
                const TextColumn& texts = texts_named(self, name);
                std::vector<std::string> list;
                for (std::size_t i = 0; i + 1 < texts.offsets.size(); ++i) list.emplace_back(texts[i]);
                return list;
            },
            "name"_a, "A column of texts.")
        .def_prop_ro(
            "refused",
            [](const Table& self) {
                std::vector<std::tuple<std::int64_t, std::int64_t, std::int32_t, std::string, nb::str>> list;
                for (const auto& refused : self.refused) {
                    std::vector<char> reason;
                    append_utf8(reason, refused.reason);
                    list.emplace_back(refused.line, refused.number, refused.ply,
                                      fault_names[static_cast<std::size_t>(refused.fault)],
                                      nb::str(reason.data(), reason.size()));
                }
                return list;
            },
            "Games not taken: line, number in the file, good moves before the fault, kind of fault, reason.");
    table.def_prop_ro(
        "first_unreadable",
        [](const Table& self) {
            std::vector<std::tuple<std::int64_t, std::int64_t, std::int32_t, nb::str>> list;
            for (const auto& each : self.first_unreadable) {
                std::vector<char> text;
                append_utf8(text, each.text);
                list.emplace_back(each.line, each.number, each.ply, nb::str(text.data(), text.size()));
            }
            return list;
        },
        "The first number of a comment that could not be read, of some games: line and number of the game, moves "
        "before it, text.");
    const auto names = [](const auto& views) {
        nb::list list;
        for (const auto view : views) list.append(nb::str(view.data(), view.size()));
        return nb::tuple(list);
    };
    table.def_prop_ro_static(
        "game_names", [names](nb::handle) { return names(game_names); },
        nb::sig("def game_names(/) -> tuple[str, ...]"));
    table.def_prop_ro_static(
        "ending_names", [names](nb::handle) { return names(ending_names); },
        nb::sig("def ending_names(/) -> tuple[str, ...]"));
    table.def_prop_ro_static(
        "field_names", [names](nb::handle) { return names(field_names); },
        nb::sig("def field_names(/) -> tuple[str, ...]"));

    nb::class_<GameSet>(module, "GameSet", "Remembers games, so that exact duplicates are found.")
        .def(nb::init<>())
        .def(
            "add",
            [](GameSet& set, const Table& games,
               const nb::ndarray<nb::numpy, const bool, nb::ndim<1>, nb::c_contig>& keep, std::uint32_t first_number) {
                if (keep.size() != games.size()) throw nb::value_error("one flag a game is needed");
                std::vector<std::int64_t> duplicate_of;
                for (std::size_t i = 0; i < games.size(); ++i) {
                    if (!keep.data()[i]) continue;
                    const auto before = set.add(static_cast<GameKind>(games.game[i]), games.start_of(i),
                                                games.moves_of(i), first_number++);
                    duplicate_of.push_back(before ? static_cast<std::int64_t>(*before) : -1);
                }
                return to_numpy(std::move(duplicate_of));
            },
            nb::rv_policy::move, "table"_a, "keep"_a, "first_number"_a,
            "Numbers the games that `keep` marks from `first_number` on; for each, the number of the equal game that "
            "came before, or -1.")
        .def(
            "add_one",
            [](GameSet& set, std::string_view kind, std::string_view start, const Codes& moves, std::uint32_t number) {
                return set.add(game_named(kind), start, {moves.data(), moves.size()}, number);
            },
            "game"_a, "start"_a, "moves"_a, "number"_a, "The number of an equal game that came before, if any.");

    nb::class_<OpenReader>(module, "Reader", "Reads the games of one file, piece by piece.")
        .def(
            "__init__",
            [](OpenReader& self, std::string_view format, nb::bytes players, nb::bytes tournaments) {
                new (&self) OpenReader{make_reader(format, std::string(players.c_str(), players.size()),
                                                   std::string(tournaments.c_str(), tournaments.size()))};
            },
            "format"_a, "players"_a = nb::bytes(""), "tournaments"_a = nb::bytes(""),
            "For a format: sgf, pgn, csa, kifu, lines, psv, binpack or wthor (whose names come from .jou and .trn "
            "files).")
        .def(
            "read",
            [](OpenReader& self, nb::bytes data, bool last) {
                auto found = std::make_unique<Table>();
                const std::string_view bytes(data.c_str(), data.size());
                std::size_t taken = 0;
                {
                    nb::gil_scoped_release released;
                    taken = self.reader->read(bytes, last, *found);
                }
                return std::pair(taken, std::move(found));
            },
            "data"_a, "last"_a,
            "Takes whole games from the start of `data`: how many bytes they took, and the games. The rest belongs to "
            "a game whose end is not there yet; with `last` everything is taken.");
    module.def(
        "move_texts", &move_texts, "game"_a, "start"_a, "komi"_a, "moves"_a, "notation"_a = "",
        "The moves of a recorded game as texts, in the game's own notation or in san, csa, kif, ki2, sgf, code.");
    module.def(
        "packed_sfen",
        [](const Shogi& position) {
            const PackedSfen packed = pack(position);
            return nb::bytes(packed.data(), packed.size());
        },
        "position"_a, "A position of shogi in 32 bytes, as YaneuraOu and cshogi pack it.");
    module.def(
        "packed_move", [](const Shogi::Move& move) { return packed_move(move); }, "move"_a,
        "A move of shogi in 16 bits, as YaneuraOu writes it.");
    nb::class_<Replay>(module, "Replay", "Walks a recorded game; an empty `start` is the standard one.")
        .def(nb::new_(&make_replay), "game"_a, "start"_a, "komi"_a, "moves"_a)
        .def("position", &Replay::position, "ply"_a, nb::sig("def position(self, ply: int) -> typing.Any"),
             "The position after a number of moves. Every move is played once as long as plies rise.")
        .def("line", &Replay::line, "ply"_a, nb::sig("def line(self, ply: int) -> typing.Any"),
             "The line after a number of moves, from which a search can continue. Where a record goes on although "
             "the rules would have ended the game (a draw that nobody claimed), the line begins at the position "
             "reached instead.");
}

}  // namespace hyoka::bindings
