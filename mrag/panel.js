// What notebooks show live, as a module of anywidget: an answer, hits to mark, or an entity. All that comes from
// the graph is put in as text.

/** @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () => void, on: (event: string, then: () => void) => void, off: (event: string, then: () => void) => void}} Model */
/** @typedef {(action: Record<string, unknown>) => void} Ask */

/**
 * @param {string} tag
 * @param {Record<string, string | (() => void)>} attributes
 * @param {(Node | string)[]} children
 */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** @param {string} text @param {() => void} click @param {Record<string, string>} [more] */
const button = (text, click, more = {}) => h("button", { type: "button", style: "cursor:pointer;margin:0 2px", click, ...more }, text);

/** @param {string[]} heads @param {HTMLElement[][]} rows @param {string} caption */
function table(heads, rows, caption) {
  if (!rows.length) return "";
  const cell = (/** @type {Node | string} */ one) => h("td", { style: "text-align:left;vertical-align:top" }, one);
  const head = h("tr", {}, ...heads.map((name) => h("th", { scope: "col", style: "text-align:left" }, name)));
  return h("table", {}, h("caption", { style: "text-align:left;font-weight:bold" }, caption), h("thead", {}, head), h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell)))));
}

/** @param {string} text */
const said = (text) => h("span", {}, text);

/** @param {string} name @param {HTMLElement} inside */
const folded = (name, inside) => h("details", {}, h("summary", {}, name), inside);

/** @param {any} value @param {Ask} ask */
function answer(value, ask) {
  const sentences = value.sentences.map((/** @type {any} */ one) => h("span", {}, one.text, one.ids.length ? h("small", {}, ` [${one.ids.join(", ")}]`) : "", one.supported ? "" : h("small", {}, " (not supported by the graph)")));
  const rows = value.rows.map((/** @type {string[]} */ row) => row.map(said));
  const triples = value.triples.map((/** @type {any} */ one) => {
    const proof = value.proofs[one.id];
    const why = proof ? h("pre", { "aria-label": `Proof of ${one.id}` }, proof) : one.status === "inferred" ? button("why?", () => ask({ why: one.id }), { "aria-label": `Why: ${one.text}?` }) : "";
    return [said(one.id), said(one.text), said(one.status), h("div", {}, why)];
  });
  return [
    value.doubt ? h("p", {}, h("strong", {}, `${value.doubt}:`)) : "",
    value.rows.length > 1 ? table(value.columns, rows, "Answer") : h("p", {}, ...sentences),
    value.reading ? h("p", {}, h("small", {}, `Read as: ${value.reading}`)) : "",
    value.notice ? h("p", {}, h("small", {}, value.notice)) : "",
    value.readings.length ? folded(value.reading ? "Other readings" : "Readings, none of them certain enough", h("ul", {}, ...value.readings.map((/** @type {string} */ one) => h("li", {}, one)))) : "",
    value.query ? folded("SPARQL", h("pre", {}, value.query)) : "",
    table(["", "triple", "", ""], triples, "Cited triples"),
  ];
}

/** @param {any} value @param {Ask} ask */
function marks(value, ask) {
  const liked = new Set(value.liked);
  const disliked = new Set(value.disliked);
  const covered = new Set(value.concept?.covered);
  const mark = (/** @type {string} */ iri, /** @type {Set<unknown>} */ to, /** @type {Set<unknown>} */ from) => () => {
    from.delete(iri);
    if (!to.delete(iri)) to.add(iri);
    ask({ liked: [...liked], disliked: [...disliked] });
  };
  const order = [...value.hits].sort((a, b) => Number(covered.has(b.iri)) - Number(covered.has(a.iri)));
  const rows = order.map((one) => {
    const vote = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {Set<unknown>} */ to, /** @type {Set<unknown>} */ from) => button(to.has(one.iri) ? `[${sign}]` : sign, mark(one.iri, to, from), { "aria-label": `${name} ${one.label}`, "aria-pressed": String(to.has(one.iri)), "data-key": `${sign} ${one.iri}` });
    const votes = one.individual ? [vote("+", "More like", liked, disliked), vote("−", "Not like", disliked, liked)] : [];
    const state = value.concept ? (covered.has(one.iri) ? "in it" : "") : "";
    return [h("span", { title: one.iri }, one.label), h("span", {}, ...votes), said(value.proposals.includes(one.iri) ? `${state} mark this next` : state)];
  });
  const concept = value.concept
    ? h("div", { "aria-live": "polite" }, h("p", {}, h("b", {}, value.concept.sentence)), h("p", {}, h("small", {}, value.concept.counts ?? "")), h("p", {}, h("code", {}, value.concept.manchester ?? "")))
    : h("p", {}, h("small", {}, "Mark with + what you mean and with − what you do not: from two marks on, what they share is learnt."));
  return [concept, table(["entity", "", ""], rows, "")];
}

/** @param {any} value @param {Ask} ask */
function entity(value, ask) {
  const go = (/** @type {{iri: string, label?: string, other?: string}} */ to) => button(to.label ?? to.other ?? to.iri, () => ask({ iri: to.iri }), { title: to.iri });
  const row = (/** @type {any} */ one) => [said(one.predicate), one.iri ? go(one) : said(one.other), said(one.status)];
  return [
    h("h3", {}, value.label),
    h("p", {}, h("code", {}, value.name)),
    value.been.length > 1 ? h("p", {}, "Before: ", ...value.been.slice(0, -1).map(go)) : "",
    table(["property", "entity or value", ""], value.out.map(row), "What the graph says of it"),
    table(["property", "entity", ""], value.in.map(row), "What points to it"),
  ];
}

const KINDS = new Map([["answer", answer], ["marks", marks], ["entity", entity]]);

/** @param {{model: Model, el: HTMLElement}} view */
function render({ model, el }) {
  let turn = 0;
  /** @type {Ask} */
  const ask = (action) => {
    // The same action twice is two actions.
    model.set("asked", { ...action, turn: `${++turn} ${Math.random()}` });
    model.save_changes();
  };
  const draw = () => {
    const value = model.get("value");
    const focused = document.activeElement instanceof HTMLElement && el.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const parts = KINDS.get(value.kind)?.(value, ask) ?? [];
    el.replaceChildren(h("div", { class: "mrag" }, value.problem ? h("p", { role: "alert" }, value.problem) : "", ...parts));
    if (focused) for (const one of /** @type {NodeListOf<HTMLElement>} */ (el.querySelectorAll("[data-key]"))) if (one.dataset.key === focused) one.focus();
  };
  model.on("change:value", draw);
  draw();
  return () => model.off("change:value", draw);
}

export default { render };
