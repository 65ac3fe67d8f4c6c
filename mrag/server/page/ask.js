// Ask: a question, its answer as it is written, what it rests on, and where that stands in the graph.

import { ask, once } from "./api.js";
import { charts } from "./charts/charts.js";
import { makeChoices } from "./choices.js";
import { howItWasRead, rowsTable } from "./computed.js";
import { byId, entityLink, field, h, problemBox, show, statusWord, within } from "./dom.js";
import { plural, t } from "./language.js";
import { imageStrip } from "./strip.js";
import { learnable } from "./learn.js";
import { offerNames } from "./names.js";
import { drawing } from "./picture.js";
import { linkButton, receiptButton, start as startReceipts } from "./receipt.js";
import { triplesTable } from "./triples.js";

/** @import {Choices} from "./choices.js" */
/** @import {Answer, Asked, Citation, Follows, FoundHit, Go, Hit, Neighbourhood, Schema, Sentence, Values, WholeAnswer} from "./types.js" */

/** @type {Record<string, () => string>} what is shown beside a sentence that is not supported by what was read */
const DOUBTS = {
  graph: () => t("supported by the graph, not by what was read"),
  partly: () => t("supported in part"),
  contradicted: () => t("contradicted by the graph"),
  unsaid: () => t("the graph does not say this"),
  unread: () => t("not supported by what was read"),
};
const KEPT = 20;
/** The end of a question that may begin a name: its last word, with capitalised ones before it; not its first. */
const NAME = /(?<=\S\s+)(?:\p{Lu}\S*\s+)*\S{3,}$/u;
const LONGEST = 50;
const WAYS = new Set(["auto", "plan", "read"]);
/** @type {Record<string, () => string>} */
const CAUTIONS = { Probably: () => t("Probably:"), Perhaps: () => t("Perhaps:") };
/** @type {Map<string, WholeAnswer>} */
const answers = new Map();
/** @type {AbortController | null} */
let running = null;
/** @type {string | null} the key of what is shown */
let shown = null;
/** @type {Go} */
let leave;
/** @type {Asked["after"]} */
let before = [];
/** @type {Choices} */
let choices;

/** @param {Go} go */
export function start(go) {
  leave = go;
  const sought = field("question", HTMLInputElement);
  const follow = field("follow", HTMLInputElement);
  const way = field("how", HTMLSelectElement);
  offerNames(sought, new Map(), undefined, NAME);
  startReceipts();
  choices = makeChoices("ask", () => {
    // What is computed cannot be ranked otherwise.
    if (way.value === "plan") way.value = "auto";
  }, () => {
    // A question that is open among members of that class has no answer any more.
    if (/[?&]only=/.test(location.hash)) go("ask", {});
  });
  byId("ask-how").append(" ", choices.element);
  byId("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = sought.value.trim();
    if (!question) return sought.focus();
    const how = way.value;
    /** @type {Asked} */
    const asked = { question, how, reading: 0, after: [], ...(how === "plan" ? {} : choices.values()) };
    answers.delete(key(asked));
    shown = null;
    go("ask", address(asked));
  });
  byId("follow-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = follow.value.trim();
    if (!question) return follow.focus();
    follow.value = "";
    byId("answer-title").focus({ preventScroll: true });
    go("ask", address({ question, how: way.value, reading: 0, after: before }));
  });
  byId("ask-stop").addEventListener("click", () => running?.abort(STOPPED));
}

const STOPPED = "stopped by the reader";

// What is asked stands in the address, without what goes without saying.
/** @param {Asked} asked */
function address({ question, how, reading, after, ranker, only }) {
  return {
    q: question,
    ...(how === "auto" ? {} : { how }),
    ...(!reading ? {} : { reading: String(reading) }),
    ...(ranker ? { ranker } : {}),
    ...(only ? { only } : {}),
    ...(after.length ? { after: JSON.stringify(after) } : {}),
  };
}

/** @param {Asked} asked */
function key(asked) {
  return JSON.stringify([asked.question, asked.how, asked.reading, asked.after, asked.ranker || "", asked.only || ""]);
}

// The questions before, each with the number of its reading; an address may hold anything.
/** @param {string | undefined} text @returns {Asked["after"]} */
function questionsBefore(text) {
  try {
    const found = JSON.parse(text || "[]");
    const sound = (/** @type {unknown} */ one) => Array.isArray(one) && typeof one[0] === "string" && one[0].trim() && Number.isInteger(one[1]);
    return Array.isArray(found) && found.every(sound) ? found.slice(-LONGEST) : [];
  } catch {
    return [];
  }
}

// What the server needs to go on: the plan of the last answer, which is asked for again if it is not at hand.
/** @param {Asked} asked @param {AbortSignal} signal @returns {Promise<Follows | undefined>} */
async function lastAnswer({ how, after }, signal) {
  const last = after.at(-1);
  if (!last) return undefined;
  const [question, reading] = last;
  const asked = { question, how, reading, after: after.slice(0, -1) };
  let whole = answers.get(key(asked));
  if (!whole) {
    const follows = await lastAnswer(asked, signal);
    whole = await wholeOf({ ...asked, follows }, () => {}, signal);
    if (!signal.aborted) answers.set(key(asked), whole);
  }
  const { plan, columns, why, follows } = whole.answer;
  return plan ? { question, plan, columns, why, ...(follows ? { follows } : {}) } : undefined;
}

/**
 * Asks, and returns the answer with the hits that were found before it.
 * @param {Parameters<typeof ask>[0]} asked @param {Parameters<typeof ask>[1]} onEvent @param {AbortSignal} signal
 * @returns {Promise<WholeAnswer>}
 */
async function wholeOf(asked, onEvent, signal) {
  /** @type {FoundHit[] | undefined} */
  let hits;
  /** @type {WholeAnswer | undefined} */
  let whole;
  await ask(
    asked,
    (event) => {
      if (event.event === "found") hits = event.hits;
      else if (event.event === "answer") whole = { ...event, hits };
      onEvent(event);
    },
    signal,
  );
  if (!whole) throw new TypeError("An answer without its last event is refused before.");
  return whole;
}

/** @param {Values} values */
export async function enter(values) {
  examples();
  const question = (values.q || "").trim();
  const how = values.how && WAYS.has(values.how) ? values.how : "auto";
  const reading = /^[1-9]\d?$/.test(values.reading || "") ? Number(values.reading) : 0;
  const asked = { question, how, reading, after: questionsBefore(values.after), ranker: values.ranker, only: values.only };
  choices.enter(values);
  const sought = field("question", HTMLInputElement);
  sought.value = question;
  field("how", HTMLSelectElement).value = how;
  if (key(asked) === shown) return;
  running?.abort();
  shown = key(asked);
  byId("ask-problem").replaceChildren();
  show(byId("ask-result"), Boolean(question));
  show(byId("ask-lead"), !question);
  if (!question) return sought.focus({ preventScroll: true });
  const known = answers.get(key(asked));
  if (known) return finish(known, asked);
  await write(asked);
}

async function examples() {
  const place = byId("examples");
  if (place.childElementCount) return;
  try {
    /** @type {Schema} */
    const { examples } = await once("/api/schema");
    place.replaceChildren(...examples.map((text) => h("a", { class: "chip", href: `#/ask?q=${encodeURIComponent(text)}` }, text)));
  } catch {
    // The field works without examples.
  }
}

/** Returns a hint that says every five seconds how long it has stood there. @param {string} text @param {string} [model] */
function waiting(text, model) {
  const hint = h("p", { class: "hint waiting" }, text);
  let seconds = 0;
  const clock = setInterval(() => {
    seconds += 5;
    if (!hint.isConnected) clearInterval(clock);
    else hint.textContent = `${text} ${model ? t("Waiting for the language model {model}, {seconds} s so far.", { model, seconds }) : t("{seconds} s so far.", { seconds })}`;
  }, 5000);
  return hint;
}

/** @param {Asked} asked */
async function write(asked) {
  const place = byId("answer");
  const stop = new AbortController();
  running = stop;
  place.setAttribute("aria-busy", "true");
  show(byId("ask-stop"), true);
  place.replaceChildren(waiting(t("Looking in the graph …")));
  for (const id of ["cited", "ask-picture", "ask-images", "ask-found", "answer-actions", "answer-note", "computed", "follow-form", "asked-before"]) show(byId(id), false);
  const text = h("p", { class: "written" });
  try {
    const whole = await wholeOf(
      { ...asked, follows: await lastAnswer(asked, stop.signal) },
      (event) => {
        if (stop.signal.aborted) return;
        if (event.event === "found") {
          const count = plural(event.hits.length, "entity", "entities");
          place.replaceChildren(waiting(event.hits.length ? t("Found {count}; writing …", { count }) : t("Nothing fits; writing …"), event.model));
        } else if (event.event === "text") {
          if (!text.isConnected) place.replaceChildren(text);
          text.append(event.text);
        }
      },
      stop.signal,
    );
    if (stop.signal.aborted) return;
    answers.set(key(asked), whole);
    finish(whole, asked);
    const [oldest] = answers.keys();
    if (answers.size > KEPT) answers.delete(oldest);
  } catch (error) {
    if (stop.signal.reason === STOPPED) place.append(h("p", { class: "hint" }, t("Stopped. What stands here has not been checked against the graph.")));
    if (stop.signal.aborted) return;
    shown = null;
    if (!text.isConnected) show(byId("ask-result"), false);
    byId("ask-problem").replaceChildren(problemBox(error));
  } finally {
    if (running === stop) {
      running = null;
      place.setAttribute("aria-busy", "false");
      show(byId("ask-stop"), false);
    }
  }
}

/** @param {WholeAnswer} whole @param {Asked} asked */
function finish({ answer, pictures, images, hits = [], listed = [] }, asked) {
  const place = byId("answer");
  place.setAttribute("aria-busy", "false");
  const known = byCitation(answer);
  const chips = (/** @type {Sentence} */ sentence) => sentence.citations.map((id) => [" ", chip(known.get(id))]);
  const table = rowsTable(answer, chips);
  // Several rows have their proofs in the table, so that no list need say them again.
  place.replaceChildren(...(table && answer.rows.length > 1 ? [] : sentences(answer)), ...(table || []));
  const caution = CAUTIONS[answer.doubt];
  if (caution) place.prepend(h("p", { class: "doubt" }, h("b", {}, caution())));
  const drawn = table ? charts(answer) : null;
  if (drawn) place.append(drawn);
  byId("answer-actions").replaceChildren(...receiptButton(answer), ...linkButton());
  show(byId("answer-actions"), true);
  howItWasRead(answer, (reading) => {
    byId("answer-title").focus({ preventScroll: true });
    leave("ask", address({ ...asked, reading }));
  });
  // What could not be computed can be asked again in other words, about the answer before it.
  /** @type {Asked["after"]} */
  const onward = [...asked.after, [asked.question, asked.reading]];
  before = answer.plan ? onward.slice(-LONGEST) : asked.after;
  show(byId("follow-form"), before.length);
  const earlier = byId("asked-before");
  earlier.textContent = t("{question}, asked after {before}", { question: asked.question, before: asked.after.map(([text]) => text).join(" › ") });
  show(earlier, asked.after.length);
  const note = byId("answer-note");
  note.textContent = [wayOf(answer), answer.model ? t("Written by {model}.", { model: answer.model }) : "", answer.notice || ""].join(" ").trim();
  show(note, note.textContent);
  const lines = new Map(answer.context.lines.map((line) => [line.id, line]));
  const cited = answer.citations.map((citation) => ({ ...citation, ...lines.get(citation.id) }));
  show(byId("cited"), answer.context.lines.length);
  byId("cited-title").textContent = t("Cited triples ({cited})", { cited: cited.length });
  byId("cited-rows").replaceChildren(
    cited.length ? triplesTable(cited, { caption: t("Cited triples"), anchors: true }) : h("p", { class: "hint" }, t("The answer cites nothing.")),
  );
  const ids = new Set(cited.map((line) => line.id));
  const others = answer.context.lines.filter((line) => !ids.has(line.id));
  const context = field("context", HTMLDetailsElement);
  context.open = false;
  within(context, "summary").textContent = `${answer.plan ? t("Further triples that prove it") : t("The rest of what was read")}: ${plural(others.length, "triple", "triples")}`;
  show(context, others.length);
  // Long, and seldom wanted, so made when it is opened.
  byId("context-rows").replaceChildren();
  context.ontoggle = () => {
    if (context.open && !byId("context-rows").childElementCount) {
      byId("context-rows").replaceChildren(triplesTable(others, { caption: t("Further triples of the context") }));
    }
  };
  surroundings(pictures, hits, cited, ids);
  markable(hits.length ? hits : listed, asked, !hits.length);
  show(byId("ask-images"), images.length);
  within(byId("ask-images"), ".images").replaceChildren(...imageStrip(images));
}

/** @param {Neighbourhood[]} pictures @param {FoundHit[]} hits @param {Citation[]} cited @param {Set<string>} ids */
function surroundings(pictures, hits, cited, ids) {
  /** @type {Map<string | undefined, number>} */
  const mentioned = new Map();
  for (const line of cited) mentioned.set(line.entity, (mentioned.get(line.entity) || 0) + 1);
  // What the answer speaks of comes first, then the other hits in their order; what was computed is in order.
  const order = !hits.length ? pictures : [...pictures].sort((a, b) => Number(mentioned.has(b.centre)) - Number(mentioned.has(a.centre)));
  show(byId("ask-picture"), order.length);
  const choices = byId("ask-hits");
  const reasons = new Map(hits.map((hit) => [hit.iri, hit.reasons.join("; ")]));
  const choose = (/** @type {Neighbourhood} */ one) => {
    for (const button of /** @type {Iterable<HTMLElement>} */ (/** @type {unknown} */ (choices.children))) button.setAttribute("aria-pressed", String(button.dataset.iri === one.centre));
    byId("ask-drawing").replaceChildren(drawing(one, ids));
  };
  choices.replaceChildren(
    ...order.map((one) =>
      h(
        "button",
        { type: "button", class: "chip", "data-iri": one.centre, "aria-pressed": "false", title: reasons.get(one.centre), onclick: () => choose(one) },
        one.nodes[0].label,
      ),
    ),
  );
  if (order.length) choose(order[0]);
}

// What was found can be marked, so that the concept behind it is learnt.
/** @param {(Hit & {types?: FoundHit["types"]})[]} hits @param {Asked} asked @param {boolean} computed */
function markable(hits, asked, computed) {
  const place = field("ask-found", HTMLDetailsElement);
  show(place, hits.length > 1);
  // The rows of a table need no list beside it, but for marks.
  place.open = !computed;
  byId("ask-found-title").textContent = computed ? t("Mark what you meant") : t("What was found");
  const line = (/** @type {Hit & {types?: FoundHit["types"]}} */ hit) => h("p", { class: "found" }, entityLink(hit.iri, hit.label), hit.types?.length ? h("span", { class: "hint" }, ` ${hit.types.map((type) => type.label).join(", ")}`) : null);
  const only = (/** @type {string} */ iri) => leave("ask", address({ ...asked, how: "auto", reading: 0, after: [], only: iri }));
  byId("ask-found-hits").replaceChildren(hits.length > 1 ? learnable(hits, line, only) : "");
}

/** @param {Answer} answer */
function wayOf(answer) {
  if (answer.plan) return t("Computed: {why}.", { why: answer.why });
  // Why there is no answer is the answer, if it had to be computed.
  return answer.way === "read" && answer.why ? t("Read, not computed: {why}.", { why: answer.why }) : "";
}

/** @param {Answer} answer */
function byCitation(answer) {
  return new Map(answer.citations.map((citation) => [citation.id, citation]));
}

// Sentences with what stands before them make paragraphs and lists, as the answer's text does.
/** @param {Answer} answer */
function sentences(answer) {
  /** @type {HTMLElement[]} */
  const blocks = [];
  const citations = byCitation(answer);
  /** @type {HTMLElement | null} */
  let block = null;
  for (const sentence of answer.sentences) {
    const bullet = /(^|\n)\s*(?:[-*•]|\d+[.)])\s*$/.test(sentence.before);
    if (!block || bullet || sentence.before.includes("\n")) {
      if (bullet) {
        let list = blocks.at(-1);
        if (list?.tagName !== "UL") {
          list = h("ul");
          blocks.push(list);
        }
        block = h("li");
        list?.append(block);
      } else {
        block = h("p");
        blocks.push(block);
      }
    } else {
      block.append(sentence.before || " ");
    }
    const text = h("span", { class: sentence.supported ? null : "unsupported" }, sentence.text);
    block.append(text);
    const doubt = DOUBTS[sentence.verdict];
    if (doubt) block.append(" ", h("span", { class: "badge unsure", title: (sentence.left || []).join(", ") }, doubt()));
    for (const id of sentence.citations) block.append(" ", chip(citations.get(id)) ?? "");
  }
  return blocks;
}

/** @param {Citation | undefined} citation */
function chip(citation) {
  if (!citation) return null;
  const [s, p, o] = citation.labels;
  return h(
    "button",
    {
      type: "button",
      class: `cite ${citation.status}`,
      title: `${s} ${p} ${o} (${statusWord(citation.status)})`,
      "aria-label": t("Cited triple {id}: {s} {p} {o}, {status}", { id: citation.id, s, p, o, status: statusWord(citation.status) }),
      onclick: () => point(citation.id),
    },
    citation.id,
  );
}

/** @param {string} id */
function point(id) {
  const row = document.getElementById(`line-${id}`);
  if (!row) return;
  for (const other of document.querySelectorAll("tr.pointed")) other.classList.remove("pointed");
  row.classList.add("pointed");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  row.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
  row.focus({ preventScroll: true });
}
