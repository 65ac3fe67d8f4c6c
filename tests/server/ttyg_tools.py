"""Graphwise's `ttyg` tools against a server of `mrag`; run by a Python 3.12 that has `ttyg`.

Usage: `python ttyg_tools.py http://127.0.0.1:7333`, with the demo graph served there. Prints one line of
JSON: what each tool gave. It imports nothing of `mrag`.
"""

import json
import sys

CLASSES = (
    "PREFIX owl: <http://www.w3.org/2002/07/owl#> CONSTRUCT { ?s ?p ?o } WHERE { ?s a owl:Class ; ?p ?o }"
)


def main(url: str) -> None:
    """Run the tools that need no further plugin of GraphDB."""
    from ttyg.graphdb import GraphDB
    from ttyg.tools import graphdb_tools as tools

    with GraphDB(url) as graph:
        at = {"graph": graph, "graphdb_repository_id": "main"}
        query = tools.SparqlQueryTool(**at)
        schema = tools.OntologySchemaAndVocabularyTool(**at, ontology_schema_query=CLASSES)
        search = tools.SimilaritySearchQueryTool(
            **at, index_name="main", similarity_score_threshold=0.0, limit=3
        )
        rows = json.loads(query.run("SELECT ?x { ?x a ex:SemanticProduct } ORDER BY ?x"))
        found = {
            "version": graph.version, "health": graph.health("main").status_code,
            "index": graph.similarity_index_exists("main", "main"),
            "products": [row["x"]["value"] for row in rows["results"]["bindings"]], "schema": schema.run({}),
            "similar": search.run("a database for RDF with reasoning"),
        }  # fmt: skip
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
