// Flow-pattern maps. Cells are told by panel, row, column, as in the file; row 0 is the lowest.
// #cell=PANEL,ROW,COLUMN in the address chooses one of the first map, #map=2&cell=... one of the second.

const CLASS_COLOURS = {"-1": "#222222", 0: "#F0E442", 1: "#56B4E9", 2: "#0072B2"};
const CLASS_NAMES = {"-1": "not finite", 0: "A0 moves", 1: "A1 held", 2: "A2 wave"};
const isClass = (field) => field.name === "class" || field.name === "kmeans_class";
const maps = [];

function classColours(values) {
  const low = values.some((value) => value < 0) ? -1 : 0;
  const kinds = [-1, 0, 1, 2].filter((kind) => kind >= low);
  const colorscale = kinds.flatMap((kind, i) => [i, i + 1].map((end) => [end / kinds.length, CLASS_COLOURS[kind]]));
  const ticktext = kinds.map((kind) => CLASS_NAMES[kind]);
  return {colorscale, zmin: low - 0.5, zmax: 2.5, ticks: {tickvals: kinds, ticktext}};
}

function decades(values) {
  const known = values.filter((value) => value > 0).map(Math.log10);
  const [low, high] = known.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  const step = Math.ceil((high - low) / 7) || 1;
  const at = [];
  for (let decade = Math.ceil(low); decade <= high; decade += step) at.push(decade);
  const ticktext = at.map((decade) => `10<sup>${String(decade).replace("-", "−")}</sup>`);
  return {colorscale: "Cividis", zmin: low, zmax: high, ticks: {tickvals: at, ticktext}};
}

// Cells are drawn around their values: both ends of an axis are half a cell beyond the last ones.
function edges(values) {
  const last = values.length - 1;
  const half = last > 0 ? (values[last] - values[0]) / last / 2 : 0.5;
  return [values[0] - half, values[last] + half];
}

function nearest(values, wanted) {
  return values.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? i : best), 0);
}

// As many as the steps of the encoding leave, four at most; whole numbers (steps of 1) are exact.
function digitsOf(field, value) {
  if (field.step === 1) return 6;
  if (field.wide) return field.step * Math.LN10 < 1e-3 ? 4 : 3;
  return Math.min(4, Math.max(1, 1 + Math.floor(Math.log10(Math.abs(value) / field.step || 1))));
}

class FlowMap {
  constructor(name, data, arrays) {
    Object.assign(this, {name, data, arrays, width: data.x.values.length, height: data.y.values.length});
    this.chosen = {panel: 0, row: this.height >> 1, column: this.width >> 1};
    this.number = maps.push(this);
  }
  element(part) { return byId(`${this.name}-${part}`); }
  field() { return Number(this.element("field").value); }
  value(field, {panel, row, column}) { return this.arrays[field][(panel * this.height + row) * this.width + column]; }
  index(fieldName) { return this.data.fields.findIndex((field) => field.name === fieldName); }

  rows(array) {
    const start = this.chosen.panel * this.height * this.width;
    const at = (row) => start + row * this.width;
    return Array.from({length: this.height}, (_, row) => array.subarray(at(row), at(row + 1)));
  }

  heatmap() {
    const field = this.data.fields[this.field()];
    const array = this.arrays[this.field()];
    const look = isClass(field) ? classColours(array) : field.wide ? decades(array) : {colorscale: "Cividis", ticks: {}};
    const shown = field.wide ? array.map((value) => (value > 0 ? Math.log10(value) : NaN)) : array;
    const values = this.rows(array);
    const title = {text: isClass(field) ? "" : plain(field.label), side: narrow() ? "top" : "right"};
    const bar = narrow() ? {orientation: "h", y: -0.22, yanchor: "top", thickness: 12, len: 1} : {thickness: 14, len: 1};
    const {x, y} = this.data;
    return {type: "heatmap", x: x.values, y: y.values, z: this.rows(shown), customdata: isClass(field)
              ? values.map((row) => Array.from(row, (value) => CLASS_NAMES[value])) : values,
            zsmooth: false, colorscale: look.colorscale, zmin: look.zmin, zmax: look.zmax,
            colorbar: {outlinewidth: isClass(field) ? 1 : 0, title, ...look.ticks, ...bar},
            hovertemplate: `${x.name} %{x:.4g}, ${y.name} %{y:.4g}<br>${plain(field.label)}: ` +
              `%{customdata${isClass(field) ? "" : ":.4g"}}<extra></extra>`};
  }

  marks() {
    const {x, y} = this.data;
    const kept = this.kept();
    const mark = ({row, column}, symbol, size) => ({
      x: [x.values[column]], y: [y.values[row]], mode: "markers", hoverinfo: "skip", showlegend: false,
      marker: {symbol, size, color: "#fff", line: {color: "#000", width: 2.5}}});
    return [mark(kept || this.chosen, "diamond", kept && kept.cells ? 9 : 1), mark(this.chosen, "circle", 12)];
  }

  draw() {
    const {x, y} = this.data;
    this.element("panel").value = this.chosen.panel;
    this.describe();
    return plot(this.name + "-map", [this.heatmap(), ...this.marks()], {
      height: narrow() ? 430 : 520, xaxis: axis(x.name, {showgrid: false, range: edges(x.values)}),
      yaxis: axis(y.name, {showgrid: false, range: edges(y.values)})});
  }

  describe() {
    const field = this.data.fields[this.field()];
    const panel = this.data.panelLabels[this.chosen.panel];
    this.element("said").textContent = this.data.panels.length > 1 ? `Shown: ${panel}; ` : "Shown: ";
    this.element("said").textContent += `${field.about}.` + (field.name === "kmeans_class"
      ? " Distance between raw states mixes up where a pattern stands and what it is, hence the speckle." : "");
    const zeros = field.wide && this.arrays[this.field()].some((value) => value === 0);
    if (zeros) this.element("said").textContent += " White: zero.";
  }

  // The kept cell that is nearest, by rows and columns; how many cells away it is in all.
  kept() {
    const states = this.data.states;
    if (!states) return null;
    const i = nearest(states.rows, this.chosen.row), j = nearest(states.columns, this.chosen.column);
    const row = states.rows[i], column = states.columns[j];
    return {i, j, row, column, down: row - this.chosen.row, across: column - this.chosen.column,
            cells: Math.max(Math.abs(row - this.chosen.row), Math.abs(column - this.chosen.column))};
  }

  async choose(panel, row, column, link = true) {
    const inside = (value, count) => Math.min(Math.max(value, 0), count - 1);
    const before = this.chosen.panel;
    this.chosen = {panel: inside(panel, this.data.panels.length), row: inside(row, this.height),
                   column: inside(column, this.width)};
    if (before === this.chosen.panel && report.plots.has(this.name + "-map")) {
      const [kept, mark] = this.marks();
      const change = {x: [kept.x, mark.x], y: [kept.y, mark.y], "marker.size": [kept.marker.size, mark.marker.size]};
      await Plotly.restyle(byId(this.name + "-map"), change, [1, 2]);
    } else await this.draw();
    this.showCell();
    await this.drawState();
    if (link) this.setAddress();
  }

  setAddress() {
    const {panel, row, column} = this.chosen;
    const address = `#${this.number > 1 ? `map=${this.number}&` : ""}cell=${panel},${row},${column}`;
    try { history.replaceState(null, "", address); } catch { /* where an address cannot be set, the page works without */ }
  }

  showCell() {
    const {panel, row, column} = this.chosen;
    const {x, y} = this.data;
    const place = this.element("cell");
    const verdict = document.createElement("p");
    verdict.className = "verdict";
    const kind = this.value(this.index("class"), this.chosen);
    const swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = CLASS_COLOURS[kind];
    verdict.append(swatch, kind < 0 ? "not finite: the run broke off" : this.data.classes[kind]);
    const given = {[x.name]: x.values[column], [y.name]: y.values[row], ...this.data.panels[panel], ...this.data.fixed};
    const list = (pairs) => {
      const dl = document.createElement("dl");
      for (const [term, text, about] of pairs) {
        const line = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
        dt.textContent = term;
        dd.textContent = text;
        if (about) line.title = about;
        line.append(dt, dd);
        dl.append(line);
      }
      return dl;
    };
    const where = this.data.panels.length > 1 ? `, panel ${panel}` : "";
    this.element("cell-title").textContent = `Cell: row ${row}, column ${column}${where}`;
    const feature = (field, index) => {
      const value = this.value(index, this.chosen);
      const text = isClass(field) ? CLASS_NAMES[value] : show(value, digitsOf(field, value));
      return [field.name.replace(/_/g, " "), text, field.about];
    };
    const features = this.data.fields.map(feature).filter(([term]) => term !== "class");
    place.replaceChildren(verdict, list(Object.entries(given).map(([term, value]) => [term, show(value, 6)])),
                          list(features));
  }

  drawState() {
    const kept = this.kept();
    const note = this.element("kept"), figure = byId(this.name + "-state").closest("figure");
    figure.hidden = !kept;
    if (!kept) {
      note.textContent = "No final states were kept (--keep-states): C(η) cannot be shown.";
      return undefined;
    }
    const {states, x, y} = this.data;
    const points = states.position.length, wide = states.columns.length;
    const start = ((this.chosen.panel * states.rows.length + kept.i) * wide + kept.j) * points;
    const line = Array.from(this.states.subarray(start, start + points));
    const where = `${x.name} ${show(x.values[kept.column], 6)}, ${y.name} ${show(y.values[kept.row], 6)}`;
    const count = (number, word) => `${Math.abs(number)} ${word}${Math.abs(number) === 1 ? "" : "s"}`;
    const gap = ({name, values}, to, from) => `${name} by ${show(values[to] - values[from], 3)}`;
    note.textContent = kept.cells === 0 ? `C(η) at the end, of this cell (${where}).`
      : `C(η) at the end of the nearest cell that was kept (diamond): row ${kept.row}, column ${kept.column} (${where}), ` +
        `${count(kept.across, "column")} and ${count(kept.down, "row")} away ` +
        `(${gap(x, kept.column, this.chosen.column)}, ${gap(y, kept.row, this.chosen.row)}).`;
    const kind = this.value(this.index("class"), {...this.chosen, row: kept.row, column: kept.column});
    const same = kind === this.value(this.index("class"), this.chosen);
    if (!same) note.textContent += ` Its class is another one: ${CLASS_NAMES[kind]}.`;
    const known = line.filter(Number.isFinite).map(Math.abs);
    const most = Math.max(1, ...known) * 1.1;
    return plot(this.name + "-state", [
      {x: states.position, y: line, mode: "lines", line: {color: "#0072B2", width: 2.4},
       hovertemplate: "η = %{x:.4g}<br>C = %{y:.4f}<extra></extra>"}], {
      height: 250, xaxis: axis(MOVING),
      yaxis: axis("C", {range: [-most, most], zeroline: true, zerolinecolor: "#8b98a5"})});
  }

  listen() {
    const place = byId(this.name + "-map");
    place.on("plotly_click", (event) => {
      const point = event.points.find((p) => p.data.type === "heatmap") || event.points[0];
      this.choose(this.chosen.panel, nearest(this.data.y.values, point.y), nearest(this.data.x.values, point.x));
    });
    place.tabIndex = 0;
    place.addEventListener("keydown", (event) => {
      const way = {ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1]}[event.key];
      if (!way) return;
      event.preventDefault();
      const far = event.shiftKey ? 10 : 1;
      this.choose(this.chosen.panel, this.chosen.row + far * way[0], this.chosen.column + far * way[1]);
    });
    this.element("field").addEventListener("change", () => this.draw());
    this.element("panel").addEventListener("change", (event) => {
      this.choose(Number(event.target.value), this.chosen.row, this.chosen.column);
    });
  }
}

function cellOfAddress() {
  const found = /^#(?:map=(\d+)&)?cell=(\d+),(\d+),(\d+)$/.exec(location.hash);
  if (!found) return null;
  const [number, panel, row, column] = found.slice(1).map((text) => (text === undefined ? 1 : Number(text)));
  return {number, panel, row, column};
}

window.addEventListener("hashchange", () => {
  const cell = cellOfAddress();
  if (cell && maps[cell.number - 1]) maps[cell.number - 1].choose(cell.panel, cell.row, cell.column);
});

report.draw.flowmap = async (name, data) => {
  const arrays = [];
  for (const field of data.fields) arrays.push(await unpack(field));
  const map = new FlowMap(name, data, arrays);
  if (data.states) map.states = await unpack(data.states.values);
  const asked = cellOfAddress();
  const here = asked && asked.number === map.number;
  if (here) map.chosen.panel = Math.min(asked.panel, data.panels.length - 1);
  await redrawn(() => map.draw());
  map.listen();
  const {panel, row, column} = here ? asked : map.chosen;
  await map.choose(panel, row, column, false);
  redrawnLater(map);
  if (here) byId(name).scrollIntoView();
};

function redrawnLater(map) {
  let before = narrow();
  window.addEventListener("resize", () => {
    if (narrow() !== before) { before = narrow(); map.drawState(); }
  });
}
