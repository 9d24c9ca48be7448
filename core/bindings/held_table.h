// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "bindings/bind_game.h"
#include "bindings/run_beside.h"
#include "bulk/bulk.h"

/// Tables of games and bulk calls over them, for the files that bind some.
namespace hyoka::bindings {

template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>;
template <class T>
std::span<const T> span_of(const View<T>& view) {
    return {view.data(), view.size()};
}

/// A table as Python holds it, with the arrays that it looks at.
struct HeldTable {
    View<std::int64_t> ids;
    View<std::int32_t> start_offsets;
    View<std::uint8_t> start_bytes;
    View<double> komi;
    View<std::int64_t> move_offsets;
    View<std::uint16_t> moves;
    View<std::int64_t> row_offsets;
    View<std::int32_t> plies;
    bulk::GameTable games;
    std::vector<bulk::Block> blocks;
};

/// Called with the number of finished rows.
using Progress = std::optional<nb::typed<nb::callable, void(std::int64_t)>>;

/// Calls `progress` with what `done` says.
inline Tick telling(const Progress& progress, const std::atomic<std::size_t>& done) {
    if (!progress) return {};
    return nb::borrow<Tick::value_type>(
        nb::cpp_function([&progress, &done] { (*progress)(static_cast<std::int64_t>(done.load())); }));
}

/// Runs a pass beside this thread.
inline void run_pass(const bulk::Pass& pass, const HeldTable& held, unsigned threads, const Progress& progress) {
    bulk::Running running;
    running.threads = std::clamp(threads, 1u, 1024u);
    const Tick tick = telling(progress, running.done);
    run_beside(running.stop, 0.2, tick, [&] { bulk::run(pass, held.games, held.blocks, running); });
}

}  // namespace hyoka::bindings
