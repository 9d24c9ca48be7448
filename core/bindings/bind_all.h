// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

// One translation unit a game, so that a change rebuilds little.
namespace hyoka::bindings {

void bind_othello(nanobind::module_& module);
void bind_small_go(nanobind::module_& module);  // 3 to 7
void bind_go(nanobind::module_& module);        // 9, 13, 19
void bind_chess(nanobind::module_& module);
void bind_shogi(nanobind::module_& module);
void bind_blokus_duo(nanobind::module_& module);
void bind_analysis(nanobind::module_& module);
void bind_feature_rows(nanobind::module_& module);
void bind_pipes(nanobind::module_& module);
void bind_features(nanobind::module_& module);
void bind_bulk(nanobind::module_& module);
void bind_records(nanobind::module_& module);
void bind_mets(nanobind::module_& module);
void bind_strengths(nanobind::module_& module);
void bind_knowledge(nanobind::module_& module);
void bind_search(nanobind::module_& module);
void bind_solvers(nanobind::module_& module);
void bind_sparse(nanobind::module_& module);
void bind_perceptrons(nanobind::module_& module);
void bind_network(nanobind::module_& module);
void bind_convolution(nanobind::module_& module);

}  // namespace hyoka::bindings
