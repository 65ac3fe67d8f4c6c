"""Writing back: what was read is proposed as a run, and enters the graph when it is accepted.

Until then it is described in the graph of runs alone. Accepting puts the triples that pass the checks into
a graph of their own among the asserted ones, together with the record that brings them in sight and the
state of the run, in one transaction. Rolling back takes them out again in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rdflib import Literal, URIRef

from mrag.completion.plan.patterns import CompletedTriple
from mrag.completion.writeback.checks import CheckSettings, check
from mrag.completion.writeback.refresh import catch_up
from mrag.completion.writeback.run_store import (
    PROV,
    datetime_literal,
    find_run,
    run_heads,
    runs_graph,
    runs_stating,
    triples_of,
)
from mrag.completion.writeback.runs import CompletionRun, State, Statement, new_run, now
from mrag.completion.writeback.transaction import change, commit, withdraw
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, RDFS, Quad, Triple, ntriples_terms, to_ntriples
from mrag.stores.base import Dataset

_STATE: Final = URIRef(MRAG + "runState")
_ENDED: Final = URIRef(PROV + "endedAtTime")
_LABEL: Final = URIRef(RDFS + "label")


@dataclass(frozen=True)
class WriteReport:
    """What accepting, rejecting or rolling back a run did.

    Attributes:
        run: The run as it stands now.
        entered: Triples that came into the graph.
        removed: Triples that went out of it.
        graph: IRI of the graph that they came into; empty if none did.
        caught_up: Whether reasoning and indexes were brought up to date afterwards.
    """

    run: CompletionRun
    entered: tuple[Triple, ...] = ()
    removed: tuple[Triple, ...] = ()
    graph: str = ""
    caught_up: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "run": self.run.to_json(),
            "entered": [ntriples_terms(t) for t in self.entered],
            "removed": [ntriples_terms(t) for t in self.removed],
            "graph": self.graph,
            "caught_up": self.caught_up,
        }


def propose(
    kg: KnowledgeGraph,
    question: str,
    triples: Iterable[CompletedTriple],
    *,
    model: str = "",
    names: Mapping[str, str] | None = None,
    settings: CheckSettings | None = None,
) -> CompletionRun | None:
    """Check what was read for a question, and describe it as a run that can be reviewed.

    Args:
        kg: The knowledge graph; no graph that questions are answered from changes.
        question: The question.
        triples: What was read; triples of the graph are left out.
        model: Name of what read them.
        names: Labels of new entities, by IRI.
        settings: The settings of the checks.

    Returns:
        The run. One that says the same is returned as it stands, whatever its state, and nothing is written;
        None where nothing was read, or all of it is known.

    Raises:
        ConfigError: If the triples are in graphs without names, which are read only here.
    """
    kg.require_writable()
    read = [t for t in triples if t.status == "completed"]
    labels = names or {}
    statements = [Statement(*t.terms, t.confidence, t.evidence) for t in read]
    statements += _labels(statements, labels)
    checked = _with_their_entities(check(kg, statements, settings, new=labels), labels)
    if not any(one.verdict != "known" for one in checked):
        return None
    run = new_run(question, model, checked)
    if any(known.iri == run.iri for known in run_heads(kg)):
        return find_run(kg, run.iri)
    kg.store.insert(to_ntriples(triples_of(kg, run)), runs_graph(kg))
    return run


def accept(
    kg: KnowledgeGraph,
    run: CompletionRun | str,
    *,
    settings: CheckSettings | None = None,
    update: bool = True,
) -> WriteReport:
    """Add the triples of a run that pass the checks to the graph, in one transaction.

    They are checked anew, since the graph may have changed since they were proposed. A run that was rejected
    or rolled back can be accepted as well; of one that is accepted only reasoning and indexes catch up, where
    an interruption has left them behind.

    Args:
        kg: The knowledge graph.
        run: The run, its IRI, the beginning of its id, or `last`, the newest that is proposed.
        settings: The settings of the checks.
        update: Whether reasoning and similarity indexes are brought up to date afterwards.

    Raises:
        ConfigError: If there is no such run, or the graph cannot be written.
    """
    kg.require_writable()
    found = _run(kg, run, "proposed")
    if found.state == "accepted":
        return WriteReport(found, caught_up=update and catch_up(kg, _was_reasoned(kg)))
    labels = {str(s.subject): str(s.object) for s in found.statements if s.predicate == _LABEL}
    checked = _with_their_entities(check(kg, found.statements, settings, new=labels), labels)
    rows = [one.triple for one in checked if one.verdict == "fits"]
    reasoned = _was_reasoned(kg)
    graph = commit(kg, rows, *_state_rows(kg, found, "accepted"))
    after = replace(_run(kg, found.iri), statements=tuple(checked))
    return WriteReport(after, tuple(rows), (), graph, bool(rows) and update and catch_up(kg, reasoned))


def resume(kg: KnowledgeGraph) -> bool:
    """Bring reasoning and indexes up to date where accepting was interrupted before.

    Returns:
        Whether there was something to do.
    """
    # Reasoning takes graphs out of `added`; one of completed triples there has been left behind.
    owed = any(status_of(graph) == "completed" for graph in kg.record.added)
    if not owed and not any(run.state == "accepted" for run in run_heads(kg)):
        return False
    return catch_up(kg, owed)


def reject(kg: KnowledgeGraph, run: CompletionRun | str) -> CompletionRun:
    """Note that a run is not wanted; the same is not proposed again.

    Raises:
        ConfigError: If there is no such run, or it has been accepted: that is rolled back instead.
    """
    found = _run(kg, run, "proposed")
    if found.state == "accepted":
        raise ConfigError("This run has been accepted.", term=found.iri, hint="Roll it back instead.")
    out, into = _state_rows(kg, found, "rejected")
    change(kg, out, into)
    return _run(kg, found.iri)


def rollback(kg: KnowledgeGraph, run: CompletionRun | str, *, update: bool = True) -> WriteReport:
    """Remove the triples of an accepted run from the graph, in one transaction.

    What another accepted run states too stays, and so does the label of an entity that others speak of. Of a
    run that is rolled back already only reasoning and indexes catch up, where an interruption has left them
    behind.

    Args:
        kg: The knowledge graph.
        run: The run, its IRI, the beginning of its id, or `last`, the newest that is accepted.
        update: Whether reasoning and similarity indexes are brought up to date afterwards.

    Raises:
        ConfigError: If there is no such run, or it has not been accepted.
    """
    kg.require_writable()
    found = _run(kg, run, "accepted")
    if found.state == "rolled back":
        # Inferences were dropped with the run.
        return WriteReport(found, caught_up=update and catch_up(kg, kg.record.reasoned >= 0))
    if found.state != "accepted":
        raise ConfigError(f"This run is {found.state}, not accepted.", term=found.iri)
    gone = _only_of(kg, found)
    reasoned = _was_reasoned(kg)
    gone = withdraw(kg, gone, *_state_rows(kg, found, "rolled back"))
    done = bool(gone) and update and catch_up(kg, reasoned)
    return WriteReport(_run(kg, found.iri), (), tuple(gone), "", done)


# -- what is written -------------------------------------------------------------------------------


def _labels(statements: Sequence[Statement], names: Mapping[str, str]) -> Iterable[Statement]:
    """Yield the labels of the new entities that some statements speak of, resting on the same evidence."""
    for iri, name in sorted(names.items()):
        about = [s for s in statements if iri in (str(s.subject), str(s.object))]
        if about:
            best = max(about, key=lambda s: s.confidence)
            refs = tuple(dict.fromkeys(ref for s in about for ref in s.evidence))
            yield Statement(URIRef(iri), _LABEL, Literal(name), best.confidence, refs)


def _with_their_entities(checked: list[Statement], names: Mapping[str, str]) -> list[Statement]:
    """Refuse the labels of new entities that nothing that is written speaks of."""
    spoken = {
        str(term)
        for one in checked
        if one.verdict == "fits" and one.predicate != _LABEL
        for term in (one.subject, one.object)
    }
    return [
        replace(one, verdict="refused", objections=("nothing that is written speaks of it",))
        if one.predicate == _LABEL and one.verdict == "fits" and str(one.subject) not in spoken
        else one
        for one in checked
    ]


def _state_rows(kg: KnowledgeGraph, run: CompletionRun, state: State) -> tuple[list[Quad], list[Quad]]:
    graph, node = URIRef(runs_graph(kg)), URIRef(run.iri)
    out: list[Quad] = [(graph, node, _STATE, Literal(run.state))]
    if run.decided:
        out.append((graph, node, _ENDED, datetime_literal(run.decided)))
    return out, [(graph, node, _STATE, Literal(state)), (graph, node, _ENDED, datetime_literal(now()))]


def _only_of(kg: KnowledgeGraph, run: CompletionRun) -> list[Triple]:
    """Return the triples of a run that no other accepted run states, labels that are still used left out."""
    mine = [s.triple for s in run.statements if s.verdict != "refused"]
    by = runs_stating(kg, mine)

    def others(triple: Triple) -> bool:
        states = by.get(triple, {})
        return any(state == "accepted" for iri, state in states.items() if iri != run.iri)

    gone = [t for t in mine if t.p != _LABEL and not others(t)]
    entities = sorted({str(x) for t in mine for x in (t.s, t.o) if isinstance(x, URIRef)})
    used: set[str] = set()
    labelled: dict[str, Triple] = {}
    seen = Dataset((runs_graph(kg),))
    for text in queries.get("completion/run-mentioning").batches("entity", entities, 200):
        for entity, other, state, verdict, predicate in kg.store.select(text, seen):
            live = str(state) == "accepted" and str(other) != run.iri and str(verdict) != "refused"
            if live and predicate != _LABEL:
                used.add(str(entity))
    graphs = kg.graphs_of("completed")
    pairs = [(entity, _LABEL) for entity in entities] if graphs else []
    for text in queries.get("completion/check-values").batches("subject_predicate", pairs, 200):
        for s, p, o in kg.store.select(text, Dataset(graphs)):
            if isinstance(s, URIRef) and isinstance(p, URIRef) and o is not None:
                labelled[str(s)] = Triple(s, p, o)
    return [*gone, *(t for entity, t in sorted(labelled.items()) if entity not in used)]


def _was_reasoned(kg: KnowledgeGraph) -> bool:
    return kg.reasoned or bool(kg.record.inferred)


def _run(kg: KnowledgeGraph, run: CompletionRun | str, state: State | None = None) -> CompletionRun:
    """Return a run as the store has it; `last` is the newest of a state."""
    return find_run(kg, run.iri if isinstance(run, CompletionRun) else run, state)
