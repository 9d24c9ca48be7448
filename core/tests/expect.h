// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace hyoka::tests {

struct Tally {
    int passed = 0;
    int failed = 0;
};
inline Tally tally;

inline void expect(bool holds, const std::string& what) {
    ++(holds ? tally.passed : tally.failed);
    if (!holds) std::printf("FAILED: %s\n", what.c_str());
}

/// The closing line and the exit status.
inline int report() {
    std::printf("%d passed, %d failed\n", tally.passed, tally.failed);
    return tally.failed == 0 ? 0 : 1;
}

}  // namespace hyoka::tests
