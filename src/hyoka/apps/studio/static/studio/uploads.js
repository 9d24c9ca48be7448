// SPDX-License-Identifier: Apache-2.0
// @ts-check
// A record file that is dropped anywhere becomes a study, or, where a page says so, a review.
import { tell } from "./tell.js";

let inside = 0;

/**
 * Whether files are dragged.
 * @param {DragEvent} event
 */
const hasFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;

/**
 * What becomes of files that are dropped there: `review` or `study`.
 * @param {EventTarget | null} place
 * @returns {string}
 */
function purpose(place) {
  const area = place instanceof Element ? place.closest("[data-then]") : null;
  if (area instanceof HTMLElement && area.dataset.then) return area.dataset.then;
  return document.body.dataset.room === "review" ? "review" : "study";
}

/**
 * Upload files and go where the answer leads.
 * @param {Iterable<File>} files
 * @param {string} then
 */
async function upload(files, then) {
  const form = new FormData();
  form.append("then", then);
  for (const file of files) form.append("files", file);
  tell("Taking the records…");
  try {
    const answer = await fetch("/records", { method: "POST", body: form, headers: { "HX-Request": "true" } });
    if (answer.redirected) { location.assign(answer.url); return; }
    const words = new DOMParser().parseFromString(await answer.text(), "text/html").body.textContent ?? "";
    tell(words.trim() || "That could not be taken.");
  } catch {
    tell("The studio does not answer, or the file is too large for it.");
  }
}

document.addEventListener("dragenter", (event) => {
  if (!hasFiles(event)) return;
  inside += 1;
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!hasFiles(event)) return;
  inside -= 1;
  if (inside <= 0) document.body.classList.remove("dropping");
});
document.addEventListener("dragover", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  document.body.dataset.dropThen = purpose(event.target);
});
document.addEventListener("drop", (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  inside = 0;
  document.body.classList.remove("dropping");
  upload(event.dataTransfer?.files ?? [], purpose(event.target));
});
