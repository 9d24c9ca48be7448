// Draws the charts, and shows the boards that a reader picks in them.

// Colors are CSS variables: light, dark and paper need no redrawing. `ast` has Vega interpret its
// expressions, so that the page's policy need not allow eval.
const options = {
  actions: false, ast: true, config: { aria: false }, defaultStyle: false, renderer: "svg",
  tooltip: (_, pointer, __, values) => tell(values, pointer),
};

// How far from a mark a click or a tap still counts, in the chart's pixels.
const reach = 32;

const tip = document.createElement("dl");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.querySelector("main").append(tip);

// Shows the values of the mark under the pointer, by their names, as plain text.
function tell(values, pointer) {
  tip.hidden = !values;
  if (!values) return;
  const named = typeof values === "object" ? Object.entries(values) : [["", values]];
  tip.replaceChildren(...named.flatMap(([name, value]) => {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, text.textContent] = [name, value];
    return [term, text];
  }));
  // Beside the pointer, and inside the window.
  const place = (at, size, room) => {
    const after = at + 14;
    return Math.max(4, after + size <= room - 4 ? after : Math.min(at - 14, room - 4) - size);
  };
  const { width, height } = tip.getBoundingClientRect();
  const x = place(pointer.clientX, width, document.documentElement.clientWidth);
  const y = place(pointer.clientY, height, window.innerHeight);
  tip.style.transform = `translate(${x}px, ${y}px)`;
}

// Draws a chart as wide as its box, now and whenever the box becomes wider or narrower, and hands
// it to `use`. A box inside what is folded away has no width: its chart is drawn when it is opened.
function keepDrawn(box, use) {
  let chart, wait, width = 0, drawing = Promise.resolve();
  const redraw = async () => {
    if (!box.clientWidth || box.clientWidth === width) return;
    width = box.clientWidth;
    // While there is nothing in the box, the page must not jump.
    box.style.minHeight = `${box.offsetHeight}px`;
    chart?.finalize();
    chart = await draw(box);
    box.style.minHeight = "";
    if (chart) use(chart);
  };
  new ResizeObserver(() => {
    clearTimeout(wait);
    wait = setTimeout(() => { drawing = drawing.then(redraw); }, width ? 150 : 0);
  }).observe(box);
}

// How many columns a legend has is for pictures that stay as wide as they are; a page tries what fits.
const withoutColumns = (name, value) =>
  name === "legend" && value?.columns ? { ...value, columns: undefined } : value;

async function draw(box) {
  const spec = JSON.parse(document.getElementById(box.dataset.chart).textContent, withoutColumns);
  try {
    // Vega puts all entries of a legend into one row by default.
    for (const columns of [undefined, 4, 3, 2, 1]) {
      spec.config.legend.columns = columns;
      const { view, vgSpec, finalize } = await vegaEmbed(box, spec, options);
      const signals = new Set((vgSpec.signals || []).map((signal) => signal.name));
      if (spec.usermeta?.fit) {
        await fit(box, view, signals.has("childWidth") ? "childWidth" : "width");
      }
      if (columns !== 1 && isTooWide(box)) {
        finalize();
        continue;
      }
      // One picture with a label; Vega's own for each mark would be read out by the hundred.
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", spec.description);
      box.removeAttribute("aria-roledescription");
      box.querySelector("svg").setAttribute("aria-hidden", "true");
      return { view, signals, finalize };
    }
  } catch (error) {
    box.textContent = "This chart could not be drawn: " + error.message;
  }
}

const drawnWidth = (box) => Number(box.querySelector("svg").getAttribute("width"));

// Makes charts above one another as wide as the page; Vega-Lite does that for single ones only.
async function fit(box, view, width) {
  const room = box.clientWidth;
  // What stands beside the plots depends on their width: come nearer step by step.
  for (let step = 0; step < 4 && Math.abs(room - drawnWidth(box)) > 1; step++) {
    const beside = drawnWidth(box) - view.signal(width);
    await view.signal(width, Math.max(80, room - beside)).runAsync();
  }
}

function isTooWide(box) {
  const legends = [...box.querySelectorAll(".role-legend")];
  const edge = box.getBoundingClientRect().right + 1;
  return drawnWidth(box) > box.clientWidth + 1
    || legends.some((legend) => legend.getBoundingClientRect().right > edge);
}

// The pick of the mark nearest to the pointer, if it is one of `picks`.
function pickAt(view, pointer, picks) {
  const drawing = view.container().querySelector("svg > g");
  const at = new DOMPoint(pointer.clientX, pointer.clientY)
    .matrixTransform(drawing.getScreenCTM().inverse());
  let nearest = { gap: reach, off: Infinity, pick: undefined };
  const look = (marks, x, y) => {
    for (const mark of marks) {
      for (const item of mark.items) {
        if (mark.marktype === "group") look(item.items, x - (item.x || 0), y - (item.y || 0));
        const pick = item.datum?.pick;
        if (!picks.has(pick)) continue;
        // The points of a line or an area have no bounds of their own.
        const isPath = ["area", "line", "trail"].includes(mark.marktype);
        const { x1, x2, y1, y2 } = isPath
          ? { x1: item.x, x2: item.x, y1: item.y, y2: item.y2 ?? item.y }
          : item.bounds;
        const gap = Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2));
        const off = Math.hypot(x - (x1 + x2) / 2, y - (y1 + y2) / 2);
        if (gap < nearest.gap || (gap === nearest.gap && off < nearest.off)) {
          nearest = { gap, off, pick };
        }
      }
    }
  };
  look([view.scenegraph().root], at.x, at.y);
  return nearest.pick;
}

// Boards come squeezed: hundreds of them are as large as one page may be.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Shows the boards of the pick that a reader clicks in the chart or chooses from the list; gives
// what is to be done with the chart each time it is drawn.
function explorer(box) {
  const list = box.querySelector("select");
  const { keys, packed } = JSON.parse(box.querySelector(":scope > script").textContent);
  const place = new Map(keys.map((key, index) => [key, index]));
  const unpacked = unpack(packed);
  let chart;
  const mark = () => {
    if (!chart?.signals.has("picked")) return;
    chart.view.signal("picked", keys[list.selectedIndex]).runAsync();
  };
  const show = async (index) => {
    list.selectedIndex = index;
    mark();
    const shown = box.querySelector(".picked");
    try {
      shown.innerHTML = (await unpacked)[index];
    } catch (error) {
      shown.textContent = "The boards could not be shown: " + error.message;
    }
  };
  const step = (by) => show((list.selectedIndex + by + keys.length) % keys.length);
  const [previous, next] = box.querySelectorAll("button");
  list.addEventListener("change", () => show(list.selectedIndex));
  previous.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));
  box.querySelector(".choice").hidden = false;
  return (drawn) => {
    chart = drawn;
    mark();
    chart.view.addEventListener("click", (event) => {
      const pick = pickAt(chart.view, event, place);
      if (pick !== undefined) show(place.get(pick));
    });
  };
}

for (const box of document.querySelectorAll("[data-chart]")) {
  const around = box.closest(".explorer");
  keepDrawn(box, around ? explorer(around) : () => {});
}
