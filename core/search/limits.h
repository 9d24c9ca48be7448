// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace hyoka::search {

/// First exception of several threads; stops the others.
class FirstFailure {
public:
    template <class Work>
    void guard(Work&& work, std::atomic<bool>& over) {
        try {
            work();
        } catch (...) {
            if (!failed_.exchange(true)) failure_ = std::current_exception();
            over = true;
        }
    }
    /// Once all threads have ended.
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }
    bool any() const { return failure_ != nullptr; }

private:
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
};

/// Limits of a search; 0: none.
struct Limits {
    std::uint64_t nodes = 0;  // positions that alpha-beta or a solver visits
    int depth = 0;            // plies
    double time_s = 0;
};

/// Watches a search's limits and its cancellation.
class Stop {
public:
    /// `interrupt`, if given, ends the search from another thread.
    explicit Stop(const Limits& limits, const std::atomic<bool>* interrupt = nullptr)
        : limits_(limits), interrupt_(interrupt), start_(Clock::now()) {}

    /// Whether a search that has visited `nodes` must end. Cheap: the clock is read every 1024 nodes.
    bool reached(std::uint64_t nodes) {
        if (reached_) return true;
        if (limits_.nodes && nodes >= limits_.nodes) return reached_ = true;
        if (nodes < next_look_) return false;
        next_look_ = nodes + 1024;
        return look();
    }
    /// The same, reading the clock at once.
    bool look() {
        if (interrupt_ && interrupt_->load(std::memory_order_relaxed)) reached_ = true;
        if (limits_.time_s > 0 && elapsed_s() >= limits_.time_s) reached_ = true;
        return reached_;
    }
    bool reached() const { return reached_; }
    double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    const Limits& limits() const { return limits_; }

private:
    using Clock = std::chrono::steady_clock;

    Limits limits_;
    const std::atomic<bool>* interrupt_;
    Clock::time_point start_;
    std::uint64_t next_look_ = 0;
    bool reached_ = false;
};

}  // namespace hyoka::search
