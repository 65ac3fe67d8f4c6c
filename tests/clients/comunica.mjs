// Comunica against a server: each scenario is given its ADDRESS.
import assert from "node:assert/strict";
import { QueryEngine } from "@comunica/query-sparql";
import { run } from "./scenarios.mjs";

const PRODUCTS = "PREFIX ex: <https://w3id.org/mrag/demo/products#> ";
let engine, address, SPARQL, described, declared, federated;

function begin(given) {
  address = given;
  engine = new QueryEngine(); // which remembers nothing of the scenario before
  SPARQL = `${address}/sparql`;
  described = { sources: [SPARQL] }; // Comunica finds out what it is
  declared = { sources: [{ type: "sparql", value: SPARQL }] };
  federated = { sources: [...declared.sources, { type: "sparql", value: `${address}/repositories/main` }] };
}

async function values(query, context, name) {
  const rows = await (await engine.queryBindings(query, context)).toArray();
  return rows.map((row) => row.get(name).value);
}

const VENDORS = `${PRODUCTS}SELECT ?vendor { ex:GraphDB ex:developedBy ?vendor }`;
const ALL = `${PRODUCTS}SELECT DISTINCT ?product { ?product ex:developedBy ?v . ?v ex:headquarteredIn ?c } ORDER BY ?product`;

const scenarios = {
  async selecting() {
    for (const context of [described, declared]) {
      assert.deepEqual(await values(VENDORS, context, "vendor"), ["https://w3id.org/mrag/demo/products#Ontotext"]);
      const found = await values(ALL, context, "product");
      assert.ok(found.length > 3 && found.includes("https://w3id.org/mrag/demo/products#GraphDB"));
      assert.deepEqual(await values(`${ALL} LIMIT 2 OFFSET 1`, context, "product"), found.slice(1, 3));
    }
    const odd = 'SELECT ?x { VALUES ?x { "a\\"b" "ü"@de 1.5 <urn:x> } OPTIONAL { ?x a ?t } }';
    assert.deepEqual((await values(odd, declared, "x")).sort(), ['a"b', "urn:x", "ü", "1.5"].sort());
  },

  async federating() {
    const alone = await values(ALL, declared, "product");
    assert.deepEqual(await values(ALL, federated, "product"), alone);
    const service = `${PRODUCTS}SELECT DISTINCT ?vendor ?label { ex:GraphDB ex:developedBy ?vendor
      SERVICE <${SPARQL}> { ?vendor <http://www.w3.org/2000/01/rdf-schema#label> ?label } }`;
    assert.deepEqual(await values(service, federated, "label"), ["Ontotext"]); // Comunica asks both
    await assert.rejects(values(service, declared, "label"), /SERVICE is not allowed/); // the endpoint asks nobody
  },

  async constructing() {
    const query = `${PRODUCTS}CONSTRUCT { ?v ex:develops ?p } { ?p ex:developedBy ?v }`;
    const quads = await (await engine.queryQuads(query, declared)).toArray();
    assert.ok(quads.some((quad) => quad.subject.value.endsWith("#Ontotext") && quad.object.value.endsWith("#GraphDB")));
    assert.equal(await engine.queryBoolean(`${PRODUCTS}ASK { ex:GraphDB ex:developedBy ex:Ontotext }`, described), true);
    assert.equal(await engine.queryBoolean(`${PRODUCTS}ASK { ex:Ontotext ex:developedBy ex:GraphDB }`, described), false);
  },

  async writing_out() {
    for (const media of ["application/sparql-results+json", "text/csv", "text/tab-separated-values"]) {
      const { data } = await engine.resultToString(await engine.query(VENDORS, declared), media);
      let said = "";
      for await (const piece of data) said += piece;
      assert.match(said, /Ontotext/, media);
    }
  },

  async refusing() {
    await assert.rejects(engine.queryVoid("INSERT DATA { <urn:a> <urn:b> <urn:c> }", { ...declared, destination: declared.sources[0] }), /403/);
    const missing = { sources: [{ type: "sparql", value: `${address}/repositories/other` }] };
    await assert.rejects(values(VENDORS, missing, "vendor"), /404/);
  },

  async updating() {
    for (const [number, value] of [SPARQL, `${address}/update`].entries()) {
      const to = { sources: [{ type: "sparql", value: SPARQL }], destination: { type: "sparql", value } };
      const from = { sources: [{ type: "sparql", value: SPARQL }] };
      await engine.queryVoid(`INSERT DATA { <urn:a> <urn:p> "one"@en, ${number} . GRAPH <urn:g> { <urn:b> <urn:p> 2 } }`, to);
      await engine.invalidateHttpCache();
      assert.equal((await values("SELECT ?o { <urn:a> <urn:p> ?o }", from, "o")).length, 2);
      assert.deepEqual(await values("SELECT ?o { GRAPH <urn:g> { ?s ?p ?o } }", from, "o"), ["2"]);
      await engine.queryVoid("DELETE { ?s ?p ?o } INSERT { ?s <urn:was> ?o } WHERE { ?s ?p ?o FILTER isNumeric(?o) }", to);
      await engine.invalidateHttpCache();
      assert.equal(await engine.queryBoolean(`ASK { <urn:a> <urn:was> ${number} }`, from), true);
      await engine.queryVoid("DROP ALL", to);
      await engine.invalidateHttpCache();
      assert.equal(await engine.queryBoolean("ASK { ?s ?p ?o }", from), false);
    }
  },
};

await run(scenarios, begin);
