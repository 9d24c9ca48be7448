// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/python_game.h"

namespace hyoka::bindings {

template <class G>
concept Native = !std::same_as<G, PythonGame>;

using Tick = std::optional<nb::typed<nb::callable, void()>>;

/// Runs `work(stop)` while this thread watches for Ctrl-C and calls `tick` now and then. Games written in Python need
/// the interpreter all the time: they run here, and their own code takes the signals.
template <Game G, class Work>
void run_search(std::atomic<bool>& stop, double interval_s, const Tick& tick, Work&& work) {
    if constexpr (Native<G>) {
        bool done = false;
        std::exception_ptr failure;
        std::mutex mutex;
        std::condition_variable ended;
        nb::gil_scoped_release released;
        std::jthread worker([&] {
            try {
                work();
            } catch (...) {
                failure = std::current_exception();
            }
            const std::scoped_lock lock(mutex);
            done = true;
            ended.notify_one();
        });
        using Clock = std::chrono::steady_clock;
        const auto step = std::chrono::duration<double>(tick ? std::clamp(interval_s, 0.01, 0.05) : 0.05);
        auto next_tick = Clock::now() + std::chrono::duration<double>(interval_s);
        std::unique_lock lock(mutex);
        while (!ended.wait_for(lock, step, [&] { return done; })) {
            lock.unlock();
            {
                nb::gil_scoped_acquire acquired;
                const auto abandon = [&] {
                    stop = true;
                    nb::gil_scoped_release again;
                    worker.join();
                };
                if (PyErr_CheckSignals() != 0) {
                    abandon();
                    throw nb::python_error();
                }
                if (tick && Clock::now() >= next_tick) {
                    next_tick = Clock::now() +
                                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval_s));
                    try {
                        (*tick)();
                    } catch (...) {
                        abandon();
                        throw;
                    }
                }
            }
            lock.lock();
        }
        lock.unlock();
        worker.join();
        if (failure) std::rethrow_exception(failure);
    } else {
        work();
    }
}

}  // namespace hyoka::bindings
