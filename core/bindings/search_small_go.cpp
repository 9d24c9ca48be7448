// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_search.h"

namespace hyoka::bindings {

void bind_small_go_search(nb::module_& module) {
    bind_search<Go<3>>(module, "Go3");
    bind_search<Go<4>>(module, "Go4");
    bind_search<Go<5>>(module, "Go5");
    bind_search<Go<6>>(module, "Go6");
    bind_search<Go<7>>(module, "Go7");
}

}  // namespace hyoka::bindings
