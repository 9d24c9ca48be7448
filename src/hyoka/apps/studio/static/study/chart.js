// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Charts of curves: the pointer and the arrow keys read bins, dragging selects a range of values.
// The server draws them; the attributes of the marks have the figures.

/**
 * @typedef {object} Bin
 * @property {number} lower
 * @property {number} upper
 * @property {number} x - Its place in the picture.
 * @property {SVGCircleElement} mark
 */

/**
 * @typedef {object} Chart
 * @property {HTMLElement} box
 * @property {SVGSVGElement} svg
 * @property {Bin[][]} series - The bins of each curve, ascending.
 * @property {Bin[]} bins - Those that are selected: of the chart's first evaluator.
 * @property {number} at - The bin that is read; -1 for none.
 * @property {number} anchor - Where a selection began; -1 for none.
 */

const { htmx } = /** @type {any} */ (window);
/** @type {WeakMap<Element, Chart>} */
const charts = new WeakMap();
/** The chart whose range is being dragged.
 * @type {Chart | null} */
let dragged = null;
let frame = 0;

/**
 * @param {EventTarget | null} target
 * @returns {Chart | null}
 */
function chartOf(target) {
  const box = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(".curve-chart")) : null;
  if (!box) return null;
  let chart = charts.get(box);
  if (!chart) {
    const svg = /** @type {SVGSVGElement} */ (box.querySelector("svg.plot"));
    const groups = [...svg.querySelectorAll("[data-series]")];
    const series = groups.map((group) => [...group.querySelectorAll("circle")].map(binOf).sort((a, b) => a.x - b.x));
    chart = { box, svg, series, bins: series.reduce((most, each) => (each.length > most.length ? each : most), []), at: -1, anchor: -1 };
    charts.set(box, chart);
  }
  return chart;
}

/**
 * @param {SVGCircleElement} mark
 * @returns {Bin}
 */
function binOf(mark) {
  const { lower, upper } = mark.dataset;
  return { lower: Number(lower), upper: Number(upper), x: mark.cx.baseVal.value, mark };
}

/**
 * The place of a pointer in the picture.
 * @param {Chart} chart
 * @param {PointerEvent} event
 */
function placeOf(chart, event) {
  const shown = chart.svg.getBoundingClientRect();
  return ((event.clientX - shown.left) * chart.svg.viewBox.baseVal.width) / shown.width;
}

/**
 * The index of the bin that is nearest to a place.
 * @param {Bin[]} bins
 * @param {number} x
 */
function nearest(bins, x) {
  let best = -1;
  bins.forEach((bin, i) => {
    if (best < 0 || Math.abs(bin.x - x) < Math.abs(bins[best].x - x)) best = i;
  });
  return best;
}

/**
 * The place of a value in the picture, at most at an end of the axis.
 * @param {Chart} chart
 * @param {number} value
 */
function place(chart, value) {
  const { low, high, left, right } = chart.box.dataset;
  const share = (value - Number(low)) / (Number(high) - Number(low));
  return Number(left) + Math.min(Math.max(share, 0), 1) * (Number(right) - Number(left));
}

/**
 * Show the figures of a bin, or of all positions.
 * @param {Chart} chart
 * @param {number} at
 */
function read(chart, at) {
  chart.at = at;
  const bin = chart.bins[at];
  const cross = chart.svg.querySelector(".cross");
  cross?.setAttribute("visibility", bin ? "visible" : "hidden");
  if (bin) cross?.setAttribute("transform", `translate(${bin.x} 0)`);
  chart.svg.querySelectorAll("circle.here").forEach((mark) => mark.classList.remove("here"));
  const title = chart.box.querySelector("[data-bin]");
  if (title) title.textContent = bin ? `Value ${bin.mark.dataset.bin}` : "All";
  chart.series.forEach((bins, i) => {
    const row = chart.box.querySelector(`[data-legend="${i}"]`);
    if (!row) return;
    const own = bin ? bins[nearest(bins, bin.x)] : undefined;
    const fits = own && bin && own.lower < bin.upper && own.upper > bin.lower ? own : undefined;
    fits?.mark.classList.add("here");
    for (const name of ["share", "interval", "positions", "games"]) {
      const cell = /** @type {HTMLElement | null} */ (row.querySelector(`[data-${name}]`));
      if (cell) cell.textContent = fits ? fits.mark.dataset[name] ?? "" : bin ? "–" : cell.dataset.all ?? "";
    }
  });
}

/**
 * Say what is read, to people who hear pages.
 * @param {Chart} chart
 * @param {string} [words]
 */
function say(chart, words) {
  const said = chart.box.querySelector("[data-said]");
  if (!said) return;
  const rows = [...chart.box.querySelectorAll("[data-legend]")].map((row) => {
    const cells = [...row.querySelectorAll("th, td")].map((cell) => cell.textContent);
    return `${cells[0]}: ${cells[1]} (${cells[2]}), ${cells[3]} positions`;
  });
  said.textContent = words ?? `${chart.box.querySelector("[data-bin]")?.textContent}. ${rows.join("; ")}`;
}

/**
 * The selected bins, from the first to the last.
 * @param {Chart} chart
 * @returns {[Bin, Bin]}
 */
function selected(chart) {
  const ends = [chart.anchor < 0 ? chart.at : chart.anchor, chart.at].sort((a, b) => a - b);
  return [chart.bins[ends[0]], chart.bins[ends[1]]];
}

/**
 * Draw the selection.
 * @param {Chart} chart
 */
function mark(chart) {
  const brush = chart.svg.querySelector(".brush");
  if (!brush || chart.at < 0 || !chart.box.dataset.range) return;
  const [first, last] = selected(chart);
  const from = place(chart, first.lower);
  brush.setAttribute("x", String(from));
  brush.setAttribute("width", String(Math.max(place(chart, last.upper) - from, 0)));
}

/**
 * Ask for the positions of a range, or clear it, and keep it in the page's address and form.
 * @param {Chart} chart
 * @param {Record<string, string> | null} range
 */
function choose(chart, range) {
  if (!chart.box.dataset.range) return;  // curves of parts: there is nothing to choose from
  const here = new URL(location.href);
  const asked = new URL(chart.box.dataset.range, location.href);
  for (const name of ["at", "low", "high", "part"]) {
    const text = range?.[name] ?? "";
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector(`#ask input[name="${name}"]`));
    if (field) field.value = text;
    for (const url of [here, asked]) {
      if (text) url.searchParams.set(name, text);
      else url.searchParams.delete(name);
    }
  }
  here.searchParams.delete("draw");
  here.hash = "";
  history.replaceState(history.state, "", here);
  if (!range) {
    const brush = chart.svg.querySelector(".brush");
    brush?.setAttribute("width", "0");
  }
  return htmx.ajax("GET", asked.pathname + asked.search, { target: "#range", swap: "innerHTML" });
}

/**
 * Ask for the positions of the selection.
 * @param {Chart} chart
 */
function ask(chart) {
  if (chart.at < 0) return;
  mark(chart);
  const [first, last] = selected(chart);
  chart.anchor = -1;
  return choose(chart, {
    at: chart.box.dataset.at ?? "",
    low: first.mark.dataset.lower ?? "",
    high: last.mark.dataset.upper ?? "",
  });
}

document.addEventListener("pointermove", (event) => {
  const chart = dragged ?? chartOf(event.target);
  if (!chart || (!dragged && !(event.target instanceof Element && event.target.closest("svg.plot")))) return;
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    read(chart, nearest(chart.bins, placeOf(chart, event)));
    if (dragged) mark(chart);
  });
});

document.addEventListener("pointerout", (event) => {
  const chart = chartOf(event.target);
  if (!chart || dragged || (event.relatedTarget instanceof Node && chart.svg.contains(event.relatedTarget))) return;
  cancelAnimationFrame(frame);
  read(chart, -1);
});

document.addEventListener("pointerdown", (event) => {
  const chart = event.button === 0 && event.target instanceof Element && event.target.closest("svg.plot") ? chartOf(event.target) : null;
  if (!chart || !chart.bins.length) return;
  dragged = chart;
  read(chart, nearest(chart.bins, placeOf(chart, event)));
  chart.anchor = chart.at;
  mark(chart);
});

document.addEventListener("pointerup", (event) => {
  if (!dragged) return;
  const chart = dragged;
  dragged = null;
  cancelAnimationFrame(frame);
  read(chart, nearest(chart.bins, placeOf(chart, event)));
  ask(chart);
});

document.addEventListener("pointercancel", () => {
  if (dragged) dragged.anchor = -1;
  dragged = null;
});

document.addEventListener("keydown", (event) => {
  const chart = event.target instanceof Element && event.target.matches(".curve-chart") ? chartOf(event.target) : null;
  if (!chart || !chart.bins.length || event.ctrlKey || event.metaKey || event.altKey) return;
  const last = chart.bins.length - 1;
  const start = chart.at < 0 ? Math.floor(last / 2) : chart.at;
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: start - 1, ArrowRight: start + 1, Home: 0, End: last };
  if (event.key in steps) {
    if (event.shiftKey && chart.anchor < 0) chart.anchor = start;
    if (!event.shiftKey) chart.anchor = -1;
    read(chart, Math.min(Math.max(steps[event.key], 0), last));
    if (event.shiftKey) mark(chart);
    say(chart);
  } else if (event.key === "Enter") {
    ask(chart)?.then(() => document.getElementById("range")?.focus());
  } else if (event.key === "Escape") {
    chart.anchor = -1;
    read(chart, -1);
    choose(chart, null);
  } else {
    return;
  }
  event.preventDefault();
});
