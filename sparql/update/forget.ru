#+ summary: Remove all that the system graph says of a knowledge graph.
#+ params: kg iri, the knowledge graph
DELETE { GRAPH <urn:mrag:system> { ?kg ?p ?o } }
WHERE {
  VALUES ?kg { <urn:mrag:kg:main> }  #+ bind: kg
  GRAPH <urn:mrag:system> { ?kg ?p ?o }
}
