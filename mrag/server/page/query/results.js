// Other ways to see the result of a query than as a table: as a chart, as images, as a file.

import { request } from "../api.js";
import { drawings } from "../charts/charts.js";
import { h, problemBox } from "../dom.js";
import { t } from "../language.js";
import { imageStrip } from "../strip.js";

/** @import {Bindings, Term} from "../types.js" */

const IMAGE = /\.(?:jpe?g|png|gif|webp)(?:[?#].*)?$/i;
const MOST = 120;
const TABLES = [["CSV", "text/csv", "csv"], ["TSV", "text/tab-separated-values", "tsv"], ["JSON", "application/sparql-results+json", "json"], ["XML", "application/sparql-results+xml", "xml"]];
const GRAPHS = [["Turtle", "text/turtle", "ttl"], ["N-Triples", "application/n-triples", "nt"], ["JSON-LD", "application/ld+json", "jsonld"], ["RDF/XML", "application/rdf+xml", "rdf"], ["TriG", "application/trig", "trig"], ["N-Quads", "application/n-quads", "nq"]];

/** Returns what writes IRIs with prefixes. @param {Record<string, string>} prefixes @returns {(iri: string) => string} */
export function shortener(prefixes) {
  const all = Object.entries(prefixes).filter(([, one]) => one).sort((a, b) => b[1].length - a[1].length);
  return (iri) => {
    const [prefix, start] = all.find(([, one]) => iri.startsWith(one)) ?? [];
    return start === undefined ? iri : `${prefix}:${iri.slice(start.length)}`;
  };
}

/** The pictures of the rows, each under its name. @param {Bindings} data @param {(iri: string) => string} short */
export function asCharts(data, short) {
  const columns = data.head.vars || [];
  const cell = (/** @type {Term | undefined} */ one) => (one ? { ...one, label: one.type === "uri" ? short(one.value) : one.value } : null);
  return drawings({ columns, rows: data.results.bindings.map((row) => columns.map((name) => cell(Object.hasOwn(row, name) ? row[name] : undefined))) });
}

/** The images that rows name, or null where no column has any. @param {Bindings} data @param {(iri: string) => string} short */
export function asGallery(data, short) {
  const columns = data.head.vars || [];
  const rows = data.results.bindings;
  const column = columns.find((name) => rows.some((row) => Object.hasOwn(row, name) && IMAGE.test(row[name].value)));
  if (!column) return null;
  const owner = columns.find((name) => name !== column && rows.some((row) => Object.hasOwn(row, name) && row[name].type === "uri"));
  const shown = rows.filter((row) => Object.hasOwn(row, column) && IMAGE.test(row[column].value));
  const images = shown.slice(0, MOST).map((row) => {
    const { value } = row[column];
    const entity = owner && Object.hasOwn(row, owner) ? row[owner].value : value;
    const web = /^https?:\/\//.test(value);
    return {
      entity,
      label: short(entity),
      name: decoded(value.replace(/[?#].*$/, "").replace(/^.*\//, "")),
      src: web ? null : `/api/image?${new URLSearchParams({ entity, value })}`,
      link: web ? value : null,
    };
  });
  const rest = shown.length > MOST ? h("p", { class: "hint" }, t("The first {MOST} of {shown} images.", { MOST, shown: shown.length })) : null;
  return h("div", {}, h("div", { class: "images" }, imageStrip(images)), rest);
}

/** @param {string} name */
function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * Buttons that download the result in each format; the query runs again for it.
 * @param {boolean} rows whether it is a table, not triples
 * @param {(accept: string) => [string, RequestInit]} asked
 */
export function downloads(rows, asked) {
  const said = h("span", { role: "status" });
  const one = (/** @type {string[]} */ [name, media, ending]) =>
    h(
      "button",
      {
        type: "button",
        onclick: async () => {
          try {
            const response = await request(...asked(media));
            const link = h("a", { href: URL.createObjectURL(await response.blob()), download: `result.${ending}` });
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
            said.replaceChildren();
          } catch (error) {
            said.replaceChildren(problemBox(error));
          }
        },
      },
      name,
    );
  return h("div", { class: "line downloads", role: "group", "aria-label": t("Download") }, h("span", { class: "hint" }, t("Download")), (rows ? TABLES : GRAPHS).map(one), said);
}
