// The page: which section is open, and what of it stands in the address, so that links and Back work.

import { ROOT, once, onTokenWanted, setToken } from "./api.js";
import * as ask from "./ask.js";
import { check } from "./banner.js";
import { byId, field, h, show, within } from "./dom.js";
import { LANGUAGES, choose, language, t, translateDocument } from "./language.js";
import { lazy } from "./lazy.js";

/** @import {About, Go, Section, Values} from "./types.js" */

translateDocument();

// Maps, because names come from the address, and every object has names that nobody gave it.
/** @type {Map<string, Section>} */
const sections = new Map(Object.entries({ ask, query: lazy("query", true), explore: lazy("explore", true), images: lazy("images"), review: lazy("review"), health: lazy("health") }));
const titles = new Map(Object.entries({ ask: t("Ask"), query: t("Query"), explore: t("Explore"), images: t("Images"), review: t("Review"), health: t("Health") }));
/** @type {Map<string, string>} the address that each section had last */
const last = new Map();

function read() {
  const [path, values] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const name = sections.has(path) ? path : "ask";
  // Without a prototype, so that a value is there only if the address gives it.
  /** @type {Values} */
  const given = Object.create(null);
  for (const [key, value] of new URLSearchParams(values || "")) given[key] = value;
  return { name, values: given };
}

/** @param {string} name @param {Record<string, string>} values */
function address(name, values) {
  const query = new URLSearchParams(values).toString();
  return `#/${name}${query ? `?${query}` : ""}`;
}

/** @type {Go} */
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

/** @param {string} name */
function tabs(name) {
  for (const tab of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-tab]"))) {
    const { tab: leads = "" } = tab.dataset;
    const here = leads === name;
    if (here) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
    // A tab comes back to where one was in it; the open one leads to its beginning.
    tab.setAttribute("href", here ? `#/${leads}` : last.get(leads) || `#/${leads}`);
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
  sections.get(name)?.enter(values, go);
}

async function about() {
  try {
    /** @type {About} */
    const found = await once("/api/about");
    const { asserted, inferred } = found.triples;
    byId("about").textContent = t("{name}: {asserted} asserted + {inferred} inferred triples", { name: found.name, asserted, inferred });
    const model = found.model.available ? t("answers written by {name}", { name: found.model.name }) : t("no language model: answers are the best facts, in sentences");
    byId("foot").replaceChildren(h("span", {}, t("mrag {version} · {model} · SPARQL endpoint at ", { version: found.version, model })), h("code", {}, new URL(ROOT + found.sparql.slice(1), location.href).href));
  } catch {
    // Each section says what went wrong with its own request.
  }
}

let tokenGiven = false;

onTokenWanted(() => {
  const form = byId("token-form");
  if (tokenGiven) byId("token-hint").textContent = t("The server did not take this token.");
  show(form, true);
  byId("token").focus();
});

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const token = field("token", HTMLInputElement);
  setToken(token.value.trim());
  tokenGiven = true;
  show(byId("token-form"), false);
  token.value = "";
  about();
  open();
});

const other = [...LANGUAGES].find(([tag]) => tag !== language);
if (other) {
  const [tag, name] = other;
  const place = matchMedia("(max-width: 620px)").matches ? within(document, ".bottom") : byId("language");
  place.append(h("button", { type: "button", lang: tag, onclick: () => choose(tag) }, name));
}
for (const section of sections.values()) section.start(go);
window.addEventListener("hashchange", open);
about();
open();
