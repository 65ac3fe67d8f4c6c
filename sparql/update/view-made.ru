#+ summary: Note what the present graph of a view was made from, and forget that of its earlier graphs.
#+ params: kg iri, the knowledge graph of the view
# No prefixes, so that it can follow another update in one request.
#+ params: g_state_part rows of the graph, what it was made from, and the knowledge graph
DELETE { GRAPH <urn:mrag:system> { ?g ?p ?o } }
WHERE {
  VALUES ?kg { <urn:mrag:kg:main> }  #+ bind: kg
  GRAPH <urn:mrag:system> { ?g <http://purl.org/dc/terms/isPartOf> ?kg ; ?p ?o }
} ;
INSERT { GRAPH <urn:mrag:system> { ?g <http://www.w3.org/ns/prov#value> ?state ; <http://purl.org/dc/terms/isPartOf> ?part } }
WHERE {
  VALUES (?g ?state ?part) { (<urn:mrag:kg:main:asserted:1> "from" <urn:mrag:kg:main>) }  #+ bind: g state part
}
