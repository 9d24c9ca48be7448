// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "game.h"

namespace hyoka {

/// Othello on bitboards: bit 8 * row + column, a1 at the top left.
class Othello {
public:
    static constexpr std::string_view name = "othello";
    static constexpr int size = 8;
    static constexpr std::size_t max_moves = 64;
    static constexpr bool perft_counts_finished_games = true;

    struct Move {
        std::uint8_t square = 64;  // 64: pass

        static constexpr Move pass() { return {}; }
        constexpr std::uint32_t code() const { return square; }
        static constexpr std::uint32_t code_count = 65;  // codes are below this
        static constexpr Move from_code(std::uint32_t code) { return {static_cast<std::uint8_t>(code)}; }
        std::string text() const;
        friend bool operator==(const Move&, const Move&) = default;
    };
    using Undo = Othello;

    /// The starting position.
    Othello() = default;
    /// 64 squares from a1 along the rows (X Black, O White, - empty), a space, and who plays (X or O).
    static Othello from_text(std::string_view text);

    Player to_play() const { return to_play_; }
    std::optional<Outcome> outcome() const;
    /// Black's discs less White's; empty squares go to the winner.
    double score() const;
    Moves<Othello> legal_moves() const;
    std::size_t count_moves() const;
    bool is_legal(Move move) const;
    std::optional<Move> random_move(Rng& rng) const;
    void play(Move move);
    Undo play_undoable(Move move) {
        const Undo before = *this;
        play(move);
        return before;
    }
    void undo(const Undo& before) { *this = before; }
    std::uint64_t hash() const;
    std::string text() const;
    /// `d3`, or `pass`.
    Move parse_move(std::string_view text) const;
    std::vector<std::int8_t> cells() const;
    void check_consistency() const;

    std::uint64_t discs(Player player) const { return player == to_play_ ? own_ : opponent_; }
    /// Where the player could place a disc, were it to move.
    std::uint64_t playable(Player player) const;

    /// The eight symmetries of the square: bit 0 mirrors left-right, bit 1 top-bottom, bit 2 swaps rows and columns.
    static constexpr int symmetries = 8;
    Othello transformed(int symmetry) const;
    static Move transformed(Move move, int symmetry);

    friend bool operator==(const Othello&, const Othello&) = default;

private:
    std::uint64_t own_ = 0x0000000810000000ULL;  // of the player to move
    std::uint64_t opponent_ = 0x0000001008000000ULL;
    Player to_play_ = Player::first;
};

}  // namespace hyoka
