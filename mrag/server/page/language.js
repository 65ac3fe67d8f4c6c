// The language of the page: English as it stands in the modules, or that of a module of languages/. A text
// that such a module lacks stays English.

/** @import {Child} from "./types.js" */

const KEY = "mrag-language";

/** The languages by their tags, each under its own name. */
export const LANGUAGES = new Map([["en", "English"], ["de", "Deutsch"]]);

/** @param {string} tag */
const primary = (tag) => tag.toLowerCase().split("-")[0];

/** What a person chose here, else what the browser asks for first among the languages of the page. */
function chosen() {
  let kept = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // Storage may be forbidden; the browser's language holds then.
  }
  const wanted = navigator.languages.find((tag) => LANGUAGES.has(primary(tag))) ?? "en";
  return kept && LANGUAGES.has(kept) && kept !== primary(wanted) ? kept : wanted;
}

/** How numbers and dates are written, such as `en-GB`. */
export const locale = chosen();

/** The language of the page's own words, `en` or `de`. */
export const language = primary(locale);

/** @returns {Promise<Map<string, string>>} */
async function loaded() {
  if (language === "en") return new Map();
  try {
    return (await import(`/page/languages/${language}.js`)).default;
  } catch {
    return new Map();
  }
}

const words = await loaded();

/** Keeps a language for this browser, and shows the page in it. @param {string} tag */
export function choose(tag) {
  try {
    localStorage.setItem(KEY, tag);
  } catch {
    return;
  }
  location.reload();
}

/** @param {number} value @param {number} [digits] after the point, where there are to be so many */
export function number(value, digits) {
  const options = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(locale, options).format(value);
}

/** @param {number} share from 0 to 1 */
export function percent(share) {
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(share);
}

/** @param {string} time in ISO 8601 */
export function when(time) {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(time));
}

/**
 * Returns a text in the language of the page; `{name}` in it stands for a value.
 * @param {string} text in English, as a literal
 * @param {Record<string, string | number>} [values]
 */
export function t(text, values) {
  const said = words.get(text) ?? text;
  if (!values) return said;
  return said.replace(/\{(\w+)\}/g, (whole, name) => {
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name];
    return typeof value === "number" ? number(value) : value;
  });
}

/**
 * Returns a text in the language of the page as parts, elements among them.
 * @param {string} text in English, as a literal
 * @param {Record<string, Child>} parts
 * @returns {Child[]}
 */
export function rich(text, parts) {
  return t(text)
    .split(/\{(\w+)\}/)
    .map((part, at) => {
      if (at % 2 === 0) return part;
      const value = parts[part];
      return typeof value === "number" ? number(value) : value;
    });
}

/**
 * Returns a number of things: `3 rows`. The languages of the page have one form for 1 and one for all others.
 * @param {number} count @param {string} one @param {string} many
 */
export function plural(count, one, many) {
  const [first, other] = (words.get(`${one}|${many}`) ?? `${one}|${many}`).split("|");
  return `${number(count)} ${count === 1 ? first : other}`;
}

/** Puts the words that stand in the document itself into the language of the page. */
export function translateDocument() {
  document.documentElement.lang = language;
  if (!words.size) return;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    const text = (node.nodeValue ?? "").trim();
    if (text) node.nodeValue = (node.nodeValue ?? "").replace(text, () => t(text));
  }
  for (const name of ["placeholder", "aria-label"]) {
    for (const element of document.body.querySelectorAll(`[${name}]`)) element.setAttribute(name, t(element.getAttribute(name) ?? ""));
  }
}
