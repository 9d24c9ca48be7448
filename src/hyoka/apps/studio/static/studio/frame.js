// SPDX-License-Identifier: Apache-2.0
// @ts-check
// The frame of all pages: light or dark, the tab of the present room, drawers, the width of charts.

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element) || !event.target.closest("[data-switch-theme]")) return;
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `hyoka-theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
});

// Charts are drawn on the server, which has to know how wide they may be.
function storeWidth() {
  const main = document.getElementById("main");
  if (!main) return;
  const { paddingLeft, paddingRight } = getComputedStyle(main);
  const width = Math.floor(main.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight));
  document.cookie = `hyoka-width=${width}; path=/; max-age=31536000; samesite=strict`;
}
storeWidth();
addEventListener("resize", storeWidth);

// On a phone the tabs scroll: the present one is in view.
const tabs = document.querySelector(".rooms");
const present = tabs?.querySelector("[aria-current]");
if (tabs instanceof HTMLElement && present instanceof HTMLElement) {
  tabs.scrollLeft = present.offsetLeft - (tabs.clientWidth - present.offsetWidth) / 2 - tabs.offsetLeft;
}

// A button with data-open="ID" opens <dialog class="drawer" id="ID">; Escape, a button in it with
// data-close and a click beside it close it.
document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const opener = event.target.closest("[data-open]");
  if (opener instanceof HTMLElement) {
    const drawer = document.getElementById(opener.dataset.open ?? "");
    if (drawer instanceof HTMLDialogElement && !drawer.open) drawer.showModal();
  }
  const beside = event.target.matches("dialog.drawer");
  if (beside || event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
});
