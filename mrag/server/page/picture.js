// The neighbourhood of an entity as a drawing: it in the middle, what it is linked to around it. On a
// narrow screen the neighbours stand below it, one on a line.

import { h, statusWord, svg } from "./dom.js";
import { t } from "./language.js";

/** @import {GraphNode, Neighbourhood, Spoke} from "./types.js" */

const ANONYMOUS = "urn:mrag:genid:";
const MOST = 14;
const WIDE = 460;
const FONT = "13px system-ui, sans-serif";
const SMALL = "11.5px system-ui, sans-serif";
let drawings = 0;
const canvas = document.createElement("canvas").getContext("2d");

/** @param {string} text @param {string} font */
function width(text, font) {
  // Without a canvas, about as wide as letters are.
  if (!canvas) return 7 * text.length;
  canvas.font = font;
  return canvas.measureText(text).width;
}

/** @param {string} text @param {number} most @param {string} font */
function fit(text, most, font) {
  if (width(text, font) <= most) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (width(`${text.slice(0, middle).trimEnd()}…`, font) <= most) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low).trimEnd()}…`;
}

// All edges between the middle and one neighbour in one direction are drawn as one line.
/** @param {Neighbourhood} data @param {Set<string>} cited */
function spokes(data, cited) {
  const labels = new Map(data.nodes.map((node) => [node.id, node]));
  /** @type {Map<string, Pick<Spoke, "node" | "out" | "edges">>} */
  const found = new Map();
  for (const edge of data.edges) {
    const out = edge.s === data.centre;
    if (!out && edge.o !== data.centre) continue;
    const end = out ? edge.o : edge.s;
    const key = `${out ? ">" : "<"}${end}`;
    const node = labels.get(end);
    if (!node) continue;
    const spoke = found.get(key) ?? { node, out, edges: [] };
    spoke.edges.push(edge);
    found.set(key, spoke);
  }
  const list = [...found.values()].map((spoke) => {
    const labels = [...new Set(spoke.edges.map((edge) => edge.label))];
    return {
      ...spoke,
      label: labels.join(" · "),
      inferred: spoke.edges.every((edge) => edge.status === "inferred"),
      cited: spoke.edges.some((edge) => cited.has(edge.line)),
    };
  });
  // A bare address, such as a homepage, has no page here and comes last.
  const bare = (/** @type {Spoke} */ spoke) => Number(spoke.node.label.startsWith("<"));
  list.sort((a, b) => Number(b.cited) - Number(a.cited) || bare(a) - bare(b));
  const shown = list.slice(0, MOST);
  shown.sort((a, b) => Number(b.out) - Number(a.out) || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0) || (a.node.label < b.node.label ? -1 : 1));
  return { shown, more: list.length - shown.length };
}

/** @param {GraphNode} node @param {number} x @param {number} y @param {number} w @param {number} tall @param {boolean} centre */
function box(node, x, y, w, tall, centre) {
  const anonymous = node.id.startsWith(ANONYMOUS);
  const shape = svg(
    "g",
    { class: `node ${node.kind}` },
    svg("title", {}, node.label),
    svg("rect", { x: x - w / 2, y: y - tall / 2, width: w, height: tall, rx: centre ? 10 : node.kind === "class" ? tall / 2 : 6 }),
    svg("text", { x, y: y + 4.5, "text-anchor": "middle" }, fit(node.label, w - 16, centre ? `600 ${FONT}` : FONT)),
  );
  if (anonymous || centre) return shape;
  return svg("a", { href: `#/explore?iri=${encodeURIComponent(node.id)}`, "aria-label": node.label }, shape);
}

/** @param {Spoke} spoke @param {string} path @param {string} mark the name of its arrow heads */
function line(spoke, path, mark) {
  const classes = ["edge", spoke.inferred ? "inferred" : "asserted", spoke.cited ? "cited" : ""];
  return svg("path", { d: path, class: classes.join(" "), "marker-end": `url(#${mark}${spoke.cited ? "-cited" : ""})` });
}

/** @param {Spoke} spoke @param {number} x @param {number} y @param {number} most @param {string} anchor */
function edgeLabel(spoke, x, y, most, anchor) {
  const text = svg("text", { x, y, "text-anchor": anchor, class: `edge-label ${spoke.inferred ? "inferred" : ""}` });
  const status = statusWord(spoke.inferred ? "inferred" : "asserted");
  text.append(svg("title", {}, `${spoke.label} (${status})`), fit(spoke.label, most, SMALL));
  return text;
}

/** @param {string} mark */
function arrows(mark) {
  const head = (/** @type {string} */ id, /** @type {string} */ name) =>
    svg(
      "marker",
      { id, viewBox: "0 0 8 8", refX: "7.5", refY: "4", markerWidth: "8", markerHeight: "8", markerUnits: "userSpaceOnUse", orient: "auto" },
      svg("path", { d: "M0 0.8 L8 4 L0 7.2 Z", class: name }),
    );
  return svg("defs", {}, head(mark, "arrow"), head(`${mark}-cited`, "arrow-cited"));
}

/** @param {Neighbourhood} data @param {Spoke[]} list @param {number} w @param {string} mark @returns {[number, SVGElement[]]} */
function wide(data, list, w, mark) {
  const right = Math.ceil(list.length / 2);
  const step = 58;
  const rows = Math.max(right, list.length - right, 2);
  const tall = rows * step + 20;
  const cx = w / 2;
  const cy = tall / 2;
  const middle = Math.min(150, Math.max(90, width(data.nodes[0].label, `600 ${FONT}`) + 28));
  const side = Math.min(200, (w - middle) / 2 - 68);
  /** @type {SVGElement[]} */
  const lines = [];
  /** @type {SVGElement[]} */
  const texts = [];
  /** @type {SVGElement[]} */
  const boxes = [];
  list.forEach((spoke, at) => {
    const toRight = at < right;
    const count = toRight ? right : list.length - right;
    const place = toRight ? at : list.length - 1 - at;
    const offset = place - (count - 1) / 2;
    const y = cy + offset * step + 7;
    // On a bow around the middle: the outer ones stand a little nearer.
    const bend = 26 * ((y - cy) / (tall / 2)) ** 2;
    const sign = toRight ? 1 : -1;
    const x = cx + sign * (w / 2 - side / 2 - 2 - bend);
    const x1 = cx + sign * (middle / 2);
    const x2 = x - sign * (side / 2);
    const y1 = cy + (offset / Math.max(count, 4)) * 26;
    const c = (x1 + x2) / 2;
    lines.push(line(spoke, spoke.out ? `M${x1} ${y1} C${c} ${y1} ${c} ${y} ${x2} ${y}` : `M${x2} ${y} C${c} ${y} ${c} ${y1} ${x1} ${y1}`, mark));
    texts.push(edgeLabel(spoke, x, y - 19, side - 4, "middle"));
    boxes.push(box(spoke.node, x, y, side, 28, false));
  });
  boxes.push(box(data.nodes[0], cx, cy, middle, 40, true));
  return [tall, [arrows(mark), ...lines, ...texts, ...boxes]];
}

/** @param {Neighbourhood} data @param {Spoke[]} list @param {number} w @param {string} mark @returns {[number, SVGElement[]]} */
function narrow(data, list, w, mark) {
  const step = 46;
  const top = 24;
  const tall = 40 + list.length * step + 12;
  const trunk = 18;
  const middle = Math.min(w - 4, Math.max(120, width(data.nodes[0].label, `600 ${FONT}`) + 32));
  const side = Math.min(190, w * 0.52);
  const x = w - side / 2 - 2;
  const x2 = w - side - 2;
  /** @type {SVGElement[]} */
  const lines = [];
  /** @type {SVGElement[]} */
  const texts = [];
  /** @type {SVGElement[]} */
  const boxes = [];
  list.forEach((spoke, at) => {
    const y = 40 + 30 + at * step;
    const path = spoke.out
      ? `M${trunk} ${top + 20} V${y - 8} Q${trunk} ${y} ${trunk + 8} ${y} H${x2}`
      : `M${x2} ${y} H${trunk + 8} Q${trunk} ${y} ${trunk} ${y - 8} V${top + 20}`;
    lines.push(line(spoke, path, mark));
    texts.push(edgeLabel(spoke, trunk + 10, y - 6, x2 - trunk - 18, "start"));
    boxes.push(box(spoke.node, x, y, side, 30, false));
  });
  boxes.push(box(data.nodes[0], middle / 2 + 2, top, middle, 38, true));
  return [tall, [arrows(mark), ...lines, ...texts, ...boxes]];
}

/**
 * Returns the drawing.
 * @param {Neighbourhood} data
 * @param {Set<string>} [cited] ids of lines that stand out
 */
export function drawing(data, cited = new Set()) {
  const { shown, more } = spokes(data, cited);
  const frame = h("div", { class: "picture" });
  const legend = h(
    "p",
    { class: "hint legend" },
    h("span", {}, h("span", { class: "key asserted" }), statusWord("asserted")),
    h("span", {}, h("span", { class: "key inferred" }), statusWord("inferred")),
    cited.size ? h("span", {}, h("span", { class: "key cited" }), t("cited")) : null,
    more ? h("span", {}, t("{more} more in the graph", { more })) : null,
  );
  if (!shown.length) return h("p", { class: "hint" }, t("It is linked to nothing else."));
  // Each drawing has its own arrow heads: those of a hidden one do not show.
  const mark = `arrow-${++drawings}`;
  let drawn = 0;
  const draw = () => {
    const w = Math.floor(frame.clientWidth);
    if (!w || w === drawn) return;
    drawn = w;
    const [tall, parts] = w >= WIDE ? wide(data, shown, w, mark) : narrow(data, shown, w, mark);
    const name = t("{label} and {shown} linked entities", { label: data.nodes[0].label, shown: shown.length });
    frame.replaceChildren(svg("svg", { viewBox: `0 0 ${w} ${tall}`, width: w, height: tall, role: "group", "aria-label": name }, parts));
  };
  new ResizeObserver(draw).observe(frame);
  return h("div", {}, frame, legend);
}
