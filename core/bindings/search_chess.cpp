// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_search.h"

namespace hyoka::bindings {

void bind_chess_search(nb::module_& module) { bind_search<Chess>(module, "Chess"); }

}  // namespace hyoka::bindings
