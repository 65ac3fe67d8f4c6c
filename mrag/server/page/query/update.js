// An update: first what it would add and remove, and only then, by a second click, the change itself.

import { postJson, request } from "../api.js";
import { h, problemBox } from "../dom.js";
import { plural, t } from "../language.js";
import { triplesTable } from "../triples.js";

/** @import {PlannedUpdate, Statement, TripleRow} from "../types.js" */

const AFTER = new Map([
  ["none", ""],
  ["kept", t("What was inferred still holds; more may follow from it.")],
  ["pending", t("Some of what was inferred may not hold any more; it is brought up to date after the change.")],
  ["dropped", t("What was inferred has to be inferred anew.")],
]);

/**
 * Shows what an update would change, with a button that makes the change.
 * @param {HTMLElement} place
 * @param {string} text
 * @param {() => void} changed
 */
export async function previewUpdate(place, text, changed) {
  place.replaceChildren(h("p", { class: "hint", role: "status" }, t("Working out what it would change …")));
  /** @type {PlannedUpdate} */
  const found = await postJson("/api/preview", { update: text });
  const problem = h("div", { role: "alert" });
  const make = h("button", { type: "button", class: "main" }, t("Make this change"));
  make.addEventListener("click", async () => {
    make.setAttribute("disabled", "");
    problem.replaceChildren();
    try {
      const done = await request("/update", { method: "POST", headers: { "Content-Type": "application/sparql-update" }, body: text });
      const count = (/** @type {string} */ name) => plural(Number(done.headers.get(name)), "triple", "triples");
      place.replaceChildren(h("p", { class: "note", role: "status" }, t("Done: {added} added, {removed} removed.", { added: count("MRAG-Added"), removed: count("MRAG-Removed") })));
      changed();
    } catch (error) {
      make.removeAttribute("disabled");
      problem.replaceChildren(problemBox(error));
    }
  });
  const nothing = !found.added && !found.removed;
  place.replaceChildren(
    h("h3", {}, t("What this update would change")),
    h("p", { role: "status" }, nothing ? t("Nothing: the graph would be the same.") : t("{added} added, {removed} removed. Nothing has been changed yet. {after}", { added: plural(found.added, "triple", "triples"), removed: plural(found.removed, "triple", "triples"), after: AFTER.get(found.inferred) ?? "" })),
    part("added", t("Added"), found.adds, found.added),
    part("removed", t("Removed"), found.removes, found.removed),
    nothing ? "" : h("div", { class: "line actions" }, make),
    problem,
  );
}

/** @param {string} kind @param {string} title @param {(Statement & {graph?: string | null})[]} rows @param {number} count */
function part(kind, title, rows, count) {
  if (!rows.length) return "";
  const shown = rows.map((row) => /** @type {TripleRow} */ ({ ...row, status: "asserted" }));
  const graphs = [...new Set(rows.map((row) => row.graph).filter(Boolean))];
  return h(
    "section",
    { class: `changes ${kind}` },
    h("h4", {}, title),
    triplesTable(shown, { caption: title }),
    graphs.length ? h("p", { class: "hint" }, t("In named graphs: "), graphs.map((graph) => [h("code", {}, graph), " "])) : null,
    count > rows.length ? h("p", { class: "hint" }, t("The first {rows} of {count}.", { rows: rows.length, count })) : null,
  );
}
