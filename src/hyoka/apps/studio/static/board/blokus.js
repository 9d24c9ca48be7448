// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Blokus Duo: a piece, turned and flipped, over the cursor; the tray of pieces.

import { draw } from "./draw.js";
import { at, cellAt, middle, shape, square } from "./geometry.js";
import { current, cursor, say } from "./state.js";

/** @typedef {import("./state.js").Board} Board */
/** @typedef {import("./state.js").Move} Move */
/** @typedef {[number, number][]} Cells rows and columns */

/** @type {{ letter: string, cells: Cells } | null} */
let piece = null;
/** @type {HTMLElement | null} the tray that was read last */
let tray = null;

/**
 * Cells from the corner, in order.
 * @param {number[][]} cells
 * @returns {Cells}
 */
function normal(cells) {
  const top = Math.min(...cells.map(([row]) => row));
  const left = Math.min(...cells.map(([, column]) => column));
  return cells
    .map(([row, column]) => /** @type {[number, number]} */ ([row - top, column - left]))
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

/**
 * The cell of a piece that is under the cursor: the one nearest to its middle.
 * @param {Cells} cells
 */
function anchor(cells) {
  const mid = [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis], 0) / cells.length);
  /** @param {[number, number]} cell */
  const far = ([row, column]) => Math.hypot(row - mid[0], column - mid[1]);
  return cells.reduce((best, cell) => (far(cell) < far(best) - 1e-9 ? cell : best));
}

/**
 * The cells that the piece covers at the cursor.
 * @param {Cells} cells
 */
function covered(cells) {
  const [row, column] = anchor(cells);
  return cells.map(([r, c]) => [cursor.row + r - row, cursor.column + c - column]);
}

/**
 * @param {Board} board
 * @param {number[]} cell
 */
const isInside = (board, [row, column]) => row >= 0 && column >= 0 && row < board.rows && column < board.columns;

/** @param {number[]} cells */
const key = (cells) => [...cells].sort((a, b) => a - b).join();

/**
 * The moves that lay the piece in its orientation.
 * @param {Board} board
 */
function fitting(board) {
  const wanted = piece && JSON.stringify(normal(piece.cells));
  return board.moves.filter(({ cells }) => piece?.cells.length === cells.length
    && JSON.stringify(normal(cells.map((cell) => at(board, cell)))) === wanted);
}

/**
 * The move that lays the piece at the cursor.
 * @param {Board} board
 */
function moveHere(board) {
  if (!piece) return undefined;
  const cells = covered(piece.cells);
  if (!cells.every((cell) => isInside(board, cell))) return undefined;
  const wanted = key(cells.map(([row, column]) => cellAt(board, row, column)));
  return board.moves.find((move) => key(move.cells) === wanted);
}

/**
 * Draw where the piece fits, and its ghost.
 * @param {Board} board
 * @param {Element} marks
 */
export function drawPiece(board, marks) {
  readTray();
  if (!piece) return;
  const [row, column] = anchor(normal(piece.cells));
  for (const { cells } of fitting(board)) {
    const places = cells.map((cell) => at(board, cell));
    const top = Math.min(...places.map(([r]) => r));
    const left = Math.min(...places.map(([, c]) => c));
    const [cx, cy] = middle(board, cellAt(board, top + row, left + column));
    marks.append(shape("circle", { cx, cy, r: 5, class: "target" }));
  }
  const name = moveHere(board) ? "ghost" : "ghost not";
  for (const cell of covered(piece.cells)) {
    if (isInside(board, cell)) marks.append(square(board, cellAt(board, cell[0], cell[1]), name, 2));
  }
}

/**
 * Lay the piece at the cursor.
 * @param {Board} board
 * @param {(move: Move) => void} play
 */
export function placePiece(board, play) {
  const move = moveHere(board);
  if (move) {
    play(move);
    return;
  }
  const name = board.names[cellAt(board, cursor.row, cursor.column)];
  say(piece ? `Piece ${piece.letter} does not fit at ${name}` : "Choose a piece first");
  draw();
}

/** The pieces of the tray. */
function buttons() {
  return [...document.querySelectorAll("button[data-piece]")].filter((each) => each instanceof HTMLButtonElement);
}

/**
 * A small picture of a piece.
 * @param {Cells} cells
 */
function pictureOf(cells) {
  const rows = Math.max(...cells.map(([row]) => row)) + 1;
  const columns = Math.max(...cells.map(([, column]) => column)) + 1;
  const picture = shape("svg", { viewBox: `${(columns - 5) / 2} ${(rows - 5) / 2} 5 5`, "aria-hidden": "true" });
  for (const [row, column] of cells) {
    picture.append(shape("rect", { x: column + 0.05, y: row + 0.05, width: 0.9, height: 0.9 }));
  }
  return picture;
}

/** Draw the pieces of a tray that is new on the page, and keep the chosen one if it is there. */
function readTray() {
  const present = document.querySelector(".tray");
  if (tray === present) return;
  tray = present instanceof HTMLElement ? present : null;
  for (const button of buttons()) {
    /** @type {Cells} */
    const cells = JSON.parse(button.dataset.cells ?? "[]");
    button.replaceChildren(pictureOf(cells));
    button.setAttribute("aria-label", `Piece ${button.dataset.piece}, ${cells.length} squares`);
  }
  for (const left of document.querySelectorAll("[data-left]")) {
    if (!(left instanceof HTMLElement)) continue;
    left.append(...(left.dataset.left ?? "").split("|").map((cells) => pictureOf(JSON.parse(cells))));
  }
  const free = buttons().filter((button) => !button.disabled);
  const same = free.find((button) => button.dataset.piece === piece?.letter);
  pick(same ?? free[free.length - 1], Boolean(same));
}

/**
 * Choose a piece.
 * @param {HTMLButtonElement | undefined} button
 * @param {boolean} keep its orientation
 */
function pick(button, keep = false) {
  if (!button) piece = null;
  else if (!keep) piece = { letter: button.dataset.piece ?? "", cells: JSON.parse(button.dataset.cells ?? "[]") };
  for (const each of buttons()) each.setAttribute("aria-pressed", String(each === button));
}

/**
 * Choose another piece: the next, or the one before.
 * @param {number} step
 */
export function chooseNext(step) {
  const free = buttons().filter((button) => !button.disabled);
  if (!free.length) return;
  const now = free.findIndex((button) => button.dataset.piece === piece?.letter);
  pick(free[(now + step + free.length) % free.length]);
  describePiece();
}

/** Turn the piece by a quarter. */
export function turnPiece() {
  if (piece) piece = { ...piece, cells: normal(piece.cells.map(([row, column]) => [column, -row])) };
  describePiece();
}

/** Flip the piece. */
export function flipPiece() {
  if (piece) piece = { ...piece, cells: normal(piece.cells.map(([row, column]) => [row, -column])) };
  describePiece();
}

function describePiece() {
  const board = current();
  if (!board || !piece) return;
  draw();
  say(`Piece ${piece.letter}, ${fitting(board).length} places`);
}

/** Listen to the tray. */
export function watchBlokus() {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest(".tray button") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    if (button.dataset.piece) {
      pick(button);
      describePiece();
    } else if (button.dataset.turn !== undefined) {
      turnPiece();
    } else {
      flipPiece();
    }
  });
}
