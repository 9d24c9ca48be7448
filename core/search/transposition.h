// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/bits.h"

namespace hyoka::search {

/// What a stored score says of the true one.
enum class Bound : std::uint8_t { none, upper, lower, exact };

/// What a search once found out about a position. The score is for the side to move.
struct TableEntry {
    static constexpr std::uint32_t no_move = 0xffffffff;

    std::uint64_t key = 0;
    std::uint32_t move = no_move;  // its code
    std::int16_t score = 0;
    std::uint8_t depth = 0;
    std::uint8_t age_and_bound = 0;  // the search that wrote it (6 bits), then the bound (2 bits)

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
    explicit TranspositionTable(std::size_t mebibytes) : memory_(allocate(mebibytes)) {
        buckets_ = {memory_.get(), (mebibytes << 20) / sizeof(Bucket)};
        std::uninitialized_fill(buckets_.begin(), buckets_.end(), Bucket{});
    }

    void clear() {
        std::fill(buckets_.begin(), buckets_.end(), Bucket{});
        age_ = 0;
    }
    /// Entries of earlier searches stay, but are the first to make room.
    void start_search() { age_ = (age_ + 1) % ages; }

    void prefetch(std::uint64_t key) const {
        if (!buckets_.empty()) __builtin_prefetch(&buckets_[index(key)]);
    }
    /// Nullptr if the position is not known.
    const TableEntry* find(std::uint64_t key) const {
        if (buckets_.empty()) return nullptr;
        for (const TableEntry& entry : buckets_[index(key)].entries)
            if (entry.key == key && entry.bound() != Bound::none) return &entry;
        return nullptr;
    }
    /// An entry of the same position is replaced, else the one of the bucket with the least depth, age counted in.
    /// A known move outlives a result that has none.
    void store(std::uint64_t key, std::uint32_t move, int score, int depth, Bound bound) {
        if (buckets_.empty()) return;
        auto& entries = buckets_[index(key)].entries;
        TableEntry* target = &entries[0];
        for (TableEntry& entry : entries) {
            if (entry.key == key) {
                target = &entry;
                if (move == TableEntry::no_move) move = entry.move;
                break;
            }
            if (worth(entry) < worth(*target)) target = &entry;
        }
        *target = {key, move, static_cast<std::int16_t>(score), static_cast<std::uint8_t>(depth),
                   static_cast<std::uint8_t>(age_ << 2 | static_cast<int>(bound))};
    }
    /// How full of this search's entries the table is, judged by its first thousand.
    int permille_full() const {
        const std::size_t sample = std::min<std::size_t>(buckets_.size(), 250);
        if (sample == 0) return 0;
        std::size_t used = 0;
        for (std::size_t i = 0; i < sample; ++i)
            for (const TableEntry& entry : buckets_[i].entries)
                used += entry.bound() != Bound::none && entry.age() == age_;
        return static_cast<int>(1000 * used / (4 * sample));
    }

private:
    static constexpr int ages = 64;
    struct alignas(64) Bucket {
        std::array<TableEntry, 4> entries;
    };

    struct Free {
        void operator()(Bucket* memory) const { ::operator delete(memory, std::align_val_t{page}); }
    };
    using Memory = std::unique_ptr<Bucket, Free>;
    static constexpr std::size_t page = std::size_t{2} << 20;

    /// Positions are looked up all over the table: with small pages, finding the page would cost as much as the look.
    static Memory allocate(std::size_t mebibytes) {
        const std::size_t bytes = mebibytes << 20;
        if (bytes == 0) return nullptr;
        void* memory = ::operator new(bytes, std::align_val_t{page});
#if defined(__linux__)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
        return Memory(static_cast<Bucket*>(memory));
    }

    std::size_t index(std::uint64_t key) const {
        return static_cast<std::size_t>(high_word(static_cast<uint128>(key) * buckets_.size()));
    }
    int worth(const TableEntry& entry) const {
        if (entry.bound() == Bound::none) return -1000;
        return entry.depth - 8 * ((age_ - entry.age() + ages) % ages);
    }

    Memory memory_;
    std::span<Bucket> buckets_;
    int age_ = 0;
};

}  // namespace hyoka::search
