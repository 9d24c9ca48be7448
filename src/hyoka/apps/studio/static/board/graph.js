// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The graph of the game: what evaluators expect at each move. A click leads to the move.

import { shape } from "./geometry.js";
import { go } from "./requests.js";

/** @typedef {[string, (number | null)[]]} Curve name and values by ply */

const SERIES = 8;
const INSET = 4;
/** @type {Curve[]} */
let curves = [];
/** @type {string[]} */
let marks = [];
/** @type {number | null} */
let live = null;

function element() {
  return document.getElementById("graph");
}

/** Plies of the game. */
const last = () => Number(element()?.getAttribute("aria-valuemax") ?? 0);
const here = () => Number(element()?.getAttribute("aria-valuenow") ?? 0);

/**
 * Show the value of a running analysis at the present move, and return what is known of it.
 * @param {number | null} value
 */
export function setLive(value) {
  if (value !== live) {
    live = value;
    paint();
  }
  return live ?? curves.map(([, values]) => values[here()]).find((each) => typeof each === "number") ?? null;
}

/** Draw the graph of the page. */
export function drawGraph() {
  const graph = element();
  if (!graph) return;
  live = null;
  read(graph);
  const running = document.querySelector("#graph-progress [data-curves]");
  if (running instanceof HTMLElement) read(running);
  paint();
}

/**
 * Take the curves of an element, if they are of the game on the board.
 * @param {HTMLElement} from
 */
function read(from) {
  if (from.dataset.line !== element()?.dataset.line) return;
  curves = JSON.parse(from.dataset.curves ?? "[]");
  marks = JSON.parse(from.dataset.marks ?? "[]");
}

function paint() {
  const graph = element();
  if (!graph) return;
  const { clientWidth: width, clientHeight: height } = graph;
  /** @param {number} ply */
  const x = (ply) => INSET + (ply * (width - 2 * INSET)) / Math.max(1, last());
  /** @param {number} value */
  const y = (value) => INSET + (1 - value) * (height - 2 * INSET);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  picture.append(shape("line", { class: "middle", x1: 0, x2: width, y1: y(0.5), y2: y(0.5) }));
  picture.append(shape("line", { class: "here", x1: x(here()), x2: x(here()), y1: 0, y2: height }));
  curves.slice(0, SERIES).forEach(([, values], index) => picture.append(...line(values, `s${index + 1}`, x, y)));
  const [first] = curves;
  marks.forEach((mark, index) => {
    const value = first?.[1][index + 1];
    if (mark === "??" && typeof value === "number") picture.append(shape("circle", { class: "bad", cx: x(index + 1), cy: y(value), r: 4 }));
  });
  if (live !== null) picture.append(shape("circle", { class: "s1", cx: x(here()), cy: y(live), r: 4 }));
  graph.querySelector("svg")?.remove();
  graph.prepend(picture);
  drawLegend();
  for (const button of document.querySelectorAll("[data-move]")) {
    const mark = button.querySelector(".mark");
    if (mark) mark.textContent = marks[Number(button.getAttribute("data-move")) - 1] ?? "";
  }
}

/**
 * A curve: lines between known neighbors, and points without any.
 * @param {(number | null)[]} values
 * @param {string} name
 * @param {(ply: number) => number} x
 * @param {(value: number) => number} y
 */
function line(values, name, x, y) {
  let path = "";
  const points = [];
  values.forEach((value, ply) => {
    if (value === null) return;
    const before = values[ply - 1] ?? null;
    path += `${before === null ? "M" : "L"}${x(ply).toFixed(1)} ${y(value).toFixed(1)}`;
    if (before === null && (values[ply + 1] ?? null) === null) points.push(shape("circle", { class: name, cx: x(ply), cy: y(value), r: 2.5 }));
  });
  return [shape("path", { class: name, d: path }), ...points];
}

function drawLegend() {
  const legend = document.getElementById("legend");
  legend?.replaceChildren(...curves.slice(0, SERIES).map(([name], index) => {
    const entry = document.createElement("span");
    entry.className = `s${index + 1}`;
    entry.textContent = name;
    return entry;
  }));
}

/**
 * The ply under a pointer.
 * @param {HTMLElement} graph
 * @param {MouseEvent} event
 */
function plyAt(graph, event) {
  const { left, width } = graph.getBoundingClientRect();
  const share = (event.clientX - left - INSET) / Math.max(1, width - 2 * INSET);
  return Math.min(last(), Math.max(0, Math.round(share * last())));
}

/**
 * Say beside the pointer what evaluators expect at a ply; null: nothing.
 * @param {HTMLElement} graph
 * @param {number | null} ply
 */
function tell(graph, ply) {
  graph.querySelector(".said")?.remove();
  if (ply === null) return;
  /** @type {string[]} */
  const moves = JSON.parse(graph.dataset.moves ?? "[]");
  const said = document.createElement("div");
  said.className = "said";
  said.textContent = [
    ply ? `${ply}: ${moves[ply - 1]}` : "start",
    ...curves.slice(0, SERIES).map(([name, values]) => {
      const value = values[ply] ?? null;
      return value === null ? "" : `${name} ${(100 * value).toFixed(0)}%`;
    }).filter(Boolean),
  ].join("\n");
  graph.append(said);
  const place = (ply / Math.max(1, last())) * graph.clientWidth;
  said.style.left = `${Math.max(0, Math.min(place + 8, graph.clientWidth - said.offsetWidth - 2))}px`;
}

/** Listen to pointers, keys and what streams in. */
export function watchGraph() {
  document.addEventListener("click", (event) => {
    const graph = element();
    if (!graph || !(event.target instanceof Node) || !graph.contains(event.target) || !last()) return;
    go([["to", String(plyAt(graph, event))]]);
  });
  document.addEventListener("pointermove", (event) => {
    const graph = element();
    if (!graph) return;
    const isOver = event.target instanceof Node && graph.contains(event.target) && last() > 0;
    if (isOver || graph.querySelector(".said")) tell(graph, isOver ? plyAt(graph, event) : null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.target !== element()) return;
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: here() - 1, ArrowRight: here() + 1, ArrowDown: here() - 1, ArrowUp: here() + 1, Home: 0, End: last() };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (to >= 0 && to <= last()) go([["to", String(to)]]);
  });
  for (const name of ["htmx:sseMessage", "htmx:afterSettle"]) {
    document.addEventListener(name, (event) => {
      const running = event.target instanceof Element ? event.target.closest("#graph-progress")?.querySelector("[data-curves]") : null;
      if (!(running instanceof HTMLElement)) return;
      read(running);
      paint();
    });
  }
  addEventListener("resize", paint);
}
