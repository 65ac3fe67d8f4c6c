// Queries that people saved in the graph, and what this browser ran before.

import { getJson, postJson } from "../api.js";
import { h, problemBox } from "../dom.js";
import { t, when } from "../language.js";
import { forget, past } from "./tabs.js";

/** @import {SavedQuery, Values} from "../types.js" */

/**
 * Keeps the lists of saved queries and of the history.
 * @param {HTMLElement} place
 * @param {{value: () => string, open: (text: string, name?: string) => void, values: () => Record<string, string>, fill: (values: Values) => void}} editor
 */
export function makeSaved(place, editor) {
  const problem = h("div", { role: "alert" });
  const said = h("span", { class: "hint", role: "status" });
  const saved = h("div", { class: "saved" });
  /** @type {SavedQuery[]} */
  let known = [];
  const history = h("details", { class: "past" });
  place.replaceChildren(saved, said, problem, history);

  /** @param {() => Promise<unknown>} work @param {string} done */
  async function tried(work, done) {
    problem.replaceChildren();
    said.replaceChildren();
    try {
      await work();
      await refresh();
      said.textContent = done;
    } catch (error) {
      problem.replaceChildren(problemBox(error));
    }
  }

  /** @param {boolean} writable */
  function saving(writable) {
    if (!writable) return h("p", { class: "hint" }, t("To save queries here, start the server with --update."));
    const name = /** @type {HTMLInputElement} */ (h("input", { id: "save-name", type: "text", maxlength: "100", autocomplete: "off", required: true }));
    const save = (/** @type {boolean} */ replacing) => tried(() => postJson("/api/saved", { name: name.value, text: editor.value(), replacing }), t("Saved as {name}.", { name: name.value.trim() }));
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      const wanted = name.value.trim();
      if (!known.some((one) => one.name === wanted)) return save(false);
      // A name that is taken: a second click decides.
      return problem.replaceChildren(h("div", { class: "note" }, h("p", {}, t("{name} is there already.", { name: wanted })), h("button", { type: "button", onclick: () => save(true) }, t("Replace it"))));
    };
    return h("form", { class: "save", onsubmit: submit }, h("label", { for: "save-name" }, t("Save this query as")), h("div", { class: "line" }, name, h("button", {}, t("Save"))));
  }

  // Whoever opens the link has the query in the editor, with what is in its fields now.
  /** @param {string} name */
  async function link(name) {
    const address = `${location.origin}${location.pathname}#/query?${new URLSearchParams({ saved: name, ...editor.values() })}`;
    try {
      await navigator.clipboard.writeText(address);
      said.textContent = t("Link copied.");
    } catch {
      said.replaceChildren(h("a", { href: address }, t("Link to {name}", { name })));
    }
  }

  async function refresh() {
    /** @type {{queries: SavedQuery[], writable: boolean}} */
    let found = { queries: [], writable: false };
    try {
      found = await getJson("/api/saved");
    } catch (error) {
      problem.replaceChildren(problemBox(error));
    }
    known = found.queries;
    const row = (/** @type {SavedQuery} */ one) =>
      h(
        "li",
        {},
        h("button", { type: "button", "data-saved": one.name, onclick: () => editor.open(one.text, one.name) }, h("strong", {}, one.name), one.comment ? h("span", {}, one.comment) : null),
        h("button", { type: "button", class: "close", "aria-label": t("Copy a link to {name}", { name: one.name }), title: t("Copy a link"), onclick: () => link(one.name) }, "⎘"),
        found.writable ? h("button", { type: "button", class: "close", "aria-label": t("Remove {name}", { name: one.name }), onclick: () => tried(() => postJson("/api/saved/remove", { name: one.name }), t("{name} is removed.", { name: one.name })) }, "×") : null,
      );
    saved.replaceChildren(
      h("h3", {}, t("Saved in this graph")),
      found.queries.length ? h("ul", {}, found.queries.map(row)) : h("p", { class: "hint" }, t("None yet.")),
      saving(found.writable),
    );
    recall();
  }

  function recall() {
    const runs = past();
    const row = (/** @type {{text: string, when: string}} */ one) => {
      const lines = one.text.split("\n").map((line) => line.trim());
      const first = lines.find((line) => line && !/^(?:#|prefix|base)/i.test(line)) || lines[0] || "";
      return h("li", {}, h("button", { type: "button", title: one.text.slice(0, 2000), onclick: () => editor.open(one.text) }, h("code", {}, first.slice(0, 80)), h("span", {}, when(one.when))));
    };
    const clear = h("button", { type: "button", onclick: () => { forget(); recall(); } }, t("Forget them"));
    history.hidden = !runs.length;
    history.replaceChildren(h("summary", {}, t("Run before ({runs})", { runs: runs.length })), h("p", { class: "hint" }, t("Kept by this browser alone.")), h("ul", {}, runs.map(row)), clear);
  }

  const first = refresh();

  /** Opens a saved query by its name, its fields filled in. @param {string} name @param {Values} values */
  async function open(name, values) {
    await first;
    const found = known.find((one) => one.name === name);
    if (!found) {
      problem.replaceChildren(problemBox(new Error(t("No query is saved here as {name}.", { name }))));
      return;
    }
    editor.open(found.text, found.name);
    editor.fill(values);
  }

  return { recall, open };
}
