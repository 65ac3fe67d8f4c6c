"""Writing back: what was read is proposed as a run, and enters the graph when it is accepted.

Until then it is described in the graph of runs alone. Accepting puts the triples that pass the checks into
a graph of their own among the asserted ones, together with the record that brings them in sight and the
state of the run, in one transaction. Rolling back takes them out again in one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rdflib import Literal, URIRef

from mrag.completion.plan.patterns import CompletedTriple
from mrag.completion.writeback import run_store
from mrag.completion.writeback.checks import check
from mrag.completion.writeback.kept_checks import CheckSettings
from mrag.completion.writeback.refresh import catch_up
from mrag.completion.writeback.runs import CompletionRun, State, Statement, new_run, now
from mrag.completion.writeback.transaction import change, commit, withdraw
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf import queries
from mrag.rdf.terms import RDFS, Triple, ntriples_terms, to_ntriples
from mrag.stores.base import Dataset

_LABEL: Final = URIRef(RDFS + "label")
LEFT_OUT: Final = "it was left out in review"
"""Why a statement is refused that the person who accepted its run did not want."""


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
        settings: The settings of the checks; the run keeps them, and is accepted under them.

    Returns:
        The run. One that says the same is returned as it stands, whatever its state; only one that awaits its
        decision takes on the checks of this time. None where nothing was read, or all of it is known.

    Raises:
        ConfigError: If the triples are in graphs without names, which are read only here.
    """
    kg.require_writable()
    checks = (settings or CheckSettings()).frozen()
    read = [t for t in triples if t.status == "completed"]
    labels = names or {}
    statements = [Statement(*t.terms, t.confidence, t.evidence) for t in read]
    statements += _labels(statements, labels)
    checked = _with_their_entities(check(kg, statements, checks, new=labels))
    if not any(one.verdict != "known" for one in checked):
        return None
    run = new_run(question, model, checked, checks)
    if any(known.iri == run.iri for known in run_store.run_heads(kg)):
        kept = run_store.find_run(kg, run.iri)
        if kept.state != "proposed" or kept.checks == checks:
            return kept
        change(kg, *run_store.changes(kg, kept, replace(run, started=kept.started)))
        return run_store.find_run(kg, run.iri)
    kg.store.insert(to_ntriples(run_store.triples_of(kg, run)), run_store.runs_graph(kg))
    return run


def accept(
    kg: KnowledgeGraph,
    run: CompletionRun | str,
    *,
    settings: CheckSettings | None = None,
    update: bool = True,
    only: Collection[str] | None = None,
) -> WriteReport:
    """Add the triples of a run that pass the checks to the graph, in one transaction.

    They are checked anew under the checks that the run was proposed under, since the graph may have changed,
    and the run keeps what they say now. A run that was rejected or rolled back can be accepted as well; of
    one that is accepted only reasoning and indexes catch up, where an interruption has left them behind.

    Args:
        kg: The knowledge graph.
        run: The run, its IRI, the beginning of its id, or `last`, the newest that is proposed.
        settings: Checks that are to hold beside those of the run.
        update: Whether reasoning and similarity indexes are brought up to date afterwards.
        only: The digests (`run_store.key_of`) of the triples that are wanted; the others are refused, and
            stay so when the run is accepted again without this. All by default.

    Raises:
        ConfigError: If there is no such run, or the graph cannot be written.
    """
    kg.require_writable()
    found = _run(kg, run, "proposed")
    if found.state == "accepted":
        return WriteReport(found, caught_up=update and catch_up(kg, _was_reasoned(kg)))
    checks = found.checks.with_those_of(settings)
    checked = checked_anew(kg, found, checks, only)
    rows = [one.triple for one in checked if one.verdict == "fits"]
    # Cut off before, some may be in the graph by this run already.
    begun = _begun(kg, found, checked)
    after = tuple(replace(s, verdict="fits") if s.triple in begun else s for s in checked)
    reasoned = _was_reasoned(kg)
    accepted = replace(found, state="accepted", decided=now(), statements=after, checks=checks)
    graph = commit(kg, rows, found, accepted)
    done = bool(rows or begun) and update and catch_up(kg, reasoned)
    return WriteReport(_run(kg, found.iri), tuple(rows), (), graph, done)


def checked_anew(
    kg: KnowledgeGraph,
    run: CompletionRun,
    checks: CheckSettings | None = None,
    only: Collection[str] | None = None,
) -> list[Statement]:
    """Return the statements of a run as they are checked when it is accepted.

    Args:
        kg: The knowledge graph, as it is now.
        run: The run as the store has it.
        checks: The settings of the checks; those of the run by default.
        only: As for `accept`.
    """
    stated = [*run.statements, *_names_relied_on(kg, run.statements)]
    out = [one for one in stated if _left_out(one, only)]
    wanted = [one for one in stated if not _left_out(one, only)]
    new = {str(s.subject) for s in wanted if s.predicate == _LABEL}
    checked = _with_their_entities(check(kg, wanted, checks or run.checks, new=new))
    left = [replace(one, verdict="refused", objections=(LEFT_OUT,)) for one in out]
    return sorted([*checked, *left], key=lambda one: one.key)


def resume(kg: KnowledgeGraph) -> bool:
    """Bring reasoning and indexes up to date where accepting was interrupted before.

    Returns:
        Whether there was something to do.
    """
    # Reasoning takes graphs out of `added`; one of completed triples there has been left behind.
    owed = any(status_of(graph) == "completed" for graph in kg.record.added)
    if not owed and not any(run.state == "accepted" for run in run_store.run_heads(kg)):
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
    change(kg, *run_store.changes(kg, found, replace(found, state="rejected", decided=now())))
    return _run(kg, found.iri)


def rollback(kg: KnowledgeGraph, run: CompletionRun | str, *, update: bool = True) -> WriteReport:
    """Remove the triples of an accepted run from the graph, in one transaction.

    What the run has written goes out, and nothing else: the graph is as if the run had not been accepted.
    What another accepted run states too stays, and is that run's from then on; so is the label of a new
    entity that it speaks of. Of a run that is rolled back already only reasoning and indexes catch up, where
    an interruption has left them behind.

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
    written = [s.triple for s in found.statements if s.verdict == "fits"]
    heirs = _heirs(kg, found, written)
    gone = [t for t in written if t not in heirs]
    out, into = run_store.changes(kg, found, replace(found, state="rolled back", decided=now(), graph=""))
    for heir in dict.fromkeys(heirs.values()):
        run_after = _inheriting(heir, {t for t, one in heirs.items() if one == heir})
        more = run_store.changes(kg, heir, run_after)
        out, into = [*out, *more[0]], [*into, *more[1]]
    reasoned = _was_reasoned(kg)
    gone = withdraw(kg, gone, out, into)
    done = bool(gone) and update and catch_up(kg, reasoned)
    return WriteReport(_run(kg, found.iri), (), tuple(gone), "", done)


# -- what is written -------------------------------------------------------------------------------


def _left_out(one: Statement, only: Collection[str] | None) -> bool:
    """Return whether a person does not want a statement, now or when it was reviewed before."""
    return LEFT_OUT in one.objections if only is None else run_store.key_of(one.triple) not in only


def _labels(statements: Sequence[Statement], names: Mapping[str, str]) -> Iterable[Statement]:
    """Yield the labels of the new entities that some statements speak of, resting on the same evidence."""
    for iri, name in sorted(names.items()):
        about = [s for s in statements if iri in (str(s.subject), str(s.object))]
        if about:
            best = max(about, key=lambda s: s.confidence)
            refs = tuple(dict.fromkeys(ref for s in about for ref in s.evidence))
            yield Statement(URIRef(iri), _LABEL, Literal(name), best.confidence, refs)


def _with_their_entities(checked: list[Statement]) -> list[Statement]:
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


def _names_relied_on(kg: KnowledgeGraph, statements: Sequence[Statement]) -> Iterable[Statement]:
    """Yield the labels of entities of a run that only completed graphs have, as statements of this run too.

    Another run has brought such an entity in. Stated here as well, its label stays when that one is undone.
    """
    about = [s for s in statements if s.predicate != _LABEL]
    named = {(s.subject, s.object) for s in statements if s.predicate == _LABEL}
    entities = sorted({str(x) for s in about for x in (s.subject, s.object) if isinstance(x, URIRef)})
    graphs = kg.graphs_of("completed")
    pairs = [(entity, _LABEL) for entity in entities] if graphs else []
    for text in queries.get("completion/check-values").batches("subject_predicate", pairs, 200):
        for s, p, o in kg.store.select(text, Dataset(graphs)):
            mine = [one for one in about if s in (one.subject, one.object)]
            if s is None or p is None or o is None or not mine or (s, o) in named:
                continue
            refs = tuple(dict.fromkeys(ref for one in mine for ref in one.evidence))
            yield Statement(s, p, o, max(one.confidence for one in mine), refs)


def _begun(kg: KnowledgeGraph, run: CompletionRun, checked: Sequence[Statement]) -> set[Triple]:
    """Return the triples that an acceptance of this run which was cut off has brought into the graph."""
    if not run.graph or run.graph not in kg.record.asserted:
        return set()
    ask = queries.get("context/holds")
    seen = Dataset((run.graph,))
    known = [one.triple for one in checked if one.verdict == "known"]
    return {t for t in known if kg.store.ask(ask.bind(s_p_o=[tuple(t)]), seen)}


def _heirs(kg: KnowledgeGraph, run: CompletionRun, written: Sequence[Triple]) -> dict[Triple, CompletionRun]:
    """Return, for the triples of a run that others state which are accepted, the first of those."""
    by = run_store.runs_stating(kg, written)
    others = {iri for states in by.values() for iri, state in states.items() if state == "accepted"}
    found = sorted(
        (run_store.find_run(kg, iri) for iri in others - {run.iri}), key=lambda r: (r.decided, r.iri)
    )
    heirs = {t: next((r for r in found if r.iri in by.get(t, {})), None) for t in written}
    return {t: heir for t, heir in heirs.items() if heir is not None}


def _inheriting(run: CompletionRun, triples: set[Triple]) -> CompletionRun:
    """Return a run as the one that has written some triples which it found known."""
    kept = (replace(s, verdict="fits") if s.triple in triples else s for s in run.statements)
    return replace(run, statements=tuple(kept))


def _was_reasoned(kg: KnowledgeGraph) -> bool:
    return kg.reasoned or bool(kg.record.inferred)


def _run(kg: KnowledgeGraph, run: CompletionRun | str, state: State | None = None) -> CompletionRun:
    """Return a run as the store has it; `last` is the newest of a state."""
    return run_store.find_run(kg, run.iri if isinstance(run, CompletionRun) else run, state)
