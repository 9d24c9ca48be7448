// SPDX-License-Identifier: Apache-2.0
// Any bytes whatever, to a reader of records. They do no harm; what is taken as a game replays by the rules; and the
// pieces in which the bytes come make no difference.
//   records_fuzz --format=sgf [libFuzzer's options] FILES or FOLDERS
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/rng.h"
#include "records/binpack.h"
#include "records/csa.h"
#include "records/kifu.h"
#include "records/lines.h"
#include "records/packed_sfen.h"
#include "records/pgn.h"
#include "records/replay.h"
#include "records/sgf.h"
#include "records/text.h"
#include "records/wthor.h"

namespace hyoka::records {
namespace {

std::string format = "sgf";

[[noreturn]] void fail(const char* law) {
    std::fprintf(stderr, "broken law: %s\n", law);
    std::abort();
}
void require(bool holds, const char* law) {
    if (!holds) fail(law);
}

std::unique_ptr<Reader> new_reader(std::string_view names) {
    if (format == "sgf") return std::make_unique<SgfReader>();
    if (format == "pgn") return std::make_unique<PgnReader>();
    if (format == "csa") return std::make_unique<CsaReader>();
    if (format == "kifu") return std::make_unique<KifuReader>();
    if (format == "lines") return std::make_unique<LineReader>();
    if (format == "wthor") return std::make_unique<WthorReader>(std::string(names), std::string(names));
    if (format == "psv") return std::make_unique<PackedSfenReader>();
    if (format == "binpack") return std::make_unique<BinpackReader>();
    fail("the format is one of sgf, pgn, csa, kifu, lines, wthor, psv, binpack");
}

/// As a file is read: what a block leaves over comes again in front of the next. A copy of its own for each call shows
/// the sanitizer a step over either end.
Table read_in_pieces(std::string_view bytes, std::size_t pieces, Rng rng) {
    Table table;
    const auto reader = new_reader(bytes);
    std::string rest;
    while (pieces-- > 0) {
        const bool last = pieces == 0;
        const auto size = last ? bytes.size() : rng.below(static_cast<std::uint32_t>(bytes.size()) + 1);
        rest += bytes.substr(0, size);
        bytes.remove_prefix(size);
        const std::unique_ptr<char[]> own(new char[rest.size()]);
        std::copy(rest.begin(), rest.end(), own.get());
        const std::size_t taken = reader->read({own.get(), rest.size()}, last, table);
        require(taken <= rest.size(), "no more is taken than is there");
        require(!last || taken == rest.size(), "in the end everything is taken");
        rest.erase(0, taken);
    }
    return table;
}

bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }
bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
bool same(const Remark& a, const Remark& b) {
    return a.ply == b.ply && same(a.value, b.value) && same(a.score, b.score) && a.mate == b.mate &&
           a.depth == b.depth && a.nodes == b.nodes && same(a.clock_s, b.clock_s) && same(a.spent_s, b.spent_s) &&
           a.book == b.book && a.author == b.author;
}
bool same(const Table::Refused& a, const Table::Refused& b) {
    return a.line == b.line && a.number == b.number && a.ply == b.ply && a.fault == b.fault && a.reason == b.reason;
}
template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}

bool equal(const Table& a, const Table& b) {
    for (std::size_t i = 0; i < a.fields.size(); ++i)
        if (a.fields[i].offsets != b.fields[i].offsets || a.fields[i].bytes != b.fields[i].bytes) return false;
    return a.game == b.game && all_same(a.komi, b.komi) && a.handicap == b.handicap && a.winner == b.winner &&
           a.ending == b.ending && all_same(a.margin, b.margin) && a.line == b.line && a.number == b.number &&
           a.move_offsets == b.move_offsets && a.moves == b.moves && a.remark_offsets == b.remark_offsets &&
           all_same(a.remarks, b.remarks) && all_same(a.refused, b.refused);
}

std::string_view text_of(const Table& table, Field field, std::size_t i) {
    const TextColumn& texts = table.fields[static_cast<std::size_t>(field)];
    const auto begin = static_cast<std::size_t>(texts.offsets[i]);
    return {texts.bytes.data() + begin, static_cast<std::size_t>(texts.offsets[i + 1]) - begin};
}

template <class G>
void check_replay(const Table& table, std::size_t i) {
    G game = as_recorded(start_position<G>(text_of(table, Field::start, i), table.komi[i]));
    for (auto ply = table.move_offsets[i]; ply < table.move_offsets[i + 1]; ++ply) {
        const std::uint32_t code = table.moves[static_cast<std::size_t>(ply)];
        require(code < G::Move::code_count, "every move has a code");
        require(play_recorded(game, G::Move::from_code(code)), "every move of a game that was taken is legal");
    }
    game.check_consistency();
}

void check_remarks(const Table& table, std::size_t i) {
    const auto plies = table.move_offsets[i + 1] - table.move_offsets[i];
    std::int64_t before = -1;
    for (auto at = table.remark_offsets[i]; at < table.remark_offsets[i + 1]; ++at) {
        const Remark& remark = table.remarks[static_cast<std::size_t>(at)];
        require(remark.ply > before && remark.ply <= plies, "remarks stand in the order of their plies");
        before = remark.ply;
        require(std::isnan(remark.value) || (remark.value >= 0 && remark.value <= 1), "values are from 0 to 1");
        for (const float number : {remark.score, remark.clock_s, remark.spent_s})
            require(!std::isinf(number), "numbers are finite");
    }
}

void check(const Table& table) {
    for (const TextColumn& texts : table.fields) {
        std::vector<char> again;
        append_utf8(again, {texts.bytes.data(), texts.bytes.size()});
        require(again == texts.bytes, "texts are UTF-8 without control characters");
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        with_game(static_cast<GameKind>(table.game[i]),
                  [&]<class G>(std::type_identity<G>) { check_replay<G>(table, i); });
        check_remarks(table, i);
    }
}

}  // namespace
}  // namespace hyoka::records

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
    constexpr std::string_view option = "--format=";
    for (int i = 1; i < *count; ++i)
        if (const std::string_view argument = (*arguments)[i]; argument.starts_with(option))
            hyoka::records::format = argument.substr(option.size());
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace hyoka::records;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    hyoka::Rng rng(std::hash<std::string_view>{}(bytes));
    const Table whole = read_in_pieces(bytes, 1, rng);
    check(whole);
    const Table pieces = read_in_pieces(bytes, 2 + rng.below(8), rng);
    require(equal(whole, pieces), "pieces make no difference");
    return 0;
}
