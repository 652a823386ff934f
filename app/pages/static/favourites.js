// Favourite basins, in this browser alone: a star for each basin, and a link to the list of them.
"use strict";

(() => {
  const NAME = "freshet-favourites";
  const MAX = 50;
  const read = () => {
    try {
      const held = JSON.parse(localStorage.getItem(NAME) || "[]");
      return Array.isArray(held) ? held.filter((basin) => typeof basin === "string") : [];
    } catch {
      return [];
    }
  };

  function toggle(basin) {
    const held = read();
    const next = held.includes(basin) ? held.filter((other) => other !== basin) : [...held, basin].slice(-MAX);
    localStorage.setItem(NAME, JSON.stringify(next));
    show();
  }

  function star(place) {
    const basin = place.dataset.favourite;
    let button = place.querySelector("button");
    if (button === null) {
      button = document.createElement("button");
      button.type = "button";
      button.className = "star";
      button.addEventListener("click", () => toggle(basin));
      place.append(button);
    }
    const on = read().includes(basin);
    button.textContent = on ? "★" : "☆";
    button.setAttribute("aria-pressed", String(on));
    button.setAttribute("aria-label", `Favourite ${basin}`);
  }

  function show() {
    document.querySelectorAll("[data-favourite]").forEach(star);
    const link = document.querySelector("[data-favourites]");
    if (link === null) return;
    const held = read();
    link.hidden = held.length === 0;
    link.textContent = `My favourites (${held.length})`;
    link.href = link.dataset.favourites + "?" + new URLSearchParams(held.map((basin) => ["basin", basin]));
  }

  addEventListener("freshet-page", show);
  show();
})();
