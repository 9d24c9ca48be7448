// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Conditions as rows of column, operator and value, and as SQL.

/** @typedef {"number" | "boolean" | "text"} Kind */
/** @typedef {{column: string, operator: string, value: string}} Term */

/** The operators of each kind of column, and their names.
 * @type {Record<Kind, [string, string][]>} */
export const OPERATORS = {
  number: [[">=", "≥"], ["<=", "≤"], [">", ">"], ["<", "<"], ["=", "="], ["<>", "≠"]],
  text: [["=", "is"], ["<>", "is not"], ["contains", "contains"]],
  boolean: [["true", "is true"], ["false", "is false"]],
};

const NAME = /^(?:[A-Za-z_]\w*|"(?:[^"]|"")+")/;
const TEXT = /^'((?:[^']|'')*)'/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/;

/** @param {string} column */
function quoted(column) {
  return /^[a-z_][a-z0-9_]*$/.test(column) ? column : `"${column.replaceAll('"', '""')}"`;
}

/** @param {string} value */
export function isNumber(value) {
  return NUMBER.exec(value.trim())?.[0] === value.trim() && value.trim() !== "";
}

/**
 * Whether a row says something yet.
 * @param {Term} term
 * @param {Map<string, Kind>} columns
 */
export function isComplete(term, columns) {
  const kind = columns.get(term.column);
  if (!kind) return false;
  if (kind === "boolean") return true;
  return kind === "number" ? isNumber(term.value) : term.value !== "";
}

/**
 * The SQL of rows; rows that are not complete are left out.
 * @param {Term[]} terms
 * @param {Map<string, Kind>} columns
 */
export function toSql(terms, columns) {
  return terms.filter((term) => isComplete(term, columns)).map((term) => {
    const name = quoted(term.column);
    const kind = columns.get(term.column);
    if (kind === "boolean") return term.operator === "false" ? `not ${name}` : name;
    if (kind === "number") return `${name} ${term.operator} ${term.value.trim()}`;
    const text = `'${term.value.replaceAll("'", "''")}'`;
    return term.operator === "contains" ? `contains(${name}, ${text})` : `${name} ${term.operator} ${text}`;
  }).join(" and ");
}

/**
 * The rows of a condition; null if it is none of rows.
 * @param {string} sql
 * @param {Map<string, Kind>} columns
 * @returns {Term[] | null}
 */
export function fromSql(sql, columns) {
  let rest = sql.trim();
  /** @type {Term[]} */
  const terms = [];
  /** @param {RegExp} pattern */
  const take = (pattern) => {
    const found = pattern.exec(rest);
    if (found) rest = rest.slice(found[0].length).trimStart();
    return found;
  };
  const name = () => {
    const found = take(NAME)?.[0] ?? "";
    const plain = found.startsWith('"') ? found.slice(1, -1).replaceAll('""', '"') : found.toLowerCase();
    return columns.has(plain) ? plain : null;
  };
  while (rest) {
    if (terms.length && !take(/^and\b/i)) return null;
    if (take(/^contains\s*\(/i)) {
      const column = name();
      if (!column || !take(/^,/)) return null;
      const text = take(TEXT);
      if (!text || !take(/^\)/)) return null;
      terms.push({ column, operator: "contains", value: text[1].replaceAll("''", "'") });
      continue;
    }
    const isNot = Boolean(take(/^not\b/i));
    const column = name();
    if (!column) return null;
    const kind = columns.get(column);
    if (kind === "boolean") {
      terms.push({ column, operator: isNot ? "false" : "true", value: "" });
      continue;
    }
    const operator = (take(/^(?:<=|>=|<>|!=|=|<|>)/)?.[0] ?? "").replace("!=", "<>");
    const found = kind === "number" ? take(NUMBER) : take(TEXT);
    if (isNot || !found || !OPERATORS[kind ?? "text"].some(([each]) => each === operator)) return null;
    terms.push({ column, operator, value: kind === "number" ? found[0] : found[1].replaceAll("''", "'") });
  }
  return terms.every((term) => isComplete(term, columns)) ? terms : null;
}
