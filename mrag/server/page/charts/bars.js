// A table with a column of numbers as bars, or as points where bars from zero would all look alike.

import { svg } from "../dom.js";
import { number, t } from "../language.js";
import { figure } from "./frame.js";
import { kinds, nameOf } from "./values.js";

/** @import {Table} from "../types.js" */

const MOST = 30;
const ROW = 26;
const FONT = "13px system-ui, sans-serif";

/**
 * Returns a chart of the rows, or null where there is nothing to draw.
 * @param {Table} table
 */
export function bars(table) {
  const { columns, rows } = table;
  const { numbers, times, names } = kinds(table);
  const at = numbers.pop();
  const named = [...names, ...times].sort((a, b) => a - b);
  if (at === undefined || !named.length) return null;
  const points = rows
    .filter((row) => row[at] !== null)
    .slice(0, MOST)
    .map((row) => ({ name: nameOf(row, named, t("none")), value: Number(row[at]?.value), label: row[at]?.label ?? "" }));
  if (points.length < 2) return null;
  const title = columns[at].replaceAll("_", " ");
  const rest = rows.length > points.length ? t(", the first {points} of {rows} rows", { points: points.length, rows: rows.length }) : "";
  return figure(`${title}${rest}`, (width) => picture(points, title, width));
}

/** @param {{name: string, value: number, label: string}[]} points @param {string} title @param {number} width */
function picture(points, title, width) {
  const values = points.map((point) => point.value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  // Years and the like: from zero they would all be as long.
  const dots = low > 0 && (high - low) / high < 0.25 && high > low;
  const from = dots ? low : Math.min(0, low);
  const to = dots ? high : Math.max(0, high);
  const left = Math.min(190, Math.max(90, width * 0.34));
  const right = 64;
  const room = Math.max(20, width - left - right);
  const x = (/** @type {number} */ value) => left + (to === from ? room : ((value - from) / (to - from)) * room);
  const zero = x(dots ? from : 0);
  const tall = points.length * ROW + 4;
  const marks = points.flatMap((point, row) => {
    const y = row * ROW + ROW / 2 + 2;
    const end = x(point.value);
    const mark = dots
      ? [svg("line", { x1: left, x2: end, y1: y, y2: y, class: "chart-guide" }), svg("circle", { cx: end, cy: y, r: 5, class: "chart-mark" })]
      : [svg("rect", { x: Math.min(zero, end), y: y - 8, width: Math.max(1, Math.abs(end - zero)), height: 16, rx: 2, class: "chart-mark" })];
    return [
      svg("text", { x: left - 8, y: y + 4.5, "text-anchor": "end", class: "chart-name" }, svg("title", {}, point.name), fit(point.name, left - 12)),
      ...mark,
      svg("text", { x: (dots ? end : Math.max(zero, end)) + 8, y: y + 4.5, class: "chart-value" }, point.label),
    ];
  });
  const best = points[values.indexOf(high)];
  const said = t("Chart of {title} for {points} rows, from {low} to {high} ({name}); the table has the same numbers.", { title, points: points.length, low: number(low), high: number(high), name: best.name });
  return svg("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall, role: "img", "aria-label": said }, ...marks);
}

const canvas = document.createElement("canvas").getContext("2d");

/** @param {string} text @param {number} most */
function fit(text, most) {
  if (!canvas) return text;
  canvas.font = FONT;
  if (canvas.measureText(text).width <= most) return text;
  let short = text;
  while (short.length > 1 && canvas.measureText(`${short}…`).width > most) short = short.slice(0, -1);
  return `${short.trimEnd()}…`;
}
