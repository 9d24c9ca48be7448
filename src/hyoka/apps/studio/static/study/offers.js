// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Columns are offered while a condition is typed in SQL.

const MOST = 8;

/** Offer columns under the field of the condition. */
export function offerColumns() {
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById("where"));
  const offers = document.getElementById("where-offers");
  const builder = document.getElementById("builder");
  if (!field || !offers || !builder) return;
  /** @type {[string, string][]} */
  const columns = JSON.parse(builder.dataset.columns ?? "[]");
  offer(field, offers, columns.map(([name]) => name));
}

/**
 * @param {HTMLInputElement} field
 * @param {HTMLElement} offers - The list under the field.
 * @param {string[]} columns
 */
function offer(field, offers, columns) {
  let active = -1;

  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", offers.id);
  field.setAttribute("aria-expanded", "false");

  /** The word that is being typed. */
  function word() {
    const before = field.value.slice(0, field.selectionStart ?? 0);
    return /[A-Za-z_][A-Za-z0-9_]*$/.exec(before)?.[0] ?? "";
  }

  function close() {
    offers.hidden = true;
    active = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  /** @param {string} name */
  function choose(name) {
    const end = field.selectionStart ?? 0;
    field.setRangeText(name, end - word().length, end, "end");
    close();
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  }

  /** @param {number} index */
  function point(index) {
    active = index;
    [...offers.children].forEach((offer, i) => offer.setAttribute("aria-selected", String(i === index)));
    if (index < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", offers.children[index].id);
  }

  function look() {
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

  field.addEventListener("input", (event) => { if (event.isTrusted) look(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const count = offers.children.length;
    if (!offers.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      point((active + (event.key === "ArrowDown" ? 1 : active < 0 ? count : count - 1)) % count);
    } else if (!offers.hidden && active >= 0 && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      choose(offers.children[active].textContent ?? "");
    } else if (event.key === "Escape") {
      close();
    }
  });
}
