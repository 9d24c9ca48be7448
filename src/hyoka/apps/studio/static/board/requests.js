// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Requests for the next board, and what becomes of their answers.

import { drawBack } from "./draw.js";
import { current, say } from "./state.js";

/** @typedef {{ ajax: (verb: string, path: string, context: object) => Promise<void>, trigger: (element: Element, name: string) => void }} Htmx */
export const htmx = /** @type {{ htmx: Htmx }} */ (/** @type {unknown} */ (window)).htmx;

let busy = false;
let hadFocus = false;

/** Whether an answer is awaited. */
export function isBusy() {
  return busy;
}

/** The form with the whole state. */
function stateForm() {
  return /** @type {HTMLFormElement | null} */ (document.getElementById("state"));
}

/**
 * Ask for the board after an action, such as `play`.
 * @param {[string, string][]} pairs
 */
export function go(pairs) {
  const form = stateForm();
  if (!form || busy) return;
  const query = queryOf(new FormData(form));
  query.delete("play");
  for (const [name, value] of pairs) query.append(name, value);
  ask(form, query);
}

/**
 * The fields that are filled in.
 * @param {FormData} data
 */
function queryOf(data) {
  const query = new URLSearchParams();
  for (const [name, value] of data) {
    if (typeof value === "string" && value !== "") query.append(name, value);
  }
  return query;
}

/**
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} query
 */
function ask(form, query) {
  busy = true;
  const path = `${form.getAttribute("action")}?${query}`;
  htmx.ajax("GET", path, { target: "#room", swap: "innerHTML" }).finally(() => { busy = false; });
}

/**
 * Watch forms and answers.
 * @param {() => void} begin called when the page has another board
 */
export function watchRequests(begin) {
  document.addEventListener("submit", (event) => {
    const form = stateForm();
    const { submitter } = event;
    if (!form || event.target !== form || submitter?.dataset.download !== undefined) return;
    event.preventDefault();
    if (!busy) ask(form, queryOf(new FormData(form, submitter)));
  });
  document.addEventListener("change", (event) => {
    const { target } = event;
    const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
    if (isField && target.dataset.apply !== undefined) target.form?.requestSubmit();
  });
  // What went wrong is shown above the board; the board stays.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (detail.target?.id !== "room") return;
    if (detail.xhr.status >= 400) {
      detail.target = document.getElementById("problem");
      drawBack();
    }
    // The answer to a request of a board that is no longer there comes too late.
    if (!detail.requestConfig?.elt?.isConnected) detail.shouldSwap = false;
    hadFocus = Boolean(document.activeElement?.closest("#table, #choice, .tray, .beside, .typed"));
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (detail.target?.id !== "room") return;
    begin();
    const board = current();
    if (hadFocus) board?.element.focus({ preventScroll: true });
    say(board?.element.dataset.caption ?? "");
  });
  document.addEventListener("htmx:sendError", drawBack);
  document.addEventListener("htmx:historyRestore", begin);
}
