// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/columns.h"
#include "games/shogi.h"

namespace hyoka::features {

template <>
class Describer<Shogi> {
public:
    static std::span<const Column> columns();
    explicit Describer(const Shogi&) {}
    void play(const Shogi&, Shogi::Move) {}
    void describe(const Shogi& game, std::uint64_t wanted, std::int16_t* row) const;
};

}  // namespace hyoka::features
