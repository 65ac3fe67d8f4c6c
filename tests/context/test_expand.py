"""What stands in a context: within its knobs, the same each time; and the example of the article."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Literal, Namespace, URIRef

import mrag
from mrag.context import ContextSettings, expand, neighbourhood
from mrag.context.render import Context
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.reasoning.run import proof_of
from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside
from tests.conftest import PRODUCTS, opened
from tests.vectors import remembered_vectors

NODES = [URIRef(f"http://example.org/n{i}") for i in range(8)]
PREDICATES = [URIRef(f"http://example.org/p{i}") for i in range(4)]
CLASSES = [URIRef(f"http://example.org/C{i}") for i in range(3)]
node = st.sampled_from(NODES)
literal = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(Literal),
    st.tuples(st.text("ab c", max_size=9), st.sampled_from(["en", "en-GB", "de", "fr"])).map(
        lambda pair: Literal(pair[0], lang=pair[1])
    ),
    st.integers().map(Literal),
)
statement = st.one_of(
    st.builds(Triple, node, st.sampled_from(PREDICATES), st.one_of(node, literal)),
    st.builds(Triple, node, st.just(RDF.type), st.sampled_from([*CLASSES, OWL.Thing])),
    st.builds(Triple, st.sampled_from(CLASSES), st.just(RDFS.subClassOf), st.sampled_from(CLASSES)),
    st.builds(Triple, node, st.just(RDFS.label), literal),
)
graphs = st.lists(statement, max_size=60)
knobs = st.builds(
    ContextSettings, hops=st.sampled_from([1, 2]), schema=st.booleans(), hub_damping=st.booleans(),
    per_predicate=st.integers(1, 6), scan=st.sampled_from([3, 64]), max_triples=st.integers(1, 60),
    token_budget=st.integers(1, 900),
)  # fmt: skip
SEEDS = [(str(n), 1.0 / (i + 1)) for i, n in enumerate(NODES[:3])]


def of(triples: list[Triple]) -> KnowledgeGraph:
    kg = KnowledgeGraph(OxigraphStore())
    kg.insert(triples)
    return kg


def triples(context: Context) -> list[Triple]:
    return [line.triple for line in context.lines]


@given(graphs, knobs, st.text(max_size=20))
@settings(max_examples=60)
def test_invariants(data: list[Triple], knob: ContextSettings, question: str) -> None:
    with of(data) as kg:
        context = expand(kg, SEEDS, knob, question=question)
        found = triples(context)
        assert len(found) == len(set(found)), "no duplicates"
        assert set(found) <= set(data), "nothing is made up"
        assert len(found) <= knob.max_triples
        assert context.tokens <= knob.token_budget
        assert not any(t.o == OWL.Thing for t in found), "no trivia"
        assert not any(t.s == t.o and t.p == RDFS.subClassOf for t in found)
        assert [line.id for line in context.lines] == [f"t{i}" for i in range(1, len(found) + 1)]
        for line in context.lines:
            assert line.entity == str(line.triple.s) if line.hop == 0 else line.entity in context.entities
            assert (line.hop == 0) == (line.path == ())
            assert len(line.path) == line.hop
        assert expand(kg, SEEDS, knob, question=question) == context, "deterministic"


@given(graphs, knobs, st.integers(0, 40), st.integers(0, 600))
@settings(max_examples=60)
def test_a_larger_budget_gives_a_superset(
    data: list[Triple], knob: ContextSettings, more_triples: int, more_tokens: int
) -> None:
    wider = replace(
        knob, max_triples=knob.max_triples + more_triples, token_budget=knob.token_budget + more_tokens
    )
    with of(data) as kg:
        assert set(triples(expand(kg, SEEDS, knob))) <= set(triples(expand(kg, SEEDS, wider)))


@given(graphs, knobs, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_loading_order_does_not_matter(data: list[Triple], knob: ContextSettings, rng: random.Random) -> None:
    shuffled = list(data)
    rng.shuffle(shuffled)
    with of(data) as one, of(shuffled) as other:
        assert expand(one, SEEDS, knob) == expand(other, SEEDS, knob)


def test_the_same_on_disk_and_in_memory(tmp_path: Path) -> None:
    seeds = [
        ("https://w3id.org/mrag/demo/products#GraphDB", 1.0),
        ("https://w3id.org/mrag/demo/products#Company", 0.5),
    ]
    with KnowledgeGraph(OxigraphStore()) as memory, KnowledgeGraph(OxigraphStore(tmp_path / "s")) as disk:
        for kg in (memory, disk):
            kg.load([PRODUCTS])
        assert expand(memory, seeds) == expand(disk, seeds)


def test_a_hub_is_never_read_whole(any_kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = URIRef("http://example.org/hub")
    member = [Triple(URIRef(f"http://example.org/m{i:05}"), PREDICATES[0], hub) for i in range(5000)]
    any_kg.insert([*member, Triple(NODES[0], PREDICATES[1], hub), Triple(hub, RDFS.label, Literal("Hub"))])
    read = 0
    some = neighbourhood._some

    def counted(*args: object) -> object:
        nonlocal read
        found = some(*args)  # type: ignore[arg-type]
        read += len(found)
        return found

    monkeypatch.setattr(neighbourhood, "_some", counted)
    any_kg.profile()
    context = expand(any_kg, [(str(hub), 1.0)], ContextSettings(per_predicate=4))
    shown = triples(context)
    assert len(shown) == 5
    assert Triple(NODES[0], PREDICATES[1], hub) in shown, "a rare predicate is not hidden by the hub's"
    assert any(d.more and "p0" in d.reason for d in context.dropped)
    if any_kg.store.capabilities.ordered:
        assert read < 200


def test_languages_are_preferred_in_order(kg: KnowledgeGraph) -> None:
    text = URIRef("http://purl.org/dc/terms/description")
    for tag, words in (("de", "auf Deutsch"), ("en", "in English"), ("fr", "en français")):
        kg.insert(
            [
                Triple(NODES[0], text, Literal(words, lang=tag)),
                Triple(NODES[0], RDFS.label, Literal(tag, lang=tag)),
            ]
        )
    kg.insert([Triple(NODES[1], text, Literal("seulement", lang="fr"))])
    for languages, expected in (
        (("en", "mul", ""), "in English"),
        (("de",), "auf Deutsch"),
        (("it",), "auf Deutsch"),
    ):
        kg.languages = languages
        context = expand(kg, [(str(NODES[0]), 1.0)])
        assert [str(t.o) for t in triples(context)] == [expected]
        assert context.names == (expected_label(languages),)
        assert ("other language", 2) in [(d.reason, d.count) for d in context.dropped]
    assert [str(t.o) for t in triples(expand(kg, [(str(NODES[1]), 1.0)]))] == ["seulement"]


def expected_label(languages: tuple[str, ...]) -> str:
    return languages[0] if languages[0] in ("en", "de") else "de"


def test_class_expressions_are_put_in_words(kg: KnowledgeGraph) -> None:
    kg.load([PRODUCTS])
    context = expand(kg, [("https://w3id.org/mrag/demo/products#SemanticProduct", 1.0)])
    assert "(semantic product, equivalent to, (product and has feature some semantic feature))" in [
        line.text for line in context.lines
    ]
    assert "genid" not in context.text()


def test_denied_and_allowed_predicates(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(NODES[0], p, NODES[1]) for p in PREDICATES])
    denied = ContextSettings(denied=(str(PREDICATES[0]),), schema=False)
    allowed = ContextSettings(allowed=(str(PREDICATES[0]),), schema=False)
    seeds = [(str(NODES[0]), 1.0)]
    assert {t.p for t in triples(expand(kg, seeds, denied))} == set(PREDICATES[1:])
    assert {t.p for t in triples(expand(kg, seeds, allowed))} == {PREDICATES[0]}
    out = ContextSettings(directions=("out",))
    assert expand(kg, [(str(NODES[1]), 1.0)], out).lines == ()


def test_wrong_knobs_are_refused() -> None:
    for wrong in ({"hops": 3}, {"max_triples": 0}, {"token_budget": 0}, {"per_predicate": 0}):
        with pytest.raises(ConfigError):
            ContextSettings(**wrong)  # type: ignore[arg-type]


def test_rdflib_terms_and_strings_are_the_same(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(NODES[0], PREDICATES[0], NODES[1]), Triple(NODES[0], RDFS.label, Literal("zero"))])
    seeds = [(NODES[0], 1.0), (str(NODES[0]), 0.5), (NODES[1], 0.1)]
    context = expand(kg, seeds)
    assert context.entities == (str(NODES[0]), str(NODES[1]))
    assert context == expand(kg, [(str(iri), score) for iri, score in seeds])
    assert kg.labels([NODES[0]]) == {str(NODES[0]): "zero"}


def test_unknown_entities_and_no_entities_give_an_empty_context(kg: KnowledgeGraph) -> None:
    assert expand(kg, []).lines == ()
    assert expand(kg, [("http://example.org/nowhere", 1.0)]).text() == ""


E = "http://example.org/"
STATED = beside(__file__, "mill.txt")
NAMES = sorted({part.strip() for row in STATED.split("\n") if row for part in row.split("|")})


def thing(name: str) -> URIRef:
    return URIRef(E + name.strip().replace(" ", "_"))


@pytest.fixture
def mill() -> KnowledgeGraph:
    stated = [Triple(*map(thing, row.split("|"))) for row in STATED.split("\n") if row]
    return of([*stated, *(Triple(thing(name), RDFS.label, Literal(name)) for name in NAMES)])


def far(kg: KnowledgeGraph, question: str, *names: str, **knobs: int | bool) -> set[str]:
    seeds = [(str(thing(name)), 1.0) for name in names]
    found = expand(kg, seeds, ContextSettings(**knobs), question=question)  # type: ignore[arg-type]
    return {line.text for line in found.lines if line.hop == 2}


@pytest.mark.parametrize(
    ("question", "hits", "expected"),
    [
        ("Where was the man born who built the mill?", ["mill"], {"(Ada Hill, born in, Elmton)"}),
        ("Who is the mayor of the town that the mill stands in?", ["mill"], {"(Oakham, mayor, Dan Roe)"}),
        ("Who built the mill?", ["mill"], set()),
        ("What was built by the same man as the mill?", ["mill"], {"(bridge, built by, Ada Hill)"}),
        ("Which trade has the builder of the mill?", ["tower", "mill"], {"(Ada Hill, has trade, mason)"}),
        ("What is said of the mill?", ["mill"], set()),
        ("", ["mill"], set()),
    ],
)  # fmt: skip
def test_the_words_of_the_question_say_where_to_go_on(
    mill: KnowledgeGraph, question: str, hits: list[str], expected: set[str]
) -> None:
    assert far(mill, question, *hits) == expected


def test_the_second_hop_can_be_left_out(mill: KnowledgeGraph) -> None:
    assert far(mill, "Where was the man born who built the mill?", "mill", asked_hop=False) == set()


def test_it_keeps_to_the_budget_and_loses_nothing_of_one_hop(mill: KnowledgeGraph) -> None:
    asked = "Where was the man born who built the mill?"
    seeds = [(str(thing("mill")), 1.0)]
    near = expand(mill, seeds, ContextSettings(asked_hop=False), question=asked)
    whole = expand(mill, seeds, ContextSettings(), question=asked)
    assert {x.triple for x in near.lines} < {x.triple for x in whole.lines}
    for budget in range(10, whole.tokens + 20, 10):
        assert expand(mill, seeds, ContextSettings(token_budget=budget), question=asked).tokens <= budget


def test_a_name_within_a_name_is_not_asked_about(mill: KnowledgeGraph) -> None:
    long, short = thing("old mill"), thing("mill")
    mill.insert([
        Triple(long, RDFS.label, Literal("Old Mill of Elmton")),
        Triple(long, thing("built by"), thing("Ben Ott")),
    ])  # fmt: skip
    asked = "Where was the man born who built the Old Mill of Elmton?"
    found = expand(mill, [(str(short), 1.0), (str(long), 0.9)], question=asked)
    assert {line.entity for line in found.lines if line.hop == 2} == {str(long)}


__all__ = ["remembered_vectors"]
EX = Namespace("https://w3id.org/mrag/demo/products#")
QUESTION = "What database products are linked to RDF?"


graph = opened(lambda _: mrag.demo())


@pytest.fixture(scope="module")
def found(graph: KnowledgeGraph) -> Retrieval:
    return TripleStoreRetriever(kg=graph, k=10).retrieve(QUESTION)


def test_the_context_holds_what_the_article_shows(found: Retrieval) -> None:
    held = {line.triple: line for line in found.context.lines}
    for product in (EX.GraphDB, EX.Virtuoso):
        line = held[Triple(product, RDF.type, EX.SemanticProduct)]
        assert line.inferred
        assert line.text.endswith("is a, semantic product)")
        assert any(t.s == product and t.p == EX.developedBy for t in held), "its vendor"
        assert any(t.s == product and "description" in t.p for t in held), "its description"
        assert sum(t.s == product and t.p == EX.hasFeature for t in held) >= 2, "its features"
    assert held[Triple(EX.hasFeature, RDFS.subPropertyOf, EX.linkedTo)].text == (
        "(has feature, sub property of, linked to)"
    )
    disjoint = {(EX.Product, EX.Vendor), (EX.Vendor, EX.Product)}
    assert any((t.s, t.o) in disjoint and t.p == OWL.disjointWith for t in held)


def test_no_trivia_and_no_anonymous_node(found: Retrieval) -> None:
    text = found.context.text()
    assert "genid" not in text
    assert ", thing)" not in text
    assert "is a, class)" not in text
    for line in found.context.lines:
        assert line.triple.s != line.triple.o


def test_inferred_lines_are_marked_and_provable(graph: KnowledgeGraph, found: Retrieval) -> None:
    inferred = [line for line in found.context.lines if line.inferred]
    assert inferred
    assert all(line.text + " inferred" in found.context.text() for line in inferred)
    for line in inferred[::7]:
        proof = proof_of(graph, line.triple)
        assert proof is not None and not proof.asserted
        assert proof.replay(graph.store, graph.dataset("asserted"))


def test_german_and_italian(graph: KnowledgeGraph) -> None:
    for languages, words in ((("de", "en"), "semantisches Produkt"), (("it", "en"), "prodotto semantico")):
        graph.languages = languages
        assert f"(Virtuoso, is a, {words})" in mrag.expand(graph, [(str(EX.Virtuoso), 1.0)]).text()
    graph.languages = ("en", "mul", "")
