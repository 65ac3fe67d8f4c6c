// The server's JSON API, and the token that it may ask for.

import { t } from "./language.js";

/** @import {AnswerEvent, Asked, Follows, KeptConcepts} from "./types.js" */

const KEY = "mrag-token";

/** Where the graph of this page is: `/`, or `/kg/NAME/` where a server has several. */
export const ROOT = location.pathname.replace(/[^/]*$/, "");

/** @type {string | null} */
let memory = null;
/** @type {(() => void) | null} */
let asking = null;

export class ApiError extends Error {
  /** @param {string} message @param {string | null | undefined} hint @param {number} status of HTTP; 0 where there was no answer */
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

/** @param {() => void} callback */
export function onTokenWanted(callback) {
  asking = callback;
}

/** @param {string} token */
export function setToken(token) {
  memory = token;
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // Storage may be forbidden; the token then lasts as long as the page.
  }
}

/** @param {HeadersInit} [more] @returns {HeadersInit} */
function headers(more) {
  let token = memory;
  try {
    token = token || sessionStorage.getItem(KEY);
  } catch {
    // as above
  }
  const all = new Headers(more);
  if (token) all.set("Authorization", `Bearer ${token}`);
  return all;
}

/** @param {string} path as of a server with one graph @param {RequestInit} [options] */
export async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(ROOT + path.slice(1), { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(t("The server does not answer."), t("Is it still running? Then try again."), 0);
  }
  if (response.ok) return response;
  /** @type {{message?: string, hint?: string} | null} */
  let said = null;
  try {
    const text = await response.text();
    try {
      const body = JSON.parse(text);
      said = { message: body.error, hint: body.hint };
    } catch {
      said = text && text.length < 2000 && !text.trimStart().startsWith("<") ? { message: text } : null;
    }
  } catch {
    // no body; the status says enough
  }
  if (response.status === 401 && asking) {
    asking();
    throw new ApiError(t("A token is needed."), t("Type it in the field above."), 401);
  }
  throw new ApiError(said?.message || t("The server answered {status}.", { status: response.status }), said?.hint, response.status);
}

/**
 * Returns what the API answers; the caller says what that is.
 * @param {string} path
 * @param {Record<string, string>} [values]
 * @returns {Promise<any>}
 */
export async function getJson(path, values = {}) {
  const query = new URLSearchParams(values).toString();
  return (await request(query ? `${path}?${query}` : path)).json();
}

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] @returns {Promise<any>} as `getJson` */
export async function postJson(path, body, signal) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  return (await request(path, options)).json();
}

// The classes that were kept from marks; they change while the page is open.
/** @returns {Promise<KeptConcepts>} */
export function keptConcepts() {
  return getJson("/api/concepts");
}

/**
 * Calls back with each event of the answer as it arrives.
 * @param {Asked & {follows?: Follows}} asked
 * @param {(event: AnswerEvent) => void} onEvent
 * @param {AbortSignal} signal
 */
export async function ask({ question, how, reading, follows, ranker, only }, onEvent, signal) {
  const response = await request("/api/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question, how, reading: reading || undefined, follows, ranker: ranker || undefined, class: only || undefined }),
    signal,
  });
  if (!response.body) throw new ApiError(t("The answer broke off."), t("Ask again."), 0);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let whole = false;
  for (;;) {
    const { value, done } = await reader.read();
    rest += value || "";
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      if (event.event === "error") throw new ApiError(event.error.message, event.error.hint, 0);
      whole = whole || event.event === "answer";
      onEvent(event);
    }
    if (done) break;
  }
  if (!whole) throw new ApiError(t("The answer broke off."), t("Ask again."), 0);
}

/** @type {Map<string, Promise<any>>} */
const kept = new Map();

// One request for what does not change while the page is open.
/** @param {string} path @returns {Promise<any>} as `getJson` */
export function once(path) {
  const known = kept.get(path);
  if (known) return known;
  const found = getJson(path);
  kept.set(path, found);
  found.catch(() => kept.delete(path));
  return found;
}

// What changed is asked for again.
/** @param {string} path */
export function forget(path) {
  kept.delete(path);
}
