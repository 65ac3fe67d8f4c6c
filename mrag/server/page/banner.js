// What makes answers wrong stands above every view: an index older than the graph, inferences that are missing.

import { getJson, postJson } from "./api.js";
import { byId, h, problemBox } from "./dom.js";
import { rich, t } from "./language.js";

const SOON = 2000;
const LATER = 30000;

/** @import {GraphState, PartName} from "./types.js" */

let timer = 0;
let asked = 0;
let shown = "";

/** What is wrong, in words, and what to do about it; null where nothing is. @param {PartName} part @param {GraphState} state */
export function trouble(part, state) {
  // What follows a change by itself, within seconds, is no trouble.
  if (!state.triples || (state.following && ["outdated", "stale"].includes(state[part].state))) return null;
  if (part === "inference") {
    if (state.inference.state === "none") return { said: t("Nothing has been inferred from this graph yet: answers that need reasoning are missing."), command: "mrag reason" };
    if (state.inference.state === "outdated") return { said: t("The graph has changed since it was reasoned over: some of what is inferred may not hold, and some is missing."), command: "mrag reason" };
    return null;
  }
  if (state.index.state === "missing") return { said: t("There is no search index: things are found by their names alone."), command: "mrag index" };
  if (state.index.state === "stale") return { said: t("The search index is older than the graph: what was added since is not found."), command: "mrag index" };
  if (state.index.state === "damaged") return { said: t("The search index cannot be used: {message}", { message: state.index.message ?? "" }), command: "mrag index" };
  if (state.index.later) return { said: t("Texts are found by their words alone so far, not by their meaning."), command: "mrag index" };
  return null;
}

/**
 * The button that brings a part up to date, or the command where the page may not.
 * @param {PartName} part @param {GraphState} state @param {string} command @param {() => void} after
 */
export function remedy(part, state, command, after) {
  if (state[part].running) return h("span", { class: "waiting" }, t("It is being brought up to date …"));
  if (!state.writable) return h("span", {}, rich("To bring it up to date, run {command}, or start the server with {option}.", { command: h("code", {}, command), option: h("code", {}, "--update") }));
  const said = h("span", { role: "status" });
  const begin = async () => {
    button.disabled = true;
    try {
      await postJson("/api/health/refresh", { what: part });
      after();
    } catch (error) {
      button.disabled = false;
      said.replaceChildren(problemBox(error));
    }
  };
  const button = h("button", { type: "button", onclick: begin, "aria-label": part === "index" ? t("Bring the index up to date") : t("Bring the inference up to date") }, t("Bring up to date"));
  const failed = state[part].failed;
  return h("span", { class: "remedy" }, button, " ", failed ? h("span", { class: "failed" }, t("It failed: {message}", { message: `${failed.message} ${failed.hint || ""}` })) : null, said);
}

/** @param {GraphState} state */
function show(state) {
  const parts = /** @type {PartName[]} */ (["inference", "index"]).flatMap((part) => {
    const found = trouble(part, state);
    return found ? [{ part, found }] : [];
  });
  const place = byId("banner");
  // Drawn anew only where something has changed, so that nobody loses the focus, and nothing is read out twice.
  const now = JSON.stringify([state.inference, state.index.state, state.index.later, state.index.running, state.index.failed, state.writable]);
  if (now !== shown) {
    shown = now;
    place.hidden = !parts.length;
    place.replaceChildren(...parts.map(({ part, found }) => h("p", {}, h("strong", {}, found.said), " ", remedy(part, state, found.command, () => check(true)))));
  }
  const busy = state.following || state.inference.running || state.index.running || state.inference.state === "outdated";
  clearTimeout(timer);
  timer = window.setTimeout(() => check(true), busy ? SOON : LATER);
}

/** Looks at the state, at most once in a while unless it is to be now. @param {boolean} [now] */
export async function check(now = false) {
  if (!now && performance.now() - asked < SOON && asked) return;
  asked = performance.now();
  if (document.hidden && now) {
    clearTimeout(timer);
    timer = window.setTimeout(() => check(true), LATER);
    return;
  }
  try {
    show(await getJson("/api/health/state"));
  } catch {
    // Each section says what went wrong with its own request.
  }
}
