// Explore: search for an entity, and walk from one to the next.

import { forget, getJson } from "./api.js";
import { badge, byId, entityLink, field, h, statusWord, problemBox, within } from "./dom.js";
import { plural, rich, t } from "./language.js";
import { makeChoices } from "./choices.js";
import { imageStrip } from "./strip.js";
import { offerNames } from "./names.js";
import { learnable } from "./learn.js";
import { drawing } from "./picture.js";
import { triplesTable } from "./triples.js";

/** @import {Choices} from "./choices.js" */
/** @import {Child, EntityPage, FoundHit, Go, Side, TypeOf, Values} from "./types.js" */

let turn = 0;
/** @type {Choices} */
let choices;
/** @type {Go} */
let leave;

/** @param {Go} go */
export function start(go) {
  leave = go;
  const sought = field("sought", HTMLInputElement);
  offerNames(sought, new Map(), (iri) => go("explore", { iri }));
  choices = makeChoices("explore", () => {
    const text = sought.value.trim();
    if (text) go("explore", { q: text, ...choices.values() });
  });
  byId("explore-how").append(choices.element);
  byId("explore-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = sought.value.trim();
    if (text) go("explore", { q: text, ...choices.values() });
    else sought.focus();
  });
}

/** @param {Values} values */
export async function enter(values) {
  const mine = ++turn;
  const [problem, begin, found, entity] = [byId("explore-problem"), byId("explore-start"), byId("explore-hits"), byId("explore-entity")];
  const places = [problem, begin, found, entity];
  field("sought", HTMLInputElement).value = values.q || "";
  choices.enter(values);
  try {
    if (values.iri && values.view === "graph") {
      const { growing } = await import("./graph/growing.js");
      const drawn = await growing(values.iri);
      if (mine !== turn) return;
      for (const place of places) place.replaceChildren();
      entity.replaceChildren(drawn);
      within(entity, "h2").focus({ preventScroll: true });
    } else if (values.iri) {
      /** @type {[EntityPage, typeof import("./graph/files.js")]} */
      const [about, { files }] = await Promise.all([getJson("/api/entity", { iri: values.iri }), import("./graph/files.js")]);
      const last = h("section", {}, await files(about.iri));
      if (mine !== turn) return;
      for (const place of places) place.replaceChildren();
      entity.replaceChildren(...page(about, last));
      document.title = `${about.label} · mrag`;
      within(entity, "h2").focus({ preventScroll: true });
      window.scrollTo(0, 0);
    } else if (values.q) {
      const { hits } = await getJson("/api/search", { q: values.q, k: "20", ...(values.ranker ? { ranker: values.ranker } : {}), ...(values.only ? { class: values.only } : {}) });
      if (mine !== turn) return;
      for (const place of places) place.replaceChildren();
      found.replaceChildren(...results(hits, values));
    } else {
      const [{ schema }, { importing }] = await Promise.all([import("./graph/schema.js"), import("./graph/importing.js")]);
      const [known, adding] = await Promise.all([schema(), importing(() => forget("/api/schema"))]);
      if (mine !== turn) return;
      for (const place of places) place.replaceChildren();
      begin.replaceChildren(...known, ...(adding ? [adding] : []));
    }
  } catch (error) {
    if (mine !== turn) return;
    for (const place of places) place.replaceChildren();
    problem.replaceChildren(problemBox(error));
  }
}

/** @param {FoundHit[]} hits @param {Values} values */
function results(hits, values) {
  if (!hits.length) return [h("p", { class: "note" }, t("Nothing in the graph fits these words."))];
  return [
    h("h2", { class: "unseen" }, plural(hits.length, "entity", "entities")),
    learnable(
      hits,
      (hit) => [
        h("h3", {}, entityLink(hit.iri, hit.label)),
        types(hit),
        hit.description ? h("p", { class: "description" }, hit.description) : null,
        h("p", { class: "hint" }, t("Found by {reasons}", { reasons: hit.reasons.join("; ") })),
      ],
      (iri) => leave("explore", { q: values.q ?? "", ...(values.ranker ? { ranker: values.ranker } : {}), only: iri }),
    ),
  ];
}

/** @param {{types: TypeOf[]}} about */
function types(about) {
  if (!about.types.length) return null;
  return h(
    "p",
    { class: "types" },
    about.types.map((type) => [entityLink(type.iri, type.label, { class: `chip type ${type.status}`, title: `${type.iri} (${statusWord(type.status)})` }), " "]),
  );
}

/** @param {EntityPage} about @param {HTMLElement} last what stands below the rest */
function page(about, last) {
  const title = h("h2", { tabindex: "-1" }, about.label);
  const shape = about.neighbourhood;
  const column = (/** @type {Child[]} */ ...children) => h("div", { class: "column" }, ...children);
  return [
    h(
      "article",
      { class: "entity" },
      h(
        "header",
        { class: "card" },
        title,
        h("p", { class: "iri" }, h("code", {}, about.iri)),
        types(about),
        about.description ? h("p", { class: "description" }, about.description) : null,
      ),
      h(
        "div",
        { class: "two" },
        column(
          side(about.out, t("What the graph says of it"), ["p", "o"], t("Nothing begins here.")),
          side(about.in, t("What points to it"), ["s", "p"], t("Nothing points here.")),
        ),
        column(
          h("section", { class: "card" }, h("h3", {}, t("Neighbourhood")), drawing(shape), h("p", { class: "more" }, h("a", { href: `#/explore?iri=${encodeURIComponent(about.iri)}&view=graph` }, t("Grow it into a graph")))),
          about.images.length ? h("section", { class: "card" }, h("h3", {}, t("Images")), h("div", { class: "images" }, imageStrip(about.images))) : null,
          last,
        ),
      ),
    ),
  ];
}

/** @param {Side} part @param {string} title @param {("s" | "p" | "o")[]} columns @param {string} none */
function side(part, title, columns, none) {
  const inferred = part.triples.filter((row) => row.status === "inferred").length;
  const many = part.triples.length > 12;
  const rows = triplesTable(many ? part.triples.slice(0, 12) : part.triples, { caption: title, columns });
  const place = h("div", {}, rows);
  const more = many
    ? h(
        "button",
        {
          type: "button",
          class: "more",
          onclick: () => {
            place.replaceChildren(triplesTable(part.triples, { caption: title, columns }));
            more?.remove();
          },
        },
        t("Show all {triples}", { triples: part.triples.length }),
      )
    : null;
  return h(
    "section",
    { class: "card" },
    h("h3", {}, title),
    part.triples.length
      ? [
          h("p", { class: "hint" }, rich("{triples}, {inferred} of them {badge}", { triples: plural(part.triples.length, "triple", "triples"), inferred, badge: badge("inferred") })),
          place,
          more,
          part.more.length ? h("p", { class: "hint" }, t("There are more than are shown of: {predicates}.", { predicates: part.more.join(", ") })) : null,
        ]
      : h("p", { class: "hint" }, none),
  );
}
