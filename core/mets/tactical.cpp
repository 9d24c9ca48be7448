// SPDX-License-Identifier: Apache-2.0
#include "mets/tactical.h"

namespace hyoka::mets {

std::uint64_t fingerprint(const std::vector<TacticalQuestion>& questions) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    const auto add = [&](std::string_view text) {
        for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
        hash = (hash ^ 0xff) * 0x100000001b3;  // no letter: so that words don't run into each other
    };
    for (const TacticalQuestion& question : questions) {
        add(question.about);
        for (const std::string_view answer : question.answers) add(answer);
    }
    return hash;
}

}  // namespace hyoka::mets
