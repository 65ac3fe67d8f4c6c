-- Loads products.ttl of the folder that is given as the first argument, anew each time.
DELETE FROM DB.DBA.load_list WHERE ll_graph = 'https://w3id.org/mrag/demo/products';
SPARQL CLEAR GRAPH <https://w3id.org/mrag/demo/products>;
ld_dir('$ARGV[$I]', 'products.ttl', 'https://w3id.org/mrag/demo/products');
rdf_loader_run();
checkpoint;
