// An update: first what it would add and remove, and only then, by a second click, the change itself.

import { postJson, request } from "../api.js";
import { h, plural, problemBox } from "../dom.js";
import { triplesTable } from "../triples.js";

/** @import {PlannedUpdate, Statement, TripleRow} from "../types.js" */

const AFTER = new Map([
  ["none", ""],
  ["kept", "What was inferred still holds; more may follow from it."],
  ["pending", "Some of what was inferred may not hold any more; it is brought up to date after the change."],
  ["dropped", "What was inferred has to be inferred anew."],
]);

/**
 * Shows what an update would change, with a button that makes the change.
 * @param {HTMLElement} place
 * @param {string} text
 * @param {() => void} changed
 */
export async function previewUpdate(place, text, changed) {
  place.replaceChildren(h("p", { class: "hint", role: "status" }, "Working out what it would change …"));
  /** @type {PlannedUpdate} */
  const found = await postJson("/api/preview", { update: text });
  const problem = h("div", { role: "alert" });
  const make = h("button", { type: "button", class: "main" }, "Make this change");
  make.addEventListener("click", async () => {
    make.setAttribute("disabled", "");
    problem.replaceChildren();
    try {
      const done = await request("/update", { method: "POST", headers: { "Content-Type": "application/sparql-update" }, body: text });
      const count = (/** @type {string} */ name) => plural(Number(done.headers.get(name)), "triple", "triples");
      place.replaceChildren(h("p", { class: "note", role: "status" }, `Done: ${count("MRAG-Added")} added, ${count("MRAG-Removed")} removed.`));
      changed();
    } catch (error) {
      make.removeAttribute("disabled");
      problem.replaceChildren(problemBox(error));
    }
  });
  const nothing = !found.added && !found.removed;
  place.replaceChildren(
    h("h3", {}, "What this update would change"),
    h("p", { role: "status" }, nothing ? "Nothing: the graph would be the same." : `${plural(found.added, "triple", "triples")} added, ${plural(found.removed, "triple", "triples")} removed. Nothing has been changed yet. ${AFTER.get(found.inferred) ?? ""}`),
    part("Added", found.adds, found.added),
    part("Removed", found.removes, found.removed),
    nothing ? "" : h("div", { class: "line actions" }, make),
    problem,
  );
}

/** @param {string} title @param {(Statement & {graph?: string | null})[]} rows @param {number} count */
function part(title, rows, count) {
  if (!rows.length) return "";
  const shown = rows.map((row) => /** @type {TripleRow} */ ({ ...row, status: "asserted" }));
  const graphs = [...new Set(rows.map((row) => row.graph).filter(Boolean))];
  return h(
    "section",
    { class: `changes ${title.toLowerCase()}` },
    h("h4", {}, title),
    triplesTable(shown, { caption: title }),
    graphs.length ? h("p", { class: "hint" }, "In named graphs: ", graphs.map((graph) => [h("code", {}, graph), " "])) : null,
    count > rows.length ? h("p", { class: "hint" }, `The first ${rows.length} of ${count}.`) : null,
  );
}
