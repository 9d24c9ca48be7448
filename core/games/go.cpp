// SPDX-License-Identifier: Apache-2.0
#include "games/go.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "games/rows.h"
#include "games/square_symmetry.h"
#include "games/text_fields.h"

namespace hyoka {
namespace {

constexpr auto ko_keys = zobrist_keys<19 * 20 + 64>(0x61);
constexpr auto turn_keys = zobrist_keys<6>(0x62);  // who plays x passes made

std::int16_t halves_of(double komi) {
    const double halves = std::round(komi * 2);
    if (!(std::abs(komi * 2 - halves) < 1e-6) || std::abs(halves) > 2000)
        throw NotationError("komi must be a whole or half number of points within 1000, not " + std::to_string(komi));
    return static_cast<std::int16_t>(halves);
}

}  // namespace

template <int N>
std::string Go<N>::Move::text() const {
    if (point >= area) return "pass";
    const int column = point % N;
    return static_cast<char>('A' + column + (column >= 8)) + std::to_string(N - point / N);
}

template <int N>
std::string Go<N>::Move::sgf() const {
    if (point >= area) return "";
    return {static_cast<char>('a' + point % N), static_cast<char>('a' + point / N)};
}

template <int N>
typename Go<N>::Move Go<N>::parse_sgf(std::string_view text) {
    if (text.empty() || (text == "tt" && N <= 19)) return Move::pass();
    if (text.size() == 2) {
        const int column = text[0] - 'a';
        const int row = text[1] - 'a';
        if (column >= 0 && column < N && row >= 0 && row < N) return point_at(row, column);
    }
    throw NotationError("not an SGF point on a " + std::to_string(N) + "x" + std::to_string(N) + " board: '" +
                        std::string(text) + "'");
}

template <int N>
typename Go<N>::Move Go<N>::parse_move(std::string_view text) const {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower.empty() || lower == "pass") return Move::pass();
    const char letter = lower[0];
    if (letter >= 'a' && letter <= 'z' && letter != 'i' && lower.size() <= 3) {
        const int column = letter - 'a' - (letter > 'i');
        if (const auto row = parse_number(std::string_view(lower).substr(1), 1, N); row && column < N)
            return point_at(N - *row, column);
    }
    if (lower.size() == 2 && std::isalpha(static_cast<unsigned char>(lower[1]))) return parse_sgf(lower);
    throw NotationError("not a point on a " + std::to_string(N) + "x" + std::to_string(N) + " board: '" +
                        std::string(text) + "' (expected one like D3, or pass)");
}

template <int N>
Go<N>::Go(Bare) {
    colors_.fill(border);
    for (const Place p : place_table) colors_[p] = empty;
    rebuild();
}

template <int N>
Go<N>::Go(double komi, int handicap) {
    static const Go empty_board{Bare{}};
    *this = empty_board;
    komi_halves_ = halves_of(komi);
    if (handicap == 0) return;
    const int most = N < 7 ? 0 : N % 2 == 0 || N == 7 ? 4 : 9;
    if (handicap < 2 || handicap > most)
        throw NotationError("no fixed handicap of " + std::to_string(handicap) + " stones on a " + std::to_string(N) +
                            "x" + std::to_string(N) + " board" + (most ? " (2 to " + std::to_string(most) + ")" : ""));
    const int near = N < 13 ? 2 : 3;
    const int far = N - 1 - near;
    const int middle = N / 2;
    // Corners first, then the middles of the sides; an odd number from five up has the center.
    const std::array<Move, 8> stars = {point_at(far, near),    point_at(near, far),    point_at(near, near),
                                       point_at(far, far),     point_at(middle, near), point_at(middle, far),
                                       point_at(near, middle), point_at(far, middle)};
    const bool center = handicap >= 5 && handicap % 2 == 1;
    for (int i = 0; i < handicap - center; ++i) colors_[z(place_of(stars[z(i)]))] = black;
    if (center) colors_[z(place_of(point_at(middle, middle)))] = black;
    to_play_ = Player::second;
    rebuild();
}

template <int N>
Go<N> Go<N>::from_stones(std::span<const Move> blacks, std::span<const Move> whites, Player to_play, double komi) {
    Go game{Bare{}};
    game.komi_halves_ = halves_of(komi);
    game.to_play_ = to_play;
    for (const auto& [stones, color] : {std::pair{blacks, black}, std::pair{whites, white}}) {
        for (const Move stone : stones) {
            if (stone.point >= area) throw NotationError("a pass is no stone");
            if (game.color(place_of(stone)) != empty) throw IllegalMoveError("two stones on " + stone.text());
            game.colors_[z(place_of(stone))] = color;
        }
    }
    game.rebuild();
    for (const Place p : place_table)
        if (game.colors_[p] < empty && game.liberties_[game.head_[p]] == 0)
            throw IllegalMoveError("the chain at " + move_at(p).text() + " has no liberty");
    return game;
}

template <int N>
Go<N> Go<N>::from_text(std::string_view text) {
    const auto bad = [&](const std::string& why) {
        return NotationError("bad Go position '" + std::string(text) + "': " + why);
    };
    const auto fields = split_fields(text);
    if (fields.size() != 5) throw bad("expected rows, b or w, ko, passes and komi, e.g. " + Go().text());
    std::vector<Move> blacks;
    std::vector<Move> whites;
    read_rows("Go", fields[0], N, [&](int square, Player player) {
        (player == Player::first ? blacks : whites).push_back({static_cast<std::uint16_t>(square)});
    });
    if (fields[1] != "b" && fields[1] != "w") throw bad("the side to move must be b or w");
    double komi = 0;
    const auto [end, error] = std::from_chars(fields[4].data(), fields[4].data() + fields[4].size(), komi);
    if (error != std::errc{} || end != fields[4].data() + fields[4].size())
        throw bad("komi '" + std::string(fields[4]) + "'");
    Go game = from_stones(blacks, whites, fields[1] == "b" ? Player::first : Player::second, komi);
    if (fields[2] != "-") {
        const Move ko = game.parse_move(fields[2]);
        if (ko == Move::pass() || game.color(place_of(ko)) != empty) throw bad("ko must be an empty point");
        game.ko_ = static_cast<Place>(place_of(ko));
    }
    const auto passes = parse_number(fields[3], 0, 2);
    if (!passes) throw bad("passes must be 0, 1 or 2");
    game.passes_ = static_cast<std::uint8_t>(*passes);
    return game;
}

template <int N>
std::string Go<N>::text() const {
    std::string text = write_rows(N, [this](int square) {
        const Color stone = colors_[place_table[z(square)]];
        return stone == black ? 'X' : stone == white ? 'O' : '\0';
    });
    text += to_play_ == Player::first ? " b " : " w ";
    text += ko_ ? move_at(ko_).text() : "-";
    text += ' ' + std::to_string(passes_) + ' ';
    if (komi_halves_ < 0) text += '-';
    const int halves = std::abs(komi_halves_);
    text += std::to_string(halves / 2);
    if (halves % 2) text += ".5";
    return text;
}

template <int N>
Go<N> Go<N>::with_komi(double komi) const {
    Go game = *this;
    game.komi_halves_ = halves_of(komi);
    return game;
}

template <int N>
Go<N> Go<N>::resumed() const {
    Go game = *this;
    game.passes_ = 0;
    return game;
}

template <int N>
Go<N> Go<N>::with_to_play(Player player) const {
    Go game = *this;
    if (player != to_play_) game.ko_ = 0;
    game.to_play_ = player;
    return game;
}

/// Computes all that is kept incrementally from the colors alone.
template <int N>
void Go<N>::rebuild() {
    around_.fill(0);
    head_.fill(0);
    next_.fill(0);
    stones_.fill(0);
    liberties_.fill(0);
    stones_hash_ = 0;
    for (const Place p : place_table) {
        const Color here = colors_[p];
        for (const int side : sides) {
            const Color neighbor = color(p + side);
            if (neighbor != border) around_[p] = static_cast<std::uint16_t>(around_[p] + (1 << (4 * neighbor)));
        }
        if (here == empty) continue;
        stones_hash_ ^= stone_key(here, p);
        head_[p] = next_[p] = p;
        stones_[p] = 1;
        for (const int side : sides)
            if (color(p + side) == empty) liberties_[p] += liberty_of[z(p + side)];
    }
    for (const Place p : place_table)
        for (const int side : {1, stride})
            if (colors_[p] < empty && color(p + side) == colors_[p] && head_[p] != head_[z(p + side)])
                merge(head_[p], head_[z(p + side)]);
}

/// Makes one chain of two of the same color.
template <int N>
void Go<N>::merge(int head, int other_head) {
    if (stones_[z(head)] < stones_[z(other_head)]) std::swap(head, other_head);
    int stone = other_head;
    do {
        head_[z(stone)] = static_cast<Place>(head);
        stone = next_[z(stone)];
    } while (stone != other_head);
    std::swap(next_[z(head)], next_[z(other_head)]);
    stones_[z(head)] = static_cast<std::uint16_t>(stones_[z(head)] + stones_[z(other_head)]);
    liberties_[z(head)] += liberties_[z(other_head)];
}

template <int N>
template <class Watcher>
void Go<N>::remove_chain(int head, Watcher& watcher) {
    const Color gone = color(head);
    const auto change = static_cast<std::uint16_t>((1 << (4 * empty)) - (1 << (4 * gone)));
    int stone = head;
    do {
        const int next = next_[z(stone)];
        colors_[z(stone)] = empty;
        head_[z(stone)] = 0;
        stones_hash_ ^= stone_key(gone, stone);
        watcher.freed(stone);
        for (const int side : sides) {
            const int neighbor = stone + side;
            around_[z(neighbor)] = static_cast<std::uint16_t>(around_[z(neighbor)] + change);
            liberties_[head_[z(neighbor)]] += liberty_of[z(stone)];
        }
        stone = next;
    } while (stone != head);
}

/// Pre: the place is empty.
template <int N>
bool Go<N>::place_is_legal(int place, Color own) const {
    if (place == ko_) return false;
    if (around_[z(place)] >> (4 * empty)) return true;
    for (const int side : sides) {
        const Color neighbor = color(place + side);
        if (neighbor == border) continue;
        // An own chain with another liberty, or an enemy chain without one, makes room.
        if ((neighbor == own) != is_atari(liberties_[head_[z(place + side)]])) return true;
    }
    return false;
}

/// An empty point whose neighbors are all own stones, and that the opponent can't make false by holding
/// two of its diagonal points, or one at the edge.
template <int N>
bool Go<N>::is_own_eye(int place, Color own) const {
    if (around_[z(place)] & ~(15 << (4 * own))) return false;
    int held = 0;
    int outside = 0;
    for (const int diagonal : diagonals) {
        const Color corner = color(place + diagonal);
        held += corner == enemy_of(own);
        outside |= corner == border;
    }
    return held + outside < 2;
}

/// Legal and not an own eye. Pre: the place is empty.
template <int N>
bool Go<N>::is_playable(int place, Color own) const {
    if (around_[z(place)] >> (4 * empty)) return place != ko_;
    return !is_own_eye(place, own) && place_is_legal(place, own);
}

template <int N>
std::optional<typename Go<N>::Move> Go<N>::random_move(Rng& rng) const {
    if (passes_ >= 2) return std::nullopt;
    std::array<Place, area> playable;
    std::uint32_t count = 0;
    for (const Place p : place_table)
        if (colors_[p] == empty && is_playable(p, color_of(to_play_))) playable[count++] = p;
    return count ? move_at(playable[rng.below(count)]) : Move::pass();
}

/// What place_stone tells of; the rules themselves need not know.
template <int N>
struct Go<N>::NoWatcher {
    static constexpr bool watches_atari() { return false; }
    void placed(int) {}
    void freed(int) {}
    void in_atari(int) {}
};

template <int N>
struct Go<N>::CaptureRecorder : NoWatcher {
    PlaceSet& captured;
    explicit CaptureRecorder(PlaceSet& set) : captured(set) {}
    void freed(int place) { captured[z(place / 64)] |= std::uint64_t{1} << (place % 64); }
};

template <int N>
template <class Watcher>
void Go<N>::place_stone(int place, Watcher& watcher) {
    const Color own = color_of(to_play_);
    colors_[z(place)] = own;
    stones_hash_ ^= stone_key(own, place);

    // One pass over the neighbors without a branch: what they are can't be predicted.
    const auto change = static_cast<std::uint16_t>((1 << (4 * own)) - (1 << (4 * empty)));
    const LibertySums lost = liberty_of[z(place)];
    LibertySums sums = 0;
    unsigned friends = 0;  // sides with an own stone
    unsigned dead = 0;     // sides with an enemy stone that has no liberty left
    for (unsigned i = 0; i < 4; ++i) {
        const int neighbor = place + sides[i];
        around_[z(neighbor)] = static_cast<std::uint16_t>(around_[z(neighbor)] + change);
        const Color there = color(neighbor);
        sums += liberty_of[z(neighbor)] & (LibertySums{0} - (there == empty));
        friends |= static_cast<unsigned>(there == own) << i;
        // Empty and border places have head 0, whose sums mean nothing.
        LibertySums& theirs = liberties_[head_[z(neighbor)]];
        theirs -= lost;
        dead |= static_cast<unsigned>((there == enemy_of(own)) & (theirs == 0)) << i;
    }
    ko_ = 0;
    watcher.placed(place);

    // The stone joins the chain on its first own side; without one, first_side leads back to itself.
    head_[z(place)] = next_[z(place)] = static_cast<Place>(place);
    stones_[z(place)] = 0;
    liberties_[z(place)] = 0;
    const int head = head_[z(place + first_side[friends])];
    head_[z(place)] = static_cast<Place>(head);
    std::swap(next_[z(place)], next_[z(head)]);
    ++stones_[z(head)];
    liberties_[z(head)] += sums;
    while (friends &= friends - 1) {
        const int neighbor = place + first_side[friends];
        if (head_[z(neighbor)] != head_[z(place)]) merge(head_[z(neighbor)], head_[z(place)]);
    }
    if (dead) capture(place, dead, watcher);
    if (watcher.watches_atari()) report_atari(place, watcher);
}

/// Takes the chains on the given sides of a stone just placed.
template <int N>
template <class Watcher>
[[gnu::noinline]] void Go<N>::capture(int place, unsigned dead_sides, Watcher& watcher) {
    int captured = 0;
    int last = 0;
    for (; dead_sides; dead_sides &= dead_sides - 1) {
        const int neighbor = place + sides[z(std::countr_zero(dead_sides))];
        if (color(neighbor) == empty) continue;  // gone with its chain already
        last = head_[z(neighbor)];
        captured += stones_[z(last)];
        remove_chain(last, watcher);
    }
    // Taking one stone with a lone stone that now has just that liberty: a ko.
    const int head = head_[z(place)];
    if (captured == 1 && stones_[z(head)] == 1 && liberties_[z(head)] == liberty_of[z(last)])
        ko_ = static_cast<Place>(last);
}

/// Tells the watcher which chains at and around a stone just placed are in atari.
template <int N>
template <class Watcher>
[[gnu::noinline]] void Go<N>::report_atari(int place, Watcher& watcher) const {
    const Color enemy = enemy_of(color(place));
    unsigned weak = 0;  // sides with an enemy chain in atari
    for (unsigned i = 0; i < 4; ++i) {
        const int neighbor = place + sides[i];
        weak |= static_cast<unsigned>((color(neighbor) == enemy) & is_atari(liberties_[head_[z(neighbor)]])) << i;
    }
    for (; weak; weak &= weak - 1) watcher.in_atari(head_[z(place + sides[z(std::countr_zero(weak))])]);
    if (is_atari(liberties_[head_[z(place)]])) watcher.in_atari(head_[z(place)]);
}

/// Plays on a place, or passes if it is 0.
template <int N>
template <class Watcher>
void Go<N>::advance(int place, Watcher&& watcher) {
    if (place) {
        place_stone(place, watcher);
        passes_ = 0;
    } else {
        ko_ = 0;
        ++passes_;
    }
    to_play_ = other(to_play_);
}

template <int N>
void Go<N>::play(Move move) {
    advance(move.point < area ? place_of(move) : 0, NoWatcher{});
}

template <int N>
typename Go<N>::Undo Go<N>::play_undoable(Move move) {
    Undo token{move, ko_, passes_, {}};
    advance(move.point < area ? place_of(move) : 0, CaptureRecorder(token.captured));
    return token;
}

template <int N>
void Go<N>::undo(const Undo& token) {
    to_play_ = other(to_play_);
    if (token.move.point < area) {
        colors_[z(place_of(token.move))] = empty;
        for (std::size_t i = 0; i < token.captured.size(); ++i)
            for_each_bit(token.captured[i], [&](int bit) { colors_[64 * i + z(bit)] = enemy_of(color_of(to_play_)); });
        rebuild();
    }
    ko_ = token.ko;
    passes_ = token.passes;
}

template <int N>
bool Go<N>::is_legal(Move move) const {
    if (passes_ >= 2 || move.point > area) return false;
    if (move == Move::pass()) return true;
    const int place = place_of(move);
    if (color(place) != empty || place == ko_) return false;
    // Walks the chains instead of trusting the sums: does the new stone or a chain it joins have a liberty left,
    // or does it take the last one of an enemy chain?
    const Color own = color_of(to_play_);
    for (const int side : sides) {
        const Color neighbor = color(place + side);
        if (neighbor == empty) return true;
        if (neighbor == border) continue;
        bool free = false;
        for_each_stone(head_[z(place + side)], [&](int stone) {
            for (const int s : sides) free |= color(stone + s) == empty && stone + s != place;
        });
        if (free == (neighbor == own)) return true;
    }
    return false;
}

template <int N>
Moves<Go<N>> Go<N>::legal_moves() const {
    Moves<Go> moves;
    if (passes_ >= 2) return moves;
    const Color own = color_of(to_play_);
    for (const Place p : place_table)
        if (colors_[p] == empty && place_is_legal(p, own)) moves.push_back(move_at(p));
    moves.push_back(Move::pass());
    return moves;
}

template <int N>
std::size_t Go<N>::count_moves() const {
    return legal_moves().size();
}

template <int N>
std::optional<Outcome> Go<N>::outcome() const {
    if (passes_ < 2) return std::nullopt;
    return Outcome{result_of_score(score()), Reason::score};
}

template <int N>
double Go<N>::score() const {
    int balance = 0;  // Black's points less White's
    for (const Place p : place_table) balance += (colors_[p] == black) - (colors_[p] == white);
    PlaceSet seen{};
    std::array<Place, area> region;
    const auto visit = [&seen](int place) {
        std::uint64_t& word = seen[z(place / 64)];
        const auto bit = std::uint64_t{1} << (place % 64);
        return !(word & bit) && (word |= bit);
    };
    for (const Place start : place_table) {
        if (colors_[start] != empty) continue;
        std::uint16_t around = around_[start];
        if (!(around >> (4 * empty))) {  // a region of one point: most are, after a playout
            balance += !(around >> 4) - !(around & 15);
            continue;
        }
        if (!visit(start)) continue;
        int reached = 1;
        region[0] = start;
        for (int i = 0; i < reached; ++i) {
            const Place here = region[z(i)];
            around |= around_[here];
            for (const int side : sides)
                if (color(here + side) == empty && visit(here + side))
                    region[z(reached++)] = static_cast<Place>(here + side);
        }
        const bool by_black = around & 15;
        const bool by_white = around >> 4 & 15;
        balance += reached * (by_black - by_white);
    }
    return balance - komi();
}

template <int N>
std::uint64_t Go<N>::hash() const {
    const auto turn = static_cast<std::size_t>(index_of(to_play_) * 3 + passes_);
    return stones_hash_ ^ turn_keys[turn] ^ (ko_ ? ko_keys[ko_] : 0);
}

template <int N>
typename Go<N>::Trace Go<N>::trace_after(Move move) const {
    if (move == Move::pass()) return stones_hash_;
    const Color own = color_of(to_play_);
    const int place = place_of(move);
    Trace trace = stones_hash_ ^ stone_key(own, place);
    std::array<int, 4> taken{};
    std::size_t count = 0;
    for (const int side : sides) {
        if (color(place + side) != enemy_of(own)) continue;
        const int head = head_[z(place + side)];
        if (!is_atari(liberties_[z(head)]) ||
            std::find(taken.begin(), taken.begin() + count, head) != taken.begin() + count)
            continue;
        taken[count++] = head;
        for_each_stone(head, [&](int stone) { trace ^= stone_key(enemy_of(own), stone); });
    }
    return trace;
}

template <int N>
int Go<N>::liberties(Move move) const {
    const int place = place_of(move);
    if (color(place) >= empty) return 0;
    PlaceSet found{};
    for_each_stone(head_[z(place)], [&](int stone) {
        for (const int side : sides)
            if (color(stone + side) == empty)
                found[z((stone + side) / 64)] |= std::uint64_t{1} << ((stone + side) % 64);
    });
    int count = 0;
    for (const auto word : found) count += count_bits(word);
    return count;
}

template <int N>
std::vector<std::int8_t> Go<N>::cells() const {
    std::vector<std::int8_t> cells;
    cells.reserve(area);
    for (const Place p : place_table)
        cells.push_back(colors_[p] == black ? std::int8_t{1} : colors_[p] == white ? std::int8_t{-1} : std::int8_t{0});
    return cells;
}

template <int N>
typename Go<N>::Move Go<N>::transformed(Move move, int symmetry) {
    if (move.point >= area) return move;
    return {static_cast<std::uint16_t>(transformed_square(move.point, N, symmetry))};
}

template <int N>
Go<N> Go<N>::transformed(int symmetry) const {
    Go game = *this;
    for (int i = 0; i < area; ++i) {
        const Move from{static_cast<std::uint16_t>(i)};
        game.colors_[z(place_of(transformed(from, symmetry)))] = color(place_of(from));
    }
    game.ko_ = ko_ ? static_cast<Place>(place_of(transformed(move_at(ko_), symmetry))) : Place{0};
    game.rebuild();
    return game;
}

template <int N>
void Go<N>::check_consistency() const {
    Go fresh = *this;
    fresh.rebuild();
    require_consistent(fresh.stones_hash_ == stones_hash_, "the stones' hash");
    for (const Place p : place_table) {
        require_consistent(fresh.around_[p] == around_[p], "the neighbor counts");
        if (colors_[p] >= empty) {
            require_consistent(head_[p] == 0, "an empty point in a chain");
            continue;
        }
        const auto head = head_[p];
        const auto fresh_head = fresh.head_[p];
        require_consistent(head_[head] == head, "the head of a chain");
        require_consistent(stones_[head] == fresh.stones_[fresh_head], "the size of a chain");
        require_consistent(liberties_[head] == fresh.liberties_[fresh_head], "the liberties of a chain");
        require_consistent(liberties_[head] != 0, "a chain without liberty");
        int ring = 0;
        for_each_stone(head, [&](int stone) {
            require_consistent(head_[z(stone)] == head && ++ring <= area, "the ring of a chain");
        });
        require_consistent(ring == stones_[head], "the ring of a chain");
        require_consistent(is_atari(liberties_[head]) == (liberties(move_at(p)) == 1), "atari");
    }
}

template <int N>
struct GoPlayout<N>::Watcher {
    GoPlayout& playout;

    /// A stone on its corner may have made an enemy eye false.
    void placed(int place) {
        playout.unlist(place, no_empty_place);
        if (!watches_atari()) return;
        for (const int diagonal : Go<N>::diagonals) playout.wake(place + diagonal);
    }
    void freed(int place) { playout.list(place); }
    bool watches_atari() const { return playout.sleepers_ > 0; }
    /// The chain's last liberty is now a capture for the other color.
    void in_atari(int head) { playout.wake(playout.game_.only_liberty(head)); }
};

template <int N>
GoPlayout<N>::GoPlayout(const Go<N>& game) : game_(game) {
    list_all();
}

template <int N>
void GoPlayout<N>::restart(const Go<N>& game) {
    game_ = game;
    list_all();
}

template <int N>
void GoPlayout<N>::list_all() {
    open_count_ = 0;
    sleepers_ = 0;
    index_.fill(no_empty_place);
    for (const Place p : Go<N>::place_table)
        if (game_.color(p) == Go<N>::empty) list(p);
}

template <int N>
void GoPlayout<N>::list(int place) {
    index_[Go<N>::z(place)] = static_cast<Place>(open_count_);
    open_[open_count_++] = static_cast<Place>(place);
}

template <int N>
void GoPlayout<N>::unlist(int place, Place state) {
    const Place last = open_[--open_count_];
    const Place index = index_[Go<N>::z(place)];
    open_[index] = last;
    index_[last] = index;
    index_[Go<N>::z(place)] = state;
}

template <int N>
void GoPlayout<N>::wake(int place) {
    if (index_[Go<N>::z(place)] != asleep) return;
    list(place);
    --sleepers_;
}

/// An own eye of either color whose stones are not in atari.
template <int N>
bool GoPlayout<N>::is_safe_eye(int place) const {
    const Color owner = game_.around_[Go<N>::z(place)] & 15 ? Go<N>::black : Go<N>::white;
    if (!game_.is_own_eye(place, owner)) return false;
    for (const int side : Go<N>::sides)
        if (game_.color(place + side) == owner &&
            Go<N>::is_atari(game_.liberties_[game_.head_[Go<N>::z(place + side)]]))
            return false;
    return true;
}

/// A uniformly random playable place; 0 if there is none.
template <int N>
int GoPlayout<N>::random_place(Rng& rng) {
    const Color own = Go<N>::color_of(game_.to_play_);
    // What is refused goes behind the places still to be drawn from: each is asked at most once.
    for (std::uint32_t left = open_count_; left > 0; --left) {
        const std::uint32_t drawn = rng.below(left);
        const int place = open_[drawn];
        if (game_.is_playable(place, own)) return place;
        const Place moved = open_[left - 1];
        open_[drawn] = moved;
        index_[moved] = static_cast<Place>(drawn);
        open_[left - 1] = static_cast<Place>(place);
        index_[Go<N>::z(place)] = static_cast<Place>(left - 1);
        if (is_safe_eye(place)) {
            unlist(place, asleep);
            ++sleepers_;
        }
    }
    return 0;
}

template <int N>
std::optional<typename Go<N>::Move> GoPlayout<N>::draw(Rng& rng) {
    if (game_.passes_ >= 2) return std::nullopt;
    return Go<N>::move_at(random_place(rng));
}

template <int N>
void GoPlayout<N>::play(typename Go<N>::Move move) {
    const int place = move.point < Go<N>::area ? Go<N>::place_of(move) : 0;
    wake(place);  // a sleeper may be filled by a move that was not drawn
    game_.advance(place, Watcher{*this});
}

template <int N>
bool GoPlayout<N>::play_random(Rng& rng) {
    if (game_.passes_ >= 2) return false;
    game_.advance(random_place(rng), Watcher{*this});
    return true;
}

template class Go<3>;
template class GoPlayout<3>;
template class Go<4>;
template class GoPlayout<4>;
template class Go<5>;
template class GoPlayout<5>;
template class Go<6>;
template class GoPlayout<6>;
template class Go<7>;
template class GoPlayout<7>;
template class Go<9>;
template class GoPlayout<9>;
template class Go<13>;
template class GoPlayout<13>;
template class Go<19>;
template class GoPlayout<19>;

static_assert(Game<Go<9>>);

}  // namespace hyoka
