// SPDX-License-Identifier: Apache-2.0
// @ts-check
// A review: the board follows the keys, the graph and the moves.

/** @returns {HTMLElement} */
const place = () => /** @type {HTMLElement} */ (document.querySelector("[data-place]"));

/** The address of a ply, made from that of the page. @param {string | number} ply */
function addressOf(ply) {
  const to = new URL(location.href);
  to.searchParams.set("ply", String(ply));
  return to.pathname + to.search;
}

let asked = 0;

/** Show a ply; of several requests, the last one counts. @param {string | number} ply */
async function go(ply) {
  const number = ++asked;
  const address = addressOf(ply);
  const answer = await fetch(address, { headers: { "HX-Request": "true" } });
  const text = await answer.text();
  const box = document.getElementById("place");
  if (number !== asked || !box) return;
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
  box.innerHTML = text;
  if (!answer.ok) return;
  history.replaceState(null, "", address);
  if (focused) /** @type {HTMLElement | null} */ (box.querySelector(`[data-key="${focused}"]`))?.focus();
  mark();
}

/** Point out the current ply in the graph and among the moves. */
function mark() {
  const ply = place()?.dataset.place;
  for (const graph of document.querySelectorAll("[data-graph]")) {
    const x = (1000 * Number(ply)) / Math.max(1, Number(/** @type {HTMLElement} */ (graph).dataset.graph));
    graph.querySelector("[data-cursor]")?.setAttribute("d", `M${x.toFixed(1)} 0V100`);
  }
  for (const list of document.querySelectorAll("[data-moves]")) {
    for (const link of list.querySelectorAll("a")) {
      if (link.dataset.ply !== ply) { link.removeAttribute("aria-current"); continue; }
      link.setAttribute("aria-current", "true");
      const top = link.offsetTop - /** @type {HTMLElement} */ (list).offsetTop;
      list.scrollTop = top - list.clientHeight / 2;
    }
  }
}

document.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  const target = /** @type {Element} */ (event.target);
  const link = /** @type {HTMLElement | null} */ (target.closest("a[data-ply]"));
  if (link) {
    event.preventDefault();
    if (link.getAttribute("aria-disabled") !== "true") go(link.dataset.ply ?? 0);
    return;
  }
  const graph = /** @type {HTMLElement | null} */ (target.closest("[data-graph]"));
  const picture = target.closest("svg");
  if (!graph || !picture) return;
  const marked = /** @type {SVGElement | null} */ (target.closest("[data-mark]"));
  const box = picture.getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  go(marked?.dataset.mark ?? Math.round(share * Number(graph.dataset.graph)));
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (/** @type {Element} */ (event.target).closest("input, textarea, select, .scroll")) return;
  const link = /** @type {HTMLElement | null} */ (
    document.querySelector(`[data-place] a[data-key="${CSS.escape(event.key)}"]`));
  if (!link) return;
  event.preventDefault();
  if (link.getAttribute("aria-disabled") !== "true") go(link.dataset.ply ?? 0);
});

// A report that grows is new to the page each time; at its end the board learns of it too.
document.addEventListener("htmx:afterSettle", (event) => {
  const target = /** @type {Element} */ (event.target);
  if (target.id === "report" && !target.querySelector("[sse-connect]")) go(place().dataset.place ?? 0);
  else mark();
});
mark();
