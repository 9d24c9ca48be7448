// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Live analysis: the toggle, the lines that stream in, and the evaluation bar.

import { drawOpinion } from "./draw.js";
import { setLive } from "./graph.js";
import { htmx } from "./requests.js";
import { current } from "./state.js";

/** The evaluator whose opinion is on the board. */
let chosen = 0;
/** Whether a pointer is down on the lines, which must not be exchanged under it. */
let isPressed = false;

/** The place of the analysis. */
function place() {
  return document.getElementById("analysis");
}

/** The analysis that is shown. */
function shown() {
  const found = place()?.querySelector(".analysis");
  return found instanceof HTMLElement ? found : null;
}

function toggle() {
  return /** @type {HTMLInputElement | null} */ (document.getElementById("live"));
}

/** Analyze the position on the board, if analyses are on and it is another one. */
export function restart() {
  const board = current();
  const element = place();
  if (!board || !element) return;
  drawAnalysis();
  const isOn = toggle()?.checked && !toggle()?.disabled;
  const { dataset } = shown() ?? { dataset: /** @type {DOMStringMap} */ ({}) };
  const isSame = dataset.place === board.place && dataset.agents === board.element.dataset.agents;
  if (!isOn || isSame) return;
  stop();
  if (document.querySelector(".thinking")) return; // the opponent is to move
  htmx.trigger(element, "analyze");
}

/** Stop the search; its results stay. */
function stop() {
  const job = shown()?.dataset.job;
  const isOver = shown()?.querySelector('.evaluations[data-over="1"]');
  if (job && !isOver) fetch(`/board/analysis/${job}/stop`, { method: "POST" }).catch(() => {});
}

/** Switch analyses on or off; the address says which. Results stay, to be looked at. */
function onToggle() {
  const isOn = Boolean(toggle()?.checked);
  const address = new URL(location.href);
  if (isOn) address.searchParams.set("live", "1"); else address.searchParams.delete("live");
  history.replaceState(history.state, "", address);
  if (isOn) {
    place()?.replaceChildren();
    restart();
  } else {
    stop();
    drawAnalysis();
  }
}

/** Draw the chosen evaluator's opinion and value, if they are of the position on the board. */
export function drawAnalysis() {
  const board = current();
  const analysis = shown();
  const cards = /** @type {HTMLElement[]} */ ([...(analysis?.querySelectorAll(".evaluation") ?? [])]);
  const card = cards[Math.min(chosen, cards.length - 1)];
  for (const button of analysis?.querySelectorAll("[data-show]") ?? []) {
    const isChosen = cards[Number(button.getAttribute("data-show"))] === card;
    button.setAttribute("aria-pressed", String(isChosen));
  }
  const isHere = Boolean(analysis) && analysis?.dataset.place === board?.place;
  const of = analysis?.querySelector(".analysis-of");
  const isLeft = !isHere && !toggle()?.checked;
  if (of instanceof HTMLElement) of.hidden = !isLeft;
  analysis?.classList.toggle("away", !isHere);
  analysis?.classList.toggle("left", isLeft);
  const button = document.getElementById("stop");
  if (button) button.hidden = !analysis || Boolean(analysis.querySelector('.evaluations[data-over="1"]'));
  drawOpinion(isHere && card ? JSON.parse(card.dataset.drawn ?? "null") : null);
  const value = isHere ? card?.dataset.value : "";
  setBar(value ? Number(value) : setLive(null));
  if (value) setLive(Number(value));
}

/**
 * Show the first player's expected score; null: none is known.
 * @param {number | null} value
 */
function setBar(value) {
  const bar = document.querySelector(".value-bar");
  if (!(bar instanceof HTMLElement)) return;
  bar.toggleAttribute("data-none", value === null);
  const percent = 100 * (value ?? 0.5);
  bar.style.setProperty("--share", `${percent.toFixed(1)}%`);
  bar.setAttribute("aria-valuenow", percent.toFixed(0));
  bar.setAttribute("aria-valuetext", value === null ? "not evaluated" : `${percent.toFixed(0)} percent`);
  const text = bar.querySelector("span");
  if (text) text.textContent = percent.toFixed(0);
}

/** Listen to the toggle and to what streams in. */
export function watchAnalysis() {
  document.addEventListener("change", (event) => { if (event.target === toggle()) onToggle(); });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("#stop, [data-show]") : null;
    if (button?.id === "stop") stop();
    const show = button?.getAttribute("data-show");
    if (typeof show !== "string") return;
    chosen = Number(show);
    drawAnalysis();
  });
  document.addEventListener("pointerdown", (event) => {
    isPressed = event.target instanceof Element && Boolean(event.target.closest("#analysis"));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, () => { isPressed = false; });
  }
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    if (isPressed && event.target instanceof Element && event.target.closest("#analysis")) event.preventDefault();
  });
  document.addEventListener("htmx:sseMessage", drawAnalysis);
}
