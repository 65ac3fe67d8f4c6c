// Learn: hits that can be marked as meant or not; what the marked ones share is learnt at once, said in a
// sentence, and can be kept as a class.

import { getJson, keptConcepts, once, postJson } from "./api.js";
import { badge, entityLink, h, problemBox } from "./dom.js";
import { number, percent, plural, rich, t } from "./language.js";
import { query } from "./sparql.js";
import { term } from "./triples.js";

/** @import {About, Alternative, Child, Hit, KeptConcept, Learnt, Reason, Statement, Why} from "./types.js" */

const MOST_LINK = 6000;
const SETTLE = 150;

/**
 * Returns a list of hits with a plus and a minus on each, and the place where the concept is said.
 * @template {Hit} H
 * @param {H[]} hits
 * @param {(hit: H) => Child} content what stands in the list for a hit
 * @param {(iri: string) => void} filter asks for members of a class only
 */
export function learnable(hits, content, filter) {
  return new MarkedList(hits, content, filter).element;
}

/** @template {Hit} H */
class MarkedList {
  /**
   * @param {H[]} hits
   * @param {(hit: H) => Child} content
   * @param {(iri: string) => void} filter
   */
  constructor(hits, content, filter) {
    this.hits = hits;
    this.filter = filter;
    /** @type {Map<string, boolean>} */
    this.marks = new Map();
    /** @type {Learnt | null} */
    this.learnt = null;
    /** @type {AbortController | null} */
    this.asking = null;
    this.at = 0;
    this.timer = 0;
    this.labels = new Map(hits.map((hit) => [hit.iri, hit.label]));
    this.items = new Map(hits.map((hit) => [hit.iri, this.item(hit, content)]));
    this.list = h("ol", { class: "hits" }, [...this.items.values()]);
    this.said = h("div", { class: "said", "aria-live": "polite" });
    this.rest = h("div", {});
    this.panel = h("section", { class: "card learnt", "aria-label": t("The concept learnt from your marks"), hidden: true }, this.said, this.rest);
    const markable = hits.filter((hit) => hit.individual).length > 1;
    const lead = h("p", { class: "hint" }, t("Mark with + what you mean and with − what you do not: from two marks on, what they share is learnt."));
    this.element = h("div", { class: "learnable" }, markable ? lead : null, this.panel, this.list);
  }

  /** @param {H} hit @param {(hit: H) => Child} content */
  item(hit, content) {
    const marks = hit.individual ? this.buttons(hit) : null;
    const state = h("div", { class: "in-concept", hidden: true });
    return h("li", { class: "card", "data-iri": hit.iri }, h("div", { class: "hit-line" }, h("div", { class: "hit-body" }, content(hit)), marks), state);
  }

  /** @param {Hit} hit */
  buttons(hit) {
    /** @param {boolean} liked @param {string} sign @param {string} name */
    const button = (liked, sign, name) =>
      h("button", { type: "button", class: "vote", "data-mark": hit.iri, "data-liked": String(liked), "aria-pressed": "false", "aria-label": `${name} ${hit.label}`, onclick: () => this.mark(hit.iri, liked) }, sign);
    return h("div", { class: "marks", role: "group", "aria-label": t("Mark {label}", { label: hit.label }) }, button(true, "+", t("More like")), button(false, "−", t("Not like")));
  }

  /** @param {string} iri @param {boolean} liked */
  mark(iri, liked) {
    if (this.marks.get(iri) === liked) this.marks.delete(iri);
    else this.marks.set(iri, liked);
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[data-mark]"))) {
      const mark = this.marks.get(button.dataset.mark ?? "");
      button.setAttribute("aria-pressed", String(mark !== undefined && String(mark) === button.dataset.liked));
    }
    clearTimeout(this.timer);
    this.asking?.abort();
    const liking = [...this.marks.values()].some(Boolean);
    if (this.marks.size > 1 && liking) {
      this.timer = window.setTimeout(() => this.learn(true), SETTLE);
      return;
    }
    this.show(null);
    this.panel.hidden = !this.marks.size;
    const wanted = liking ? t("One more mark, and what you mean is learnt.") : t("Now mark with + something that you mean.");
    this.said.replaceChildren(h("p", { class: "hint" }, wanted));
    // The first time takes longest, so it begins before it is needed.
    if (liking) this.learn(false);
  }

  /** @param {boolean} shown whether the answer is shown */
  async learn(shown) {
    const asking = new AbortController();
    this.asking = asking;
    const of = (/** @type {boolean} */ liked) => [...this.marks].filter(([, mark]) => mark === liked).map(([iri]) => iri);
    try {
      const body = { hits: this.hits.filter((hit) => hit.individual).map((hit) => hit.iri), liked: of(true), disliked: of(false) };
      const learnt = await postJson("/api/learn", body, asking.signal);
      if (!asking.signal.aborted && shown) this.show(learnt);
    } catch (error) {
      if (asking.signal.aborted || !shown) return;
      this.panel.hidden = false;
      this.said.replaceChildren(problemBox(error));
      this.rest.replaceChildren();
    }
  }

  /** @param {Learnt | null} learnt */
  show(learnt) {
    this.learnt = learnt;
    this.at = learnt ? learnt.chosen : 0;
    this.rest.replaceChildren();
    if (learnt) {
      this.panel.hidden = false;
      if (learnt.alternatives.length) this.rest.replaceChildren(...this.parts(learnt));
      else this.said.replaceChildren(h("p", {}, t("Nothing in the graph tells those marked + from the others. Mark more, or other ones.")), this.proposals(learnt));
    }
    this.choose(this.at);
  }

  /** @param {number} at which alternative is shown */
  choose(at) {
    this.at = at;
    const chosen = this.learnt?.alternatives[at];
    const covered = new Set(chosen?.covered);
    for (const hit of this.hits) this.state(hit, chosen, covered.has(hit.iri));
    const front = chosen ? this.hits.filter((hit) => covered.has(hit.iri)) : [];
    const order = [...front, ...this.hits.filter((hit) => !front.includes(hit))];
    const focused = document.activeElement;
    const items = order.flatMap((hit) => this.items.get(hit.iri) ?? []);
    if (items.some((item, place) => this.list.children[place] !== item)) {
      this.list.replaceChildren(...items);
      if (focused instanceof HTMLElement && this.list.contains(focused)) focused.focus({ preventScroll: true });
    }
    if (chosen) this.say(chosen);
  }

  /** @param {Alternative} chosen */
  say(chosen) {
    const { tp, fp, positives, negatives } = chosen.counts;
    const assumed = this.learnt?.assumed.length ? t(" ({hits} taken for what you do not mean)", { hits: plural(this.learnt.assumed.length, "last hit was", "last hits were") }) : "";
    const inGraph = h("span", { class: "in-graph" }, "…");
    const precision = chosen.precision === null ? "" : t("; precision on the marked {precision}", { precision: percent(chosen.precision) });
    this.said.replaceChildren(
      h("h3", {}, t("What you mean")),
      h("p", { class: "sentence" }, chosen.sentence),
      h("p", { class: "hint counts" }, rich("{tp} of {positives} meant, {fp} of {negatives} not meant{assumed}{precision}. In it: {covered} of {hits} here, {inGraph} in the graph.", { tp, positives, fp, negatives, assumed, precision, covered: chosen.covered.length, hits: this.hits.length, inGraph })),
    );
    query(chosen.count)
      .then((rows) => (inGraph.textContent = number(Number(rows[0]?.n?.value))))
      .catch(() => (inGraph.textContent = t("not counted in time")));
    const [manchester, sparql] = this.rest.querySelectorAll("pre code");
    if (!manchester) return;
    manchester.textContent = chosen.manchester;
    sparql.textContent = chosen.sparql;
    const link = /** @type {HTMLAnchorElement} */ (this.rest.querySelector("a.chip"));
    link.href = `#/query?query=${encodeURIComponent(chosen.sparql)}`;
    link.hidden = chosen.sparql.length > MOST_LINK;
  }

  /** @param {Learnt} learnt */
  parts(learnt) {
    const several = learnt.alternatives.length > 1;
    const slider = h("input", { type: "range", min: "0", max: String(learnt.alternatives.length - 1), step: "1", value: String(this.at), class: "length" });
    const length = h("output", {}, "");
    const tell = () => {
      const { length: symbols, sentence } = learnt.alternatives[Number(slider.value)];
      length.textContent = plural(symbols, "symbol", "symbols");
      slider.setAttribute("aria-valuetext", `${length.textContent}: ${sentence}`);
    };
    slider.addEventListener("input", () => {
      tell();
      this.choose(Number(slider.value));
    });
    tell();
    return [
      several ? h("p", { class: "line lengths" }, h("label", {}, t("Shorter or longer "), slider), " ", length) : null,
      this.proposals(learnt),
      h("details", { class: "sparql" }, h("summary", {}, t("As a class expression and as a query")), h("pre", { tabindex: "0", "aria-label": t("Manchester syntax") }, h("code")), h("pre", { tabindex: "0", "aria-label": t("SPARQL query") }, h("code")), h("p", {}, h("a", { class: "chip", href: "#/query" }, t("Open in Query")))),
      this.keeping(),
    ].filter((part) => part !== null);
  }

  // What tells most is asked next: the hits on which the best concepts disagree.
  /** @param {Learnt} learnt */
  proposals(learnt) {
    if (!learnt.proposals.length) return "";
    const ask = (/** @type {string} */ iri) =>
      h("li", {}, h("span", {}, this.labels.get(iri)), this.buttons({ iri, label: this.labels.get(iri) ?? iri, individual: true }));
    return h("div", { class: "next" }, h("p", { class: "hint" }, t("To mark one of these would tell most:")), h("ul", {}, learnt.proposals.map(ask)));
  }

  keeping() {
    const place = h("div", { class: "keeping" });
    once("/api/about").then((/** @type {About} */ about) => {
      if (!about.update) {
        place.append(h("p", { class: "hint" }, t("To keep it as a class, the server must allow changes: mrag serve --update.")));
        return;
      }
      const name = h("input", { type: "text", maxlength: "100", autocomplete: "off", required: true, placeholder: t("A name, such as open vector store") });
      const said = h("div", { role: "status" });
      const form = h("form", { class: "keep" }, h("label", {}, t("Name of the class "), name), h("button", { class: "main" }, t("Keep as class")), said);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.keep(name.value.trim(), said);
      });
      place.append(form);
    });
    return place;
  }

  /** @param {string} name @param {HTMLElement} said */
  async keep(name, said) {
    const chosen = this.learnt?.alternatives[this.at];
    if (!chosen || !name) return;
    const of = (/** @type {boolean} */ liked) => [...this.marks].filter(([, mark]) => mark === liked).map(([iri]) => iri);
    said.replaceChildren(h("p", { class: "hint" }, t("Keeping …")));
    try {
      const kept = await postJson("/api/concepts", { name, concept: chosen.concept, liked: of(true), disliked: of(false) });
      const members = h("span", {}, t("its members are being inferred …"));
      said.replaceChildren(
        h("p", {}, rich("Kept as the class {link}: {members}", { link: entityLink(kept.iri, kept.label), members })),
        h("p", {}, h("button", { type: "button", onclick: () => this.filter(kept.iri) }, t("Only {label}", { label: kept.label }))),
      );
      members.textContent = await settled(kept);
    } catch (error) {
      said.replaceChildren(problemBox(error));
    }
  }

  /** @param {Hit} hit @param {Alternative | undefined} chosen @param {boolean} holds */
  state(hit, chosen, holds) {
    const place = this.items.get(hit.iri)?.querySelector(".in-concept");
    if (!(place instanceof HTMLElement)) return;
    place.hidden = !chosen || !hit.individual;
    if (!chosen || !hit.individual) {
      place.replaceChildren();
      return;
    }
    const answer = h("div", { role: "status" });
    const button = h("button", { type: "button", class: "why", "aria-expanded": "false", "aria-label": holds ? t("Why is {label} in?", { label: hit.label }) : t("Why is {label} not in?", { label: hit.label }) }, holds ? t("why?") : t("why not?"));
    button.addEventListener("click", async () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      if (!open) return answer.replaceChildren();
      answer.replaceChildren(h("p", { class: "hint" }, t("Looking …")));
      try {
        const { reason } = /** @type {Why} */ (await getJson("/api/learn/why", { concept: chosen.concept, iri: hit.iri }));
        answer.replaceChildren(h("ul", { class: "proof" }, because(reason)));
      } catch (error) {
        answer.replaceChildren(problemBox(error));
      }
    });
    place.replaceChildren(h("span", { class: `badge ${holds ? "asserted" : "outside"}` }, holds ? t("in it") : t("not in it")), " ", button, answer);
  }
}

/** Waits until reasoning has followed, and says how many members there are. @param {KeptConcept} kept */
async function settled(kept) {
  for (let turn = 0; turn < 60; turn++) {
    const { concepts, pending } = await keptConcepts();
    const now = concepts.find((one) => one.iri === kept.iri);
    if (now && !pending) {
      if (now.members) return t("{members}. It is a filter from now on.", { members: plural(now.members, "member", "members") });
      return t("it is a filter from now on; its members are inferred when the graph is reasoned over.");
    }
    await new Promise((done) => setTimeout(done, 500));
  }
  return t("it is a filter from now on; its members are still being inferred.");
}

/** @param {Statement} row */
function statement({ triple, labels }) {
  return [term(triple.s, labels[0]), " ", h("em", {}, labels[1]), " ", term(triple.o, labels[2])];
}

/** @param {Reason} reason @returns {HTMLLIElement} */
function because(reason) {
  const item = h("li", {}, h("p", {}, h("span", { "aria-hidden": "true" }, reason.holds ? "✓ " : "✗ "), t("{subject} {words}", { subject: reason.subject, words: reason.words })));
  for (const row of reason.triples) item.append(h("p", { class: "because" }, statement(row), " ", badge(row.status)));
  for (const text of reason.absent) item.append(h("p", { class: "because" }, t("not stated: {text}", { text })));
  if (reason.parts.length) item.append(h("ul", {}, reason.parts.map(because)));
  if (reason.more) item.append(h("p", { class: "because" }, t("and {more} more", { more: reason.more })));
  return item;
}
