// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "games/chess.h"
#include "games/shogi.h"
#include "search/limits.h"
#include "search/table_memory.h"

namespace hyoka::search {

enum class MateVerdict : std::uint8_t {
    mate,     // the side to move can force mate by checks
    no_mate,  // it can't by checks alone
    unknown,  // a limit came first
};

struct MateSettings {
    int hash_mib = 64;
    double epsilon = 0.25;  // how far a line is followed beyond its best rival before the search looks again
    int refined_plies = 3;  // on the principal line, mates of up to this length are shortest
    int max_plies = 1000;   // longer lines count as no mate found; then a refutation is not certain either
};

template <class G>
struct MateResult {
    MateVerdict verdict = MateVerdict::unknown;
    /// If mate: legal moves of both sides in turn, the last mates. The attacker's are the quickest proven, the
    /// defender's the longest resistance, as far as the search knows. Cut short if time or an interrupt came first.
    std::vector<typename G::Move> line;
    std::uint64_t nodes = 0;  // positions visited, those for reading off the line included
    double time_s = 0;
};

/// A move of the side to move that mates at once.
template <class G>
std::optional<typename G::Move> mate_in_one(const G& game);

/// Whether the side to move can mate if it may only give check: depth-first proof-number search (df-pn; Nagai 2002)
/// with Ueda et al.'s weak sums (2008) for the disproof numbers and the 1 + epsilon rule of Pawlewicz and Lew 2007.
///
/// The position alone counts, and how the pieces move: no draw rule, ply limit or declaration is looked at, except
/// that a finished game holds no mate. A line that comes back to a position of its own is no mate; a refutation that
/// needs this is believed only below the same positions.
///
/// The table is kept from call to call, and what it holds stays true: starting a search costs nothing.
template <class G>
class MateSolver {
public:
    using Move = typename G::Move;

    explicit MateSolver(const MateSettings& settings = {});

    /// Limits on depth are not looked at. Nodes spent on reading off the line of a mate found are not limited.
    MateResult<G> solve(const G& game, const Limits& limits = {}, const std::atomic<bool>* interrupt = nullptr);
    /// The same without the line, which is quicker.
    MateVerdict verdict(const G& game, const Limits& limits = {}, const std::atomic<bool>* interrupt = nullptr);
    /// Forgets everything, at no cost.
    void clear();

    const MateSettings& settings() const { return settings_; }

private:
    static constexpr std::uint32_t infinite = 1u << 30;

    /// A position as the table knows it. Shogi: the attacker's hand stands apart, since a mate stays one with more
    /// in hand; a count a byte. What is not on the board nor in that hand is the defender's.
    struct Key {
        std::uint64_t board = 0;
        std::uint64_t hand = 0;
        friend bool operator==(const Key&, const Key&) = default;
    };
    /// Table entry of a position. Proof numbers are the attacker's: 0 is mate, infinite is no mate.
    struct Value {
        std::uint32_t proof = 1;
        std::uint32_t disproof = 1;
        // A refutation holds as long as the positions at these places of the path are no mates.
        std::uint64_t repeats = 0;
        std::uint16_t distance = 0;  // of a mate, in plies
        Move move{};                 // of a mate, where the attacker is to move

        bool is_mate() const { return proof == 0; }
        bool is_refuted() const { return disproof == 0; }
        bool is_open() const { return proof != 0 && disproof != 0; }
    };
    struct Entry {
        Key key;
        std::uint32_t proof;
        std::uint32_t disproof;  // of a refutation by repetition: the fingerprint of the path it needs
        std::uint16_t distance;
        std::uint8_t effort;  // logarithm of the nodes spent
        std::uint8_t generation;
        std::uint8_t first_repeat, last_repeat;  // no_repeat, or where on the path the positions lie
        Epoch::Tag epoch;
    };
    static_assert(sizeof(Entry) == 32);
    struct Child {
        Move move;
        Key key;
        Value value;
    };
    /// A position on the path with the attacker to move.
    struct Step {
        Key key;
        std::uint32_t fingerprint;  // of the set of positions up to this one; never 0
    };
    static constexpr std::uint8_t no_repeat = 255;
    static constexpr std::size_t far_place = 62;  // of `repeats`: this place of the path or a further one
    static constexpr std::uint64_t too_deep = std::uint64_t{1} << 63;  // of `repeats`: the line grew too long
    /// What has the same board, whatever the hands, lies together.
    struct alignas(64) Bucket {
        std::array<Entry, 4> entries;
    };

    MateResult<G> look(const G& game, const Limits& limits, const std::atomic<bool>* interrupt, bool with_line);
    Key key_of(const G& game) const;
    Key key_after(const G& game, const Key& key, Move move) const;
    Bucket& bucket_of(const Key& key) { return table_[key.board & (table_.size() - 1)]; }
    Value look_up(const Key& key);
    void store(const Key& key, const Value& value, std::uint64_t nodes);

    std::size_t list_children(const G& game, const Key& key, const Moves<G>& moves);
    void list_checks(const G& game, const Key& key);
    void list_evasions(const G& game, const Key& key);
    Value attack(const G& game, const Key& key, std::uint32_t proof_limit, std::uint32_t disproof_limit);
    Value defend(const G& game, const Key& key, std::uint32_t proof_limit, std::uint32_t disproof_limit);
    std::optional<Move> mate_within(const G& game, const Key& key, int plies);
    Value known_mate(const G& game);
    std::vector<Move> read_line(G game);

    MateSettings settings_;
    TableMemory<Bucket> table_;
    Epoch epoch_;
    std::vector<Child> children_;  // of the positions on the path, one run after the other
    std::vector<Step> path_;
    std::uint64_t salt_ = 0;  // tells apart what a position's key leaves out
    std::uint8_t generation_ = 0;
    Player attacker_ = Player::first;
    std::size_t max_steps_ = 0;
    std::uint64_t nodes_ = 0;
    Stop stop_{Limits{}};
};

extern template class MateSolver<Shogi>;
extern template class MateSolver<Chess>;
extern template std::optional<Shogi::Move> mate_in_one(const Shogi&);
extern template std::optional<Chess::Move> mate_in_one(const Chess&);

}  // namespace hyoka::search
