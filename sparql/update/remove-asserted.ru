#+ summary: Take out of the inferred graphs what has now been asserted, so that no triple stands twice.
#+ params: inferred iris of the inferred graphs
#+ params: added iris of the graphs of newly asserted triples
DELETE { GRAPH ?inferred { ?s ?p ?o } }
WHERE {
  VALUES ?added { <urn:mrag:kg:main:added:1> }  #+ bind: added
  GRAPH ?added { ?s ?p ?o }
  VALUES ?inferred { <urn:mrag:kg:main:inferred:1> }  #+ bind: inferred
  GRAPH ?inferred { ?s ?p ?o }
}
