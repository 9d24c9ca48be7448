// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hyoka::search {

/// The memory of a hash table: elements that start as zero bytes. The operating system provides pages on first use, so
/// a large table that is hardly used costs next to nothing.
template <class T>
class TableMemory {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    explicit TableMemory(std::size_t count) {
        if (count == 0) return;
        const std::size_t bytes = count * sizeof(T);
        // Lookups are spread over the whole table: with small pages, address translation would cost as much as the
        // access itself.
        const std::size_t alignment = bytes < huge_page ? std::max<std::size_t>(alignof(T), 64) : huge_page;
        std::size_t space = bytes + alignment;
        memory_.reset(std::calloc(space, 1));
        if (!memory_) throw std::bad_alloc();
        void* start = memory_.get();
        std::align(alignment, bytes, start, space);
#if defined(__linux__)
        if (bytes >= huge_page) madvise(start, bytes, MADV_HUGEPAGE);
#endif
        elements_ = {static_cast<T*>(start), count};
    }

    std::size_t size() const { return elements_.size(); }
    T& operator[](std::size_t index) { return elements_[index]; }
    const T& operator[](std::size_t index) const { return elements_[index]; }
    void zero() {
        if (size() > 0) std::memset(static_cast<void*>(elements_.data()), 0, elements_.size_bytes());
    }

private:
    static constexpr std::size_t huge_page = std::size_t{2} << 20;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    std::unique_ptr<void, Free> memory_;
    std::span<T> elements_;
};

/// Counts how often a table was cleared. Entries carry the epoch they were written in, and those of an earlier one
/// count as empty: clearing a table costs one addition. Epoch 0 is that of memory never written to.
class Epoch {
public:
    using Tag = std::uint16_t;

    Tag tag() const { return tag_; }
    bool holds(Tag tag) const { return tag == tag_; }
    /// Makes all entries count as empty. True: tags start again, and the caller must zero the table.
    [[nodiscard]] bool advance() {
        if (++tag_ != 0) return false;
        tag_ = 1;
        return true;
    }

private:
    Tag tag_ = 1;
};

}  // namespace hyoka::search
