// Triples as rows, each marked asserted or inferred, with the proof of inferred ones.

import { getJson } from "./api.js";
import { badge, entityLink, h, problemBox } from "./dom.js";
import { t } from "./language.js";

/** @import {ProofStep, Term, TripleRow} from "./types.js" */

const ANONYMOUS = "urn:mrag:genid:";
const XSD = "http://www.w3.org/2001/XMLSchema#";

/** @param {Term} value @param {string} label */
export function term(value, label) {
  if (value.type === "uri") {
    return value.value.startsWith(ANONYMOUS)
      ? h("span", { class: "anonymous" }, label)
      : entityLink(value.value, label);
  }
  const tag = value["xml:lang"]
    ? h("span", { class: "tag" }, value["xml:lang"])
    : value.datatype && value.datatype !== `${XSD}string`
      ? h("span", { class: "tag" }, value.datatype.replace(/^.*[#/]/, ""))
      : null;
  const text = value.type === "literal" && label.startsWith('"') ? `“${label.slice(1, -1)}”` : label;
  return h("span", { class: "literal", lang: value["xml:lang"] || null }, text, tag && " ", tag);
}

/**
 * Returns triples as a table.
 * @param {TripleRow[]} rows
 * @param {{caption: string, columns?: ("s" | "p" | "o")[], anchors?: boolean}} options `columns` are those that
 *   are shown; with `anchors` a row can be pointed to by its id
 */
export function triplesTable(rows, { caption, columns = ["s", "p", "o"], anchors = false }) {
  const names = { s: t("Subject"), p: t("Predicate"), o: t("Object") };
  const at = { s: 0, p: 1, o: 2 };
  const ids = rows.some((row) => row.id);
  const body = h("tbody");
  for (const row of rows) {
    const line = h("tr", { "data-line": row.id || null, class: row.status, tabindex: anchors ? "-1" : null });
    if (anchors && row.id) line.id = `line-${row.id}`;
    if (ids) line.append(h("td", { class: "id" }, row.id));
    for (const column of columns) {
      line.append(h("td", { class: `part-${column}` }, term(row.triple[column], row.labels[at[column]])));
    }
    const mark = h("td", { class: "mark" }, badge(row.status));
    if (row.status === "inferred") mark.append(" ", whyButton(row, line));
    line.append(mark);
    body.append(line);
  }
  return h(
    "table",
    { class: "triples" },
    h("caption", { class: "unseen" }, caption),
    h(
      "thead",
      {},
      h("tr", {}, ids ? h("th", { scope: "col" }, t("Id")) : null, columns.map((c) => h("th", { scope: "col" }, names[c])), h("th", { scope: "col" }, t("Status"))),
    ),
    body,
  );
}

/** @param {TripleRow} row @param {HTMLTableRowElement} line */
function whyButton(row, line) {
  const said = row.labels.join(" ");
  /** @type {HTMLTableRowElement | null} */
  let proofRow = null;
  const button = h("button", { type: "button", class: "why", "aria-expanded": "false", "aria-label": t("Why: {said}?", { said }) }, t("why?"));
  button.addEventListener("click", async () => {
    if (proofRow) {
      proofRow.remove();
      proofRow = null;
      button.setAttribute("aria-expanded", "false");
      return;
    }
    button.setAttribute("aria-expanded", "true");
    const cell = h("td", { colspan: String(line.children.length), role: "status" }, h("p", { class: "hint" }, t("Looking for the proof …")));
    proofRow = h("tr", { class: "proof-row" }, cell);
    line.after(proofRow);
    try {
      const { s, p, o } = row.triple;
      /** @type {Record<string, string>} */
      const values = { s: s.value, p: p.value };
      if (o.type === "uri") values.o = o.value;
      else {
        values.literal = o.value;
        if (o["xml:lang"]) values.lang = o["xml:lang"];
        else if (o.datatype) values.datatype = o.datatype;
      }
      const { proof } = await getJson("/api/explain", values);
      cell.replaceChildren(h("ul", { class: "proof" }, step(proof)));
    } catch (error) {
      cell.replaceChildren(problemBox(error));
    }
  });
  return button;
}

/** @param {ProofStep} proof @returns {HTMLLIElement} */
function step(proof) {
  const [s, p, o] = proof.labels;
  const item = h(
    "li",
    {},
    h("p", { class: "statement" }, term(proof.triple.s, s), " ", h("em", {}, p), " ", term(proof.triple.o, o), " ", badge(proof.status)),
  );
  if (proof.rule) {
    const rule = h("code", { title: t("Rule of OWL 2 RL") }, proof.rule);
    item.append(
      h("p", { class: "because" }, proof.axiom ? [t("because "), h("q", {}, proof.axiom), " "] : t("by the rule "), rule),
      h("ul", {}, proof.premises.map(step)),
    );
  }
  return item;
}
