// Offers names of the graph while one is typed; they need no index.

import { getJson } from "./api.js";
import { h } from "./dom.js";

const WAIT = 15;

/**
 * Offer names below an input, and return a function that tells which entity a typed name is.
 *
 * @param {HTMLInputElement} input
 * @param {Map<string, string>} [first] Names that are offered before anything is typed, with their IRIs.
 * @param {(iri: string) => void} [chosen] Called when one of the names is chosen instead of typed.
 * @param {RegExp} [part] What of the text is a name, if it is not the whole.
 * @returns {(name: string) => string | undefined}
 */
export function offerNames(input, first = new Map(), chosen, part = /.+/) {
  const list = h("datalist", { id: `${input.id}-names` });
  let known = first;
  let timer = 0;
  let turn = 0;
  const show = () => list.replaceChildren(...[...known.keys()].map((name) => h("option", { value: name })));
  input.after(list);
  input.setAttribute("list", list.id);
  show();
  input.addEventListener("input", (event) => {
    clearTimeout(timer);
    const mine = ++turn;
    const typed = input.value.trim();
    const iri = known.get(typed);
    if (iri && chosen && (!(event instanceof InputEvent) || event.inputType === "insertReplacementText")) chosen(iri);
    const sought = part.exec(typed)?.[0] ?? "";
    if (sought.length < 2 || iri) return;
    timer = setTimeout(async () => {
      /** @type {{iri: string, name: string}[]} */
      const found = await getJson("/api/names", { q: sought }).catch(() => []);
      if (mine !== turn) return;
      known = new Map(first);
      const before = typed.slice(0, typed.length - sought.length);
      for (const one of found) if (!known.has(before + one.name)) known.set(before + one.name, one.iri);
      show();
    }, WAIT);
  });
  return (name) => known.get(name);
}
