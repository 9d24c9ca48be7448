// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "game.h"
#include "model.h"

namespace hyoka::strengths {

/// The moves that led to a position, as far as they are known: the opponent's last one, and the mover's own before.
template <class G>
struct Context {
    std::optional<typename G::Move> last;
    std::optional<typename G::Move> before_last;

    /// What the next position has as its context.
    Context after(typename G::Move move) const { return {move, last}; }
};

/// How good moves look before they are searched: positive numbers of any scale. One a thread: it may keep room to work
/// in.
template <class G>
class MoveModel : public Model {
public:
    /// Puts the strength of each move into `strengths`. Pre: the moves are legal, and there is room for as many.
    virtual void weigh(const G& game, const Context<G>& context, std::span<const typename G::Move> moves,
                       std::span<float> strengths) = 0;
    virtual std::unique_ptr<MoveModel> clone() const = 0;
};

}  // namespace hyoka::strengths
