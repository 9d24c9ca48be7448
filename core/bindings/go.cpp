// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_go.h"

namespace hyoka::bindings {

void bind_go(nb::module_& module) {
    bind_go_of_size<9>(module, "Go9");
    bind_go_of_size<13>(module, "Go13");
    bind_go_of_size<19>(module, "Go19");
}

}  // namespace hyoka::bindings
