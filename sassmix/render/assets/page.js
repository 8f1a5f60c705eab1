// Sorts and searches tables and draws the charts from them. It writes text only, never markup.
"use strict";
document.documentElement.classList.add("js");
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

const text = (cell) => cell.dataset.v ?? cell.textContent.trim();
const number = (value) => (value === "" ? NaN : Number(value.replace(/[,%]/g, "")));

function compare(a, b) {
  const [x, y] = [number(a), number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
}

function sort(table, column, head) {
  const down = head.ariaSort ? head.ariaSort === "ascending" : head.classList.contains("n");
  for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
  head.ariaSort = down ? "descending" : "ascending";
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [text(row.cells[column]), row]);
  rows.sort((a, b) => compare(a[0], b[0]) * (down ? -1 : 1));
  body.append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  all("thead th", table).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, column, head));
    head.append(button);
  });
}

function makeSearchable(table) {
  const box = document.createElement("p");
  const input = document.createElement("input");
  const found = document.createElement("output");
  box.className = "search";
  input.type = "search";
  input.placeholder = input.ariaLabel = table.dataset.search;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    const rows = all("tbody tr", table);
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    const left = rows.filter((row) => !row.hidden).length;
    found.value = wanted ? `${left.toLocaleString("en")} ${left === 1 ? "row" : "rows"}` : "";
  });
  box.append(input, found);
  table.parentElement.before(box);
}

const charts = new Map();
const style = (element, name) => getComputedStyle(element).getPropertyValue(name);

// The rows of the mix of one kernel, by the facet that is chosen.
function mix(body) {
  const by = document.querySelector("input[name=by]:checked").value;
  const rows = all(`table[data-by="${by}"] tbody tr`, body).map((row) => ({
    name: row.cells[0].textContent,
    count: number(row.cells[1].textContent),
    share: row.cells[2].textContent,
    colour: style(row.querySelector("i"), "background-color"),
  }));
  return rows.filter((row) => row.count > 0);
}

// One dataset for each value of the facet, the most frequent first, with its row in each kernel.
function datasets(mixes) {
  const found = new Map();
  mixes.forEach((rows, kernel) => {
    const total = rows.reduce((sum, row) => sum + row.count, 0);
    for (const row of rows) {
      const set = found.get(row.name) ?? { label: row.name, data: Array(mixes.length).fill(0), rows: [], sum: 0 };
      set.data[kernel] = (100 * row.count) / total;
      set.rows[kernel] = row;
      set.sum += set.data[kernel];
      set.backgroundColor = set.hoverBackgroundColor = row.colour;
      found.set(row.name, set);
    }
  });
  return [...found.values()].sort((a, b) => b.sum - a.sum);
}

function draw(canvas, bodies) {
  const mixes = bodies.map(mix);
  const one = bodies.length === 1;
  const names = bodies.map((body) => body.parentElement.querySelector("h3").textContent);
  const what = mixes[0].map((row) => `${row.name} ${row.share}`).join(", ");
  canvas.ariaLabel = one
    ? `Stacked bar of the mix: ${what}`
    : `Stacked bars of the mixes of ${bodies.length} kernels; their tables have the numbers`;
  const common = { borderColor: style(document.body, "background-color"), borderWidth: { right: 1 }, borderSkipped: false };
  const filled = { barPercentage: one ? 1 : 0.8, categoryPercentage: 1 };
  const short = (name) => (name.length > 28 ? `${name.slice(0, 27)}\u2026` : name);
  charts.get(canvas)?.chart.destroy();
  const chart = new Chart(canvas, {
    type: "bar",
    data: { labels: names.map(short), datasets: datasets(mixes).map((set) => ({ ...set, ...common, ...filled })) },
    options: {
      indexAxis: "y",
      animation: false,
      maintainAspectRatio: false,
      scales: {
        x: { stacked: true, display: false, max: 100 },
        y: { stacked: true, display: !one, grid: { display: false }, ticks: { autoSkip: false, color: style(canvas, "color") } },
      },
      plugins: {
        legend: { display: !one, position: "bottom", align: "start", labels: { boxWidth: 10, boxHeight: 10, color: style(canvas, "color") } },
        tooltip: {
          callbacks: {
            title: ([item]) => (one ? "" : names[item.dataIndex]),
            label: ({ dataset, dataIndex }) => {
              const row = dataset.rows[dataIndex];
              return ` ${row.name}: ${row.count.toLocaleString("en")} (${row.share})`;
            },
          },
        },
      },
    },
  });
  charts.set(canvas, { chart, redraw: () => draw(canvas, bodies) });
}

function drawOverview(canvas) {
  const bodies = all("details.kernel .body").slice(0, Number(canvas.dataset.most));
  canvas.parentElement.style.height = `${22 * bodies.length + 130}px`;
  draw(canvas, bodies);
}

const redraw = () => [...charts.values()].forEach((drawn) => drawn.redraw());

all("table.sortable").forEach(makeSortable);
all("table[data-search]").forEach(makeSearchable);
all("canvas[data-most]").forEach(drawOverview);
for (const kernel of all("details.kernel")) {
  const show = () => kernel.open && draw(kernel.querySelector("canvas"), [kernel.querySelector(".body")]);
  kernel.addEventListener("toggle", show);
  show();
}
for (const input of all("header input")) input.addEventListener("change", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => charts.forEach(({ chart }) => chart.resize(640, chart.height)));
addEventListener("afterprint", () => charts.forEach(({ chart }) => chart.resize()));
