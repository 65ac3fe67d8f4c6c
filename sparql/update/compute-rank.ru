#+ summary: Have GraphDB compute the RDF rank of all entities.
#+ source: GraphDB's RDF rank, https://graphdb.ontotext.com/documentation/
PREFIX rank: <http://www.ontotext.com/owlim/RDFRank#>
INSERT DATA { _:b rank:compute _:c }
