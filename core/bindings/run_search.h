// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/python_game.h"

namespace hyoka::bindings {

template <class G>
concept Native = !std::same_as<G, PythonGame>;

/// Runs a search beside this thread. Games written in Python hold the interpreter's lock while they work; Python hands
/// it over every few milliseconds.
template <Game G, class Work>
void run_search(std::atomic<bool>& stop, double interval_s, const Tick& tick, Work&& work) {
    run_beside(stop, interval_s, tick, [&] {
        if constexpr (Native<G>) {
            work();
        } else {
            nb::gil_scoped_acquire acquired;
            work();
        }
    });
}

}  // namespace hyoka::bindings
