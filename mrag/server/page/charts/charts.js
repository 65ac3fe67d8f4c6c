// A table as pictures: bars, a line, points, a map; each where the columns are fit for it.

import { h, show } from "../dom.js";
import { t } from "../language.js";
import { bars } from "./bars.js";
import { map } from "./map.js";
import { plane } from "./plane.js";
import { placing } from "./values.js";

/** @import {Row, Table} from "../types.js" */
/** @typedef {[name: string, element: HTMLElement]} Drawn */

/**
 * Returns the pictures of a table, the most telling first.
 * @param {Table} table
 * @returns {Drawn[]}
 */
export function drawings(table) {
  // Coordinates are no quantities: what else is drawn leaves them out.
  const where = placing(table)?.columns ?? [];
  const rest = (/** @type {unknown[]} */ list) => list.filter((_, at) => !where.includes(at));
  const others = { columns: /** @type {string[]} */ (rest(table.columns)), rows: table.rows.map((row) => /** @type {Row} */ (rest(row))) };
  const { line, scatter } = plane(others);
  const open = (/** @type {string} */ iri) => (location.hash = `#/explore?iri=${encodeURIComponent(iri)}`);
  /** @type {[string, HTMLElement | null][]} */
  const all = [[t("Map"), map(table, open)], [t("Line"), line], [t("Bars"), bars(others)], [t("Points"), scatter]];
  return /** @type {Drawn[]} */ (all.filter(([, element]) => element));
}

/**
 * Returns buttons of which one is pressed.
 * @param {string[]} names
 * @param {(at: number) => void} chosen
 */
export function choice(names, chosen) {
  /** @type {HTMLElement[]} */
  const buttons = names.map((name, at) =>
    h("button", { type: "button", "aria-pressed": String(at === 0), onclick: () => {
      for (const [place, button] of buttons.entries()) button.setAttribute("aria-pressed", String(place === at));
      chosen(at);
    } }, name),
  );
  return buttons;
}

/** The pictures of a table, one of which is seen, with buttons for the others. @param {Table} table */
export function charts(table) {
  const drawn = drawings(table);
  if (!drawn.length) return null;
  const place = h("div", {}, drawn[0][1]);
  const buttons = choice(drawn.map(([name]) => name), (at) => place.replaceChildren(drawn[at][1]));
  const row = h("div", { class: "line views", role: "group", "aria-label": t("Draw as") }, buttons);
  show(row, drawn.length > 1);
  return h("div", { class: "charts" }, row, place);
}
