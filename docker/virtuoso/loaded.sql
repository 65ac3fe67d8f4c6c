-- One row: how many files came in without an error (states: 0 to do, 1 at work, 2 done), and what went wrong.
SELECT COUNT(*), MAX(ll_error) FROM DB.DBA.load_list
  WHERE ll_graph = 'https://w3id.org/mrag/demo/products' AND ll_state = 2;
