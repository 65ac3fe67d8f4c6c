"""Graph objects of `langchain-community` over a knowledge graph, for chains written against that package.

Its text-to-SPARQL chains take an `OntotextGraphDBGraph` or an `RdfGraph`. The functions here make objects of
these very classes whose rdflib store is the read gate of `mrag`: what a chain's model writes is parsed,
refused when it updates or calls out, and bounded, as by `KnowledgeGraph.query`.

`langchain-community` is being sunset, so nothing else in this package depends on it, and it is imported when
one of these functions is called. Needs the extra `community`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, cast

from rdflib import RDF, RDFS, Graph, Literal, URIRef, Variable
from rdflib.query import Result
from rdflib.store import Store

from mrag import untrusted
from mrag.context.display import Display
from mrag.errors import ConfigError, QueryRefused
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.rdf import queries
from mrag.rdf.terms import OWL, SKOLEM, Triple
from mrag.stores.base import Limits, SelectResult

_TELLING = {str(name) for name in (RDF.type, RDFS.label, RDFS.comment, RDFS.seeAlso)}
"""Terms of RDF itself that say something of an entity; the others only spell axioms out."""

_LESS = re.compile(r"<(?!\\)")
_OFF = "<\\\\"


def graphdb_graph(
    kg: KnowledgeGraph,
    *,
    ontology: str | None = None,
    limits: Limits | None = None,
    layer: Layer = "all",
    most: int = 200,
) -> Any:
    """Make an `OntotextGraphDBGraph`, as `OntotextGraphDBQAChain` takes it.

    Args:
        kg: The knowledge graph, in any store.
        ontology: A CONSTRUCT query of the schema statements. By default they are what the graph says of its
            classes and properties, and which are in use.
        limits: Caps of each query; those of `KnowledgeGraph.query` by default.
        layer: The triples that queries see.
        most: Most classes and most properties of the default schema, the most frequent first.

    Returns:
        A `langchain_community.graphs.OntotextGraphDBGraph` with the schema in Turtle.

    Raises:
        ConfigError: If `langchain-community` is not installed, or `ontology` is no CONSTRUCT query.
        QueryRefused: If the read gate refuses `ontology`.
    """
    made = _blank("ontotext_graphdb_graph", "OntotextGraphDBGraph")
    made.graph = Graph(GatedStore(kg, limits, layer), bind_namespaces="none")
    if ontology:
        found = kg.query(ontology, limits=limits)
        if isinstance(found, bool | SelectResult):
            raise ConfigError("The query of the ontology is no CONSTRUCT query.", query=ontology)
        schema = _fill(found, kg.prefixes)
    else:
        schema = _ontology(kg, limits, most)
    made.schema = _for_prompt(schema).serialize(format="turtle")
    return made


def rdf_graph(
    kg: KnowledgeGraph, *, limits: Limits | None = None, layer: Layer = "all", most: int = 200
) -> Any:
    """Make an `RdfGraph`, as `GraphSparqlQAChain` takes it; its `update` is refused.

    Args:
        kg: The knowledge graph, in any store.
        limits: Caps of each query; those of `KnowledgeGraph.query` by default.
        layer: The triples that queries see.
        most: Most classes and most properties in its schema, the most frequent first.

    Returns:
        A `langchain_community.graphs.RdfGraph` with the schema in the words its chain expects.

    Raises:
        ConfigError: If `langchain-community` is not installed.
    """
    made = _blank("rdf_graph", "RdfGraph")
    made.source_file = made.query_endpoint = made.update_endpoint = made.local_copy = None
    made.serialization, made.standard, made.mode = "ttl", "rdf", "store"
    made.graph = Graph(GatedStore(kg, limits, layer), bind_namespaces="none")
    made.schema = _words(kg, limits, most)
    return made


class GatedStore(Store):
    """An rdflib store that answers SPARQL queries through the read gate, and nothing else.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> graph = Graph(GatedStore(kg), bind_namespaces="none")
        >>> bool(graph.query("ASK { ex:GraphDB a ex:SemanticProduct }"))
        True
        >>> graph.update("DROP ALL")
        Traceback (most recent call last):
        mrag.errors.QueryRefused: This graph is read only...
        >>> kg.close()
    """

    def __init__(self, kg: KnowledgeGraph, limits: Limits | None = None, layer: Layer = "all") -> None:
        super().__init__()
        self._kg, self._limits, self._layer = kg, limits, layer

    def query(
        self,
        query: object,
        initNs: Mapping[str, Any],
        initBindings: Mapping[str, Any],
        queryGraph: str,
        **kwargs: Any,
    ) -> Result:
        """Answer a query of any read form, given as text, within its caps."""
        if not isinstance(query, str) or initBindings:
            # Falling back on rdflib's own engine would pass by the gate.
            raise QueryRefused("Only the text of a query is answered.", hint="Bind values by VALUES.")
        found = self._kg.query(query, limits=self._limits, layer=self._layer)
        if isinstance(found, bool):
            result = Result("ASK")
            result.askAnswer = found
        elif isinstance(found, SelectResult):
            result = Result("SELECT")
            result.vars = [Variable(name) for name in found.variables]
            result.bindings = [{Variable(v): t for v, t in binding.items()} for binding in found.bindings()]
        else:
            result = Result("CONSTRUCT")
            result.graph = _fill(found)
        return result

    def _refuse(self, *args: Any, **kwargs: Any) -> None:
        raise QueryRefused(
            "This graph is read only.", hint="Change the graph by KnowledgeGraph.load or insert."
        )

    update = add = remove = _refuse

    def triples(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Refuse to be read pattern by pattern, which nothing would bound."""
        raise QueryRefused("This graph is read by SPARQL alone.", hint="Use its `query`.")

    def __len__(self, context: Any = None) -> int:
        return self._kg.count(self._layer)


def _blank(module: str, name: str) -> Any:
    """Make an object of one of the package's classes without its initialiser, which opens a URL or a file."""
    if find_spec("langchain_community") is None:
        raise ConfigError("This needs the package langchain-community.", hint="pip install 'mrag[community]'")
    kind = getattr(import_module(f"langchain_community.graphs.{module}"), name)
    return kind.__new__(kind)


def _ontology(kg: KnowledgeGraph, limits: Limits | None, most: int) -> Graph:
    """Return what the graph says of its classes and properties, each text in the best language only."""
    rows = kg.query(queries.get("explore/ontology").text, limits=limits, layer="asserted")
    said: dict[tuple[str, str], list[Triple]] = {}
    for triple in (Triple(*cast(Any, row)) for row in cast(SelectResult, rows)):
        if not str(triple.s).startswith(SKOLEM) and not str(triple.o).startswith(SKOLEM):
            said.setdefault((str(triple.s), str(triple.p)), []).append(triple)
    triples = [triple for group in said.values() for triple in _best(kg, group)]
    # Whatever has instances is a class, and whatever relates is a property (RDF Schema 1.1, 3.1 and 5.1.2).
    for query, kind in (("explore/classes", RDFS.Class), ("explore/predicates", RDF.Property)):
        used = _use(kg, query, limits, most)
        triples += [Triple(name, RDF.type, kind) for name in used if (str(name), str(RDF.type)) not in said]
    return _fill(triples, kg.prefixes)


def _best(kg: KnowledgeGraph, group: list[Triple]) -> list[Triple]:
    tagged = {t.o.language for t in group if isinstance(t.o, Literal) and t.o.language}
    best = min(tagged, key=lambda tag: (kg.language_rank(tag), tag), default=None)
    return [t for t in group if not (isinstance(t.o, Literal) and t.o.language) or t.o.language == best]


def _use(kg: KnowledgeGraph, query: str, limits: Limits | None, most: int) -> list[URIRef]:
    found = cast(SelectResult, kg.query(queries.get(query).text, limits=limits))
    names = (
        name
        for name, _ in found
        if isinstance(name, URIRef)
        and (str(name) in _TELLING or not str(name).startswith((SKOLEM, OWL, str(RDF), str(RDFS))))
    )
    return list(islice(names, most))


def _words(kg: KnowledgeGraph, limits: Limits | None, most: int) -> str:
    """Describe classes and properties by IRI and label, each kind in a line of its own."""
    display = Display(kg)
    classes = _use(kg, "explore/classes", limits, most)
    properties = _use(kg, "explore/predicates", limits, most)
    display.prepare(map(str, (*classes, *properties)))
    return (
        "Each IRI is followed by its label in parentheses.\n"
        "The RDF graph has these node types:\n"
        f"{', '.join(_call(c, display.entity(c)) for c in classes)}\n"
        "The RDF graph has these relationships:\n"
        f"{', '.join(_call(p, display.predicate(p)) for p in properties)}\n"
    )


def _call(iri: URIRef, label: str) -> str:
    """Write an IRI with its label, in which no other IRI stands."""
    name, label = untrusted.one_line(f"<{iri}>"), untrusted.one_line(label)
    return f"{name} ({label if label == name else _LESS.sub(_OFF, label)})"


def _for_prompt(graph: Graph) -> Graph:
    """Return a schema whose texts are each in one line, and hold no tags or control tokens."""
    made = Graph(bind_namespaces="none")
    for prefix, namespace in graph.namespaces():
        made.bind(prefix, namespace)
    for s, p, o in graph:
        if isinstance(o, Literal):
            o = Literal(untrusted.one_line(o), o.language, o.datatype, normalize=False)
        made.add((s, p, o))
    return made


def _fill(triples: Iterable[Triple], prefixes: Mapping[str, str] | None = None) -> Graph:
    graph = Graph(bind_namespaces="none")
    for prefix, namespace in sorted((prefixes or {}).items()):
        graph.bind(prefix, namespace)
    for triple in triples:
        graph.add(triple)
    return graph
