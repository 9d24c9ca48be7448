// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The board on the page: what stands on it, and what may be played.

/**
 * A legal move, with the cells that its text names.
 * @typedef {{ word: string, cells: number[] }} Move
 */
/**
 * What is taken to be moved: a cell, or a piece in hand by its letter.
 * @typedef {number | { drop: string } | null} Taken
 */
/**
 * @typedef {object} Board
 * @property {HTMLElement} element
 * @property {SVGSVGElement} over what is drawn over the picture
 * @property {string} game
 * @property {number} ply
 * @property {string} place the position with its history
 * @property {number} rows
 * @property {number} columns
 * @property {string[]} names names of the cells, by row
 * @property {string[]} pieces what stands on each, in words
 * @property {(number | null)[]} standing the sprites of the pieces
 * @property {number | null} laid the sprite of a piece that a move lays on an empty cell
 * @property {number | null} check the cell of a king in check
 * @property {Move[]} moves
 * @property {boolean} turned the second player's side is below
 * @property {boolean} ranked a move model's numbers are on the board
 * @property {boolean} edit a position is set up
 * @property {boolean} blokus
 * @property {boolean} moving moves go from one cell to another
 * @property {Taken} taken
 */

/** @type {Board | null} */
let board = null;

/** The cursor of the keyboard. */
export const cursor = { row: 0, column: 0, game: "" };

/** The board, or null while the page shows none. */
export function current() {
  return board?.element.isConnected ? board : null;
}

/** Read the board of the page. */
export function readBoard() {
  const element = document.getElementById("table");
  const over = element?.querySelector(".over");
  if (!element || !(over instanceof SVGSVGElement)) {
    board = null;
    return null;
  }
  const { dataset } = element;
  const game = dataset.game ?? "";
  const edit = dataset.edit !== undefined;
  /** @type {[string, number[]][]} */
  const moves = JSON.parse(dataset.moves ?? "[]");
  board = {
    element,
    over,
    game,
    ply: Number(dataset.ply ?? 0),
    place: dataset.place ?? "",
    rows: Number(dataset.rows),
    columns: Number(dataset.columns),
    names: JSON.parse(dataset.names ?? "[]"),
    pieces: JSON.parse(dataset.pieces ?? "[]"),
    standing: JSON.parse(dataset.standing ?? "[]"),
    laid: dataset.laid === undefined ? null : Number(dataset.laid),
    check: dataset.check === undefined ? null : Number(dataset.check),
    moves: moves.map(([word, cells]) => ({ word, cells })),
    turned: dataset.turned !== undefined,
    ranked: dataset.ranked !== undefined,
    edit,
    blokus: game === "blokus_duo" && !edit,
    moving: game === "chess" || game === "shogi",
    taken: null,
  };
  if (cursor.game !== game) {
    Object.assign(cursor, { row: board.rows >> 1, column: board.columns >> 1, game });
  }
  return board;
}

/**
 * The moves of what is taken.
 * @param {Board} board
 */
export function targets({ taken, moves }) {
  if (taken === null) return [];
  if (typeof taken === "number") {
    return moves.filter(({ cells }) => cells.length > 1 && cells[0] === taken);
  }
  return moves.filter(({ word }) => word.startsWith(`${taken.drop}*`));
}

/**
 * A cell in words.
 * @param {Board} board
 * @param {number} cell
 */
export function describe(board, cell) {
  return `${board.names[cell]} ${board.pieces[cell] || "empty"}`;
}

/**
 * Say something to people who hear the page.
 * @param {string} words
 */
export function say(words) {
  const said = document.getElementById("said");
  if (said) said.textContent = words;
}
