// Growth of domains in planes: power laws on logarithmic axes.

function powerTraces(curve, index, which) {
  const {mean, band, fit, fitLabel} = curve.measures[which];
  const group = {legendgroup: curve.name, ...(which === 1 && {xaxis: "x2", yaxis: "y2"})};
  const word = which === 0 ? "l" : "area / length";
  const traces = [
    ribbon(curve.time, mean, band, curve.colour, group),
    {x: curve.time, y: mean, name: plain(curve.label), customdata: halves(band),
     mode: "lines+markers", line: {color: curve.colour, width: 2, dash: curve.dash}, showlegend: which === 0, ...group,
     marker: {symbol: curve.marker, size: 8, color: "#fff", line: {color: curve.colour, width: 2}, maxdisplayed: 14},
     hovertemplate: `t = %{x:.4g}<br>${word} = %{y:.4f}%{customdata}<extra>${plain(curve.name)}</extra>`}];
  if (!fit) return traces;
  const along = (power, scale) => [fit.from, fit.to].map((t) => scale * t ** power);
  // A third, beside the fit of the first file: through its middle, a quarter higher.
  const guide = 1.25 * fit.prefactor * Math.sqrt(fit.from * fit.to) ** (fit.exponent - 1 / 3);
  const ends = {x: [fit.from, fit.to], mode: "lines", hoverinfo: "skip"};
  traces.push({...ends, y: along(fit.exponent, fit.prefactor), name: `${word}, ${fitLabel}`, ...group,
               line: {color: "#1b2733", width: 1.8, dash: ["dash", "dot", "dashdot", "longdash"][index % 4]}});
  if (index === 0) traces.push({...ends, y: along(1 / 3, guide), ...group, name: "t^(1/3)", legendgroup: "theory",
                                showlegend: which === 0, line: {color: "#8b98a5", width: 1.6}});
  return traces;
}

function drawPowers(name, curves) {
  const begin = ({time, measures: [{fit}]}) => Math.max(time[0], fit ? fit.from / 10 : 0);
  const times = [Math.min(...curves.map(begin)) / 1.1, Math.max(...curves.map((curve) => curve.time.at(-1))) * 1.1];
  const log = (title, ends, more) => axis(title, {
    type: "log", range: ends.map(Math.log10), ...logTicks(...ends), ...more});
  const reach = (which) => {
    const values = curves.flatMap((curve) => curve.measures[which].mean.filter(
      (value, i) => value > 0 && curve.time[i] >= times[0]));
    return values.length ? [Math.min(...values) / 1.1, Math.max(...values) * 1.35] : [0.1, 10];
  };
  const traces = curves.flatMap((curve, i) => [...powerTraces(curve, i, 0), ...powerTraces(curve, i, 1)]);
  const entries = traces.filter((trace) => trace.name && trace.showlegend !== false).length;
  const rows = narrow() ? entries : Math.ceil(entries / 2);
  const across = narrow() ? [[0, 1], [0, 1]] : [[0, 0.45], [0.55, 1]];
  const up = narrow() ? [[0.57, 1], [0, 0.43]] : [[0, 1], [0, 1]];
  return plot(name + "-powers", traces, {
    height: (narrow() ? 620 : 400) + 22 * rows,
    legend: legendAbove(),
    xaxis: log("time t", times, {domain: across[0], anchor: "y"}),
    yaxis: log("mean domain size l", reach(0), {domain: up[0]}),
    xaxis2: log("time t", times, {domain: across[1], anchor: "y2"}),
    yaxis2: log("area / length of interfaces", reach(1), {domain: up[1], anchor: "x2"})});
}

report.draw.planes = (name, data) => redrawn(() => drawPowers(name, data.curves));
