// Growth of domains, convergence, benchmarks: lines and bars.

const legendAbove = () => ({orientation: "h", x: 0, xanchor: "left", y: 1.02, yanchor: "bottom",
                            font: {size: narrow() ? 11 : 12.5}});

function ribbon(x, middle, half, colour, more) {
  const keep = x.map((_, i) => i).filter((i) => middle[i] !== null && half[i] !== null);
  const back = [...keep].reverse();
  return {x: [...keep, ...back].map((i) => x[i]),
          y: [...keep.map((i) => middle[i] + half[i]), ...back.map((i) => middle[i] - half[i])],
          mode: "lines", fill: "toself", line: {width: 0}, fillcolor: tint(colour, 0.22),
          hoverinfo: "skip", showlegend: false, ...more};
}

// As a hover shows them; one run alone has no band.
const halves = (band) => band.map((half) => (half === null ? "" : " ± " + show(half, 2)));

function lawTraces(curve, index) {
  const fitDash = ["dash", "dot", "dashdot", "longdash"][index % 4];
  const group = {legendgroup: curve.name};
  const look = {mode: "lines+markers", line: {color: curve.colour, width: 2, dash: curve.dash},
                marker: {symbol: curve.marker, size: 8, color: "#fff", line: {color: curve.colour, width: 2},
                         maxdisplayed: 14}};
  const traces = [
    ribbon(curve.time, curve.mean, curve.band, curve.colour, group),
    {x: curve.time, y: curve.mean, name: plain(curve.label), customdata: halves(curve.band), ...look, ...group,
     hovertemplate: "t = %{x:.4g}<br>l = %{y:.4f}%{customdata}<extra>" + plain(curve.name) + "</extra>"}];
  const fit = curve.fit;
  if (!fit) return traces;
  const ends = [fit.from, fit.to];
  traces.push({x: ends, y: ends.map((t) => fit.intercept + fit.slope * Math.log(t)), mode: "lines", ...group,
               name: `fit: ${show(fit.intercept)} ${fit.slope < 0 ? "−" : "+"} ${show(Math.abs(fit.slope))} log t`,
               hoverinfo: "skip", line: {color: "#1b2733", width: 1.6, dash: fitDash}});
  traces.push(ribbon(curve.time, curve.residual, curve.band, curve.colour, {...group, yaxis: "y2"}));
  traces.push({x: curve.time, y: curve.residual, yaxis: "y2", ...look, ...group, showlegend: false,
               hovertemplate: "t = %{x:.4g}<br>l − fit = %{y:.4f}<extra>" + plain(curve.name) + "</extra>"});
  return traces;
}

function drawLaw(name, curves) {
  const fitted = curves.some((curve) => curve.fit);
  // What comes before a tenth of the window is flat: noise that has not grown yet. Zooming out shows it.
  const starts = curves.map((curve) => Math.max(curve.time[0], curve.fit ? curve.fit.from / 10 : 0));
  const last = Math.max(...curves.map((curve) => curve.time[curve.time.length - 1]));
  const range = [Math.log10(Math.min(...starts)) - 0.05, Math.log10(last) + 0.05];
  // Where runs were lost, only what comes after that says how high the axis must be.
  const lost = curves.some((curve) => curve.lossesEnd !== null);
  const ends = [Math.min(...curves.map((curve) => curve.reach[0])), Math.max(...curves.map((curve) => curve.reach[1]))];
  const rests = fitted ? Math.max(...curves.map((curve) => curve.residualReach || 0)) : 0;
  const around = ([low, high]) => low < high && {range: [low - 0.05 * (high - low), high + 0.05 * (high - low)]};
  const traces = curves.flatMap(lawTraces);
  const entries = traces.filter((trace) => trace.showlegend !== false).length;
  return plot(name + "-law", traces, {
    height: (narrow() ? 500 : 530) + 22 * Math.ceil(entries / (narrow() ? 1 : 2)), legend: legendAbove(),
    xaxis: axis("time t", {type: "log", range, anchor: fitted ? "y2" : "y", dtick: 1, exponentformat: "power"}),
    yaxis: axis(narrow() ? "mean of l" : "mean domain size l", {domain: [fitted ? 0.33 : 0, 1], ...(lost && around(ends))}),
    ...(fitted && {yaxis2: axis("l − fit", {domain: [0, 0.26], zeroline: true, zerolinecolor: "#1b2733", nticks: 5,
                                            ...(lost && around([-rests, rests]))})})});
}

function quantumLines(histogram) {
  if (!histogram.quantum) return {};
  const last = histogram.sizes[histogram.sizes.length - 1];
  const place = (n) => histogram.quantum / n;
  const numbers = [2, 4, 6, 8, 10].filter((n) => place(n) < last && place(n) > 1);
  return {
    shapes: numbers.map((n) => ({
      type: "line", xref: "x2", yref: "y2 domain", x0: place(n), x1: place(n), y0: 0, y1: 1,
      line: {dash: "dot", width: 1.5, color: "#4d5b69"}})),
    annotations: numbers.filter((n, i) => i === 0 || place(numbers[i - 1]) - place(n) > 0.08 * last).map((n) => ({
      xref: "x2", yref: "y2 domain", x: place(n), y: 1, yanchor: "bottom", text: "n = " + n, showarrow: false,
      font: {size: 11, color: "#4d5b69"}}))};
}

const BEYOND = "#8b98a5";

// Grey: the ends of the bins where these hold what is beyond them, too.
const shades = (values, beyond, colour) => values.map((_, i) => (beyond.includes(i) ? BEYOND : colour));

function drawHistograms(name, curves) {
  const curve = curves[byId(name + "-file").value];
  const data = curve.histograms;
  const slider = byId(name + "-time");
  slider.max = data.times.length - 1;
  const at = Math.min(Number(slider.value), data.times.length - 1);
  byId(name + "-time-shown").textContent = "t = " + show(data.times[at]);
  const counts = data.interfaceShare[at], sizes = data.sizeShare[at];
  const mean = counts.reduce((sum, share, i) => sum + share * data.interfaces[i], 0) / 100;
  const top = counts.indexOf(Math.max(...counts));
  byId(name + "-said").textContent = `At t = ${show(data.times[at])} the runs of ${curve.name} have ${show(mean, 3)} ` +
    `interfaces on average; most often ${data.interfaces[top]} (${show(counts[top], 3)} % of the runs).` +
    (data.interfacesBeyond.length + data.sizesBeyond.length ? " Grey bars at an end hold all that is beyond it, too." : "");
  const across = narrow() ? [[0, 1], [0, 1]] : [[0, 0.46], [0.56, 1]];
  const up = narrow() ? [[0.6, 1], [0, 0.36]] : [[0, 0.93], [0, 0.93]];
  const most = (shares) => Math.max(...shares.flat()) * 1.05;
  return plot(name + "-histograms", [
    {type: "bar", x: data.interfaces, y: counts, width: 0.9,
     marker: {color: shades(data.interfaces, data.interfacesBeyond, curve.colour)},
     hovertemplate: "%{x} interfaces: %{y:.3g} %<extra></extra>"},
    {type: "bar", x: data.sizes, y: sizes, xaxis: "x2", yaxis: "y2", width: data.width,
     marker: {color: shades(data.sizes, data.sizesBeyond, curve.colour)},
     hovertemplate: "l = %{x:.3g}: %{y:.3g} %<extra></extra>"}], {
    height: narrow() ? 520 : 360, showlegend: false, ...quantumLines(data),
    xaxis: axis("interfaces of a run", {domain: across[0], anchor: "y", range: [-1, data.interfaces.at(-1) + 1]}),
    yaxis: axis("share of runs, %", {domain: up[0], range: [0, most([counts])]}),
    xaxis2: axis("domain size l of a run", {
      domain: across[1], anchor: "y2", range: [data.sizesBeyond.includes(0) ? 0 : 0.8, data.sizes.at(-1) + 0.1]}),
    yaxis2: axis(narrow() ? "share of runs, %" : "", {domain: up[1], anchor: "x2", range: [0, most([sizes])]})});
}

report.draw.coarsen = async (name, data) => {
  await redrawn(() => drawLaw(name, data.curves));
  const having = data.curves.filter((curve) => curve.histograms);
  if (!having.length) return;
  const act = () => drawHistograms(name, having);
  byId(name + "-file").addEventListener("change", act);
  byId(name + "-time").addEventListener("input", act);
  await redrawn(act);
};

// A line of slope -2 a little below the last points: what second order looks like.
function secondOrder(line) {
  const last = line.points.length - 1;
  const from = 0.6 * line.difference[last];
  return {x: line.points, y: line.points.map((n) => from * (line.points[last] / n) ** 2), mode: "lines", hoverinfo: "skip",
          showlegend: false, line: {color: "#4d5b69", width: 1.4, dash: "dot"}};
}

report.draw.converge = (name, data) => redrawn(() => plot(name + "-orders", data.lines.flatMap((line) => [
  secondOrder(line),
  {x: line.points, y: line.difference, name: plain(line.label), mode: "lines+markers",
   customdata: line.order.map((order) => show(order ?? NaN)),
   line: {color: line.colour, width: 2, dash: line.dash}, marker: {symbol: line.marker, size: 9, color: line.colour},
   hovertemplate: "%{x} points<br>E = %{y:.3e}<br>order %{customdata}<extra></extra>"}]), {
  legend: {orientation: "h", x: 0, y: 1.02, yanchor: "bottom"},
  xaxis: axis("points of the grid", {type: "log", ...ticksAt(data.lines.flatMap((line) => line.points))}),
  yaxis: axis("E, difference from half as many points", {type: "log", exponentformat: "power", dtick: 1})}));

// On a logarithmic axis: at the values, except those too close to the one before for both to be read.
function ticksAt(values) {
  const all = [...new Set(values)].sort((a, b) => a - b);
  const apart = Math.log(all.at(-1) / all[0]) / (narrow() ? 5 : 10);
  const every = [];
  for (const value of all) if (!every.length || Math.log(value / every.at(-1)) > 0.999 * apart) every.push(value);
  const short = (n) => n >= 2 ** 20 && n % 2 ** 20 === 0 ? n / 2 ** 20 + " Mi"
    : n >= 2 ** 14 && n % 1024 === 0 ? n / 1024 + " Ki" : String(n);
  return {tickvals: every, ticktext: every.map(short), minor: {ticks: ""}};
}

function drawSpeed(name, data) {
  const group = Number(byId(name + "-group").value);
  const records = data.records.filter((record) => record.group === group);
  const traces = data.series.map((label, s) => {
    const points = records.filter((record) => s in record.times).sort((a, b) => a.batch - b.batch);
    const look = data.styles[s];
    const count = (key) => new Set(points.map((p) => p[key])).size;
    const isCurve = count("batch") === points.length && count("about") === 1; // a line does not join different shapes
    return {x: points.map((p) => p.batch), y: points.map((p) => p.times[s]), text: points.map((p) => plain(p.about)),
            name: plain(label), mode: isCurve ? "lines+markers" : "markers",
            line: {color: look.colour, width: 2, dash: look.dash},
            marker: {symbol: look.marker, size: 9, color: look.colour},
            hovertemplate: "%{text}, %{x} " + data.batchName + "<br>%{y:.3g} times as fast<extra></extra>"};
  }).filter((trace) => trace.x.length);
  const below = Math.ceil(traces.length / (narrow() ? 1 : 3)) * 22;
  const every = traces.flatMap((trace) => trace.y).map(Math.log10);
  const ends = [Math.min(-0.05, Math.min(...every) - 0.1), Math.max(...every) + 0.12];
  return plot(name + "-speed", traces, {
    height: (narrow() ? 360 : 420) + below, showlegend: true,
    legend: legendAbove(),
    shapes: [{type: "line", xref: "paper", x0: 0, x1: 1, y0: 1, y1: 1, line: {color: "#1b2733", width: 1.4, dash: "dash"}}],
    xaxis: axis(data.batchName, {type: "log", ...ticksAt(records.map((record) => record.batch))}),
    yaxis: axis("times as fast", {type: "log", range: ends, ...(ends[1] - ends[0] < 2.2 ? logTicks(...ends.map((e) => 10 ** e))
      : {dtick: 1})})});
}

report.draw.bench = (name, data) => {
  if (!data.records.length) return undefined;
  byId(name + "-group").addEventListener("change", () => drawSpeed(name, data));
  return redrawn(() => drawSpeed(name, data));
};
