// Fields over time: one member as a picture, one of its records as a line.

const PHASES = [[0, "#0072B2"], [0.5, "#ffffff"], [1, "#D55E00"]];

report.draw.simulate = async (name, data) => {
  const values = [];
  for (const field of data.fields) values.push(await unpack(field, Float64Array)); // runs may be of any size
  const [records, points] = data.fields[0].shape;
  const profile = (member, record) => values[member].subarray(record * points, (record + 1) * points);
  const largest = (member) => values[member].reduce((top, value) => Number.isFinite(value) ? Math.max(top, Math.abs(value)) : top, 0) || 1;
  const member = byId(name + "-member"), slider = byId(name + "-time");
  const field = name + "-field";
  const position = data.position === "x" ? "position x" : MOVING;

  const marker = () => ({type: "line", yref: "paper", y0: 0, y1: 1, x0: data.time[slider.value], x1: data.time[slider.value],
                         line: {color: "#000", width: 1.6, dash: "dot"}});
  const drawField = () => {
    const lines = Array.from({length: records}, (_, t) => profile(member.value, t));
    const rows = Array.from({length: points}, (_, x) => Float64Array.from(lines, (line) => line[x]));
    const most = largest(member.value);
    const bar = narrow() ? {orientation: "h", y: -0.32, thickness: 12, len: 1} : {thickness: 14, len: 1};
    return plot(field, [
      {type: "heatmap", z: rows, x: data.time, y: data.x, colorscale: PHASES, zmin: -most, zmax: most, zsmooth: false,
       colorbar: {title: {text: narrow() ? "" : "C", side: "top"}, outlinewidth: 0, ...bar},
       hovertemplate: `t = %{x:.4g}<br>${data.position} = %{y:.4g}<br>C = %{z:.4f}<extra></extra>`}], {
      height: narrow() ? 400 : 380, shapes: [marker()], xaxis: axis("time t", {showgrid: false}),
      yaxis: axis(position, {showgrid: false})});
  };
  const drawProfile = () => {
    const at = Number(slider.value);
    const line = profile(member.value, at);
    byId(name + "-time-shown").textContent = "t = " + show(data.time[at]);
    const known = line.filter(Number.isFinite);
    const changes = line.reduce((sum, value, i) => sum + (value * line[(i + 1) % points] < 0 ? 1 : 0), 0);
    const lost = data.lostFrom[member.value];
    byId(name + "-said").textContent = known.length === 0
      ? `At t = ${show(data.time[at])} this run is lost, since t = ${show(lost)} at the latest.` :
      `At t = ${show(data.time[at])}: C from ${show(Math.min(...known))} to ${show(Math.max(...known))}, ` +
      `mean ${show(known.reduce((a, b) => a + b, 0) / known.length, 3)}, ${changes} sign changes.`;
    const most = largest(member.value);
    return plot(name + "-profile", [
      {x: data.x, y: Array.from(profile(member.value, 0)), mode: "lines", line: {color: "#8b98a5", width: 1, dash: "dot"},
       name: "start", hoverinfo: "skip"},
      {x: data.x, y: Array.from(line), mode: "lines", line: {color: "#0072B2", width: 2.4}, name: "C",
       hovertemplate: `${data.position} = %{x:.4g}<br>C = %{y:.4f}<extra></extra>`}],
      {height: 300, showlegend: false, xaxis: axis(position), yaxis: axis("C", {range: [-1.08 * most, 1.08 * most]})});
  };
  const choose = () => Promise.all([drawProfile(), Plotly.relayout(byId(field), {shapes: [marker()]})]);

  member.addEventListener("change", () => { drawField(); drawProfile(); });
  slider.addEventListener("input", choose);
  await redrawn(drawField);
  await redrawn(drawProfile);
  byId(field).on("plotly_click", (event) => {
    const time = event.points[0].x;
    slider.value = data.time.reduce((best, t, i) => Math.abs(t - time) < Math.abs(data.time[best] - time) ? i : best, 0);
    choose();
  });
};
