// Ontotext's JavaScript driver against a server: each scenario is given its ADDRESS, and maybe a TOKEN.
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import graphdb from "graphdb";
import { run } from "./scenarios.mjs";

const { GetQueryPayload, QueryType, UpdateQueryPayload } = graphdb.query;
const { AddStatementPayload, GetStatementsPayload, RDFRepositoryClient, RepositoryClientConfig } = graphdb.repository;
const { GraphDBServerClient, ServerClientConfig } = graphdb.server;
const { QueryContentType, RDFMimeType } = graphdb.http;
const { NQuadsParser, SparqlJsonResultParser, SparqlXmlResultParser } = graphdb.parser;

let address, token;
const JSON_ROWS = RDFMimeType.SPARQL_RESULTS_JSON;
const ONE = "http://example.org/g1";
const TWO = "http://example.org/g2";

function server() {
  return new GraphDBServerClient(new ServerClientConfig(address));
}

function repositoryConfig() {
  return new RepositoryClientConfig(address)
    .setEndpoints([`${address}/repositories/main`])
    .setHeaders({ Accept: JSON_ROWS })
    .setReadTimeout(30_000)
    .setWriteTimeout(30_000);
}

function reading(client) {
  for (const Parser of [NQuadsParser, SparqlJsonResultParser, SparqlXmlResultParser]) client.registerParser(new Parser());
  return client;
}

async function connect() {
  return reading(await server().getRepository("main", repositoryConfig()));
}

function select(query, type = QueryType.SELECT, media = JSON_ROWS) {
  return new GetQueryPayload().setQuery(query).setQueryType(type).setResponseType(media);
}

async function rows(client, payload) {
  const found = [];
  for await (const row of await client.query(payload)) found.push(row);
  return found;
}

async function values(client, payload, name = "o") {
  return (await rows(client, payload)).map((row) => row[name].value);
}

const update = (query) => new UpdateQueryPayload().setQuery(query);

const refused = (status, words) => (error) => {
  assert.equal(error.response?.status, status, String(error));
  if (words) assert.match(JSON.stringify(error.response.data), words);
  return true;
};

async function filled() {
  const client = await connect();
  await client.update(update("INSERT DATA { <urn:a> <urn:p> 1, 2, 3 . <urn:b> <urn:p> 4 }"));
  return client;
}

const NUMBERS = "SELECT ?s ?o { ?s <urn:p> ?o } ORDER BY ?o";

const scenarios = {
  async connecting() {
    assert.deepEqual(await server().getRepositoryIDs(), ["main"]);
    assert.equal(await server().hasRepository("main"), true);
    await assert.rejects(server().getRepository("other", repositoryConfig()), /does not exist/);
    const config = (await server().getRepositoryConfig("main")).getData();
    assert.equal(config.id, "main");
    const turtle = await text(await server().downloadRepositoryConfig("main"));
    assert.match(turtle, /repositoryID "main"/);
    assert.equal((await server().isSecurityEnabled()).getData(), false);
    assert.equal((await server().getFreeAccess()).getData().enabled, false);
    await assert.rejects(server().deleteRepository("main"), refused(403, /mrag command/));
  },

  async selecting() {
    const client = await filled();
    assert.deepEqual(await values(client, select(NUMBERS)), ["1", "2", "3", "4"]);
    assert.deepEqual(await values(client, select(NUMBERS).setLimit(2)), ["1", "2"]);
    assert.deepEqual(await values(client, select(NUMBERS).setLimit(2).setOffset(1)), ["2", "3"]);
    assert.deepEqual(await values(client, select(NUMBERS).setLimit(0)), []);
    assert.deepEqual(await values(client, select(NUMBERS).setOffset(3).setInference(false).setTimeout(20)), ["4"]);
    const given = select(NUMBERS).addBinding("$s", "<urn:a>").setOffset(1);
    assert.deepEqual(await values(client, given), ["2", "3"]);
    assert.deepEqual(await values(client, select(NUMBERS).addBinding("$o", `"4"^^<http://www.w3.org/2001/XMLSchema#integer>`), "s"), ["urn:b"]);
    const body = select(NUMBERS).setContentType(QueryContentType.SPARQL_QUERY).setLimit(1);
    assert.deepEqual(await values(client, body), ["1"]);
    const repeated = select("SELECT ?s { ?s <urn:p> ?o } ORDER BY ?s");
    assert.equal((await rows(client, repeated)).length, 4);
    assert.deepEqual(await values(client, repeated.setDistinct(true), "s"), ["urn:a", "urn:b"]);
    const xml = await values(client, select(NUMBERS, QueryType.SELECT, RDFMimeType.SPARQL_RESULTS_XML));
    assert.deepEqual(xml, ["1", "2", "3", "4"]);
    for (const media of [RDFMimeType.SPARQL_STAR_RESULTS_JSON, RDFMimeType.SPARQL_STAR_RESULTS_TSV]) {
      assert.match(await text(await client.query(select(NUMBERS, QueryType.SELECT, media))), /urn:b/);
    }
  },

  async asking() {
    const client = await filled();
    assert.equal(await client.query(select("ASK { ?s <urn:p> 4 }", QueryType.ASK)), true);
    const given = select("ASK { ?s <urn:p> 4 }", QueryType.ASK).addBinding("$s", "<urn:a>");
    assert.equal(await client.query(given), false);
    const plain = select("ASK { ?s <urn:p> 4 }", QueryType.ASK, RDFMimeType.BOOLEAN_RESULT);
    assert.equal(await text(await client.query(plain)), "true");
  },

  async constructing() {
    const client = await filled();
    const query = "CONSTRUCT { ?s <urn:q> ?o } { ?s <urn:p> ?o } ORDER BY ?o";
    const triples = (media) => select(query, QueryType.CONSTRUCT, media);
    const quads = (await text(await client.query(triples(RDFMimeType.N_TRIPLES)))).trim().split("\n");
    assert.equal(quads.length, 4);
    const one = triples(RDFMimeType.N_TRIPLES).setLimit(1).setOffset(1);
    assert.match(await text(await client.query(one)), /^<urn:a> <urn:q> "?2/);
    for (const media of ["TURTLE", "TURTLE_STAR", "N3", "JSON_LD", "RDF_XML", "TRIG", "TRIG_STAR", "RDF_JSON"]) {
      assert.match(await text(await client.query(triples(RDFMimeType[media]))), /urn:a/, media);
    }
    const told = select("DESCRIBE <urn:b>", QueryType.DESCRIBE, RDFMimeType.N_TRIPLES);
    assert.match(await text(await client.query(told)), /^<urn:b> <urn:p>/);
  },

  async adding() {
    const client = await connect();
    const add = () => new AddStatementPayload().setSubject("urn:a").setPredicate("urn:p");
    await client.add(add().setObject("urn:b"));
    await client.add(add().setObject("Apfel").setLanguage("de").setContext(ONE));
    await client.add(add().setObject("7").setDataType("http://www.w3.org/2001/XMLSchema#integer").setContext([ONE, TWO]));
    assert.deepEqual([await client.getSize(), await client.getSize(ONE), await client.getSize([ONE, TWO])].map(Number), [4, 2, 3]);
    await client.upload(Readable.from(["<c> <urn:p> 'stream' ."]), RDFMimeType.TURTLE, TWO, "<http://example.org/>");
    const read = new GetStatementsPayload().setResponseType(RDFMimeType.N_QUADS).setContext(TWO).setSubject("http://example.org/c");
    assert.deepEqual((await client.get(read)).map((quad) => [quad.object.value, quad.graph.value]), [["stream", TWO]]);
    await client.overwrite(Readable.from(["<urn:a> <urn:p> <urn:only> ."]), RDFMimeType.TURTLE, TWO);
    assert.equal(Number(await client.getSize(TWO)), 1);
    await client.putQuads(await client.get(new GetStatementsPayload().setResponseType(RDFMimeType.N_QUADS).setContext(ONE)), ONE);
    assert.equal(Number(await client.getSize()), 4);
    const all = (await client.get(new GetStatementsPayload())); // in RDF/JSON, the driver's own choice
    assert.deepEqual(all["urn:a"]["urn:p"].map((object) => object.value).sort(), ["7", "Apfel", "urn:b", "urn:only"]);
    const apple = { value: "Apfel", type: "literal", lang: "de" };
    assert.deepEqual(all["urn:a"]["urn:p"].find((object) => object.lang), apple);
    const down = await text(await client.download(new GetStatementsPayload().setResponseType(RDFMimeType.TRIG)));
    assert.match(down, /example.org\/g1/);
  },

  async deleting() {
    const client = await filled();
    await client.add(new AddStatementPayload().setSubject("urn:a").setPredicate("urn:p").setObject("urn:x").setContext(ONE));
    await client.deleteStatements("urn:a", "urn:p", `"1"^^<http://www.w3.org/2001/XMLSchema#integer>`);
    assert.equal(Number(await client.getSize()), 4);
    await client.deleteStatements(null, null, null, [ONE]);
    assert.deepEqual(await values(client, select(NUMBERS)), ["2", "3", "4"]);
    await client.deleteStatements("urn:a");
    assert.deepEqual(await values(client, select(NUMBERS)), ["4"]);
    await client.deleteAllStatements();
    assert.equal(Number(await client.getSize()), 0);
  },

  async updating() {
    const client = await filled();
    await client.add(new AddStatementPayload().setSubject("urn:a").setPredicate("urn:p").setObject("urn:x").setContext(ONE));
    const copy = "INSERT { ?s <urn:copy> ?o } WHERE { ?s <urn:p> ?o }";
    await client.update(update(copy).setDefaultGraphs(ONE).setContentType(QueryContentType.X_WWW_FORM_URLENCODED));
    assert.deepEqual(await values(client, select("SELECT ?o { ?s <urn:copy> ?o }")), ["urn:x"]);
    const form = () => update("INSERT DATA { <urn:n> <urn:p> 5 }").setContentType(QueryContentType.X_WWW_FORM_URLENCODED);
    await assert.rejects(client.update(form().setInsertGraphs(TWO)), refused(400, /insert-graph-uri/));
    await assert.rejects(client.update(form().setRemoveGraphs(TWO)), refused(400, /remove-graph-uri/));
    assert.equal(Number(await client.getSize()), 6);
  },

  async transactions() {
    const client = await filled();
    const kept = reading(await client.beginTransaction());
    assert.deepEqual((await values(kept, select(NUMBERS).setLimit(1).setOffset(1))), ["2"]);
    assert.deepEqual((await values(kept, select(NUMBERS).addBinding("$s", "<urn:b>"))), ["4"]);
    assert.equal(Number(await kept.getSize()), 4);
    await kept.update(update("INSERT DATA { <urn:c> <urn:p> 5 }"));
    await kept.add(new AddStatementPayload().setSubject("urn:c").setPredicate("urn:p").setObject("urn:x").setContext(ONE));
    await kept.upload(Readable.from(["<urn:c> <urn:p> 6 ."]), RDFMimeType.TURTLE);
    await kept.deleteData("<urn:b> <urn:p> 4 .");
    assert.deepEqual(await values(client, select(NUMBERS)), ["1", "2", "3", "4"]);
    await assert.rejects(rows(kept, select(NUMBERS)), refused(400));
    await kept.commit();
    assert.equal(kept.isActive(), false);
    assert.deepEqual((await values(client, select("SELECT ?o { ?s <urn:p> ?o FILTER isLiteral(?o) } ORDER BY ?o"))), ["1", "2", "3", "5", "6"]);
    assert.equal(Number(await client.getSize(ONE)), 1);
    const left = await client.beginTransaction();
    await left.update(update("DROP ALL"));
    await left.rollback();
    assert.equal(Number(await client.getSize()), 6);
    assert.equal(left.isActive(), false);
  },

  async namespaces() {
    const client = await connect();
    await client.saveNamespace("zoo", "http://example.org/zoo#");
    assert.equal((await client.getNamespace("zoo")).value, "http://example.org/zoo#");
    const all = await client.getNamespaces();
    assert.deepEqual(all.filter((n) => n.getPrefix() === "zoo").map((n) => n.getNamespace().value), ["http://example.org/zoo#"]);
    assert.equal(await client.query(select("ASK { FILTER(STR(zoo:a) = 'http://example.org/zoo#a') }", QueryType.ASK)), true);
    await client.deleteNamespace("zoo");
    await assert.rejects(client.getNamespace("zoo"), refused(404));
    await client.saveNamespace("zoo", "http://example.org/zoo#");
    await client.deleteNamespaces();
    await assert.rejects(client.getNamespace("zoo"), refused(404));
  },

  async errors() {
    const client = await connect();
    const wrong = new UpdateQueryPayload().setQuery("INSERT DATA { nonsense");
    await assert.rejects(client.update(wrong), refused(400, /line 1/));
    await assert.rejects(client.query(select("SELECT ?s { ?s nonsense")), refused(400));
    await assert.rejects(client.upload(Readable.from(["<urn:a> <urn:b>"]), RDFMimeType.TURTLE), refused(400));
    await assert.rejects(client.upload(Readable.from(["x"]), "text/html"), refused(415));
    await assert.rejects(client.get(new GetStatementsPayload().setSubject("<no iri>")), refused(400));
    await assert.rejects(client.saveNamespace("rdf", "http://example.org/"), refused(403));
    const trix = select("CONSTRUCT WHERE { ?s ?p ?o }", QueryType.CONSTRUCT, RDFMimeType.TRIX);
    await assert.rejects(client.query(trix), refused(406));
    const other = new RDFRepositoryClient(repositoryConfig().setEndpoints([`${address}/repositories/other`]));
    await assert.rejects(other.getSize(), refused(404, /called 'main'/));
  },

  async logging_in() {
    const known = () => repositoryConfig();
    for (const config of [known().useGdbTokenAuthentication("anyone", token), known().useBasicAuthentication("anyone", token)]) {
      const client = new RDFRepositoryClient(config);
      assert.equal(Number(await client.getSize()), 0);
      const open = await client.beginTransaction();
      await open.rollback();
    }
    const nobody = repositoryConfig().setKeepAlive(false); // else the driver asks again for ever
    await assert.rejects(new RDFRepositoryClient(nobody).getSize(), refused(401));
    const wrong = repositoryConfig().useGdbTokenAuthentication("anyone", "wrong").setKeepAlive(false);
    await assert.rejects(new RDFRepositoryClient(wrong).getSize(), refused(401));
  },
};

await run(scenarios, (...given) => ([address, token] = given));
