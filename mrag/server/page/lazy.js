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

  return {
    start: () => {},
    enter: async (/** @type {Values} */ values, /** @type {Go} */ go) => {
      loading = loading || load(go);
      try {
        (await loading).enter(values, go);
      } catch (error) {
        loading = null;
        byId(drawn ? `${name}-problem` : name).replaceChildren(problemBox(error));
      }
    },
    leave: async () => (await loading?.catch(() => null))?.leave?.(),
  };
}
