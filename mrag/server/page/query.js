// Query: the SPARQL editor Yasqe, the results, and the catalogue of ready queries.

import { once, request } from "./api.js";
import { byId, field, h, problemBox, show } from "./dom.js";
import { number, plural, t } from "./language.js";
import { choice } from "./charts/charts.js";
import { asGraph, linksOfRows, rowsOfTriples } from "./query/drawn.js";
import { makeParams } from "./query/params.js";
import { asCharts, asGallery, downloads, shortener } from "./query/results.js";
import { makeSaved } from "./query/saved.js";
import { resultTable } from "./query/table.js";
import { makeTabs, remember } from "./query/tabs.js";
import { previewUpdate } from "./query/update.js";

/** @import {About, Bindings, Editor, Go, QueryFolder, ReadyQuery, Schema, Values} from "./types.js" */
/** @typedef {(accept: string) => [string, RequestInit]} Asking */

const START = "SELECT ?s ?p ?o\nWHERE { ?s ?p ?o }\nLIMIT 20\n";
const MOST_LINK = 6000;
/** @type {Editor | undefined} */
let editor;
/** @type {(iri: string) => string} */
let short;
/** @type {Promise<Editor> | null} */
let loading = null;
/** @type {AbortController | null} */
let running = null;
/** @type {About} */
let about;
/** @type {ReturnType<typeof makeParams>} */
let params;
/** @type {ReturnType<typeof makeTabs>} */
let tabs;
/** @type {ReturnType<typeof makeSaved>} */
let saved;

/** @param {"link" | "script"} tag @param {Record<string, string>} attributes @returns {Promise<unknown>} */
function file(tag, attributes) {
  return new Promise((done, failed) => {
    const element = h(tag, { ...attributes, onload: done, onerror: () => failed(new Error(t("The editor could not be loaded."))) });
    document.head.append(element);
  });
}

/** @param {Go} go */
export function start(go) {
  byId("run").addEventListener("click", () => run(go));
  byId("preview").addEventListener("click", () => run(go));
  byId("stop").addEventListener("click", () => running?.abort());
  byId("catalogue-filter").addEventListener("input", filter);
  field("catalogue", HTMLDetailsElement).open = matchMedia("(min-width: 900px)").matches;
}

/** @param {Values} values @param {Go} go */
export async function enter(values, go) {
  loading = loading || load(go);
  let made;
  try {
    made = await loading;
  } catch (error) {
    loading = null;
    byId("query-problem").replaceChildren(problemBox(error));
    return;
  }
  if (values.saved !== undefined) await saved.open(values.saved, values);
  if (values.query !== undefined && values.query !== made.getValue()) tabs.find(values.query);
  made.refresh();
}

/** @param {Go} go */
async function load(go) {
  const vendor = "/page/vendor/";
  const style = (/** @type {string} */ name) => file("link", { rel: "stylesheet", href: vendor + name });
  const script = (/** @type {string} */ name) => file("script", { src: vendor + name });
  const [said, schema, groups] = await Promise.all([
    once("/api/about"),
    once("/api/schema").catch(() => ({ classes: [], properties: [] })),
    once("/api/queries"),
    style("yasqe.min.css"),
    script("yasqe.min.js"),
  ]);
  about = said;
  short = shortener(about.prefixes);
  catalogue(groups, go);
  const made = makeEditor(about, schema, go);
  editor = made;
  tabs = makeTabs(byId("query-tabs"), { value: () => made.getValue(), put: (text) => made.setValue(text), start: START });
  params = makeParams(byId("query-params"), about.prefixes, short);
  saved = makeSaved(byId("query-saved"), {
    value: () => made.getValue(),
    open: (text, name) => { tabs.open(text, name); made.focus(); },
    values: () => params.written(),
    fill: (values) => params.fill(values),
  });
  made.on("change", () => noticed(made));
  noticed(made);
  return made;
}

// Names are completed from this graph. What Yasqe brings along would ask prefix.cc and LOV.
/** @param {About} about @param {Pick<Schema, "classes" | "properties">} schema @param {Go} go @returns {Editor} */
function makeEditor(about, schema, go) {
  const { Yasqe } = window;
  const local = { persistenceId: null, autoShow: false };
  /** @param {string[]} list */
  const names = (list) => (/** @type {Editor} */ _yasqe, /** @type {{autocompletionString?: string} | undefined} */ token) => {
    const typed = token?.autocompletionString || "";
    return list.filter((iri) => iri.startsWith(typed)).slice(0, 100);
  };
  const prefixes = Object.entries(about.prefixes).map(([prefix, iri]) => `${prefix}: <${iri}>`);
  Yasqe.forkAutocompleter("prefixes", { ...local, name: "own-prefixes", autoShow: true, bulk: true, get: () => prefixes }, false);
  Yasqe.forkAutocompleter("class", { ...local, name: "own-classes", get: names(schema.classes.map((one) => one.iri)) }, false);
  Yasqe.forkAutocompleter("property", { ...local, name: "own-properties", get: names(schema.properties.map((one) => one.iri)) }, false);
  Yasqe.defaults.autocompleters = ["own-prefixes", "own-classes", "own-properties", "variables"];
  const editor = new Yasqe(byId("editor"), {
    value: START,
    persistenceId: null,
    createShareableLink: null,
    consumeShareLink: null,
    showQueryButton: false,
    resizeable: false,
    editorHeight: "320px",
    requestConfig: { endpoint: "/sparql" },
    extraKeys: { "Ctrl-Enter": () => run(go), "Cmd-Enter": () => run(go) },
  });
  // The server reads these prefixes without a declaration, so they are no errors here either.
  const mode = editor.getMode();
  const begin = mode.startState;
  mode.startState = (/** @type {unknown[]} */ ...given) => ({ ...begin(...given), prefixes: { ...about.prefixes } });
  editor.setValue(editor.getValue());
  editor.getInputField().setAttribute("aria-label", t("SPARQL query"));
  return editor;
}

// What is in the editor decides which fields and buttons there are.
/** @param {Editor} editor */
function noticed(editor) {
  const names = new Set();
  for (let line = 0; line < editor.lineCount(); line += 1) {
    for (const token of editor.getLineTokens(line)) if (/^\$\w+$/.test(token.string)) names.add(token.string.slice(1));
  }
  params.show([...names]);
  const update = updates(editor);
  show(byId("preview"), update);
  show(byId("run"), !update);
}

/** @param {Editor} editor */
function updates(editor) {
  return editor.getQueryMode() === "update";
}

/** @param {string} query @returns {Asking} */
function asked(query) {
  const values = params.values();
  return (accept) => {
    const form = new URLSearchParams({ query, ...(field("inferred-too", HTMLInputElement).checked ? {} : { infer: "false" }), ...values });
    return [`/repositories/${encodeURIComponent(about.name)}`, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: accept }, body: form.toString() }];
  };
}

/** @param {QueryFolder[]} groups @param {Go} go */
function catalogue(groups, go) {
  byId("catalogue-list").replaceChildren(
    ...groups
      .map((group) => ({ ...group, queries: group.queries.filter((query) => query.runs) }))
      .filter((group) => group.queries.length)
      .sort((a, b) => place(a.folder) - place(b.folder))
      .map((group) =>
        h(
          "section",
          {},
          h("h3", {}, group.folder),
          h(
            "ul",
            {},
            group.queries.map((query) =>
              h(
                "li",
                { "data-words": `${query.name} ${query.summary}`.toLowerCase(), "data-common": query.common ? "yes" : "no" },
                h("button", { type: "button", "data-query": query.name, onclick: () => take(query, go) }, h("strong", {}, query.title), h("span", {}, query.summary)),
              ),
            ),
          ),
        ),
      ),
  );
  filter();
}

// Those that a newcomer looks for first; the others follow by name.
/** @param {string} folder */
function place(folder) {
  const at = ["explore", "context", "similarity"].indexOf(folder);
  return at < 0 ? 9 : at;
}

function filter() {
  const sought = field("catalogue-filter", HTMLInputElement).value.trim().toLowerCase();
  for (const section of byId("catalogue-list").querySelectorAll("section")) {
    let any = false;
    for (const item of section.querySelectorAll("li")) {
      // Most queries serve the program itself: they are there for those who look for them.
      item.hidden = sought ? !item.dataset.words?.includes(sought) : item.dataset.common === "no";
      any = any || !item.hidden;
    }
    section.hidden = !any;
  }
}

/** @param {ReadyQuery} query @param {Go} go */
function take(query, go) {
  tabs.open(query.text, query.title);
  if (matchMedia("(max-width: 899px)").matches) {
    field("catalogue", HTMLDetailsElement).open = false;
    byId("editor").scrollIntoView({ block: "start" });
  }
  go("query", { query: query.text });
  editor?.focus();
}

/** @param {Go} go */
async function run(go) {
  if (!editor) return;
  const query = editor.getValue();
  running?.abort();
  const stop = new AbortController();
  running = stop;
  const state = byId("query-state");
  byId("query-problem").replaceChildren();
  show(byId("stop"), true);
  show(byId("query-results"), true);
  show(byId("results"), false);
  state.textContent = t("Running …");
  if (query.length <= MOST_LINK) go("query", { query }, { replace: true });
  try {
    tabs.keep();
    const places = [byId("query-views"), byId("query-other"), byId("query-downloads")];
    for (const place of places) place.replaceChildren();
    if (updates(editor)) {
      if (!about.update) throw new Error(t("Changes are off: this server was started without --update."));
      show(byId("query-results"), false);
      show(byId("query-change"), true);
      await previewUpdate(byId("query-change"), query, () => remember(query));
      return;
    }
    show(byId("query-change"), false);
    const ask = asked(query);
    const started = performance.now();
    const [path, options] = ask("application/sparql-results+json, application/n-triples;q=0.9");
    const response = await request(path, { ...options, signal: stop.signal });
    const data = await response.text();
    const seconds = (performance.now() - started) / 1000;
    const rows = (response.headers.get("content-type") || "").includes("json");
    /** @type {Bindings} */
    const found = rows ? JSON.parse(data) : rowsOfTriples(data);
    show(byId("results"), true);
    state.textContent = summary(found, rows, seconds);
    byId("results").replaceChildren(...(found.results ? resultTable(found, short) : []));
    byId("query-downloads").replaceChildren(downloads(rows, ask));
    // The rows are seen before it is found out how else they can be.
    await new Promise((done) => setTimeout(done, 30));
    if (found.results && running === stop) views(found, rows, go);
    remember(query);
    saved.recall();
  } catch (error) {
    show(byId("query-results"), false);
    show(byId("query-change"), false);
    if (!stop.signal.aborted) byId("query-problem").replaceChildren(problemBox(error));
  } finally {
    if (running === stop) {
      running = null;
      show(byId("stop"), false);
    }
  }
}

// The table, and what else the result can be seen as.
/** @param {Bindings} found @param {boolean} rows @param {Go} go */
function views(found, rows, go) {
  /** @type {[string, HTMLElement | null | (() => HTMLElement)][]} */
  const all = [[rows ? t("Table") : t("Triples"), null]];
  if (rows) {
    const gallery = asGallery(found, short);
    all.push(...asCharts(found, short), ...(gallery ? [/** @type {[string, HTMLElement]} */ ([t("Gallery"), gallery])] : []));
  }
  const links = linksOfRows(found);
  if (links) all.push([t("Graph"), () => asGraph(links, { short, open: (iri) => go("explore", { iri }) })]);
  if (all.length < 2) return;
  const buttons = choice(all.map(([name]) => name), (at) => {
    const made = all[at][1];
    show(byId("results"), !made);
    byId("query-other").replaceChildren(...(made ? [made instanceof HTMLElement ? made : made()] : []));
  });
  byId("query-views").replaceChildren(...buttons);
}

/** @param {Bindings} found @param {boolean} rows @param {number} seconds */
function summary(found, rows, seconds) {
  const time = `${number(seconds, 2)} s`;
  if (typeof found.boolean === "boolean") return found.boolean ? t("Yes, in {time}", { time }) : t("No, in {time}", { time });
  const count = found.results.bindings.length;
  if (!rows) return t("{triples} in {time}", { triples: plural(count, "triple", "triples"), time });
  return t("{rows} in {time}. A name in the table opens it in Explore.", { rows: plural(count, "row", "rows"), time });
}
