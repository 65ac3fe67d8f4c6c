// The result of a query as a graph: triples that it makes, or rows that are triples.

import { h } from "../dom.js";
import { plural, t } from "../language.js";
import { LAYOUT, MOST, around, cytoscape, fitted, look } from "../graph/canvas.js";

/** @import {Bindings, Term} from "../types.js" */
/** @typedef {{s: string, p: string, o: string}} Link between what has an IRI, or is a blank node */
/** @typedef {{links: Link[], texts: number}} Found the links, and how many triples end in a text */

const PART = /[ \t]*(?:<([^<>]*)>|_:([^\s<>"]+)|"((?:[^"\\]|\\.)*)"(?:@([\w-]+)|\^\^<([^<>]*)>)?)/y;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g;
const PLACES = /^(?:subject|s)$/i;

/** @param {string} text */
function plain(text) {
  /** @type {Record<string, string>} */
  const signs = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
  return text.replace(ESCAPE, (_, four, eight, sign) => (sign ? (signs[sign] ?? sign) : String.fromCodePoint(parseInt(four || eight, 16))));
}

/** Triples as rows. @param {string} text N-Triples @returns {Bindings} */
export function rowsOfTriples(text) {
  const vars = ["subject", "predicate", "object"];
  const bindings = text.split("\n").flatMap((line) => {
    /** @type {Record<string, Term>} */
    const row = {};
    PART.lastIndex = 0;
    for (const name of vars) {
      const found = PART.exec(line);
      if (!found) return [];
      const [, iri, node, literal, language, datatype] = found;
      if (iri !== undefined) row[name] = { type: "uri", value: plain(iri) };
      else if (node !== undefined) row[name] = { type: "bnode", value: node };
      else row[name] = { type: "literal", value: plain(literal), ...(language ? { "xml:lang": language } : {}), ...(datatype ? { datatype } : {}) };
    }
    return [row];
  });
  return { head: { vars }, results: { bindings } };
}

/**
 * The links of rows, if three of their columns are a triple: those named s, p and o or subject, predicate and
 * object, else the three that there are.
 * @param {Bindings} data @returns {Found | null}
 */
export function linksOfRows(data) {
  const columns = data.head.vars || [];
  const at = columns.findIndex((name) => PLACES.test(name));
  const [s, p, o] = at >= 0 ? columns.slice(at, at + 3) : columns.length === 3 ? columns : [];
  if (o === undefined) return null;
  const node = (/** @type {{type: string, value: string} | undefined} */ one) => (one?.type === "uri" ? one.value : one?.type === "bnode" ? `_:${one.value}` : null);
  /** @type {Found} */
  const found = { links: [], texts: 0 };
  for (const row of data.results.bindings) {
    const [begin, end] = [node(row[s]), node(row[o])];
    if (!begin || row[p]?.type !== "uri") return null;
    if (end) found.links.push({ s: begin, p: row[p].value, o: end });
    else found.texts += 1;
  }
  return found.links.length ? found : null;
}

/**
 * Draws links; a click on an entity opens it.
 * @param {Found} found
 * @param {{short: (iri: string) => string, open: (iri: string) => void}} names
 */
export function asGraph({ links, texts }, { short, open }) {
  /** @type {Map<string, number>} */
  const degree = new Map();
  for (const { s, o } of links) for (const one of [s, o]) degree.set(one, (degree.get(one) ?? 0) + 1);
  // Those with most links, so that what is drawn hangs together.
  const shown = new Set([...degree.keys()].sort((a, b) => (degree.get(b) ?? 0) - (degree.get(a) ?? 0) || (a < b ? -1 : 1)).slice(0, MOST));
  const frame = h("div", { class: "growing-frame", "aria-hidden": "true" });
  const said = h("p", { class: "hint" }, [
    t("{entities} and {links}; the other views have the same triples. A click on an entity opens it.", { entities: plural(degree.size, "entity", "entities"), links: plural(links.length, "link", "links") }),
    texts ? ` ${t("Not drawn: {triples} with texts or numbers.", { triples: plural(texts, "triple", "triples") })}` : "",
    degree.size > MOST ? ` ${t("A drawing has at most {MOST} entities.", { MOST })}` : "",
  ].join(""));
  let begun = false;
  new ResizeObserver(async () => {
    if (!frame.clientWidth || begun) return;
    begun = true;
    const make = await cytoscape();
    const cy = make({ container: frame, style: look(), elements: [], maxZoom: 3, minZoom: 0.05 });
    cy.add([...shown].map((id, at) => ({ group: "nodes", data: { id, label: id.startsWith("_:") ? "" : short(id), kind: "entity" }, position: around({ x: 0, y: 0 }, at) })));
    cy.add(links.filter((one) => shown.has(one.s) && shown.has(one.o)).map(({ s, p, o }, at) => ({ group: "edges", data: { id: `${at} ${s} ${p} ${o}`, source: s, target: o, label: short(p), status: "asserted" } })));
    cy.layout(LAYOUT).run();
    fitted(cy, [...shown][0]);
    cy.on("tap", "node", (event) => { if (!event.target.id().startsWith("_:")) open(event.target.id()); });
  }).observe(frame);
  return h("div", {}, frame, said);
}
