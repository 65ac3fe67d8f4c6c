// What a graph holds: its classes as a tree with counts, its properties and its named graphs.

import { once } from "../api.js";
import { entityLink, h } from "../dom.js";
import { number, t } from "../language.js";

/** @import {ClassRow, Schema} from "../types.js" */

const DEEPEST = 12;

/** Returns what stands at the beginning of Explore. @returns {Promise<Node[]>} */
export async function schema() {
  /** @type {Schema} */
  const found = await once("/api/schema");
  if (!found.classes.length && !found.properties.length) return [];
  const count = (/** @type {number} */ n) => h("span", { class: "count" }, number(n));
  return [
    h("h2", {}, t("Classes")),
    h("p", { class: "hint" }, t("What the graph holds, by the number of instances. Choose one to begin.")),
    tree(found.classes),
    h(
      "details",
      { class: "card" },
      h("summary", {}, t("Properties ({properties})", { properties: found.properties.length })),
      h("ul", { class: "classes" }, found.properties.map((one) => h("li", {}, entityLink(one.iri, one.label), " ", count(one.triples)))),
    ),
    found.graphs.length ? h("details", { class: "card" }, h("summary", {}, t("Named graphs ({graphs})", { graphs: found.graphs.length })), h("ul", {}, found.graphs.map(graphRow))) : "",
    found.more ? h("p", { class: "hint" }, t("There are more than are listed.")) : "",
  ].filter((part) => part instanceof Node);
}

/** @param {string} iri */
function graphRow(iri) {
  const query = `SELECT ?s ?p ?o\nWHERE { GRAPH <${iri}> { ?s ?p ?o } }\nORDER BY ?s ?p ?o\nLIMIT 100\n`;
  return h("li", {}, h("a", { href: `#/query?query=${encodeURIComponent(query)}` }, h("code", {}, iri)));
}

/** @param {ClassRow[]} classes */
function tree(classes) {
  const known = new Map(classes.map((one) => [one.iri, one]));
  /** @type {Map<string, ClassRow[]>} */
  const below = new Map();
  for (const one of classes) {
    for (const above of one.above) below.set(above, [...(below.get(above) || []), one]);
  }
  const seen = new Set();
  /** @param {ClassRow} one @param {number} depth @param {Set<string>} above @returns {HTMLElement} */
  const row = (one, depth, above) => {
    seen.add(one.iri);
    const under = depth < DEEPEST ? (below.get(one.iri) || []).filter((child) => !above.has(child.iri)) : [];
    const link = [entityLink(one.iri, one.label, { class: "chip" }), " ", h("span", { class: "count" }, number(one.instances))];
    if (!under.length) return h("li", {}, link);
    const inside = new Set([...above, one.iri]);
    return h("li", {}, link, h("details", { open: depth === 0 }, h("summary", {}, h("span", { class: "unseen" }, `${one.label}: `), t("{number} below", { number: under.length })), h("ul", {}, under.map((child) => row(child, depth + 1, inside)))));
  };
  const roots = classes.filter((one) => !one.above.some((above) => known.has(above)));
  const rows = roots.map((one) => row(one, 0, new Set([one.iri])));
  // Classes that are each other's superclasses have no root.
  for (const one of classes) if (!seen.has(one.iri)) rows.push(row(one, 0, new Set([one.iri])));
  return h("ul", { class: "class-tree" }, rows);
}
