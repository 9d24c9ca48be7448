// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "game.h"
#include "games/blokus_duo_placements.h"

namespace hyoka {

/// Blokus Duo: 14 x 14 squares, 21 pieces a side. The first player starts on e10, the second on j5.
class BlokusDuo {
public:
    static constexpr std::string_view name = "blokus_duo";
    static constexpr int size = blokus::size;
    static constexpr std::size_t max_moves = blokus::placement_count;
    using SquareSet = blokus::SquareSet;

    struct Move {
        std::uint16_t placement = blokus::placement_count;  // that number: pass

        static constexpr Move pass() { return {}; }
        constexpr std::uint32_t code() const { return placement; }
        static constexpr std::uint32_t code_count = blokus::placement_count + 1;  // codes are below this
        static constexpr Move from_code(std::uint32_t code) { return {static_cast<std::uint16_t>(code)}; }
        /// The squares as Pentobi writes them, `f9,e10,f10,g10,f11`; `pass`.
        std::string text() const;
        /// `66r0`: column and row of the piece's point in hexadecimal from the top left, piece, rotation; `0000` for a
        /// pass.
        std::string short_code() const;
        friend bool operator==(const Move&, const Move&) = default;
    };
    using Undo = BlokusDuo;

    explicit BlokusDuo(bool bonus = false);
    /// Rows from the top (X first, O second player, digits for empty squares), who plays (x or o), and under the bonus
    /// rule `bonus` and who laid the single square last (`-`, `x`, `o` or `xo`).
    static BlokusDuo from_text(std::string_view text);

    Player to_play() const { return to_play_; }
    std::optional<Outcome> outcome() const;
    /// Squares laid by the first player less the second's, with bonuses if they are played for.
    double score() const;
    Moves<BlokusDuo> legal_moves() const;
    std::size_t count_moves() const { return legal_moves().size(); }
    bool is_legal(Move move) const;
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
    /// Squares in any order, or a 4-character code.
    Move parse_move(std::string_view text) const;
    std::vector<std::int8_t> cells() const;
    void check_consistency() const;

    const SquareSet& squares(Player player) const { return sides_[at(player)].squares; }
    /// Where the player's next piece may attach.
    const SquareSet& attaching(Player player) const { return sides_[at(player)].attaching; }
    /// Where the player can lay nothing: occupied by either, or next to an own piece.
    const SquareSet& closed(Player player) const { return sides_[at(player)].closed; }
    /// Bit p: piece p (0 = a) is not yet laid.
    std::uint32_t pieces_left(Player player) const { return sides_[at(player)].left; }
    /// Number of the player's placements, independent of the side to move.
    int count_placements(Player player) const;
    bool bonus() const { return bonus_; }

    /// Mirrored in the diagonal through both starting squares.
    static constexpr int symmetries = 2;
    BlokusDuo transformed(int symmetry) const;
    static Move transformed(Move move, int symmetry);

    friend bool operator==(const BlokusDuo& a, const BlokusDuo& b) {
        return a.sides_ == b.sides_ && a.to_play_ == b.to_play_ && a.bonus_ == b.bonus_;
    }

private:
    struct Side {
        SquareSet squares;
        SquareSet closed;     // to this player: occupied by either, or next to own
        SquareSet attaching;  // corners of own pieces that are not closed; at first the starting square
        std::uint32_t left = (1u << blokus::piece_count) - 1;
        bool single_last = false;  // the last piece laid was the single square
        friend bool operator==(const Side&, const Side&) = default;
    };
    static constexpr std::size_t at(Player player) { return static_cast<std::size_t>(player); }
    const Side& side() const { return sides_[at(to_play_)]; }

    template <class Visit>
    bool visit_placements(Player player, Visit&& visit) const;
    std::optional<Move> draw_placement(Rng& rng) const;
    bool can_place(Player player) const;
    static BlokusDuo from_squares(const std::array<SquareSet, 2>& squares, Player to_play, bool bonus);
    int points(Player player) const;

    std::array<Side, 2> sides_;
    std::uint64_t hash_ = 0;
    Player to_play_ = Player::first;
    bool bonus_ = false;
    // Who has passed. A player who can't move never can again, so this only saves work and is no part of the value.
    std::array<bool, 2> stuck_{};
};

}  // namespace hyoka
