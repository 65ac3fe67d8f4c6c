// Elements made of text: nothing that comes from the graph or a person is ever read as HTML.

import { t } from "./language.js";

/** @import {Attributes, Child} from "./types.js" */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes | null | undefined} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** @param {Element} element @param {readonly Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else if (typeof child === "object") append(element, child);
    else element.append(String(child));
  }
}

/**
 * Returns an element of HTML.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes | null} [attributes]
 * @param {Child[]} children
 */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Returns an element of SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes | null} [attributes]
 * @param {Child[]} children
 */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Returns an element of the page, which is there.
 * @param {string} id
 */
export function byId(id) {
  return field(id, HTMLElement);
}

/**
 * Returns an element of the page that is of one kind, such as a field.
 * @template {HTMLElement} E
 * @param {string} id
 * @param {new () => E} kind
 */
export function field(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`The page has no ${kind.name} with the id ${id}.`);
  return found;
}

/** @param {ParentNode} place @param {string} selector */
export function within(place, selector) {
  const found = place.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new TypeError(`There is no ${selector} here.`);
  return found;
}

/** @param {HTMLElement} element @param {unknown} yes */
export function show(element, yes) {
  element.hidden = !yes;
}

const ORIGIN = new Map([
  ["asserted", t("Stated in the data")],
  ["inferred", t("Made by reasoning")],
  ["enriched", t("Written by a model that described something")],
  ["completed", t("Taken from evidence for a question, and accepted")],
]);
const STATUS = new Map([["asserted", t("asserted")], ["inferred", t("inferred")], ["enriched", t("enriched")], ["completed", t("completed")]]);
const SIGN = new Map([["inferred", "∴ "], ["enriched", "✎ "], ["completed", "＋ "]]);

/** Where a triple comes from, in a word. @param {string} status */
export function statusWord(status) {
  return STATUS.get(status) ?? status;
}

/** @param {string} status of a triple */
export function badge(status) {
  return h(
    "span",
    { class: `badge ${status}`, title: ORIGIN.get(status) ?? "" },
    h("span", { "aria-hidden": "true" }, SIGN.get(status) ?? "● "),
    statusWord(status),
  );
}

/** @param {unknown} error what was thrown */
export function problemBox(error) {
  const text = (error instanceof Error && error.message) || t("Something went wrong.");
  const hint = error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : "";
  return h("div", { class: "note problem" }, h("p", {}, text), hint ? h("p", {}, hint) : null);
}

/** @param {string} iri @param {Child} label @param {Attributes} [attributes] */
export function entityLink(iri, label, attributes) {
  return h("a", { href: `#/explore?iri=${encodeURIComponent(iri)}`, title: iri, ...attributes }, label);
}
