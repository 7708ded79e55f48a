const LETTER = 7.2, SYMBOL = 46, AXIS = 64;
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const find = (spec, get) => get(spec) ?? (spec.layer ?? []).map((one) => find(one, get)).find((one) => one);
for (const box of document.querySelectorAll(".chart")) {
  const spec = JSON.parse(box.nextElementSibling.textContent);
  const config = structuredClone(LOOK);
  if (box.classList.contains("fits")) {
    const names = find(spec, (one) => one.encoding?.color?.scale?.domain) ?? [];
    const longest = Math.max(1, ...names.map((name) => name.length));
    const room = box.clientWidth - AXIS;
    config.legend.columns = Math.max(1, Math.floor(room / (longest * LETTER + SYMBOL)));
    config.legend.labelLimit = room - SYMBOL;
    spec.width = "container";
    spec.autosize = { type: "fit-x", contains: "padding" };
  }
  spec.config = config;
  const actions = { export: true, source: false, compiled: false, editor: false };
  vegaEmbed(box, spec, { renderer: "svg", actions, logLevel: 1, tooltip: { theme: dark ? "dark" : "light" } });
}
for (const field of document.querySelectorAll("input[type=search]")) {
  const rows = field.nextElementSibling.querySelectorAll("tbody tr");
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
for (const head of document.querySelectorAll(".sorts th")) {
  head.tabIndex = 0;
  head.addEventListener("keydown", (event) => event.key === "Enter" && head.click());
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0], place = head.cellIndex, way = head.dataset.way === "1" ? -1 : 1;
    head.dataset.way = way;
    const read = (row) => row.cells[place].textContent, number = (text) => parseFloat(text.replace(/,/g, ""));
    const compare = (a, b) => (number(a) - number(b) || a.localeCompare(b, undefined, { numeric: true })) * way;
    body.append(...[...body.rows].sort((a, b) => compare(read(a), read(b))));
  });
}
