#+ summary: Take some triples out of a graph, so that one too large for a single transaction can be removed.
#+ params: graph iri of the graph
#+ params: limit most of them
DELETE { GRAPH ?graph { ?s ?p ?o } }
WHERE {
  {
    SELECT ?graph ?s ?p ?o
    WHERE {
      VALUES ?graph { <urn:mrag:kg:main:asserted:1> }  #+ bind: graph
      GRAPH ?graph { ?s ?p ?o }
    }
    LIMIT 100000  #+ bind: limit
  }
}
