// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Tables are sorted by a click on the title of a column; `data-sorts` says which way first.

/**
 * What a row is sorted by; NaN where it is not known yet.
 * @param {Element} row
 * @param {number} column
 */
function keyOf(row, column) {
  const cell = /** @type {HTMLElement | undefined} */ (row.children[column]);
  return cell?.dataset.sort === undefined ? cell?.textContent?.trim() ?? "" : Number(cell.dataset.sort);
}

/** @param {string} direction */
const opposite = (direction) => (direction === "ascending" ? "descending" : "ascending");

/** Make the titles of columns buttons. */
export function sortTables() {
  for (const title of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("th[data-sorts]"))) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorts";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const table = title.closest("table");
      const body = table?.tBodies[0];
      if (!table || !body) return;
      const before = title.getAttribute("aria-sort");
      const direction = before ? opposite(before) : title.dataset.sorts ?? "ascending";
      table.querySelectorAll("[aria-sort]").forEach((each) => each.removeAttribute("aria-sort"));
      title.setAttribute("aria-sort", direction);
      const column = [...(title.parentElement?.children ?? [])].indexOf(title);
      const sign = direction === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row) => /** @type {const} */ ([keyOf(row, column), row]));
      rows.sort(([a], [b]) => {
        if (typeof a === "string" && typeof b === "string") return sign * a.localeCompare(b);
        if (typeof a !== "number" || Number.isNaN(a)) return 1;  // what is not known comes last
        return typeof b !== "number" || Number.isNaN(b) ? -1 : sign * (a - b);
      });
      body.append(...rows.map(([, row]) => row));
    });
  }
}
