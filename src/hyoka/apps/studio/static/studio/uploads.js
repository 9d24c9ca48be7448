// SPDX-License-Identifier: Apache-2.0
// A file of records that is dropped anywhere becomes a study.
import { tell } from "./tell.js";

let inside = 0;
const isFiles = (event) => event.dataTransfer?.types.includes("Files");
document.addEventListener("dragenter", (event) => {
  if (!isFiles(event)) return;
  inside += 1;
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!isFiles(event)) return;
  inside -= 1;
  if (inside <= 0) document.body.classList.remove("dropping");
});
document.addEventListener("dragover", (event) => { if (isFiles(event)) event.preventDefault(); });
document.addEventListener("drop", async (event) => {
  if (!isFiles(event)) return;
  event.preventDefault();
  inside = 0;
  document.body.classList.remove("dropping");
  const form = new FormData();
  for (const file of event.dataTransfer.files) form.append("files", file);
  tell("Taking the records…");
  try {
    const answer = await fetch("/records", { method: "POST", body: form, headers: { "HX-Request": "true" } });
    if (answer.redirected) { location.assign(answer.url); return; }
    const words = new DOMParser().parseFromString(await answer.text(), "text/html").body.textContent;
    tell(words.trim() || "That could not be taken.");
  } catch {
    tell("The studio does not answer, or the file is too large for it.");
  }
});
