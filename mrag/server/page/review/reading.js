// A question over texts of one's own: they are read by rules, and what they say is proposed.

import { postJson } from "../api.js";
import { h, problemBox } from "../dom.js";
import { number, t } from "../language.js";

/** @import {Runs} from "../types.js" */

const MOST = 50;
const BYTES = 1_000_000;
const PASTED = "pasted text";

/**
 * Returns the form; a note where the server only reads.
 * @param {Runs} known
 * @param {(run: string) => void} read is called with the run that was proposed
 */
export function reading(known, read) {
  if (!known.writable) return h("p", { class: "hint" }, t("This server only reads, so no texts can be given to it."));
  const question = h("input", { id: "review-question", type: "text", maxlength: "2000", autocomplete: "off", required: true, placeholder: t("A question that the texts answer") });
  const files = h("input", { id: "review-files", type: "file", multiple: true, accept: ".txt,.md,.rst,text/plain" });
  const words = h("textarea", { id: "review-words", rows: "3", placeholder: t("… or paste a text") });
  const go = h("button", { class: "main" }, t("Read"));
  const said = h("div", { role: "status" });
  const form = h("form", {},
    h("label", { for: "review-question", class: "unseen" }, t("Question")), h("div", { class: "line" }, question, go),
    h("div", { class: "given" }, h("p", {}, h("label", { for: "review-files" }, t("Texts"), " "), files), h("p", {}, h("label", { for: "review-words", class: "unseen" }, t("Text")), words)), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    said.replaceChildren(h("p", { class: "hint waiting" }, t("Reading …")));
    try {
      const texts = await given([...(files.files ?? [])], words.value);
      /** @type {{answer: string, run: string | null}} */
      const found = await postJson("/api/review/read", { question: question.value, texts });
      said.replaceChildren(h("p", { class: "note" }, h("strong", {}, found.answer), " ", found.run ? t("What was read for it is proposed below.") : t("Nothing new was read for it.")));
      if (found.run) read(found.run);
    } catch (error) {
      said.replaceChildren(problemBox(error));
    } finally {
      go.disabled = false;
    }
  });
  return h("details", { class: "card ask-texts" }, h("summary", {}, h("h2", {}, t("Ask over texts"))), form);
}

/** @param {File[]} files @param {string} pasted */
async function given(files, pasted) {
  if (files.length > MOST) throw new Error(t("At most {number} files at a time.", { number: number(MOST) }));
  const texts = await Promise.all(files.map(async (file) => ({ name: file.name.slice(0, 200), text: await file.text() })));
  if (pasted.trim()) texts.push({ name: PASTED, text: pasted });
  if (!texts.length) throw new Error(t("Choose files with texts, or paste a text."));
  const large = texts.find((one) => one.text.length > BYTES);
  if (large) throw new Error(t("{name} is larger than {size} MB.", { name: large.name, size: number(BYTES / 1_000_000) }));
  return texts.filter((one) => one.text.trim());
}
