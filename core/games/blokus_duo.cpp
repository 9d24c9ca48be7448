// SPDX-License-Identifier: Apache-2.0
#include "games/blokus_duo.h"

#include <algorithm>
#include <utility>

#include "games/rows.h"
#include "games/text_fields.h"

namespace hyoka {

using blokus::area;
using blokus::for_each_square;
using blokus::piece_count;
using blokus::placement_count;
using blokus::placements;

namespace {

constexpr int start_squares[2] = {4 * BlokusDuo::size + 4, 9 * BlokusDuo::size + 9};
constexpr std::uint64_t side_key = split_mix(0xb0);

std::uint64_t placement_key(Player player, int placement) {
    return split_mix(0xb1000000ULL + static_cast<std::uint64_t>(2 * placement + index_of(player)));
}

/// Columns a to n from the left, rows 1 to 14 from the bottom.
std::string square_text(int square) {
    return static_cast<char>('a' + square % BlokusDuo::size) +
           std::to_string(BlokusDuo::size - square / BlokusDuo::size);
}

/// The pieces that cover these squares of one player. Own pieces never touch along an edge, so each connected group
/// of squares is one piece.
std::vector<BlokusDuo::Move> split_pieces(blokus::SquareSet rest) {
    constexpr int size = BlokusDuo::size;
    std::vector<BlokusDuo::Move> pieces;
    for (int start = 0; start < area; ++start) {
        if (!rest.contains(start)) continue;
        blokus::SquareSet group;
        std::vector<int> reached = {start};
        group.add(start);
        for (std::size_t i = 0; i < reached.size(); ++i) {
            const int square = reached[i];
            const auto reach = [&](bool inside, int next) {
                if (!inside || !rest.contains(next) || group.contains(next)) return;
                group.add(next);
                reached.push_back(next);
            };
            reach(square >= size, square - size);
            reach(square < area - size, square + size);
            reach(square % size > 0, square - 1);
            reach(square % size < size - 1, square + 1);
        }
        rest = rest - group;
        const int placement = placements().find(group);
        if (placement < 0) throw NotationError("the squares around " + square_text(start) + " are no piece");
        pieces.push_back({static_cast<std::uint16_t>(placement)});
    }
    return pieces;
}

}  // namespace

std::string BlokusDuo::Move::text() const {
    if (placement >= placement_count) return "pass";
    std::vector<int> squares;
    for_each_square(placements().cells(placement), [&](int square) { squares.push_back(square); });
    std::sort(squares.begin(), squares.end(),
              [](int a, int b) { return std::pair(-(a / size), a % size) < std::pair(-(b / size), b % size); });
    std::string text;
    for (const int square : squares) text += (text.empty() ? "" : ",") + square_text(square);
    return text;
}

std::string BlokusDuo::Move::short_code() const {
    if (placement >= placement_count) return "0000";
    const auto& entry = placements()[placement];
    constexpr std::string_view hex = "123456789abcde";
    return {hex[static_cast<std::size_t>(entry.anchor % size)], hex[static_cast<std::size_t>(entry.anchor / size)],
            static_cast<char>('a' + entry.piece), static_cast<char>('0' + entry.rotation)};
}

BlokusDuo::Move BlokusDuo::parse_move(std::string_view text) const {
    const auto bad = [&](const char* why) {
        return NotationError("not a Blokus Duo move: '" + std::string(text) + "' (" + why + ")");
    };
    if (text == "pass" || text == "0000" || text.empty()) return Move::pass();
    if (text.size() == 4 && text.find(',') == std::string_view::npos) {
        const auto hex = [](char c) {
            return c >= '1' && c <= '9' ? c - '1' : c >= 'a' && c <= 'e' ? c - 'a' + 9 : -1;
        };
        const int column = hex(text[0]);
        const int row = hex(text[1]);
        const int piece = text[2] - 'a';
        const int rotation = text[3] - '0';
        if (column >= 0 && row >= 0 && piece >= 0 && piece < piece_count && rotation >= 0 && rotation < 8) {
            const int found = placements().find(piece, rotation, column, row);
            if (found < 0) throw bad("it leaves the board");
            return {static_cast<std::uint16_t>(found)};
        }
    }
    SquareSet cells;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const auto end = std::min(rest.find(','), rest.size());
        const auto square = rest.substr(0, end);
        const int column = square.empty() ? -1 : (square[0] | 32) - 'a';
        const auto row = parse_number(square.substr(std::min<std::size_t>(1, square.size())), 1, size);
        if (column < 0 || column >= size || !row) throw bad("expected squares such as e10,f10 or a code such as 66r0");
        const int index = (size - *row) * size + column;
        if (cells.contains(index)) throw bad("a square is named twice");
        cells.add(index);
        more = end < rest.size();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const int found = placements().find(cells);
    if (found < 0) throw bad("these squares are no piece");
    return {static_cast<std::uint16_t>(found)};
}

BlokusDuo::BlokusDuo(bool bonus) : bonus_(bonus) {
    for (const Player player : {Player::first, Player::second})
        sides_[at(player)].attaching.add(start_squares[at(player)]);
}

/// Calls visit(placement) for each legal placement, once, until it returns false; whether it never did.
template <class Visit>
bool BlokusDuo::visit_placements(Player player, Visit&& visit) const {
    const Side& own = sides_[at(player)];
    if (stuck_[at(player)]) return true;
    const auto& table = placements();
    // A placement that covers several attaching squares is met at the first of them only: each is closed once done.
    SquareSet closed = own.closed;
    for (std::size_t word = 0; word < 4; ++word) {
        std::uint64_t bits = own.attaching.words[word];
        while (bits) {
            const int square = 64 * static_cast<int>(word) + pop_lowest_bit(bits);
            const unsigned sides = blokus::closed_sides(square, closed);
            for (std::uint32_t left = own.left; left; left &= left - 1)
                for (const int placement : table.covering(square, sides, std::countr_zero(left)))
                    if (!table.cells(placement).intersects(closed) && !visit(placement)) return false;
            closed.add(square);
        }
    }
    return true;
}

bool BlokusDuo::can_place(Player player) const {
    return !visit_placements(player, [](int) { return false; });
}

int BlokusDuo::count_placements(Player player) const {
    int count = 0;
    visit_placements(player, [&](int) {
        ++count;
        return true;
    });
    return count;
}

Moves<BlokusDuo> BlokusDuo::legal_moves() const {
    Moves<BlokusDuo> moves;
    visit_placements(to_play_, [&](int placement) {
        moves.push_back({static_cast<std::uint16_t>(placement)});
        return true;
    });
    if (moves.empty() && can_place(other(to_play_))) moves.push_back(Move::pass());
    return moves;
}

bool BlokusDuo::is_legal(Move move) const {
    if (move == Move::pass()) return !can_place(to_play_) && can_place(other(to_play_));
    if (move.placement >= placement_count) return false;
    const auto& cells = placements().cells(move.placement);
    return (side().left >> placements()[move.placement].piece & 1) && !cells.intersects(side().closed) &&
           cells.intersects(side().attaching);
}

/// Draws (attaching square, placement that covers it) pairs until one is legal. A legal placement that covers k
/// attaching squares is met k times as often as one that covers one, so it is kept once in k times: the choice stays
/// uniform. Gives up after a while: late in the game legal placements are rare among those drawn.
std::optional<BlokusDuo::Move> BlokusDuo::draw_placement(Rng& rng) const {
    const auto& table = placements();
    const Side& own = side();
    struct Bucket {
        std::uint32_t end;
        std::span<const std::uint16_t> placements;
    };
    InlineVector<Bucket, area> buckets;
    std::uint32_t total = 0;
    for_each_square(own.attaching, [&](int square) {
        const auto list = table.covering(square, blokus::closed_sides(square, own.closed));
        total += static_cast<std::uint32_t>(list.size());
        buckets.push_back({total, list});
    });
    if (total == 0) return std::nullopt;
    for (int attempt = 0; attempt < 24; ++attempt) {
        const std::uint32_t n = rng.below(total);
        const Bucket* bucket = buckets.begin();
        while (n >= bucket->end) ++bucket;
        const int placement = bucket->placements[n - (bucket->end - bucket->placements.size())];
        const auto& cells = table.cells(placement);
        if (!(own.left >> table[placement].piece & 1) || cells.intersects(own.closed)) continue;
        const auto times_met = static_cast<std::uint32_t>((cells & own.attaching).count());
        if (times_met == 1 || rng.below(times_met) == 0) return Move{static_cast<std::uint16_t>(placement)};
    }
    return std::nullopt;
}

std::optional<BlokusDuo::Move> BlokusDuo::random_move(Rng& rng) const {
    if (!stuck_[at(to_play_)])
        if (const auto move = draw_placement(rng)) return move;
    return draw_move(*this, rng);
}

void BlokusDuo::play(Move move) {
    const Player us = to_play_;
    Side& own = sides_[at(us)];
    Side& theirs = sides_[at(other(us))];
    if (move.placement < placement_count) {
        const auto& cells = placements().cells(move.placement);
        const auto& placement = placements()[move.placement];
        own.squares |= cells;
        own.closed |= cells | placement.edges;
        own.attaching = own.left == Side{}.left ? placement.corners : own.attaching | placement.corners;
        own.attaching = own.attaching - own.closed;
        own.left ^= 1u << placement.piece;
        own.single_last = bonus_ && placement.piece == 0;
        theirs.closed |= cells;
        theirs.attaching = theirs.attaching - cells;
        hash_ ^= placement_key(us, move.placement);
    } else {
        stuck_[at(us)] = true;
    }
    to_play_ = other(us);
    hash_ ^= side_key;
}

int BlokusDuo::points(Player player) const {
    const Side& own = sides_[at(player)];
    return own.squares.count() + (bonus_ && own.left == 0 ? (own.single_last ? 20 : 15) : 0);
}

double BlokusDuo::score() const { return points(Player::first) - points(Player::second); }

std::optional<Outcome> BlokusDuo::outcome() const {
    if (can_place(Player::first) || can_place(Player::second)) return std::nullopt;
    return Outcome{result_of_score(score()), Reason::score};
}

/// The position with these squares laid. Nobody is marked as having laid the single square last.
BlokusDuo BlokusDuo::from_squares(const std::array<SquareSet, 2>& squares, Player to_play, bool bonus) {
    BlokusDuo game(bonus);
    for (const Player player : {Player::first, Player::second}) {
        std::vector<Move> pieces = split_pieces(squares[at(player)]);
        // Laying them one after another checks that each piece is used once and attached to the others.
        while (!pieces.empty()) {
            game.to_play_ = player;
            const auto next =
                std::find_if(pieces.begin(), pieces.end(), [&](Move piece) { return game.is_legal(piece); });
            if (next == pieces.end())
                throw NotationError("the piece at " + pieces[0].text() + " is used twice, not attached or in the way");
            game.play(*next);
            game.hash_ ^= side_key;
            pieces.erase(next);
        }
        game.sides_[at(player)].single_last = false;
    }
    game.to_play_ = to_play;
    if (to_play == Player::second) game.hash_ ^= side_key;
    return game;
}

std::string BlokusDuo::text() const {
    std::string text = write_rows(size, [this](int square) {
        return squares(Player::first).contains(square) ? 'X' : squares(Player::second).contains(square) ? 'O' : '\0';
    });
    text += to_play_ == Player::first ? " x" : " o";
    if (bonus_) {
        std::string last;
        if (sides_[0].single_last) last += 'x';
        if (sides_[1].single_last) last += 'o';
        text += " bonus ";
        text += last.empty() ? "-" : last;
    }
    return text;
}

BlokusDuo BlokusDuo::from_text(std::string_view text) {
    const auto bad = [&](const std::string& why) {
        return NotationError("bad Blokus Duo position '" + std::string(text) + "': " + why);
    };
    const auto fields = split_fields(text);
    if (fields.size() != 2 && !(fields.size() == 4 && fields[2] == "bonus"))
        throw bad("expected rows and x or o, e.g. " + BlokusDuo().text());
    std::array<SquareSet, 2> squares;
    read_rows("Blokus Duo", fields[0], size, [&](int square, Player player) { squares[at(player)].add(square); });
    if (fields[1] != "x" && fields[1] != "o") throw bad("the side to move must be x or o");
    if (fields.size() == 4 && fields[3] != "-" && fields[3] != "x" && fields[3] != "o" && fields[3] != "xo")
        throw bad("who laid the single square last must be -, x, o or xo");

    BlokusDuo game;
    try {
        game = from_squares(squares, fields[1] == "x" ? Player::first : Player::second, fields.size() == 4);
    } catch (const NotationError& error) {
        throw bad(error.what());
    }
    if (game.bonus_) {
        game.sides_[0].single_last = fields[3].find('x') != std::string_view::npos;
        game.sides_[1].single_last = fields[3].find('o') != std::string_view::npos;
    }
    return game;
}

std::vector<std::int8_t> BlokusDuo::cells() const {
    std::vector<std::int8_t> cells(area, 0);
    for_each_square(squares(Player::first), [&](int square) { cells[static_cast<std::size_t>(square)] = 1; });
    for_each_square(squares(Player::second), [&](int square) { cells[static_cast<std::size_t>(square)] = -1; });
    return cells;
}

BlokusDuo::Move BlokusDuo::transformed(Move move, int symmetry) {
    if (symmetry == 0 || move == Move::pass()) return move;
    return {placements()[move.placement].transposed};
}

BlokusDuo BlokusDuo::transformed(int symmetry) const {
    if (symmetry == 0) return *this;
    std::array<SquareSet, 2> flipped;
    for (std::size_t i = 0; i < 2; ++i)
        for_each_square(sides_[i].squares, [&](int square) { flipped[i].add(square % size * size + square / size); });
    BlokusDuo game = from_squares(flipped, to_play_, bonus_);
    for (std::size_t i = 0; i < 2; ++i) game.sides_[i].single_last = sides_[i].single_last;
    game.stuck_ = stuck_;
    return game;
}

void BlokusDuo::check_consistency() const {
    const BlokusDuo fresh = from_squares({sides_[0].squares, sides_[1].squares}, to_play_, bonus_);
    for (std::size_t i = 0; i < 2; ++i) {
        require_consistent(fresh.sides_[i].closed == sides_[i].closed, "closed squares");
        require_consistent(fresh.sides_[i].attaching == sides_[i].attaching, "attaching squares");
        require_consistent(fresh.sides_[i].left == sides_[i].left, "pieces left");
        require_consistent(!stuck_[i] || !fresh.can_place(static_cast<Player>(i)), "a player who passed but can move");
    }
    require_consistent(fresh.hash_ == hash_, "the hash");
}

static_assert(Game<BlokusDuo>);

}  // namespace hyoka
