// Draws the charts. Their colours are CSS variables: light, dark and paper need no redrawing.
// `ast` has Vega interpret its expressions, so that the page's policy need not allow eval.
const options = { actions: false, ast: true, defaultStyle: false, renderer: "svg", tooltip: false };
for (const box of document.querySelectorAll("[data-chart]")) {
  const spec = JSON.parse(document.getElementById(box.dataset.chart).textContent);
  vegaEmbed(box, spec, options).catch((error) => {
    box.textContent = "This chart could not be drawn: " + error.message;
  });
}
