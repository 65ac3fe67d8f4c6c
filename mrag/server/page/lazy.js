// A view whose module, and style, are fetched when it is first opened.

import { byId, h, problemBox } from "./dom.js";
import { t } from "./language.js";

/** @import {Go, Section, Values} from "./types.js" */

/**
 * Returns a section that main.js can start and enter.
 * @param {string} name of the section, of its module, and of its style
 * @param {boolean} [drawn] whether the section stands in index.html already, and style.css has its style
 * @returns {Section}
 */
export function lazy(name, drawn = false) {
  /** @type {Promise<Section> | null} */
  let loading = null;

  function styled() {
    return new Promise((done, failed) => {
      const lost = () => failed(new Error(t("The view could not be loaded.")));
      document.head.append(h("link", { rel: "stylesheet", href: `/page/${name}.css`, onload: done, onerror: lost }));
    });
  }

  /** @param {Go} go @returns {Promise<Section>} */
  async function load(go) {
    const [view] = await Promise.all([import(`/page/${name}.js`), drawn ? null : styled()]);
    if (!drawn) byId(name).replaceChildren();
    view.start(go);
    return view;
  }

  /**
   * Enters the view for the first time, with what was typed, and sent, while its module was on its way.
   * @param {Values} values @param {Go} go
   */
  async function first(values, go) {
    const place = byId(name);
    /** @type {HTMLFormElement | null} */
    let sent = null;
    const early = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (event.target instanceof HTMLFormElement) sent = event.target;
    };
    /** @type {Set<HTMLInputElement>} */
    const typed = new Set();
    const typing = (/** @type {Event} */ event) => event.target instanceof HTMLInputElement && typed.add(event.target);
    place.addEventListener("submit", early);
    place.addEventListener("input", typing);
    try {
      loading = load(go);
      const view = await loading;
      const texts = [...typed].map((one) => ({ one, text: one.value }));
      view.enter(values, go);
      for (const { one, text } of texts) one.value = text;
    } finally {
      place.removeEventListener("submit", early);
      place.removeEventListener("input", typing);
    }
    if (!place.hidden) /** @type {HTMLFormElement | null} */ (sent)?.requestSubmit();
  }

  return {
    start: () => {},
    enter: async (/** @type {Values} */ values, /** @type {Go} */ go) => {
      try {
        if (loading) (await loading).enter(values, go);
        else await first(values, go);
      } catch (error) {
        loading = null;
        byId(drawn ? `${name}-problem` : name).replaceChildren(problemBox(error));
      }
    },
    leave: async () => (await loading?.catch(() => null))?.leave?.(),
  };
}
