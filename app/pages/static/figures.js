// Draws the figures of a page with uPlot: curves and bands over days, T0 marked, values by hover and touch, zoom, PNG.
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

// Days after T0 get half of the width: before and after it time runs at a scale of its own.
function halves(drawing) {
  const first = seconds(drawing.time[0]), last = seconds(drawing.time[drawing.time.length - 1]);
  const middle = drawing.t0 === null ? last : seconds(drawing.t0) + DAY / 2;
  if (middle <= first || middle >= last) return { fwd: (x) => x, bwd: (x) => x, middle: null };
  const before = middle - first, after = last - middle;
  return {
    middle,
    fwd: (x) => (x <= middle ? (x - middle) / before : (x - middle) / after),
    bwd: (y) => (y <= 0 ? middle + y * before : middle + y * after),
  };
}

// Ticks of whole days, as dense as each half has room for.
const STEPS = [1, 2, 3, 5, 7, 14, 30, 61, 91, 182];
function ticks(drawing, middle) {
  return (plot, _axis, first, last) => {
    const spans = middle === null || middle <= first || middle >= last ? [[first, last]] : [[first, middle], [middle, last]];
    const chosen = [];
    for (const [from, to] of spans) {
      const pixels = Math.abs(plot.valToPos(to, "x") - plot.valToPos(from, "x"));
      const step = STEPS.find((days) => (pixels * days * DAY) / (to - from) >= 56) ?? STEPS.at(-1);
      const start = Math.ceil(from / DAY);
      for (let day = start; day * DAY <= to; day += step) {
        const near = chosen.at(-1);
        if (near === undefined || plot.valToPos(day * DAY, "x") - plot.valToPos(near, "x") >= 50) chosen.push(day * DAY);
      }
    }
    return chosen;
  };
}

function dayOf(second) {
  return new Date(second * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}

function fullDay(second) {
  return second === null || second === undefined ? "–" : `${dayOf(second)} ${new Date(second * 1000).getUTCFullYear()}`;
}

// Behind the curves: T0 as a line with a lighter ground after it. Before them: names of levels, and the peak's range.
function marks(drawing) {
  const text = (context, words, x, y) => {
    context.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillText(words, x, y);
  };
  return {
    hooks: {
      drawClear: [(plot) => {
        if (drawing.t0 === null) return;
        const x = plot.valToPos(seconds(drawing.t0) + DAY / 2, "x", true);
        const { left, top, width, height } = plot.bbox;
        if (x < left || x > left + width) return;
        const context = plot.ctx;
        context.save();
        context.fillStyle = colour("panel");
        context.fillRect(x, top, left + width - x, height);
        context.strokeStyle = context.fillStyle = colour("soft");
        context.setLineDash([4, 4]);
        context.beginPath();
        context.moveTo(x, top);
        context.lineTo(x, top + height);
        context.stroke();
        text(context, "T0", x + 4 * devicePixelRatio, top + 12 * devicePixelRatio);
        context.restore();
      }],
      draw: [(plot) => {
        const context = plot.ctx;
        const { left, top, width, height } = plot.bbox;
        context.save();
        context.beginPath();
        context.rect(left, top, width, height);
        context.clip();
        context.setLineDash([]);
        context.fillStyle = colour("level");
        for (const curve of drawing.curves) {
          if (curve.colour !== "level") continue;
          text(context, curve.label, left + 6 * devicePixelRatio, plot.valToPos(curve.values[0], "y", true) - 4 * devicePixelRatio);
        }
        if (drawing.peak) {
          const { peak } = drawing;
          const at = (day) => plot.valToPos(seconds(day), "x", true);
          const up = (value) => plot.valToPos(value, "y", true);
          const cap = 4 * devicePixelRatio, x = at(peak.day), y = up(peak.height);
          context.strokeStyle = context.fillStyle = colour("ink");
          context.lineWidth = devicePixelRatio;
          context.beginPath();
          for (const end of [up(peak.low), up(peak.high)]) {
            context.moveTo(x, y);
            context.lineTo(x, end);
            context.moveTo(x - cap, end);
            context.lineTo(x + cap, end);
          }
          for (const end of [at(peak.first), at(peak.last)]) {
            context.moveTo(x, y);
            context.lineTo(end, y);
            context.moveTo(end, y - cap);
            context.lineTo(end, y + cap);
          }
          context.stroke();
          context.beginPath();
          context.arc(x, y, cap, 0, 2 * Math.PI);
          context.fill();
        }
        context.restore();
      }],
    },
  };
}

// A finger moves the cursor sideways; up and down it still scrolls the page.
function touched() {
  return {
    hooks: {
      ready: [(plot) => {
        const move = (event) => {
          if (event.pointerType === "mouse") return;
          const box = plot.over.getBoundingClientRect();
          plot.setCursor({ left: event.clientX - box.left, top: event.clientY - box.top });
        };
        for (const name of ["pointerdown", "pointermove"]) plot.over.addEventListener(name, move);
      }],
    },
  };
}

// A zoomed period is that of every plot over the same days.
let zooming = false;
function together(entry) {
  return {
    hooks: {
      setScale: [(plot, scale) => {
        if (scale !== "x" || zooming) return;
        zooming = true;
        for (const other of drawings) {
          if (other === entry || other.days !== entry.days || !other.plot) continue;
          other.plot.setScale("x", { min: plot.scales.x.min, max: plot.scales.x.max });
        }
        zooming = false;
      }],
    },
  };
}

function zoom(entry, factor) {
  const { min, max } = entry.plot.scales.x;
  const { fwd, bwd } = halves(entry.drawing);
  const first = seconds(entry.drawing.time[0]), last = seconds(entry.drawing.time.at(-1));
  const middle = (fwd(min) + fwd(max)) / 2, half = (factor * (fwd(max) - fwd(min))) / 2;
  const next = factor === 0 ? [first, last] : [Math.max(first, bwd(middle - half)), Math.min(last, bwd(middle + half))];
  if (next[1] - next[0] > 2 * DAY) entry.plot.setScale("x", { min: next[0], max: next[1] });
}

function series(curve, index, bands) {
  const stroke = colour(curve.colour);
  const options = {
    label: curve.label, stroke, width: 2, spanGaps: false, value: (_, value) => written(value),
    points: { show: false },
  };
  const top = bands.find((band) => band.label && band.high === index);
  if (top) {
    options.label = top.label;
    options.value = (plot, value, _at, row) => (row === null || row === undefined ? "–" : `${written(plot.data[top.low + 1][row])} to ${written(value)}`);
  }
  if (!curve.listed || bands.some((band) => band.label && band.low === index)) options.class = "hidden";
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

function lowestPositive(drawing) {
  const positive = drawing.curves.flatMap((curve) => curve.values).filter((value) => value > 0);
  return positive.length ? Math.min(...positive) : 1;
}

function vertical(entry) {
  const { drawing } = entry;
  if (entry.log) {
    const lowest = lowestPositive(drawing);
    return { distr: 3, range: (_, low, high) => [Math.max(lowest, (high || 1) / 1e5) * 0.9, (high || 1) * 1.1] };
  }
  const barred = drawing.curves.some((curve) => curve.style === "bars");
  const fromZero = barred || drawing.curves.every((curve) => curve.values.every((value) => value === null || value >= 0));
  return { range: (_, low, high) => (fromZero ? [0, (high || 1) * 1.06] : uPlot.rangeNum(low, high, 0.1, true)) };
}

function options(entry, width, main) {
  const { drawing } = entry;
  const { fwd, bwd, middle } = halves(drawing);
  return {
    width, height: width < 500 ? HEIGHT.phone : main ? HEIGHT.main : HEIGHT.other,
    cursor: { sync: { key: "page" }, drag: { x: true, y: false } },
    scales: { x: { time: false, distr: 100, fwd, bwd }, y: vertical(entry) },
    axes: [
      { ...axis(""), splits: ticks(drawing, middle), filter: (_, days) => days, values: (_, days) => days.map(dayOf) },
      { ...axis(drawing.unit), size: 64 },
    ],
    series: [
      { label: "day", value: (_, second) => fullDay(second) },
      ...drawing.curves.map((curve, index) => series(curve, index, drawing.bands)),
    ],
    bands: drawing.bands.map((band) => ({ series: [band.high + 1, band.low + 1], fill: colour(band.colour) })),
    plugins: [marks(drawing), touched(), together(entry)],
  };
}

function draw(entry) {
  if (entry.plot) entry.plot.destroy();
  entry.canvas.replaceChildren();
  const { drawing } = entry;
  const values = [drawing.time.map(seconds), ...drawing.curves.map((curve) => curve.values)];
  entry.plot = new uPlot(options(entry, entry.canvas.clientWidth, entry === drawings[0]), values, entry.canvas);
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

function addTools(entry, tools) {
  const button = (title, act) => {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = title;
    element.addEventListener("click", () => act(element));
    tools.prepend(element);
    return element;
  };
  button("PNG", () => png(entry));
  if (entry.drawing.log) {
    button("Log axis", (element) => {
      entry.log = !entry.log;
      element.setAttribute("aria-pressed", String(entry.log));
      draw(entry);
    }).setAttribute("aria-pressed", "false");
  }
  button("All days", () => zoom(entry, 0));
  button("Zoom out", () => zoom(entry, 2));
  button("Zoom in", () => zoom(entry, 0.5));
}

function drawAll() {
  drawings = drawings.filter((entry) => entry.canvas.isConnected);
  for (const figure of document.querySelectorAll("figure[data-figure]:not([data-drawn])")) {
    figure.dataset.drawn = "";
    const data = figure.querySelector("script[type='application/json']");
    if (data === null) continue;
    const drawing = JSON.parse(data.textContent);
    const days = `${drawing.time[0]} ${drawing.time.at(-1)}`;
    const entry = { drawing, days, canvas: figure.querySelector(".canvas"), plot: null, log: false };
    drawings.push(entry);
    draw(entry);
    addTools(entry, figure.querySelector(".tools"));
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
