#+ summary: Replace all that the system graph says of a knowledge graph, in one transaction.
#+ params: kg iri, the knowledge graph
#+ params: g_p_o rows of the knowledge graph, property and value
PREFIX mrag: <https://w3id.org/mrag#>
DELETE { GRAPH <urn:mrag:system> { ?kg ?p ?o } }
WHERE {
  VALUES ?kg { <urn:mrag:kg:main> }  #+ bind: kg
  GRAPH <urn:mrag:system> { ?kg ?p ?o }
} ;
INSERT { GRAPH <urn:mrag:system> { ?g ?p ?o } }
WHERE {
  VALUES (?g ?p ?o) { (<urn:mrag:kg:main> mrag:revision 0) }  #+ bind: g p o
}
