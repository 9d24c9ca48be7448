// SPDX-License-Identifier: Apache-2.0
// @ts-check
// Marks of charts name what they show: the pointer's tip says it.

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.addEventListener("DOMContentLoaded", () => document.body.append(tip));

document.addEventListener("pointermove", (event) => {
  const mark = event.target instanceof Element
    ? event.target.closest(".chart [aria-label]:not(svg)")
    : null;
  tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = (mark.getAttribute("aria-label") ?? "").split("; ").join("\n");
  const { offsetWidth: width, offsetHeight: height } = tip;
  const x = Math.min(event.clientX + 14, innerWidth - width - 8);
  const y = event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 14;
  tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
});
