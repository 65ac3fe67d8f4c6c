"""What servers do in their own way, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from mrag.stores.wire.results import NT


@dataclass(frozen=True)
class Dialect:
    """What a server does in its own way.

    Attributes:
        name: What to call it.
        graph_parameter: Parameter of the graph store protocol that names the graph.
        seconds_parameter: Parameter of a query that bounds its time; None where there is none.
        seconds_unit: How many of its units are a second.
        values: Most rows of a VALUES block.
        chunk: Most triples of one upload; None sends a load as one stream.
        bytes: Bytes of an upload, about, where files are sent as they stand.
        unnamed: IRI of the triples outside of named graphs; "" where nothing but the default graph shows
            them, which may show the named graphs too; None where there are none.
        union: IRI of the union of the named graphs.
        system_graphs: Starts of the names of graphs that belong to the server.
        empty_pattern: Whether `GRAPH ?g {}` lists the graphs, which is fast.
        nt: Media type in which triples are sent and asked for: N-Triples, or Turtle with one triple a line.
        by_form: Whether a query may be asked for the media type of its own form alone.
    """

    name: str = "SPARQL endpoint"
    graph_parameter: str = "graph"
    seconds_parameter: str | None = None
    seconds_unit: float = 1.0
    values: int = 500
    chunk: int | None = None
    bytes: int = 1 << 20
    unnamed: str | None = ""
    union: str = ""
    system_graphs: tuple[str, ...] = ()
    empty_pattern: bool = True
    nt: str = NT
    by_form: bool = False


@dataclass(frozen=True)
class Paths:
    """URLs of a server's services, which may hold logins.

    Attributes:
        query: Where queries go.
        update: Where updates go; None where nothing is written.
        graphs: The graph store (SPARQL 1.1 Graph Store HTTP Protocol); None where there is none.
    """

    query: str = field(repr=False)
    update: str | None = field(default=None, repr=False)
    graphs: str | None = field(default=None, repr=False)
