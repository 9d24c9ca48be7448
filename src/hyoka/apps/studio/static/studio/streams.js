// SPDX-License-Identifier: Apache-2.0
// Server-sent events, and requests that get no answer.
import { tell } from "./tell.js";

document.addEventListener("htmx:sendError", () => {
  tell("The studio does not answer. Is it still running? Start it again with: hyoka studio");
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
