// SPDX-License-Identifier: Apache-2.0
#include "search/assembly_impl.h"

template struct hyoka::search::Assembly<hyoka::Go<3>>;
template struct hyoka::search::Assembly<hyoka::Go<4>>;
template struct hyoka::search::Assembly<hyoka::Go<5>>;
template struct hyoka::search::Assembly<hyoka::Go<6>>;
template struct hyoka::search::Assembly<hyoka::Go<7>>;
