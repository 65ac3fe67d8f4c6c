// An entity as a file.

import { once } from "../api.js";
import { downloads } from "../query/results.js";

/** @import {About} from "../types.js" */

const ABOUT = "CONSTRUCT { $entity ?p ?o . ?s ?q $entity } WHERE { { $entity ?p ?o } UNION { ?s ?q $entity } }";

/** Buttons that download what the graph says of an entity. @param {string} iri */
export async function files(iri) {
  /** @type {About} */
  const { name } = await once("/api/about");
  return downloads(false, (accept) => {
    const body = new URLSearchParams({ query: ABOUT, $entity: `<${iri}>` });
    return [`/repositories/${encodeURIComponent(name)}`, { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: accept }, body }];
  });
}
