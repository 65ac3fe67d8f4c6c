// Images that the graph names. Those of the server are shown; those on the web are links, because the
// page itself asks no other server for anything.

import { request } from "./api.js";
import { entityLink, h } from "./dom.js";
import { t } from "./language.js";

/** @import {NamedImage} from "./types.js" */

/** @param {NamedImage[]} images */
export function imageStrip(images) {
  return images.map((image) => {
    const caption = h("figcaption", {}, entityLink(image.entity, image.label));
    if (image.src) {
      const shown = h("img", { alt: t("Image of {label}", { label: image.label }), loading: "lazy" });
      // Fetched, not linked, because an image element cannot carry the token.
      request(image.src)
        .then((response) => response.blob())
        .then((blob) => (shown.src = URL.createObjectURL(blob)))
        .catch(() => shown.replaceWith(h("span", { class: "placeholder" }, image.name)));
      return h("figure", {}, shown, caption);
    }
    if (image.link) {
      const link = h(
        "a",
        { class: "placeholder", href: image.link, target: "_blank", rel: "noopener noreferrer", title: image.link },
        h("span", { class: "frame", "aria-hidden": "true" }, "▨"),
        h("span", { class: "file" }, image.name),
        h("span", { class: "outside" }, t("opens on the web ↗")),
      );
      return h("figure", {}, link, caption);
    }
    return h("figure", {}, h("span", { class: "placeholder" }, h("span", { class: "file" }, image.name), h("span", { class: "outside" }, t("not in the media folder"))), caption);
  });
}
