// SPDX-License-Identifier: Apache-2.0
// What all rooms share: dark or light, tips on charts, and words about requests that fail.
"use strict";

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-switch-theme]")) return;
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `hyoka-theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
});

// Charts are drawn on the server, which has to know how wide they may be.
function tellWidth() {
  const main = document.getElementById("main");
  if (!main) return;
  const { paddingLeft, paddingRight } = getComputedStyle(main);
  const width = Math.floor(main.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
  document.cookie = `hyoka-width=${width}; path=/; max-age=31536000; samesite=strict`;
}
tellWidth();
addEventListener("resize", tellWidth);

/** Say something to everybody, also to who hears pages. */
function tell(words) {
  const news = document.getElementById("news");
  news.textContent = words;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { news.textContent = ""; }, 8000);
}
window.tell = tell;

document.addEventListener("htmx:sendError", () => {
  tell("The studio does not answer. Is it still running? Start it again with: hyoka studio");
});

// Marks of charts name what they show: the pointer's tip says it.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.addEventListener("DOMContentLoaded", () => document.body.append(tip));
document.addEventListener("pointermove", (event) => {
  const mark = event.target.closest?.(".chart [aria-label]:not(svg)");
  tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.getAttribute("aria-label").split("; ").join("\n");
  const { offsetWidth: width, offsetHeight: height } = tip;
  const x = Math.min(event.clientX + 14, innerWidth - width - 8);
  const y = event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 14;
  tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
});

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

// A file of records that is dropped anywhere becomes a study.
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

// What stands there already is left alone: a button must not be exchanged under somebody's finger.
document.addEventListener("htmx:sseBeforeMessage", (event) => {
  const said = document.createElement("template");
  said.innerHTML = event.detail.data;
  if (said.innerHTML.trim() === event.target.innerHTML.trim()) event.preventDefault();
});

// A log stays at its end while it grows, or where somebody reads.
const readAt = new WeakMap();
const logIn = (event) => event.target.querySelector?.("pre.log");
document.addEventListener("htmx:sseBeforeMessage", (event) => {
  const log = logIn(event);
  if (!log) return;
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 24;
  readAt.set(event.target, atEnd ? Infinity : log.scrollTop);
});
document.addEventListener("htmx:sseMessage", (event) => {
  const log = logIn(event);
  if (log) log.scrollTop = Math.min(readAt.get(event.target) ?? Infinity, log.scrollHeight);
});

// A browser keeps few connections to one host: windows that nobody looks at give theirs up.
class Source {
  #url; #inner; #listeners = [];
  #look = () => {
    if (document.hidden) this.#inner.close();
    else if (this.#inner.readyState === EventSource.CLOSED) this.#connect();
  };
  onopen = null;
  onerror = null;

  constructor(url) {
    this.#url = url;
    document.addEventListener("visibilitychange", this.#look);
    this.#connect();
  }

  #connect() {
    this.#inner = new EventSource(this.#url);
    this.#inner.onopen = (event) => this.onopen?.(event);
    this.#inner.onerror = (event) => this.onerror?.(event);
    for (const [name, listener] of this.#listeners) this.#inner.addEventListener(name, listener);
  }

  get readyState() { return this.#inner.readyState; }

  addEventListener(name, listener) {
    this.#listeners.push([name, listener]);
    this.#inner.addEventListener(name, listener);
  }

  removeEventListener(name, listener) {
    this.#listeners = this.#listeners.filter((each) => each[0] !== name || each[1] !== listener);
    this.#inner.removeEventListener(name, listener);
  }

  close() {
    document.removeEventListener("visibilitychange", this.#look);
    this.#inner.close();
  }
}
if (window.htmx) htmx.createEventSource = (url) => new Source(url);

document.addEventListener("htmx:sseError", () => {
  if (!document.hidden) tell("The studio does not answer just now; this page goes on when it does.");
});
