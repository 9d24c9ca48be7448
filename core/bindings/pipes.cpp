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

/// Text that grows, of which each line is looked at once.
class Lines {
public:
    /// Takes more text in; true if one of the lines that it completes begins with `word`.
    bool take(const char* data, std::size_t size, std::string_view word) {
        text_.append(data, size);
        for (std::size_t end; (end = text_.find('\n', line_)) != std::string::npos; line_ = end + 1)
            if (std::string_view(text_).substr(line_).starts_with(word)) return true;
        return false;
    }

    nb::bytes bytes() const { return nb::bytes(text_.data(), text_.size()); }

private:
    std::string text_;
    std::size_t line_ = 0;
};

/// Reads what comes at once: until a line begins with `word`, nothing has come for `quiet_ms`, or `most_ms` are over.
nb::bytes read_promptly(int descriptor, std::string_view word, int quiet_ms, int most_ms) {
    using Clock = std::chrono::steady_clock;
    Lines lines;
    {
        nb::gil_scoped_release released;
        const auto until = Clock::now() + std::chrono::milliseconds(most_ms);
        char block[1 << 14];
        pollfd arrivals{descriptor, POLLIN, 0};
        while (Clock::now() < until && ::poll(&arrivals, 1, quiet_ms) > 0) {
            const auto size = ::read(descriptor, block, sizeof block);
            if (size <= 0) break;  // the end, or an interruption: the regular wait reports it
            if (lines.take(block, static_cast<std::size_t>(size), word)) break;
        }
    }
    return lines.bytes();
}

}  // namespace

void bind_pipes(nb::module_& module) {
    module.def("read_promptly", read_promptly, "descriptor"_a, "word"_a, "quiet_ms"_a, "most_ms"_a,
               "Read from a pipe what comes at once, up to a line that begins with `word`; perhaps nothing.");
}

}  // namespace hyoka::bindings
