#+ summary: Take triples out of graphs and put others in, in one transaction.
#+ params: graph_subject_predicate_object rows to take out
#+ params: g_s_p_o rows to put in
# Virtuoso carries the insertion out and then fails at telling so, unless the graph is computed. It overlooks
# texts with languages where VALUES come first and have values of other kinds as well.
DELETE { GRAPH ?graph { ?subject ?predicate ?object } }
WHERE {
  GRAPH ?graph { ?subject ?predicate ?object }
  VALUES (?graph ?subject ?predicate ?object) { (<urn:example:graph> <urn:example:a> <urn:example:b> "c") }  #+ bind: graph subject predicate object
} ;
INSERT { GRAPH ?into { ?s ?p ?o } }
WHERE {
  VALUES (?g ?s ?p ?o) { (<urn:example:graph> <urn:example:a> <urn:example:b> "d") }  #+ bind: g s p o
  BIND(IRI(STR(?g)) AS ?into)
}
