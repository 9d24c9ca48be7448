// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Fields of forms: ideas that fill them in, choices that reload the page, and texts to copy.
import { tell } from "./tell.js";

// Ideas under a field fill it in; a field of lines gets one more.
document.addEventListener("click", (event) => {
  const chip = event.target instanceof Element ? event.target.closest("[data-fill]") : null;
  if (!(chip instanceof HTMLElement)) return;
  const field = document.getElementById(chip.dataset.fill ?? "");
  const value = chip.dataset.value ?? "";
  if (field instanceof HTMLTextAreaElement) {
    field.value = field.value.trim() ? `${field.value.trimEnd()}\n${value}` : value;
  } else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) {
    field.value = value;
  }
  field?.dispatchEvent(new Event("input", { bubbles: true }));
});

// A choice on which the other fields depend loads the form anew.
document.addEventListener("change", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLSelectElement) || !field.matches("[data-reloads]")) return;
  const button = document.getElementById(field.dataset.reloads ?? "");
  if (button instanceof HTMLButtonElement) field.form?.requestSubmit(button);
});

// A button with data-copy="ID" copies the text of an element.
document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
  if (!(button instanceof HTMLElement)) return;
  const text = document.getElementById(button.dataset.copy ?? "")?.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text.trim());
    tell("Copied.");
  } catch {
    tell("The browser does not let this page copy: select the text and copy it.");
  }
});
