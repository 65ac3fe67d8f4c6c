// Health: what the server does, what answers rest on, what went wrong lately, and what mrag doctor finds.

import { getJson, postJson } from "./api.js";
import { check, remedy, trouble } from "./banner.js";
import { byId, h, problemBox } from "./dom.js";
import { number, plural, t, when } from "./language.js";

/** @import {Check, Child, GraphState, HealthState, NotedError, PartName} from "./types.js" */

const EVERY = 2000;
let open = false;
let timer = 0;
let turn = 0;
/** @type {Map<string, HTMLElement>} */
const places = new Map();
/** @type {Map<string, string>} what was drawn last in each place */
const drawn = new Map();

/** @param {string} name @param {string} title @param {Child[]} more */
function card(name, title, ...more) {
  const place = h("div", {});
  places.set(name, place);
  return h("section", { class: "card", "aria-labelledby": `health-${name}` }, h("h2", { id: `health-${name}` }, title), ...more, place);
}

/** @param {string} name */
function placeOf(name) {
  const place = places.get(name);
  if (!place) throw new TypeError(`There is no card ${name}.`);
  return place;
}

export function start() {
  const again = h("button", { type: "button", onclick: () => checks() }, t("Check again"));
  byId("health").append(
    h("h1", { id: "health-title" }, t("Health")),
    h("div", { class: "two" }, h("div", { class: "column" }, card("state", t("Inferences and index")), card("queries", t("Running queries")), card("errors", t("Recent errors"))), h("div", { class: "column" }, card("checks", t("Checks"), h("p", { class: "line" }, again, h("span", { class: "hint" }, t("as mrag doctor makes them")))))),
  );
}

export function enter() {
  open = true;
  drawn.clear();
  look();
  checks();
}

export function leave() {
  open = false;
  clearTimeout(timer);
}

async function look() {
  clearTimeout(timer);
  const mine = ++turn;
  try {
    /** @type {HealthState} */
    const found = await getJson("/api/health");
    if (mine !== turn) return;
    const before = drawn.has("state");
    const changed = draw("state", [found.inference, found.index, found.writable, found.triples], () => states(found));
    if (before && changed) checks();
    draw("queries", [found.queries, found.waiting, found.changing], () => queries(found));
    draw("errors", found.errors, () => errors(found.errors));
  } catch (error) {
    if (mine !== turn) return;
    drawn.clear();
    placeOf("state").replaceChildren(problemBox(error));
  }
  if (open) timer = window.setTimeout(look, EVERY);
}

// Drawn anew only where it has changed, so that a button does not go away under a finger.
/** @param {string} name @param {unknown} about @param {() => HTMLElement | HTMLElement[]} make */
function draw(name, about, make) {
  const now = JSON.stringify(about);
  if (drawn.get(name) === now) return false;
  drawn.set(name, now);
  const place = placeOf(name);
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && place.contains(focused) ? focused.dataset.key : null;
  place.replaceChildren(...[make()].flat());
  if (key) [.../** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-key]"))].find((one) => one.dataset.key === key)?.focus();
  return true;
}

const INFERENCE = new Map([
  ["current", t("up to date")],
  ["outdated", t("older than the graph")],
  ["none", t("none yet")],
  ["server", t("made by the store itself")],
]);
const INDEX = new Map([
  ["current", t("up to date")],
  ["stale", t("older than the graph")],
  ["missing", t("there is none")],
  ["damaged", t("damaged")],
]);

/** @param {GraphState} found */
function states(found) {
  const after = () => {
    look();
    check(true);
  };
  /** @param {PartName} part @param {string} name @param {string | undefined} words @param {string} more */
  const row = (part, name, words, more) => {
    const bad = trouble(part, found);
    const waits = found[part].running || (!bad && found.following && ["outdated", "stale"].includes(found[part].state));
    return h("div", { class: `state ${bad ? "bad" : "good"}` }, h("h3", {}, name), h("p", {}, h("span", { class: "sign", "aria-hidden": "true" }, bad ? "! " : waits ? "… " : "✓ "), words, more), bad ? h("p", {}, remedy(part, found, bad.command, after)) : waits ? h("p", { class: "waiting" }, t("It is being brought up to date …")) : null);
  };
  const { documents, embedder, name, state } = found.index;
  const about = documents === null ? "" : `, ${plural(documents, "document", "documents")}, ${embedder || t("words alone")}`;
  return [row("inference", t("Inferences"), INFERENCE.get(found.inference.state), ""), row("index", t("Search index {name}", { name }), INDEX.get(state), about)];
}

/** @param {HealthState} found */
function queries(found) {
  const notes = [found.waiting ? t("{queries} for a turn.", { queries: plural(found.waiting, "query waits", "queries wait") }) : "", found.changing ? t("The graph is being changed.") : ""].filter(Boolean);
  const rows = found.queries.map((one) => {
    const said = h("span", { role: "status" });
    const stop = async () => {
      try {
        const { stopped } = await postJson("/api/health/stop", { id: one.id });
        if (!stopped) said.textContent = t("It has ended already.");
        look();
      } catch (error) {
        said.replaceChildren(problemBox(error));
      }
    };
    const button = one.stoppable ? h("button", { type: "button", "data-key": `stop-${one.id}`, "aria-label": t("Stop query {id}", { id: one.id }), onclick: stop }, t("Stop")) : null;
    const text = one.text ? h("pre", { tabindex: "0", "aria-label": t("Query {id}", { id: one.id }) }, h("code", {}, one.text)) : h("p", { class: "hint" }, found.writable ? t("statements, without a query") : t("its text is shown where the server allows changes"));
    return h("li", {}, h("div", { class: "line" }, h("strong", {}, `${number(one.seconds)} s`), button, said), text);
  });
  return [...(rows.length ? [h("ul", { class: "running" }, rows)] : [h("p", { class: "hint" }, t("No query is running."))]), ...notes.map((note) => h("p", { class: "hint" }, note))];
}

/** @param {NotedError[]} found */
function errors(found) {
  if (!found.length) return h("p", { class: "hint" }, t("None since the server was started."));
  return h(
    "ul",
    { class: "errors" },
    found.map((one) => h("li", {}, h("p", {}, h("strong", {}, one.message), one.hint ? ` ${one.hint}` : ""), h("p", { class: "hint" }, h("time", { datetime: one.time }, when(one.time)), ` · ${one.where}${one.status ? ` · ${one.status}` : ""} · ${one.type}`))),
  );
}

async function checks() {
  const place = placeOf("checks");
  if (!place.childElementCount) place.replaceChildren(h("p", { class: "hint waiting" }, t("Checking …")));
  try {
    /** @type {Check[]} */
    const found = await getJson("/api/health/checks");
    const sign = (/** @type {boolean | null} */ ok) => (ok === null ? ["–", t("optional")] : ok ? ["✓", t("works")] : ["!", t("fails")]);
    place.replaceChildren(
      h(
        "ul",
        { class: "checks-list" },
        found.map((one) => {
          const [mark, word] = sign(one.ok);
          return h("li", { class: one.ok === false ? "bad" : one.ok ? "good" : "" }, h("span", { class: "sign", "aria-hidden": "true" }, mark), h("div", {}, h("strong", {}, one.what), h("span", { class: "unseen" }, ` (${word})`), h("span", {}, ` ${one.found}`), one.hint && !one.ok ? h("p", { class: "hint" }, one.hint) : null));
        }),
      ),
    );
  } catch (error) {
    place.replaceChildren(problemBox(error));
  }
}
