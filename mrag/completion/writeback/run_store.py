"""Runs of completion as a store keeps them: described in a graph of their own, and read back.

Statements are described there (`rdf:subject`, `rdf:predicate`, `rdf:object`), not asserted.

    <urn:mrag:run:…>        mrag:CompletionRun: question, state, times, model and software
    <urn:mrag:statement:…>  mrag:CompletedStatement: triple, confidence, verdict, objections
    <urn:mrag:quote:…>      the words relied on, prov:wasQuotedFrom a passage or a part of an image
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from importlib.metadata import version
from typing import Any, Final, cast

from rdflib import Literal as RdfLiteral
from rdflib import URIRef

from mrag.completion.writeback import kept_checks
from mrag.completion.writeback.runs import CompletionRun, State, Statement, Verdict, digest
from mrag.errors import ConfigError
from mrag.generation.found import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, RDF, RDFS, XSD, Quad, Term, Triple, ntriples_terms
from mrag.stores.base import Dataset

PROV: Final = "http://www.w3.org/ns/prov#"
DCTERMS: Final = "http://purl.org/dc/terms/"
_QUOTED: Final = (PROV + "wasQuotedFrom", PROV + "value", DCTERMS + "type", DCTERMS + "source")
_MODEL: Final = PROV + "wasAssociatedWith"
_CHECKS: Final = MRAG + "checks"
_GRAPH: Final = MRAG + "writesTo"
_BATCH: Final = 200


def runs_graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of runs; it is none of the graphs that questions are answered from.

    A server that reasons itself has all its graphs in sight, so there the descriptions can be seen, but
    what they describe is not asserted there either.
    """
    return f"urn:graph:{kg.name}:runs" if kg.store.capabilities.reasoning else kg.beside[0]


def triples_of(kg: KnowledgeGraph, run: CompletionRun) -> list[Triple]:
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
        (node, PROV + "startedAtTime", datetime_literal(run.started)),
        (node, PROV + "wasAssociatedWith", next(iter(agents))),
        (node, PROV + "wasInfluencedBy", list(agents)[1]),
        (node, _CHECKS, _hidden(kept_checks.written(run.checks))),
    ]
    if run.decided:
        rows.append((node, PROV + "endedAtTime", datetime_literal(run.decided)))
    if run.graph:
        rows.append((node, _GRAPH, URIRef(run.graph)))
    for agent, name in agents.items():
        rows += [
            (agent, RDF + "type", URIRef(PROV + "SoftwareAgent")),
            (agent, RDFS + "label", RdfLiteral(name)),
        ]
    for one in run.statements:
        # A store may spell a value in another way than it was given: a kept statement has its own name.
        statement = URIRef(one.iri or "urn:mrag:statement:" + digest(run.iri, *one.key))
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
            (statement, PROV + "generatedAtTime", datetime_literal(run.started)),
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


def changes(kg: KnowledgeGraph, before: CompletionRun, after: CompletionRun) -> tuple[list[Quad], list[Quad]]:
    """Return what goes out of the description of a run and what comes into it, where the run has changed."""
    graph = URIRef(runs_graph(kg))
    old, new = triples_of(kg, before), triples_of(kg, after)
    out, into = [t for t in old if t not in set(new)], [t for t in new if t not in set(old)]
    return [(graph, *t) for t in out], [(graph, *t) for t in into]


def list_runs(kg: KnowledgeGraph, *states: State) -> list[CompletionRun]:
    """List the runs of a knowledge graph, in order of their time.

    Args:
        kg: The knowledge graph.
        states: Only runs that stand here; all by default.
    """
    return _filled(kg, [run for run in run_heads(kg) if not states or run.state in states])


def run_heads(kg: KnowledgeGraph) -> list[CompletionRun]:
    """List the runs of a knowledge graph without their statements, in order of their time."""
    said: dict[str, dict[str, str]] = {}
    seen = Dataset((runs_graph(kg),))
    for run, name, value in kg.store.select(queries.get("completion/run-list").text, seen):
        said.setdefault(str(run), {})[str(name)] = str(value)
    agents = sorted({one[_MODEL] for one in said.values() if _MODEL in one})
    names: dict[str, str] = {}
    pairs = [(agent, RDFS + "label") for agent in agents]
    for text in queries.get("label/labels").batches("entity_property", pairs, _BATCH):
        names.update((str(agent), str(label)) for agent, _, label in kg.store.select(text, seen))
    found = [
        CompletionRun(
            iri,
            one[MRAG + "question"],
            cast(State, one[MRAG + "runState"]),
            names.get(one.get(_MODEL, ""), ""),
            one[PROV + "startedAtTime"],
            one.get(PROV + "endedAtTime", ""),
            (),
            kept_checks.read(one.get(_CHECKS, "")),
            one.get(_GRAPH, ""),
        )
        for iri, one in said.items()
    ]
    return sorted(found, key=lambda run: (run.started, run.iri))


def find_run(kg: KnowledgeGraph, name: str, state: State | None = None) -> CompletionRun:
    """Return the run of an IRI, of the beginning of an id, or `last`.

    Args:
        kg: The knowledge graph.
        name: What the run is called.
        state: `last` is the newest run of this state; of any if left out.

    Raises:
        ConfigError: If there is none, or more than one.
    """
    every = run_heads(kg)
    short = name.removeprefix("urn:mrag:run:")
    found = [run for run in every if short and run.iri.removeprefix("urn:mrag:run:").startswith(short)]
    if name == "last":
        found = [run for run in every if state in (None, run.state)][-1:]
    if len(found) != 1:
        what = "No run is" if not found else f"{len(found)} runs are"
        raise ConfigError(f"{what} called {name!r}.", hint="`mrag complete review --all` lists the runs.")
    return _filled(kg, found)[0]


def runs_stating(kg: KnowledgeGraph, triples: Sequence[Triple]) -> dict[Triple, dict[str, State]]:
    """Return, for each triple that runs state and do not refuse, those runs with their states."""
    by_key = {key_of(t): t for t in triples}
    found: dict[Triple, dict[str, State]] = {}
    keys = [RdfLiteral(key) for key in sorted(by_key)]
    for text in queries.get("completion/run-stating").batches("key", keys, _BATCH):
        for key, run, state, verdict in kg.store.select(text, Dataset((runs_graph(kg),))):
            if str(verdict) != "refused":
                found.setdefault(by_key[str(key)], {})[str(run)] = cast(State, str(state))
    return found


def key_of(triple: Triple) -> str:
    """Return the digest of a triple, under which statements of it are found."""
    return digest(*ntriples_terms(triple))


def _filled(kg: KnowledgeGraph, heads: Sequence[CompletionRun]) -> list[CompletionRun]:
    """Return runs with their statements."""
    names = [run.iri for run in heads]
    seen = Dataset((runs_graph(kg),))
    stated: dict[str, dict[str, Statement]] = {run: {} for run in names}
    for text in queries.get("completion/run-statements").batches("run", names, _BATCH):
        for run, statement, s, p, o, confidence, verdict, objection in kg.store.select(text, seen):
            if s is None or p is None or o is None:
                continue
            sure, found = float(str(confidence)), cast(Verdict, str(verdict))
            bare = Statement(s, p, o, sure, (), found, iri=str(statement))
            one = stated[str(run)].setdefault(str(statement), bare)
            if objection is not None and str(objection) not in one.objections:
                more = (*one.objections, str(objection))
                stated[str(run)][str(statement)] = replace(one, objections=more)
    quotes = _quotes(kg, names)
    done = []
    for head in heads:
        statements = [replace(one, evidence=tuple(quotes.get(n, ()))) for n, one in stated[head.iri].items()]
        done.append(replace(head, statements=tuple(sorted(statements, key=lambda s: s.key))))
    return done


def _quotes(kg: KnowledgeGraph, runs: Sequence[str]) -> dict[str, list[EvidenceRef]]:
    """Return what each statement of some runs was read in, by IRI of the statement."""
    found: dict[str, list[EvidenceRef]] = {}
    for text in queries.get("completion/run-evidence").batches("run", runs, _BATCH):
        parts: dict[tuple[str, str], dict[str, str]] = {}
        for row in kg.store.select(text, Dataset((runs_graph(kg),))):
            statement, quote, about, value = map(str, row)
            parts.setdefault((statement, quote), {})[about] = value
        for (statement, _), values in parts.items():
            if not values.keys() >= set(_QUOTED):
                continue
            place, words, kind, source = (values[name] for name in _QUOTED)
            ref = EvidenceRef(place, words, cast(Any, kind), source)
            if ref not in found.setdefault(statement, []):
                found[statement].append(ref)
    return found


def datetime_literal(text: str) -> RdfLiteral:
    """Return a time as a literal."""
    return RdfLiteral(text, datatype=URIRef(XSD + "dateTime"), normalize=False)


def _hidden(text: str) -> RdfLiteral:
    # A datatype of its own keeps such texts out of indexes of texts and of labels.
    return RdfLiteral(text, datatype=URIRef(MRAG + "verbatim"))
