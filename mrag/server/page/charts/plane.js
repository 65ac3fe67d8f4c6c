// Two columns of numbers or times as points, joined by a line where one of them is a row of steps.

import { svg } from "../dom.js";
import { number, t } from "../language.js";
import { axes, figure } from "./frame.js";
import { kinds, nameOf, ticks, valueOf } from "./values.js";

/** @import {Table} from "../types.js" */
/** @typedef {{x: number, y: number, name: string}} Point */

const MOST = 1000;

/**
 * Returns what a table looks like as a line and as points, each null where it would say nothing.
 * @param {Table} table
 * @returns {{line: HTMLElement | null, scatter: HTMLElement | null}}
 */
export function plane(table) {
  const { numbers, times, names } = kinds(table);
  const [first, second] = times.length && numbers.length ? [times[0], numbers[numbers.length - 1]] : numbers.slice(-2);
  if (second === undefined || table.rows.length < 3) return { line: null, scatter: null };
  const points = table.rows
    .map((row) => ({ x: valueOf(row, first), y: valueOf(row, second), name: nameOf(row, names, t("none")) }))
    .filter((one) => Number.isFinite(one.x) && Number.isFinite(one.y))
    .slice(0, MOST);
  const different = (/** @type {(one: Point) => number} */ of) => new Set(points.map(of)).size;
  if (points.length < 3 || different((one) => one.x) < 2) return { line: null, scatter: null };
  const [across, up] = [first, second].map((at) => table.columns[at].replaceAll("_", " "));
  const years = times.includes(first);
  const caption = t("{up} by {across}", { up, across }) + (table.rows.length > MOST ? t(", the first {points} of {rows} rows", { points: points.length, rows: table.rows.length }) : "");
  const one = (/** @type {boolean} */ joined) => figure(caption, (width) => picture(points, { across, up, width, joined, years }));
  // A line between what is neither in time nor named by its step would join what has no order.
  const steps = different((point) => point.x) === points.length && (years || !names.length);
  return { line: steps ? one(true) : null, scatter: one(false) };
}

/** @param {Point[]} points @param {{across: string, up: string, width: number, joined: boolean, years: boolean}} look */
function picture(points, { across, up, width, joined, years }) {
  const span = (/** @type {number[]} */ values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const edge = (high - low) * 0.04 || 1;
    return [low - edge, high + edge];
  };
  const [[west, east], [south, north]] = [span(points.map((one) => one.x)), span(points.map((one) => one.y))];
  const tall = Math.round(Math.min(420, Math.max(220, width * 0.55)));
  const rows = ticks(south, north, Math.floor(tall / 60));
  const year = (/** @type {number} */ value) => (Number.isInteger(value) ? String(value) : `${Math.floor(value)}-${String(Math.floor((value % 1) * 12) + 1).padStart(2, "0")}`);
  const said = (/** @type {number} */ value) => (years ? year(value) : number(value));
  const longest = Math.max(...rows.map((value) => number(value).length));
  const room = { left: 16 + longest * 8, right: width - 24, top: 10, bottom: tall - 28 };
  const x = (/** @type {number} */ value) => room.left + ((value - west) / (east - west)) * (room.right - room.left);
  const y = (/** @type {number} */ value) => room.bottom - ((value - south) / (north - south)) * (room.bottom - room.top);
  const columns = ticks(west, east, Math.floor(width / 110)).filter((value) => !years || Number.isInteger(value));
  const sorted = joined ? [...points].sort((a, b) => a.x - b.x) : points;
  const path = `M${sorted.map((one) => `${x(one.x).toFixed(1)},${y(one.y).toFixed(1)}`).join("L")}`;
  const [low, high] = [points.reduce((a, b) => (b.y < a.y ? b : a)), points.reduce((a, b) => (b.y > a.y ? b : a))];
  const words = t("Chart of {up} by {across} for {points} rows; {up} goes from {low} to {high}. The table has the same numbers.", { up, across, points: points.length, low: number(low.y), high: number(high.y) });
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${tall}`, width, height: tall, role: "img", "aria-label": words },
    ...axes(room, columns.map((value) => [x(value), said(value)]), rows.map((value) => [y(value), number(value)])),
    joined ? svg("path", { d: path, class: "chart-path" }) : null,
    ...sorted.map((one) => svg("circle", { cx: x(one.x), cy: y(one.y), r: joined && points.length > 60 ? 2 : 4.5, class: joined ? "chart-mark" : "chart-mark chart-point" }, svg("title", {}, `${one.name ? `${one.name}: ` : ""}${said(one.x)}, ${number(one.y)}`))),
  );
}
