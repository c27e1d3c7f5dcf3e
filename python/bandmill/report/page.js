"use strict";
// The page's own machinery: data, plotly, errors, printing. What a section draws is in the files after this one.
const report = {draw: {}, plots: new Map(), errors: []};

function complain(text) {
  report.errors.push(text);
  document.body.dataset.errors = report.errors.join("\n");
  const place = document.getElementById("trouble");
  place.hidden = false;
  place.textContent = "The figures could not be drawn: " + report.errors.join("; ");
}
window.onerror = (message) => complain(String(message));
window.addEventListener("unhandledrejection", (event) => complain(String(event.reason)));

async function inflate(text) {
  if (!("DecompressionStream" in window)) {
    throw new Error("this browser is too old (it needs DecompressionStream: any of 2023 or later has it)");
  }
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Undoes encode.py: bytes apart, differences, codes.
async function unpack(given, Numbers = Float32Array) {
  const bytes = await inflate(given.data);
  const count = bytes.length / 2;
  const width = given.shape[given.shape.length - 1] || 1;
  const values = new Numbers(count);
  let code = 0, first = 0;
  for (let i = 0; i < count; i++) {
    const zigzag = bytes[i] | (bytes[count + i] << 8);
    const change = (zigzag >>> 1) ^ -(zigzag & 1);
    code = ((i % width === 0 ? first : code) + change) & 0xffff;
    if (i % width === 0) first = code;
    const value = given.low + (code - 2) * given.step;
    values[i] = code === 0 ? NaN : given.wide ? (code === 1 ? 0 : 10 ** value) : value;
  }
  return values;
}

const narrow = () => window.innerWidth < 640;
const byId = (name) => document.getElementById(name);
// plotly reads a little HTML in its texts: what comes from files must not be taken for it.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
const tint = (colour, alpha) => colour + Math.round(alpha * 255).toString(16).padStart(2, "0");

function show(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(digits - 1)
    : String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

function axis(title, more = {}) {
  return {title: {text: title, standoff: 8}, gridcolor: "#e6ebf0", linecolor: "#4d5b69", ticks: "outside", tickcolor: "#4d5b69",
          showline: true, zeroline: false, automargin: true, ...more};
}

// Of a logarithmic axis between two values: as few digits as give three labels.
function logTicks(low, high) {
  const inside = (digits) => [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((e) => digits.map((d) => d * 10 ** e))
    .filter((value) => value >= low && value <= high).map((value) => Number(value.toPrecision(3)));
  const found = [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]].map(inside);
  const tickvals = found.find((values) => values.length > 2) || found[2];
  return {tickvals, ticktext: tickvals.map((value) => show(value))};
}

const MOVING = "position η = x − vt"; // of forced runs, whose frame moves with the forcing

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
function plot(name, traces, layout) {
  const place = byId(name);
  const base = {font: {family: FONT, size: narrow() ? 12 : 13, color: "#1b2733"}, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
                margin: narrow() ? {l: 46, r: 8, t: 14, b: 44} : {l: 64, r: 16, t: 34, b: 52}, hovermode: "closest",
                dragmode: narrow() ? false : "zoom", // a finger that scrolls must not zoom
                hoverlabel: {bgcolor: "#fff", bordercolor: "#4d5b69", font: {family: FONT, size: 13}}, autosize: true,
                modebar: {color: "#8b98a5", activecolor: "#0072b2", bgcolor: "rgba(255,255,255,.8)"}, ...layout};
  if (layout.height) place.style.height = layout.height + "px";
  report.plots.set(name, place);
  return Plotly.react(place, traces, base, {
    responsive: true, displaylogo: false, displayModeBar: narrow() ? false : "hover", doubleClick: "reset",
    // Named one by one: plotly's own choice has a button that uploads the figure. The page's policy forbids that too.
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]], showSendToCloud: false, plotlyServerURL: "",
    toImageButtonOptions: {format: "svg", filename: name}});
}

// Calls `act` now and when the page becomes narrow or wide: figures are laid out differently then.
function redrawn(act) {
  let before = narrow();
  window.addEventListener("resize", () => {
    if (narrow() !== before) {
      before = narrow();
      act();
    }
  });
  return act();
}

function fitToPaper() {
  for (const details of document.querySelectorAll("details.provenance")) details.open = true;
  for (const place of report.plots.values()) Plotly.relayout(place, {width: 680, autosize: false});
}
function fitToScreen() {
  for (const place of report.plots.values()) Plotly.relayout(place, {width: null, autosize: true});
}

async function main() {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await inflate(byId("plotly").textContent));
  document.head.append(script);
  script.remove();
  const sections = JSON.parse(byId("data").textContent);
  for (const [name, section] of Object.entries(sections)) await report.draw[section.draw](name, section.data);
  window.addEventListener("beforeprint", fitToPaper);
  window.addEventListener("afterprint", fitToScreen);
  if (!report.errors.length) document.body.dataset.drawn = "yes";
}
window.addEventListener("DOMContentLoaded", () => main().catch((error) => complain(String(error))));
