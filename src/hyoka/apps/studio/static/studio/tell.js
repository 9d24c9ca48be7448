// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Short messages for everybody, also for people who hear pages.

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Show a message for eight seconds.
 * @param {string} words
 */
export function tell(words) {
  const news = document.getElementById("news");
  if (!news) return;
  news.textContent = words;
  clearTimeout(timer);
  timer = setTimeout(() => { news.textContent = ""; }, 8000);
}
