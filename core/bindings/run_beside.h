// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace nb = nanobind;

/// Long work, called from Python.
namespace hyoka::bindings {

/// A Python function to call now and then while work goes on.
using Tick = std::optional<nb::typed<nb::callable, void()>>;

/// Runs `work` beside this thread, which meanwhile lets others have the interpreter, watches for Ctrl-C and calls
/// `tick` every so often. What goes wrong here raises `stop`, and is thrown once the work has ended.
template <class Work>
void run_beside(std::atomic<bool>& stop, double interval_s, const Tick& tick, Work&& work) {
    using Clock = std::chrono::steady_clock;
    const auto interval = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval_s));
    const auto step = std::chrono::duration<double>(tick ? std::clamp(interval_s, 0.01, 0.05) : 0.05);
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
    auto next_tick = Clock::now() + interval;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, step, [&] { return done; })) {
        lock.unlock();
        try {
            nb::gil_scoped_acquire acquired;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (tick && Clock::now() >= next_tick) {
                next_tick = Clock::now() + interval;
                (*tick)();
            }
        } catch (...) {
            stop = true;
            worker.join();
            throw;
        }
        lock.lock();
    }
    lock.unlock();
    worker.join();
    if (failure) std::rethrow_exception(failure);
}

/// The same for work that takes its own flag: `work(stop)`.
template <class Work>
void run_interruptibly(Work&& work) {
    std::atomic<bool> stop = false;
    run_beside(stop, 1, {}, [&] { work(stop); });
}

}  // namespace hyoka::bindings
