// SPDX-License-Identifier: Apache-2.0
// @ts-check
// What is drawn over the picture of the board: targets, a dragged piece, a move that was just
// played, what an engine thinks, and the cursor.

import { drawPiece } from "./blokus.js";
import { arrow, at, CELL, cellAt, middle, shape, square } from "./geometry.js";
import { current, cursor, targets } from "./state.js";

/** @typedef {import("./state.js").Board} Board */
/** @typedef {import("./state.js").Move} Move */
/**
 * What an evaluator thinks of cells and moves, on a board that is not turned.
 * @typedef {{ heat: [number, number][], arrows: [number, number, number][] }} Opinion
 */

/**
 * A layer of the drawing; all are made with the first.
 * @param {Board} board
 * @param {"under" | "preview" | "marks" | "hits" | "drag"} name
 */
function layer(board, name) {
  if (!board.over.firstChild) {
    for (const each of ["preview", "under", "marks", "hits", "drag"]) {
      board.over.append(shape("g", { class: each }));
    }
    drawHits(board);
  }
  return /** @type {SVGGElement} */ (board.over.querySelector(`.${name}`));
}

/**
 * The cells, to be pressed.
 * @param {Board} board
 */
function drawHits(board) {
  const some = new Set(board.moves.flatMap((move) => move.cells));
  const hits = layer(board, "hits");
  for (let cell = 0; cell < board.names.length; cell += 1) {
    const hit = square(board, cell, "hit");
    hit.setAttribute("data-cell", board.names[cell]);
    hit.setAttribute("data-index", String(cell));
    if (some.has(cell) || board.blokus || board.edit) hit.classList.add("can");
    hits.append(hit);
  }
}

/** Draw what is taken, where it may go, a king in check, the ghost of a piece, and the cursor. */
export function draw() {
  const board = current();
  if (!board) return;
  const marks = layer(board, "marks");
  marks.replaceChildren();
  if (board.check !== null) marks.append(square(board, board.check, "check", 2));
  if (typeof board.taken === "number") marks.append(square(board, board.taken, "taken"));
  for (const move of targets(board)) {
    const to = move.cells[move.cells.length - 1];
    const [cx, cy] = middle(board, to);
    const isCapture = Boolean(board.pieces[to]);
    marks.append(shape("circle", { cx, cy, r: isCapture ? 17 : 7, class: isCapture ? "target capture" : "target" }));
  }
  if (board.blokus) drawPiece(board, marks);
  marks.append(square(board, cellAt(board, cursor.row, cursor.column), "cursor", 2));
}

/**
 * Draw what an evaluator thinks; null: nothing.
 * @param {Opinion | null} opinion
 */
export function drawOpinion(opinion) {
  const board = current();
  if (!board || board.edit) return;
  const under = layer(board, "under");
  under.replaceChildren();
  if (!opinion) return;
  /** @param {number} number */
  const cell = (number) => (board.turned ? board.names.length - 1 - number : number);
  const total = opinion.heat.reduce((sum, [, share]) => sum + share, 0);
  const hasNumbers = !(board.moving || board.blokus || board.ranked);
  for (const [where, share] of opinion.heat) {
    const glow = square(board, cell(where), "heat");
    glow.setAttribute("fill-opacity", (0.05 + 0.65 * share).toFixed(3));
    under.append(glow);
    const part = Math.round((100 * share) / total);
    if (!hasNumbers || part < 1) continue;
    const [x, y] = middle(board, cell(where));
    const text = shape("text", { x, y: y + 5, class: "share" });
    text.textContent = String(part);
    under.append(text);
  }
  for (const [from, to, share] of opinion.arrows) under.append(arrow(board, cell(from), cell(to), share));
}

/**
 * Hide what the picture shows on a cell: the empty board is drawn over it.
 * @param {Board} board
 * @param {Element} over
 * @param {number} cell
 */
function cover(board, over, cell) {
  const id = `cover-${cell}`;
  const clip = shape("clipPath", { id });
  clip.append(square(board, cell, "", 0.6));
  over.append(clip, shape("use", { href: "#ground", "clip-path": `url(#${id})` }));
}

/**
 * A piece on a cell.
 * @param {Board} board
 * @param {number} sprite
 * @param {number} cell
 */
function piece(board, sprite, cell) {
  const [row, column] = at(board, cell);
  return shape("use", { href: `#piece-${sprite}`, x: column * CELL, y: row * CELL });
}

/**
 * Draw a move before the server's board is there.
 * @param {Move} move
 */
export function drawPlayed(move) {
  const board = current();
  if (!board) return;
  const preview = layer(board, "preview");
  preview.replaceChildren();
  layer(board, "under").replaceChildren();
  layer(board, "drag").replaceChildren();
  const to = move.cells[move.cells.length - 1];
  if (to === undefined) return;
  if (board.blokus) {
    for (const cell of move.cells) preview.append(square(board, cell, "ghost", 1));
    return;
  }
  const sprite = spriteOf(board, move);
  if (sprite === null) return;
  if (move.cells.length > 1) cover(board, preview, move.cells[0]);
  if (board.standing[to] !== null) cover(board, preview, to);
  preview.append(piece(board, sprite, to));
}

/**
 * The sprite of what a move puts on its last cell.
 * @param {Board} board
 * @param {Move} move
 */
function spriteOf(board, move) {
  if (move.cells.length > 1) return board.standing[move.cells[0]];
  const letter = /^(\w)\*/.exec(move.word)?.[1];
  return letter === undefined ? board.laid : dropSprite(letter);
}

/**
 * The sprite of a piece in hand.
 * @param {string} letter
 */
function dropSprite(letter) {
  const button = document.querySelector(`[data-drop="${letter}"]`);
  return button instanceof HTMLElement ? Number(button.dataset.sprite) : null;
}

/**
 * Draw the piece that is dragged at a place; null: put it back.
 * @param {{ x: number, y: number } | null} place
 */
export function drawDragged(place) {
  const board = current();
  if (!board) return;
  const drag = layer(board, "drag");
  drag.replaceChildren();
  if (!place || board.taken === null) return;
  const { taken } = board;
  const sprite = typeof taken === "number" ? board.standing[taken] : dropSprite(taken.drop);
  if (sprite === null) return;
  if (typeof taken === "number") cover(board, drag, taken);
  drag.append(shape("use", { href: `#piece-${sprite}`, x: place.x - CELL / 2, y: place.y - CELL / 2 }));
}

/** Show the board as the server has it. */
export function drawBack() {
  const board = current();
  if (!board) return;
  layer(board, "preview").replaceChildren();
  layer(board, "drag").replaceChildren();
  draw();
}
