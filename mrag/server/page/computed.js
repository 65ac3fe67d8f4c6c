// What a computed answer shows beside its words: its rows, how the question was read, the query, and what
// else the question may mean.

import { byId, entityLink, h, show } from "./dom.js";
import { plural, t } from "./language.js";
import { term } from "./triples.js";

/** @import {Answer, Cell, Child, Row, Sentence, WordUse} from "./types.js" */

const FIRST = 10;
const MOST_LINK = 6000;
const NUMBER = /#(?:integer|decimal|double|float|int|long|short|gYear)$/;

// Rows as a table, each with the ids of the triples that prove it; of one value the sentence says enough.
/** @param {Answer} answer @param {(sentence: Sentence) => Child} chips */
export function rowsTable(answer, chips) {
  const { columns, rows, sentences } = answer;
  if (!answer.plan || (rows.length < 2 && columns.length < 2)) return null;
  const several = rows.length > 1;
  const cited = several && sentences.some((sentence) => sentence.citations.length);
  const body = h("tbody");
  const line = (/** @type {Row} */ row, /** @type {number} */ at) =>
    h(
      "tr",
      {},
      row.map((cell) => h("td", { class: cell && NUMBER.test(cell.datatype || "") ? "number" : null }, cell ? value(cell) : "")),
      cited ? h("td", { class: "proofs" }, at < sentences.length ? chips(sentences[at]) : null) : null,
    );
  body.append(...rows.slice(0, FIRST).map(line));
  const table = h(
    "table",
    { class: "rows" },
    h("caption", { class: several ? null : "unseen" }, several ? `${plural(rows.length, "row", "rows")}${answer.truncated ? t(", and there may be more") : ""}` : t("The answer as a table")),
    h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name.replaceAll("_", " "))), cited ? h("th", { scope: "col" }, t("Proof")) : null)),
    body,
  );
  const place = h("div", { class: "rows-place", tabindex: "0", role: "region", "aria-label": t("Rows of the answer") }, table);
  if (rows.length <= FIRST) return [place];
  const more = h("button", { type: "button", class: "more" }, t("Show all {rows} rows", { rows: rows.length }));
  more.addEventListener("click", () => {
    body.append(...rows.slice(FIRST).map((row, at) => line(row, at + FIRST)));
    more.remove();
    place.focus({ preventScroll: true });
  });
  return [place, more];
}

/** @param {Cell} cell */
function value(cell) {
  // The columns say what a number is.
  return cell.type === "uri" ? term(cell, cell.label) : h("span", { class: "literal", lang: cell["xml:lang"] || null }, cell.label);
}

// How it was read and computed; `again` asks with another reading.
/** @param {Answer} answer @param {(reading: number) => void} again */
export function howItWasRead(answer, again) {
  const place = byId("computed");
  show(place, answer.plan || answer.readings.length);
  /** @type {HTMLElement[]} */
  const parts = answer.runners_up.length ? [h("p", { class: "note" }, h("b", {}, t("Next: ")), runnersUp(answer))] : [];
  if (answer.plan) parts.push(h("p", { class: "reading" }, h("b", {}, t("Read as: ")), answer.reading), ...wordByWord(answer));
  if (answer.ignored.length) parts.push(h("p", { class: "note" }, t("Not understood: {words}.", { words: answer.ignored.join(", ") })));
  if (answer.readings.length) {
    const others = answer.readings.map((other) =>
      h(
        "li",
        {},
        h("button", { type: "button", class: "chip", "data-reading": String(other.number), onclick: () => again(other.number) }, other.reading),
        h("span", { class: "hint" }, t(" gives {answer}", { answer: other.answer })),
      ),
    );
    parts.push(h("h3", { id: "readings-title" }, answer.plan ? t("It may also mean") : t("It may mean, but none of this is certain enough")), h("ul", { class: "readings", "aria-labelledby": "readings-title" }, others));
  }
  place.replaceChildren(...parts, ...(answer.query ? [sparql(answer.query)] : []));
}

// The question with what its words became beneath them, and behind it what is in the plan and no word says.
/** @param {Answer} answer */
function wordByWord({ question, words = [] }) {
  const letters = [...question]; // places count characters, of which some are two units of a string
  const pieces = words.flatMap((use) => {
    if (!use.words) return [];
    const told = t("with “{words}”", { words: use.words.text });
    return [{ ...use.words, told: became(use) }, ...use.cues.map((cue) => ({ ...cue, told: [told] }))];
  });
  /** @type {HTMLElement[]} */
  const items = [];
  let at = 0;
  const plain = (/** @type {number} */ end) => {
    const between = letters.slice(at, end).join("");
    if (/[\p{L}\p{N}]/u.test(between)) items.push(h("li", {}, between));
  };
  const below = (/** @type {Child[]} */ told) => h("span", { class: "became" }, told);
  for (const { text, start, end, told } of pieces.sort((one, other) => one.start - other.start)) {
    // Parts of one word, such as a compound, stand in the same place.
    if (start < at) items.at(-1)?.append(below(told));
    else {
      plain(start);
      items.push(h("li", {}, h("mark", {}, text), below(told)));
      at = end;
    }
  }
  plain(letters.length);
  const unsaid = words.filter((use) => !use.words).map((use) => h("li", {}, t("(no words)"), below(became(use))));
  return words.length ? [h("ol", { class: "words", "aria-label": t("Word by word") }, items, unsaid)] : [];
}

/** @param {WordUse} use @returns {Child[]} */
function became({ does, name, iri, value, how }) {
  const what = [iri ? entityLink(iri, name) : name, value].filter(Boolean).flatMap((part, at) => (at ? [" ", part] : [part]));
  return [does, what.length ? ": " : "", what, how ? ` (${how})` : ""];
}

// The rows behind those that were asked for, with what they are ordered by.
/** @param {Answer} answer */
function runnersUp(answer) {
  const line = (/** @type {Row} */ [first, ...others]) =>
    (first ? first.label : t("none")) + (others.length ? `: ${others.map((cell) => (cell ? cell.label : t("none"))).join(", ")}` : "");
  const rows = answer.runners_up.map(line).join("; ");
  return answer.last.length ? t("{first}, then {others}", { first: line(answer.last), others: rows }) : rows;
}

/** @param {string} query */
function sparql(query) {
  const text = h("pre", { tabindex: "0", "aria-label": t("SPARQL query") }, h("code", {}, query));
  const said = h("span", { class: "hint", role: "status" });
  const copy = h("button", { type: "button", onclick: () => copied(query, text, said) }, t("Copy"));
  const open = query.length <= MOST_LINK ? h("a", { class: "chip", href: `#/query?query=${encodeURIComponent(query)}` }, t("Open in Query")) : null;
  return h("details", { class: "sparql" }, h("summary", {}, "SPARQL"), text, h("p", { class: "line" }, copy, open, said));
}

/** @param {string} query @param {HTMLElement} text @param {HTMLElement} said */
async function copied(query, text, said) {
  try {
    await navigator.clipboard.writeText(query);
    said.textContent = t("Copied.");
  } catch {
    // No clipboard without TLS or leave; then the reader copies what is selected.
    getSelection()?.selectAllChildren(text);
    said.textContent = t("Selected: press Ctrl+C.");
  }
}
