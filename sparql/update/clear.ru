#+ summary: Remove all triples of a graph.
#+ params: graph iri, the graph
DELETE { GRAPH ?graph { ?s ?p ?o } }
WHERE {
  VALUES ?graph { <urn:mrag:kg:main> }  #+ bind: graph
  GRAPH ?graph { ?s ?p ?o }
}
