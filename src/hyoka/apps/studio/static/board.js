// SPDX-License-Identifier: Apache-2.0
// The board under mouse, finger and keys. What may be played comes with the page; each move asks
// the studio for the next board, whose address has everything.
"use strict";

(() => {
  const CELL = 40;
  const SVG = "http://www.w3.org/2000/svg";
  const PROMOTIONS = { q: "Queen", r: "Rook", b: "Bishop", n: "Knight", "+": "Promote", "": "No promotion" };
  const find = (selector) => document.querySelector(selector);
  let board = null; // what stands on the table now
  let cursor = { row: 0, column: 0, game: "" };
  let piece = null; // of Blokus: { letter, cells }
  let drawnCard = 0; // whose visits are drawn
  let busy = false;

  // Asking for the next board

  function go(pairs) {
    const form = find("#state");
    if (!form || busy) return;
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      if (value !== "" && name !== "play") query.append(name, value);
    }
    for (const [name, value] of pairs) query.append(name, value);
    ask(query);
  }

  function ask(query) {
    busy = true;
    htmx.ajax("GET", `${find("#state").getAttribute("action")}?${query}`, { target: "#room", swap: "innerHTML" }).finally(() => { busy = false; });
  }

  document.addEventListener("submit", (event) => {
    if (event.target.id !== "state" || event.submitter?.dataset.download !== undefined) return;
    event.preventDefault();
    if (busy) return;
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(event.target, event.submitter)) {
      if (value !== "") query.append(name, value);
    }
    ask(query);
  });
  document.addEventListener("change", (event) => {
    if (event.target.dataset?.apply !== undefined) event.target.form.requestSubmit();
  });

  // What went wrong stands above the board; the board stays.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr, target } = event.detail;
    if (target?.id !== "room") return;
    if (xhr.status >= 400) event.detail.target = find("#problem");
    // A reply to a board that has gone, since something else was done meanwhile, comes too late.
    if (!event.detail.requestConfig?.elt?.isConnected) event.detail.shouldSwap = false;
  });
  let hadFocus = false;
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.id === "room") hadFocus = Boolean(document.activeElement?.closest("#table, #choice, .tray, .hand, .typed"));
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target?.id !== "room") return;
    begin();
    if (hadFocus && board) board.element.focus({ preventScroll: true });
    find("#said").textContent = board?.element.dataset.caption ?? "";
  });
  document.addEventListener("htmx:afterSettle", draw);
  document.addEventListener("htmx:historyRestore", begin);
  document.addEventListener("DOMContentLoaded", begin);

  // The board

  function begin() {
    const element = find("#table");
    if (!element) { board = null; return; }
    const data = element.dataset;
    board = {
      element,
      over: element.querySelector(".over"),
      game: data.game,
      rows: Number(data.rows),
      columns: Number(data.columns),
      names: JSON.parse(data.names),
      pieces: JSON.parse(data.pieces),
      moves: JSON.parse(data.moves).map(([word, cells]) => ({ word, cells })),
      turned: data.turned !== undefined, // the board lies the other way round
      ranked: data.ranked !== undefined, // a model's numbers stand on it
      edit: data.edit !== undefined, // a position is put together on it
      taken: null, // a cell from which something moves, or { drop: letter }
    };
    board.blokus = board.game === "blokus_duo" && !board.edit;
    board.moving = board.game === "chess" || board.game === "shogi";
    if (cursor.game !== board.game) {
      cursor = { row: board.rows >> 1, column: board.columns >> 1, game: board.game };
    }
    board.over.replaceChildren();
    layer("under");
    layer("marks");
    const hits = layer("hits");
    const some = new Set(board.moves.flatMap((move) => move.cells));
    for (let cell = 0; cell < board.names.length; cell += 1) {
      const [row, column] = at(cell);
      const hit = shape("rect", { x: column * CELL, y: row * CELL, width: CELL, height: CELL, class: "hit" });
      hit.dataset.cell = board.names[cell];
      hit.dataset.index = cell;
      if (some.has(cell) || board.blokus || board.edit) hit.classList.add("can");
      hits.append(hit);
    }
    if (board.blokus) tray();
    for (const current of document.querySelectorAll(".move-list [aria-current]")) {
      const list = current.parentElement;
      list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
    draw();
  }

  const at = (cell) => [Math.floor(cell / board.columns), cell % board.columns];
  const cellAt = (row, column) => row * board.columns + column;

  function shape(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function layer(name) {
    const made = shape("g", { class: name });
    board.over.append(made);
    return made;
  }

  function square(cell, name, inset = 0) {
    const [row, column] = at(cell);
    return shape("rect", {
      x: column * CELL + inset, y: row * CELL + inset, width: CELL - 2 * inset, height: CELL - 2 * inset, class: name,
    });
  }

  function middle(cell) {
    const [row, column] = at(cell);
    return [(column + 0.5) * CELL, (row + 0.5) * CELL];
  }

  function targets() {
    if (board.taken === null) return [];
    return board.moves.filter((move) => (board.taken.drop
      ? move.word.startsWith(`${board.taken.drop}*`)
      : move.cells.length > 1 && move.cells[0] === board.taken));
  }

  /** Draw what changes: heat, arrows, what is taken and where it may go, the ghost, the cursor. */
  function draw() {
    if (!board?.element.isConnected) return;
    drawOpinion();
    const marks = board.over.querySelector(".marks");
    marks.replaceChildren();
    if (typeof board.taken === "number") marks.append(square(board.taken, "taken"));
    for (const move of targets()) {
      const [cx, cy] = middle(move.cells.at(-1));
      marks.append(shape("circle", { cx, cy, r: 7, class: "target" }));
    }
    if (board.blokus && piece) drawPiece(marks);
    marks.append(square(cellAt(cursor.row, cursor.column), "cursor", 2));
  }

  function drawOpinion() {
    const under = board.over.querySelector(".under");
    under.replaceChildren();
    const cards = [...document.querySelectorAll(".evaluation")];
    const chosen = Math.min(drawnCard, cards.length - 1);
    for (const button of document.querySelectorAll("[data-show]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.show) === chosen));
    }
    // An analysis stays while other positions are looked at; only its own has it drawn.
    const of = find(".analysis-of");
    const isHere = of?.dataset.place === board.element.dataset.place;
    if (of) {
      of.querySelector("button").hidden = isHere;
      find("#analysis").classList.toggle("away", !isHere);
    }
    if (!isHere || !cards[chosen]) return;
    const { heat, arrows } = seen(JSON.parse(cards[chosen].dataset.drawn));
    for (const [cell, share] of heat) {
      const glow = square(cell, "heat");
      glow.setAttribute("fill-opacity", (0.05 + 0.65 * share).toFixed(3));
      under.append(glow);
    }
    const total = heat.reduce((sum, [, share]) => sum + share, 0);
    for (const [cell, share] of board.moving || board.blokus || board.ranked ? [] : heat) {
      const part = Math.round((100 * share) / total);
      if (part < 1) continue;
      const [x, y] = middle(cell);
      const text = shape("text", { x, y: y + 5, class: "share" });
      text.textContent = part;
      under.append(text);
    }
    for (const [from, to, share] of arrows) under.append(arrow(from, to, share));
  }

  /** What is drawn on cells, whose numbers are those of a board that is not turned. */
  function seen({ heat, arrows }) {
    const cell = (number) => (board.turned ? board.names.length - 1 - number : number);
    return {
      heat: heat.map(([where, share]) => [cell(where), share]),
      arrows: arrows.map(([from, to, share]) => [cell(from), cell(to), share]),
    };
  }

  function arrow(from, to, share) {
    const [x1, y1] = middle(from);
    const [x2, y2] = middle(to);
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const [x, y] = [x2 - 14 * Math.cos(angle), y2 - 14 * Math.sin(angle)];
    const side = (turn) => `${x2 - 20 * Math.cos(angle + turn)} ${y2 - 20 * Math.sin(angle + turn)}`;
    return shape("path", {
      class: "arrow", opacity: (0.25 + 0.6 * share).toFixed(2), "stroke-width": (2 + 4 * share).toFixed(1),
      d: `M${x1} ${y1}L${x} ${y}M${x2} ${y2}L${side(0.5)}L${side(-0.5)}z`,
    });
  }

  // Playing

  function touch(cell) {
    if (!board || busy) return;
    [cursor.row, cursor.column] = at(cell);
    closeChoice();
    if (board.edit) { go([["on", board.names[cell]]]); return; }
    if (board.blokus) { place(); return; }
    if (!board.moving) {
      const found = board.moves.filter((move) => move.cells.length === 1 && move.cells[0] === cell);
      if (found.length) play(found[0].word); else say(`${describe(cell)}: no move there`);
      draw();
      return;
    }
    const there = targets().filter((move) => move.cells.at(-1) === cell);
    if (there.length > 1) { choose(there); return; }
    if (there.length === 1) { play(there[0].word); return; }
    const own = board.moves.some((move) => move.cells.length > 1 && move.cells[0] === cell);
    take(own && board.taken !== cell ? cell : null);
  }

  function take(what) {
    board.taken = what;
    for (const button of document.querySelectorAll("[data-drop]")) {
      button.setAttribute("aria-pressed", String(what?.drop === button.dataset.drop));
    }
    if (what !== null) say(`${what.drop ? `${what.drop} in hand` : describe(what)} taken, ${targets().length} moves`);
    draw();
  }

  function play(word) {
    board.taken = null;
    go([["play", word]]);
  }

  function choose(moves) {
    const choice = find("#choice");
    choice.replaceChildren(...moves.map((move) => {
      const button = document.createElement("button");
      button.type = "button";
      const mark = /[qrbn+]$/.exec(move.word.slice(4))?.[0] ?? "";
      button.textContent = PROMOTIONS[mark];
      button.dataset.word = move.word;
      return button;
    }));
    choice.hidden = false;
    choice.firstChild.focus();
  }

  function closeChoice() {
    const choice = find("#choice");
    if (choice) { choice.hidden = true; choice.replaceChildren(); }
  }

  function describe(cell) {
    return [board.names[cell], board.pieces[cell] || "empty"].join(" ");
  }

  function say(words) {
    find("#said").textContent = words;
  }

  // Blokus Duo: a piece in hand, turned and flipped, over the cursor

  const normal = (cells) => {
    const top = Math.min(...cells.map(([r]) => r));
    const left = Math.min(...cells.map(([, c]) => c));
    return cells.map(([r, c]) => [r - top, c - left]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  };
  const turned = (cells) => normal(cells.map(([r, c]) => [c, -r]));
  const flipped = (cells) => normal(cells.map(([r, c]) => [r, -c]));

  /** The cell of a piece that lies under the cursor: the one nearest to its middle. */
  function anchor(cells) {
    const mid = [0, 1].map((axis) => cells.reduce((sum, cell) => sum + cell[axis], 0) / cells.length);
    const far = ([r, c]) => Math.hypot(r - mid[0], c - mid[1]);
    return cells.reduce((best, cell) => (far(cell) < far(best) - 1e-9 ? cell : best));
  }

  function covered() {
    const [r0, c0] = anchor(piece.cells);
    return piece.cells.map(([r, c]) => [cursor.row + r - r0, cursor.column + c - c0]);
  }

  const key = (cells) => [...cells].sort((a, b) => a - b).join();

  function fitting() {
    const shapeOf = (cells) => JSON.stringify(normal(cells.map(at)));
    const wanted = JSON.stringify(normal(piece.cells));
    return board.moves.filter((move) => move.cells.length === piece.cells.length && shapeOf(move.cells) === wanted);
  }

  function drawPiece(marks) {
    const fits = fitting();
    const mine = normal(piece.cells);
    const [ar, ac] = anchor(mine);
    for (const move of fits) {
      const cells = move.cells.map(at);
      const top = Math.min(...cells.map(([r]) => r));
      const left = Math.min(...cells.map(([, c]) => c));
      const [cx, cy] = middle(cellAt(top + ar, left + ac));
      marks.append(shape("circle", { cx, cy, r: 5, class: "target" }));
    }
    const cells = covered().filter(([r, c]) => r >= 0 && c >= 0 && r < board.rows && c < board.columns);
    const legal = cells.length === piece.cells.length && fits.some((move) => key(move.cells) === key(cells.map(([r, c]) => cellAt(r, c))));
    for (const [r, c] of cells) marks.append(square(cellAt(r, c), legal ? "ghost" : "ghost not", 2));
  }

  function place() {
    if (!piece) { say("Choose a piece first"); draw(); return; }
    const cells = covered();
    const inside = cells.every(([r, c]) => r >= 0 && c >= 0 && r < board.rows && c < board.columns);
    const wanted = inside ? key(cells.map(([r, c]) => cellAt(r, c))) : "";
    const move = board.moves.find((each) => key(each.cells) === wanted);
    if (move) play(move.word); else say(`Piece ${piece.letter} does not fit at ${board.names[cellAt(cursor.row, cursor.column)]}`);
    draw();
  }

  function tray() {
    const buttons = [...document.querySelectorAll("[data-piece]")];
    for (const button of buttons) {
      const cells = JSON.parse(button.dataset.cells);
      const rows = Math.max(...cells.map(([r]) => r)) + 1;
      const columns = Math.max(...cells.map(([, c]) => c)) + 1;
      const middle = `${(columns - 5) / 2} ${(rows - 5) / 2} 5 5`;
      const picture = shape("svg", { viewBox: middle, "aria-hidden": "true" });
      for (const [r, c] of cells) picture.append(shape("rect", { x: c + 0.05, y: r + 0.05, width: 0.9, height: 0.9 }));
      button.replaceChildren(picture);
      button.setAttribute("aria-label", `Piece ${button.dataset.piece}, ${cells.length} squares`);
    }
    const still = buttons.find((button) => button.dataset.piece === piece?.letter && !button.disabled);
    pick(still ?? buttons.filter((button) => !button.disabled).at(-1), Boolean(still));
  }

  function pick(button, keep = false) {
    if (!button) { piece = null; draw(); return; }
    if (!keep) piece = { letter: button.dataset.piece, cells: JSON.parse(button.dataset.cells) };
    for (const each of document.querySelectorAll("[data-piece]")) {
      each.setAttribute("aria-pressed", String(each === button));
    }
    draw();
  }

  function nextPiece(step) {
    const buttons = [...document.querySelectorAll("[data-piece]:not([disabled])")];
    if (!buttons.length) return;
    const now = buttons.findIndex((button) => button.dataset.piece === piece?.letter);
    pick(buttons[(now + step + buttons.length) % buttons.length]);
    sayPiece();
  }

  function reshape(change) {
    if (!piece) return;
    piece = { ...piece, cells: change(piece.cells) };
    draw();
    sayPiece();
  }

  function sayPiece() {
    if (piece) say(`Piece ${piece.letter}, ${fitting().length} places`);
  }

  // Mouse and finger

  document.addEventListener("click", (event) => {
    if (!board) return;
    const hit = event.target.closest?.(".hit");
    if (hit) { touch(Number(hit.dataset.index)); return; }
    const button = event.target.closest?.("button");
    if (!button) return;
    if (button.dataset.word) { closeChoice(); play(button.dataset.word); }
    else if (button.dataset.drop) take(board.taken?.drop === button.dataset.drop ? null : { drop: button.dataset.drop });
    else if (button.dataset.piece) pick(button);
    else if (button.dataset.turn !== undefined) reshape(turned);
    else if (button.dataset.flip !== undefined) reshape(flipped);
    else if (button.dataset.show !== undefined) { drawnCard = Number(button.dataset.show); draw(); }
  });
  document.addEventListener("pointermove", (event) => {
    if (!board?.blokus || event.pointerType === "touch") return;
    const hit = event.target.closest?.(".hit");
    if (!hit) return;
    [cursor.row, cursor.column] = at(Number(hit.dataset.index));
    draw();
  });

  // Keys, while the board has the focus

  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const press = (selector) => find(selector)?.click();
  const step = (words) => press(`.steps [aria-label="${words}"]:not([disabled])`);
  const KEYS = {
    Enter: () => touch(cellAt(cursor.row, cursor.column)),
    " ": () => touch(cellAt(cursor.row, cursor.column)),
    Escape: () => take(null),
    u: () => press('[name="undo"]:not([disabled])'),
    PageUp: () => step("Back one move"),
    PageDown: () => step("On one move"),
    Home: () => step("To the start"),
    End: () => step("To the end"),
    p: () => press('[data-offered="pass"]'),
    m: () => find("#typed").focus(),
    a: () => press("#analyze"),
    s: () => press("#stop"),
    r: () => reshape(turned),
    f: () => reshape(flipped),
    t: () => press("button#turn"),
    ",": () => nextPiece(-1),
    ".": () => nextPiece(1),
  };
  const here = () => cellAt(cursor.row, cursor.column);
  const emptied = () => go([["on", board.names[here()]], ["empty", "1"]]);
  const editKey = { Enter: KEYS.Enter, " ": KEYS[" "], Delete: emptied, Backspace: emptied };
  /** A letter stands for its piece among those that can be put on the board. */
  function chooses(letter) {
    const radio = [...document.querySelectorAll(".palette input")].find((each) => each.value === letter);
    return radio && (() => {
      radio.checked = true;
      say(`${radio.parentElement.title} chosen`);
    });
  }
  document.addEventListener("keydown", (event) => {
    if (!board || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" && event.target.closest?.("#choice")) {
      closeChoice();
      take(null);
      board.element.focus();
      return;
    }
    if (event.target !== board.element) return;
    const way = ARROWS[event.key];
    const act = (board.edit ? editKey : KEYS)[event.key] ?? (board.edit ? chooses(event.key) : undefined);
    if (way) {
      cursor.row = Math.min(board.rows - 1, Math.max(0, cursor.row + way[0]));
      cursor.column = Math.min(board.columns - 1, Math.max(0, cursor.column + way[1]));
      draw();
      say(describe(cellAt(cursor.row, cursor.column)));
    } else if (act) {
      act();
    } else if (/^[1-7]$/.test(event.key) && board.game === "shogi") {
      document.querySelectorAll("[data-drop]")[Number(event.key) - 1]?.click();
    } else {
      return;
    }
    event.preventDefault();
  });
})();
