// The rows of a result, of which only those in sight are in the document, however many there are.

import { postJson } from "../api.js";
import { NUMBER, quantity } from "../charts/values.js";
import { h } from "../dom.js";
import { locale, plural, t } from "../language.js";
import { term } from "../triples.js";

/** @import {Bindings, Term} from "../types.js" */

const ROW = 34;
const AHEAD = 10;
const LONGEST = 240;
const AT_ONCE = 5_000;
const MOST_NAMED = 20_000;
const STILL = 60;

/** @type {Map<string, string>} labels of this graph; empty of what has none */
const labels = new Map();

/** Ask for the labels that are not known yet. @param {string[]} iris */
async function learn(iris) {
  const wanted = [...new Set(iris)].filter((iri) => !labels.has(iri)).slice(0, MOST_NAMED);
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const some = wanted.slice(at, at + AT_ONCE);
    const found = await postJson("/api/labels", { iris: some }).catch(() => ({}));
    for (const iri of some) labels.set(iri, found[iri] ?? "");
  }
  return wanted.length > 0;
}

/**
 * Returns a table of rows that can be sorted, narrowed down and copied.
 * @param {Bindings} data
 * @param {(iri: string) => string} short how an IRI without a label is shown
 */
export function resultTable(data, short) {
  const columns = data.head.vars || [];
  const places = columns.map((_, at) => at);
  // A variable may be named as what every object has.
  const rows = data.results.bindings.map((row) => columns.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined)));
  let order = rows.map((_, at) => at);
  let named = true;
  let sorted = { column: -1, down: false };
  let timer = 0;
  let turn = 0;

  /** What a cell shows. @param {Term | undefined} one */
  function told(one) {
    if (!one) return "";
    if (one.type === "uri") return (named && labels.get(one.value)) || short(one.value);
    return one.type === "bnode" ? `_:${one.value}` : one.value;
  }

  /** The IRIs of rows. @param {number[]} some @param {number[]} columns */
  const irisOf = (some, columns) => some.flatMap((at) => columns.flatMap((column) => (rows[at][column]?.type === "uri" ? [rows[at][column].value] : [])));

  const numeric = (/** @type {Term | undefined} */ one) => NUMBER.test(one?.datatype || "");

  /** @param {number} place @param {number} at */
  function line(place, at) {
    const cells = rows[at].map((one) => {
      if (!one) return h("td");
      const text = told(one);
      const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
      return h("td", { class: numeric(one) ? "number" : null, title: text.slice(0, 4000) }, numeric(one) ? shown : term(one, shown));
    });
    return h("tr", { "aria-rowindex": place + 2 }, h("th", { scope: "row" }, place + 1), cells);
  }

  const above = h("tbody", { "aria-hidden": "true" }, h("tr", {}, h("td")));
  const body = h("tbody");
  const below = h("tbody", { "aria-hidden": "true" }, h("tr", {}, h("td")));
  const heads = columns.map((name, column) => {
    const longest = rows.slice(0, 100).reduce((most, row) => Math.max(most, told(row[column]).length), name.length + 3);
    const head = h("div", {}, h("button", { type: "button", onclick: () => sort(column) }, name));
    head.style.width = `${Math.min(440, Math.max(90, longest * 8 + 20))}px`;
    return h("th", { scope: "col" }, head);
  });
  const table = h("table", { class: "result-rows", "aria-rowcount": rows.length + 1 }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "#"), heads)), above, body, below);
  const frame = h("div", { class: "result-frame", tabindex: "0", role: "region", "aria-label": t("Rows of the result"), onscroll: () => draw() }, table);
  const count = h("span", { class: "hint", role: "status" });

  function draw() {
    const first = Math.min(Math.max(0, Math.floor(frame.scrollTop / ROW) - AHEAD), Math.max(0, order.length - 1));
    const last = Math.min(order.length, first + Math.ceil((frame.clientHeight || 600) / ROW) + 2 * AHEAD);
    const some = order.slice(first, last);
    /** @type {HTMLElement} */ (above.firstElementChild).style.height = `${first * ROW}px`;
    /** @type {HTMLElement} */ (below.firstElementChild).style.height = `${(order.length - last) * ROW}px`;
    above.hidden = !first;
    below.hidden = last === order.length;
    const held = document.activeElement instanceof HTMLAnchorElement && body.contains(document.activeElement);
    body.replaceChildren(...some.map((at, place) => line(first + place, at)));
    if (held) frame.focus({ preventScroll: true });
    // What is only scrolled past needs no names.
    clearTimeout(timer);
    if (named) timer = window.setTimeout(async () => (await learn(irisOf(some, places))) && frame.isConnected && draw(), STILL);
  }

  async function arrange() {
    const mine = ++turn;
    const { column, down } = sorted;
    const sought = filter.value.trim().toLowerCase();
    const all = rows.map((_, at) => at);
    const wanted = !named ? [] : sought ? places : column < 0 ? [] : [column];
    count.textContent = wanted.length ? t("Reading labels …") : "";
    if (wanted.length) await learn(irisOf(all, wanted));
    if (mine !== turn) return;
    order = sought ? all.filter((at) => rows[at].some((one) => told(one).toLowerCase().includes(sought))) : all;
    if (column >= 0) {
      const { compare } = new Intl.Collator(locale, { numeric: true });
      const texts = rows.map((row) => told(row[column]));
      const values = rows.map((row) => quantity(row[column]));
      // Numbers and times first, then texts; what is open comes last either way.
      const kinds = rows.map((row, at) => (!row[column] ? 2 : Number.isNaN(values[at]) ? 1 : 0));
      const by = (/** @type {number} */ a, /** @type {number} */ b) => (kinds[a] ? compare(texts[a], texts[b]) : values[a] - values[b]);
      order.sort((a, b) => kinds[a] - kinds[b] || (down ? by(b, a) : by(a, b)) || a - b);
    }
    for (const [at, head] of heads.entries()) head.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending");
    count.textContent = sought ? plural(order.length, "row", "rows") : "";
    frame.scrollTop = 0;
    draw();
  }

  /** Up, then down, then as it came. @param {number} column */
  function sort(column) {
    const again = sorted.column === column;
    sorted = again && sorted.down ? { column: -1, down: false } : { column, down: again };
    return arrange();
  }

  async function copy() {
    if (named) await learn(irisOf(order, places));
    const lines = order.map((at) => rows[at].map((one) => (named ? told(one) : (one?.value ?? "")).replace(/\s+/g, " ")).join("\t"));
    try {
      await navigator.clipboard.writeText([columns.join("\t"), ...lines].join("\n"));
      count.textContent = t("Copied.");
    } catch {
      count.textContent = t("The browser does not let the page copy; download the rows instead.");
    }
  }

  const filter = h("input", { type: "search", "aria-label": t("Rows that contain"), placeholder: t("Rows that contain"), autocomplete: "off", oninput: () => arrange() });
  const names = h("input", { type: "checkbox", checked: true, onchange: () => { named = names.checked; arrange(); } });
  const controls = h("div", { class: "line result-controls" }, filter, h("label", { class: "check" }, names, t("labels")), h("button", { type: "button", onclick: copy }, t("Copy")), count);
  new ResizeObserver(() => draw()).observe(frame);
  arrange();
  return [controls, frame];
}
