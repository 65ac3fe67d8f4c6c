"""Random graph codes for property-based tests."""

from hypothesis import strategies as st

from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.graphcodes.metrics import Ontology

IDS = list("abcdefg")
KINDS = ["a", "b", "k", "l", "m"]
RELATIONS = ["r", "s", "t", "u"]


def told(text: str, *nodes: Node) -> GraphCode:
    """Read "dog bites man, sun" as an edge and a node; `nodes` have labels and types."""
    parts = [part.split() for part in text.split(",") if part]
    names = [p[0] for p in parts if len(p) == 1]
    return GraphCode.of([*nodes, *names], [(p[0], p[1], p[2]) for p in parts if len(p) == 3])


def codes(*, types: bool = True) -> st.SearchStrategy[GraphCode]:
    """Codes of up to seven nodes: empty ones, self-loops, parallel edges and isolated nodes included."""
    kinds = st.frozensets(st.sampled_from(KINDS), max_size=2) if types else st.just(frozenset())
    nodes = st.lists(st.builds(Node, st.sampled_from(IDS), st.just(""), kinds), max_size=6)
    ends = st.sampled_from(IDS)
    edges = st.lists(st.builds(Edge, ends, st.sampled_from(RELATIONS), ends), max_size=10)
    return st.builds(GraphCode.of, nodes, edges)


def ontologies() -> st.SearchStrategy[Ontology]:
    """Small ontologies over the same ids, with cycles at times."""
    kind = st.sampled_from([*KINDS, *RELATIONS])
    return st.builds(Ontology.of, st.lists(st.tuples(kind, kind), max_size=5))
