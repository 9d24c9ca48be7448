// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Playing by mouse, finger and keys: by two clicks, by dragging, or with the cursor.

import { chooseNext, flipPiece, placePiece, turnPiece } from "./blokus.js";
import { draw, drawDragged, drawPlayed } from "./draw.js";
import { at, cellAt, cellUnder, placeOf } from "./geometry.js";
import { go, isBusy } from "./requests.js";
import { current, cursor, describe, say, targets } from "./state.js";

/** @typedef {import("./state.js").Board} Board */
/** @typedef {import("./state.js").Move} Move */
/** @typedef {import("./state.js").Taken} Taken */

/** @type {Record<string, string>} */
const PROMOTIONS = { q: "Queen", r: "Rook", b: "Bishop", n: "Knight", "+": "Promote", "": "No promotion" };
/** Pixels after which a press is a drag. */
const DRAG = 5;

/**
 * A piece that was pressed, and whether it is dragged yet.
 * @type {{ taken: Exclude<Taken, null>, x: number, y: number, moved: boolean } | null}
 */
let press = null;
let wasDragged = false;

/**
 * Play a move: it is drawn at once, and the server answers with the board after it.
 * @param {Move} move
 */
export function play(move) {
  const board = current();
  if (!board || isBusy()) return;
  board.taken = null;
  draw();
  drawPlayed(move);
  go([["play", move.word]]);
}

/**
 * A cell is pressed.
 * @param {number} cell
 */
function touch(cell) {
  const board = current();
  if (!board || isBusy()) return;
  [cursor.row, cursor.column] = at(board, cell);
  closeChoice();
  if (board.edit) {
    go([["on", board.names[cell]]]);
  } else if (board.blokus) {
    placePiece(board, play);
  } else if (board.moving) {
    if (!playTo(board, cell)) {
      take(isOwn(board, cell) && board.taken !== cell ? cell : null);
    }
  } else {
    const move = board.moves.find(({ cells }) => cells.length === 1 && cells[0] === cell);
    if (move) play(move); else say(`${describe(board, cell)}: no move there`);
    draw();
  }
}

/**
 * Whether a piece on a cell may move.
 * @param {Board} board
 * @param {number} cell
 */
function isOwn(board, cell) {
  return board.moves.some(({ cells }) => cells.length > 1 && cells[0] === cell);
}

/**
 * Play what is taken to a cell, if it may go there.
 * @param {Board} board
 * @param {number} cell
 */
function playTo(board, cell) {
  const moves = targets(board).filter(({ cells }) => cells[cells.length - 1] === cell);
  if (moves.length > 1) choose(board, cell, moves);
  else if (moves.length === 1) play(moves[0]);
  return moves.length > 0;
}

/**
 * Take a piece, or let it go.
 * @param {Taken} taken
 */
function take(taken) {
  const board = current();
  if (!board) return;
  board.taken = taken;
  const letter = taken !== null && typeof taken !== "number" ? taken.drop : "";
  for (const button of document.querySelectorAll("[data-drop]")) {
    const isTaken = button instanceof HTMLElement && button.dataset.drop === letter;
    button.setAttribute("aria-pressed", String(isTaken));
  }
  if (taken !== null) {
    const words = typeof taken === "number" ? describe(board, taken) : `${letter} in hand`;
    say(`${words} taken, ${targets(board).length} moves`);
  }
  draw();
}

/**
 * Ask beside a cell which of several moves to it is meant.
 * @param {Board} board
 * @param {number} cell
 * @param {Move[]} moves
 */
function choose(board, cell, moves) {
  const choice = document.getElementById("choice");
  if (!choice) return;
  choice.replaceChildren(...moves.map((move) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = PROMOTIONS[/[qrbn+]$/.exec(move.word.slice(4))?.[0] ?? ""];
    button.addEventListener("click", () => {
      closeChoice();
      play(move);
    });
    return button;
  }));
  choice.hidden = false;
  const hit = board.over.querySelector(`[data-index="${cell}"]`)?.getBoundingClientRect();
  const { left, top, width, height } = board.element.getBoundingClientRect();
  if (hit) {
    const x = hit.left + hit.width / 2 - left - choice.offsetWidth / 2;
    const isAbove = hit.top - top < height / 2;
    const y = isAbove ? hit.bottom - top + 6 : hit.top - top - choice.offsetHeight - 6;
    choice.style.left = `${Math.max(0, Math.min(x, width - choice.offsetWidth))}px`;
    choice.style.top = `${y}px`;
  }
  choice.querySelector("button")?.focus();
}

function closeChoice() {
  const choice = document.getElementById("choice");
  if (!choice) return;
  choice.hidden = true;
  choice.removeAttribute("style");
  choice.replaceChildren();
}

/**
 * Whatever a pointer may take: a piece of the board, or one in hand.
 * @param {Board} board
 * @param {Element} target
 * @returns {Exclude<Taken, null> | null}
 */
function takenBy(board, target) {
  const drop = target.closest("[data-drop]");
  if (drop instanceof HTMLElement) return { drop: drop.dataset.drop ?? "" };
  const hit = target.closest(".hit");
  const cell = hit ? Number(hit.getAttribute("data-index")) : -1;
  return board.moving && !board.edit && isOwn(board, cell) ? cell : null;
}

/** @param {PointerEvent} event */
function onPointerDown(event) {
  const board = current();
  wasDragged = false;
  if (!board || isBusy() || event.button !== 0 || !(event.target instanceof Element)) return;
  const taken = takenBy(board, event.target);
  press = taken === null ? null : { taken, x: event.clientX, y: event.clientY, moved: false };
  // A finger's target would get all that follows, wherever the finger is.
  if (press) event.target.releasePointerCapture?.(event.pointerId);
}

/** @param {PointerEvent} event */
function onPointerMove(event) {
  const board = current();
  if (!board) return;
  if (press) {
    if (!press.moved && Math.hypot(event.clientX - press.x, event.clientY - press.y) < DRAG) return;
    if (!press.moved) {
      press.moved = true;
      closeChoice();
      take(press.taken);
    }
    drawDragged(placeOf(board.over, event));
  } else if (board.blokus && event.pointerType !== "touch" && event.target instanceof Element) {
    const hit = event.target.closest(".hit");
    if (!hit) return;
    [cursor.row, cursor.column] = at(board, Number(hit.getAttribute("data-index")));
    draw();
  }
}

/** @param {PointerEvent} event */
function onPointerUp(event) {
  const board = current();
  const pressed = press;
  press = null;
  if (!board || !pressed?.moved) return;
  wasDragged = true;
  drawDragged(null);
  const cell = cellUnder(board, placeOf(board.over, event));
  if (cell !== null) [cursor.row, cursor.column] = at(board, cell);
  if (cell === null || !playTo(board, cell)) take(null);
}

/** @param {MouseEvent} event */
function onClick(event) {
  const board = current();
  if (!board || wasDragged || !(event.target instanceof Element)) {
    wasDragged = false;
    return;
  }
  const hit = event.target.closest(".hit");
  if (hit) {
    touch(Number(hit.getAttribute("data-index")));
    return;
  }
  const drop = event.target.closest("[data-drop]");
  if (!(drop instanceof HTMLElement)) return;
  const letter = drop.dataset.drop ?? "";
  const isTaken = drop.getAttribute("aria-pressed") === "true";
  take(isTaken ? null : { drop: letter });
}

// Keys, while the board has the focus

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** @param {string} selector */
function pressButton(selector) {
  const button = document.querySelector(selector);
  if (button instanceof HTMLElement) button.click();
}

/** @param {string} name */
const step = (name) => pressButton(`.steps [aria-label="${name}"]:not([disabled])`);

/** @param {Board} board */
const here = (board) => cellAt(board, cursor.row, cursor.column);

/** @type {Record<string, (board: Board) => void>} */
const KEYS = {
  Enter: (board) => touch(here(board)),
  " ": (board) => touch(here(board)),
  Escape: () => take(null),
  u: () => pressButton('[name="undo"]:not([disabled])'),
  PageUp: () => step("Back one move"),
  PageDown: () => step("On one move"),
  Home: () => step("To the start"),
  End: () => step("To the end"),
  p: () => pressButton('[data-offered="pass"]'),
  m: () => document.getElementById("typed")?.focus(),
  a: () => pressButton("#live"),
  s: () => pressButton("#stop:not([hidden])"),
  r: () => turnPiece(),
  f: () => flipPiece(),
  t: () => pressButton("button#turn"),
  ",": () => chooseNext(-1),
  ".": () => chooseNext(1),
};

/** @param {Board} board */
const empty = (board) => go([["on", board.names[here(board)]], ["empty", "1"]]);

/** @type {Record<string, (board: Board) => void>} */
const EDIT_KEYS = { Enter: KEYS.Enter, " ": KEYS[" "], Delete: empty, Backspace: empty };

/**
 * A letter stands for its piece among those that can be put on the board.
 * @param {string} letter
 */
function chooses(letter) {
  const radios = [...document.querySelectorAll(".palette input")];
  const radio = radios.find((each) => each instanceof HTMLInputElement && each.value === letter);
  if (!(radio instanceof HTMLInputElement)) return undefined;
  return () => {
    radio.checked = true;
    say(`${radio.parentElement?.title} chosen`);
  };
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const board = current();
  if (!board || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape" && event.target instanceof Element && event.target.closest("#choice")) {
    closeChoice();
    take(null);
    board.element.focus();
    return;
  }
  if (event.target !== board.element) return;
  const way = ARROWS[event.key];
  const act = board.edit ? EDIT_KEYS[event.key] ?? chooses(event.key) : KEYS[event.key];
  if (way) {
    cursor.row = Math.min(board.rows - 1, Math.max(0, cursor.row + way[0]));
    cursor.column = Math.min(board.columns - 1, Math.max(0, cursor.column + way[1]));
    draw();
    say(describe(board, here(board)));
  } else if (act) {
    act(board);
  } else if (/^[1-7]$/.test(event.key) && board.game === "shogi") {
    const drop = document.querySelectorAll("[data-drop]")[Number(event.key) - 1];
    if (drop instanceof HTMLElement) drop.click();
  } else {
    return;
  }
  event.preventDefault();
}

/** Listen to pointers and keys. */
export function watchInput() {
  document.addEventListener("pointerdown", onPointerDown);
  document.addEventListener("pointermove", onPointerMove);
  document.addEventListener("pointerup", onPointerUp);
  document.addEventListener("pointercancel", () => {
    if (press?.moved) take(null);
    press = null;
    drawDragged(null);
  });
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
}
