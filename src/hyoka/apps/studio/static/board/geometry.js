// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Places on the board's plane, where a cell is 40 by 40 and the first is at the origin; its shapes.

/** @typedef {{ columns: number }} Grid */

export const CELL = 40;
const SVG = "http://www.w3.org/2000/svg";

/**
 * Row and column of a cell.
 * @param {Grid} grid
 * @param {number} cell
 */
export function at({ columns }, cell) {
  return [Math.floor(cell / columns), cell % columns];
}

/**
 * The cell at a row and column.
 * @param {Grid} grid
 * @param {number} row
 * @param {number} column
 */
export function cellAt({ columns }, row, column) {
  return row * columns + column;
}

/**
 * The middle of a cell.
 * @param {Grid} grid
 * @param {number} cell
 */
export function middle(grid, cell) {
  const [row, column] = at(grid, cell);
  return [(column + 0.5) * CELL, (row + 0.5) * CELL];
}

/**
 * An SVG element.
 * @param {string} name
 * @param {Record<string, string | number>} attributes
 */
export function shape(name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/**
 * A square on a cell.
 * @param {Grid} grid
 * @param {number} cell
 * @param {string} name its class
 * @param {number} inset
 */
export function square(grid, cell, name, inset = 0) {
  const [row, column] = at(grid, cell);
  const size = CELL - 2 * inset;
  return shape("rect", {
    x: column * CELL + inset, y: row * CELL + inset, width: size, height: size, class: name,
  });
}

/**
 * An arrow between two cells, the stronger the larger its share.
 * @param {Grid} grid
 * @param {number} from
 * @param {number} to
 * @param {number} share
 */
export function arrow(grid, from, to, share) {
  const [x1, y1] = middle(grid, from);
  const [x2, y2] = middle(grid, to);
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const [x, y] = [x2 - 14 * Math.cos(angle), y2 - 14 * Math.sin(angle)];
  /** @param {number} turn */
  const side = (turn) => `${x2 - 20 * Math.cos(angle + turn)} ${y2 - 20 * Math.sin(angle + turn)}`;
  return shape("path", {
    class: "arrow", opacity: (0.25 + 0.6 * share).toFixed(2), "stroke-width": (2 + 4 * share).toFixed(1),
    d: `M${x1} ${y1}L${x} ${y}M${x2} ${y2}L${side(0.5)}L${side(-0.5)}z`,
  });
}

/**
 * A place on the plane of an SVG under the pointer.
 * @param {SVGSVGElement} svg
 * @param {{ clientX: number, clientY: number }} pointer
 */
export function placeOf(svg, { clientX, clientY }) {
  const matrix = svg.getScreenCTM();
  if (!matrix) return { x: -1, y: -1 };
  return new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
}

/**
 * The cell at a place, or null outside of the board.
 * @param {{ rows: number, columns: number }} grid
 * @param {{ x: number, y: number }} place
 */
export function cellUnder(grid, { x, y }) {
  const [row, column] = [Math.floor(y / CELL), Math.floor(x / CELL)];
  const inside = row >= 0 && column >= 0 && row < grid.rows && column < grid.columns;
  return inside ? cellAt(grid, row, column) : null;
}
