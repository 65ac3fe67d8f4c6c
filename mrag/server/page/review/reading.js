// A question over texts of one's own: they are read by rules, and what they say is proposed.

import { postJson } from "../api.js";
import { h, plural, problemBox } from "../dom.js";

const MOST = 50;
const BYTES = 1_000_000;

/**
 * Returns the form; nothing where the server only reads.
 * @param {any} known
 * @param {(found: any) => void} read is called with the run that was proposed
 */
export function reading(known, read) {
  if (!known.writable) return h("p", { class: "hint" }, "This server only reads, so no texts can be given to it.");
  const question = h("input", { id: "review-question", type: "text", maxlength: "2000", autocomplete: "off", required: true, placeholder: "A question that the texts answer" });
  const files = h("input", { id: "review-files", type: "file", multiple: true, accept: ".txt,.md,.rst,text/plain" });
  const words = h("textarea", { id: "review-words", rows: "3", placeholder: "… or paste a text" });
  const go = h("button", { class: "main" }, "Read");
  const said = h("div", { role: "status" });
  const form = h("form", {},
    h("label", { for: "review-question", class: "unseen" }, "Question"), h("div", { class: "line" }, question, go),
    h("div", { class: "given" }, h("p", {}, h("label", { for: "review-files" }, "Texts "), files), h("p", {}, h("label", { for: "review-words", class: "unseen" }, "Text"), words)), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    said.replaceChildren(h("p", { class: "hint waiting" }, "Reading …"));
    try {
      const texts = await given(files.files, words.value);
      const found = await postJson("/api/review/read", { question: question.value, texts });
      said.replaceChildren(h("p", { class: "note" }, h("strong", {}, found.answer), found.run ? " What was read for it is proposed below." : " Nothing new was read for it."));
      if (found.run) read(found);
    } catch (error) {
      said.replaceChildren(problemBox(error));
    } finally {
      go.disabled = false;
    }
  });
  return h("details", { class: "card ask-texts" }, h("summary", {}, h("h2", {}, "Ask over texts")), form);
}

async function given(files, pasted) {
  const texts = await Promise.all([...files].slice(0, MOST).map(async (file) => ({ name: file.name.slice(0, 200), text: await file.text() })));
  if (pasted.trim()) texts.push({ name: "pasted text", text: pasted });
  if (!texts.length) throw new Error("Choose files with texts, or paste a text.");
  if (files.length > MOST) throw new Error(`At most ${plural(MOST, "file", "files")} at a time.`);
  const large = texts.find((one) => one.text.length > BYTES);
  if (large) throw new Error(`${large.name} is larger than ${BYTES / 1_000_000} MB.`);
  return texts.filter((one) => one.text.trim());
}
