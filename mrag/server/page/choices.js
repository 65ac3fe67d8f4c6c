// What ranks the entities, and of which class they shall be: two choices beside a field for words.

import { keptConcepts, once, postJson } from "./api.js";
import { h, problemBox } from "./dom.js";
import { t } from "./language.js";

/** @import {KeptConcept, RankerInfo, Values} from "./types.js" */

/**
 * The two choices.
 * @typedef {{element: HTMLElement, values: () => {ranker?: string, only?: string}, enter: (values: Values) => void}} Choices
 */

/** @typedef {{value: string, text: string, disabled?: boolean, title?: string}} Choice */

/**
 * Makes the choices; `changed` is called when a person has chosen.
 * @param {string} id what the ids of the fields start with
 * @param {() => void} changed
 * @param {() => void} [removed] is called when a person has removed the class that was chosen
 * @returns {Choices}
 */
export function makeChoices(id, changed, removed = changed) {
  const ranker = h("select", { id: `${id}-ranker`, onchange: changed });
  const only = h("select", {
    id: `${id}-only`,
    onchange: () => {
      said.replaceChildren();
      offer();
      changed();
    },
  });
  const forgetting = h("span", { class: "forgetting" });
  const said = h("span", { class: "hint", role: "status" });
  /** @type {KeptConcept[]} */
  let kept = [];
  let writable = false;
  const wanted = { ranker: "", only: "" };
  const ofClass = h("span", {}, h("label", { for: `${id}-only` }, t("Only ")), only);
  const element = h("span", { class: "chosen" }, h("span", {}, h("label", { for: `${id}-ranker` }, t("Ranked by ")), ranker), " ", ofClass, forgetting, said);

  /** @param {HTMLSelectElement} select @param {Choice[]} options @param {string} value */
  const fill = (select, options, value) => {
    if (value && !options.some((one) => one.value === value)) options.push({ value, text: value });
    select.replaceChildren(...options.map(({ value: name, text, disabled, title }) => h("option", { value: name, disabled, title }, text)));
    select.value = value;
  };

  // The class that is chosen can be removed, where the server allows changes.
  function offer() {
    const chosen = writable ? kept.find((one) => one.iri === only.value) : undefined;
    const asked = forgetting.dataset.iri;
    if (asked && asked === chosen?.iri) return;
    delete forgetting.dataset.iri;
    forgetting.replaceChildren(...(chosen ? [h("button", { type: "button", class: "why", onclick: () => ask(chosen) }, t("Remove this class"))] : []));
  }

  /** @param {KeptConcept} chosen */
  function ask(chosen) {
    forgetting.dataset.iri = chosen.iri;
    const stay = h("button", { type: "button", onclick: () => {
      delete forgetting.dataset.iri;
      offer();
      only.focus();
    } }, t("Keep it"));
    /** @type {HTMLButtonElement} */
    const remove = h("button", { type: "button", onclick: () => forget(chosen, remove) }, t("Remove {label}", { label: chosen.label }));
    const question = t("Remove the class {label} from the graph, with what was inferred from it? Its members stay.", { label: chosen.label });
    forgetting.replaceChildren(h("span", { class: "note", role: "group", "aria-label": question }, question, " ", stay, " ", remove));
    stay.focus();
  }

  /** @param {KeptConcept} chosen @param {HTMLButtonElement} button */
  async function forget(chosen, button) {
    button.disabled = true;
    try {
      await postJson("/api/concepts/forget", { iri: chosen.iri });
    } catch (error) {
      button.disabled = false;
      said.replaceChildren(problemBox(error));
      return;
    }
    delete forgetting.dataset.iri;
    wanted.only = "";
    await refresh();
    said.textContent = t("{label} is no class any more.", { label: chosen.label });
    only.focus();
    removed();
  }

  async function refresh() {
    try {
      /** @type {RankerInfo[]} */
      const found = await once("/api/rankers");
      const options = found.map((one) => ({
        value: one.own ? "" : one.name,
        text: one.own ? t("{name} (the server's own)", { name: one.name }) : `${one.name}: ${one.summary}${one.usable ? "" : t(" (not here)")}`,
        disabled: !one.usable,
        title: one.why,
      }));
      fill(ranker, options, wanted.ranker);
      const known = await keptConcepts();
      kept = known.concepts;
      writable = known.writable;
      fill(only, [{ value: "", text: t("all kinds") }, ...kept.map((one) => ({ value: one.iri, text: one.label }))], wanted.only);
      ofClass.hidden = only.options.length < 2;
      offer();
    } catch {
      // Each section says what went wrong with its own request; without choices the server's own hold.
    }
  }

  return {
    element,
    values: () => ({ ...(ranker.value ? { ranker: ranker.value } : {}), ...(only.value ? { only: only.value } : {}) }),
    enter: (values) => {
      wanted.ranker = values.ranker || "";
      wanted.only = values.only || "";
      refresh();
    },
  };
}
