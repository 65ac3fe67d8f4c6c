#+ summary: Replace all that the system graph says of a knowledge graph, in one transaction.
#+ params: kg iri, the knowledge graph
#+ params: p_o rows of property and value
PREFIX mrag: <https://w3id.org/mrag#>
DELETE { GRAPH <urn:mrag:system> { ?kg ?oldp ?oldo } }
INSERT { GRAPH <urn:mrag:system> { ?kg ?p ?o } }
WHERE {
  VALUES ?kg { <urn:mrag:kg:main> }  #+ bind: kg
  {
    GRAPH <urn:mrag:system> { ?kg ?oldp ?oldo }
  } UNION {
    VALUES (?p ?o) { (mrag:revision 0) }  #+ bind: p o
  }
}
