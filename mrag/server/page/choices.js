// What ranks the entities, and of which class they shall be: two choices beside a field for words.

import { keptConcepts, once } from "./api.js";
import { h } from "./dom.js";
import { t } from "./language.js";

/** @import {RankerInfo, Values} from "./types.js" */

/**
 * The two choices.
 * @typedef {{element: HTMLElement, values: () => {ranker?: string, only?: string}, enter: (values: Values) => void}} Choices
 */

/** @typedef {{value: string, text: string, disabled?: boolean, title?: string}} Choice */

/**
 * Makes the choices; `changed` is called when a person has chosen.
 * @param {string} id what the ids of the fields start with
 * @param {() => void} changed
 * @returns {Choices}
 */
export function makeChoices(id, changed) {
  const ranker = h("select", { id: `${id}-ranker`, onchange: changed });
  const only = h("select", { id: `${id}-only`, onchange: changed });
  const wanted = { ranker: "", only: "" };
  const ofClass = h("span", {}, h("label", { for: `${id}-only` }, t("Only ")), only);
  const element = h("span", { class: "chosen" }, h("span", {}, h("label", { for: `${id}-ranker` }, t("Ranked by ")), ranker), " ", ofClass);

  /** @param {HTMLSelectElement} select @param {Choice[]} options @param {string} value */
  const fill = (select, options, value) => {
    if (value && !options.some((one) => one.value === value)) options.push({ value, text: value });
    select.replaceChildren(...options.map(({ value: name, text, disabled, title }) => h("option", { value: name, disabled, title }, text)));
    select.value = value;
  };

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
      const { concepts } = await keptConcepts();
      fill(only, [{ value: "", text: t("all kinds") }, ...concepts.map((one) => ({ value: one.iri, text: one.label }))], wanted.only);
      ofClass.hidden = only.options.length < 2;
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
