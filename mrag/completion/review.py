"""Writing back: what was read is proposed as a run, and enters the graph when it is accepted.

Until then it is described in the graph of runs alone. Accepting puts the triples that pass the checks into
a graph of their own among the asserted ones, together with the record that brings them in sight and the
state of the run, in one transaction. Rolling back takes them out again in one.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.metadata import version
from typing import Any, Final, cast

from rdflib import Literal, URIRef

from mrag.completion.checks import (
    CheckSettings,
    CompletionRun,
    State,
    Statement,
    Verdict,
    check,
    digest,
    new_run,
    now,
)
from mrag.completion.patterns import CompletedTriple
from mrag.errors import ConfigError
from mrag.generation.result import EvidenceRef
from mrag.graph.books import books
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record, joined, remove_triples, status_of
from mrag.index.similarity import SimilarityIndexes, freshen
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, RDF, RDFS, XSD, Quad, Term, Triple, ntriples_terms, to_ntriples
from mrag.reasoning.run import reason
from mrag.stores.base import Dataset, Row

logger = logging.getLogger(__name__)


def catch_up(kg: KnowledgeGraph, reasoned: bool = True) -> None:
    """Bring inferred triples and similarity indexes up to date with the graph.

    Reasoning is not begun here where the graph had not been reasoned over.

    Raises:
        InconsistentOntology: If the triples contradict the axioms; the inferred layer is as it was before.
    """
    if reasoned and not kg.reasoned and not kg.store.capabilities.reasoning:
        reason(kg)
    for name in SimilarityIndexes.of(kg).names():
        if (old := freshen(kg, name)) is not None:
            logger.warning(old)


PROV: Final = "http://www.w3.org/ns/prov#"
DCTERMS: Final = "http://purl.org/dc/terms/"
_QUOTED: Final = (PROV + "wasQuotedFrom", PROV + "value", DCTERMS + "type", DCTERMS + "source")
_MODEL: Final = PROV + "wasAssociatedWith"
_CHECKS: Final = MRAG + "checks"
_GRAPH: Final = MRAG + "writesTo"
_BATCH: Final = 200


def runs_graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of runs; it is none of the graphs that questions are answered from."""
    return f"urn:mrag:completion:{kg.name}"


def triples_of(kg: KnowledgeGraph, run: CompletionRun) -> list[Triple]:
    """Return what a run's description says."""
    node = URIRef(run.iri)
    started = _time(run.started)
    software = f"mrag {version('mrag')}"
    model, program = (
        URIRef(f"urn:mrag:{kind}:{digest(name)}")
        for kind, name in (("model", run.model), ("software", software))
    )
    rows: list[tuple[URIRef, str, Term]] = [
        *_type(node, MRAG + "CompletionRun", PROV + "Activity"),
        (node, MRAG + "question", _hide(run.question)),
        (node, MRAG + "runState", Literal(run.state)),
        (node, DCTERMS + "isPartOf", URIRef(kg.iri)),
        (node, PROV + "startedAtTime", started),
        (node, _MODEL, model),
        (node, PROV + "wasInfluencedBy", program),
        (node, _CHECKS, _hide(run.checks.to_text())),
    ]
    if run.decided:
        rows.append((node, PROV + "endedAtTime", _time(run.decided)))
    if run.graph:
        rows.append((node, _GRAPH, URIRef(run.graph)))
    for agent, name in ((model, run.model), (program, software)):
        rows += [*_type(agent, PROV + "SoftwareAgent"), (agent, RDFS + "label", Literal(name))]
    for one in run.statements:
        # A store may spell a value in another way than it was given: a kept statement has its own name.
        statement = URIRef(one.iri or "urn:mrag:statement:" + digest(run.iri, *one.key))
        rows += [
            *_type(statement, MRAG + "CompletedStatement", PROV + "Entity"),
            (statement, RDF + "subject", one.subject),
            (statement, RDF + "predicate", one.predicate),
            (statement, RDF + "object", one.object),
            (statement, DCTERMS + "identifier", Literal(key_of(one.triple))),
            (statement, MRAG + "confidence", Literal(Decimal(f"{one.confidence:.4f}"))),
            (statement, MRAG + "verdict", Literal(one.verdict)),
            (statement, PROV + "wasGeneratedBy", node),
            (statement, PROV + "generatedAtTime", started),
        ]
        rows += [(statement, MRAG + "objection", _hide(text)) for text in one.objections]
        for ref in one.evidence:
            quote = URIRef("urn:mrag:quote:" + digest(ref.iri, ref.quote))
            rows += [
                *_type(quote, PROV + "Entity"),
                (statement, PROV + "wasDerivedFrom", quote),
                (quote, PROV + "value", _hide(ref.quote)),
                (quote, PROV + "wasQuotedFrom", URIRef(ref.iri)),
                (quote, DCTERMS + "type", Literal(ref.kind)),
                (quote, DCTERMS + "source", _hide(ref.source)),
            ]
    return [Triple(s, URIRef(p), o) for s, p, o in dict.fromkeys(rows)]


def _type(node: URIRef, *kinds: str) -> list[tuple[URIRef, str, Term]]:
    return [(node, RDF + "type", URIRef(kind)) for kind in kinds]


def _time(text: str) -> Literal:
    return Literal(text, datatype=URIRef(XSD + "dateTime"), normalize=False)


def _hide(text: str) -> Literal:
    # A datatype of its own keeps such texts out of indexes of texts and of labels.
    return Literal(text, datatype=URIRef(MRAG + "verbatim"))


def changes(kg: KnowledgeGraph, before: CompletionRun, after: CompletionRun) -> tuple[list[Quad], list[Quad]]:
    """Return what goes out of the description of a run and what comes into it, where the run has changed."""
    graph = URIRef(runs_graph(kg))
    old, new = triples_of(kg, before), triples_of(kg, after)
    out, into = [t for t in old if t not in set(new)], [t for t in new if t not in set(old)]
    return [(graph, *t) for t in out], [(graph, *t) for t in into]


def list_runs(kg: KnowledgeGraph, *states: State) -> list[CompletionRun]:
    """List the runs of a knowledge graph that stand at some states, by default any, in order of time."""
    return _fill(kg, [run for run in run_heads(kg) if not states or run.state in states])


def run_heads(kg: KnowledgeGraph) -> list[CompletionRun]:
    """List the runs of a knowledge graph without their statements, in order of their time."""
    said: dict[str, dict[str, str]] = {}
    described = Dataset((runs_graph(kg),))
    with books(kg) as store:
        rows = store.select(queries.get("completion/run-list").text, described).rows
    for run, name, value in rows:
        said.setdefault(str(run), {})[str(name)] = str(value)
    agents = sorted({one[_MODEL] for one in said.values() if _MODEL in one})
    labels = _rows(kg, "label/labels", "entity_property", [(agent, RDFS + "label") for agent in agents])
    names = {str(agent): str(label) for agent, _, label in labels}
    heads = [
        CompletionRun(
            iri,
            one[MRAG + "question"],
            cast(State, one[MRAG + "runState"]),
            names.get(one.get(_MODEL, ""), ""),
            one[PROV + "startedAtTime"],
            one.get(PROV + "endedAtTime", ""),
            (),
            CheckSettings.of_text(one.get(_CHECKS, "")),
            one.get(_GRAPH, ""),
        )
        for iri, one in said.items()
    ]
    return sorted(heads, key=lambda run: (run.started, run.iri))


def _rows(kg: KnowledgeGraph, query: str, parameter: str, values: Sequence[Any]) -> Iterator[Row]:
    """Yield the rows of a query to the graph of runs for many values of its parameter."""
    for text in queries.get(query).batches(parameter, values, _BATCH):
        with books(kg) as store:
            rows = store.select(text, Dataset((runs_graph(kg),))).rows
        yield from rows


def find_run(kg: KnowledgeGraph, name: str, state: State | None = None) -> CompletionRun:
    """Return the run of an IRI, of the beginning of an id, or `last`: the newest one, of a state if given.

    Raises:
        ConfigError: If there is none, or more than one.
    """
    every = run_heads(kg)
    short = name.removeprefix("urn:mrag:run:")
    runs = [run for run in every if short and run.iri.removeprefix("urn:mrag:run:").startswith(short)]
    if name == "last":
        runs = [run for run in every if state in (None, run.state)][-1:]
    if len(runs) != 1:
        what = "No run is" if not runs else f"{len(runs)} runs are"
        raise ConfigError(f"{what} called {name!r}.", hint="`mrag complete review --all` lists the runs.")
    return _fill(kg, runs)[0]


def runs_stating(kg: KnowledgeGraph, triples: Sequence[Triple]) -> dict[Triple, dict[str, State]]:
    """Return, for each triple that runs state and do not refuse, those runs with their states."""
    by_key = {key_of(t): t for t in triples}
    states: dict[Triple, dict[str, State]] = {}
    keys = [Literal(key) for key in sorted(by_key)]
    for key, run, state, verdict in _rows(kg, "completion/run-stating", "key", keys):
        if str(verdict) != "refused":
            states.setdefault(by_key[str(key)], {})[str(run)] = cast(State, str(state))
    return states


def key_of(triple: Triple) -> str:
    """Return the digest of a triple, under which statements of it are found."""
    return digest(*ntriples_terms(triple))


def _fill(kg: KnowledgeGraph, heads: Sequence[CompletionRun]) -> list[CompletionRun]:
    """Return runs with their statements."""
    names = [run.iri for run in heads]
    stated: dict[str, dict[str, Statement]] = {run: {} for run in names}
    for row in _rows(kg, "completion/run-statements", "run", names):
        run, statement, s, p, o, confidence, verdict, objection = row
        if s is None or p is None or o is None:
            continue
        bare = Statement(s, p, o, float(str(confidence)), (), cast(Verdict, str(verdict)), iri=str(statement))
        one = stated[str(run)].setdefault(str(statement), bare)
        if objection is not None:
            more = tuple(dict.fromkeys((*one.objections, str(objection))))
            stated[str(run)][str(statement)] = replace(one, objections=more)
    parts: dict[tuple[str, str], dict[str, str]] = {}
    for row in _rows(kg, "completion/run-evidence", "run", names):
        statement_, quote, about, value = map(str, row)
        parts.setdefault((statement_, quote), {})[about] = value
    quotes: dict[str, dict[EvidenceRef, None]] = {}
    for (named, _), values in parts.items():
        if values.keys() >= set(_QUOTED):
            place, words, kind, source = (values[name] for name in _QUOTED)
            quotes.setdefault(named, {})[EvidenceRef(place, words, cast(Any, kind), source)] = None
    done = []
    for head in heads:
        statements = [replace(one, evidence=tuple(quotes.get(n, ()))) for n, one in stated[head.iri].items()]
        done.append(replace(head, statements=tuple(sorted(statements, key=lambda s: s.key))))
    return done


_ROWS: Final = 400  # Most triples of one update to a server; servers limit VALUES


def change(kg: KnowledgeGraph, out: Sequence[Quad], into: Sequence[Quad]) -> None:
    """Take triples out of graphs and put others in, the record left as it is.

    It is one transaction, but where descriptions of runs lie beside a server: they are changed last. Cut off
    before that, the run is as it was, and what was asked for can be asked for again.
    """
    if kg.store.capabilities.reasoning:
        noted = URIRef(runs_graph(kg))
        for writing in (False, True):
            gone, come = ([q for q in quads if (q[0] == noted) is writing] for quads in (out, into))
            if gone or come:
                with books(kg, writing=True) if writing else nullcontext(kg.store) as store:
                    store.update(kg.changes(gone, come))
        return
    if not out and into and not kg.store.capabilities.edges:
        # Virtuoso trips over an empty list of what goes out.
        for graph in dict.fromkeys(str(quad[0]) for quad in into):
            rows = [Triple(*q[1:]) for q in into if str(q[0]) == graph]  # type: ignore[arg-type]
            kg.store.insert(to_ntriples(rows), graph)
        return
    kg.store.update(kg.changes(out, into))


def commit(kg: KnowledgeGraph, triples: Sequence[Triple], before: CompletionRun, after: CompletionRun) -> str:
    """Bring triples into sight, and change the description of their run, together."""
    out, into = changes(kg, before, after)
    if not triples:
        change(kg, out, into)
        return ""
    if kg.store.capabilities.reasoning:
        graph = kg.graphs_of("completed")[0]
        change(kg, out, [*into, *_in(graph, triples)])
        kg.recount()
        return graph
    if kg.store.capabilities.edges:
        graph, record, gone, come = _place(kg, len(triples))
        kg.commit(record, kg.changes([*out, *gone], [*into, *come, *_in(graph, triples)]))
        return graph
    # Not every server takes all of it as one request. Cut off before the record, nothing has changed; behind
    # it the run still counts as proposed, and accepting it again finds its triples in the graph noted for it.
    graph = kg.new_graph("completed")
    kg.store.clear(graph)
    kg.store.insert(to_ntriples(triples), graph)
    noted = replace(before, graph=graph)
    change(kg, *changes(kg, before, noted))
    kg.commit(joined(kg.record, graph, len(triples)))
    change(kg, *changes(kg, noted, replace(after, graph=graph)))
    return graph


def withdraw(
    kg: KnowledgeGraph, triples: Sequence[Triple], out: Sequence[Quad], into: Sequence[Quad]
) -> list[Triple]:
    """Take triples out of the completed graphs and change descriptions of runs, together; return the triples.

    What other graphs assert stays there. Inferences that may rest on them are dropped.
    """
    places = _places(kg, triples)
    gone = [Triple(s, p, o) for _, s, p, o in places]  # type: ignore[arg-type]  # they come from triples
    if kg.store.capabilities.reasoning:
        change(kg, [*out, *places], into)
        kg.recount()
        return gone
    if not places:
        change(kg, out, into)
        return gone
    after = remove_triples(kg.record, {str(quad[0]) for quad in places}, len(places))
    if kg.store.capabilities.edges:
        kg.commit(after, kg.changes([*out, *places], into))
        return gone
    # Cut off in between, the run still counts as accepted, and rolling it back again does the rest.
    kg.commit(replace(after, triples=kg.record.triples))
    for start in range(0, len(places), _ROWS):
        change(kg, places[start : start + _ROWS], [])
    kg.commit(replace(after, triples=kg.counted(after.asserted)))
    change(kg, out, into)
    return gone


def _place(kg: KnowledgeGraph, more: int) -> tuple[str, Record, list[Quad], list[Quad]]:
    """Return the graph that triples go to, the record after that, and what is moved out of and into graphs.

    After reasoning they go to a graph of their own, so that the next reasoning can start from them alone.
    Graphs of earlier runs, which have been reasoned over, become one: each graph more makes reading slower.
    """
    record = kg.record
    ours = kg.graphs_of("completed")
    if not record.inferred or (not kg.reasoned and not record.added):
        graph = ours[0] if ours else kg.new_graph("completed")
        return graph, joined(record, graph, more), [], []
    waiting = [g for g in ours if g in record.added]
    graph = waiting[-1] if waiting else kg.new_graph("completed")
    after = joined(record, graph, more)
    base, *others = [g for g in ours if g not in waiting] or [""]
    gone: list[Quad] = []
    come: list[Quad] = []
    for old in others:
        rows = list(kg.store.construct(queries.get("kg/graph").text, Dataset((old,))))
        gone += _in(old, rows)
        come += _in(base, rows)
    return graph, replace(after, asserted=tuple(g for g in after.asserted if g not in others)), gone, come


def _places(kg: KnowledgeGraph, triples: Sequence[Triple]) -> list[Quad]:
    """Return in which completed graphs triples stand."""
    ask = queries.get("context/holds")
    return [
        (URIRef(graph), *triple)
        for graph in kg.graphs_of("completed")
        for triple in triples
        if kg.store.ask(ask.bind(s_p_o=[tuple(triple)]), Dataset((graph,)))
    ]


def _in(graph: str, triples: Sequence[Triple]) -> list[Quad]:
    return [(URIRef(graph), *triple) for triple in triples]


_LABEL: Final = URIRef(RDFS + "label")
LEFT_OUT: Final = "it was left out in review"
"""Why a statement is refused that the person who accepted its run did not want."""


@dataclass(frozen=True)
class WriteReport:
    """What accepting, rejecting or rolling back a run did.

    Attributes:
        entered: Triples that came into the graph.
        removed: Triples that went out of it.
        graph: IRI of the graph that they came into; empty if none did.
    """

    run: CompletionRun
    entered: tuple[Triple, ...] = ()
    removed: tuple[Triple, ...] = ()
    graph: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "run": self.run.to_json(),
            "entered": [ntriples_terms(t) for t in self.entered],
            "removed": [ntriples_terms(t) for t in self.removed],
            "graph": self.graph,
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
    """Check what was read for a question, and describe it as a run that can be reviewed; None of nothing new.

    No graph that questions are answered from changes. `names` are labels of new entities by IRI, `model` is
    the name of what read. The run keeps the checks, and is accepted under them. One that says the same is
    returned as it stands; only one that awaits its decision takes on the checks of this time.

    Raises:
        ConfigError: If the triples are in graphs without names, which are read only here.
    """
    kg.require_writable()
    checks = settings or CheckSettings()
    read = [t for t in triples if t.status == "completed"]
    labels = names or {}
    statements = [Statement(*t.terms, t.confidence, t.evidence) for t in read]
    statements += _labels(statements, labels)
    checked = _with_their_entities(check(kg, statements, checks, new=labels))
    if not any(one.verdict != "known" for one in checked):
        return None
    run = new_run(question, model, checked, checks)
    if any(known.iri == run.iri for known in run_heads(kg)):
        kept = find_run(kg, run.iri)
        if kept.state != "proposed" or kept.checks == checks:
            return kept
        change(kg, *changes(kg, kept, replace(run, started=kept.started)))
        return find_run(kg, run.iri)
    with books(kg, writing=True) as store:
        store.insert(to_ntriples(triples_of(kg, run)), runs_graph(kg))
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
    proposal = _run(kg, run, "proposed")
    if proposal.state == "accepted":
        if update:
            catch_up(kg, _was_reasoned(kg))
        return WriteReport(proposal)
    checks = proposal.checks.with_those_of(settings) if settings else proposal.checks
    checked = check_anew(kg, proposal, checks, only)
    rows = [one.triple for one in checked if one.verdict == "fits"]
    # Cut off before, some may be in the graph by this run already.
    begun = _begin(kg, proposal, checked)
    after = tuple(replace(s, verdict="fits") if s.triple in begun else s for s in checked)
    reasoned = _was_reasoned(kg)
    accepted = replace(proposal, state="accepted", decided=now(), statements=after, checks=checks)
    graph = commit(kg, rows, proposal, accepted)
    if update and (rows or begun):
        catch_up(kg, reasoned)
    return WriteReport(_run(kg, proposal.iri), tuple(rows), (), graph)


def check_anew(
    kg: KnowledgeGraph,
    run: CompletionRun,
    checks: CheckSettings | None = None,
    only: Collection[str] | None = None,
) -> list[Statement]:
    """Return the statements of a run as they are checked when it is accepted."""
    stated = [*run.statements, *_names_relied_on(kg, run.statements)]
    out = [one for one in stated if _is_left_out(one, only)]
    wanted = [one for one in stated if not _is_left_out(one, only)]
    new = {str(s.subject) for s in wanted if s.predicate == _LABEL}
    checked = _with_their_entities(check(kg, wanted, checks or run.checks, new=new))
    left = [replace(one, verdict="refused", objections=(LEFT_OUT,)) for one in out]
    return sorted([*checked, *left], key=lambda one: one.key)


def resume(kg: KnowledgeGraph) -> None:
    """Bring reasoning and indexes up to date where accepting was interrupted before."""
    # Reasoning takes graphs out of `added`; one of completed triples there has been left behind.
    owed = any(status_of(graph) == "completed" for graph in kg.record.added)
    if owed or any(run.state == "accepted" for run in run_heads(kg)):
        catch_up(kg, owed)


def reject(kg: KnowledgeGraph, run: CompletionRun | str) -> CompletionRun:
    """Note that a run is not wanted; the same is not proposed again.

    Raises:
        ConfigError: If there is no such run, or it has been accepted: that is rolled back instead.
    """
    proposal = _run(kg, run, "proposed")
    if proposal.state == "accepted":
        raise ConfigError("This run has been accepted.", term=proposal.iri, hint="Roll it back instead.")
    change(kg, *changes(kg, proposal, replace(proposal, state="rejected", decided=now())))
    return _run(kg, proposal.iri)


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
    accepted = _run(kg, run, "accepted")
    if accepted.state == "rolled back":
        if update:
            catch_up(kg, kg.record.reasoned >= 0)  # inferences were dropped with the run
        return WriteReport(accepted)
    if accepted.state != "accepted":
        raise ConfigError(f"This run is {accepted.state}, not accepted.", term=accepted.iri)
    written = [s.triple for s in accepted.statements if s.verdict == "fits"]
    heirs = _heirs(kg, accepted, written)
    gone = [t for t in written if t not in heirs]
    out, into = changes(kg, accepted, replace(accepted, state="rolled back", decided=now(), graph=""))
    for heir in dict.fromkeys(heirs.values()):
        # It has written then what it found known.
        mine = {t for t, one in heirs.items() if one == heir}
        kept = tuple(replace(s, verdict="fits") if s.triple in mine else s for s in heir.statements)
        more = changes(kg, heir, replace(heir, statements=kept))
        out, into = [*out, *more[0]], [*into, *more[1]]
    reasoned = _was_reasoned(kg)
    gone = withdraw(kg, gone, out, into)
    if update and gone:
        catch_up(kg, reasoned)
    return WriteReport(_run(kg, accepted.iri), (), tuple(gone))


# -- what is written -------------------------------------------------------------------------------


def _is_left_out(one: Statement, only: Collection[str] | None) -> bool:
    """Return whether a person does not want a statement, now or when it was reviewed before."""
    return LEFT_OUT in one.objections if only is None else key_of(one.triple) not in only


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
        one.refused("nothing that is written speaks of it")
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


def _begin(kg: KnowledgeGraph, run: CompletionRun, checked: Sequence[Statement]) -> set[Triple]:
    """Return the triples that an acceptance of this run which was cut off has brought into the graph."""
    if not run.graph or run.graph not in kg.record.asserted:
        return set()
    ask = queries.get("context/holds")
    seen = Dataset((run.graph,))
    known = [one.triple for one in checked if one.verdict == "known"]
    return {t for t in known if kg.store.ask(ask.bind(s_p_o=[tuple(t)]), seen)}


def _heirs(kg: KnowledgeGraph, run: CompletionRun, written: Sequence[Triple]) -> dict[Triple, CompletionRun]:
    """Return, for the triples of a run that others state which are accepted, the first of those."""
    by = runs_stating(kg, written)
    others = {iri for states in by.values() for iri, state in states.items() if state == "accepted"}
    runs = sorted((find_run(kg, iri) for iri in others - {run.iri}), key=lambda r: (r.decided, r.iri))
    heirs = {t: next((r for r in runs if r.iri in by.get(t, {})), None) for t in written}
    return {t: heir for t, heir in heirs.items() if heir is not None}


def _was_reasoned(kg: KnowledgeGraph) -> bool:
    return kg.reasoned or bool(kg.record.inferred)


def _run(kg: KnowledgeGraph, run: CompletionRun | str, state: State | None = None) -> CompletionRun:
    """Return a run as the store has it; `last` is the newest of a state."""
    return find_run(kg, run.iri if isinstance(run, CompletionRun) else run, state)
