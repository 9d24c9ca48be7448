// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "game.h"
#include "games/shogi_attacks.h"

namespace hyoka {

/// Shogi. Squares: 9 * file + rank, 1a = 0.
class Shogi {
public:
    static constexpr std::string_view name = "shogi";
    using Bitboard = shogi::Bitboard;
    static constexpr std::size_t max_moves = 600;  // 593 are possible, and a declaration

    /// A promoted piece is its kind + 8.
    enum Kind : std::uint8_t {
        no_piece,
        pawn,
        lance,
        knight,
        silver,
        bishop,
        rook,
        gold,
        king,
        promoted_pawn,
        promoted_lance,
        promoted_knight,
        promoted_silver,
        horse,
        dragon,
    };
    static constexpr int kind_count = 15;

    struct Move {
        std::uint16_t bits = 0;  // to, from (7 bits each; from 81 + kind: a drop), promotion

        constexpr Move() {}  // clang 14 takes no default here
        constexpr Move(int from, int to, bool promotes = false)
            : bits(static_cast<std::uint16_t>(to | from << 7 | promotes << 14)) {}
        static constexpr Move drop(Kind kind, int to) { return {81 + kind, to}; }
        /// The declaration of an entering king.
        static constexpr Move declaration() { return {127, 127}; }
        constexpr int to() const { return bits & 127; }
        constexpr int from() const { return bits >> 7 & 127; }
        constexpr bool promotes() const { return bits >> 14 & 1; }
        constexpr bool is_drop() const { return from() > 81 && from() <= 81 + gold; }
        constexpr Kind dropped() const { return static_cast<Kind>(from() - 81); }
        constexpr std::uint32_t code() const { return bits; }
        static constexpr std::uint32_t code_count = 1 << 15;  // codes are below this
        /// Whether a move could have this code at all.
        static constexpr bool is_code(std::uint32_t code) {
            const Move move = from_code(code);
            return move == declaration() ||
                   (move.to() < 81 && (move.from() < 81 || (move.is_drop() && !move.promotes())));
        }
        static constexpr Move from_code(std::uint32_t code) {
            Move move;
            move.bits = static_cast<std::uint16_t>(code);
            return move;
        }
        /// USI: `7g7f`, `8h2b+`, `P*5e`, `win`.
        std::string text() const;
        friend bool operator==(const Move&, const Move&) = default;
    };
    using Undo = Shogi;

    /// Rules that not everyone plays by.
    struct Rules {
        bool declaration = false;     // the entering king wins by 28 points (Black) or 27 (White)
        std::uint16_t ply_limit = 0;  // a draw once the position's ply reaches it; 0: never
        friend bool operator==(const Rules&, const Rules&) = default;
    };

    /// The starting position.
    Shogi();
    /// A handicap start by name (see handicap_names); White moves first.
    static Shogi with_handicap(std::string_view name);
    static std::vector<std::string> handicap_names();
    /// SFEN; `declaration` and `limit=PLIES` may follow for the rules.
    static Shogi from_text(std::string_view sfen);

    Player to_play() const { return to_play_; }
    std::optional<Outcome> outcome() const;
    double score() const;
    Moves<Shogi> legal_moves() const;
    /// The legal captures, promotions and declaration, and the others.
    Moves<Shogi> noisy_moves() const;
    Moves<Shogi> quiet_moves() const;
    /// Legal moves that have all but their targets in common.
    struct MoveSet {
        static constexpr std::uint8_t pawn_steps = 81;
        Bitboard targets;
        std::uint8_t from;  // as in a Move; pawn_steps: all pawns, each a step behind its target
        bool promotes;
        Move move_to(int to, Player mover) const {
            if (from != pawn_steps) return {from, to, promotes};
            return {mover == Player::first ? to + 1 : to - 1, to, promotes};
        }
    };
    using MoveSets = InlineVector<MoveSet, 96>;
    /// The legal moves in sets, none of them empty; a declaration is in none.
    MoveSets move_sets() const;
    std::size_t count_moves() const;
    bool is_legal(Move move) const;
    /// The legal moves that give check.
    Moves<Shogi> checking_moves() const;
    std::optional<Move> random_move(Rng& rng) const;
    void play(Move move);
    Undo play_undoable(Move move) {
        const Undo before = *this;
        play(move);
        return before;
    }
    void undo(const Undo& before) { *this = before; }
    std::uint64_t hash() const { return hash_; }
    std::string text() const;
    /// USI, CSA (`+7776FU`) or KIF (`７六歩(77)`; 同 needs the move before).
    Move parse_move(std::string_view text, std::optional<Move> previous) const;
    Move parse_move(std::string_view text) const { return parse_move(text, std::nullopt); }
    std::vector<std::int8_t> cells() const;
    void check_consistency() const;

    std::string csa(Move move) const;
    /// KIF; 同 is written when `previous` went to the same square.
    std::string kif(Move move, std::optional<Move> previous = {}) const;
    Move parse_kif(std::string_view text, std::optional<Move> previous = {}) const;
    /// KI2, as books print it: `▲７六歩`, `△同銀右`; says no more than it takes to tell the piece from others.
    std::string ki2(Move move, std::optional<Move> previous = {}) const;
    /// The move that KI2 means here; the mark of the side may be missing. Illegal only where no legal one is meant.
    Move parse_ki2(std::string_view text, std::optional<Move> previous = {}) const;

    Rules rules() const { return rules_; }
    Shogi with_rules(Rules rules) const {
        Shogi game = *this;
        game.rules_ = rules;
        return game;
    }
    Shogi movement_only() const { return with_rules({}); }
    /// The condition of the 27-point rule for the side to move.
    bool may_declare() const;

    /// Trace of a past position for the repetition rule.
    struct Trace {
        std::uint64_t hash;
        bool in_check;
    };
    Trace trace() const { return {hash_, in_check()}; }
    /// Fourfold repetition ends the game: a draw, or lost by a side that gave check all the time.
    std::optional<Outcome> outcome_after(std::span<const Trace> past) const;

    bool in_check() const;
    /// Whether the game is over whatever the pieces can do: declared, or at the ply limit.
    bool over_by_rule() const { return declared_ || (rules_.ply_limit && ply_ >= rules_.ply_limit); }
    /// Hands the turn over. No move, but a question that a search asks: is the threat real? Pre: not in check.
    void skip_turn();
    int ply() const { return ply_; }
    Bitboard pieces(Player player, Kind kind) const { return colors_[at(player)] & kinds_[kind]; }
    Bitboard pieces(Player player) const { return colors_[at(player)]; }
    Bitboard occupied() const { return colors_[0] | colors_[1]; }
    Kind piece_on(int square) const { return board_[static_cast<std::size_t>(square)]; }
    const std::array<Kind, 81>& board() const { return board_; }
    /// By Kind; the first is nothing.
    const std::array<std::uint8_t, 8>& hand(Player player) const { return hands_[at(player)]; }
    int in_hand(Player player, Kind kind) const { return hands_[at(player)][kind]; }
    /// The hash of what stands on the board and of the side to move, without the pieces in hand.
    std::uint64_t board_hash() const;
    /// The same after a legal move that is no declaration; `board_hash` is this position's.
    std::uint64_t board_hash_after(std::uint64_t board_hash, Move move) const;
    /// Pieces of `player` that attack `square` when `occupied` squares block.
    Bitboard attackers(int square, Player player, Bitboard occupied) const;
    Bitboard attackers(int square, Player player) const { return attackers(square, player, occupied()); }

    /// By Kind, from Sato 2010's table 1; the king's is larger than all others together.
    static constexpr std::array<int, kind_count> exchange_values = {0,     100, 280, 300, 420, 620, 700, 530,
                                                                    30000, 270, 320, 250, 430, 710, 850};
    /// Static exchange evaluation: what the mover nets if both sides capture on the move's square, cheapest piece
    /// first, as long as it pays. Pins are not seen; only `move` itself promotes.
    int see(Move move) const;

    /// Left and right mirrored.
    static constexpr int symmetries = 2;
    Shogi transformed(int symmetry) const;
    static Move transformed(Move move, int symmetry);

    /// Sato 2010: a playout that reaches this number of moves is a draw.
    static constexpr int playout_limit = 256;

    friend bool operator==(const Shogi&, const Shogi&) = default;

private:
    static constexpr std::size_t at(Player player) { return static_cast<std::size_t>(player); }
    static constexpr std::size_t hand_size = 8;
    static constexpr std::uint8_t no_square = 81;

    struct Empty {};
    explicit Shogi(Empty) {}

    template <class Sink>
    void generate(Sink& sink) const;
    template <class Sink>
    void generate_drops(Sink& sink, Bitboard goal) const;
    bool has_move() const;
    bool king_may_go(int to) const;
    bool is_drop_mate(int square) const;
    int front_of_enemy_king() const;
    Bitboard gold_movers() const;
    Bitboard piece_attacks(Kind kind, Player player, int square, Bitboard occupied) const;
    void put(Player player, Kind kind, int square);
    void take(Player player, Kind kind, int square);
    void change_hand(Player player, Kind kind, int by);

    std::array<Bitboard, 16> kinds_{};  // by Kind
    std::array<Bitboard, 2> colors_{};
    std::array<Kind, 81> board_{};
    std::array<std::array<std::uint8_t, hand_size>, 2> hands_{};  // by Kind
    std::array<std::uint8_t, 2> kings_ = {no_square, no_square};  // tsume problems may lack one
    std::uint64_t hash_ = 0;
    std::uint16_t ply_ = 0;
    Rules rules_;
    Player to_play_ = Player::first;
    bool declared_ = false;  // the other side has just declared
};

}  // namespace hyoka
