// Draws the figures of a page with uPlot: curves and bands over days, T0 marked, hover values, PNG.
"use strict";

const DAY = 86400;
const HEIGHT = { main: 340, other: 190, phone: 220 };
let drawings = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function seconds(day) {
  return Date.parse(day + "T00:00:00Z") / 1000;
}

function written(value) {
  return value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString();
}

// A line at the end of T0, and a lighter ground after it.
function t0Mark(t0) {
  return {
    hooks: {
      drawClear: [(plot) => {
        if (t0 === null) return;
        const x = plot.valToPos(seconds(t0) + DAY / 2, "x", true);
        const { left, top, width, height } = plot.bbox;
        if (x < left || x > left + width) return;
        const context = plot.ctx;
        context.save();
        context.fillStyle = colour("panel");
        context.fillRect(x, top, left + width - x, height);
        context.strokeStyle = colour("soft");
        context.setLineDash([4, 4]);
        context.beginPath();
        context.moveTo(x, top);
        context.lineTo(x, top + height);
        context.stroke();
        context.fillStyle = colour("soft");
        context.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
        context.fillText("T0", x + 4 * devicePixelRatio, top + 12 * devicePixelRatio);
        context.restore();
      }],
    },
  };
}

function series(curve) {
  const stroke = colour(curve.colour);
  const options = {
    label: curve.label, stroke, width: 2, spanGaps: false, value: (_, value) => written(value),
    points: { show: false },
  };
  if (!curve.listed) options.class = "hidden";
  if (curve.style === "thin") options.width = 1;
  if (curve.colour === "range") options.width = 0.5;
  if (curve.style === "dashed") Object.assign(options, { dash: [8, 5], width: 1.5 });
  if (curve.style === "dots") Object.assign(options, { paths: () => null, points: { show: true, size: 6, fill: stroke } });
  if (curve.style === "bars") Object.assign(options, { fill: stroke, paths: uPlot.paths.bars({ size: [0.8, 24] }) });
  return options;
}

function axis(label) {
  return {
    stroke: colour("ink"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
    label, labelSize: label ? 22 : 0, font: "13px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif",
  };
}

function options(drawing, width, main) {
  const barred = drawing.curves.some((curve) => curve.style === "bars");
  const fromZero = barred || drawing.curves.every((curve) => curve.values.every((value) => value === null || value >= 0));
  return {
    width, height: width < 500 ? HEIGHT.phone : main ? HEIGHT.main : HEIGHT.other,
    tzDate: (second) => uPlot.tzDate(new Date(second * 1000), "UTC"),
    cursor: { sync: { key: "page" }, drag: { x: true, y: false } },
    scales: { y: { range: (_, low, high) => (fromZero ? [0, (high || 1) * 1.06] : uPlot.rangeNum(low, high, 0.1, true)) } },
    // No tick but of whole days: values are of days.
    axes: [{ ...axis(""), space: (_plot, _axis, first, last, size) => Math.max(50, (0.99 * size * DAY) / (last - first)), values: [
      [DAY * 28, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
      [DAY, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
    ] }, { ...axis(drawing.unit), size: 64 }],
    series: [{ label: "day", value: "{D} {MMM} {YYYY}" }, ...drawing.curves.map(series)],
    bands: drawing.bands.map((band) => ({ series: [band.high + 1, band.low + 1], fill: colour(band.colour) })),
    plugins: [t0Mark(drawing.t0)],
  };
}

function draw(entry) {
  if (entry.plot) entry.plot.destroy();
  entry.canvas.replaceChildren();
  const { drawing } = entry;
  const values = [drawing.time.map(seconds), ...drawing.curves.map((curve) => curve.values)];
  entry.plot = new uPlot(options(drawing, entry.canvas.clientWidth, entry === drawings[0]), values, entry.canvas);
}

// The picture has the page's ground: a PNG with none is hard to read in another place.
function png(entry) {
  const source = entry.plot.ctx.canvas;
  const picture = document.createElement("canvas");
  picture.width = source.width;
  picture.height = source.height;
  const context = picture.getContext("2d");
  context.fillStyle = colour("paper");
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(source, 0, 0);
  const link = document.createElement("a");
  link.download = entry.drawing.name + ".png";
  link.href = picture.toDataURL("image/png");
  link.click();
}

function drawAll() {
  drawings = [];
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const data = figure.querySelector("script[type='application/json']");
    if (data === null) continue;
    const entry = { drawing: JSON.parse(data.textContent), canvas: figure.querySelector(".canvas"), plot: null };
    drawings.push(entry);
    draw(entry);
    figure.querySelector("[data-png]").addEventListener("click", () => png(entry));
  }
  document.documentElement.dataset.drawn = String(drawings.length);
}

let drawnWidth = innerWidth;
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawings.forEach(draw));
addEventListener("freshet-page", drawAll);
addEventListener("resize", () => {
  if (innerWidth !== drawnWidth) drawings.forEach(draw);
  drawnWidth = innerWidth;
});
drawAll();
