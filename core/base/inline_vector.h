// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <type_traits>

namespace hyoka {

/// A vector of at most `capacity` trivial elements that never allocates; unused room is never touched.
template <class T, std::size_t capacity>
class InlineVector {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    InlineVector() noexcept {}  // leaves the room uninitialized on purpose
    InlineVector(const InlineVector& other) noexcept { *this = other; }
    InlineVector& operator=(const InlineVector& other) noexcept {
        std::copy_n(other.items_, other.size_, items_);
        size_ = other.size_;
        return *this;
    }

    void push_back(T item) {
        assert(size_ < capacity);
        items_[size_++] = item;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return items_[i]; }
    const T& operator[](std::size_t i) const { return items_[i]; }
    T* begin() { return items_; }
    T* end() { return items_ + size_; }
    const T* begin() const { return items_; }
    const T* end() const { return items_ + size_; }

private:
    std::size_t size_ = 0;
    union {
        T items_[capacity];
    };
};

}  // namespace hyoka
