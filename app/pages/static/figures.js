// Draws the figures of a page with uPlot: curves and bands over days, T0, now and levels marked; values by pointer,
// finger and keyboard; zoom; PNG.
"use strict";

const DAY = 86400;
const HEIGHT = { main: 320, other: 190, phone: 220 };
const SIDE = 52;
const LABEL = 22;
const HALF_A_DAY_LABEL = 24;
let drawings = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function seconds(day) {
  return Date.parse(day + "T00:00:00Z") / 1000;
}

function written(value) {
  return value === null || value === undefined ? "" : Number(value.toPrecision(4)).toString();
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
  return second === null || second === undefined ? "" : `${dayOf(second)} ${new Date(second * 1000).getUTCFullYear()}`;
}

// Words on the drawing, moved to the right of others where they would overprint; left out where no room is left.
function writer(plot) {
  const taken = [], pixel = devicePixelRatio, context = plot.ctx;
  context.font = `${12 * pixel}px system-ui, sans-serif`;
  return (words, x, y, ink) => {
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    const width = context.measureText(words).width, right = plot.bbox.left + plot.bbox.width;
    for (let moved = true; moved;) {
      moved = false;
      for (const other of taken) {
        if (Math.abs(other.y - y) >= 15 * pixel || x >= other.end || x + width <= other.x) continue;
        x = other.end + 10 * pixel;
        moved = true;
      }
    }
    if (x + width > right) return;
    taken.push({ x, y, end: x + width });
    context.setLineDash([]);
    context.lineWidth = 3 * pixel;
    context.lineJoin = "round";
    context.strokeStyle = colour("paper");
    context.strokeText(words, x, y);
    context.fillStyle = colour(ink);
    context.fillText(words, x, y);
  };
}

// Behind the curves: official categories as grounds, other levels as thin lines, a lighter ground after T0. Before them:
// T0, now, names of levels, and the peak's range.
function marks(drawing) {
  const pixel = devicePixelRatio;
  const upright = drawing.t0 === null ? [] : [["T0", seconds(drawing.t0) + DAY / 2, [4, 4], "soft"]];
  if (drawing.now) upright.push(["now", Date.parse(drawing.now) / 1000 - DAY / 2, [], "ink"]);
  const line = (plot, fromX, fromY, toX, toY) => {
    plot.ctx.beginPath();
    plot.ctx.moveTo(fromX, fromY);
    plot.ctx.lineTo(toX, toY);
    plot.ctx.stroke();
  };
  const clipped = (plot, act) => {
    const { left, top, width, height } = plot.bbox, context = plot.ctx;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    act(context, left, top, width, height);
    context.restore();
  };
  const behind = (plot) => clipped(plot, (context, left, top, width, height) => {
    for (const [name, second] of upright) {
      const x = plot.valToPos(second, "x", true);
      context.fillStyle = colour("panel");
      if (name === "T0") context.fillRect(x, top, left + width - x, height);
    }
    const official = drawing.levels.filter((level) => level.ground);
    official.forEach((level, index) => {
      const next = official[index + 1], low = plot.valToPos(level.value, "y", true);
      const high = next ? plot.valToPos(next.value, "y", true) : top;
      context.globalAlpha = 0.35;
      context.fillStyle = colour(level.ground);
      context.fillRect(left, high, width, low - high);
      context.globalAlpha = 1;
    });
    context.strokeStyle = colour("level");
    context.lineWidth = pixel;
    for (const level of drawing.levels) {
      const y = plot.valToPos(level.value, "y", true);
      context.setLineDash(level.ground ? [] : [2 * pixel, 3 * pixel]);
      line(plot, left, y, left + width, y);
    }
  });
  const before = (plot) => clipped(plot, (context, left, top, width, height) => {
    const write = writer(plot);
    for (const [name, second, dash, ink] of upright) {
      const x = plot.valToPos(second, "x", true);
      context.strokeStyle = colour(ink);
      context.lineWidth = pixel;
      context.setLineDash(dash);
      line(plot, x, top, x, top + height);
      if (x >= left && x <= left + width) write(name, x + 4 * pixel, top + 12 * pixel, ink);
    }
    if (drawing.peak) {
      const { peak } = drawing;
      const at = (day) => plot.valToPos(seconds(day), "x", true);
      const up = (value) => plot.valToPos(value, "y", true);
      const cap = 4 * pixel, x = at(peak.day), y = up(peak.discharge);
      context.strokeStyle = context.fillStyle = colour("ink");
      context.lineWidth = pixel;
      context.setLineDash([]);
      for (const end of [up(peak.p05), up(peak.p95)]) {
        line(plot, x, y, x, end);
        line(plot, x - cap, end, x + cap, end);
      }
      for (const end of [at(peak.day_p05), at(peak.day_p95)]) {
        line(plot, x, y, end, y);
        line(plot, end, y - cap, end, y + cap);
      }
      context.beginPath();
      context.arc(x, y, cap, 0, 2 * Math.PI);
      context.fill();
    }
    for (const level of drawing.levels) write(level.label, left + 6 * pixel, plot.valToPos(level.value, "y", true) - 4 * pixel, "level");
    if (drawing.peak) {
      const label = drawing.peak_label, { day, discharge: flow } = drawing.peak, near = 8 * pixel, words = context.measureText(label).width + near;
      const x = plot.valToPos(seconds(day), "x", true), fits = left + width - x > words + near;
      if (x >= left && x <= left + width) write(label, fits ? x + near : x - words, plot.valToPos(flow, "y", true) - near, "ink");
    }
  });
  return { hooks: { drawClear: [behind], draw: [before] } };
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
    label: curve.label, stroke, scale: curve.right ? "right" : "y", class: curve.style === "bars" ? "ground" : "line", width: 2, spanGaps: false, value: (_, value) => written(value),
    points: { show: false },
  };
  const top = bands.find((band) => band.label && band.high === index);
  if (top) {
    options.label = top.label;
    options.class = "ground";
    options.value = (plot, value, _at, row) => (row === null || row === undefined || value === null ? "" : `${written(plot.data[top.low + 1][row])} to ${written(value)}`);
  }
  if (!curve.listed || bands.some((band) => band.label && band.low === index)) options.class = "hidden";
  if (curve.style === "thin") options.width = 1;
  if (curve.colour === "range") options.width = 0.5;
  if (curve.style === "dashed") Object.assign(options, { dash: [8, 5], width: 1.5 });
  if (curve.style === "dots") Object.assign(options, { paths: () => null, points: { show: true, size: 6, fill: stroke } });
  if (curve.style === "bars") Object.assign(options, { fill: stroke, paths: uPlot.paths.bars({ size: [0.8, 24] }) });
  return options;
}

// The legend's swatch: the ground of a band or of bars; lines are drawn as lines.
function swatch(drawing, at) {
  const band = drawing.bands.find((one) => one.label && one.high === at - 1);
  const curve = drawing.curves[at - 1];
  return band ? colour(band.colour) : curve && curve.style === "bars" ? colour(curve.colour) : "transparent";
}

function axis(label) {
  return {
    stroke: colour("ink"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
    label, labelSize: label ? LABEL : 0, font: "13px system-ui, sans-serif", labelFont: "13px system-ui, sans-serif",
  };
}

function lowestPositive(drawing) {
  const positive = drawing.curves.flatMap((curve) => curve.values).filter((value) => value > 0);
  return positive.length ? Math.min(...positive) : 1;
}

function vertical(entry) {
  const { drawing } = entry;
  const marked = Math.max(0, drawing.peak ? drawing.peak.p95 : 0, ...drawing.levels.map((level) => level.value));
  const top = (high) => Math.max(high || 0, marked) || 1;
  if (entry.log) {
    const lowest = lowestPositive(drawing);
    return { distr: 3, range: (_, low, high) => [Math.max(lowest, top(high) / 1e5) * 0.9, top(high) * 1.2] };
  }
  const barred = drawing.curves.some((curve) => curve.style === "bars");
  const fromZero = barred || drawing.curves.every((curve) => curve.values.every((value) => value === null || value >= 0));
  return { range: (_, low, high) => (fromZero ? [0, top(high) * 1.09] : uPlot.rangeNum(low, high, 0.1, true)) };
}

// On the right: the axis of curves in another unit, or stages at the flows that they have.
function rightAxis({ drawing }, size) {
  const right = { side: 1, size, grid: { show: false } };
  if (drawing.right_unit) return [{ ...axis(drawing.right_unit), scale: "right", ...right }];
  if (drawing.stages === null) return [];
  const { unit, values, labels } = drawing.stages;
  const splits = (plot) => values.filter((value) => {
    const y = plot.valToPos(value, "y"), { min, max } = plot.scales.y;
    if (value < min || value > max || (values.last !== undefined && values.last - y < 20)) return false;
    values.last = y;
    return true;
  });
  return [{
    ...axis(unit), scale: "y", ...right, filter: (_, ticks) => ticks,
    splits: (plot) => { delete values.last; return splits(plot); },
    values: (_, ticks) => ticks.map((value) => labels[values.indexOf(value)]),
  }];
}

// All plots of a page have the same margins, so that a day stands above the same day.
function margin(entry, size) {
  const taken = (one) => one.drawing.right_unit || one.drawing.stages !== null;
  if (taken(entry)) return 8;
  return drawings.some((one) => one.days === entry.days && taken(one)) ? size + LABEL + 8 : HALF_A_DAY_LABEL;
}

function options(entry, width, main) {
  const { drawing } = entry;
  const { fwd, bwd, middle } = halves(drawing);
  const side = width < 500 ? SIDE - 6 : SIDE;
  return {
    width, height: !main ? HEIGHT.other : width < 500 ? HEIGHT.phone : HEIGHT.main,
    padding: [8, margin(entry, side), 0, 0],
    cursor: { sync: { key: "page" }, drag: { x: true, y: false } },
    scales: { x: { time: false, distr: 100, fwd, bwd }, y: vertical(entry), right: { range: (_, low, high) => uPlot.rangeNum(low ?? 0, high ?? 1, 0.1, true) } },
    axes: [
      { ...axis(""), splits: ticks(drawing, middle), filter: (_, days) => days, values: (_, days) => days.map(dayOf) },
      { ...axis(drawing.unit), size: side + 6 },
      ...rightAxis(entry, side),
    ],
    legend: { markers: { width: 2, fill: (_, at) => swatch(drawing, at), dash: (_, at) => (drawing.curves[at - 1]?.style === "dashed" ? "dashed" : "solid") } },
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
  byKeyboard(entry);
}

// The plot is a slider over its days: arrows move by a day, Page Up and Page Down by a week, Home and End to the ends.
const KEYS = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -7, PageUp: 7, Home: -Infinity, End: Infinity };
function byKeyboard({ drawing, plot, canvas }) {
  const { over } = plot, last = drawing.time.length - 1;
  let index = Math.min(last, drawing.time.indexOf(drawing.t0) + 1);
  const show = () => {
    plot.setCursor({ left: plot.valToPos(plot.data[0][index], "x"), top: over.clientHeight / 2 });
    const values = plot.series.map((one, at) => (at && one.class !== "hidden" ? [one.label, one.value(plot, plot.data[at][index], at, index)] : []));
    over.setAttribute("aria-valuenow", String(index));
    over.setAttribute("aria-valuetext", `${fullDay(plot.data[0][index])}: ${values.filter(([, value]) => value).map((pair) => pair.join(" ")).join(", ")}`);
  };
  canvas.setAttribute("role", "group");
  const of = { tabindex: 0, role: "slider", "aria-label": "Values by day, with the arrow keys", "aria-valuemin": 0, "aria-valuemax": last, "aria-valuenow": index };
  for (const [name, value] of Object.entries(of)) over.setAttribute(name, String(value));
  over.addEventListener("focus", show);
  over.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    index = Math.min(last, Math.max(0, index + KEYS[event.key]));
    show();
  });
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
    addTools(entry, figure.querySelector(".tools"));
  }
  drawings.filter((entry) => !entry.plot).forEach(draw);
  document.documentElement.dataset.drawn = String(drawings.length);
}

let drawnWidth = innerWidth;
for (const medium of ["(prefers-color-scheme: dark)", "print"]) matchMedia(medium).addEventListener("change", () => drawings.forEach(draw));
addEventListener("freshet-page", drawAll);
addEventListener("resize", () => {
  if (innerWidth !== drawnWidth) drawings.forEach(draw);
  drawnWidth = innerWidth;
});
drawAll();
