// Rows that have coordinates, by degrees north and east. No tiles: they would have to come from another server.

import { svg } from "../dom.js";
import { number, plural, t } from "../language.js";
import { axes, figure } from "./frame.js";
import { nameOf, placing, ticks } from "./values.js";

/** @import {Table} from "../types.js" */
/** @typedef {{north: number, east: number, name: string, iri: string}} Place */

const MOST = 2000;
const LABELS = 25;

/**
 * Returns a map of the rows that have a place, or null where none has.
 * @param {Table} table
 * @param {(iri: string) => void} open called with what a person clicks
 */
export function map(table, open) {
  const placed = placing(table);
  if (!placed) return null;
  const names = table.columns.map((_, at) => at).filter((at) => !placed.columns.includes(at));
  /** @type {Place[]} */
  const places = [];
  for (const row of table.rows) {
    const at = placed.place(row);
    if (at && places.length < MOST) places.push({ ...at, name: nameOf(row, names, t("none")), iri: row.find((cell) => cell?.type === "uri")?.value ?? "" });
  }
  if (!places.length) return null;
  const rest = table.rows.length > places.length ? t(", {places} of {rows} rows", { places: places.length, rows: table.rows.length }) : "";
  return figure(t("Degrees north and east{rest}", { rest }), (width) => picture(places, width, open));
}

/** @param {Place[]} places @param {number} width @param {(iri: string) => void} open */
function picture(places, width, open) {
  const norths = places.map((one) => one.north);
  const easts = places.map((one) => one.east);
  const middle = (Math.min(...norths) + Math.max(...norths)) / 2;
  // A degree east is as long as it is on the ground there.
  const narrow = Math.max(0.2, Math.cos((middle * Math.PI) / 180));
  const room = { left: 48, right: width - 20, top: 12, bottom: 0 };
  let [west, east] = [Math.min(...easts), Math.max(...easts)];
  let [south, north] = [Math.min(...norths), Math.max(...norths)];
  const edge = Math.max(0.08 * Math.max(north - south, (east - west) * narrow), 0.05);
  [west, east, south, north] = [west - edge / narrow, east + edge / narrow, south - edge, north + edge];
  const wide = room.right - room.left;
  let scale = wide / ((east - west) * narrow);
  const highest = Math.min(520, Math.max(260, width * 0.75));
  const lowest = 220;
  if ((north - south) * scale > highest) {
    scale = highest / (north - south);
    const more = (wide / (scale * narrow) - (east - west)) / 2;
    [west, east] = [west - more, east + more];
  } else if ((north - south) * scale < lowest) {
    const more = (lowest / scale - (north - south)) / 2;
    [south, north] = [south - more, north + more];
  }
  room.bottom = Math.round(room.top + (north - south) * scale);
  const x = (/** @type {number} */ value) => room.left + (value - west) * scale * narrow;
  const y = (/** @type {number} */ value) => room.top + (north - value) * scale;
  const degrees = (/** @type {number} */ value, /** @type {string} */ above, /** @type {string} */ below) => `${number(Math.abs(value))}°${value === 0 ? "" : value > 0 ? above : below}`;
  const northwards = (/** @type {number} */ value) => degrees(value, t("N"), t("S"));
  const eastwards = (/** @type {number} */ value) => degrees(value, t("E"), t("W"));
  const across = ticks(west, east, Math.floor(wide / 110)).filter((value) => Math.abs(value) <= 180);
  const up = ticks(south, north, Math.floor((room.bottom - room.top) / 70)).filter((value) => Math.abs(value) <= 90);
  /** @type {[number, number, number][]} */
  const taken = [];
  const marks = places.flatMap((one) => {
    const [cx, cy] = [x(one.east), y(one.north)];
    const dot = svg("circle", { cx, cy, r: 4.5, class: `chart-mark chart-point${one.iri ? " chart-link" : ""}`, onclick: () => one.iri && open(one.iri) }, svg("title", {}, `${one.name}: ${northwards(one.north)}, ${eastwards(one.east)}`));
    // Names where they fit, on the right or on the left, so that none covers another.
    const length = one.name.length * 7 + 8;
    const free = (/** @type {number} */ from) => from > room.left && from + length < width && taken.every(([left, line, end]) => Math.abs(line - cy) > 15 || from > end || from + length < left);
    const from = places.length > LABELS * 4 || taken.length >= LABELS ? undefined : [cx, cx - length].find(free);
    if (from === undefined) return [dot];
    taken.push([from, cy, from + length]);
    return [dot, svg("text", { x: from < cx ? cx - 8 : cx + 8, y: cy + 4.5, "text-anchor": from < cx ? "end" : "start", class: "chart-name chart-over" }, one.name)];
  });
  const words = t("Map of {places}, from {south} to {north} and from {west} to {east}; the table has the same places.", { places: plural(places.length, "place", "places"), south: northwards(Math.min(...norths)), north: northwards(Math.max(...norths)), west: eastwards(Math.min(...easts)), east: eastwards(Math.max(...easts)) });
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${room.bottom + 28}`, width, height: room.bottom + 28, role: "img", "aria-label": words },
    ...axes(room, across.map((value) => [x(value), eastwards(value)]), up.map((value) => [y(value), northwards(value)])),
    ...marks,
  );
}
