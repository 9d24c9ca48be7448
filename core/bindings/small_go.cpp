// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_go.h"

namespace hyoka::bindings {

void bind_small_go(nb::module_& module) {
    bind_go_of_size<3>(module, "Go3");
    bind_go_of_size<4>(module, "Go4");
    bind_go_of_size<5>(module, "Go5");
    bind_go_of_size<6>(module, "Go6");
    bind_go_of_size<7>(module, "Go7");
}

}  // namespace hyoka::bindings
