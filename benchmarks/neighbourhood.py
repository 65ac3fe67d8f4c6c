"""One-hop context with labels of ten entities on a large graph, beside one query for it.

python benchmarks/neighbourhood.py [--scale 1.0]
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import pyoxigraph as ox
from common import percentile, row, timed
from fashion import BASE, CATEGORIES, IMAGES, write_graph

import mrag
from mrag.context.display import Display
from mrag.context.neighbourhood import read
from mrag.rdf import queries

ONE_QUERY = """
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?s ?p ?o ?label WHERE {
  VALUES ?e { <urn:e> }  #+ bind: e
  { BIND(?e AS ?s) ?e ?p ?o . OPTIONAL { ?o rdfs:label ?label } }
  UNION
  { BIND(?e AS ?o) ?s ?p ?e . OPTIONAL { ?s rdfs:label ?label } }
}
"""


def main() -> None:
    """Print the times of both ways and of hub entities."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--rounds", type=int, default=100)
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "fashion.nt"
        print(f"{write_graph(source, args.scale):,} triples")
        with mrag.connect(f"oxigraph:{Path(folder) / 'kg'}") as kg:
            kg.load([source])
            print(f"profile, once {timed(kg.profile):.0f} ms")
            rng = random.Random(7)
            images = int(IMAGES * args.scale)
            batches = [
                [f"{BASE}image_{rng.randrange(images)}" for _ in range(10)] for _ in range(args.rounds)
            ]
            hubs = [[f"{BASE}category_{rng.randrange(CATEGORIES)}" for _ in range(10)] for _ in range(20)]
            query = queries.parse("one", ONE_QUERY)

            def by_one_query(entities: list[str]) -> None:
                kg.select(query.bind(e=entities))

            def by_edges(entities: list[str]) -> None:
                ends: set[str] = set()
                for entity in entities:
                    for direction in ("out", "in"):
                        for s, p, o, _ in read(kg, entity, direction, scan=48, share=10).statements:
                            ends.update((s, p))
                            if isinstance(o, ox.NamedNode):
                                ends.add(o.value)
                Display(kg).prepare(sorted(ends))

            def context(entities: list[str]) -> None:
                mrag.expand(kg, [(e, 1.0) for e in entities])

            for warm in batches[:5]:
                by_one_query(warm), by_edges(warm)
            theirs, ours, whole = list[float](), list[float](), list[float]()
            # Labels that earlier batches read stay known, as they do in use; the images are new each time.
            for batch in batches:
                theirs.append(timed(lambda: by_one_query(batch)))  # noqa: B023
                ours.append(timed(lambda: by_edges(batch)))  # noqa: B023
                kg._labels.clear()
                whole.append(timed(lambda: context(batch)))  # noqa: B023
            of_hubs = [timed(lambda batch=batch: by_edges(batch)) for batch in hubs]  # type: ignore[misc]
            whole_hubs = [timed(lambda batch=batch: context(batch)) for batch in hubs]  # type: ignore[misc]
            print(row("one query, labels by OPTIONAL", theirs))
            print(row("mrag: edges and labels, as in use", ours))
            print(row("mrag: whole context, no label cached", whole))
            print(row("mrag: ten hubs", of_hubs))
            print(row("mrag: whole context of ten hubs", whole_hubs))
            ratio = percentile(theirs, 50) / percentile(ours, 50)
            hub = percentile(of_hubs, 50) / percentile(ours, 50)
            print(f"ratio {ratio:.1f}; goal 2 {'met' if ratio >= 2 else 'MISSED'}")
            print(f"hubs against median {hub:.1f}; goal <= 5 {'met' if hub <= 5 else 'MISSED'}")


if __name__ == "__main__":
    main()
