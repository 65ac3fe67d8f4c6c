// Tabs of the editor and the history of what was run, both kept by this browser alone.

import { ROOT } from "../api.js";
import { h } from "../dom.js";
import { t } from "../language.js";

// Each graph of a server has its own; that of a single one has no address in its name.
const PLACE = ROOT === "/" ? "" : ROOT;
const TABS = `mrag-query-tabs${PLACE}`;
const HISTORY = `mrag-query-history${PLACE}`;
const MOST_TABS = 12;
const MOST_PAST = 50;
const MOST_TEXT = 50_000;

/** @param {string} key @returns {unknown} */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) || "null");
  } catch {
    return null; // storage may be forbidden, or hold what another program wrote
  }
}

/** @param {string} key @param {unknown} value */
function write(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The tabs then last as long as the page.
  }
}

/**
 * Makes the row of tabs.
 * @param {HTMLElement} place
 * @param {{value: () => string, put: (text: string) => void, start: string}} editor
 * @returns {{keep: () => void, open: (text: string, name?: string) => void, find: (text: string) => void}}
 */
export function makeTabs(place, editor) {
  const stored = Object(read(TABS));
  /** @type {unknown[]} */
  const texts = Array.isArray(stored.tabs) ? stored.tabs : [];
  /** @type {{name: string, text: string}[]} */
  const tabs = texts.map(Object).filter((one) => typeof one.text === "string" && typeof one.name === "string").slice(0, MOST_TABS);
  if (!tabs.length) tabs.push({ name: t("Query {number}", { number: 1 }), text: editor.start });
  let at = Number.isInteger(stored.at) && tabs[stored.at] ? stored.at : 0;

  function keep() {
    tabs[at].text = editor.value().slice(0, MOST_TEXT);
    write(TABS, { tabs, at });
  }

  /** @param {number} to */
  function turn(to) {
    keep();
    at = to;
    editor.put(tabs[at].text);
    draw();
  }

  function free() {
    let number = 1;
    const name = () => t("Query {number}", { number });
    while (tabs.some((one) => one.name === name())) number += 1;
    return name();
  }

  /** @param {string} text @param {string} [name] */
  function open(text, name) {
    keep();
    if (name) {
      const there = tabs.findIndex((one) => one.name === name);
      if (there >= 0) tabs[there].text = text;
      else tabs.push({ name, text });
      at = there >= 0 ? there : tabs.length - 1;
    } else {
      tabs.push({ name: free(), text });
      at = tabs.length - 1;
    }
    if (tabs.length > MOST_TABS) {
      tabs.shift();
      at -= 1;
    }
    editor.put(tabs[at].text);
    draw();
  }

  /** Turns to the tab that holds a text, or puts it into a fresh one. @param {string} text */
  function find(text) {
    keep();
    const there = tabs.findIndex((one) => one.text === text);
    if (there >= 0) turn(there);
    else if (tabs[at].text === editor.start) editor.put(text);
    else open(text);
  }

  /** @param {number} which */
  function close(which) {
    keep();
    tabs.splice(which, 1);
    if (!tabs.length) tabs.push({ name: free(), text: editor.start });
    if (which < at || at >= tabs.length) at -= 1;
    at = Math.max(at, 0);
    editor.put(tabs[at].text);
    draw();
    /** @type {HTMLElement | null} */ (place.querySelector("[aria-current]"))?.focus();
  }

  function draw() {
    write(TABS, { tabs, at });
    place.replaceChildren(
      ...tabs.map((one, number) =>
        h(
          "span",
          { class: "query-tab" },
          h("button", { type: "button", "aria-current": number === at ? "true" : null, onclick: () => turn(number) }, one.name),
          h("button", { type: "button", class: "close", "aria-label": t("Close {name}", { name: one.name }), onclick: () => close(number) }, "×"),
        ),
      ),
      h("button", { type: "button", class: "new-tab", "aria-label": t("New tab"), onclick: () => open(editor.start) }, "+"),
    );
  }

  editor.put(tabs[at].text);
  draw();
  return { keep, open, find };
}

/** Returns what was run, the last first. @returns {{text: string, when: string}[]} */
export function past() {
  const found = read(HISTORY);
  return Array.isArray(found) ? found.map(Object).filter((one) => typeof one.text === "string" && typeof one.when === "string").slice(0, MOST_PAST) : [];
}

/** @param {string} text */
export function remember(text) {
  if (text.length > MOST_TEXT) return;
  const others = past().filter((one) => one.text !== text);
  write(HISTORY, [{ text, when: new Date().toISOString() }, ...others].slice(0, MOST_PAST));
}

export function forget() {
  write(HISTORY, []);
}
