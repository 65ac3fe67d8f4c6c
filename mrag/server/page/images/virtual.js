// A grid of which only what is in sight is in the document, however many images there are.

import { h } from "../dom.js";
import { plural } from "../language.js";
import { thumb } from "./thumb.js";

const PAGES = 12;
const LEAST = 150;
const NAME = 34;
const GAP = 10;
const STILL = 90;
const HOME = "Home";
const END = "End";

/** @import {GraphImage} from "../types.js" */

/**
 * What is shown.
 * @typedef {{total: number, page: number, before: string[], load: (after: string) => Promise<GraphImage[]>,
 *   address: (image: GraphImage) => string, failed: (error: unknown) => void}} Source
 */

/** Returns the grid. @param {Source} source */
export function grid(source) {
  return new Grid(source).element;
}

class Grid {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    /** @type {Map<number, GraphImage[] | null>} pages by number; null while one is fetched */
    this.pages = new Map();
    /** @type {Map<number, {element: HTMLElement, full: boolean, ending: AbortController}>} */
    this.cells = new Map();
    this.columns = 1;
    this.at = 0;
    this.side = 0;
    this.row = 0;
    /** @type {number | undefined} the cell that is to have the focus once it is there */
    this.going = undefined;
    this.timer = 0;
    this.list = h("div", { role: "list", class: "grid-list", "aria-label": plural(source.total, "image", "images") });
    this.element = h("div", { class: "grid-frame", onscroll: () => this.draw(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) }, this.list);
    this.list.addEventListener("focusin", (/** @type {FocusEvent} */ event) => {
      const index = /** @type {HTMLElement} */ (event.target).dataset.index;
      if (index !== undefined) this.here(Number(index));
    });
    new ResizeObserver(() => this.measure()).observe(this.element);
  }

  measure() {
    const width = this.element.clientWidth;
    if (!width) return;
    this.columns = Math.max(2, Math.floor((width + GAP) / (LEAST + GAP)));
    this.side = (width - GAP * (this.columns - 1)) / this.columns;
    this.row = this.side + NAME + GAP;
    this.list.style.height = `${Math.ceil(this.source.total / this.columns) * this.row}px`;
    for (const cell of this.cells.values()) this.drop(cell);
    this.cells.clear();
    this.draw();
  }

  draw() {
    if (!this.row) return;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.row) - 1) * this.columns;
    const last = Math.min(this.source.total, (Math.ceil((scrollTop + clientHeight) / this.row) + 1) * this.columns);
    for (const [index, cell] of this.cells) {
      const focused = cell.element.contains(document.activeElement);
      if ((index < first || index >= last) && !focused) {
        this.drop(cell);
        this.cells.delete(index);
      }
    }
    for (let index = first; index < last; index++) this.cell(index);
    clearTimeout(this.timer);
    // What is only scrolled past is not fetched.
    this.timer = window.setTimeout(() => this.fetch(first, last), STILL);
  }

  /** @param {{element: HTMLElement, ending: AbortController}} cell */
  drop(cell) {
    cell.ending.abort();
    cell.element.remove();
  }

  /** @param {number} index */
  image(index) {
    return this.pages.get(Math.floor(index / this.source.page))?.[index % this.source.page];
  }

  /** @param {number} index */
  cell(index) {
    const image = this.image(index);
    const there = this.cells.get(index);
    if (there && (there.full || !image)) return;
    if (there) this.drop(there);
    const ending = new AbortController();
    const element = h("div", { role: "listitem", class: "cell", "aria-setsize": this.source.total, "aria-posinset": index + 1 });
    element.style.transform = `translate(${(index % this.columns) * (this.side + GAP)}px, ${Math.floor(index / this.columns) * this.row}px)`;
    element.style.width = `${this.side}px`;
    element.style.height = `${this.row - GAP}px`;
    if (image) element.append(h("a", { href: this.source.address(image), "data-index": index, tabindex: index === this.at ? "0" : "-1", title: image.label }, thumb(image, 240, ending.signal), h("span", { class: "name" }, image.label)));
    else element.append(h("span", { class: "thumb waiting" }));
    this.cells.set(index, { element, full: Boolean(image), ending });
    // In the order of the images, for whoever reads the list and does not see it.
    const after = [...this.cells.keys()].filter((one) => one > index).sort((a, b) => a - b)[0];
    this.list.insertBefore(element, after === undefined ? null : this.cells.get(after)?.element ?? null);
  }

  /** @param {number} first @param {number} last */
  async fetch(first, last) {
    const from = Math.floor(first / this.source.page);
    const to = Math.floor(Math.max(first, last - 1) / this.source.page);
    for (let number = from; number <= to && number < this.source.before.length; number++) {
      if (this.pages.has(number)) continue;
      this.pages.set(number, null);
      try {
        this.pages.set(number, await this.source.load(this.source.before[number]));
      } catch (error) {
        this.pages.delete(number);
        return this.source.failed(error);
      }
      for (const old of this.pages.keys()) {
        if (this.pages.size <= PAGES) break;
        if (old < from || old > to) this.pages.delete(old);
      }
      if (this.element.isConnected) this.draw();
      if (this.going !== undefined && this.image(this.going)) this.focus(this.going);
    }
  }

  /** @param {number} index the cell that Tab leads to */
  here(index) {
    this.cells.get(this.at)?.element.querySelector("a")?.setAttribute("tabindex", "-1");
    this.at = index;
    this.cells.get(index)?.element.querySelector("a")?.setAttribute("tabindex", "0");
  }

  /** @param {number} index */
  focus(index) {
    this.going = undefined;
    const link = this.cells.get(index)?.element.querySelector("a");
    if (link) link.focus({ preventScroll: true });
    else this.going = index;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const rows = Math.max(1, Math.floor(this.element.clientHeight / this.row));
    const steps = new Map([["ArrowRight", 1], ["ArrowLeft", -1], ["ArrowDown", this.columns], ["ArrowUp", -this.columns], ["PageDown", rows * this.columns], ["PageUp", -rows * this.columns], [HOME, -Infinity], [END, Infinity]]);
    const step = steps.get(event.key);
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = Math.min(this.source.total - 1, Math.max(0, (this.going ?? this.at) + step));
    const top = Math.floor(to / this.columns) * this.row;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.row > scrollTop + clientHeight) this.element.scrollTop = top + this.row - clientHeight;
    this.draw();
    this.here(to);
    this.focus(to);
  }
}
