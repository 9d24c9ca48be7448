// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Server-sent events, and requests that get no answer.
import { tell } from "./tell.js";

document.addEventListener("htmx:sendError", () => {
  tell("The studio does not answer. Is it still running? Start it again with: hyoka studio");
});

document.addEventListener("htmx:sseError", () => {
  if (!document.hidden) tell("The studio does not answer just now; this page goes on when it does.");
});

// What stands there already is left alone: a button must not be exchanged under somebody's finger.
document.addEventListener("htmx:sseBeforeMessage", (event) => {
  if (!(event instanceof CustomEvent) || !(event.target instanceof Element)) return;
  const message = document.createElement("template");
  message.innerHTML = event.detail.data;
  if (message.innerHTML.trim() === event.target.innerHTML.trim()) event.preventDefault();
});

// A log stays at its end while it grows, or where somebody reads.

/** @type {WeakMap<EventTarget, number>} */
const readAt = new WeakMap();

/**
 * The log in the target of an event.
 * @param {Event} event
 */
const logIn = (event) =>
  event.target instanceof Element ? event.target.querySelector("pre.log") : null;

document.addEventListener("htmx:sseBeforeMessage", (event) => {
  const log = logIn(event);
  if (!log || !event.target) return;
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 24;
  readAt.set(event.target, atEnd ? Infinity : log.scrollTop);
});
document.addEventListener("htmx:sseMessage", (event) => {
  const log = logIn(event);
  if (!log || !event.target) return;
  log.scrollTop = Math.min(readAt.get(event.target) ?? Infinity, log.scrollHeight);
});

/**
 * An EventSource that is closed while nobody looks at the window: a browser keeps few connections
 * to one host.
 */
class VisibleSource {
  /** @type {string} */ #url;
  /** @type {EventSource} */ #inner;
  /** @type {[string, EventListener][]} */ #listeners = [];
  /** @type {((event: Event) => void) | null} */ onopen = null;
  /** @type {((event: Event) => void) | null} */ onerror = null;
  #look = () => {
    if (document.hidden) this.#inner.close();
    else if (this.#inner.readyState === EventSource.CLOSED) this.#inner = this.#connect();
  };

  /** @param {string} url */
  constructor(url) {
    this.#url = url;
    this.#inner = this.#connect();
    document.addEventListener("visibilitychange", this.#look);
  }

  #connect() {
    const source = new EventSource(this.#url);
    source.onopen = (event) => this.onopen?.(event);
    source.onerror = (event) => this.onerror?.(event);
    for (const [name, listener] of this.#listeners) source.addEventListener(name, listener);
    return source;
  }

  get readyState() { return this.#inner.readyState; }

  /** @param {string} name @param {EventListener} listener */
  addEventListener(name, listener) {
    this.#listeners.push([name, listener]);
    this.#inner.addEventListener(name, listener);
  }

  /** @param {string} name @param {EventListener} listener */
  removeEventListener(name, listener) {
    this.#listeners = this.#listeners.filter((each) => each[0] !== name || each[1] !== listener);
    this.#inner.removeEventListener(name, listener);
  }

  close() {
    document.removeEventListener("visibilitychange", this.#look);
    this.#inner.close();
  }
}

// @ts-expect-error htmx is a classic script without types.
const { htmx } = window;
if (htmx) htmx.createEventSource = (/** @type {string} */ url) => new VisibleSource(url);
