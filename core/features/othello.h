// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "features/columns.h"
#include "games/othello.h"

namespace hyoka::features {

template <>
class Describer<Othello> {
public:
    static std::span<const Column> columns();
    explicit Describer(const Othello&) {}
    void play(const Othello&, Othello::Move) {}
    void describe(const Othello& game, std::uint64_t wanted, std::int16_t* row) const;
};

}  // namespace hyoka::features
