// A SELECT query on the server's own endpoint.

import { request } from "./api.js";

/**
 * Returns the rows, each a map of names to terms.
 * @param {string} text
 * @returns {Promise<Record<string, {type: string, value: string}>[]>}
 */
export async function query(text) {
  const response = await request("/sparql", {
    method: "POST",
    headers: { "Content-Type": "application/sparql-query", Accept: "application/sparql-results+json" },
    body: text,
  });
  return (await response.json()).results.bindings;
}
