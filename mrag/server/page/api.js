// The server's JSON API, and the token that it may ask for.

const KEY = "mrag-token";
let memory = null;
let asking = null;

export class ApiError extends Error {
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

export function onTokenWanted(callback) {
  asking = callback;
}

export function setToken(token) {
  memory = token;
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // Storage may be forbidden; the token then lasts as long as the page.
  }
}

function headers(more) {
  let token = memory;
  try {
    token = token || sessionStorage.getItem(KEY);
  } catch {
    // as above
  }
  return token ? { ...more, Authorization: `Bearer ${token}` } : { ...more };
}

export async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer.", "Is it still running? Then try again.", 0);
  }
  if (response.ok) return response;
  let said = null;
  try {
    const text = await response.text();
    try {
      const body = JSON.parse(text);
      // Errors of the endpoints beside /api have their message as text.
      said = typeof body.error === "string" ? { message: body.error, hint: body.hint } : (body.error ?? null);
    } catch {
      said = text && text.length < 2000 && !text.trimStart().startsWith("<") ? { message: text } : null;
    }
  } catch {
    // no body; the status says enough
  }
  if (response.status === 401 && asking) {
    asking();
    throw new ApiError("A token is needed.", "Type it in the field above.", 401);
  }
  throw new ApiError(said?.message || `The server answered ${response.status}.`, said?.hint, response.status);
}

export async function getJson(path, values = {}) {
  const query = new URLSearchParams(values).toString();
  return (await request(query ? `${path}?${query}` : path)).json();
}

export async function postJson(path, body, signal) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  return (await request(path, options)).json();
}

// The classes that were kept from marks; they change while the page is open.
export function keptConcepts() {
  return getJson("/api/concepts");
}

// Calls back with each event of the answer as it arrives.
export async function ask({ question, how, reading, follows, ranker, only }, onEvent, signal) {
  const response = await request("/api/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ question, how, reading, follows, ranker: ranker || undefined, class: only || undefined }),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let whole = false;
  for (;;) {
    const { value, done } = await reader.read();
    rest += value || "";
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      if (event.event === "error") throw new ApiError(event.error.message, event.error.hint, 0);
      whole = whole || event.event === "answer";
      onEvent(event);
    }
    if (done) break;
  }
  if (!whole) throw new ApiError("The answer broke off.", "Ask again.", 0);
}

const kept = new Map();

// One request for what does not change while the page is open.
export function once(path) {
  if (!kept.has(path)) {
    const found = getJson(path);
    kept.set(path, found);
    found.catch(() => kept.delete(path));
  }
  return kept.get(path);
}

// What changed is asked for again.
export function forget(path) {
  kept.delete(path);
}
