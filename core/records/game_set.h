// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "records/table.h"

namespace hyoka::records {

/// Remembers games by 64 bits of their start and moves, so that exact duplicates are found in little memory. Two of ten
/// million different games are taken for one with a chance of three in a million.
class GameSet {
public:
    /// The number under which an equal game was added before; otherwise it is added under `number`.
    std::optional<std::uint32_t> add(GameKind game, std::string_view start, std::span<const std::uint16_t> moves,
                                     std::uint32_t number) {
        if (4 * (count_ + 1) > 3 * slots_.size()) grow();
        const std::uint64_t key = key_of(game, start, moves);
        Slot& slot = slot_of(key);
        if (slot.key) return slot.number;
        slot = {key, number};
        ++count_;
        return std::nullopt;
    }

private:
    struct Slot {
        std::uint64_t key = 0;  // 0: free
        std::uint32_t number = 0;
    };

    static std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
        const auto product = static_cast<unsigned __int128>(hash ^ word) * 0x9e3779b97f4a7c15ULL;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    static std::uint64_t mixed_bytes(std::uint64_t hash, const void* data, std::size_t size) {
        const char* bytes = static_cast<const char*>(data);
        for (; size > 0; bytes += std::min<std::size_t>(size, 8), size -= std::min<std::size_t>(size, 8)) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes, std::min<std::size_t>(size, 8));
            hash = mixed(hash, word + 0x2545f4914f6cdd1dULL);
        }
        return hash;
    }
    static std::uint64_t key_of(GameKind game, std::string_view start, std::span<const std::uint16_t> moves) {
        std::uint64_t hash = mixed(static_cast<std::uint64_t>(game) + 1, start.size() << 32 | moves.size());
        hash = mixed_bytes(hash, start.data(), start.size());
        hash = mixed_bytes(hash, moves.data(), moves.size_bytes());
        return hash | 1;
    }
    Slot& slot_of(std::uint64_t key) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = static_cast<std::size_t>(mixed(key, 7)) & mask;
        while (slots_[i].key && slots_[i].key != key) i = (i + 1) & mask;
        return slots_[i];
    }
    void grow() {
        std::vector<Slot> before(std::max<std::size_t>(1024, 2 * slots_.size()));
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.key) slot_of(slot.key) = slot;
    }

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

}  // namespace hyoka::records
