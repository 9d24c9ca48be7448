// Looks through SEARCH_INDEX (search-index.js): rows of address, page, heading and text.
(() => {
  const form = document.querySelector(".search"), input = form.querySelector("input");
  const list = form.querySelector(".found");
  const MOST = 10, AROUND = 60;

  // How well a row answers: every word must be somewhere; in a heading it counts for more.
  const worth = ([, page, heading, text], words) => {
    let sum = 0;
    for (const word of words) {
      const there = [[page, 8], [heading, 8], [text, 1]].filter(([where]) => where.toLowerCase().includes(word));
      if (there.length === 0) return 0;
      for (const [, weight] of there) sum += weight;
    }
    return sum;
  };

  const excerpt = (text, word) => {
    const at = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);
    const end = at + 2 * AROUND + word.length;
    return (at > 0 ? "… " : "") + text.slice(at, end) + (end < text.length ? " …" : "");
  };

  const row = ([address, page, heading, text], words) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = document.documentElement.dataset.top + address;
    link.textContent = heading ? `${page}: ${heading}` : page;
    const found = document.createElement("small");
    found.textContent = excerpt(text, words[0]);
    item.append(link, found);
    return item;
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = words.length === 0 ? [] : SEARCH_INDEX
      .map((entry) => [worth(entry, words), entry])
      .filter(([sum]) => sum > 0)
      .sort(([one], [other]) => other - one)
      .slice(0, MOST)
      .map(([, entry]) => row(entry, words));
    if (words.length > 0 && rows.length === 0) {
      const none = document.createElement("li");
      none.textContent = "Nothing found.";
      rows.push(none);
    }
    list.replaceChildren(...rows);
    list.hidden = rows.length === 0;
  };

  input.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) list.hidden = true;
  });
  input.addEventListener("focus", () => { list.hidden = list.children.length === 0; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") list.hidden = true;
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  form.hidden = false;
})();
