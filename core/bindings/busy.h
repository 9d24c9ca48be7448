// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stdexcept>

namespace hyoka::bindings {

/// Marks a search as running; a second one on the same object, from another thread, is refused.
class Busy {
public:
    explicit Busy(std::atomic<bool>& running) : running_(running) {
        if (running_.exchange(true)) throw std::runtime_error("this search is running already");
    }
    ~Busy() { running_ = false; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    std::atomic<bool>& running_;
};

}  // namespace hyoka::bindings
