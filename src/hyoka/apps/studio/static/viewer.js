// SPDX-License-Identifier: Apache-2.0
// A game, ply by ply: keys, clicks on the lines, and automatic playback.
"use strict";

(() => {
  const place = () => document.querySelector("[data-place]");
  let playing = 0;

  /** Show another ply without leaving the page; its address is kept. */
  async function go(address) {
    const answer = await fetch(address, { headers: { "HX-Request": "true" } });
    const text = await answer.text();
    const focused = document.activeElement?.dataset?.key;
    document.getElementById("place").innerHTML = text;
    if (!answer.ok) { stop(); return; }
    history.replaceState(null, "", address);
    if (focused) document.querySelector(`[data-key="${focused}"]`)?.focus();
    mark();
  }

  /** Point out where the lines are at this ply. */
  function mark() {
    const ply = place()?.dataset.place;
    for (const mark of document.querySelectorAll("[data-lines] .chart [data-to]")) {
      const to = new URL(mark.dataset.to, location.href);
      mark.classList.toggle("here", to.searchParams.get("ply") === ply);
    }
    for (const link of document.querySelectorAll(".moves a")) {
      if (link.dataset.ply === ply) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const button = document.querySelector("[data-play]");
    if (button) {
      button.setAttribute("aria-pressed", String(playing !== 0));
      button.textContent = playing ? "Stop" : "Play";
    }
  }

  function stop() {
    clearTimeout(playing);
    playing = 0;
    mark();
  }

  function play() {
    const { place: ply, last } = place().dataset;
    if (Number(ply) >= Number(last)) { stop(); return; }
    playing = setTimeout(async () => {
      await go(document.querySelector('[data-key="ArrowRight"]').getAttribute("href"));
      if (playing) play();
    }, 500);
    mark();
  }

  document.addEventListener("click", (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (event.target.closest("[data-play]")) {
      if (playing) stop(); else play();
      return;
    }
    const link = event.target.closest("[data-place] a[data-key], [data-lines] .chart [data-to], .moves a");
    if (!link) return;
    event.preventDefault();
    go(link.dataset.to ?? link.getAttribute("href"));
  });

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select, .scroll")) return;
    if (event.key === " " && !event.target.closest("a, button, summary")) {
      event.preventDefault();
      if (playing) stop(); else play();
      return;
    }
    const link = document.querySelector(`[data-place] a[data-key="${CSS.escape(event.key)}"]`);
    if (!link) return;
    event.preventDefault();
    if (link.getAttribute("aria-disabled") !== "true") go(link.getAttribute("href"));
  });

  document.addEventListener("DOMContentLoaded", mark);
})();
