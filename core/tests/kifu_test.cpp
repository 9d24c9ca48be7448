// SPDX-License-Identifier: Apache-2.0
// KI2 both ways, and laws of the reader of KIF and KI2: random games come back, pieces make no difference, no bytes
// whatever do harm. Runs under AddressSanitizer and UBSan in `make sanitize`.
#include "records/kifu.h"

#include "games/shogi.h"
#include "tests/expect.h"

namespace hyoka::tests {
namespace {

using records::KifuReader;
using records::Table;

/// The examples of https://www.shogi.or.jp/faq/kihuhyouki.html, which say how a move is to be written.
void check_published_examples() {
    struct Example {
        const char* ranks;
        const char* move;
        const char* text;
    };
    constexpr Example examples[] = {
        {"9/2G6/G8/9/9/9/9/9/9", "9c8b", "▲８二金上"},         {"9/2G6/G8/9/9/9/9/9/9", "7b8b", "▲８二金寄"},
        {"9/9/9/5G3/4G4/9/9/9/9", "4d5d", "▲５四金寄"},        {"9/9/9/5G3/4G4/9/9/9/9", "5e5d", "▲５四金上"},
        {"9/9/9/9/9/9/9/1S7/3S5", "8h7g", "▲７七銀"},          {"9/9/9/9/9/9/9/9/1S1S5", "8i7h", "▲７八銀左"},
        {"9/9/9/9/9/9/9/9/1S1S5", "6i7h", "▲７八銀右"},        {"9/9/9/9/9/9/9/9/3GG4", "6i5h", "▲５八金左"},
        {"9/9/9/9/9/9/9/9/3GG4", "5i5h", "▲５八金直"},         {"9/9/9/9/9/9/9/9/5SS2", "4i3h", "▲３八銀左"},
        {"9/9/9/9/9/9/9/9/6SS1", "3i3h", "▲３八銀直"},         {"9/9/9/9/9/9/9/9/6SS1", "2i3h", "▲３八銀右"},
        {"9/9/3GGG3/9/9/9/9/9/9", "6c5b", "▲５二金左"},        {"9/9/3GGG3/9/9/9/9/9/9", "5c5b", "▲５二金直"},
        {"9/9/3GGG3/9/9/9/9/9/9", "4c5b", "▲５二金右"},        {"9/9/9/9/9/9/1+P7/+P8/+P+P+P6", "7i8h", "▲８八と右"},
        {"9/9/9/9/9/9/1+P7/+P8/+P+P+P6", "8i8h", "▲８八と直"}, {"9/9/9/9/9/9/1+P7/+P8/+P+P+P6", "9i8h", "▲８八と左上"},
        {"9/9/9/9/9/9/1+P7/+P8/+P+P+P6", "9h8h", "▲８八と寄"}, {"9/9/9/9/9/9/1+P7/+P8/+P+P+P6", "8g8h", "▲８八と引"},
        {"9/9/9/9/9/9/6S1S/9/6SS1", "2i2h", "▲２八銀直"},      {"9/9/9/9/9/9/6S1S/9/6SS1", "1g2h", "▲２八銀右"},
        {"9/9/9/9/9/9/6S1S/9/6SS1", "3i2h", "▲２八銀左上"},    {"9/9/9/9/9/9/6S1S/9/6SS1", "3g2h", "▲２八銀左引"},
        {"+R8/9/9/1+R7/9/9/9/9/9", "9a8b", "▲８二龍引"},       {"+R8/9/9/1+R7/9/9/9/9/9", "8d8b", "▲８二龍上"},
        {"9/4+R4/7+R1/9/9/9/9/9/9", "2c4c", "▲４三龍寄"},      {"9/4+R4/7+R1/9/9/9/9/9/9", "5b4c", "▲４三龍引"},
        {"9/9/9/9/4+R3+R/9/9/9/9", "5e3e", "▲３五龍左"},       {"9/9/9/9/4+R3+R/9/9/9/9", "1e3e", "▲３五龍右"},
        {"9/9/9/9/9/9/9/9/+R+R7", "9i8h", "▲８八龍左"},        {"9/9/9/9/9/9/9/9/+R+R7", "8i8h", "▲８八龍右"},
        {"+B+B7/9/9/9/9/9/9/9/9", "9a8b", "▲８二馬左"},        {"+B+B7/9/9/9/9/9/9/9/9", "8a8b", "▲８二馬右"},
        {"9/9/3+B5/9/+B8/9/9/9/9", "9e8e", "▲８五馬寄"},       {"9/9/3+B5/9/+B8/9/9/9/9", "6c8e", "▲８五馬引"},
    };
    for (const Example& example : examples) {
        const Shogi game = Shogi::from_text(std::string(example.ranks) + " b - 1");
        const auto move = game.parse_move(example.move);
        expect(game.ki2(move) == example.text, std::string(example.text) + " came out as " + game.ki2(move));
        expect(game.parse_ki2(example.text) == move, std::string(example.text) + " means " + example.move);
    }
}

void check_ki2(const Shogi& start, std::uint64_t seed) {
    Rng rng(seed);
    Shogi game = start;
    std::optional<Shogi::Move> previous;
    for (int ply = 0; ply < 300; ++ply) {
        const auto moves = game.legal_moves();
        if (moves.empty()) break;
        bool all = true;
        for (const auto move : moves) all = all && game.parse_ki2(game.ki2(move, previous), previous) == move;
        expect(all, "KI2 reads back in " + game.text());
        previous = moves[rng.below(static_cast<std::uint32_t>(moves.size()))];
        game.play(*previous);
    }
}

/// A random game as a text of its own, and its moves.
std::string written_game(std::uint64_t seed, bool as_ki2, std::vector<std::uint16_t>& codes) {
    Rng rng(seed);
    Shogi game;
    std::optional<Shogi::Move> previous;
    std::string text = "開始日時：2020/01/02\n先手：甲 初段\n後手：乙\n手合割：平手\n";
    if (!as_ki2) text += "手数----指手---------消費時間--\n";
    for (int ply = 1; ply <= 60; ++ply) {
        const auto move = game.random_move(rng);
        if (!move) break;
        const std::string number = std::to_string(ply);
        text += as_ki2 ? game.ki2(*move, previous) + (ply % 6 ? "    " : "\n")
                       : "   " + number + " " + game.kif(*move, previous) + "   ( 0:0" + number[0] + "/00:00:09)\n";
        codes.push_back(static_cast<std::uint16_t>(move->code()));
        game.play(*move);
        previous = move;
    }
    const bool black_wins = game.to_play() == Player::second;
    const std::string plies = std::to_string(codes.size());
    return text + "\nまで" + plies + "手で" + (black_wins ? "先手" : "後手") + "の勝ち\n";
}

Table read_in_pieces(const std::string& text, std::size_t piece) {
    KifuReader reader;
    Table table;
    std::string waiting;
    for (std::size_t at = 0; at <= text.size(); at += piece) {
        const bool last = at + piece > text.size();
        waiting += text.substr(at, piece);
        waiting.erase(0, reader.read(waiting, last, table));
    }
    expect(waiting.empty(), "everything is taken in the end");
    return table;
}

bool same(const Table& a, const Table& b) {
    bool equal = a.moves == b.moves && a.move_offsets == b.move_offsets && a.winner == b.winner &&
                 a.ending == b.ending && a.line == b.line && a.number == b.number && a.handicap == b.handicap &&
                 a.remarks.size() == b.remarks.size() && a.refused.size() == b.refused.size();
    for (std::size_t i = 0; i < a.fields.size(); ++i) equal = equal && a.fields[i].bytes == b.fields[i].bytes;
    for (std::size_t i = 0; equal && i < a.refused.size(); ++i)
        equal = a.refused[i].line == b.refused[i].line && a.refused[i].reason == b.refused[i].reason;
    return equal;
}

std::string many_games() {
    std::string text;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        std::vector<std::uint16_t> codes;
        text += written_game(seed, seed % 2 == 0, codes);
    }
    return text;
}

void check_random_games() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        std::vector<std::uint16_t> codes;
        const std::string text = written_game(seed, seed % 2 == 0, codes);
        const Table table = read_in_pieces(text, text.size() + 1);
        expect(table.size() == 1 && table.refused.empty() && table.moves == codes, "a random game comes back");
    }
}

void check_pieces() {
    const std::string text = many_games() + "先手：丙\n   1 ７六歩(77)\n   2 ７六歩(77)\n先手：丁\n   1 投了\n";
    const Table whole = read_in_pieces(text, text.size() + 1);
    expect(whole.size() == 7 && whole.refused.size() == 1, "games follow one another");
    std::string wide_ends;
    for (const char c : text) wide_ends += c == '\n' ? std::string("\r\n") : std::string(1, c);
    for (const std::size_t piece : {1, 2, 3, 7, 64, 1000}) {
        expect(same(whole, read_in_pieces(text, piece)), "pieces make no difference");
        expect(same(whole, read_in_pieces(wide_ends, piece)), "neither do line ends");
    }
}

void check_bad_bytes() {
    Rng rng(7);
    const std::string text = many_games() +
                             "手合割：その他\n後手の持駒：飛　角　歩十八　\n|v香v桂 ・ ・v玉 ・ ・ ・ "
                             "龍|一\n後手番\n*#評価値=12\n*形勢：3 互角\n"
                             "** 対局 評価値 1\n変化：3手\n";
    for (int i = 0; i < 3000; ++i) {
        std::string mangled = text.substr(rng.below(static_cast<std::uint32_t>(text.size())));
        for (auto edits = rng.below(8); edits > 0 && !mangled.empty(); --edits) {
            const auto at = rng.below(static_cast<std::uint32_t>(mangled.size()));
            const auto byte = static_cast<char>(rng.below(2) ? 32 + rng.below(95) : rng.below(256));
            switch (rng.below(4)) {
                case 0: mangled[at] = byte; break;
                case 1: mangled.insert(at, 1, byte); break;
                case 2: mangled.erase(at, 1 + rng.below(9)); break;
                default: mangled.insert(at, mangled.substr(rng.below(static_cast<std::uint32_t>(mangled.size())), 30));
            }
        }
        Table table;
        const auto taken = KifuReader().read(mangled, true, table);
        expect(taken == mangled.size(), "whatever the bytes, all are taken");
    }
}

void check_megabytes() {
    const std::size_t million = 1'000'000;
    for (const char* const part :
         {"a", "\n", " ", "　", "先手：", "*", "#", "▲", "▲７六歩", "同　", "1 ", "12 ７六歩(77)\n", "まで", "変化：",
          "|", "後手の持駒：歩", "*#評価値=1\n", "四段", "1 投了\n"}) {
        std::string text = "先手：";
        while (text.size() < million) text += part;
        Table table;
        expect(KifuReader().read(text, true, table) == text.size(), "a megabyte is read");
        for (const auto& refused : table.refused) expect(refused.reason.size() < 1000, "reasons stay short");
    }
}

}  // namespace
}  // namespace hyoka::tests

int main() {
    using namespace hyoka::tests;
    check_published_examples();
    for (std::uint64_t seed = 0; seed < 20; ++seed) check_ki2(hyoka::Shogi(), seed);
    for (const auto& name : hyoka::Shogi::handicap_names()) check_ki2(hyoka::Shogi::with_handicap(name), 99);
    check_random_games();
    check_pieces();
    check_bad_bytes();
    check_megabytes();
    return report();
}
