// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bits.h"
#include "search/table_memory.h"

namespace hyoka::search {

/// Bound type of a stored score.
enum class Bound : std::uint8_t { none, upper, lower, exact };

/// Stored search result of a position. The score is for the side to move.
struct TableEntry {
    /// No legal move has this code; a game whose moves use it would only go without a first move from the table.
    static constexpr std::uint16_t no_move = 0xffff;

    std::uint64_t key;
    std::uint16_t move;  // its code
    Epoch::Tag epoch;
    std::int16_t score;
    std::uint8_t depth;
    std::uint8_t age_and_bound;  // the search that wrote it (6 bits), then the bound (2 bits)

    Bound bound() const { return static_cast<Bound>(age_and_bound & 3); }
    int age() const { return age_and_bound >> 2; }
    /// Whether the score settles what a search with this window asks.
    bool settles(int score_here, int alpha, int beta) const {
        return (score_here >= beta && (age_and_bound & static_cast<int>(Bound::lower))) ||
               (score_here <= alpha && (age_and_bound & static_cast<int>(Bound::upper)));
    }
};
static_assert(sizeof(TableEntry) == 16);
static_assert((static_cast<int>(Bound::exact) & static_cast<int>(Bound::lower)) != 0);

/// Remembers positions by their whole 64-bit hash, four to a cache line. For one search at a time.
class TranspositionTable {
public:
    /// With 0 it remembers nothing.
    explicit TranspositionTable(std::size_t mebibytes)
        : buckets_((mebibytes << 20) / sizeof(Bucket)), in_use_(buckets_.size()) {}

    void clear() {
        if (epoch_.advance()) buckets_.zero();
        age_ = 0;
        sized_ = false;
    }
    /// Entries of earlier searches stay, but are the first to make room. A search of at most `nodes` positions (0: no
    /// limit) uses no more of the table than it can fill, which stays in the processor's caches; until clear(), later
    /// searches use more but never less.
    void start_search(std::uint64_t nodes = 0) {
        age_ = (age_ + 1) % ages;
        const std::size_t all = buckets_.size();
        const std::size_t wanted =
            nodes == 0 || nodes > all / buckets_per_node ? all : static_cast<std::size_t>(nodes) * buckets_per_node;
        in_use_ = sized_ ? std::max(in_use_, wanted) : wanted;
        sized_ = true;
    }

    void prefetch(std::uint64_t key) const {
        if (in_use_ > 0) __builtin_prefetch(&buckets_[index(key)]);
    }
    /// Nullptr if the position is not known.
    const TableEntry* find(std::uint64_t key) const {
        if (in_use_ == 0) return nullptr;
        for (const TableEntry& entry : buckets_[index(key)].entries)
            if (entry.key == key && epoch_.holds(entry.epoch)) return &entry;
        return nullptr;
    }
    /// An entry of the same position is replaced, else the one of the bucket with the least depth, age counted in.
    /// A known move outlives a result that has none.
    void store(std::uint64_t key, std::uint32_t move, int score, int depth, Bound bound) {
        if (in_use_ == 0) return;
        auto& entries = buckets_[index(key)].entries;
        TableEntry* target = &entries[0];
        for (TableEntry& entry : entries) {
            if (entry.key == key && epoch_.holds(entry.epoch)) {
                target = &entry;
                if (move == TableEntry::no_move) move = entry.move;
                break;
            }
            if (worth(entry) < worth(*target)) target = &entry;
        }
        *target = {.key = key,
                   .move = static_cast<std::uint16_t>(move),
                   .epoch = epoch_.tag(),
                   .score = static_cast<std::int16_t>(score),
                   .depth = static_cast<std::uint8_t>(depth),
                   .age_and_bound = static_cast<std::uint8_t>(age_ << 2 | static_cast<int>(bound))};
    }
    /// How full of this search's entries the part in use is, judged by its first thousand.
    int permille_full() const {
        const std::size_t sample = std::min<std::size_t>(in_use_, 250);
        if (sample == 0) return 0;
        std::size_t used = 0;
        for (std::size_t i = 0; i < sample; ++i)
            for (const TableEntry& entry : buckets_[i].entries)
                used += epoch_.holds(entry.epoch) && entry.age() == age_;
        return static_cast<int>(1000 * used / (4 * sample));
    }

private:
    static constexpr int ages = 64;
    struct alignas(64) Bucket {
        std::array<TableEntry, 4> entries;
    };

    /// Enough that few positions of one search displace each other.
    static constexpr std::size_t buckets_per_node = 4;

    std::size_t index(std::uint64_t key) const {
        return static_cast<std::size_t>(high_word(static_cast<uint128>(key) * in_use_));
    }
    int worth(const TableEntry& entry) const {
        if (!epoch_.holds(entry.epoch)) return -1000;
        return entry.depth - 8 * ((age_ - entry.age() + ages) % ages);
    }

    TableMemory<Bucket> buckets_;
    Epoch epoch_;
    std::size_t in_use_;  // number of buckets in use, from the first
    bool sized_ = false;  // in_use_ is what searches since clear() asked for
    int age_ = 0;
};

}  // namespace hyoka::search
