"""Runs of completion: what was read for one question, what became of it, and how that stands in RDF.

A run is a `prov:Activity` in a graph of its own that no question is answered from. Its statements are
described there (`rdf:subject`, `rdf:predicate`, `rdf:object`), not asserted; they enter the graph of
completed triples when the run is accepted (`mrag.completion.writeback.review`).

    <urn:mrag:run:…>        mrag:CompletionRun: question, state, times, model and software
    <urn:mrag:statement:…>  mrag:CompletedStatement: triple, confidence, verdict, objections
    <urn:mrag:quote:…>      the words relied on, prov:wasQuotedFrom a passage or a part of an image
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any, Final, Literal, cast

from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from mrag.completion.plan.patterns import EvidenceRef
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, RDF, RDFS, XSD, Term, Triple
from mrag.stores.base import Dataset

PROV: Final = "http://www.w3.org/ns/prov#"
DCTERMS: Final = "http://purl.org/dc/terms/"
_QUOTED: Final = (PROV + "wasQuotedFrom", PROV + "value", DCTERMS + "type", DCTERMS + "source")
_MODEL: Final = PROV + "wasAssociatedWith"
_BATCH: Final = 200

State = Literal["proposed", "accepted", "rejected", "rolled back"]
"""Where a run stands: only what was accepted, and not rolled back, is in the graph."""

Verdict = Literal["fits", "known", "refused"]
"""What the checks say of a statement: it may be written, it is in the graph already, or it may not."""


@dataclass(frozen=True)
class Statement:
    """One triple of a run.

    Attributes:
        subject: Its subject.
        predicate: Its predicate, a property of the graph.
        object: Its object.
        confidence: From 0 to 1.
        evidence: What it was read in.
        verdict: What the checks say.
        objections: Why it is refused, in words.
    """

    subject: Term
    predicate: Term
    object: Term
    confidence: float = 1.0
    evidence: tuple[EvidenceRef, ...] = ()
    verdict: Verdict = "fits"
    objections: tuple[str, ...] = ()

    @property
    def triple(self) -> Triple:
        """Return the triple alone."""
        return Triple(cast(URIRef, self.subject), cast(URIRef, self.predicate), self.object)

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what statements are sorted by."""
        return written(self.subject), written(self.predicate), written(self.object)


@dataclass(frozen=True)
class Run:
    """What was read for one question.

    Attributes:
        iri: IRI of the run; it follows from question, model and statements, so that the same comes once.
        question: The question.
        state: Where the run stands.
        model: Name of what read the evidence.
        started: When it was proposed, in UTC, as xsd:dateTime writes it.
        decided: When it was accepted, rejected or rolled back; empty before.
        statements: Its statements, sorted.
    """

    iri: str
    question: str
    state: State
    model: str
    started: str
    decided: str = ""
    statements: tuple[Statement, ...] = field(default=())

    @property
    def id(self) -> str:
        """Return the short name by which a person calls the run."""
        return self.iri.removeprefix("urn:mrag:run:")[:12]

    @property
    def fitting(self) -> tuple[Statement, ...]:
        """Return the statements that may be written."""
        return tuple(s for s in self.statements if s.verdict == "fits")

    @property
    def refused(self) -> tuple[Statement, ...]:
        """Return the statements that may not be written."""
        return tuple(s for s in self.statements if s.verdict == "refused")

    def to_json(self) -> dict[str, Any]:
        """Return the run in types that JSON has; terms as N-Triples writes them."""
        return {
            "run": self.iri,
            "id": self.id,
            "question": self.question,
            "state": self.state,
            "model": self.model,
            "started": self.started,
            "decided": self.decided,
            "statements": [
                {
                    "subject": written(s.subject),
                    "predicate": written(s.predicate),
                    "object": written(s.object),
                    "confidence": s.confidence,
                    "verdict": s.verdict,
                    "objections": list(s.objections),
                    "evidence": [asdict(e) for e in s.evidence],
                }
                for s in self.statements
            ],
        }


def runs_graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of runs; it is none of the graphs that questions are answered from.

    A server that reasons itself has all its graphs in sight, so there the descriptions can be seen, but
    what they describe is not asserted there either.
    """
    return (
        f"urn:graph:{kg.name}:runs" if kg.store.capabilities.reasoning else f"urn:mrag:completion:{kg.name}"
    )


def new_run(question: str, model: str, statements: Iterable[Statement]) -> Run:
    """Return a proposed run; its IRI follows from what it says, its time apart.

    Example:
        >>> new_run("Who?", "words", []).iri == new_run("Who?", "words", []).iri
        True
    """
    ordered = tuple(sorted(dict.fromkeys(statements), key=lambda s: s.key))
    parts = [question, model]
    for one in ordered:
        parts += [*one.key, *(f"{e.iri} {e.quote}" for e in one.evidence)]
    if any("\n" in part for part in parts):
        # Joined by line feeds alone, a quote with line feeds could pass for the statements of another run.
        parts = ["", json.dumps(parts)]
    return Run("urn:mrag:run:" + digest(*parts), question, "proposed", model, now(), "", ordered)


def triples_of(kg: KnowledgeGraph, run: Run) -> list[Triple]:
    """Return what a run's description says."""
    node = URIRef(run.iri)
    software = f"mrag {version('mrag')}"
    agents = {
        URIRef("urn:mrag:model:" + digest(run.model)): run.model,
        URIRef("urn:mrag:software:" + digest(software)): software,
    }
    rows: list[tuple[URIRef, str, Term]] = [
        (node, RDF + "type", URIRef(MRAG + "CompletionRun")),
        (node, RDF + "type", URIRef(PROV + "Activity")),
        (node, MRAG + "question", _hidden(run.question)),
        (node, MRAG + "runState", RdfLiteral(run.state)),
        (node, DCTERMS + "isPartOf", URIRef(kg.iri)),
        (node, PROV + "startedAtTime", moment(run.started)),
        (node, PROV + "wasAssociatedWith", next(iter(agents))),
        (node, PROV + "wasInfluencedBy", list(agents)[1]),
    ]
    for agent, name in agents.items():
        rows += [
            (agent, RDF + "type", URIRef(PROV + "SoftwareAgent")),
            (agent, RDFS + "label", RdfLiteral(name)),
        ]
    for one in run.statements:
        statement = URIRef("urn:mrag:statement:" + digest(run.iri, *one.key))
        rows += [
            (statement, RDF + "type", URIRef(MRAG + "CompletedStatement")),
            (statement, RDF + "type", URIRef(PROV + "Entity")),
            (statement, RDF + "subject", one.subject),
            (statement, RDF + "predicate", one.predicate),
            (statement, RDF + "object", one.object),
            (statement, DCTERMS + "identifier", RdfLiteral(key_of(one.triple))),
            (statement, MRAG + "confidence", RdfLiteral(Decimal(f"{one.confidence:.4f}"))),
            (statement, MRAG + "verdict", RdfLiteral(one.verdict)),
            (statement, PROV + "wasGeneratedBy", node),
            (statement, PROV + "generatedAtTime", moment(run.started)),
        ]
        rows += [(statement, MRAG + "objection", _hidden(text)) for text in one.objections]
        for ref in one.evidence:
            quote = URIRef("urn:mrag:quote:" + digest(ref.iri, ref.quote))
            rows += [
                (statement, PROV + "wasDerivedFrom", quote),
                (quote, RDF + "type", URIRef(PROV + "Entity")),
                (quote, PROV + "value", _hidden(ref.quote)),
                (quote, PROV + "wasQuotedFrom", URIRef(ref.iri)),
                (quote, DCTERMS + "type", RdfLiteral(ref.kind)),
                (quote, DCTERMS + "source", _hidden(ref.source)),
            ]
    return [Triple(s, URIRef(p), o) for s, p, o in dict.fromkeys(rows)]


def runs(kg: KnowledgeGraph, *states: State) -> list[Run]:
    """List the runs of a knowledge graph, in order of their time.

    Args:
        kg: The knowledge graph.
        states: Only runs that stand here; all by default.
    """
    return _filled(kg, [run for run in heads(kg) if not states or run.state in states])


def heads(kg: KnowledgeGraph) -> list[Run]:
    """List the runs of a knowledge graph without their statements, in order of their time."""
    said: dict[str, dict[str, str]] = {}
    seen = Dataset((runs_graph(kg),))
    for run, name, value in kg.store.select(queries.get("completion/run-list").text, seen):
        said.setdefault(str(run), {})[str(name)] = str(value)
    agents = sorted({one[_MODEL] for one in said.values() if _MODEL in one})
    names: dict[str, str] = {}
    for start in range(0, len(agents), _BATCH):
        pairs = [(agent, RDFS + "label") for agent in agents[start : start + _BATCH]]
        rows = kg.store.select(queries.get("label/labels").bind(entity_property=pairs), seen)
        names.update((str(agent), str(label)) for agent, _, label in rows)
    found = [
        Run(
            iri,
            one[MRAG + "question"],
            cast(State, one[MRAG + "runState"]),
            names.get(one.get(_MODEL, ""), ""),
            one[PROV + "startedAtTime"],
            one.get(PROV + "endedAtTime", ""),
        )
        for iri, one in said.items()
    ]
    return sorted(found, key=lambda run: (run.started, run.iri))


def find_run(kg: KnowledgeGraph, name: str, state: State | None = None) -> Run:
    """Return the run of an IRI, of the beginning of an id, or `last`.

    Args:
        kg: The knowledge graph.
        name: What the run is called.
        state: `last` is the newest run of this state; of any if left out.

    Raises:
        ConfigError: If there is none, or more than one.
    """
    every = heads(kg)
    short = name.removeprefix("urn:mrag:run:")
    found = [run for run in every if short and run.iri.removeprefix("urn:mrag:run:").startswith(short)]
    if name == "last":
        found = [run for run in every if state in (None, run.state)][-1:]
    if len(found) != 1:
        what = "No run is" if not found else f"{len(found)} runs are"
        raise ConfigError(f"{what} called {name!r}.", hint="`mrag complete review --all` lists the runs.")
    return _filled(kg, found)[0]


def stating(kg: KnowledgeGraph, triples: Sequence[Triple]) -> dict[Triple, dict[str, State]]:
    """Return, for each triple that runs state and do not refuse, those runs with their states."""
    by_key = {key_of(t): t for t in triples}
    found: dict[Triple, dict[str, State]] = {}
    query, keys = queries.get("completion/run-stating"), sorted(by_key)
    for start in range(0, len(keys), _BATCH):
        text = query.bind(key=[RdfLiteral(key) for key in keys[start : start + _BATCH]])
        for key, run, state, verdict in kg.store.select(text, Dataset((runs_graph(kg),))):
            if str(verdict) != "refused":
                found.setdefault(by_key[str(key)], {})[str(run)] = cast(State, str(state))
    return found


def key_of(triple: Triple) -> str:
    """Return the digest of a triple, under which statements of it are found."""
    return digest(*map(written, triple))


def _filled(kg: KnowledgeGraph, heads: Sequence[Run]) -> list[Run]:
    seen = Dataset((runs_graph(kg),))
    stated: dict[str, dict[str, Statement]] = {run.iri: {} for run in heads}
    quotes: dict[str, list[EvidenceRef]] = {}
    for start in range(0, len(heads), _BATCH):
        names = [run.iri for run in heads[start : start + _BATCH]]
        for row in kg.store.select(queries.get("completion/run-statements").bind(run=names), seen):
            iri, statement, s, p, o, confidence, verdict, objection = row
            if s is None or p is None or o is None:
                continue
            one = stated[str(iri)].setdefault(
                str(statement), Statement(s, p, o, float(str(confidence)), (), cast(Verdict, str(verdict)))
            )
            if objection is not None and str(objection) not in one.objections:
                more = (*one.objections, str(objection))
                stated[str(iri)][str(statement)] = replace(one, objections=more)
        parts: dict[tuple[str, str], dict[str, str]] = {}
        for row in kg.store.select(queries.get("completion/run-evidence").bind(run=names), seen):
            node, quote, about, value = map(str, row)
            parts.setdefault((node, quote), {})[about] = value
        for (node, _), said in parts.items():
            if not said.keys() >= set(_QUOTED):
                continue
            place, words, kind, source = (said[name] for name in _QUOTED)
            ref = EvidenceRef(place, words, cast(Any, kind), source)
            if ref not in quotes.setdefault(node, []):
                quotes[node].append(ref)
    done = []
    for run in heads:
        statements = [
            replace(one, evidence=tuple(quotes.get(node, ()))) for node, one in stated[run.iri].items()
        ]
        done.append(replace(run, statements=tuple(sorted(statements, key=lambda s: s.key))))
    return done


def written(term: Term) -> str:
    """Return a term as N-Triples writes it, whether it is well formed or not.

    Example:
        >>> written(URIRef("no iri"))
        '<no iri>'
    """
    return f"<{term}>" if isinstance(term, URIRef) else term.n3()


def now() -> str:
    """Return the present time in UTC, as xsd:dateTime writes it, to two microseconds."""
    time = datetime.now(UTC)
    # Stores drop zeros at the end; an odd last digit keeps all times of one length, and so in order as text.
    return time.replace(microsecond=time.microsecond | 1).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment(text: str) -> RdfLiteral:
    """Return a time as a literal."""
    return RdfLiteral(text, datatype=URIRef(XSD + "dateTime"), normalize=False)


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, in hexadecimal."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def ntriples(triples: Iterable[Triple]) -> bytes:
    """Print triples as N-Triples; every term passes through a class that validates it."""
    return "".join(
        f"{queries.term(t.s)} {queries.term(t.p)} {queries.term(t.o)} .\n" for t in triples
    ).encode()


def _hidden(text: str) -> RdfLiteral:
    # A datatype of its own keeps such texts out of indexes of texts and of labels.
    return RdfLiteral(text, datatype=URIRef(MRAG + "verbatim"))
