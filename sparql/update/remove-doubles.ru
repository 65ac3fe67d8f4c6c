#+ summary: Take out of one graph the triples that another holds too; the smaller is scanned, the other probed.
#+ params: scanned_probed_graph rows of the smaller graph, the larger, and the one of them to take from
DELETE { GRAPH ?graph { ?s ?p ?o } }
WHERE {
  VALUES (?scanned ?probed ?graph) { (<urn:mrag:kg:main:asserted:1> <urn:mrag:kg:main:asserted:0> <urn:mrag:kg:main:asserted:1>) }  #+ bind: scanned probed graph
  GRAPH ?scanned { ?s ?p ?o }
  GRAPH ?probed { ?s ?p ?o }
}
