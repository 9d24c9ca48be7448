// SPDX-License-Identifier: Apache-2.0
#include "games/othello.h"

#include "bindings/bind_all.h"
#include "bindings/bind_game.h"

namespace hyoka::bindings {

void bind_othello(nb::module_& module) {
    bind_game<Othello>(module, "Othello", "Othello; Black is the first player.", 8, 8).def(nb::init<>());
}

}  // namespace hyoka::bindings
