// SPDX-License-Identifier: Apache-2.0
#include "search/assembly_impl.h"

template struct hyoka::search::Assembly<hyoka::Go<9>>;
