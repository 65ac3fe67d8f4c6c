// When the triples of an entity came into the graph, and by what; and the entity as a file.

import { getJson, once } from "../api.js";
import { h, problemBox } from "../dom.js";
import { plural, t, when } from "../language.js";
import { downloads } from "../query/results.js";
import { triplesTable } from "../triples.js";

/** @import {About, Child, History, Origin} from "../types.js" */

const ABOUT = "CONSTRUCT { $entity ?p ?o . ?s ?q $entity } WHERE { { $entity ?p ?o } UNION { ?s ?q $entity } }";
/** @type {Map<string, string>} */
const WORDS = new Map([
  ["load", t("Loaded from {what}")],
  ["replace", t("Loaded from {what}")],
  ["insert", t("Added by a program")],
  ["update", t("Added by an update")],
  ["concept", t("Kept as the class {what}")],
  ["reasoning", t("Made by reasoning")],
  ["completion", t("Read as an answer to {what}")],
  ["enrichment", t("Described by {what}")],
]);

/** @param {Origin} one @returns {Child} */
function said({ by, what, at, run, among }) {
  if (by === "several") return [t("By one of these, and no record of which:"), h("ul", {}, among.map((each) => h("li", {}, said(each))))];
  const [before, after] = (WORDS.get(by) ?? t("No record of when or by what")).split("{what}");
  const named = run ? h("a", { href: `#/review?run=${encodeURIComponent(run)}` }, what) : h("strong", {}, what);
  const words = [before, after === undefined ? "" : named, after];
  return at ? [words, ", ", h("time", { datetime: at }, when(at))] : words;
}

/** What folds out to the history of an entity. @param {string} iri */
export function history(iri) {
  const place = h("div", { role: "status" });
  let begun = false;
  const open = async () => {
    if (begun) return;
    begun = true;
    place.replaceChildren(h("p", { class: "hint" }, t("Reading …")));
    try {
      /** @type {History} */
      const { events, more } = await getJson("/api/history", { iri });
      place.replaceChildren(
        h("ol", { class: "events" }, events.map((one) => h("li", {}, h("p", {}, said(one)), h("details", {}, h("summary", {}, plural(one.triples.length, "triple", "triples")), triplesTable(one.triples, { caption: t("History") }))))),
        more.length ? h("p", { class: "hint" }, t("Of these only some triples are looked at: {more}", { more: more.join(", ") })) : "",
      );
    } catch (error) {
      begun = false;
      place.replaceChildren(problemBox(error));
    }
  };
  return h("details", { class: "card history", ontoggle: open }, h("summary", {}, t("History")), place);
}

/** Buttons that download what the graph says of an entity. @param {string} iri */
export async function files(iri) {
  /** @type {About} */
  const { name } = await once("/api/about");
  return downloads(false, (accept) => {
    const body = new URLSearchParams({ query: ABOUT, $entity: `<${iri}>` });
    return [`/repositories/${encodeURIComponent(name)}`, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: accept }, body }];
  });
}
