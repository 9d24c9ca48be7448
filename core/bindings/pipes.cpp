// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "bindings/bind_all.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hyoka::bindings {
namespace {

/// Whether a whole line that begins with `word` has come.
bool has_line(const std::string& text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        if ((at == 0 || text[at - 1] == '\n') && text.find('\n', at) != std::string::npos) return true;
    return false;
}

/// Reads what comes at once: until a line begins with `word`, nothing has come for `quiet_ms`, or `most_ms` are over.
nb::bytes read_promptly(int descriptor, std::string_view word, int quiet_ms, int most_ms) {
    using Clock = std::chrono::steady_clock;
    std::string text;
    {
        nb::gil_scoped_release released;
        const auto until = Clock::now() + std::chrono::milliseconds(most_ms);
        char block[1 << 14];
        pollfd arrivals{descriptor, POLLIN, 0};
        while (Clock::now() < until && ::poll(&arrivals, 1, quiet_ms) > 0) {
            const auto size = ::read(descriptor, block, sizeof block);
            if (size <= 0) break;  // the end, or an interruption: whoever waits properly will find out
            text.append(block, static_cast<std::size_t>(size));
            if (has_line(text, word)) break;
        }
    }
    return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_pipes(nb::module_& module) {
    module.def("read_promptly", read_promptly, "descriptor"_a, "word"_a, "quiet_ms"_a, "most_ms"_a,
               "Read from a pipe what comes at once, up to a line that begins with `word`; perhaps nothing.");
}

}  // namespace hyoka::bindings
