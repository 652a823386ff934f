// What is done on pages with a key. The key stays in this tab's session storage and is sent in a header to this service
// alone: no cookie goes along by itself, so that no other site can make the browser write here.
"use strict";

const NAME = "freshet-key";
const IDLE_MS = 30 * 60 * 1000;
const RETRY_MS = 2000;
const TYPING_MS = 150;
const WAITING_MS = 60 * 1000;
const base = document.querySelector(".brand").getAttribute("href").replace(/\/$/, "");
const here = () => location.pathname + location.search;
let shown = here();
let asked = new AbortController();

const key = {
  // The key without using it: what the page does by itself does not prolong its time.
  peek() {
    const held = JSON.parse(sessionStorage.getItem(NAME) || "null");
    if (held !== null && held.until >= Date.now()) return held.token;
    sessionStorage.removeItem(NAME);
    return null;
  },
  get() {
    const token = this.peek();
    if (token !== null) this.hold(token);
    return token;
  },
  hold(token) {
    sessionStorage.setItem(NAME, JSON.stringify({ token, until: Date.now() + IDLE_MS }));
  },
  forget() {
    sessionStorage.removeItem(NAME);
  },
};

function authorization(token = key.get()) {
  return token === null ? {} : { Authorization: "Bearer " + token };
}

// Show a page in place of the one shown, and return its status; undefined where another was asked for meanwhile.
async function open(address) {
  asked.abort();
  asked = new AbortController();
  try {
    return await replace(address, asked.signal);
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    throw error;
  }
}

// Show a page as a link does: where that fails, the browser asks for it and shows why.
async function navigate(address) {
  try {
    await open(address);
  } catch {
    if (address === location.href) location.reload();
    else location.assign(address);
  }
}

async function replace(address, signal) {
  const answer = await fetch(address, { headers: { Accept: "text/html", ...authorization() }, signal });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = page.querySelector("main");
  if (answer.status === 401) key.forget();
  if (main === null) throw new Error(`it answered ${answer.status} at ${address}`);
  document.title = page.title;
  document.querySelector("main").replaceWith(document.importNode(main, true));
  document.querySelector("header").replaceWith(document.importNode(page.querySelector("header"), true));
  if (new URL(address, location.href).href !== location.href) history.pushState(null, "", address);
  shown = here();
  scrollTo(0, 0);
  enhance();
  await loadHead(page);
  dispatchEvent(new Event("freshet-page"));
  return answer.status;
}

// Load what the page has in its head and this document does not have yet.
async function loadHead(page) {
  for (const wanted of page.querySelectorAll("head script[src], head link[rel=stylesheet]")) {
    const name = wanted.localName === "script" ? "src" : "href";
    const address = wanted.getAttribute(name);
    if (document.querySelector(`head [${name}="${CSS.escape(address)}"]`)) continue;
    const element = document.createElement(wanted.localName);
    if (wanted.rel) element.rel = wanted.rel;
    const loaded = new Promise((resolve, reject) => {
      element.addEventListener("load", resolve);
      element.addEventListener("error", () => reject(new Error(`${address} was not loaded`)));
    });
    element.setAttribute(name, address);
    document.head.append(element);
    await loaded;
  }
}

// What a field adds to the request; undefined where it is as it was.
function valueOf(field) {
  const { entry, default: before = "", size = 1 } = field.dataset;
  if (entry === "boolean") return field.checked === field.hasAttribute("data-default") ? undefined : field.checked;
  const text = field.value.trim();
  if (text === before) return undefined;
  const list = (words) => words.split(",").map((part) => part.trim()).filter(Boolean).map("numbers" in field.dataset ? Number : String);
  switch (entry) {
    case "list": return list(text);
    case "rows": return text === "" ? [] : text.split(";").map(list);
    case "pairs": return Object.fromEntries(list(text).map((pair) => pair.split("=").map((part) => part.trim())));
  }
  if (text === "") return undefined;
  return entry === "number" ? Number(text) * size : entry === "percent" ? Number(text) / 100 : text;
}

// Whether a field is to be sent: one that goes with another where that is changed, or has the value that it goes with.
function belongs(field, form) {
  const { with: name, withValue } = field.dataset;
  if (!name) return true;
  return withValue ? form.elements[name].value === withValue : valueOf(form.elements[name]) !== undefined;
}

// Where a field stands in the request: a dot in its name leads into an object, unless data-path has the parts.
const pathOf = (field) => (field.dataset.path ? JSON.parse(field.dataset.path) : field.name.split("."));

// The contents of the form, as JSON.
function body(form) {
  const content = JSON.parse(form.dataset.content ?? "{}");
  for (const field of form.querySelectorAll("[data-entry]:not(:disabled)")) {
    const value = valueOf(field);
    if (value === undefined || !belongs(field, form)) continue;
    const path = pathOf(field);
    const last = path.pop();
    path.reduce((inner, part) => (inner[part] ??= {}), content)[last] = value;
  }
  return content;
}

// Show what is wrong at its field; the first gets the focus. What belongs to no field stands below the form.
function mark(form, faults) {
  const fields = [...form.querySelectorAll("[name]:not(:disabled, [type=hidden])")].map((field) => [field, pathOf(field).join(".") + "."]);
  const marked = [], others = [];
  for (const { field: name, detail } of faults) {
    const [at, text] = [name + ".", detail.replace(/\.$/, "") + ". "];
    const [field] = fields.find(([, path]) => at.startsWith(path)) ?? fields.find(([, path]) => path.startsWith(at)) ?? [];
    if (field === undefined) {
      others.push(name ? `${name}: ${text}` : text);
      continue;
    }
    const id = `fault-${Array.prototype.indexOf.call(document.querySelectorAll("[name]"), field)}`;
    const fault = document.getElementById(id) ?? Object.assign(document.createElement("strong"), { id, className: "late" });
    fault.textContent += text;
    field.after(fault);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", id);
    for (let around = field.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    marked.push(field);
  }
  marked[0]?.focus();
  return [...(marked.length ? ["Nothing was stored: correct what is marked, and send it again. "] : []), ...others].join("");
}

function unmark(form) {
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    document.getElementById(field.getAttribute("aria-describedby")).remove();
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

function say(form, text, failed) {
  const output = form.querySelector("output.answer");
  output.className = failed ? "answer failed" : "answer reason";
  output.textContent = text;
}

async function send(form) {
  const [method, pattern] = form.dataset.call.split(" ");
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(form.elements[name].value.trim()));
  if (key.get() === null) return askForKey(form, "This needs a key:");
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) return undefined;
  const request = { method, headers: authorization() };
  if (method !== "DELETE" && form.querySelector("[data-entry]")) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body(form));
  }
  unmark(form);
  const answer = await fetch(base + path, request);
  const content = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) {
    if (answer.status !== 401) return say(form, content.errors?.length ? mark(form, content.errors) : content.detail, true);
    key.forget();
    return askForKey(form, content.detail);
  }
  switch (form.dataset.then) {
    case "follow": return navigate(base + answer.headers.get("Location").replace("/v1", ""));
    case "watch": return watch(form, content);
    case "leave": return navigate(base + form.dataset.to);
    case "show": return say(form, JSON.stringify(content, null, 2), false);
    default: return navigate(location.href);
  }
}

// Ask for a key beside the form, which stays as it is filled in, and send it with that key.
function askForKey(form, why) {
  say(form, why + " ", true);
  const input = Object.assign(document.createElement("input"), { type: "password", autocomplete: "off", placeholder: "freshet_…" });
  const use = Object.assign(document.createElement("button"), { type: "button", textContent: "Use this key" });
  input.setAttribute("aria-label", "Key");
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    use.click();
  });
  use.addEventListener("click", () => {
    key.hold(input.value.trim());
    form.requestSubmit();
  });
  form.querySelector("output.answer").append(input, " ", use);
  input.focus();
}

// Watch a job beside the form that has posted it, and then show the resulting run on the same page.
async function watch(form, job) {
  const section = form.querySelector("section");
  say(form, "", false);
  section.dataset.events = job.events;
  section.hidden = false;
  await follow(section, async () => {
    const answer = await fetch(`${base}/v1/jobs/${job.id}`, { headers: authorization() });
    const ended = await answer.json();
    if (ended.status === "succeeded") return navigate(`${location.pathname}?run=${ended.result.runs[0].run}`);
    delete section.dataset.ended;
    section.hidden = true;
    return say(form, ended.problem?.detail ?? ended.detail ?? `The job is ${ended.status}.`, true);
  });
}

// Follow a job's events, and then call `whenEnded`; not if the section has left the page by then.
async function follow(section, whenEnded = () => navigate(location.href)) {
  if (await readToEnd(section)) return whenEnded();
  return undefined;
}

class Refused extends Error {}

// Show a job's events, and return whether it has ended. A stream that is cut goes on after its last event.
async function readToEnd(section) {
  for (let last = 0; section.isConnected;) {
    try {
      for await (const event of eventsAfter(last, section.dataset.events)) {
        if (!section.isConnected) return false;
        fault(section, "");
        show(event, section);
        last = event.id ?? last;
      }
      if (section.dataset.ended) return true;
    } catch (error) {
      if (error instanceof Refused) {
        fault(section, error.message);
        return false;
      }
      fault(section, "The connection was lost: what stands here may be old. Connecting again.");
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return false;
}

// Read server-sent events with fetch, which can send the key. A comment, the stream's heartbeat, is an empty event.
async function* eventsAfter(last, address) {
  const answer = await fetch(base + address, { headers: { ...authorization(), "Last-Event-ID": String(last) } });
  if ([401, 403, 404].includes(answer.status)) throw new Refused((await answer.json()).detail);
  if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let text = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      yield* events.map(parsed);
    }
  } finally {
    reader.cancel().catch(() => {}); // of a stream that was cut
  }
}

function parsed(text) {
  const event = Object.fromEntries(text.split("\n").filter((line) => line && line[0] !== ":").map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at), line.slice(at + 1).trim()];
  }));
  return event.data === undefined ? {} : { id: event.id, type: event.event, data: JSON.parse(event.data) };
}

function fault(section, text) {
  section.querySelector("[data-fault]").textContent = text;
}

function show({ type, data }, section) {
  const [progress, log] = [section.querySelector("progress"), section.querySelector("[data-log]")];
  if (type === "progress" && progress) {
    progress.max = data.total || 1;
    progress.value = data.done;
    section.querySelector("[data-detail]").textContent = `${data.done} of ${data.total} ${data.detail || ""}`;
  }
  if (type === "status" && ["succeeded", "failed", "cancelled"].includes(data.status)) section.dataset.ended = "yes";
  if (type === "log" && log) log.textContent += `${data.at} ${data.text}\n`;
}

// Show at the head how many changes of alerts wait for the key's owner; nothing to whom does not decide them.
async function showWaiting() {
  const token = key.peek(), link = document.querySelector("[data-waiting]");
  document.querySelector("[data-forget]").hidden = token === null;
  if (token === null) {
    link.hidden = true;
    return;
  }
  try {
    const answer = await fetch(`${base}/v1/alerts/held?fields=basin&limit=100`, { headers: authorization(token) });
    if (!answer.ok) return;
    const { held, next } = await answer.json();
    link.hidden = false;
    link.querySelector(".badge").textContent = held.length + (next ? "+" : "");
    link.classList.toggle("soft", held.length === 0);
  } catch {
    // The number stays as it was: the service did not answer, which the next page reports.
  }
}

function enhance() {
  document.querySelector("[data-forget]").addEventListener("click", () => {
    key.forget();
    location.reload();
  });
  showWaiting();
  // Until this script handles them, no form with a key or a call is sent: the browser would put it in an address.
  for (const button of document.querySelectorAll(":is(form[data-key], form[data-call]) button")) button.disabled = false;
  for (const form of document.querySelectorAll("form[data-key]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      key.hold(form.querySelector("[data-token]").value.trim());
      try {
        if ((await open(location.href)) === 401) {
          say(document.querySelector("form[data-key]"), "The key is not known, has expired or was revoked.", true);
        }
      } catch (error) {
        failed(form, error);
      }
    });
  }
  for (const form of document.querySelectorAll("form[data-call]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      try {
        await send(form);
      } catch (error) {
        say(form, "The service did not answer: " + error.message, true);
      } finally {
        button.disabled = false;
      }
    });
  }
  for (const group of document.querySelectorAll("[data-variants]")) {
    const select = group.querySelector("select");
    const choose = () => {
      for (const part of group.querySelectorAll(":scope > [data-variant]")) {
        part.hidden = part.disabled = part.dataset.variant !== select.value;
      }
    };
    select.addEventListener("change", choose);
    choose();
  }
  for (const slider of document.querySelectorAll("input[type=range]")) {
    slider.addEventListener("input", () => {
      const text = `${slider.value} ${slider.dataset.unit}`;
      slider.parentElement.querySelector("[data-value]").textContent = text;
      slider.setAttribute("aria-valuetext", text);
    });
  }
  for (const form of document.querySelectorAll("form[data-navigate]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      navigate(form.action + "?" + new URLSearchParams(new FormData(form)));
    });
  }
  for (const form of document.querySelectorAll("form[data-preview]")) preview(form);
  const section = document.querySelector("[data-events]");
  if (section) follow(section, section.dataset.ended ? () => {} : undefined);
}

// Show what the fields that the address has would change, while they are typed: the service computes it.
function preview(form) {
  let typed = 0;
  form.addEventListener("input", async (event) => {
    if (event.target.type !== "number" || event.target.dataset.path || !event.target.checkValidity()) return;
    const mine = (typed += 1);
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    if (mine !== typed) return;
    const fields = ["run", "factor", "shift_days"].map((name) => [name, form.elements[name].value]);
    const address = `${location.pathname}?${new URLSearchParams(fields.filter(([, value]) => value !== ""))}`;
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html", ...authorization() } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== typed || !form.isConnected) return;
      if (!answer.ok) return say(form, page.querySelector(".failed")?.textContent ?? page.title, true);
      say(form, "", false);
      history.replaceState(null, "", address);
      shown = here();
      const next = page.querySelectorAll("[data-shown]");
      document.querySelectorAll("[data-shown]").forEach((part, index) => part.replaceWith(document.importNode(next[index], true)));
      dispatchEvent(new Event("freshet-page"));
    } catch (error) {
      failed(form, error);
    }
  });
}

function failed(form, error) {
  say(form, "The service did not answer as it should: " + error.message, true);
}

// A link is followed with the key, which the browser itself would not send.
const NO_PAGE = /^\/(v1|docs|guide|static|problems|health|metrics|openapi\.json)(\/|$)/;
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("download")) return;
  const { origin, pathname, hash } = new URL(link.href);
  const isPage = origin === location.origin && !hash && !NO_PAGE.test(pathname.slice(base.length));
  if (!isPage || key.get() === null) return;
  event.preventDefault();
  navigate(link.href);
});
addEventListener("popstate", () => {
  if (here() !== shown) navigate(location.href);
  else asked.abort(); // another part of the page that is shown, or back to it before another was
});

async function start() {
  if (!document.querySelector("[data-needs-key]") || key.get() === null) return enhance();
  try {
    return await open(location.href);
  } catch (error) {
    enhance();
    return failed(document.querySelector("form[data-key]"), error);
  }
}
start();
setInterval(showWaiting, WAITING_MS);

// Favourite basins, in this browser alone: a star for each basin, and a link to the list of them.
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
