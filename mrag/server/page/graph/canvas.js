// The drawing of a graph by Cytoscape.js: how it is loaded, how it looks, how it is laid out.

import { h } from "../dom.js";
import { t } from "../language.js";

/** @import {Cytoscape} from "../types.js" */

/** Maximum number of entities of a drawing. */
export const MOST = 300;

/** The seed of the layout is where the nodes stand, so that the same clicks draw the same picture. */
export const LAYOUT = { name: "cose", animate: false, randomize: false, fit: true, padding: 30, nodeRepulsion: () => 900_000, nodeOverlap: 40, idealEdgeLength: () => 120, edgeElasticity: () => 200, gravity: 0.15, numIter: 400, initialTemp: 60 };

/** @type {Promise<Window["cytoscape"]> | null} */
let library = null;

export function cytoscape() {
  library ??= new Promise((done, failed) => {
    const script = h("script", { src: "/page/vendor/cytoscape.min.js", onload: () => done(window.cytoscape), onerror: () => failed(new Error(t("The drawing could not be loaded."))) });
    document.head.append(script);
  });
  library.catch(() => (library = null));
  return library;
}

/** @param {string} name */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function look() {
  return [
    { selector: "node", style: { label: "data(label)", "font-size": 24, "text-wrap": "ellipsis", "text-max-width": 230, color: colour("--ink"), "text-outline-color": colour("--card"), "text-outline-width": 2, "text-valign": "bottom", "text-margin-y": 4, width: 36, height: 36, "background-color": colour("--soft") } },
    { selector: "node[kind = 'class']", style: { shape: "round-rectangle", "background-color": colour("--asserted") } },
    { selector: "node.grown", style: { "background-color": colour("--accent") } },
    { selector: "node.pinned", style: { "border-width": 4, "border-color": colour("--inferred") } },
    { selector: "node:selected", style: { "border-width": 4, "border-color": colour("--focus"), width: 46, height: 46 } },
    { selector: "edge", style: { label: "data(label)", "font-size": 16, "min-zoomed-font-size": 7, color: colour("--soft"), "text-outline-color": colour("--card"), "text-outline-width": 2, "text-rotation": "autorotate", width: 2, "line-color": colour("--soft"), "target-arrow-color": colour("--soft"), "target-arrow-shape": "triangle", "curve-style": "bezier" } },
    { selector: "edge[status = 'inferred']", style: { "line-style": "dashed", "line-color": colour("--inferred"), "target-arrow-color": colour("--inferred") } },
    { selector: ".on-path", style: { "line-color": colour("--accent"), "target-arrow-color": colour("--accent"), width: 4 } },
  ];
}

/** Returns a place near another one; many of them fill a disc evenly. @param {{x: number, y: number}} place @param {number} at */
export function around(place, at) {
  const distance = 130 * Math.sqrt(at + 1.5);
  return { x: place.x + 1.7 * distance * Math.cos(at * 2.39996), y: place.y + distance * Math.sin(at * 2.39996) };
}

/**
 * Shows all of a drawing, or, where that would be too small to read, what is around one entity.
 * @param {Cytoscape} cy
 * @param {string} id
 */
export function fitted(cy, id) {
  cy.fit(undefined, 30);
  const least = 10 / 24;
  const node = cy.getElementById(id);
  if (cy.zoom() >= least || node.empty()) return;
  cy.zoom(least);
  cy.center(node);
}
