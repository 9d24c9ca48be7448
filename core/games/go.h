// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/bits.h"
#include "base/zobrist.h"
#include "game.h"

namespace hyoka {

template <int N>
class GoPlayout;
template <int N>
class GoTactics;

/// By the size of the board.
inline constexpr std::array<std::string_view, 20> go_names = {"",     "",     "go2",  "go3",  "go4",  "go5",  "go6",
                                                              "go7",  "go8",  "go9",  "go10", "go11", "go12", "go13",
                                                              "go14", "go15", "go16", "go17", "go18", "go19"};

/// Go under area scoring: suicide is illegal, simple ko is part of the position, two passes end the game.
/// Positional superko needs the past and is added by Line<Go<N>>.
///
/// Chains are rings of stones that share one head; a chain's liberties are kept as a count, a sum and a sum of
/// squares over all (stone, adjacent empty point) pairs, which is enough to see a capture and an atari at once.
template <int N>
class Go {
public:
    static_assert(N >= 2 && N <= 19);
    static constexpr std::string_view name = go_names[N];
    static constexpr int size = N;
    static constexpr int area = N * N;
    static constexpr std::size_t max_moves = area + 1;

    /// Points are counted along the rows from the top left; `area` is a pass.
    struct Move {
        std::uint16_t point = area;

        static constexpr Move pass() { return {}; }
        constexpr std::uint32_t code() const { return point; }
        static constexpr std::uint32_t code_count = area + 1;  // codes are below this
        static constexpr Move from_code(std::uint32_t code) { return {static_cast<std::uint16_t>(code)}; }
        /// GTP: `D4`, `pass`.
        std::string text() const;
        /// SGF: `dp`, empty for a pass.
        std::string sgf() const;
        friend bool operator==(const Move&, const Move&) = default;
    };

    struct Undo;

    explicit Go(double komi = 7.5) : Go(komi, 0) {}
    /// Black's handicap stones on the usual star points (GTP's fixed handicap); White plays first.
    Go(double komi, int handicap);
    /// Rows from the top (X Black, O White, digits for empty points), who plays (b or w), the point forbidden by ko
    /// or -, passes just made, komi: `9/9/9/9/4X4/9/9/9/9 w - 0 7.5`.
    static Go from_text(std::string_view text);
    /// A set-up position; throws IllegalMoveError if a chain has no liberty.
    static Go from_stones(std::span<const Move> black, std::span<const Move> white, Player to_play, double komi);

    Player to_play() const { return to_play_; }
    std::optional<Outcome> outcome() const;
    /// Area score less komi, Black's view, of the board as it stands: stones and the empty points that reach one
    /// color only.
    double score() const;
    Moves<Go> legal_moves() const;
    std::size_t count_moves() const;
    bool is_legal(Move move) const;
    std::optional<Move> random_move(Rng& rng) const;
    void play(Move move);
    Undo play_undoable(Move move);
    void undo(const Undo& token);
    /// Of the stones, who plays, the ko point and the passes.
    std::uint64_t hash() const;
    std::string text() const;
    /// GTP (`D4`) or SGF (`dp`) point; `pass` or an empty text is a pass.
    Move parse_move(std::string_view text) const;
    static Move parse_sgf(std::string_view text);
    std::vector<std::int8_t> cells() const;
    void check_consistency() const;

    double komi() const { return komi_halves_ / 2.0; }
    Go with_komi(double komi) const;
    Go with_to_play(Player player) const;
    /// The same with no pass just made: players who disagree after two passes play on.
    Go resumed() const;
    int passes() const { return passes_; }
    /// The point that simple ko forbids, or a pass.
    Move ko() const { return ko_ ? move_at(ko_) : Move::pass(); }

    /// Trace of a past position for positional superko: the hash of its stones.
    using Trace = std::uint64_t;
    Trace trace() const { return stones_hash_; }
    /// The stones' hash after a legal `move`, without playing it.
    Trace trace_after(Move move) const;

    /// 0 for an empty point; pre: `move` is a point.
    int chain_size(Move move) const {
        const int place = place_of(move);
        return color(place) < empty ? stones_[head_[z(place)]] : 0;
    }
    /// Points adjacent to the chain that are empty.
    int liberties(Move move) const;

    // What a reader of tactics asks for all the time. Pre: `point` is a point; `stone` is one with a stone on it.
    /// Whose stone is there, if any.
    std::optional<Player> owner(Move point) const {
        const Color here = color(place_of(point));
        return here < empty ? std::optional(static_cast<Player>(here)) : std::nullopt;
    }
    /// Calls visit(neighbor) for each of the two to four points beside it.
    template <class Visit>
    static void for_each_neighbor(Move point, Visit&& visit) {
        for (const int side : sides)
            if (const Move neighbor = move_at(place_of(point) + side); neighbor != Move::pass()) visit(neighbor);
    }
    /// How many of its neighbors are empty.
    int open_sides(Move point) const { return around_[z(place_of(point))] >> (4 * empty); }
    bool in_atari(Move stone) const { return is_atari(liberties_[head_[z(place_of(stone))]]); }
    /// Pre: the chain is in atari.
    Move last_liberty(Move stone) const { return move_at(only_liberty(head_[z(place_of(stone))])); }
    /// Pairs of a stone of the chain and an empty point beside it: as many as its liberties, or up to 4 times as many.
    int liberty_pairs(Move stone) const { return static_cast<int>(liberties_[head_[z(place_of(stone))]] >> 52); }
    /// Whether a stone of the player to move would fill an eye of that player's own; pre: the point is empty.
    bool fills_own_eye(Move point) const { return is_own_eye(place_of(point), color_of(to_play_)); }
    /// Calls visit(stone) for each stone of the chain.
    template <class Visit>
    void for_each_stone_of(Move stone, Visit&& visit) const {
        for_each_stone(head_[z(place_of(stone))], [&](int place) { visit(move_at(place)); });
    }
    /// Calls visit(head) for each chain on the board.
    template <class Visit>
    void for_each_chain(Visit&& visit) const;

    static constexpr int symmetries = 8;
    Go transformed(int symmetry) const;
    static Move transformed(Move move, int symmetry);

    /// The same stones, player, ko, passes and komi.
    friend bool operator==(const Go& a, const Go& b) {
        return a.colors_ == b.colors_ && a.to_play_ == b.to_play_ && a.ko_ == b.ko_ && a.passes_ == b.passes_ &&
               a.komi_halves_ == b.komi_halves_;
    }

    /// How long a random playout may last before its board is counted as it stands.
    static constexpr int playout_limit = 3 * area;

private:
    // Inside, points are places on a board with a border: (row + 1) * stride + column + 1; place 0 is border.
    static constexpr int stride = N + 1;
    static constexpr int places = stride * (N + 2) + 1;
    static constexpr int words = (places + 63) / 64;
    static constexpr std::array<int, 4> sides = {-stride, -1, 1, stride};
    /// By a set of sides as bits: the first of them; 0 for none.
    static constexpr auto first_side = [] {
        std::array<int, 16> table{};
        for (unsigned set = 1; set < 16; ++set) table[set] = sides[static_cast<std::size_t>(std::countr_zero(set))];
        return table;
    }();
    static constexpr std::array<int, 4> diagonals = {-stride - 1, -stride + 1, stride - 1, stride + 1};

    using Place = std::uint16_t;
    using PlaceSet = std::array<std::uint64_t, words>;
    enum Color : std::uint8_t { black, white, empty, border };

    /// Sums over a chain's (stone, empty neighbor) pairs, packed so that one addition updates all three:
    /// pairs in bits 52-63, sum of places in 30-51, sum of their squares in 0-29.
    using LibertySums = std::uint64_t;
    static constexpr LibertySums liberty_sums(int place) {
        return (LibertySums{1} << 52) | (static_cast<LibertySums>(place) << 30) |
               static_cast<LibertySums>(place) * static_cast<LibertySums>(place);
    }
    static constexpr auto liberty_of = [] {
        std::array<LibertySums, places> table{};
        for (int p = 0; p < places; ++p) table[static_cast<std::size_t>(p)] = liberty_sums(p);
        return table;
    }();

    static constexpr auto stone_keys = zobrist_keys<std::size_t{2} * places>(0x60);
    static constexpr std::uint64_t stone_key(Color color, int place) {
        return stone_keys[static_cast<std::size_t>(color * places + place)];
    }

    static constexpr auto place_table = [] {
        std::array<Place, area> table{};
        for (int i = 0; i < area; ++i)
            table[static_cast<std::size_t>(i)] = static_cast<Place>((i / N + 1) * stride + i % N + 1);
        return table;
    }();
    static constexpr auto point_table = [] {
        std::array<std::uint16_t, places> table{};
        table.fill(area);  // the border
        for (int i = 0; i < area; ++i) table[place_table[static_cast<std::size_t>(i)]] = static_cast<std::uint16_t>(i);
        return table;
    }();
    static constexpr int place_of(Move move) { return place_table[move.point]; }
    static constexpr Move move_at(int place) { return {point_table[static_cast<std::size_t>(place)]}; }
    static Move point_at(int row, int column) { return {static_cast<std::uint16_t>(row * N + column)}; }

    friend class GoPlayout<N>;
    friend class GoTactics<N>;

    struct Bare {};
    explicit Go(Bare);  // an empty board

    static constexpr std::size_t z(int i) { return static_cast<std::size_t>(i); }
    Color color(int place) const { return colors_[z(place)]; }
    static constexpr Color color_of(Player player) { return static_cast<Color>(player); }
    static constexpr Color enemy_of(Color color) { return static_cast<Color>(1 - color); }
    /// Whether all of a chain's liberty pairs name one place: the sums then satisfy n * sum(x^2) = (sum x)^2.
    static bool is_atari(LibertySums sums) {
        const std::uint64_t pairs = sums >> 52;
        const std::uint64_t sum = sums >> 30 & ((1 << 22) - 1);
        const std::uint64_t squares = sums & ((1 << 30) - 1);
        return pairs * squares == sum * sum;
    }
    /// The one liberty of a chain in atari.
    int only_liberty(int head) const {
        const auto pairs = static_cast<std::uint32_t>(liberties_[z(head)] >> 52);
        const auto sum = static_cast<std::uint32_t>(liberties_[z(head)] >> 30 & ((1 << 22) - 1));
        return static_cast<int>(sum / pairs);
    }
    bool place_is_legal(int place, Color own) const;
    bool is_own_eye(int place, Color own) const;
    bool is_playable(int place, Color own) const;
    struct NoWatcher;
    struct CaptureRecorder;
    template <class Watcher>
    void advance(int place, Watcher&& watcher);
    template <class Watcher>
    void place_stone(int place, Watcher& watcher);
    template <class Watcher>
    void capture(int place, unsigned dead_sides, Watcher& watcher);
    template <class Watcher>
    void report_atari(int place, Watcher& watcher) const;
    template <class Watcher>
    void remove_chain(int head, Watcher& watcher);
    void merge(int head, int other_head);
    void rebuild();
    template <class Visit>
    void for_each_stone(int head, Visit&& visit) const {
        int stone = head;
        do {
            visit(stone);
            stone = next_[z(stone)];
        } while (stone != head);
    }

    std::array<Color, places> colors_;
    // How many of a place's four neighbors are black (bits 0-3), white (4-7) and empty (8-11).
    std::array<std::uint16_t, places> around_;
    std::array<Place, places> head_;             // of a stone's chain; anything for other places
    std::array<Place, places> next_;             // the ring of a chain's stones
    std::array<std::uint16_t, places> stones_;   // by head: size of the chain
    std::array<LibertySums, places> liberties_;  // by head
    std::uint64_t stones_hash_ = 0;
    Place ko_ = 0;  // 0: none
    std::int16_t komi_halves_ = 15;
    std::uint8_t passes_ = 0;
    Player to_play_ = Player::first;

public:
    /// Undo information of a move.
    struct Undo {
        Move move;
        Place ko;
        std::uint8_t passes;
        PlaceSet captured;
    };
};

template <int N>
template <class Visit>
void Go<N>::for_each_chain(Visit&& visit) const {
    // Where the heads are can't be predicted, so they are found without a branch: as bytes, then eight bytes as bits.
    static_assert(std::endian::native == std::endian::little);
    alignas(64) std::array<std::uint8_t, 64 * words> is_head{};
    for (int p = 1; p < places; ++p) is_head[z(p)] = head_[z(p)] == p;
    for (int start = 0; start < places; start += 64) {
        std::uint64_t heads = 0;
        for (int i = 0; i < 64; i += 8) {
            std::uint64_t bytes = 0;
            std::memcpy(&bytes, &is_head[z(start + i)], 8);
            heads |= (bytes * 0x0102040810204080ULL >> 56) << i;
        }
        for_each_bit(heads, [&](int i) { visit(move_at(start + i)); });
    }
}

/// A game of Go on its way through a random playout, with a list of the empty places from which moves are drawn.
///
/// Safe eyes, unplayable for both colors, fall asleep when first drawn: they leave the list until the stones around
/// them get into atari or an enemy stone on a corner may have made the eye false. Nothing else can wake them.
template <int N>
class GoPlayout {
public:
    explicit GoPlayout(const Go<N>& game);
    /// Begins anew.
    void restart(const Go<N>& game);

    /// The random move to play next, a pass if there is no other; nullopt when the game is over.
    std::optional<typename Go<N>::Move> draw(Rng& rng);
    /// Pre: the move is legal.
    void play(typename Go<N>::Move move);
    /// Plays one random move, or a pass if there is none to play; false when the game is over.
    bool play_random(Rng& rng);
    const Go<N>& game() const { return game_; }

private:
    using Color = typename Go<N>::Color;
    using Place = typename Go<N>::Place;
    static constexpr Place asleep = 0xffff;
    static constexpr Place no_empty_place = 0xfffe;

    struct Watcher;
    bool is_safe_eye(int place) const;
    void list_all();
    void list(int place);
    void unlist(int place, Place state);
    void wake(int place);
    int random_place(Rng& rng);

    Go<N> game_;
    std::array<Place, Go<N>::area> open_;
    std::array<Place, Go<N>::places> index_;  // where in open_ a place stands, or asleep, or no_empty_place
    std::uint32_t open_count_ = 0;
    std::uint32_t sleepers_ = 0;
};

extern template class Go<3>;
extern template class GoPlayout<3>;
extern template class Go<4>;
extern template class GoPlayout<4>;
extern template class Go<5>;
extern template class GoPlayout<5>;
extern template class Go<6>;
extern template class GoPlayout<6>;
extern template class Go<7>;
extern template class GoPlayout<7>;
extern template class Go<9>;
extern template class GoPlayout<9>;
extern template class Go<13>;
extern template class GoPlayout<13>;
extern template class Go<19>;
extern template class GoPlayout<19>;

}  // namespace hyoka
