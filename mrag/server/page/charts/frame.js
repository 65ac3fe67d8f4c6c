// What the drawings of a table have in common: a frame that draws again when its width changes, and axes.

import { h, svg } from "../dom.js";

/**
 * Returns a figure that is drawn as wide as there is room.
 * @param {string} caption
 * @param {(width: number) => Element} picture
 */
export function figure(caption, picture) {
  const frame = h("div", { class: "chart" });
  let drawn = 0;
  const draw = () => {
    const width = Math.floor(frame.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    frame.replaceChildren(picture(width));
  };
  new ResizeObserver(draw).observe(frame);
  return h("figure", { class: "chart-place" }, h("figcaption", {}, caption), frame);
}

/**
 * Returns lines for the values of both axes, with the values at their ends.
 * @param {{left: number, right: number, top: number, bottom: number}} room
 * @param {[number, string][]} across places from the left with what they stand for
 * @param {[number, string][]} up places from the top
 */
export function axes({ left, right, top, bottom }, across, up) {
  return [
    ...across.flatMap(([x, text]) => [svg("line", { x1: x, x2: x, y1: top, y2: bottom, class: "chart-line" }), svg("text", { x, y: bottom + 18, "text-anchor": "middle", class: "chart-value" }, text)]),
    ...up.flatMap(([y, text]) => [svg("line", { x1: left, x2: right, y1: y, y2: y, class: "chart-line" }), svg("text", { x: left - 6, y: y + 4.5, "text-anchor": "end", class: "chart-value" }, text)]),
  ];
}
