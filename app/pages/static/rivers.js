// The first page: choosers act at once, and the map is moved by the keyboard and the pointer. Without it, by the button and links.
"use strict";

(() => {
  const form = document.querySelector("form[data-submits]");
  form?.addEventListener("change", (event) => event.target.matches("select") && form.requestSubmit());
  const button = form?.querySelector("button");
  if (button) button.classList.add("hidden");

  const map = document.querySelector("#map");
  if (map === null) return;
  if (location.hash === "#map") map.focus({ preventScroll: true });
  const KEYS = { ArrowLeft: "west", ArrowUp: "north", ArrowDown: "south", ArrowRight: "east", "+": "in", "=": "in", "-": "out", 0: "whole" };
  map.addEventListener("keydown", (event) => {
    const link = event.ctrlKey || event.metaKey || event.altKey ? null : map.querySelector(`[data-move="${KEYS[event.key]}"]`);
    if (link === null || event.target !== map) return;
    event.preventDefault();
    link.click();
  });

  const svg = map.querySelector("svg");
  const view = svg.viewBox.baseVal;
  const [west, south, east, north] = map.dataset.box.split(",").map(Number);
  const wide = east >= west ? east - west : east + 360 - west;
  const go = (x, y, factor) => {
    const [w, h] = [(wide * factor) / 2, ((north - south) * factor) / 2];
    const turned = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180;
    const box = [turned(x - w), Math.max(y - h, -90), turned(x + w), Math.min(y + h, 90)].map((edge) => edge.toFixed(3));
    location.assign(map.dataset.address.replace("BOX", encodeURIComponent(box.join(","))) + "#map");
  };
  const middle = [west + wide / 2, (south + north) / 2];
  let start = null;
  const shift = (event) => {
    const scale = view.width / svg.clientWidth;
    return [(start.x - event.clientX) * scale, (start.y - event.clientY) * scale];
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType === "mouse") start = { x: event.clientX, y: event.clientY, moved: false };
  });
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  addEventListener("pointermove", (event) => {
    if (start === null) return;
    const [x, y] = shift(event);
    start.moved ||= Math.hypot(x, y) > 8;
    if (start.moved) [view.x, view.y] = [x, y];
  });
  addEventListener("pointerup", (event) => {
    if (start?.moved) {
      const [x, y] = shift(event);
      go(middle[0] + (x / view.width) * wide, middle[1] - (y / view.height) * (north - south), 1);
    }
    start = start?.moved ? { ...start, done: true } : null;
  });
  svg.addEventListener("click", (event) => {
    if (start?.done) event.preventDefault();
    start = null;
  }, true);
  svg.addEventListener("dblclick", (event) => {
    const edge = svg.getBoundingClientRect();
    const [x, y] = [(event.clientX - edge.left) / edge.width, (event.clientY - edge.top) / edge.height];
    go(west + x * wide, north - y * (north - south), 0.5);
  });
})();
