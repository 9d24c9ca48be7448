// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "game.h"
#include "games/chess_attacks.h"

namespace hyoka {

/// Chess by FIDE's rules, and Chess960's castling. Squares: 8 * rank + file, a1 = 0.
class Chess {
public:
    static constexpr std::string_view name = "chess";
    using Bitboard = chess::Bitboard;
    // Sixteen pieces a side can't have more moves, whatever a set-up holds: 15 queens x 27 + the king's 10.
    static constexpr std::size_t max_moves = 416;

    enum Kind : std::uint8_t { pawn, knight, bishop, rook, queen, king, no_piece };

    struct Move {
        enum class Type : std::uint8_t { normal, promotion, en_passant, castling };

        std::uint16_t bits = 0;  // from, to (6 bits each), promotion, type (2 bits each)

        constexpr Move() = default;
        constexpr Move(int from, int to, Type type = Type::normal, Kind promoted = knight)
            : bits(static_cast<std::uint16_t>(from | to << 6 | (promoted - knight) << 12 |
                                              static_cast<int>(type) << 14)) {}
        constexpr int from() const { return bits & 63; }
        /// Castling: the square of the rook.
        constexpr int to() const { return bits >> 6 & 63; }
        constexpr Type type() const { return static_cast<Type>(bits >> 14); }
        constexpr Kind promoted() const { return static_cast<Kind>(knight + (bits >> 12 & 3)); }
        constexpr std::uint32_t code() const { return bits; }
        static constexpr std::uint32_t code_count = 1 << 16;  // codes are below this
        static constexpr Move from_code(std::uint32_t code) {
            Move move;
            move.bits = static_cast<std::uint16_t>(code);
            return move;
        }
        /// UCI; castling is `e1g1` where king and rook stand as in ordinary chess, else king takes rook.
        std::string text() const;
        friend bool operator==(const Move&, const Move&) = default;
    };
    using Undo = Chess;

    /// Which draws end a game. A player at the board may play on where a draw could be claimed.
    enum class Draws : std::uint8_t {
        claimed,    // threefold repetition and 50 moves: as if always claimed
        automatic,  // fivefold repetition and 75 moves
        ignored,    // neither, nor insufficient material: how the pieces move, and nothing else (perft)
    };

    /// The starting position.
    Chess();
    /// FEN (X-FEN and Shredder-FEN castling too); `automatic` or `ignored` may follow as a seventh field.
    static Chess from_text(std::string_view fen);

    Player to_play() const { return to_play_; }
    std::optional<Outcome> outcome() const;
    double score() const;
    Moves<Chess> legal_moves() const;
    /// The legal captures and promotions, and the others.
    Moves<Chess> noisy_moves() const;
    Moves<Chess> quiet_moves() const;
    std::size_t count_moves() const;
    bool is_legal(Move move) const;
    /// The legal moves that give check.
    Moves<Chess> checking_moves() const;
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
    /// UCI or SAN.
    Move parse_move(std::string_view text) const;
    std::vector<std::int8_t> cells() const;
    void check_consistency() const;

    std::string san(Move move) const;
    enum class SanError : std::uint8_t { none, unreadable, illegal, ambiguous };
    /// SAN without exceptions: the legal move that `text` names goes to `move`, else the error is returned.
    SanError read_san(std::string_view text, Move& move) const;

    Draws draws() const { return draws_; }
    Chess with_draws(Draws draws) const {
        Chess game = *this;
        game.draws_ = draws;
        return game;
    }
    Chess movement_only() const { return with_draws(Draws::ignored); }

    /// Trace of a past position for the repetition rule.
    using Trace = std::uint64_t;
    Trace trace() const { return hash_; }
    /// Whether the positions before this one, oldest first, end the game.
    std::optional<Outcome> outcome_after(std::span<const Trace> past) const;

    bool in_check() const { return checkers() != 0; }
    /// Whether the position alone is a draw, if it isn't mate: too many moves without progress, too little material.
    bool drawn_by_rule() const;
    /// Hands the turn over. No move, but a question that a search asks: is the threat real? Pre: not in check.
    void skip_turn();
    int ply() const { return 2 * (fullmove_ - 1) + index_of(to_play_); }
    int halfmove_clock() const { return halfmove_; }
    Bitboard pieces(Player player, Kind kind) const { return colors_[at(player)] & kinds_[kind]; }
    Bitboard pieces(Player player) const { return colors_[at(player)]; }
    Bitboard occupied() const { return colors_[0] | colors_[1]; }
    Kind piece_on(int square) const { return board_[static_cast<std::size_t>(square)]; }
    const std::array<Kind, 64>& board() const { return board_; }
    /// The player's rooks that may still castle.
    Bitboard castling_rooks(Player player) const { return castling_ & colors_[at(player)]; }
    /// The square behind a pawn that can be captured en passant, as a set; empty if there is none.
    Bitboard en_passant() const { return en_passant_ == no_square ? 0 : Bitboard{1} << en_passant_; }
    /// Pieces of `player` that attack `square` when `occupied` squares block.
    Bitboard attackers(int square, Player player, Bitboard occupied) const;
    Bitboard attackers(int square, Player player) const { return attackers(square, player, occupied()); }

    /// Centipawns by Kind; the king's is larger than all others together.
    static constexpr std::array<int, 6> exchange_values = {100, 320, 330, 500, 900, 20000};
    /// Static exchange evaluation: what the mover nets, in centipawns, if both sides capture on the move's square,
    /// cheapest piece first, as long as it pays. Pins are not seen; only `move` itself promotes.
    int see(Move move) const;

    /// No game lasts so long under the 75-move rule; where draws are ignored, some would never end.
    static constexpr int playout_limit = 20000;

    friend bool operator==(const Chess&, const Chess&) = default;

private:
    static constexpr std::uint8_t no_square = 64;
    static constexpr std::size_t at(Player player) { return static_cast<std::size_t>(player); }

    struct Empty {};
    explicit Chess(Empty) { board_.fill(no_piece); }

    template <class Sink>
    void generate(Sink& sink) const;
    bool insufficient_material() const;
    bool has_move() const;
    Bitboard checkers() const;
    int king_square(Player player) const { return lowest_bit(pieces(player, king)); }
    Bitboard attacks_of(Player player, Bitboard occupied) const;
    Bitboard piece_attacks(Kind kind, int square, Bitboard occupied) const;
    bool castling_allowed(int rook_square, Bitboard danger) const;
    bool leaves_king_safe(int from, int to, Bitboard captured) const;
    bool en_passant_possible(int square, Player capturer) const;
    void set_en_passant(int square);
    void put(Player player, Kind kind, int square);
    void take(Player player, Kind kind, int square);
    /// These rooks may castle if they might not, and the other way round.
    void change_castling(Bitboard rooks);
    void drop_castling(Bitboard rooks);
    void change_side();
    Move parse_uci(std::string_view text) const;

    std::array<Bitboard, 6> kinds_{};
    std::array<Bitboard, 2> colors_{};
    std::array<Kind, 64> board_;
    Bitboard castling_ = 0;  // rooks that may still castle
    std::uint64_t hash_ = 0;
    std::uint16_t halfmove_ = 0;
    std::uint16_t fullmove_ = 1;
    std::uint8_t en_passant_ = no_square;  // only where the capture is legal
    Player to_play_ = Player::first;
    Draws draws_ = Draws::claimed;
};

}  // namespace hyoka
