// What the cells of a table are as numbers, times and places.

/** @import {Row, Table, Term} from "../types.js" */

export const NUMBER = /#(?:integer|decimal|double|float|int|long|short|nonNegativeInteger)$/;
const TIME = /#(?:date|dateTime|dateTimeStamp|gYear|gYearMonth)$/;
const WKT = /^\s*(?:<([^>]*)>\s*)?POINT\s*Z?\s*\(\s*([-+\d.eE]+)[\s,]+([-+\d.eE]+)/i;

/** @typedef {{numbers: number[], times: number[], names: number[]}} Kinds places of the columns, by what they hold */

/** @param {Table} table @returns {Kinds} */
export function kinds({ columns, rows }) {
  const all = (/** @type {RegExp} */ kind, /** @type {number} */ at) => rows.some((row) => row[at]) && rows.every((row) => !row[at] || (kind.test(row[at].datatype || "") && Number.isFinite(valueOf(row, at))));
  const places = columns.map((_, at) => at);
  const numbers = places.filter((at) => all(NUMBER, at));
  const times = places.filter((at) => all(TIME, at));
  return { numbers, times, names: places.filter((at) => !numbers.includes(at) && !times.includes(at)) };
}

/** A number, or a time as a year with its fraction; NaN where it is neither. @param {Row} row @param {number} at */
export function valueOf(row, at) {
  const cell = row[at];
  return cell ? amount(cell) : NaN;
}

/** What is a number or a time by its type, as `valueOf`. @param {Term | undefined} one */
export function quantity(one) {
  return one && (NUMBER.test(one.datatype || "") || TIME.test(one.datatype || "")) ? amount(one) : NaN;
}

/** @param {Term} one */
function amount({ value, datatype }) {
  if (!TIME.test(datatype || "")) return value.trim() ? Number(value) : NaN;
  const [, year, month = "1", day = "1"] = /^(-?\d{4,})(?:-(\d\d))?(?:-(\d\d))?/.exec(value) || [];
  return Number(year) + (Number(month) - 1) / 12 + (Number(day) - 1) / 372;
}

/** What a row is called. @param {Row} row @param {number[]} names @param {string} none */
export function nameOf(row, names, none) {
  return names.map((at) => row[at]?.label ?? none).join(", ");
}

/**
 * Where a row lies, in degrees: by a point in WKT, or by columns for both directions.
 * @param {Table} table
 * @returns {{columns: number[], place: (row: Row) => {north: number, east: number} | null} | null} the columns that
 *   say where, and the place of a row; null where the table has no places
 */
export function placing({ columns, rows }) {
  const wkt = columns.findIndex((_, at) => rows.some((row) => WKT.test(row[at]?.value ?? "")));
  const column = (/** @type {RegExp} */ name) => columns.findIndex((one) => name.test(one));
  const [up, across] = [column(/^(?:.*_)?lat(?:itude)?$/i), column(/^(?:.*_)?(?:lon|long|lng)(?:gitude)?$/i)];
  if (wkt < 0 && (up < 0 || across < 0)) return null;
  const place = (/** @type {Row} */ row) => {
    const [, system, first, second] = wkt < 0 ? [] : WKT.exec(row[wkt]?.value ?? "") || [];
    // A point of GeoSPARQL has its longitude first, but for EPSG:4326, which has it last.
    const flipped = /EPSG\/.*\/4326$/.test(system || "");
    const number = (/** @type {number} */ at) => (row[at]?.value.trim() ? Number(row[at].value) : NaN);
    const [east, north] = wkt < 0 ? [number(across), number(up)] : [Number(flipped ? second : first), Number(flipped ? first : second)];
    return Math.abs(north) <= 90 && Math.abs(east) <= 180 ? { north, east } : null;
  };
  return { columns: wkt < 0 ? [up, across] : [wkt], place };
}

/** Round values between two others, about as many as asked for. @param {number} low @param {number} high @param {number} many */
export function ticks(low, high, many) {
  const rough = (high - low) / Math.max(1, many) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((one) => one * power >= rough) ?? 10);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}
