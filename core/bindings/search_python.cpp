// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_game.h"
#include "search/assembly_impl.h"

static_assert(hyoka::Game<hyoka::bindings::PythonGame>);
template struct hyoka::search::Assembly<hyoka::bindings::PythonGame>;
