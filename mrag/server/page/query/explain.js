// What a query asks the engine to do, and the engine's own plan where it gives one.

import { postJson } from "../api.js";
import { h } from "../dom.js";
import { plural, t } from "../language.js";

/** @import {Operator} from "../types.js" */

/** @param {HTMLElement} place @param {string} query */
export async function explain(place, query) {
  place.replaceChildren(h("p", { class: "hint", role: "status" }, t("Reading the query …")));
  /** @type {{operators: Operator, plan: string | null}} */
  const { operators, plan } = await postJson("/api/operators", { query });
  place.replaceChildren(
    h("h3", { tabindex: "-1" }, t("What this query does")),
    h("p", { class: "hint" }, t("Each line takes its rows from those under it. A pattern has the number of triples with its predicate. In which order they are joined is the engine's choice.")),
    h("ul", { class: "operators" }, line(operators)),
    ...(plan
      ? [h("h3", {}, t("The engine's own plan")), h("pre", { tabindex: "0", "aria-label": t("The engine's own plan") }, plan)]
      : [h("p", { class: "hint" }, t("This store's engine does not tell its own plan."))]),
  );
}

/** @param {Operator} one @returns {HTMLElement} */
function line(one) {
  const { triples } = one;
  return h(
    "li",
    {},
    h("strong", {}, one.operator),
    " ",
    h("code", {}, one.detail),
    triples === undefined ? null : h("span", { class: "hint" }, ` ${plural(triples, "triple", "triples")}`),
    one.parts.length ? h("ul", {}, one.parts.map(line)) : null,
  );
}
