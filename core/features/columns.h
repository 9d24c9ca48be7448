// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "game.h"

namespace hyoka::features {

/// One column of a table of positions. A cell is an int16, whatever the kind.
struct Column {
    enum class Kind : std::uint8_t {
        flag,      // 0 or 1
        number,    // in the unit that `doc` names
        category,  // an index into `labels`
    };

    std::string_view name;
    std::string_view doc;
    Kind kind = Kind::number;
    bool costly = false;  // takes longer than all the others together
    std::span<const std::string_view> labels = {};
};

/// Where a describer writes: of a row, the cells that are wanted.
class Row {
public:
    Row(std::uint64_t wanted, std::int16_t* cells) : wanted_(wanted), cells_(cells) {}

    bool wants(std::size_t column) const { return wanted_ >> column & 1; }
    void set(std::size_t column, int value) {
        if (wants(column)) cells_[column] = static_cast<std::int16_t>(value);
    }
    /// What `measure` finds for either player, and their difference; not measured if none of the three is wanted.
    template <class Measure>
    void set_sides(std::size_t difference, std::size_t first, std::size_t second, Measure&& measure) {
        if (!wants(difference) && !wants(first) && !wants(second)) return;
        const int of_first = measure(Player::first);
        const int of_second = measure(Player::second);
        set(difference, of_first - of_second);
        set(first, of_first);
        set(second, of_second);
    }

private:
    std::uint64_t wanted_;
    std::int16_t* cells_;
};

/// Walks a game and describes the positions it reaches. For each game there is a specialization with
///
///     static std::span<const Column> columns();           // at most 64
///     explicit Describer(const G& start);
///     void play(const G& before, typename G::Move move);  // what must be known of the past is kept up to date here
///     void describe(const G& game, std::uint64_t wanted, std::int16_t* row);
///
/// `describe` writes cell i of `row` where bit i of `wanted` is set, and leaves the others alone. Nothing is allocated
/// for a position. A difference is the first player's number minus the second's, unless its doc says otherwise.
template <class G>
class Describer;

}  // namespace hyoka::features
