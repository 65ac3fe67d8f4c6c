// An entity's neighbourhood as a graph that grows: click to grow, pin, hide, find a path, export.

import { getJson } from "../api.js";
import { entityLink, h, problemBox } from "../dom.js";
import { plural, t } from "../language.js";
import { offerNames } from "../names.js";
import { LAYOUT, MOST, around, colour, cytoscape, fitted, look } from "./canvas.js";

/** @import {GraphEdge, GraphNode, Neighbourhood, Path} from "../types.js" */
/** @typedef {Omit<GraphEdge, "line">} Link */

/**
 * Draws an entity and what it is linked to, and lets a person go on from there.
 * @param {string} iri
 * @returns {Promise<HTMLElement>}
 */
export async function growing(iri) {
  /** @type {[Window["cytoscape"], Neighbourhood]} */
  const [make, first] = await Promise.all([cytoscape(), getJson("/api/expand", { iri })]);
  const frame = h("div", { class: "growing-frame", "aria-hidden": "true" });
  const said = h("p", { class: "hint", role: "status" });
  const problem = h("div", { role: "alert" });
  const list = h("ul", { class: "growing-list", "aria-label": t("Entities of the drawing") });
  const actions = h("div", { class: "line growing-actions", role: "group", "aria-label": t("The entity that is selected") });
  const cy = make({ headless: true, styleEnabled: true, style: look(), elements: [], maxZoom: 3, minZoom: 0.1 });
  let selected = first.centre;

  /** @param {GraphNode[]} nodes @param {Link[]} edges @param {string} near */
  function add(nodes, edges, near) {
    const place = cy.getElementById(near).nonempty() ? cy.getElementById(near).position() : { x: 0, y: 0 };
    const fresh = nodes.filter((one) => cy.getElementById(one.id).empty()).slice(0, Math.max(0, MOST - cy.nodes().length));
    cy.add(fresh.map((one, at) => ({ group: "nodes", data: { id: one.id, label: one.label, kind: one.kind }, position: around(place, at) })));
    for (const edge of edges) {
      const id = `${edge.s} ${edge.p} ${edge.o}`;
      if (cy.getElementById(edge.s).empty() || cy.getElementById(edge.o).empty() || cy.getElementById(id).nonempty()) continue;
      cy.add({ group: "edges", data: { id, source: edge.s, target: edge.o, p: edge.p, label: edge.label, status: edge.status } });
    }
    arrange();
    return fresh.length;
  }

  function arrange() {
    if (!frame.clientWidth) return;
    const pinned = cy.nodes(".pinned");
    pinned.lock();
    cy.layout(LAYOUT).run();
    fitted(cy, selected);
    pinned.unlock();
  }

  /** @param {string} id */
  async function grow(id) {
    problem.replaceChildren();
    try {
      /** @type {Neighbourhood} */
      const found = await getJson("/api/expand", { iri: id });
      const number = add(found.nodes, found.edges, id);
      cy.getElementById(id).addClass("grown");
      said.textContent = number ? t("{entities} more.", { entities: plural(number, "entity", "entities") }) : cy.nodes().length >= MOST ? t("A drawing has at most {MOST} entities. Hide some first.", { MOST }) : t("Nothing more is linked to it.");
    } catch (error) {
      problem.replaceChildren(problemBox(error));
    }
    draw();
  }

  /** @param {string} to */
  async function path(to) {
    problem.replaceChildren();
    try {
      /** @type {Path} */
      const { path: found, complete } = await getJson("/api/path", { from: selected, to });
      cy.elements().removeClass("on-path");
      if (!found) {
        said.textContent = complete ? t("No path leads there.") : t("No path was found nearby.");
        return;
      }
      for (const { triple: { s, p, o }, labels, status } of found) {
        add([{ id: s.value, label: labels[0], kind: "entity" }, { id: o.value, label: labels[2], kind: "entity" }], [{ s: s.value, p: p.value, o: o.value, label: labels[1], status }], selected);
        cy.getElementById(`${s.value} ${p.value} ${o.value}`).addClass("on-path");
      }
      said.textContent = t("A path of {links}: {steps}.", { links: plural(found.length, "link", "links"), steps: found.map((one) => one.labels.join(" ")).join("; ") });
    } catch (error) {
      problem.replaceChildren(problemBox(error));
    }
    draw();
  }

  function hide() {
    cy.getElementById(selected).remove();
    selected = cy.nodes().length ? cy.nodes()[0].id() : "";
    draw();
  }

  /** @param {string} href @param {string} name */
  function save(href, name) {
    h("a", { href, download: name }).click();
  }

  function exported() {
    const nodes = cy.nodes().map((one) => ({ id: one.id(), label: one.data("label") }));
    const edges = cy.edges().map((one) => ({ s: one.data("source"), p: one.data("p"), o: one.data("target"), status: one.data("status") }));
    const url = URL.createObjectURL(new Blob([JSON.stringify({ nodes, edges }, null, 1)], { type: "application/json" }));
    save(url, "graph.json");
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  function draw() {
    cy.$(":selected").unselect();
    const node = cy.getElementById(selected);
    node.select();
    const things = cy.nodes().map((one) => one).sort((a, b) => (a.data("label") < b.data("label") ? -1 : 1));
    list.replaceChildren(...things.map((one) => h("li", {}, h("button", { type: "button", "data-node": one.id(), "aria-pressed": String(one.id() === selected), onclick: () => choose(one.id()) }, one.data("label")))));
    if (node.empty()) {
      actions.replaceChildren();
      return;
    }
    const pinned = node.hasClass("pinned");
    const goal = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "path-to", autocomplete: "off", required: true, maxlength: "2048", placeholder: t("Name here, IRI or prefix:name") }));
    const line = h("form", { class: "line", onsubmit: (/** @type {Event} */ event) => seek(event) }, h("label", { for: "path-to" }, t("Path to")), goal, h("button", {}, t("Find")));
    const known = offerNames(goal, new Map(things.map((one) => [one.data("label"), one.id()])));
    const seek = (/** @type {Event} */ event) => {
      event.preventDefault();
      path(known(goal.value.trim()) || goal.value.trim());
    };
    actions.replaceChildren(
      h("strong", {}, node.data("label")),
      h("button", { type: "button", onclick: () => grow(selected) }, t("Grow")),
      h("button", { type: "button", "aria-pressed": String(pinned), onclick: () => { node.toggleClass("pinned"); draw(); } }, t("Pin")),
      h("button", { type: "button", onclick: hide }, t("Hide")),
      entityLink(selected, t("Open")),
      line,
    );
  }

  /** @param {string} id */
  function choose(id) {
    selected = id;
    draw();
    /** @type {HTMLElement | null} */ (list.querySelector("[aria-pressed='true']"))?.focus({ preventScroll: true });
  }

  cy.on("tap", "node", (event) => {
    selected = event.target.id();
    grow(selected);
  });
  add(first.nodes, first.edges, first.centre);
  cy.getElementById(first.centre).addClass("grown");
  draw();
  // The frame has its size only once it stands in the page.
  let drawn = false;
  new ResizeObserver(() => {
    if (!frame.clientWidth) return;
    if (!drawn) {
      cy.mount(frame);
      arrange();
    }
    drawn = true;
    cy.resize();
    fitted(cy, selected);
  }).observe(frame);
  return h(
    "section",
    { class: "card growing" },
    h("h2", { tabindex: "-1" }, t("Around {label}", { label: first.nodes[0].label })),
    h("p", { class: "hint" }, t("Click an entity to grow the drawing there. Links made by reasoning are dashed. The list has the same entities for the keyboard.")),
    frame,
    actions,
    said,
    problem,
    h("details", {}, h("summary", {}, t("Entities of the drawing")), list),
    h("div", { class: "line" }, h("button", { type: "button", onclick: () => save(cy.png({ full: true, scale: 2, bg: colour("--card") }), "graph.png") }, t("Save as PNG")), h("button", { type: "button", onclick: exported }, t("Save as JSON")), entityLink(iri, t("Back to the triples"))),
  );
}
