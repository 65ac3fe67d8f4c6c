// The triples of a run: each with its checks and the words it rests on, and rules that tick many at once.

import { entityLink, h } from "../dom.js";
import { thumb } from "../images/thumb.js";
import { number, percent, plural, t } from "../language.js";
import { term } from "../triples.js";

/** @import {Proposal, Quoted, ReviewedRun} from "../types.js" */

const LABEL = "http://www.w3.org/2000/01/rdf-schema#label";
/** @type {Map<string, [string, string]>} */
const SIGNS = new Map([["fits", ["✓", t("passed all checks")]], ["known", ["=", t("in the graph already")]], ["refused", ["✕", t("refused")]]]);

/**
 * Returns the parts of the page, and what is ticked.
 * @param {ReviewedRun} run
 * @param {boolean} open whether it can be decided
 */
export function proposals(run, open) {
  /** @type {Map<string, HTMLInputElement>} */
  const boxes = new Map();
  /** @type {(chosen: string[]) => void} */
  let tell = () => {};
  const fits = run.statements.filter((one) => one.verdict === "fits");
  // The name of a new entity goes with the triples that speak of it.
  const speaks = (/** @type {Proposal} */ one, /** @type {string} */ about) => one.triple.p.value !== LABEL && [one.triple.s.value, one.triple.o.value].includes(about);
  const names = fits.filter((one) => one.triple.p.value === LABEL && fits.some((other) => speaks(other, one.triple.s.value)));
  const fitting = fits.filter((one) => !names.includes(one));
  const chosen = () => {
    const ticked = fitting.filter((one) => boxes.get(one.key)?.checked);
    return [...ticked, ...names.filter((name) => ticked.some((one) => speaks(one, name.triple.s.value)))].map((one) => one.key);
  };
  const changed = () => tell(chosen());
  const tick = (/** @type {(one: Proposal) => boolean} */ wanted) => {
    for (const one of fitting) {
      const box = boxes.get(one.key);
      if (box) box.checked = wanted(one);
    }
    changed();
  };

  /** @param {Proposal} one */
  function row(one) {
    const [sign, word] = SIGNS.get(one.verdict) ?? ["", one.verdict];
    const mark = run.state === "accepted" && one.verdict === "fits" ? t("written into the graph") : word;
    const box = h("input", { type: "checkbox", checked: true, "aria-label": t("Accept: {said}", { said: one.labels.join(" ") }), onchange: changed });
    const ticks = open && fitting.includes(one);
    const goes = open && names.includes(one);
    if (ticks) boxes.set(one.key, box);
    const { s, p, o } = one.triple;
    return h("li", { class: `proposal ${one.verdict}` },
      ticks ? h("label", { class: "tick" }, box) : h("span", { class: "tick", "aria-hidden": "true" }, sign),
      h("div", {},
        h("p", { class: "said" }, term(s, one.labels[0]), " ", entityLink(p.value, one.labels[1], { class: "property" }), " ", term(o, one.labels[2])),
        h("p", { class: "checked" }, h("span", { class: `check-${one.verdict}` }, h("span", { "aria-hidden": "true" }, `${sign} `), mark, one.objections.length ? `: ${one.objections.join("; ")}` : ""), h("span", { class: "score" }, goes ? t("goes with what speaks of it") : t("score {score}", { score: percent(one.confidence) }))),
        goes ? null : one.evidence.map(quoted)),
    );
  }

  const parts = [];
  if (!run.statements.length) parts.push(h("p", { class: "hint" }, t("No triples.")));
  if (open && fitting.length > 1) parts.push(rules(fitting, tick));
  parts.push(h("ul", { class: "proposals", "aria-label": plural(run.statements.length, "triple", "triples") }, run.statements.map(row)));
  if (run.number > run.statements.length) parts.push(h("p", { class: "hint" }, t("The first {shown} of {all} triples. Those that are not shown are not accepted here.", { shown: run.statements.length, all: run.number })));
  return {
    parts,
    fitting: fitting.length,
    chosen,
    changed: (/** @type {(chosen: string[]) => void} */ listener) => {
      tell = listener;
      changed();
    },
  };
}

/** Words in the midst of their passage, or the part of a picture. @param {Quoted} ref */
function quoted(ref) {
  const place = h("figcaption", {}, h("span", { class: "hint" }, ref.source));
  const mark = h("mark", {}, ref.quote);
  if (ref.image) return h("figure", { class: "evidence" }, part(ref, ref.image), h("blockquote", {}, mark), place);
  return h("figure", { class: "evidence" }, h("blockquote", {}, ref.before.length > 200 ? "… " : "", ref.before, mark, ref.after, ref.after.length > 200 ? " …" : ""), place);
}

/** @param {Quoted} ref @param {string} image */
function part(ref, image) {
  const picture = thumb({ iri: image, label: ref.source, file: ref.source, there: true }, 480);
  const frame = h("div", { class: "evidence-picture" }, picture);
  if (ref.box && ref.size) {
    const [x, y, w, height] = ref.box;
    const [wide, high] = ref.size;
    const box = h("span", { class: "evidence-box" });
    const place = { left: x / wide, top: y / high, width: w / wide, height: height / high };
    for (const [side, share] of Object.entries(place)) box.style.setProperty(side, `${100 * Math.min(Math.max(share, 0), 1)}%`);
    frame.style.aspectRatio = `${wide} / ${high}`;
    frame.append(box);
  }
  return frame;
}

/** @param {Proposal[]} fitting @param {(wanted: (one: Proposal) => boolean) => void} tick */
function rules(fitting, tick) {
  /** @type {Map<string, {label: string, count: number}>} */
  const counts = new Map();
  for (const one of fitting) counts.set(one.triple.p.value, { label: one.labels[1], count: (counts.get(one.triple.p.value)?.count ?? 0) + 1 });
  const score = h("input", { type: "number", id: "review-score", min: "0", max: "100", step: "5", value: "50" });
  const property = h("select", { id: "review-property" }, h("option", { value: "" }, t("of any property")), [...counts].map(([iri, one]) => h("option", { value: iri }, `${one.label} (${number(one.count)})`)));
  const apply = () => tick((one) => 100 * one.confidence >= Number(score.value) && (!property.value || one.triple.p.value === property.value));
  score.addEventListener("input", apply);
  property.addEventListener("change", apply);
  return h("div", { class: "rules", role: "group", "aria-label": t("Tick by rule") },
    h("span", {}, t("Tick all"), " "), h("label", { for: "review-property", class: "unseen" }, t("Property")), property,
    h("label", { for: "review-score" }, " ", t("with a score of at least"), " "), h("span", { class: "unit" }, score, " %"),
    h("button", { type: "button", class: "why", onclick: () => tick(() => true) }, t("All")), h("button", { type: "button", class: "why", onclick: () => tick(() => false) }, t("None")));
}
