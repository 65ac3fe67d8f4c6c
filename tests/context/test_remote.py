"""Contexts over a real server: the same as over the embedded store, in few round trips."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Literal, URIRef

import mrag
from mrag.context import ContextSettings, Display, expand, neighbourhood
from mrag.context.neighbourhood import in_passes, read, read_of
from mrag.context.render import Context
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.plan import Block, Column, Pattern, Plan, Unknown
from mrag.planning.profiling import schema_of
from mrag.planning.run import ask_together, run
from mrag.rdf.terms import Triple, to_ox
from mrag.stores.base import Capabilities, Dataset, Limits, SelectResult, TripleStore
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.conftest import PRODUCTS, opened
from tests.fuseki_server import UNNAMED, fuseki_server
from tests.proxy import proxy
from tests.servers import graphdb_protocol, oxigraph_server, virtuoso_server

N = "http://example.org/"
THINGS = [URIRef(f"{N}n{i}") for i in range(8)]
RELATIONS = [URIRef(f"{N}statement/{i}") for i in range(3)]
MANY = [URIRef(f"{N}many/{i}") for i in range(40)]
PREDICATES = [URIRef(f"{N}p{i}") for i in range(4)]
CLASSES = [URIRef(f"{N}C{i}") for i in range(3)]
SEEDS = [(str(one), 1.0 / (at + 1)) for at, one in enumerate(THINGS[:3])]
thing = st.sampled_from([*THINGS, *RELATIONS])
text = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).map(Literal),
    st.tuples(st.text("ab c", max_size=9), st.sampled_from(["en", "en-GB", "de", "fr"])).map(
        lambda pair: Literal(pair[0], lang=pair[1])
    ),
)
fact = st.one_of(
    st.builds(Triple, thing, st.sampled_from(PREDICATES), st.one_of(thing, st.integers().map(Literal))),
    st.builds(Triple, thing, st.just(RDF.type), st.sampled_from([*CLASSES, OWL.Thing])),
    st.builds(Triple, st.sampled_from(CLASSES), st.just(RDFS.subClassOf), st.sampled_from(CLASSES)),
    st.builds(Triple, st.sampled_from(PREDICATES), st.just(RDFS.subPropertyOf), st.sampled_from(PREDICATES)),
)
said = st.builds(
    Triple, st.sampled_from([*THINGS, *PREDICATES, *CLASSES]), st.sampled_from([RDFS.label, RDFS.comment]),
    text,
)  # fmt: skip


@st.composite
def hub(draw: st.DrawFn) -> list[Triple]:
    """Return the triples of a thing with many edges of one predicate."""
    one, p = draw(st.sampled_from(THINGS[:4])), draw(st.sampled_from(PREDICATES))
    others = MANY[: draw(st.integers(1, len(MANY)))]
    outwards = draw(st.booleans())
    return [Triple(one, p, other) if outwards else Triple(other, p, one) for other in others]


@dataclass(frozen=True)
class Data:
    """Triples by graph, no triple in two layers."""

    asserted: Sequence[Triple]
    inferred: Sequence[Triple]
    first: Sequence[Triple] = field(default=())
    second: Sequence[Triple] = field(default=())

    @property
    def graphs(self) -> dict[str, list[Triple]]:
        """The graphs, what named graphs state in one more."""
        own = dict.fromkeys(self.asserted)
        stated = [t for t in dict.fromkeys((*self.first, *self.second)) if t not in own]
        derived = [t for t in dict.fromkeys(self.inferred) if t not in own and t not in stated]
        return {
            "urn:t:own": list(own), "urn:t:merged": stated, "urn:t:inferred": derived,
            "urn:t:first": list(dict.fromkeys(self.first)), "urn:t:second": list(dict.fromkeys(self.second)),
        }  # fmt: skip


facts = st.lists(fact, max_size=25)
data = st.builds(
    lambda facts, said, hubs, inferred, *named: Data([*facts, *said, *chain(*hubs)], inferred, *named), facts,
    st.lists(said, max_size=10), st.lists(hub(), max_size=3), facts, st.one_of(st.just([]), facts),
    st.one_of(st.just([]), facts),
)  # fmt: skip
knobs = st.builds(
    ContextSettings, hops=st.sampled_from([1, 2]), schema=st.booleans(), per_predicate=st.integers(1, 6),
    scan=st.sampled_from([3, 20, 64]), fanout=st.integers(1, 5),
)  # fmt: skip
names = count()


def filled(store: TripleStore, data: Data) -> KnowledgeGraph:
    """Return a knowledge graph of these triples, in graphs that have the same names in every store."""
    for graph, triples in data.graphs.items():
        store.clear(graph)
        lines = "".join(f"{to_ox(s)} {to_ox(p)} {to_ox(o)} .\n" for s, p, o in triples)
        if lines:
            store.insert(lines.encode(), graph)
    kg = KnowledgeGraph(store, f"k{next(names)}")
    contexts = ("urn:t:first", "urn:t:second") if data.first or data.second else ()
    merged = "urn:t:merged" if contexts else ""
    asserted = ("urn:t:own", merged) if contexts else ("urn:t:own",)
    record = replace(kg.record, asserted=asserted, inferred=("urn:t:inferred",), contexts=contexts, kept=True)
    kg.commit(replace(record, merged=merged, revision=record.revision + 1))
    return kg


server = opened(lambda folder: oxigraph_server(folder, memory=True, seconds=60))


@pytest.fixture(scope="module")
def remote(server: str) -> Iterator[TripleStore]:
    store, _ = open_store(server)
    yield store
    store.close()


def unplaced(context: Context) -> Context:
    """Return a context without the names of graphs, which each store numbers by itself."""
    return replace(context, lines=tuple(replace(line, graph="") for line in context.lines))


@given(
    data, knobs, st.sampled_from(["", "Which p1 does the p2 of n0 have, too?", "p3 of n1 and n2"]),
    st.booleans(),
)  # fmt: skip
@settings(max_examples=15)
def test_the_same_as_over_the_embedded_store(
    remote: TripleStore, data: Data, knob: ContextSettings, question: str, by_end: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # So small that hubs of forty edges are met in every way.
        for name, size in (("_EDGES", 30), ("_MANY", 3), ("_WHOLE", 9), ("TEXTS", 12), ("_REST", 6)):
            patch.setattr(neighbourhood, name, size)
        patch.setattr(neighbourhood, "_VALUES", 7)
        patch.setattr(remote, "capabilities", Capabilities(parts=5, by_end=by_end))
        with OxigraphStore() as embedded:
            wanted, kg = filled(embedded, data), filled(remote, data)
            for _ in range(2):
                # What the first context leaves behind must not change the second.
                assert expand(kg, SEEDS, knob, question=question) == expand(
                    wanted, SEEDS, knob, question=question
                )


@given(data, st.sampled_from(["out", "in"]), st.permutations([(16, 16), (48, 8), (3, 2), (5, 30)]))
@settings(max_examples=10)
def test_what_was_read_for_one_bound_is_not_taken_for_another(
    remote: TripleStore, data: Data, direction: str, bounds: list[tuple[int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch, OxigraphStore() as embedded:
        for name, size in (("_EDGES", 6), ("_MANY", 2), ("_WHOLE", 4), ("TEXTS", 12), ("_REST", 5)):
            patch.setattr(neighbourhood, name, size)
        wanted, kg = filled(embedded, data), filled(remote, data)

        def reads(kg: KnowledgeGraph) -> list[object]:
            found: list[object] = []
            for scan, share in bounds:
                for one in THINGS[:4]:
                    edges = read(kg, one, direction, scan=scan, share=share)  # type: ignore[arg-type]
                    some = read_of(kg, one, direction, map(str, PREDICATES[:2]), scan=share)  # type: ignore[arg-type]
                    found += [(set(x.statements), x.cut) for x in (edges, some)]
            return found

        assert in_passes(kg, lambda: reads(kg)) == reads(wanted)


def many_edges(predicates: int, edges: int) -> list[Triple]:
    """Return triples of two neighbours of the first thing that have many edges of many predicates."""
    found = [Triple(THINGS[0], PREDICATES[0], THINGS[1]), Triple(THINGS[0], PREDICATES[1], THINGS[2])]
    for at in range(edges):
        p = URIRef(f"{N}hub/p{at % predicates}")
        other = URIRef(f"{N}many/{at}")
        found += [Triple(THINGS[1], p, other), Triple(other, p, THINGS[2])]
        found.append(Triple(THINGS[1], URIRef(f"{N}hub/note{at % 3}"), Literal(f"note {at}", lang="en")))
        if at < edges // 4:
            found.append(Triple(THINGS[2], URIRef(f"{N}hub/name{at % 9}"), Literal(f"name {at}", lang="de")))
    found += [Triple(one, RDFS.label, Literal(str(one))) for one in THINGS[:3]]
    return found


@pytest.mark.slow
def test_hubs_on_virtuoso_cost_few_rows(tmp_path: Path) -> None:
    """It goes through all triples for those that end in a thing, and takes long to write a row."""
    triples = many_edges(predicates=60, edges=6000)
    with OxigraphStore() as embedded, virtuoso_server(tmp_path) as url:
        store, _ = open_store(url.replace("http://", "http://dba:dba@"))
        wanted, kg = (filled(one, Data(triples, ())) for one in (embedded, store))
        rows: list[int] = []
        select = store.select

        def counted(query: str, dataset: Dataset) -> SelectResult:
            rows.append(len((found := select(query, dataset)).rows))
            return found

        for hops in (1, 2):
            knob = ContextSettings(hops=hops)
            again = expand(wanted, SEEDS, knob, question="hub p1")
            kg.profile()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(store, "select", counted)
                rows.clear()
                assert expand(kg, SEEDS, knob, question="hub p1") == again
            assert again.lines and sum(rows) < 9000
        store.close()


QUESTIONS = cases(__file__, "QUESTIONS")
COMPUTED = cases(__file__, "COMPUTED")


def hits(names: Sequence[str]) -> list[tuple[str, float]]:
    return [(f"https://w3id.org/mrag/demo/products#{name}", 1 / (1 + at)) for at, name in enumerate(names)]


@pytest.mark.parametrize("hops", [1, 2])
def test_a_question_costs_three_round_trips_at_most(server: str, hops: int) -> None:
    """Every request to the server counts, from the second time that the questions are asked."""
    base = server.removeprefix("sparql:").partition("/query")[0]
    with OxigraphStore() as embedded, proxy(base) as counted:
        wanted = KnowledgeGraph(embedded, f"k{next(names)}")
        wanted.load([PRODUCTS])
        store, _ = open_store(server.replace(base, counted.base))
        with KnowledgeGraph(store, wanted.name) as kg:
            kg.load([PRODUCTS])
            kg.profile()
            knob = ContextSettings(hops=hops)
            for at in range(2):
                for question, names_ in QUESTIONS:
                    before = counted.requests
                    found = expand(kg, hits(names_), knob, question=question)
                    again = expand(wanted, hits(names_), knob, question=question)
                    assert [line.text for line in found.lines] == [line.text for line in again.lines]
                    assert found.lines
                    assert 1 <= counted.requests - before <= (3 if at else 12)


def test_a_computed_answer_costs_five_round_trips_at_most(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once schema and names are read, which the next one to open the graph finds beside the store."""
    monkeypatch.setitem(compute.__kwdefaults__, "seconds", 300.0)
    monkeypatch.setattr("mrag.planning.proof._PATIENCE", 60.0)
    base, name = server.removeprefix("sparql:").partition("/query")[0], f"k{next(names)}"
    with mrag.connect() as wanted, proxy(base) as counted:
        wanted.load([PRODUCTS])
        for most in (60, 8):
            store, _ = open_store(server.replace(base, counted.base))
            with KnowledgeGraph(store, name) as kg:
                if most > 8:
                    kg.load([PRODUCTS])
                for question in COMPUTED:
                    before = counted.requests
                    given = mrag.ask(kg, question, model="none", how="plan")
                    assert given.text == mrag.ask(wanted, question, model="none", how="plan").text
                    assert 1 <= counted.requests - before <= most, question
                    most = 5


def test_plans_that_are_asked_for_at_once_find_what_each_finds(remote: TripleStore) -> None:
    kg, x, p = KnowledgeGraph(remote, f"k{next(names)}"), Unknown("x"), PREDICATES[0]
    kg.insert(Triple(one, p, THINGS[0]) for one in THINGS[1:])
    some, none = (Block((Pattern(x, p, end),)) for end in THINGS[:2])
    whole = Plan(some, (Column(x, "x"),))
    plans = [whole, replace(whole, where=none), Plan(some), Plan(none), replace(whole, limit=2)]
    unbound = Plan(some, (Column(Unknown("y"), "y"),))
    known = ask_together(kg, [whole, unbound, *plans[1:]], schema_of(kg), (50, 3), 30)
    assert known
    for plan in plans:
        asked = dict(known)
        found = run(kg, plan, known=asked, limits=Limits(30, 50))
        assert asked == known, "it was asked for again"
        assert found.rows == run(kg, plan).rows and found.holds == run(kg, plan).holds
    kg.clear()


def test_the_names_of_many_things_cost_three_round_trips_at_most(server: str) -> None:
    base = server.removeprefix("sparql:").partition("/query")[0]
    with proxy(base) as counted:
        store, _ = open_store(server.replace(base, counted.base))
        with KnowledgeGraph(store, f"k{next(names)}") as kg:
            roles = [URIRef(f"{N}role/{i}") for i in range(30)]
            kg.insert(Triple(role, p, o) for role in roles for p, o in zip(PREDICATES, THINGS, strict=False))
            kg.insert(Triple(one, RDFS.label, Literal(f"thing {at}")) for at, one in enumerate(THINGS))
            kg.profile()
            display, before = Display(kg), counted.requests
            display.prepare([*roles, *THINGS])
            assert counted.requests - before <= 3
            after = counted.requests
            assert {display.entity(str(role)) for role in roles} == {
                "relation (thing 0, thing 1, thing 2, thing 3)"
            }
            assert counted.requests == after


def test_threads_do_not_take_away_what_another_has_read(server: str) -> None:
    with OxigraphStore() as embedded:
        wanted = KnowledgeGraph(embedded, f"k{next(names)}")
        wanted.load([PRODUCTS])
        store, _ = open_store(server)
        with KnowledgeGraph(store, wanted.name) as kg, ThreadPoolExecutor(8) as pool:
            kg.load([PRODUCTS])
            asked = QUESTIONS * 6
            begun = [pool.submit(expand, kg, hits(h), question=question) for question, h in asked]
            for (question, h), one in zip(asked, begun, strict=True):
                again = expand(wanted, hits(h), question=question)
                assert [x.text for x in one.result().lines] == [x.text for x in again.lines]


def test_what_others_write_is_seen_by_the_next_question(server: str) -> None:
    store, _ = open_store(server)
    with KnowledgeGraph(store, f"k{next(names)}") as kg:
        kg.insert([Triple(THINGS[0], PREDICATES[0], THINGS[1])])
        assert len(expand(kg, SEEDS[:1]).lines) == 1
        other, _ = open_store(server)
        line = f"<{THINGS[0]}> <{PREDICATES[1]}> <{THINGS[2]}> .\n"
        other.insert(line.encode(), kg.record.asserted[0])
        other.close()
        assert len(expand(kg, SEEDS[:1]).lines) == 2


def as_found(kind: str, folder: Path, stack: ExitStack) -> str:
    """Return the URL of a server with triples that it does not keep in graphs of a knowledge graph."""
    own = f"<{N}a> <{RDFS.label}> 'A' . <{N}a> <{N}p0> <{N}b>, <{N}r> . "
    own += f"<{N}r> a <{N}C0>; <{N}p1> <{N}a>, 'x' . "
    other = f"<{N}c> <{N}p2> <{N}a> . <{N}b> <{RDFS.label}> 'B' . <{N}r> <{N}p2> <{N}b> ."
    if kind == "fuseki":
        url, _, behind = stack.enter_context(fuseki_server())
        behind.update(f"INSERT DATA {{ GRAPH <{UNNAMED}> {{ {own} }} GRAPH <urn:t:one> {{ {other} }} }}")
        return url
    if kind == "oxigraph":
        url = stack.enter_context(oxigraph_server(folder, memory=True))
        store, _ = open_store(url)
        store.update(f"INSERT DATA {{ {own} {other} }}")
    else:
        url = stack.enter_context(graphdb_protocol(folder))
        store, _ = open_store(url)
        store.update(f"INSERT DATA {{ {own} {other} }}")
    store.close()
    return url


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["oxigraph", "fuseki", "graphdb"])
def test_the_same_of_triples_as_they_were_found(kind: str, tmp_path: Path) -> None:
    """A query cannot tell which graph such a triple is in where the graphs have no names of their own."""
    with ExitStack() as stack:
        store, _ = open_store(as_found(kind, tmp_path, stack))
        kg = stack.enter_context(KnowledgeGraph(store))
        assert kg.as_found
        wanted = stack.enter_context(KnowledgeGraph(OxigraphStore()))
        wanted.insert(kg.store.construct("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", kg.dataset()))
        for hops in (1, 2):
            knob = ContextSettings(hops=hops)
            found, again = (expand(g, [(f"{N}a", 1.0)], knob, question="p2 of A") for g in (kg, wanted))
            assert [(x.text, x.score) for x in found.lines] == [(x.text, x.score) for x in again.lines]
            assert len(found.lines) > 5
