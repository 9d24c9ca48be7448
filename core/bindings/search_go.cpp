// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_search.h"

namespace hyoka::bindings {

void bind_go_search(nb::module_& module) {
    bind_search<Go<9>>(module, "Go9");
    bind_search<Go<13>>(module, "Go13");
    bind_search<Go<19>>(module, "Go19");
}

}  // namespace hyoka::bindings
