"""How terms are shown to people and models: labels first, then CURIEs, anonymous nodes in words."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Final, TypeAlias

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag import untrusted
from mrag._tables import tables
from mrag.context.neighbourhood import in_passes, keep, labels, read, reader_of
from mrag.context.render import Context, Line
from mrag.graph.kg import KnowledgeGraph
from mrag.language.names import iri_words, local_words
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, SKOLEM, XSD, OxTerm, Triple, curie, is_allowed_tag, to_ox
from mrag.stores.base import Dataset

WORDS: Final = tables("context/words.toml")
VOCABULARY: dict[str, str] = WORDS["vocabulary"]
"""Words for terms of the common vocabularies, which no graph labels."""

_DEPTH = 4
_QUOTED = "urn:rdf4j:triple:"
_First: TypeAlias = Callable[[str], OxTerm | None]
_Show: TypeAlias = Callable[[OxTerm], str]
_RELATION = 16
_KEYS = frozenset("no nr num nbr number id identifier code key".split())
"""How properties are called that say by which number or code a record goes."""


class Display:
    """Shows the terms of one knowledge graph; labels of a batch are read together.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> show = Display(KnowledgeGraph(OxigraphStore()))
        >>> show.predicate("http://example.org/eyeColor"), show.predicate(RDF + "type")
        ('eye color', 'is a')
        >>> show.entity("http://www.w3.org/2004/02/skos/core#Concept")
        'Concept'
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg

    def prepare(self, iris: Iterable[str]) -> None:
        """Read at once what the names of many entities are made of."""
        named = [str(i) for i in iris]
        if self.kg.store.capabilities.edges:
            self.kg.labels(named)
        else:
            in_passes(self.kg, lambda: [self.entity(i) for i in named])

    def entity(self, iri: str) -> str:
        """Return the label of an entity, else words: of a common vocabulary, of its IRI, or its CURIE."""
        iri = str(iri)  # an rdflib URIRef is not equal to the string it is
        if label := labels(self.kg, [iri])[iri]:
            return label
        if iri.startswith(SKOLEM):
            return self.anonymous(iri)
        if iri.startswith(_QUOTED):
            return self._quoted(iri)
        if (kind := self.kind_and_key(iri)) is not None:
            return " ".join(kind)
        return VOCABULARY.get(iri) or self.relation(iri) or iri_words(iri) or curie(iri, self.kg.prefixes)

    def _quoted(self, iri: str) -> str:
        """Return a triple inside a triple in words, of which GraphDB and RDF4J give an IRI."""
        code = iri.removeprefix(_QUOTED)
        with suppress(ValueError, SyntaxError):
            text = b64decode(code + "=" * (-len(code) % 4), b"-_", validate=True).decode()
            [(s, p, o, _)] = ox.parse(f"{text[2:-2]} .", ox.RdfFormat.N_TRIPLES)
            return f"({self.term(s)}, {self.predicate(p.value)}, {self.term(o)})"
        return "a triple"

    def kind_and_key(self, iri: str) -> tuple[str, str] | None:
        """Return the kind of a thing without a name, and the number or code in its IRI that it goes by."""
        if iri in VOCABULARY or not iri[-1:].isdigit() or iri.startswith(SKOLEM):
            return None
        reader = reader_of(self.kg)
        if reader is not None and not reader.is_nameless(iri):
            return None
        return keep(self.kg, "keys", iri, lambda: self._key(iri))

    def _key(self, iri: str) -> tuple[str, str] | None:
        if labels(self.kg, [iri])[iri]:
            return None
        statements = read(self.kg, iri, "out", scan=_RELATION, share=_RELATION).statements
        kinds = [o.value for _, p, o, _g in statements if p == RDF + "type" and isinstance(o, ox.NamedNode)]
        for _, p, o, _g in sorted(statements, key=lambda x: (x[1], str(x[2]))):
            called = (local_words(re.split(r"[#/:]", p)[-1]) or "").split(" ")[-1]
            if not (isinstance(o, ox.Literal) and kinds and called.lower() in _KEYS):
                continue
            if iri.endswith(o.value) and not iri[: -len(o.value)][-1:].isalnum():
                return labels(self.kg, kinds[:1])[kinds[0]] or self.predicate(kinds[0]), o.value
        return None

    def relation(self, iri: str) -> str | None:
        """Put an entity without a name that relates others in words, as `film role (Ann, director)`.

        None of one that has a name, that relates fewer than two, that holds much else, or that holds texts
        alone and whose IRI is made of words.
        """
        reader = reader_of(self.kg)
        if reader is not None and not reader.is_nameless(iri):
            return None
        return keep(self.kg, "relations", iri, lambda: self._relate(iri))

    def _relate(self, iri: str) -> str | None:
        if labels(self.kg, [iri])[iri] or iri in VOCABULARY:
            return None
        kind, parts, linked = "", [], False
        statements = read(self.kg, iri, "out", scan=_RELATION, share=_RELATION).statements
        if not 2 < len(statements) <= _RELATION:
            return None
        ends = sorted({o.value for *_, o, _g in statements if isinstance(o, ox.NamedNode)})
        names = labels(self.kg, ends)
        for _, p, o, _graph in sorted(statements, key=lambda x: (x[1], str(x[2]))):
            if isinstance(o, ox.NamedNode) and o.value != iri:
                if p == RDF + "type":
                    kind = kind or names[o.value] or self.predicate(o.value)
                elif label := names[o.value]:
                    parts.append(label)
                    linked = True
            elif isinstance(o, ox.Literal) and o.datatype.value == XSD + "string" and len(o.value) < 40:
                parts.append(" ".join(o.value.split()))
        # Texts alone may be anything that is said of a thing, whose IRI tells more of it then.
        if len(parts) < 2 or not (linked or iri_words(iri) is None):
            return None
        return f"{kind or 'relation'} ({', '.join(parts[:4])})"

    def predicate(self, iri: str) -> str:
        """Return words for a predicate: its label, else those its local name is made of.

        A local name such as `P31` says nothing and stays a CURIE.
        """
        iri = str(iri)
        label = VOCABULARY.get(iri) or labels(self.kg, [iri])[iri]
        return label or local_words(re.split(r"[#/:]", iri)[-1]) or curie(iri, self.kg.prefixes)

    def name(self, iri: str) -> str:
        """Return the name of a predicate that the graph uses, or of an entity."""
        return self.predicate(iri) if self.kg.profile().predicates.get(iri) else self.entity(iri)

    def term(self, term: OxTerm, max_chars: int = 400) -> str:
        """Return an object: label of an entity, text of a literal in quotes, number as it is.

        Args:
            term: The object.
            max_chars: Characters of a text after which it is cut.
        """
        if isinstance(term, ox.NamedNode):
            return self.entity(term.value)
        if isinstance(term, ox.BlankNode):
            return "something"
        text = " ".join(term.value.split())
        text = text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"
        bare = term.datatype.value.startswith(XSD) and term.datatype.value != XSD + "string"
        return text if bare else f'"{text}"'

    def anonymous(self, iri: str, depth: int = 0) -> str:
        """Put an anonymous node in words: a class expression, a list, or what is said of it."""
        if depth:
            return self._describe(iri, depth)
        return keep(self.kg, "anonymous", iri, lambda: in_passes(self.kg, lambda: self._describe(iri, 0)))

    def _describe(self, iri: str, depth: int) -> str:
        if depth > _DEPTH:
            return "something"
        facts: dict[str, list[OxTerm]] = {}
        for _, p, o, _graph in read(self.kg, iri, "out", scan=64, share=16).statements:
            facts.setdefault(p, []).append(o)

        def show(term: OxTerm) -> str:
            if isinstance(term, ox.NamedNode) and term.value.startswith(SKOLEM):
                return labels(self.kg, [term.value])[term.value] or self.anonymous(term.value, depth + 1)
            return self.term(term, 120)

        def first(name: str) -> OxTerm | None:
            return min(facts.get(name, []), key=str, default=None)

        for key, opening, between in WORDS["combinations"]:
            if (members := first(OWL + key)) is not None:
                return f"{opening}({between.join(self._list(members, show))})"
        if (other := first(OWL + "complementOf")) is not None:
            return f"not {show(other)}"
        if (role := first(OWL + "onProperty")) is not None:
            return self._restriction(role, first, show)
        if (inverse := first(OWL + "inverseOf")) is not None:
            name = self.predicate(inverse.value) if isinstance(inverse, ox.NamedNode) else "something"
            return f"inverse of {name}"
        if first(RDF + "first") is not None:
            return f"({', '.join(self._list(ox.NamedNode(iri), show))})"
        said = [
            f"{self.predicate(p)} {show(o)}"
            for p in sorted(facts)
            if p != RDF + "type"
            for o in sorted(facts[p], key=str)[:3]
        ]
        return f"[{'; '.join(said[:6])}]" if said else "something"

    def _restriction(self, role: OxTerm, first: _First, show: _Show) -> str:
        name = self.predicate(role.value) if isinstance(role, ox.NamedNode) else "something"
        if isinstance(role, ox.NamedNode) and role.value.startswith(SKOLEM):
            name = show(role)
        for key, word in WORDS["restrictions"]:
            if (value := first(OWL + key)) is not None:
                kind = first(OWL + "onClass")
                return f"{name} {word} {show(value)}" + (f" {show(kind)}" if kind is not None else "")
        return name

    def _list(self, head: OxTerm, show: _Show) -> list[str]:
        items: list[str] = []
        seen: set[str] = set()
        while isinstance(head, ox.NamedNode) and head.value != RDF + "nil" and head.value not in seen:
            seen.add(head.value)
            rest: OxTerm | None = None
            for _, p, o, _graph in read(self.kg, head.value, "out", scan=16, share=4).statements:
                if p == RDF + "first":
                    items.append(show(o))
                elif p == RDF + "rest":
                    rest = o
            if rest is None:
                break
            head = rest
        return items


_BATCH = 500
_SHOWN = 3


def named_graphs(kg: KnowledgeGraph, triples: Sequence[Triple]) -> list[tuple[str, ...]]:
    """Return for each triple the IRIs of the named graphs that state it, in order."""
    record = kg.record
    if not record.contexts:
        return [()] * len(triples)
    if (reader := reader_of(kg)) is not None:
        return reader.graphs(triples)
    names: defaultdict[int, list[str]] = defaultdict(list)
    rows = [(Literal(at), *triple) for at, triple in enumerate(triples)]
    for text in queries.get("context/graphs-of").batches("n_s_p_o", rows):
        for n, graph in kg.store.select(text, Dataset(record.contexts, record.contexts)):
            names[int(str(n))].append(str(graph))
    return [tuple(sorted(names[at])) for at in range(len(triples))]


def is_written(kg: KnowledgeGraph, triple: Triple) -> bool:
    """Return whether a triple can be looked for by a row of a query.

    A tag that BCP 47 does not allow may be in the data and cannot be written in a query.
    """
    tag, rows_may = getattr(triple.o, "language", None), kg.store.capabilities.tagged_rows
    return not tag or (rows_may and is_allowed_tag(tag))


def holding(kg: KnowledgeGraph, graph: str, triples: Iterable[Triple]) -> set[Triple]:
    """Return those of some triples that are in a graph of a store."""
    every, dataset = list(dict.fromkeys(triples)), Dataset((graph,), kg.dataset().named)
    tagged = [t for t in every if not is_written(kg, t)]
    whole = [t for t in every if t not in {*tagged}]
    held: set[Triple] = set()
    # By number, because Virtuoso gives some numbers in another datatype than was asked for.
    rows = [(Literal(n), *triple) for n, triple in enumerate(whole)]
    for text in queries.get("completion/holds").batches("n_s_p_o", rows, limit=_BATCH):
        held |= {whole[int(str(number))] for number, *_ in kg.store.select(text, dataset)}
    pairs = [(Literal(n), *pair) for n, pair in enumerate(dict.fromkeys((t.s, t.p) for t in tagged))]
    for text in queries.get("completion/objects").batches("n_s_p", pairs):
        held |= {Triple(s, p, o) for _, s, p, o in kg.store.select(text, dataset)} & {*tagged}  # type: ignore[arg-type]  # all are bound
    return held


def graph_words(display: Display, graphs: Sequence[str]) -> tuple[str, ...]:
    """Return what a line of context says of the named graphs of its triple: nothing if there are none."""
    if not graphs:
        return ()
    names = [display.entity(graph) for graph in graphs[:_SHOWN]]
    more = f" and {len(graphs) - _SHOWN} more" if len(graphs) > _SHOWN else ""
    return (f"in graph {' and '.join(names)}{more}",)


def lines_of(kg: KnowledgeGraph, several: Sequence[Sequence[Triple]], most: int) -> list[Context]:
    """Return those of some triples that are in the graph as lines, for each of several sequences.

    The triples of all together are looked for at once.
    """
    return in_passes(kg, lambda: _lines_of(kg, several, most))


def _lines_of(kg: KnowledgeGraph, several: Sequence[Sequence[Triple]], most: int) -> list[Context]:
    homes = _homes(kg, (triple for triples in several for triple in triples))
    kept = [[t for t in triples if t in homes][:most] for triples in several]
    every = list(dict.fromkeys(t for triples in kept for t in triples))
    display = Display(kg)
    display.prepare(str(term) for t in every for term in (t.s, t.o) if isinstance(term, URIRef))
    made = {}
    for triple, own in zip(every, named_graphs(kg, every), strict=True):
        graph, inferred = homes[triple]
        shown = (display.entity(triple.s), display.predicate(triple.p), display.term(to_ox(triple.o)))
        text = untrusted.fact((*shown, *graph_words(display, own)))
        made[triple] = Line("t1", text, triple, graph, inferred, shown, str(triple.s), named=own)
    contexts = []
    for triples in kept:
        lines = [replace(made[triple], id=f"t{number}") for number, triple in enumerate(triples, start=1)]
        contexts.append(Context(tuple(lines), tuple(dict.fromkeys(line.entity for line in lines))))
    return contexts


def _homes(kg: KnowledgeGraph, triples: Iterable[Triple]) -> dict[Triple, tuple[str, bool]]:
    """Return the graph of each triple and whether it is one of inferred triples; asserted ones first."""
    layers = [(g, False) for g in kg.dataset("asserted").default]
    layers += [(g, True) for g in kg.dataset("inferred").default]
    left = dict.fromkeys(islice(triples, _BATCH))
    homes: dict[Triple, tuple[str, bool]] = {}
    reader = reader_of(kg)
    known = {} if reader is None else reader.homes([t for t in left if is_written(kg, t)])
    for graph, inferred in layers:
        if left:
            there = {triple for triple in left if graph in known.get(triple, ())}
            there |= holding(kg, graph, [triple for triple in left if triple not in known])
            homes |= {triple: (graph, inferred) for triple in left if triple in there}
            left = {triple: None for triple in left if triple not in there}
    return homes
