// Files of triples are added to the graph: dropped on a field, or chosen; only where writing is allowed.

import { once, request } from "../api.js";
import { h, problemBox } from "../dom.js";
import { plural, t } from "../language.js";

/** @import {About} from "../types.js" */

const KINDS = new Map([["ttl", "text/turtle"], ["nt", "application/n-triples"], ["nq", "application/n-quads"], ["trig", "application/trig"], ["rdf", "application/rdf+xml"], ["owl", "application/rdf+xml"], ["jsonld", "application/ld+json"]]);

/** Returns the field, or null where changes are off. @param {() => void} changed @returns {Promise<HTMLElement | null>} */
export async function importing(changed) {
  /** @type {About} */
  const about = await once("/api/about");
  if (!about.update) return null;
  const said = h("div", { role: "status" });
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "file", id: "import-file", multiple: true, accept: [...KINDS.keys()].map((ending) => `.${ending}`).join(",") }));
  const place = h("section", { class: "card import" }, h("h2", {}, t("Add files")), h("label", { for: "import-file" }, t("Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD; drop them here or choose them")), input, said);

  /** @param {Iterable<File>} files */
  async function add(files) {
    for (const file of files) {
      const line = h("p", {}, `${file.name}: `);
      said.append(line);
      const kind = KINDS.get((file.name.split(".").pop() || "").toLowerCase());
      if (!kind) {
        line.append(t("not a kind of file that can be added here."));
        continue;
      }
      try {
        const done = await request(`/repositories/${encodeURIComponent(about.name)}/statements`, { method: "POST", headers: { "Content-Type": kind }, body: file });
        line.append(t("{triples} added.", { triples: plural(Number(done.headers.get("MRAG-Added")), "triple", "triples") }));
        changed();
      } catch (error) {
        line.append(problemBox(error));
      }
    }
    input.value = "";
  }

  input.addEventListener("change", () => add(input.files || []));
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    add(event.dataTransfer?.files || []);
  });
  return place;
}
