"""Answers are checked against a graph: its triples, names and graphs are looked up, and it is asked again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from rdflib import URIRef

from mrag import __version__
from mrag.context.display import Display, holding, named_graphs, said_in
from mrag.context.render import Line
from mrag.errors import ModelError, MragError
from mrag.generation.receipts import ENVELOPE, THEN, KeyStore, opened, receipt, with_receipt
from mrag.generation.result import Answer, context_from_json
from mrag.generation.verification import VerifyReport
from mrag.generation.verification import verify as checked
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS, status_of
from mrag.images.graph import file_names, names_of
from mrag.rdf import queries
from mrag.rdf.terms import Term, Triple
from mrag.retrieval.claims import StoreFacts
from mrag.retrieval.recomputing import Retrieve, answered_again
from mrag.stores.base import Dataset

_NAMES = (*LABELS, "http://www.w3.org/2004/02/skos/core#altLabel")
_BATCH: Final = 400
_LAYER = re.compile(r"(asserted|inferred|completed|enriched):(\d+)\Z")


def verified(
    kg: KnowledgeGraph, given: Answer | Mapping[str, Any], retrieve: Retrieve, keys: KeyStore | None = None
) -> VerifyReport:
    """Check an answer or a receipt against a graph.

    Args:
        kg: The graph.
        given: The answer, its JSON form, or its receipt.
        retrieve: Returns what the answer to a question is read in.
        keys: The keys that are trusted; those of this installation by default.

    Raises:
        ModelError: If it is neither.
    """
    try:
        return _verified(kg, given, retrieve, keys)
    except (RecursionError, OverflowError) as error:
        raise ModelError(
            "Not the JSON form of an answer.", hint="A value is too large or too deep."
        ) from error


def _verified(
    kg: KnowledgeGraph, given: Answer | Mapping[str, Any], retrieve: Retrieve, keys: KeyStore | None
) -> VerifyReport:
    receipt = None if isinstance(given, Answer) else opened(given)
    value = given if isinstance(given, Answer) else given if receipt is None else receipt.answer
    looked = GraphLookup(kg, value.context.lines if isinstance(value, Answer) else _lines(value))
    report = checked(
        value, looked.holds, looked.names, graphs=looked.wrong_graph, said=looked.said,
        recompute=lambda answer: answered_again(kg, answer, retrieve), facts=StoreFacts(kg),
    )  # fmt: skip
    if receipt is None:
        return report
    return with_receipt(report, receipt, lambda: (keys or KeyStore()).trusted(), kg.iri)


def receipt_of(
    kg: KnowledgeGraph, given: Mapping[str, Any], report: VerifyReport, keys: KeyStore | None = None
) -> dict[str, Any]:
    """Return the receipt of an answer that was checked now, signed if this installation has a key.

    Args:
        kg: The graph.
        given: The JSON form of the answer, or an earlier receipt of it.
        report: What the check said.
        keys: The keys; those of this installation by default.

    Raises:
        ModelError: If it is no answer.
        ConfigError: If the key cannot be used.
    """
    before = opened(given)
    answer, report = (given, report) if before is None else (before.answer, _own(report))
    now = datetime.now(UTC).replace(microsecond=0)
    return receipt(
        answer, report, source=kg.iri, revision=kg.revision, version=__version__, at=now,
        key=(keys or KeyStore()).own(),
    )  # fmt: skip


def _own(report: VerifyReport) -> VerifyReport:
    """Return a report without what is vouched for by others: whoever signs it vouches for his own part."""
    parts = (p if p.state == "recomputed" else replace(p, state="not checked", note="") for p in report.parts)
    return replace(report, parts=tuple(p for p in parts if p.name not in (ENVELOPE, THEN)))


def _lines(value: Mapping[str, Any]) -> tuple[Line, ...]:
    try:
        return context_from_json(value["context"]).lines
    except (KeyError, TypeError, MragError):
        return ()  # the check itself says what is wrong


class GraphLookup:
    """What a graph has of the lines of an answer, looked up for all at once.

    Args:
        kg: The graph.
        lines: The lines.
    """

    def __init__(self, kg: KnowledgeGraph, lines: Sequence[Line]) -> None:
        self._kg, self._display = kg, Display(kg)
        self._of_server = kg.as_found or kg.store.capabilities.reasoning
        triples = list(dict.fromkeys(line.triple for line in lines))
        self._homes = _homes(kg, triples)
        self._named = dict(zip(triples, named_graphs(kg, triples), strict=True))
        iris = sorted({str(t) for triple in triples for t in triple if isinstance(t, URIRef)})
        self._display.prepare(iris)
        self._labels = _labels(kg, iris)
        images = sorted({iri.partition("#xywh=")[0] for iri in iris})
        self._files = names_of(kg, images, file_names(kg, None, images))

    def holds(self, triple: Triple, graph: str) -> bool:
        """Return whether a triple is in the graph."""
        return bool(self._homes.get(triple))

    def names(self, term: Term) -> Collection[str]:
        """Return every name that the graph has for a term."""
        if not isinstance(term, URIRef):
            return [str(term), "something"]
        iri = str(term)
        image, _, part = iri.partition("#xywh=")
        shown = {self._display.entity(iri), self._display.predicate(iri), *self._labels.get(iri, ())}
        called = self._files.get(image, image)
        return shown | ({f"{called} (xywh={part})"} if part else {called} - {image})

    def said(self, graphs: Sequence[str]) -> Sequence[str]:
        """Return what a line says of the named graphs of its triple."""
        try:
            return said_in(self._display, graphs)
        except ValueError:
            return ("in no graph",)  # its IRI is none

    def wrong_graph(self, line: Line) -> str:
        """Return what is wrong with where a line says that its triple stands, "" if nothing is."""
        homes = self._homes.get(line.triple, set())
        if not homes:
            return ""
        if line.named != self._named.get(line.triple, ()):
            return f"its triple is not stated in the named graphs {', '.join(line.named) or 'that it names'}"
        marks = {status_of(g, inferred=self._kg.is_inferred(g)) for g in homes}
        status = status_of(line.graph, inferred=line.inferred)
        if not line.graph and self._of_server:
            right = status in marks  # it tells its layer alone
        elif line.graph in homes:
            right = line.inferred == self._kg.is_inferred(line.graph)
        else:
            right = self._was(line, homes) or self._is_of_store(line)
        if right:
            return ""
        if status in marks:
            return f"its triple is not in the graph {line.graph}"
        return f"it is marked {status}, but the graph has it as {' and '.join(sorted(marks))}"

    def _was(self, line: Line, homes: Iterable[str]) -> bool:
        """Return whether a line is of an earlier round of the layer that has its triple now."""
        then = _LAYER.fullmatch(line.graph.removeprefix(f"{self._kg.iri}:"))
        rounds = (_LAYER.fullmatch(home.removeprefix(f"{self._kg.iri}:")) for home in homes)
        return (
            then is not None
            and line.graph.startswith(f"{self._kg.iri}:")
            and line.inferred == (then[1] == "inferred")
            and any(now is not None and now[1] == then[1] and int(now[2]) > int(then[2]) for now in rounds)
        )

    def _is_of_store(self, line: Line) -> bool:
        """Return whether a server's own graph has the triple of a line."""
        if not self._of_server:
            return False
        asks = queries.get("context/holds").bind(s_p_o=[tuple(line.triple)])
        try:
            return self._kg.store.ask(asks, Dataset((line.graph,)))
        except MragError:
            return False


def _homes(kg: KnowledgeGraph, triples: Sequence[Triple]) -> dict[Triple, set[str]]:
    """Return the graphs that have each of some triples."""
    found: dict[Triple, set[str]] = {}
    for graph in kg.dataset().default:
        for triple in holding(kg, graph, triples):
            found.setdefault(triple, set()).add(graph)
    return found


def _labels(kg: KnowledgeGraph, iris: Sequence[str]) -> dict[str, set[str]]:
    """Return every label of some entities, in every language."""
    found: dict[str, set[str]] = {}
    pairs = [(URIRef(iri), p) for iri in iris for p in _NAMES]
    for start in range(0, len(pairs), _BATCH):
        rows = kg.select(queries.get("label/labels").bind(entity_property=pairs[start : start + _BATCH]))
        for entity, _, label in rows:
            found.setdefault(str(entity), set()).add(str(label))
    return found
