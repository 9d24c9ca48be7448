// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The room Board. The server draws every board and says which moves are legal; these modules draw
// what changes in between, and ask for the next board. Its address has the whole state.

import { drawAnalysis, restart, watchAnalysis } from "./board/analysis.js";
import { watchBlokus } from "./board/blokus.js";
import { draw } from "./board/draw.js";
import { drawGraph, watchGraph } from "./board/graph.js";
import { watchInput } from "./board/input.js";
import { watchPanels } from "./board/panels.js";
import { watchRequests } from "./board/requests.js";
import { playSound, watchSound } from "./board/sound.js";
import { current, readBoard } from "./board/state.js";

let ply = -1;

/** Take over the board that the page has now. */
function begin() {
  const board = readBoard();
  if (!board) return;
  if (ply >= 0 && board.ply > ply) playSound();
  ply = board.ply;
  draw();
  drawGraph();
  for (const move of document.querySelectorAll(".move-list [aria-current]")) {
    const list = move.parentElement;
    if (list && move instanceof HTMLElement) list.scrollTop = move.offsetTop - list.clientHeight / 2;
  }
  restart();
}

watchRequests(begin);
watchInput();
watchBlokus();
watchAnalysis();
watchGraph();
watchPanels();
watchSound();
document.addEventListener("htmx:afterSettle", () => { if (current()) drawAnalysis(); });
// Only then htmx listens to the elements of the page.
document.addEventListener("DOMContentLoaded", begin);
