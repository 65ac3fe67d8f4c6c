// Review: what was read in texts and images, to accept or reject triple by triple, and to take out again.

import { getJson, postJson } from "./api.js";
import { byId, h, plural, problemBox } from "./dom.js";
import { proposals } from "./review/proposals.js";
import { reading } from "./review/reading.js";
import { thumb } from "./images/thumb.js";

let turn = 0;
/** @type {any} */
let goTo = null;
/** @type {any} */
let places = null;

/** @param {any} go */
export function start(go) {
  goTo = go;
  const list = h("div", {});
  const one = h("div", { class: "column" });
  const problem = h("div", { role: "alert" });
  const said = h("div", { role: "status" });
  const ask = h("div", {});
  places = { list, one, problem, said, ask };
  byId("review").append(
    h("h1", { id: "review-title" }, "Review"),
    h("p", { class: "hint lead" }, "What was read in texts and images for a question is proposed here, with the words it rests on. It is in the graph when it is accepted, and not before."),
    ask,
    problem,
    h("div", { class: "side" }, h("section", { class: "card runs", "aria-labelledby": "review-runs" }, h("h2", { id: "review-runs" }, "Runs"), list), one),
    said,
  );
}

/** @param {Record<string, string>} values */
export async function enter(values) {
  const mine = ++turn;
  try {
    const known = await getJson("/api/review");
    if (mine !== turn) return;
    places.problem.replaceChildren();
    const open = values.run || (values.enrichment ? "" : (known.runs.find((run) => run.state === "proposed") || known.runs[0])?.iri);
    const wide = !known.runs.length && !known.enrichments.length;
    places.list.replaceChildren(...runs(known, open, values.enrichment));
    places.list.parentElement.hidden = wide;
    if (!places.ask.children.length) places.ask.append(reading(known, async (found) => {
      await enter(found.run ? { run: found.run } : {});
      places.one.querySelector("h2")?.focus({ preventScroll: true });
    }));
    if (values.enrichment) await described(values.enrichment, mine);
    else if (open) show(await getJson("/api/review/run", { id: open }), mine);
    else places.one.replaceChildren(h("p", { class: "note" }, "Nothing has been read yet. Ask a question over texts above, or with ", h("code", {}, "mrag complete ask QUESTION --texts FOLDER"), "."));
  } catch (error) {
    if (mine !== turn) return;
    places.problem.replaceChildren(problemBox(error));
    places.one.replaceChildren();
  }
}

const time = (/** @type {string} */ text) => h("time", { datetime: text }, new Date(text).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" }));

function runs(known, open, enrichment) {
  const link = (/** @type {any} */ values, here, words, state, hint) => h("li", {}, h("a", { href: `#/review?${new URLSearchParams(values)}`, "aria-current": here ? "true" : null }, h("span", { class: "name" }, words), h("span", { class: "hint" }, state, " ", hint)));
  const read = known.runs.map((run) => link({ run: run.iri }, run.iri === open, run.question, badge(run.state), [time(run.decided || run.started)]));
  const wrote = known.enrichments.map((one) => link({ enrichment: one.iri }, one.iri === enrichment, plural(one.descriptions, "description", "descriptions"), null, [`by ${one.model}, `, time(one.last)]));
  return [
    h("h3", {}, "From texts and images"),
    read.length ? h("ul", { class: "run-list" }, read) : h("p", { class: "hint" }, "None."),
    known.number > known.runs.length ? h("p", { class: "hint" }, `The newest ${known.runs.length} of ${known.number.toLocaleString("en")}.`) : "",
    ...(wrote.length ? [h("h3", {}, "Descriptions of images"), h("ul", { class: "run-list" }, wrote)] : []),
  ];
}

/** @param {string} state */
function badge(state) {
  return h("span", { class: `badge state-${state.replace(" ", "-")}` }, state);
}

function show(run, mine, done = "") {
  if (mine !== turn) return;
  const open = run.state === "proposed" && run.writable;
  const problem = h("div", { role: "alert" });
  const made = proposals(run, open);
  const changes = h("div", {});
  const act = async (name, body, words) => {
    problem.replaceChildren();
    for (const button of places.one.querySelectorAll("button")) button.disabled = true;
    try {
      const after = await postJson(`/api/review/${name}`, { id: run.iri, ...body });
      const known = await getJson("/api/review");
      if (mine !== turn) return;
      places.list.replaceChildren(...runs(known, run.iri, ""));
      show(after, mine, words(after));
      places.one.querySelector("h2")?.focus({ preventScroll: true });
    } catch (error) {
      for (const button of places.one.querySelectorAll("button")) button.disabled = false;
      problem.replaceChildren(problemBox(error));
    }
  };
  const triples = (/** @type {number} */ count) => plural(count, "triple", "triples");
  const buttons = [];
  if (open && made.fitting) {
    const preview = h("button", { type: "button", class: "main" }, "");
    made.changed((chosen) => {
      preview.textContent = chosen.length ? `Show what accepting ${triples(chosen.length)} changes` : "Nothing is ticked";
      preview.disabled = !chosen.length;
      changes.replaceChildren();
    });
    preview.addEventListener("click", () => foresee(run, made.chosen(), changes, problem, (only) => act("accept", { only }, (after) => `${triples(after.entered)} accepted. What follows from ${after.entered === 1 ? "it" : "them"} is being inferred.`)));
    buttons.push(preview);
  }
  if (open) buttons.push(h("button", { type: "button", onclick: () => act("reject", {}, () => "Rejected. The same is not proposed again.") }, "Reject all"));
  if (run.state === "accepted" && run.writable) buttons.push(h("button", { type: "button", onclick: () => act("rollback", {}, (after) => `${triples(after.removed)} taken out again. What rested on ${after.removed === 1 ? "it" : "them"} goes as well.`) }, "Roll back"));
  const why = run.writable ? null : h("p", { class: "note" }, "This server only reads. Start it with ", h("code", {}, "mrag serve --update"), " to decide here, or decide with ", h("code", {}, `mrag complete accept ${run.id}`), ".");
  places.one.replaceChildren(
    h("section", { class: "card", "aria-labelledby": "review-run" },
      h("h2", { id: "review-run", tabindex: "-1" }, run.question),
      h("p", { class: "hint" }, badge(run.state), " ", time(run.decided || run.started), ` · read by ${run.model || "an unnamed reader"}`),
      done ? h("p", { class: "note", role: "status" }, done) : null,
      why,
      ...made.parts,
      h("div", { class: "line actions" }, buttons),
      problem,
      changes,
    ),
  );
}

// What acceptance would change, before it is made.
async function foresee(run, only, place, problem, accept) {
  problem.replaceChildren();
  place.replaceChildren(h("p", { class: "hint waiting", role: "status" }, "Working out what would follow …"));
  try {
    const found = await postJson("/api/review/foresee", { id: run.iri, only });
    const rows = (/** @type {any[]} */ some, sign) => h("ul", { class: "diff" }, some.map((one) => h("li", {}, h("span", { class: "plus" }, `${sign} `, h("span", { class: "unseen" }, " added: ")), one.labels.join(" "), one.objections ? h("span", { class: "hint" }, ` ${one.objections.join("; ")}`) : null)));
    const number = found.inferred;
    const inferred = number === null ? "What would be inferred is not known here: the graph has not been reasoned over, or its server does that by itself." : number ? `${plural(number, "triple", "triples")} would be inferred${number > found.infers.length ? `, of which ${found.infers.length} are shown` : ""}.` : "Nothing more would be inferred.";
    const make = h("button", { type: "button", class: "main", onclick: () => accept(only) }, `Accept ${plural(found.adds.length, "triple", "triples")}`);
    place.replaceChildren(
      h("section", { class: "foreseen", "aria-labelledby": "review-changes" },
        h("h3", { id: "review-changes", tabindex: "-1" }, "What acceptance changes"),
        h("p", {}, `${plural(found.adds.length, "triple", "triples")} would be added, and none removed. Nothing has been changed yet.`),
        rows(found.adds, "+"),
        h("p", {}, inferred),
        found.infers.length ? h("div", { class: "inferred-ones" }, rows(found.infers, "∴")) : null,
        found.refused.length ? [h("p", {}, "The checks now refuse:"), h("ul", { class: "diff" }, found.refused.map((one) => h("li", {}, one.labels.join(" "), h("span", { class: "hint" }, ` ${one.objections.join("; ")}`))))] : null,
        h("p", { class: "hint" }, "What is not ticked is rejected with it."),
        found.adds.length ? h("div", { class: "line actions" }, make) : null),
    );
    place.querySelector("h3").focus();
  } catch (error) {
    place.replaceChildren();
    problem.replaceChildren(problemBox(error));
  }
}

async function described(iri, mine) {
  const found = await getJson("/api/review/enrichment", { iri });
  if (mine !== turn) return;
  const row = (/** @type {any} */ one) => h("li", { class: "proposal" }, one.image ? h("div", { class: "evidence-picture" }, thumb({ iri: one.image, label: one.label, file: "", there: true }, 160)) : null, h("div", {}, h("a", { href: `#/images?iri=${encodeURIComponent(one.iri.split("#xywh=")[0])}` }, one.label), h("blockquote", {}, one.text)));
  places.one.replaceChildren(h("section", { class: "card", "aria-labelledby": "review-run" }, h("h2", { id: "review-run", tabindex: "-1" }, "Descriptions of images"), h("p", { class: "hint" }, h("code", {}, iri)), h("p", { class: "note" }, "What a model writes of an image is in the graph at once, in a layer of its own, and marked as ", h("em", {}, "enriched"), " wherever it is shown."), h("ul", { class: "proposals" }, found.texts.map(row))));
}
