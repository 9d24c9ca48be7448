// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The panels of the room, and agents picked from lists with a drawer for their settings.

import { htmx } from "./requests.js";

/**
 * Open a panel; the address says which.
 * @param {string} name
 */
function openPanel(name) {
  for (const tab of document.querySelectorAll("[data-tab]")) {
    const isOpen = tab.getAttribute("data-tab") === name;
    tab.setAttribute("aria-selected", String(isOpen));
    const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
    if (panel) panel.hidden = !isOpen;
  }
  const field = document.getElementById("tab");
  if (field instanceof HTMLInputElement) field.value = name;
  const address = new URL(location.href);
  if (name === "play") address.searchParams.delete("tab"); else address.searchParams.set("tab", name);
  history.replaceState(history.state, "", address);
}

/**
 * An agent is picked: the field beside the list has its spec.
 * @param {HTMLSelectElement} list
 */
function pickAgent(list) {
  const field = document.getElementById(list.dataset.agent ?? "");
  const settings = document.querySelector(`[data-settings="${list.dataset.agent}"]`);
  if (!(field instanceof HTMLInputElement)) return;
  const isOther = list.selectedOptions[0]?.dataset.other !== undefined;
  field.hidden = !isOther;
  if (isOther) {
    field.focus();
    return;
  }
  field.value = list.value;
  if (settings instanceof HTMLElement) settings.hidden = !field.value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/**
 * Fetch the settings of an agent into the drawer.
 * @param {string} slot
 */
function showSettings(slot) {
  const field = document.getElementById(slot);
  if (!(field instanceof HTMLInputElement)) return;
  const game = document.getElementById("table")?.dataset.game ?? "";
  const query = new URLSearchParams({ game, slot, spec: field.value });
  htmx.ajax("GET", `/board/agent?${query}`, { target: "#agent-form", swap: "innerHTML" });
}

/** Take the settings of the drawer over into the field that they are for. */
function useSettings() {
  const spec = document.getElementById("agent-text");
  const field = document.getElementById(spec?.dataset.slot ?? "");
  const list = document.querySelector(`[data-agent="${spec?.dataset.slot}"]`);
  if (!(field instanceof HTMLInputElement)) return;
  field.value = spec?.textContent ?? "";
  if (list instanceof HTMLSelectElement && list.selectedOptions[0]) list.selectedOptions[0].value = field.value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Listen to tabs and lists. */
export function watchPanels() {
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tab], [data-settings], [data-use]") : null;
    if (!(target instanceof HTMLElement)) return;
    if (target.dataset.tab) openPanel(target.dataset.tab);
    else if (target.dataset.settings) showSettings(target.dataset.settings);
    else useSettings();
  });
  document.addEventListener("keydown", (event) => {
    const tab = event.target instanceof Element ? event.target.closest("[data-tab]") : null;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!tab || step === undefined) return;
    const tabs = [...document.querySelectorAll("[data-tab]")];
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
    openPanel(next.dataset.tab ?? "");
  });
  document.addEventListener("change", (event) => {
    if (event.target instanceof HTMLSelectElement && event.target.dataset.agent) pickAgent(event.target);
  });
}
