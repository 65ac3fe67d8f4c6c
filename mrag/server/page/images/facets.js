// What the images can be narrowed to: categories, attributes and kept classes, each with its count.

import { h } from "../dom.js";
import { number, plural, t } from "../language.js";

/** @import {Facet, Values} from "../types.js" */

const SHOWN = 12;
const NAMES = new Map([["category", t("Category")], ["attribute", t("Attribute")], ["class", t("Kept class")]]);
/** @type {Set<string>} facets that a person has opened whole */
const whole = new Set();

/** Returns the IRIs that a filter of the address names. @param {Values} values @param {string} name @returns {string[]} */
export function wanted(values, name) {
  return (values[name] || "").split(" ").filter(Boolean);
}

/** Returns the filters alone. @param {Values} values @returns {Record<string, string>} */
export function filters(values) {
  return Object.fromEntries([...NAMES.keys()].filter((name) => wanted(values, name).length).map((name) => [name, wanted(values, name).join(" ")]));
}

/**
 * Returns the facets.
 * @param {Record<string, Facet[]>} found
 * @param {Values} values of the address
 * @param {(changed: Record<string, string>) => void} change is called with what a filter is to be
 */
export function facets(found, values, change) {
  const groups = [...NAMES].map(([name, title]) => group(name, title, found[name], wanted(values, name), change));
  const any = Object.keys(filters(values)).length > 0;
  const clear = any ? h("button", { type: "button", onclick: () => change({ category: "", attribute: "", class: "" }) }, t("Remove all filters")) : null;
  return [...groups.filter((one) => one !== null), clear];
}

/** @param {string} name @param {string} title @param {Facet[]} values @param {string[]} chosen @param {(changed: Record<string, string>) => void} change */
function group(name, title, values, chosen, change) {
  if (!values.length) return null;
  const list = h("ul", {});
  const sought = h("input", { type: "search", "aria-label": t("Search in {title}", { title }), placeholder: t("Search {values}", { values: plural(values.length, "value", "values") }), autocomplete: "off", oninput: () => draw() });
  const more = h("button", { type: "button", class: "why", onclick: () => {
    whole.add(name);
    draw();
    list.querySelectorAll("input")[SHOWN]?.focus();
  } });

  function draw() {
    const words = sought.value.trim().toLowerCase();
    const on = (/** @type {Facet} */ one) => chosen.includes(one.iri);
    const fitting = values.filter((one) => on(one) || one.label.toLowerCase().includes(words));
    const ordered = [...fitting.filter(on), ...fitting.filter((one) => !on(one))];
    const shown = whole.has(name) || words ? ordered : ordered.slice(0, Math.max(SHOWN, chosen.length));
    list.replaceChildren(...shown.map((one) => row(one, on(one))));
    more.hidden = shown.length === ordered.length;
    more.textContent = t("Show all {number}", { number: ordered.length });
  }

  /** @param {Facet} one @param {boolean} on */
  function row(one, on) {
    const box = h("input", { type: "checkbox", checked: on, "data-facet": `${name} ${one.iri}`, onchange: () => change({ [name]: (on ? chosen.filter((iri) => iri !== one.iri) : [...chosen, one.iri]).join(" ") }) });
    return h("li", {}, h("label", { title: one.iri }, box, h("span", { class: "facet-name" }, one.label), h("span", { class: "count" }, h("span", { class: "unseen" }, ", "), number(one.count))));
  }

  draw();
  return h("fieldset", { class: "facet" }, h("legend", {}, title), values.length > SHOWN ? sought : null, list, more);
}
