// Images: the pictures of the graph to look through, to narrow, to search by words, by a picture or by a part.

import { getJson, postJson } from "./api.js";
import { byId, h, problemBox, within } from "./dom.js";
import { facets, filters } from "./images/facets.js";
import { onePage } from "./images/one.js";
import { thumb } from "./images/thumb.js";
import { grid } from "./images/virtual.js";
import { plural, rich, t } from "./language.js";
import { learnable } from "./learn.js";

/** @import {Child, Gallery, Go, GraphImage, ImagePage, Values} from "./types.js" */

const MOST_BYTES = 11_000_000;
const MARKED = 60;
const IMPORT = "mrag import FILE --boxes";
const MEDIA = "mrag serve --media FOLDER";
let turn = 0;
/** @type {Go} */
let leaveTo;
/** @type {Values} */
let here = {};
/** @type {{name: string, data: string, shown: string} | null} the picture that is searched by */
let picture = null;
/**
 * @type {{words: HTMLInputElement, file: HTMLInputElement, chosen: HTMLElement, form: HTMLFormElement, problem: HTMLElement,
 *   side: HTMLElement, narrow: HTMLElement, facets: HTMLElement, single: HTMLElement}}
 */
let places;

/** @param {Go} go */
export function start(go) {
  leaveTo = go;
  const words = h("input", { id: "images-words", type: "text", maxlength: "2000", autocomplete: "off", enterkeyhint: "search", placeholder: t("What the images show") });
  /** @type {HTMLInputElement} */
  const file = h("input", { id: "images-file", type: "file", accept: "image/jpeg,image/png,image/webp,image/gif", onchange: () => choose(file.files?.[0]) });
  const chosen = h("div", { class: "chosen-picture", role: "status" });
  const form = h("form", { role: "search", id: "images-form" },
    h("label", { for: "images-words", class: "unseen" }, t("Words")),
    h("div", { class: "line" }, words, h("button", { class: "main" }, t("Search"))),
    h("p", { class: "hint by-picture" }, h("label", { for: "images-file" }, t("By a picture of yours"), " "), file), chosen);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  form.addEventListener("dragover", (event) => event.preventDefault());
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    choose(event.dataTransfer?.files[0]);
  });
  const values = h("div", {});
  const narrow = h("details", { class: "card facets", open: matchMedia("(min-width: 900px)").matches }, h("summary", {}, h("h2", {}, t("Narrow down"))), values);
  const side = h("div", { class: "side" }, narrow, h("div", { class: "column" }, h("div", { id: "images-state", class: "hint", role: "status" }), h("div", { id: "images-found" })));
  const problem = h("div", { role: "alert" });
  const single = h("div", { id: "images-one" });
  places = { words, file, chosen, form, problem, side, narrow, facets: values, single };
  byId("images").append(h("h1", { id: "images-title" }, t("Images")), form, problem, side, single);
}

function search() {
  const q = places.words.value.trim();
  leaveTo("images", { ...(q ? { q } : {}), ...filters(here), ...(picture ? { with: "picture" } : {}) });
}

/** @param {File | undefined} file */
async function choose(file) {
  if (!file) return;
  places.chosen.replaceChildren();
  if (file.size > MOST_BYTES) {
    places.chosen.append(h("p", { class: "note problem" }, t("{name} is larger than {size} MB. Take a smaller version of it.", { name: file.name, size: MOST_BYTES / 1_000_000 })));
    places.file.value = "";
    return;
  }
  const read = new FileReader();
  read.addEventListener("load", () => {
    const given = String(read.result);
    picture = { name: file.name, data: given.slice(given.indexOf(",") + 1), shown: URL.createObjectURL(file) };
    search();
  });
  read.readAsDataURL(file);
}

function unchoose() {
  if (picture) URL.revokeObjectURL(picture.shown);
  picture = null;
  places.file.value = "";
  search();
}

function showChosen() {
  const remove = () => h("button", { type: "button", class: "why", onclick: unchoose }, t("Remove the picture"));
  if (picture) places.chosen.replaceChildren(h("p", { class: "line" }, h("img", { src: picture.shown, alt: "", height: "56" }), h("span", {}, t("Searching by {name}", { name: picture.name })), remove()));
  else if (here.with) places.chosen.replaceChildren(h("p", { class: "note" }, t("The picture that was searched by is not kept in the address. Choose it again.")));
  else places.chosen.replaceChildren();
}

/** What an address gives, without what it does not. @param {Values} values @returns {Record<string, string>} */
const given = (values) => Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])));

/** @param {Record<string, string>} values */
const address = (values) => `#/images?${new URLSearchParams({ ...filters(here), ...values })}`.replace(/\?$/, "");

/** @param {Values} values */
export async function enter(values) {
  const mine = ++turn;
  const same = here.iri === values.iri && JSON.stringify(filters(here)) === JSON.stringify(filters(values));
  here = { ...values };
  places.words.value = values.q || "";
  showChosen();
  const iri = values.region ? undefined : values.iri;
  const alone = Boolean(iri);
  try {
    if (iri) {
      /** @type {ImagePage} */
      const about = await getJson("/api/images/one", { iri });
      if (mine !== turn) return;
      show(true);
      const find = (/** @type {number[]} */ box) => leaveTo("images", { ...filters(here), iri, region: box.join(",") });
      places.single.replaceChildren(...onePage(about, { address, find }));
      document.title = `${about.label} · mrag`;
      within(places.single, "h2").focus({ preventScroll: true });
      window.scrollTo(0, 0);
      return;
    }
    if (!byId("images-found").children.length) byId("images-state").textContent = t("Reading the images of the graph …");
    /** @type {Gallery} */
    const known = await getJson("/api/images", filters(values));
    if (mine !== turn) return;
    show(false);
    if (!known.images) return empty();
    narrowed(known, values, same);
    const searching = values.q || values.region || (values.with && picture);
    if (searching) await found(values, mine);
    else await all(known, values, mine);
    if (known.reading && !searching && mine === turn) await again(values, mine);
  } catch (error) {
    if (mine !== turn) return;
    show(alone, error);
  }
}

/**
 * Show what there is of images that are being read from the graph, and the rest when it has come.
 * @param {Values} values @param {number} mine
 */
async function again(values, mine) {
  /** @type {Gallery} */
  const known = await getJson("/api/images", { ...filters(values), wait: "60" });
  if (mine !== turn) return;
  const top = document.querySelector(".grid-frame")?.scrollTop || 0;
  narrowed(known, values, false);
  await all(known, values, mine);
  if (mine !== turn) return;
  document.querySelector(".grid-frame")?.scrollTo(0, top);
  if (known.reading) await again(values, mine);
}

/** @param {boolean} alone @param {unknown} [error] */
function show(alone, error) {
  places.problem.replaceChildren(...(error ? [problemBox(error)] : []));
  places.side.hidden = alone;
  places.form.hidden = alone;
  places.single.hidden = !alone || Boolean(error);
  if (!alone) places.single.replaceChildren();
  if (error) {
    byId("images-state").textContent = "";
    byId("images-found").replaceChildren();
  }
}

function empty() {
  places.side.hidden = true;
  places.form.hidden = true;
  places.problem.replaceChildren(
    h("div", { class: "note" },
      h("p", {}, h("strong", {}, t("This graph names no images."))),
      h("p", {}, rich("An image is what has a file name ({property}). Annotation files become such a graph with {imported}, and the pictures are shown from the folder of {served}.", { property: h("code", {}, "http://example.org/hasFileName"), imported: h("code", {}, IMPORT), served: h("code", {}, MEDIA) }))),
  );
}

/** @param {Gallery} known @param {Values} values @param {boolean} same */
function narrowed(known, values, same) {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.facet : undefined;
  const change = (/** @type {Record<string, string>} */ changed) => {
    const next = { ...here, ...changed };
    leaveTo("images", given(next));
  };
  const drawn = facets(known.facets, values, change).filter((one) => one !== null);
  places.narrow.hidden = !drawn.length;
  places.side.classList.toggle("whole", !drawn.length);
  if (!same || !places.facets.children.length || focused) places.facets.replaceChildren(...drawn);
  if (focused) [.../** @type {NodeListOf<HTMLElement>} */ (places.facets.querySelectorAll("[data-facet]"))].find((one) => one.dataset.facet === focused)?.focus();
  places.file.disabled = Boolean(known.pictures);
  const byPicture = within(places.form, ".by-picture");
  byPicture.title = known.pictures || "";
  if (known.pictures && !places.form.querySelector(".why-not")) byPicture.append(h("span", { class: "why-not" }, ` ${known.pictures}`));
}

/** @param {Child[]} words what the images are that are shown */
function state(...words) {
  byId("images-state").replaceChildren(h("span", {}, words));
}

/** @param {Gallery} known @param {Values} values @param {number} mine */
async function all(known, values, mine) {
  const counted = plural(known.total, "image", "images");
  const note = known.media ? [] : [" ", rich("The pictures are shown if the server is started with {option}.", { option: h("code", {}, "--media FOLDER") })];
  const first = known.reading && known.before.length === 1 && known.total < known.images;
  const shown = { images: plural(known.images, "image", "images"), number: known.total };
  if (first) state(t("{images}, of which the first {number} are shown. The others, and what they can be narrowed to, are being read …", shown), note);
  else state(known.total === known.images ? `${counted}.` : t("{images} of {all}.", { images: counted, all: known.images }), note);
  const load = (/** @type {string} */ after) => getJson("/api/images/page", { ...filters(values), after });
  if (!known.total) return byId("images-found").replaceChildren(h("p", { class: "note" }, t("No image has all of these. Remove a filter.")));
  if (known.total <= MARKED) {
    const images = await load("");
    if (mine === turn) byId("images-found").replaceChildren(marked(images));
    return;
  }
  const failed = (/** @type {unknown} */ error) => places.problem.replaceChildren(problemBox(error));
  const made = grid({ total: known.total, page: known.page, before: known.before, load, address: (image) => address({ iri: image.iri }), failed });
  byId("images-found").replaceChildren(made);
}

/** @param {Values} values @param {number} mine */
async function found(values, mine) {
  state(t("Searching …"));
  const [x, y, w, height] = (values.region || "").split(",").map(Number);
  const asked = values.region ? { region: { iri: values.iri, x, y, w, h: height } } : { ...(values.q ? { q: values.q } : {}), ...(values.with && picture ? { picture: picture.data } : {}) };
  /** @type {{hits: GraphImage[], what: string}} */
  const { hits, what } = await postJson("/api/images/search", { ...asked, ...filters(values), k: MARKED });
  if (mine !== turn) return;
  state(hits.length ? t("{images} found for {what}, the best first.", { images: plural(hits.length, "image", "images"), what }) : t("Nothing was found for {what}.", { what }), " ", h("a", { href: address({}) }, t("All images")));
  byId("images-found").replaceChildren(hits.length ? marked(hits) : "");
}

// Hits with a plus and a minus: what the marked ones share is learnt as in Ask and Explore.
/** @param {GraphImage[]} hits */
function marked(hits) {
  const content = (/** @type {GraphImage} */ hit) => h("a", { href: address({ iri: hit.iri }), title: hit.label }, thumb(hit), h("span", { class: "name" }, hit.label), hit.reasons ? h("span", { class: "hint" }, hit.reasons.join("; ")) : null);
  const list = learnable(hits, content, (iri) => leaveTo("images", { ...given(here), class: iri }));
  list.classList.add("pictures");
  return list;
}
