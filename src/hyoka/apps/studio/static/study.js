// SPDX-License-Identifier: Apache-2.0
// Charts lead to boards; columns of conditions are offered while they are typed.
"use strict";

// Marks of charts lead somewhere; the tables below them have the same links.
document.addEventListener("click", (event) => {
  const to = event.target.closest("#answer .chart [data-to]")?.dataset.to;
  if (!to?.startsWith("/study?")) return;
  if (event.metaKey || event.ctrlKey) window.open(to, "_blank", "noopener");
  else location.assign(to);
});

document.addEventListener("DOMContentLoaded", () => {
  const field = document.getElementById("where");
  if (!field) return;
  const offers = document.getElementById("where-offers");
  const columns = JSON.parse(field.dataset.columns);
  const MOST = 8;
  let active = -1;

  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", offers.id);
  field.setAttribute("aria-expanded", "false");

  /** The word that is being typed. */
  function word() {
    const before = field.value.slice(0, field.selectionStart);
    return /[A-Za-z_][A-Za-z0-9_]*$/.exec(before)?.[0] ?? "";
  }

  function close() {
    offers.hidden = true;
    active = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function choose(name, typed = word()) {
    const end = field.selectionStart;
    field.setRangeText(name, end - typed.length, end, "end");
    close();
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  }

  function point(index) {
    active = index;
    [...offers.children].forEach((offer, i) => offer.setAttribute("aria-selected", String(i === index)));
    if (index < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", offers.children[index].id);
  }

  function offer() {
    const typed = word().toLowerCase();
    const fitting = typed
      ? [...columns.filter((name) => name.startsWith(typed)),
         ...columns.filter((name) => name.includes(typed) && !name.startsWith(typed))]
      : [];
    if (!fitting.length || fitting.includes(typed)) { close(); return; }
    offers.replaceChildren(...fitting.slice(0, MOST).map((name, i) => {
      const each = document.createElement("div");
      each.id = `offer-${i}`;
      each.setAttribute("role", "option");
      each.textContent = name;
      each.addEventListener("pointerdown", (event) => { event.preventDefault(); choose(name); });
      return each;
    }));
    offers.hidden = false;
    field.setAttribute("aria-expanded", "true");
    point(-1);
  }

  field.addEventListener("input", offer);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const count = offers.children.length;
    if (!offers.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      point((active + (event.key === "ArrowDown" ? 1 : active < 0 ? count : count - 1)) % count);
    } else if (!offers.hidden && active >= 0 && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      choose(offers.children[active].textContent);
    } else if (event.key === "Escape") {
      close();
    }
  });

  document.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-column]");
    if (chip) choose(chip.dataset.column, "");
  });
});
