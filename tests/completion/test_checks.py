"""What may be written to a graph and what contradicts it; and runs on servers."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import BNode, Literal, URIRef

import mrag
from mrag.completion.chain import Completer
from mrag.completion.checks import CheckSettings, Statement, check, read_shapes
from mrag.completion.passages import passages_of, store_folder
from mrag.completion.patterns import CompletedTriple
from mrag.completion.review import accept, find_run, list_runs, reject, rollback
from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.snippets import Snippets
from mrag.rdf.terms import OWL, RDF, XSD, Term, Triple
from tests.cases import cases
from tests.completion.towns import FACTS, TOWNS, asks, evidence_of, fact, iri, labels, proposed, read, triples
from tests.conftest import slow
from tests.servers import oxigraph_server, server_of


@pytest.fixture(scope="module", params=["reasoned", "plain"])
def kg(request: pytest.FixtureRequest) -> Iterator[KnowledgeGraph]:
    with mrag.connect() as graph:
        graph.load([TOWNS])
        if request.param == "reasoned":
            mrag.reason(graph)
        graph.profile()  # counted once, and kept in the record
        yield graph


def said(
    kg: KnowledgeGraph, *triples: CompletedTriple, settings: CheckSettings | None = None, new: str = ""
) -> list[Statement]:
    before = {graph: kg.store.count(graph) for graph in kg.store.graphs()}
    statements = [Statement(*t.terms, t.confidence, t.evidence) for t in triples]
    done = check(kg, statements, settings, new=[new] if new else [])
    assert {graph: kg.store.count(graph) for graph in kg.store.graphs()} == before, "checking changes nothing"
    return done


def stated(turtle: str, confidence: float = 0.9) -> CompletedTriple:
    """What Turtle says, as a reader gives it."""
    prefixes = "".join(line for line in FACTS.splitlines(True) if line.startswith("@prefix"))
    [triple] = triples(f"{prefixes}{turtle} .")
    return CompletedTriple(*triple, "completed", read("a", "b", "c").evidence, confidence)


# Who is known as a person only may well be a writer.
@pytest.mark.parametrize("turtle", cases(__file__, "fits"))
def test_what_fits(kg: KnowledgeGraph, turtle: str) -> None:
    [one] = said(kg, stated(turtle))
    assert (one.verdict, one.objections) == ("fits", ())


@pytest.mark.parametrize(
    ("turtle", "confidence", "why"),
    [*((turtle, 0.9, why) for turtle, why in cases(__file__, "contradicts")),
     (":bob :knows :ada", 0.3, "its confidence 0.30 is below 0.50")],
)  # fmt: skip
def test_what_contradicts(kg: KnowledgeGraph, turtle: str, confidence: float, why: str) -> None:
    [one] = said(kg, stated(turtle, confidence))
    assert one.verdict == "refused"
    assert why in "; ".join(one.objections)


def test_what_is_known_is_neither_written_nor_refused(kg: KnowledgeGraph) -> None:
    assert [one.verdict for one in said(kg, read("ada", "bornIn", "lund"))] == ["known"]


@pytest.mark.parametrize("turtle", cases(__file__, "schema"))
def test_no_text_changes_the_schema(kg: KnowledgeGraph, turtle: str) -> None:
    [one] = said(kg, stated(turtle))
    assert one.verdict == "refused", one


def test_only_new_entities_are_given_a_label(kg: KnowledgeGraph) -> None:
    label = stated(':eve rdfs:label "Eve"')
    assert [one.verdict for one in said(kg, label)] == ["refused"]
    assert [one.verdict for one in said(kg, label, new=str(iri("eve")))] == ["fits"]


@pytest.mark.parametrize(
    ("s", "p", "o"),
    [
        (URIRef("no iri> } ; DROP ALL #"), iri("knows"), iri("ada")),
        (iri("bob"), URIRef("knows me"), iri("ada")), (BNode("x"), iri("knows"), iri("ada")),
        (Literal("bob"), iri("knows"), iri("ada")), (iri("bob"), iri("knows"), BNode("x")),
        (iri("bob"), iri("birthYear"), Literal("19x", datatype=URIRef(XSD + "integer"))),
    ],
    ids=str,
)  # fmt: skip
def test_what_rdf_does_not_allow_is_refused(kg: KnowledgeGraph, s: Term, p: Term, o: Term) -> None:
    ref = read("bob", "knows", "ada").evidence
    assert [one.verdict for one in said(kg, CompletedTriple(s, p, o, "completed", ref))] == ["refused"]


def test_without_evidence_nothing_is_written(kg: KnowledgeGraph) -> None:
    [one] = said(kg, CompletedTriple(iri("bob"), iri("knows"), iri("lund"), "completed"))
    assert one.objections == ("there is no evidence for it",)


def test_of_two_values_for_one_place_the_surer_stays_and_a_tie_is_none(kg: KnowledgeGraph) -> None:
    sure, unsure = read("bob", "bornIn", "lund", 0.9), read("bob", "bornIn", "visby", 0.7)
    verdicts = {str(one.object).rsplit("/")[-1]: one.verdict for one in said(kg, unsure, sure)}
    assert verdicts == {"lund": "fits", "visby": "refused"}
    tied = said(kg, read("bob", "bornIn", "lund"), read("bob", "bornIn", "visby"))
    assert {one.verdict for one in tied} == {"refused"}


def test_what_contradicts_only_together(kg: KnowledgeGraph) -> None:
    """Two triples that each fit, and do not with each other: the surer one stays."""
    one, other = read("bob", "parentOf", "kim", 0.8), read("kim", "parentOf", "bob", 0.6)
    verdicts = {str(s.subject).rsplit("/")[-1]: s.verdict for s in said(kg, one, other)}
    assert verdicts == {"bob": "fits", "kim": "refused"}


def test_knobs(kg: KnowledgeGraph) -> None:
    open_types = CheckSettings(closed_types=False)
    assert [s.verdict for s in said(kg, read("bob", "wrote", "lund"), settings=open_types)] == ["fits"]
    assert [s.verdict for s in said(kg, read("bob", "bornIn", "ada"), settings=open_types)] == ["refused"]
    lax = CheckSettings(consistency=False)
    assert [s.verdict for s in said(kg, read("bob", "parentOf", "ada", 0.5), settings=lax)] == ["fits"]
    single = CheckSettings(functional=(str(iri("livesIn")),))
    [s] = said(kg, read("ada", "livesIn", "lund"), settings=single)
    assert s.objections == ("lives in has one value only, and it is Visby",)


def test_shapes(kg: KnowledgeGraph, tmp_path: Path) -> None:
    pytest.importorskip("pyshacl", reason="pySHACL is not installed (pip install 'mrag[completion]')")
    settings = CheckSettings(shapes=(read_shapes(Path(__file__).with_name("shapes.ttl")),))
    assert [s.verdict for s in said(kg, read("ada", "knows", "bob"), settings=settings)] == ["fits"]
    [s] = said(kg, read("bob", "knows", "lund"), settings=settings)
    assert s.objections == ("it breaks a shape: knows one person at most",)
    [s] = said(kg, read("bob", "birthYear", Literal(1850)), settings=settings)
    assert s.verdict == "refused"
    # That Fern has no ISBN was so before, and is no fault of this triple.
    assert [s.verdict for s in said(kg, read("ada", "wrote", "fern"), settings=settings)] == ["fits"]
    with pytest.raises(LoadError, match="cannot be read"):
        read_shapes(tmp_path / "none.ttl")


def test_shapes_without_the_package(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyshacl", None)
    with pytest.raises(ConfigError, match="pip install 'mrag\\[completion\\]'"):
        said(kg, read("ada", "wrote", "fern"), settings=CheckSettings(shapes=("",)))


def test_a_graph_that_is_inconsistent_already_blames_no_one_new() -> None:
    with mrag.connect() as graph:
        graph.insert([Triple(iri("A"), URIRef(OWL + "disjointWith"), iri("B")), fact("y", "knows", "z")])
        graph.insert([Triple(iri("x"), URIRef(RDF + "type"), iri(kind)) for kind in "AB"])
        graph.profile()
        assert [s.verdict for s in said(graph, read("z", "knows", "y"))] == ["fits"]


QUESTION = "Where was Bob Stone born?"


@pytest.fixture(params=["oxigraph", *slow("virtuoso")])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    with server_of(request.param, tmp_path) as url, mrag.connect(url) as graph:
        graph.insert(labels(bornIn="born in", ada="Ada Hill", bob="Bob Stone", lund="Lund"))
        graph.insert([fact("ada", "bornIn", "lund")])
        yield graph


def test_a_run_goes_in_and_out_again(served: KnowledgeGraph) -> None:
    evidence = evidence_of("Bob Stone was born in Lund.")
    before = served.count()
    run = Completer(served, evidence).ask(QUESTION).run
    assert run is not None and run.state == "proposed" and served.count() == before
    assert reject(served, run).state == "rejected" and served.count() == before
    report = accept(served, run)
    assert report.run.state == "accepted" and len(report.entered) == 1 and served.count() == before + 1
    assert served.record.triples == served.count()
    assert Completer(served).ask(QUESTION).answers == ("Lund",)
    assert accept(served, run).entered == ()
    again = KnowledgeGraph(served.store)
    assert again.count() == before + 1 and find_run(again, run.iri).state == "accepted"
    report = rollback(served, run)
    assert report.run.state == "rolled back" and len(report.removed) == 1 and served.count() == before
    assert Completer(served).ask(QUESTION).answers == ()


@pytest.fixture
def towns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeGraph]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with oxigraph_server(tmp_path) as url, mrag.connect(url, "towns") as graph:
        graph.insert(triples())
        mrag.reason(graph)
        yield graph


def test_a_server_is_written_to_and_cleared_again(towns: KnowledgeGraph, tmp_path: Path) -> None:
    served = towns
    first = proposed(served, read("bob", "bornIn", "ystad"), ystad="Ystad")
    second = proposed(served, read("ada", "knows", "bob"), question="Whom?")
    third = proposed(served, read("ada", "bornIn", "visby"), question="Where was she born?")
    assert [run.iri for run in list_runs(served, "proposed")] == [first.iri, second.iri, third.iri]
    assert find_run(served, first.id).statements == first.statements
    assert not asks(served, ":bob :bornIn :ystad") and third.refused
    assert len(accept(served, first).entered) == 2
    assert asks(served, ':bob :bornIn :ystad . :ystad rdfs:label "Ystad" ; a :Place') and served.reasoned
    assert len(accept(served, second).entered) == 1 and accept(served, third).entered == ()
    assert served.record.triples == served.count("asserted")
    assert len(rollback(served, first).removed) == 2
    assert not asks(served, ":ystad ?p ?o") and asks(served, ":ada :knows :bob")
    assert reject(served, first).state == "rejected"
    # Another process sees the same.
    with mrag.connect(served.store.url, "towns") as again:
        assert asks(again, ":ada :knows :bob") and not asks(again, ":bob :bornIn ?x")
        assert [run.state for run in list_runs(again)] == ["rejected", "accepted", "accepted"]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text('Bob "Stone" \\ was\nborn.', "utf-8")
    collection, _ = store_folder(served, Snippets(tmp_path / "texts"))
    assert [p.text for p in passages_of(served, [collection])] == ['Bob "Stone" \\ was\nborn.']
