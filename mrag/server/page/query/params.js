// Variables that are spelt $name are parameters: each has a field, whose value enters the query as a term.

import { h } from "../dom.js";
import { offerNames } from "../names.js";
import { t } from "../language.js";

/** @import {Values} from "../types.js" */

const XSD = "http://www.w3.org/2001/XMLSchema#";

/**
 * Returns the term that a person wrote, as N-Triples has it.
 * @param {string} text an IRI, prefix:name, a number, or words
 * @param {Record<string, string>} prefixes
 */
export function term(text, prefixes) {
  const given = text.trim();
  if (/^<[^<>"{}|^`\\\s]*>$/.test(given)) return given;
  if (/^(?:https?|file):\/\/[^<>"{}|^`\\\s]+$|^urn:[^<>"{}|^`\\\s]+$/.test(given)) return `<${given}>`;
  const [, prefix, name] = /^([\w.-]*):([^\s<>"{}|^`\\]*)$/.exec(given) || [];
  if (prefix !== undefined && Object.hasOwn(prefixes, prefix)) return `<${prefixes[prefix]}${name}>`;
  if (/^[-+]?\d+$/.test(given)) return `"${given}"^^<${XSD}integer>`;
  if (/^[-+]?\d*\.\d+$/.test(given)) return `"${given}"^^<${XSD}decimal>`;
  if (/^(?:true|false)$/.test(given)) return `"${given}"^^<${XSD}boolean>`;
  const [, words, language] = /^"(.*)"@([A-Za-z]+(?:-[A-Za-z0-9]+)*)$/s.exec(given) || [];
  if (language) return `${quoted(words)}@${language}`;
  return quoted(given.replace(/^"(.*)"$/s, "$1"));
}

/** @param {string} text */
function quoted(text) {
  const signs = new Map([["\\", "\\\\"], ['"', '\\"'], ["\n", "\\n"], ["\r", "\\r"]]);
  return `"${text.replace(/[\\"\n\r]/g, (sign) => signs.get(sign) ?? sign)}"`;
}

/**
 * Keeps a form that has a field for each parameter of the query in the editor.
 * @param {HTMLElement} place
 * @param {Record<string, string>} prefixes
 * @param {(iri: string) => string} short
 * @returns {{show: (names: string[]) => void, values: () => Record<string, string>, written: () => Record<string, string>, fill: (values: Values) => void}}
 */
export function makeParams(place, prefixes, short) {
  /** @type {Map<string, HTMLInputElement>} */
  const fields = new Map();
  let shown = "";
  return {
    show(names) {
      if (names.join(" ") === shown) return;
      shown = names.join(" ");
      for (const name of names) {
        if (fields.has(name)) continue;
        const field = h("input", { id: `param-${name}`, type: "text", autocomplete: "off", spellcheck: "false", maxlength: "2000", placeholder: t("any") });
        h("label", {}, h("span", {}, `$${name}`), field);
        // What is chosen by its name stands there as what it is, so that it is no text.
        offerNames(field, new Map(), (iri) => { field.value = short(iri) === iri ? `<${iri}>` : short(iri); });
        fields.set(name, field);
      }
      for (const name of [...fields.keys()]) if (!names.includes(name)) fields.delete(name);
      place.hidden = !names.length;
      place.replaceChildren(
        h("p", { class: "hint" }, t("Parameters: an IRI, prefix:name, a name from the list, a number or a text. An empty one stays open.")),
        ...[...fields.values()].map((field) => field.parentElement ?? field),
      );
    },
    written() {
      return Object.fromEntries([...fields].filter(([, field]) => field.value.trim()).map(([name, field]) => [`$${name}`, field.value.trim()]));
    },
    fill(values) {
      for (const [name, field] of fields) field.value = values[`$${name}`] ?? field.value;
    },
    values() {
      return Object.fromEntries([...fields].filter(([, field]) => field.value.trim()).map(([name, field]) => [`$${name}`, term(field.value, prefixes)]));
    },
  };
}
