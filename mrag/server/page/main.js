// The page: which section is open, and what of it stands in the address, so that links and Back work.

import { once, onTokenWanted, setToken } from "./api.js";
import * as ask from "./ask.js";
import { check } from "./banner.js";
import { byId, h, show } from "./dom.js";
import * as explore from "./explore.js";
import { lazy } from "./lazy.js";
import * as query from "./query.js";

// Maps, because names come from the address, and every object has names that nobody gave it.
const sections = new Map(Object.entries({ ask, query, explore, images: lazy("images"), review: lazy("review"), health: lazy("health") }));
const titles = new Map(Object.entries({ ask: "Ask", query: "Query", explore: "Explore", images: "Images", review: "Review", health: "Health" }));
const last = new Map();

function read() {
  const [path, values] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const name = sections.has(path) ? path : "ask";
  // Without a prototype, so that a value is there only if the address gives it.
  const given = Object.create(null);
  for (const [key, value] of new URLSearchParams(values || "")) given[key] = value;
  return { name, values: given };
}

function address(name, values) {
  const query = new URLSearchParams(values).toString();
  return `#/${name}${query ? `?${query}` : ""}`;
}

function go(name, values, { replace = false } = {}) {
  const to = address(name, values);
  if (replace) {
    history.replaceState(null, "", to);
    last.set(name, to);
    tabs(name);
  } else if (location.hash === to) {
    open();
  } else {
    location.hash = to;
  }
}

function tabs(name) {
  for (const tab of document.querySelectorAll("[data-tab]")) {
    const here = tab.dataset.tab === name;
    if (here) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
    // A tab comes back to where one was in it; the open one leads to its beginning.
    tab.setAttribute("href", here ? `#/${tab.dataset.tab}` : last.get(tab.dataset.tab) || `#/${tab.dataset.tab}`);
  }
}

function open() {
  const { name, values } = read();
  last.set(name, location.hash || "#/ask");
  tabs(name);
  for (const [one, section] of sections) {
    show(byId(one), one === name);
    if (one !== name) section.leave?.();
  }
  check();
  document.title = `${values.q ? `${values.q} · ` : ""}${titles.get(name)} · mrag`;
  sections.get(name).enter(values, go);
}

async function about() {
  try {
    const found = await once("/api/about");
    const { asserted, inferred } = found.triples;
    const count = (n) => n.toLocaleString("en");
    byId("about").textContent = `${found.name}: ${count(asserted)} asserted + ${count(inferred)} inferred triples`;
    const model = found.model.available ? `answers written by ${found.model.name}` : "no language model: answers are the best facts, in sentences";
    byId("foot").replaceChildren(h("span", {}, `mrag ${found.version} · ${model} · SPARQL endpoint at `), h("code", {}, new URL(found.sparql, location.href).href));
  } catch {
    // Each section says what went wrong with its own request.
  }
}

let tokenGiven = false;

onTokenWanted(() => {
  const form = byId("token-form");
  if (tokenGiven) byId("token-hint").textContent = "The server did not take this token.";
  show(form, true);
  byId("token").focus();
});

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value.trim());
  tokenGiven = true;
  show(byId("token-form"), false);
  byId("token").value = "";
  about();
  open();
});

for (const section of sections.values()) section.start(go);
window.addEventListener("hashchange", open);
about();
open();
