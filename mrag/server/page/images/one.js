// One image: its picture with boxes drawn over it, what is annotated in it, and a box of one's own to search by.

import { badge, entityLink, h, svg } from "../dom.js";
import { plural, rich, t } from "../language.js";
import { triplesTable } from "../triples.js";
import { thumb } from "./thumb.js";

/** @import {ImagePage, ImagePart, Side} from "../types.js" */
/** @typedef {ReturnType<typeof drawing>} Box */

const MEDIA = "mrag serve --media FOLDER";
const UNDER = "part under";
const SIDES = [["x", t("Left")], ["y", t("Top")], ["w", t("Width")], ["h", t("Height")]];

/**
 * Returns the page of an image.
 * @param {ImagePage} about
 * @param {{address: (values: Record<string, string>) => string, find: (box: number[]) => void}} to
 */
export function onePage(about, to) {
  const numbered = about.parts.map((part, at) => ({ ...part, number: at + 1 }));
  const { element: stage, show, box } = staged(about, numbered);
  const step = (/** @type {string | null} */ iri, /** @type {string} */ words) => (iri ? h("a", { class: "chip", href: to.address({ iri }) }, words) : null);
  const title = h("h2", { tabindex: "-1" }, about.label);
  return [
    h("p", { class: "line steps" }, h("a", { class: "chip", href: to.address({}) }, t("All images")), step(about.before, t("← Previous")), step(about.after, t("Next →"))),
    h("div", { class: "two" },
      h("div", { class: "column" }, h("section", { class: "card" }, title, h("p", { class: "iri" }, entityLink(about.iri, h("code", {}, about.iri))), stage, region(about, box, to.find))),
      h("div", { class: "column" }, annotated(numbered, show, to.find), said(about.out))),
  ];
}

/** @param {ImagePage} about @param {ImagePart[]} parts @returns {{element: HTMLElement, show: (iri: string, yes: boolean) => void, box: Box | null}} */
function staged(about, parts) {
  const picture = thumb(about, 1200);
  if (!about.size) {
    const missing = h("p", { class: "note" }, rich("The file {file} is not in the folder that the server was given ({command}).", { file: about.file, command: h("code", {}, MEDIA) }));
    return { element: missing, show: () => {}, box: null };
  }
  const [width, height] = about.size;
  const drawn = svg("rect", { class: "drawn", x: 0, y: 0, width: 0, height: 0 });
  const over = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "over", "aria-hidden": "true" });
  /** @type {Map<string, SVGElement>} */
  const places = new Map();
  for (const part of parts) {
    const shapes = part.boxes.map(([x, y, w, h]) => [UNDER, "part"].map((kind) => svg("rect", { class: kind, x, y, width: w, height: h })));
    const marks = part.boxes.map(([x, y]) => {
      const size = Math.max(width, height) / 30;
      return svg("text", { class: "part-number", x: x + size / 4, y: y + size, "font-size": size }, String(part.number));
    });
    const masks = part.masks.map((points) => svg("polygon", { class: `mask hue-${part.number % 6}`, points: points.join(" ") }));
    const group = svg("g", {}, masks, shapes, marks);
    places.set(part.iri, group);
    over.append(group);
  }
  over.append(drawn);
  const stage = h("div", { class: "stage" }, picture, over);
  const both = parts.some((part) => part.masks.length) && parts.some((part) => part.boxes.length);
  const shown = (/** @type {string} */ name, /** @type {string} */ words) => {
    const box = h("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => over.classList.toggle(`no-${name}`, !box.checked));
    return h("label", { class: "check" }, box, words);
  };
  stage.style.aspectRatio = `${width} / ${height}`;
  stage.style.maxWidth = `min(100%, ${Math.round((560 * width) / height)}px)`;
  const box = drawing(over, drawn, width, height);
  const show = (/** @type {string} */ iri, /** @type {boolean} */ yes) => places.get(iri)?.classList.toggle("pointed", yes);
  return { element: h("div", {}, stage, both ? h("p", { class: "line" }, shown("boxes", t("Boxes")), shown("masks", t("Masks"))) : null), show, box };
}

// A box is drawn by a finger or a mouse, or typed; both show the same.
/** @param {SVGSVGElement} over @param {SVGRectElement} drawn @param {number} width @param {number} height */
function drawing(over, drawn, width, height) {
  /** @type {number[] | null} */
  let from = null;
  /** @type {(sides: number[]) => void} */
  let told = () => {};
  const put = (/** @type {number[]} */ [x, y, w, h]) => {
    drawn.setAttribute("x", String(x));
    drawn.setAttribute("y", String(y));
    drawn.setAttribute("width", String(w));
    drawn.setAttribute("height", String(h));
  };
  const at = (/** @type {PointerEvent} */ event) => {
    const place = over.getBoundingClientRect();
    const inside = (/** @type {number} */ value, /** @type {number} */ most) => Math.round(Math.min(most, Math.max(0, value)));
    return [inside(((event.clientX - place.left) / place.width) * width, width), inside(((event.clientY - place.top) / place.height) * height, height)];
  };
  over.addEventListener("pointerdown", (event) => {
    if (!over.classList.contains("drawing")) return;
    event.preventDefault();
    over.setPointerCapture(event.pointerId);
    from = at(event);
  });
  over.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = at(event);
    const sides = [Math.min(x, from[0]), Math.min(y, from[1]), Math.abs(x - from[0]), Math.abs(y - from[1])];
    put(sides);
    told(sides);
  });
  for (const end of ["pointerup", "pointercancel"]) over.addEventListener(end, () => (from = null));
  return { put, width, height, on: (/** @type {boolean} */ yes) => over.classList.toggle("drawing", yes), tell: (/** @type {(sides: number[]) => void} */ then) => (told = then) };
}

/** @param {ImagePage} about @param {Box | null} box @param {(box: number[]) => void} find */
function region(about, box, find) {
  if (!box || !about.parts.some((part) => part.boxes.length)) return null;
  const fields = SIDES.map(([side]) => h("input", { type: "number", min: side === "x" || side === "y" ? "0" : "1", max: String(Math.max(box.width, box.height)), step: "1", required: true, id: `box-${side}`, inputmode: "numeric" }));
  const draw = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
    const on = draw.getAttribute("aria-pressed") !== "true";
    draw.setAttribute("aria-pressed", String(on));
    box.on(on);
  } }, t("Draw a box"));
  const form = h("form", { class: "box-form" },
    h("p", { class: "hint" }, t("Draw a box on the picture, or type its sides in pixels: images with the like of what is annotated in it are found.")),
    h("div", { class: "sides" }, SIDES.map(([side, name], at) => h("label", { for: `box-${side}` }, name, " ", fields[at]))), h("div", { class: "line" }, draw, h("button", { class: "main" }, t("Find the like"))));
  box.tell((sides) => sides.forEach((value, at) => (fields[at].value = String(value))));
  form.addEventListener("input", () => box.put(fields.map((field) => Number(field.value) || 0)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find(fields.map((field) => Number(field.value)));
  });
  return form;
}

/** @param {ImagePart[]} parts @param {(iri: string, yes: boolean) => void} show @param {(box: number[]) => void} find */
function annotated(parts, show, find) {
  if (!parts.length) return h("section", { class: "card" }, h("h3", {}, t("Annotated in it")), h("p", { class: "hint" }, t("Nothing: the graph has no annotations of this image.")));
  const row = (/** @type {ImagePart} */ part) => {
    const details = h("details", { ontoggle: () => {
      if (details.open && details.children.length === 1) details.append(triplesTable(part.out.triples, { caption: t("Triples of {label}", { label: part.label }), columns: ["p", "o"] }));
    } }, h("summary", {}, plural(part.out.triples.length, "triple", "triples")));
    const item = h("li", { "data-part": part.iri },
      h("div", { class: "part-line" }, h("span", { class: "part-mark", "aria-hidden": "true" }, String(part.number)), h("span", {}, entityLink(part.iri, part.label), part.attributes.length ? h("span", { class: "hint" }, ` ${part.attributes.join(", ")}`) : null),
        part.boxes.length ? h("button", { type: "button", class: "why", "aria-label": t("Find images with the like of {label}, number {number}", { label: part.label, number: part.number }), onclick: () => find(part.boxes[0]) }, t("Find the like")) : h("span", { class: "hint" }, t("no box"))),
      details);
    for (const [event, yes] of [["pointerenter", true], ["pointerleave", false], ["focusin", true], ["focusout", false]]) item.addEventListener(String(event), () => show(part.iri, Boolean(yes)));
    return item;
  };
  return h("section", { class: "card" }, h("h3", {}, t("Annotated in it")), h("ol", { class: "parts" }, parts.map(row)));
}

/** @param {Side} out */
function said(out) {
  const inferred = out.triples.filter((row) => row.status === "inferred").length;
  return h("section", { class: "card" }, h("h3", {}, t("What the graph says of the image")), h("p", { class: "hint" }, rich("{triples}, {number} of them {mark}", { triples: plural(out.triples.length, "triple", "triples"), number: inferred, mark: badge("inferred") })), triplesTable(out.triples, { caption: t("Triples of the image"), columns: ["p", "o"] }));
}
