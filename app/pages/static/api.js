// The page of the API: what an operation takes and answers, and a form to try it, are drawn by Swagger UI when it is
// opened, over a document that has this operation alone: of the whole document it takes many seconds.
"use strict";

{
  const list = document.getElementById("operations");
  const place = document.getElementById("swagger-ui");
  const fault = document.getElementById("fault");
  const operations = [...list.querySelectorAll("details[name=operation]")];
  const base = list.dataset.base;

  let loading = null;
  function load() {
    const script = new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = place.dataset.bundle;
      element.onload = resolve;
      element.onerror = () => reject(new Error("its script was not loaded"));
      document.head.append(element);
    });
    const described = fetch(base + "/openapi.json").then((answer) => {
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      return answer.json();
    });
    return Promise.all([described, script]).then(([whole]) => whole);
  }

  // The part of the document that one operation needs: it, and the schemas to which it and they refer.
  function partOf(whole, path, method) {
    const operation = { ...whole.paths[path][method], tags: ["operation"] };
    const components = { securitySchemes: whole.components.securitySchemes };
    const add = (part) => {
      for (const [, kind, name] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
        const known = (components[kind] ??= {});
        if (name in known) continue;
        known[name] = whole.components[kind][name];
        add(known[name]);
      }
    };
    add(operation);
    const part = { openapi: whole.openapi, info: { title: "", version: "" }, paths: { [path]: { [method]: operation } }, components };
    if (base) part.servers = [{ url: base }];
    return part;
  }

  let drawn = null;
  async function draw(element) {
    try {
      loading ??= load();
      const part = partOf(await loading, element.dataset.path, element.dataset.method);
      if (!element.open) return;
      element.append(place);
      place.hidden = false;
      if (drawn) drawn.specActions.updateJsonSpec(part);
      else drawn = SwaggerUIBundle({ spec: part, dom_id: "#swagger-ui", docExpansion: "full", defaultModelsExpandDepth: -1 });
      fault.hidden = true;
    } catch (error) {
      loading = null;
      fault.textContent = `The operation could not be read from the service: ${error.message}. Open it again to retry.`;
      fault.hidden = false;
    }
  }

  for (const element of operations) element.addEventListener("toggle", () => element.open && draw(element));

  // What a search finds is seen at once, whatever its subject.
  const search = document.getElementById("search");
  search.hidden = false;
  search.addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const subject of list.querySelectorAll(".subject")) {
      const about = subject.querySelector("h2").textContent;
      let matches = 0;
      for (const element of subject.querySelectorAll("details")) {
        const text = [about, element.id, element.querySelector("summary").textContent].join(" ").toLowerCase();
        element.hidden = !words.every((word) => text.includes(word));
        matches += !element.hidden;
      }
      subject.hidden = matches === 0;
      subject.open = words.length > 0;
    }
  });

  function openNamed() {
    const element = operations.find((one) => one.id === location.hash.split(/[#/]/).at(-1));
    if (!element) return;
    element.closest(".subject").open = element.open = true;
    element.scrollIntoView();
  }
  addEventListener("hashchange", openNamed);
  openNamed();

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}
