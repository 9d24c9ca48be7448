// SPDX-License-Identifier: Apache-2.0
#include "bindings/bind_all.h"
#include "bindings/bind_search.h"

namespace hyoka::bindings {

static_assert(Game<PythonGame>);

void bind_python_search(nb::module_& module) { bind_search<PythonGame>(module, "Python"); }

}  // namespace hyoka::bindings
