// The table of contents: open beside a wide page, folded on a phone, with the present section marked.
{
  const wide = matchMedia("(min-width: 60rem)");
  const contents = document.querySelector(".contents details") ?? document.createElement("details");
  const fold = () => { contents.open = wide.matches; };
  fold();
  wide.addEventListener("change", fold);
  contents.addEventListener("click", (event) => {
    if (!wide.matches && event.target.closest("a")) contents.open = false;
  });

  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const headings = [...document.querySelectorAll("main h2")].filter((heading) => links.has(heading.id));
  const mark = () => {
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < 160);
    const present = above.at(-1) ?? headings[0];
    for (const [name, link] of links) {
      if (name === present?.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
}
