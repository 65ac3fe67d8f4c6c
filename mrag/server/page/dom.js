// Elements made of text: nothing that comes from the graph or a person is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

export function show(element, yes) {
  element.hidden = !yes;
}

const ORIGIN = Object.assign(Object.create(null), {
  asserted: "Stated in the data",
  inferred: "Made by reasoning",
  enriched: "Written by a model that described something",
  completed: "Taken from evidence for a question, and accepted",
});
const SIGN = Object.assign(Object.create(null), { inferred: "∴ ", enriched: "✎ ", completed: "＋ " });

export function badge(status) {
  return h(
    "span",
    { class: `badge ${status}`, title: ORIGIN[status] ?? "" },
    h("span", { "aria-hidden": "true" }, SIGN[status] ?? "● "),
    status,
  );
}

export function problemBox(error) {
  const text = error.message || "Something went wrong.";
  return h("div", { class: "note problem" }, h("p", {}, text), error.hint ? h("p", {}, error.hint) : null);
}

export function entityLink(iri, label, attributes) {
  return h("a", { href: `#/explore?iri=${encodeURIComponent(iri)}`, title: iri, ...attributes }, label);
}

export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

export function plural(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
