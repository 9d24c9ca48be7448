// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The study room: charts that are read and brushed, and conditions that are built or typed.
import "./study/chart.js";
import { buildConditions } from "./study/builder.js";
import { offerColumns } from "./study/offers.js";
import { sortTables } from "./study/sorting.js";

offerColumns();
buildConditions();
sortTables();
