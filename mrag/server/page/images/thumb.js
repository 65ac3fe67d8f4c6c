// Small pictures of images: fetched when they come into view, since an image element cannot carry the token.

import { request } from "../api.js";
import { h } from "../dom.js";

const KEPT = 300;
/** @type {Map<string, string>} addresses of pictures that were fetched, the one used last at the end */
const kept = new Map();
/** @type {WeakMap<Element, () => void>} */
const wanted = new WeakMap();
const watching = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watching.unobserve(target);
    wanted.get(target)?.();
  }
}, { rootMargin: "200px" });

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<string>} */
async function fetched(path, signal) {
  const known = kept.get(path);
  if (known) {
    kept.delete(path);
    kept.set(path, known);
    return known;
  }
  const blob = await (await request(path, { signal })).blob();
  const address = URL.createObjectURL(blob);
  kept.set(path, address);
  for (const [old, given] of kept) {
    if (kept.size <= KEPT) break;
    kept.delete(old);
    URL.revokeObjectURL(given);
  }
  return address;
}

/**
 * Returns a frame that shows an image when it comes into view, or the name of its file if it cannot be had.
 * @param {{iri: string, label: string, file: string, there: boolean}} image
 * @param {number} [side] of the picture, in pixels
 * @param {AbortSignal} [signal] ends the request
 */
export function thumb(image, side = 240, signal = undefined) {
  const shown = h("img", { alt: "", decoding: "async" });
  const frame = h("span", { class: "thumb" }, shown);
  if (!image.there) {
    shown.replaceWith(h("span", { class: "lost" }, image.file));
    return frame;
  }
  wanted.set(frame, async () => {
    try {
      shown.src = await fetched(`/api/images/thumbnail?${new URLSearchParams({ iri: image.iri, side: String(side) })}`, signal);
    } catch {
      if (!signal?.aborted) shown.replaceWith(h("span", { class: "lost" }, image.file));
    }
  });
  watching.observe(frame);
  return frame;
}
