// SPDX-License-Identifier: Apache-2.0
// Ideas under a field fill it in; a field of lines gets one more.
document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-fill]");
  if (!chip) return;
  const field = document.getElementById(chip.dataset.fill);
  const value = chip.dataset.value;
  if (field.tagName === "TEXTAREA") {
    field.value = field.value.trim() ? `${field.value.trimEnd()}\n${value}` : value;
  } else {
    field.value = value;
  }
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
