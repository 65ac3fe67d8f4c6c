// Receipts: an answer with all that it rests on as a file, and such a file checked against the graph.

import { postJson } from "./api.js";
import { byId, field, h, problemBox } from "./dom.js";
import { plural, t } from "./language.js";

/** @import {Answer, Receipt, VerifyReport} from "./types.js" */

// What the page adds to an answer is no part of it.
/** @param {Answer} answer */
function bare(answer) {
  const citations = answer.citations.map(({ labels: _labels, status: _status, ...citation }) => citation);
  const lines = answer.context.lines.map(({ status: _status, ...line }) => line);
  return { ...answer, citations, context: { ...answer.context, lines } };
}

/**
 * Returns a button that checks an answer and downloads its receipt.
 * @param {Answer} answer
 */
export function receiptButton(answer) {
  const said = h("span", { class: "hint", role: "status" });
  const button = h("button", { type: "button" }, t("Receipt"));
  button.addEventListener("click", async () => {
    said.textContent = t("Checking …");
    try {
      /** @type {Receipt} */
      const made = await postJson("/api/receipt", { answer: bare(answer) });
      const file = new Blob([JSON.stringify(made, null, 1)], { type: "application/ld+json" });
      const link = h("a", { href: URL.createObjectURL(file), download: `receipt-${made["@id"].slice(-12)}.jsonld` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
      said.textContent = made["schema:review"]["schema:reviewBody"].split("\n")[0];
    } catch (error) {
      said.replaceChildren(problemBox(error));
    }
  });
  return [button, said];
}

/**
 * Returns a button that copies the address of what is open.
 */
export function linkButton() {
  const said = h("span", { class: "hint", role: "status" });
  const button = h("button", { type: "button" }, t("Permalink"));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = t("Copied.");
    } catch {
      said.textContent = location.href;
    }
  });
  return [button, said];
}

// A file that a person chooses is checked at once.
export function start() {
  const chosen = field("receipt-file", HTMLInputElement);
  chosen.addEventListener("change", async () => {
    const file = chosen.files?.[0];
    const place = byId("receipt-report");
    if (!file) return;
    place.replaceChildren(h("p", { class: "hint" }, t("Checking …")));
    try {
      const report = await postJson("/api/verify", JSON.parse(await file.text()));
      place.replaceChildren(...shown(report));
    } catch (error) {
      place.replaceChildren(problemBox(error instanceof SyntaxError ? new Error(t("This file is no JSON.")) : error));
    }
    chosen.value = "";
  });
}

/** @param {VerifyReport} report */
function shown(report) {
  const state = report.revision === null ? "" : report.revision === report.now ? t(" The graph has not changed since.") : t(" The graph has changed since.");
  const values = { checked: plural(report.checked, "cited triple is", "cited triples are"), state };
  // What is wrong, or behind the first line what vouches for which part.
  const told = report.said.split("\n").slice(report.ok ? 1 : 0);
  return [
    h("p", { class: report.ok ? "note" : "note problem" }, report.ok ? t("It holds. ") : t("It does not hold. "), report.ok ? (report.complete ? t("{checked} in the graph, and every sentence holds.{state}", values) : t("{checked} in the graph.{state}", values)) : state.trim()),
    told.length ? h("ul", {}, told.map((line) => h("li", {}, line))) : null,
    h("p", {}, h("b", {}, report.question)),
    h("p", { class: "written" }, report.text),
  ].filter((part) => part !== null);
}
