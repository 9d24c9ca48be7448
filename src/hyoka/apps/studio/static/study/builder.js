// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Rows of column, operator and value that write the condition; the field of SQL has its text.
import { OPERATORS, fromSql, isNumber, toSql } from "./condition.js";

/** @typedef {import("./condition.js").Kind} Kind */
/** @typedef {import("./condition.js").Term} Term */

/**
 * An element with attributes and children.
 * @param {string} name
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Put rows in the place of the field, if they can say what it says. */
export function buildConditions() {
  const builder = document.getElementById("builder");
  const sql = document.getElementById("sql");
  const where = /** @type {HTMLInputElement | null} */ (document.getElementById("where"));
  if (builder && sql && where) build(builder, sql, where);
}

/**
 * @param {HTMLElement} builder - The place of the rows.
 * @param {HTMLElement} sql - The field with its label.
 * @param {HTMLInputElement} where
 */
function build(builder, sql, where) {
  /** @type {Map<string, Kind>} */
  const columns = new Map(JSON.parse(builder.dataset.columns ?? "[]"));
  /** @type {Map<string, Promise<string[]>>} */
  const suggested = new Map();
  /** @type {Term[]} */
  let terms = [];

  const rows = element("div", { class: "terms" });
  const add = element("button", { type: "button" }, "+ Condition");
  const asRows = element("button", { type: "button", class: "chip" }, "Rows");
  const asSql = element("button", { type: "button", class: "chip" }, "SQL");
  const problem = element("p", { class: "problem", role: "alert" });
  builder.append(rows, add, element("span", { class: "modes", role: "group", "aria-label": "Write the condition as" }, asRows, asSql), problem);
  builder.hidden = false;

  /** @param {boolean} inRows */
  function show(inRows) {
    sql.hidden = inRows;
    rows.hidden = !inRows;
    add.hidden = !inRows;
    asRows.setAttribute("aria-pressed", String(inRows));
    asSql.setAttribute("aria-pressed", String(!inRows));
    problem.textContent = "";
    if (inRows) draw();
  }

  function write() {
    const text = toSql(terms, columns);
    if (text === where.value) return;
    where.value = text;
    where.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /**
   * Suggestions of a column's values.
   * @param {string} column
   */
  function values(column) {
    let list = suggested.get(column);
    if (!list) {
      const place = `${builder.dataset.values}&column=${encodeURIComponent(column)}`;
      list = fetch(place).then((answer) => (answer.ok ? answer.json() : []), () => []);
      suggested.set(column, list);
    }
    return list;
  }

  /**
   * @param {Term} term
   * @param {number} index
   */
  function row(term, index) {
    const number = index + 1;
    const kind = columns.get(term.column);
    const column = /** @type {HTMLSelectElement} */ (element("select", { "aria-label": `Column of condition ${number}` },
      element("option", { value: "" }, "Column…"), ...[...columns.keys()].map((name) => element("option", { value: name }, name))));
    column.value = term.column;
    column.addEventListener("change", () => {
      const before = columns.get(term.column);
      term.column = column.value;
      const now = columns.get(term.column);
      if (now !== before) Object.assign(term, { operator: now ? OPERATORS[now][0][0] : "", value: "" });
      draw();
      write();
      /** @type {HTMLElement | null} */ (rows.children[index]?.querySelector("input, select:nth-of-type(2)"))?.focus();
    });
    const parts = [column];
    if (kind) {
      const operator = /** @type {HTMLSelectElement} */ (element("select", { "aria-label": `Operator of condition ${number}` },
        ...OPERATORS[kind].map(([value, name]) => element("option", { value }, name))));
      operator.value = term.operator;
      operator.addEventListener("change", () => { term.operator = operator.value; write(); });
      parts.push(operator);
    }
    if (kind === "number" || kind === "text") {
      const list = element("datalist", { id: `values-${number}` });
      const value = /** @type {HTMLInputElement} */ (element("input", {
        "aria-label": `Value of condition ${number}`, list: list.id, autocomplete: "off", spellcheck: "false", placeholder: kind,
        ...(kind === "number" ? { inputmode: "decimal" } : {}),
      }));
      value.value = term.value;
      value.addEventListener("input", () => {
        term.value = value.value;
        const isWrong = kind === "number" && value.value.trim() !== "" && !isNumber(value.value);
        value.setAttribute("aria-invalid", String(isWrong));
        problem.textContent = isWrong ? `${term.column} is compared with a number, not with “${value.value}”.` : "";
        if (!isWrong) write();
      });
      value.addEventListener("focus", async () => {
        const texts = await values(term.column);
        list.replaceChildren(...texts.map((text) => element("option", { value: text })));
      }, { once: true });
      parts.push(value, list);
    }
    const remove = element("button", { type: "button", class: "quiet", "aria-label": `Remove condition ${number}` }, "×");
    remove.addEventListener("click", () => {
      terms.splice(index, 1);
      problem.textContent = "";
      draw();
      write();
      add.focus();
    });
    return element("div", { class: "term" }, element("span", { class: "joint" }, index ? "and" : "where"), ...parts, remove);
  }

  function draw() {
    rows.replaceChildren(...terms.map(row));
  }

  add.addEventListener("click", () => {
    terms.push({ column: "", operator: "", value: "" });
    draw();
    /** @type {HTMLElement | null} */ (rows.lastElementChild?.querySelector("select"))?.focus();
  });
  asSql.addEventListener("click", () => { show(false); where.focus(); });
  asRows.addEventListener("click", () => {
    const found = fromSql(where.value, columns);
    if (found) {
      terms = found;
      show(true);
    } else {
      problem.textContent = "Rows cannot say this: they compare columns with values, joined by “and”.";
    }
  });
  // Fields of rows have no names: their text goes into the field of SQL, and that is sent.
  for (const name of ["change", "input"]) rows.addEventListener(name, (event) => event.stopPropagation());

  const first = fromSql(where.value, columns);
  terms = first ?? [];
  show(first !== null);
}
