"""The closure by `sparq-rdf`, an optional engine in Rust (`pip install mrag[accelerate]`).

It reasons by OWL 2 RL over a copy of the graph in memory. Only what it infers about individuals is taken
over, without trivia; the rules of `mrag.reasoning.rules` that it lacks, and those between classes, are run
afterwards, so that the data triples are those of `materialise`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import IO, Any

import pyoxigraph as ox

from mrag.errors import ReasoningError
from mrag.rdf.patterns import Construct, Count, Select, TriplePattern, iri, to_sparql, var
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
from mrag.reasoning.axioms import SAME, TYPE, Label
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.evaluate import TripleCounts
from mrag.reasoning.materialise import run_after
from mrag.reasoning.rounds import Closure, OnInconsistency, Round
from mrag.reasoning.rules import Ruleset
from mrag.storage.scratch import Scratch
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.oxigraph import OxigraphStore

_CHUNK = 200_000
_S, _P, _O = var("s"), var("p"), var("o")
_VOCABULARIES = (OWL, RDF, RDFS)
_SAMES = TriplePattern(_S, SAME, _O)
_KEPT = (TYPE.value, SAME.value, OWL + "differentFrom")


def accelerate(
    store: TripleStore,
    asserted: Dataset,
    prefix: str,
    *,
    on_round: Callable[[Round], None] | None = None,
    on_inconsistency: OnInconsistency = "error",
    label: Label | None = None,
) -> Closure:
    """Do the work of `materialise` by sparq-rdf and the rules that it lacks.

    Args:
        store: The store.
        asserted: Its asserted graphs.
        prefix: Start of the names of the graphs to write.
        on_round: Called after each round; the accelerator is round 1.
        on_inconsistency: Raise on contradictions, or report them.
        label: Returns the names in messages.

    Raises:
        ReasoningError: If sparq-rdf is not installed.
        InconsistentOntology: If the triples contradict the axioms.
    """
    try:
        import sparq
    except ImportError as error:
        raise ReasoningError(
            "The accelerator is not installed.", hint="Run: pip install 'mrag[accelerate]'"
        ) from error
    began, counts = time.perf_counter(), TripleCounts.of(store, asserted.default)
    rules = compile_rules(store, asserted)
    out = f"{prefix}:1"
    with Scratch("reasoning") as folder:
        path = folder / "asserted.nt"
        with path.open("wb") as stream:
            _dump(store, asserted, rules, counts, stream)
        given = sparq.Graph.load(str(path), format="ntriples")
    whole = given.copy()
    whole.reason("owl")
    with ThreadPoolExecutor(1) as writer:
        # The store writes one part while the next is read.
        parts = [writer.submit(store.insert, part, out) for part in _parts(_new(given, whole))]
        for part in parts:
            part.result()
    del given, whole
    return run_after(
        store,
        asserted,
        prefix,
        rules,
        began,
        counts,
        on_round=on_round,
        on_inconsistency=on_inconsistency,
        label=label,
    )


def _parts(lines: Iterator[str]) -> Iterator[bytes]:
    while part := "".join(islice(lines, _CHUNK)):
        yield part.encode()


def _dump(
    store: TripleStore, asserted: Dataset, rules: Ruleset, counts: TripleCounts, stream: IO[bytes]
) -> None:
    """Write the asserted triples, of a large graph those alone that some rule may read.

    Reading a triple from Oxigraph costs 7 µs, as much as reasoning over it, and two thirds of a
    typical graph are literals that no axiom mentions.
    """
    heads = {r.head.p for r in rules.rules if r.axiom is not None}
    if not isinstance(store, OxigraphStore) or counts.match(_SAMES) or SAME in heads:
        for graph in asserted.default:
            store.dump(graph, stream)
        return
    read = {a.p.value for r in (*rules.rules, *rules.checks) for a in r.body if isinstance(a.p, ox.NamedNode)}
    read |= {r.head.p.value for r in rules.rules if isinstance(r.head.p, ox.NamedNode)}
    names = [n for n in sorted(counts.predicates) if n in read or n.startswith(_VOCABULARIES)]
    atoms = [TriplePattern(_S, iri(name), _O) for name in names]
    with ThreadPoolExecutor(2) as pool:
        for data in pool.map(
            lambda atom: store.serialise(to_sparql(Construct((atom,), atom)), asserted), atoms
        ):
            stream.write(data)


def _new(given: Any, whole: Any) -> Iterator[str]:
    """Yield inferred triples about individuals as lines of N-Triples.

    Predicates and classes with as many triples as before are passed over without being read.
    """
    for predicate in _grown(given, whole, None):
        if predicate == TYPE.value:
            for name in _grown(given, whole, TYPE):
                if not name.startswith((*_VOCABULARIES, SKOLEM)):
                    yield from _difference(given, whole, TriplePattern(_S, TYPE, iri(name)))
        elif predicate in _KEPT or not predicate.startswith(_VOCABULARIES):
            yield from _difference(given, whole, TriplePattern(_S, iri(predicate), _O))


def _grown(given: Any, whole: Any, predicate: ox.NamedNode | None) -> list[str]:
    symbol = _P if predicate is None else _O
    text = _count_query(symbol)
    before, after = (
        {row[symbol.value]["value"]: int(row["n"]["value"]) for row in _json(graph, text)}
        for graph in (given, whole)
    )
    return sorted(name for name, n in after.items() if n != before.get(name, 0))


def _count_query(symbol: ox.Variable) -> str:
    atom = TriplePattern(_S, _P, _O) if symbol == _P else TriplePattern(_S, TYPE, _O)
    return to_sparql(Select((symbol, (Count(), var("n"))), atom, group_by=(symbol,)))


def _difference(given: Any, whole: Any, atom: TriplePattern) -> Iterator[str]:
    names = tuple(dict.fromkeys(atom.variables()))
    text = to_sparql(Select(names, atom))
    before = {tuple(map(_term, row.values())) for row in _rows(given, text, names)}
    end = f" {atom.p} "
    for row in _rows(whole, text, names):
        key = tuple(map(_term, row.values()))
        if key in before or key[0].startswith('"'):
            continue
        last = key[-1] if len(names) > 1 else str(atom.o)
        if key[0] != last or atom.p != SAME:
            yield f"{key[0]}{end}{last} .\n"


def _rows(graph: Any, text: str, names: tuple[ox.Variable, ...]) -> Iterator[dict[str, Any]]:
    for row in _json(graph, text):
        yield {v.value: row[v.value] for v in names}


def _json(graph: Any, text: str) -> list[dict[str, Any]]:
    bindings: list[dict[str, Any]] = json.loads(graph.query_json(text))["results"]["bindings"]
    return bindings


def _term(cell: dict[str, str]) -> str:
    if cell["type"] == "uri":
        return f"<{cell['value']}>"
    if cell["type"] == "bnode":
        return f"_:{cell['value']}"
    if "xml:lang" in cell:
        return str(ox.Literal(cell["value"], language=cell["xml:lang"]))
    datatype = iri(cell["datatype"]) if "datatype" in cell else None
    return str(ox.Literal(cell["value"], datatype=datatype))
