// Review: what was read in texts and images, to accept or reject triple by triple, and to take out again.

import { getJson, postJson } from "./api.js";
import { byId, h, problemBox } from "./dom.js";
import { number, plural, rich, t, when } from "./language.js";
import { thumb } from "./images/thumb.js";
import { proposals } from "./review/proposals.js";
import { reading } from "./review/reading.js";

/** @import {Child, Enrichment, Foreseen, ReviewedRun, Runs, Values} from "./types.js" */

const ASK = "mrag complete ask QUESTION --texts FOLDER";
const SERVE = "mrag serve --update";
const ACCEPT = "mrag complete accept";
const ROLLED_BACK = "rolled back";
const STATES = new Map([["proposed", t("proposed")], ["accepted", t("accepted")], ["rejected", t("rejected")], [ROLLED_BACK, t("rolled back")]]);

let turn = 0;
const places = {
  runs: h("section", { class: "card runs", "aria-labelledby": "review-runs" }),
  list: h("div", {}),
  one: h("div", { class: "column" }),
  problem: h("div", { role: "alert" }),
  ask: h("div", {}),
};

export function start() {
  places.runs.append(h("h2", { id: "review-runs" }, t("Runs")), places.list);
  byId("review").append(
    h("h1", { id: "review-title" }, t("Review")),
    h("p", { class: "hint lead" }, t("What was read in texts and images for a question is proposed here, with the words it rests on. It is in the graph when it is accepted, and not before.")),
    places.ask,
    places.problem,
    h("div", { class: "side" }, places.runs, places.one),
  );
}

/** @param {Values} values */
export async function enter(values) {
  const mine = ++turn;
  try {
    /** @type {Runs} */
    const known = await getJson("/api/review");
    if (mine !== turn) return;
    places.problem.replaceChildren();
    const first = known.runs.find((run) => run.state === "proposed") || known.runs[0];
    const open = values.run || (values.enrichment ? "" : first?.iri);
    places.list.replaceChildren(...runs(known, open, values.enrichment));
    places.runs.hidden = !known.runs.length && !known.enrichments.length;
    if (!places.ask.children.length) places.ask.append(reading(known, async (run) => {
      await enter({ run });
      focusRun();
    }));
    if (values.enrichment) await described(values.enrichment, mine);
    else if (open) show(await getJson("/api/review/run", { id: open }), mine);
    else places.one.replaceChildren(h("p", { class: "note" }, rich("Nothing has been read yet. Ask a question over texts above, or with {command}.", { command: h("code", {}, ASK) })));
  } catch (error) {
    if (mine !== turn) return;
    places.problem.replaceChildren(problemBox(error));
    places.one.replaceChildren();
  }
}

function focusRun() {
  const title = places.one.querySelector("h2");
  if (title) title.focus({ preventScroll: true });
}

/** @param {string} text a time in ISO 8601 */
const time = (text) => h("time", { datetime: text }, when(text));

/** @param {Runs} known @param {string | undefined} open @param {string | undefined} enrichment */
function runs(known, open, enrichment) {
  const link = (/** @type {Record<string, string>} */ values, /** @type {boolean} */ here, /** @type {Child[]} */ words, /** @type {Child[]} */ hint) =>
    h("li", {}, h("a", { href: `#/review?${new URLSearchParams(values)}`, "aria-current": here ? "true" : null }, h("span", { class: "name" }, words), h("span", { class: "hint" }, hint)));
  const read = known.runs.map((run) => link({ run: run.iri }, run.iri === open, [run.question], [badge(run.state), " ", time(run.decided || run.started)]));
  const wrote = known.enrichments.map((one) => link({ enrichment: one.iri }, one.iri === enrichment, [plural(one.descriptions, "description", "descriptions")], rich("by {model}, {time}", { model: one.model, time: time(one.last) })));
  return [
    h("h3", {}, t("From texts and images")),
    read.length ? h("ul", { class: "run-list" }, read) : h("p", { class: "hint" }, t("None.")),
    known.number > known.runs.length ? h("p", { class: "hint" }, t("The newest {shown} of {all}.", { shown: known.runs.length, all: known.number })) : "",
    ...(wrote.length ? [h("h3", {}, t("Descriptions of images")), h("ul", { class: "run-list" }, wrote)] : []),
  ];
}

/** @param {string} state */
function badge(state) {
  return h("span", { class: `badge state-${state.replace(" ", "-")}` }, STATES.get(state) ?? state);
}

/** @param {number} count */
const triples = (count) => plural(count, "triple", "triples");

/** @param {ReviewedRun} run @param {number} mine the turn of this view @param {string} [done] what was just done */
function show(run, mine, done = "") {
  if (mine !== turn) return;
  const open = run.state === "proposed" && run.writable;
  const problem = h("div", { role: "alert" });
  const made = proposals(run, open);
  const changes = h("div", {});
  /** @param {string} name @param {{only?: string[]}} body @param {(after: ReviewedRun) => string} words */
  const act = async (name, body, words) => {
    problem.replaceChildren();
    for (const button of places.one.querySelectorAll("button")) button.disabled = true;
    try {
      /** @type {ReviewedRun} */
      const after = await postJson(`/api/review/${name}`, { id: run.iri, ...body });
      /** @type {Runs} */
      const known = await getJson("/api/review");
      if (mine !== turn) return;
      places.list.replaceChildren(...runs(known, run.iri, ""));
      show(after, mine, words(after));
      focusRun();
    } catch (error) {
      for (const button of places.one.querySelectorAll("button")) button.disabled = false;
      problem.replaceChildren(problemBox(error));
    }
  };
  const buttons = [];
  if (open && made.fitting) {
    const preview = h("button", { type: "button", class: "main" });
    made.changed((chosen) => {
      preview.textContent = chosen.length ? t("Show what accepting {triples} changes", { triples: triples(chosen.length) }) : t("Nothing is ticked");
      preview.disabled = !chosen.length;
      changes.replaceChildren();
    });
    const accepted = (/** @type {ReviewedRun} */ after) => t("{triples} accepted. What follows is being inferred.", { triples: triples(after.entered ?? 0) });
    preview.addEventListener("click", () => foresee(run, made.chosen(), changes, problem, (only) => act("accept", { only }, accepted)));
    buttons.push(preview);
  }
  if (open) buttons.push(h("button", { type: "button", onclick: () => act("reject", {}, () => t("Rejected. The same is not proposed again.")) }, t("Reject all")));
  const removed = (/** @type {ReviewedRun} */ after) => t("{triples} taken out again. What rested on that goes as well.", { triples: triples(after.removed ?? 0) });
  if (run.state === "accepted" && run.writable) buttons.push(h("button", { type: "button", onclick: () => act("rollback", {}, removed) }, t("Roll back")));
  const why = run.writable ? null : h("p", { class: "note" }, rich("This server only reads. Start it with {update} to decide here, or decide with {command}.", { update: h("code", {}, SERVE), command: h("code", {}, `${ACCEPT} ${run.id}`) }));
  places.one.replaceChildren(
    h("section", { class: "card", "aria-labelledby": "review-run" },
      h("h2", { id: "review-run", tabindex: "-1" }, run.question),
      h("p", { class: "hint" }, badge(run.state), " ", time(run.decided || run.started), " · ", run.model ? t("read by {model}", { model: run.model }) : t("read by an unnamed reader")),
      done ? h("p", { class: "note", role: "status" }, done) : null,
      why,
      ...made.parts,
      h("div", { class: "line actions" }, buttons),
      problem,
      changes,
    ),
  );
}

/**
 * Show what acceptance would change, before it is made.
 * @param {ReviewedRun} run @param {string[]} only the keys of the triples that are ticked
 * @param {HTMLElement} place @param {HTMLElement} problem @param {(only: string[]) => void} accept
 */
async function foresee(run, only, place, problem, accept) {
  problem.replaceChildren();
  place.replaceChildren(h("p", { class: "hint waiting", role: "status" }, t("Working out what would follow …")));
  try {
    /** @type {Foreseen} */
    const found = await postJson("/api/review/foresee", { id: run.iri, only });
    const rows = (/** @type {Foreseen["adds"]} */ some, /** @type {string} */ sign) =>
      h("ul", { class: "diff" }, some.map((one) => h("li", {}, sign ? h("span", { class: "plus" }, `${sign} `, h("span", { class: "unseen" }, t("added:"), " ")) : null, one.labels.join(" "), one.objections?.length ? h("span", { class: "hint" }, ` ${one.objections.join("; ")}`) : null)));
    const title = h("h3", { id: "review-changes", tabindex: "-1" }, t("What acceptance changes"));
    place.replaceChildren(
      h("section", { class: "foreseen", "aria-labelledby": "review-changes" },
        title,
        h("p", {}, t("{triples} would be added, and none removed. Nothing has been changed yet.", { triples: triples(found.adds.length) })),
        rows(found.adds, "+"),
        h("p", {}, inferred(found)),
        found.infers.length ? h("div", { class: "inferred-ones" }, rows(found.infers, "∴")) : null,
        found.refused.length ? [h("p", {}, t("The checks now refuse:")), rows(found.refused, "")] : null,
        h("p", { class: "hint" }, t("What is not ticked is rejected with it.")),
        found.adds.length ? h("div", { class: "line actions" }, h("button", { type: "button", class: "main", onclick: () => accept(only) }, t("Accept {triples}", { triples: triples(found.adds.length) }))) : null),
    );
    title.focus();
  } catch (error) {
    place.replaceChildren();
    problem.replaceChildren(problemBox(error));
  }
}

/** @param {Foreseen} found */
function inferred(found) {
  if (found.inferred === null) return t("What would be inferred is not known here: the graph has not been reasoned over, or its server does that by itself.");
  if (!found.inferred) return t("Nothing more would be inferred.");
  if (found.inferred === found.infers.length) return t("{triples} would be inferred.", { triples: triples(found.inferred) });
  return t("{triples} would be inferred, of which {shown} are shown.", { triples: triples(found.inferred), shown: number(found.infers.length) });
}

/** @param {string} iri of a run of enrichment @param {number} mine */
async function described(iri, mine) {
  /** @type {Enrichment} */
  const found = await getJson("/api/review/enrichment", { iri });
  if (mine !== turn) return;
  const row = (/** @type {Enrichment["texts"][number]} */ one) => h("li", { class: "proposal" },
    one.image ? h("div", { class: "evidence-picture" }, thumb({ iri: one.image, label: one.label, file: "", there: true }, 160)) : null,
    h("div", {}, h("a", { href: `#/images?iri=${encodeURIComponent(one.iri.split("#xywh=")[0])}` }, one.label), h("blockquote", {}, one.text)));
  places.one.replaceChildren(h("section", { class: "card", "aria-labelledby": "review-run" },
    h("h2", { id: "review-run", tabindex: "-1" }, t("Descriptions of images")),
    h("p", { class: "hint" }, h("code", {}, iri)),
    h("p", { class: "note" }, rich("What a model writes of an image is in the graph at once, in a layer of its own, and marked as {mark} wherever it is shown.", { mark: h("em", {}, t("enriched")) })),
    h("ul", { class: "proposals" }, found.texts.map(row))));
}
