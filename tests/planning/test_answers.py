"""What an answer is beside its rows: other readings, proofs, ways, changes of the graph; frozen answers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning import plan_from_json
from mrag.planning.answering import Attempt, compute, reader_of
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import schema_of
from mrag.planning.reader.chains import has_no_classes
from mrag.planning.saved import save_question
from mrag.rdf.terms import Triple
from tests.conftest import opened
from tests.planning.interpreter import evaluate
from tests.planning.questions import GRAPHS, ExpectedRows, check, loaded, questions_of, told_of

Graphs = Callable[[str], KnowledgeGraph]


@pytest.fixture(scope="module")
def graphs() -> Iterator[Graphs]:
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(loaded(name)))


def rows(attempt: Attempt) -> list[tuple[str, ...]]:
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize("asked", [asked for asked in questions_of("demo") if asked.rows == ("refused",)])
def test_what_is_refused_is_told_to_be(graphs: Graphs, asked: ExpectedRows) -> None:
    given = mrag.ask(graphs(asked.graph), asked.question, how="plan", model="none")
    assert given.text.startswith(("Not in this graph", "Not answered")) and given.computed is None


def test_answers_do_not_depend_on_the_order_of_loading(graphs: Graphs) -> None:
    whole = graphs("states")
    triples = list(whole.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", layer="asserted"))  # type: ignore[call-overload]
    assert triples
    with mrag.connect("oxigraph:") as other:
        other.insert(sorted(triples, reverse=True))
        other.reason()
        for asked in [asked for asked in questions_of("states") if asked.read][::5]:
            one, two = (compute(kg, asked.question).answer for kg in (whole, other))
            assert (one and one.to_json().get("rows")) == (two and two.to_json().get("rows")), asked.question


def test_an_altered_answer_does_not_verify(graphs: Graphs) -> None:
    kg = graphs("states")
    answer = compute(kg, "how many rivers are there").answer
    forged = answer.to_json()
    forged["rows"][0][0]["value"] = forged["rows"][0][0]["label"] = "40"
    forged["text"] = forged["text"].replace("4 rivers", "40 rivers")
    forged["sentences"][0]["text"] = "40 rivers"
    report = mrag.verify(kg, forged)
    assert not report.ok and report.unsupported == ("40 rivers",)
    assert "its rows are not what is computed now" in report.altered


def test_a_changed_graph_changes_the_answer() -> None:
    with loaded("states") as kg:
        answer = compute(kg, "how many rivers are there").answer
        assert answer is not None and answer.text.startswith("4 rivers")
        river = URIRef("http://example.org/states/new")
        kind = URIRef("http://example.org/states/River")
        kg.insert([Triple(river, RDF.type, kind), Triple(river, RDFS.label, Literal("Brazos"))])
        now = compute(kg, "how many rivers are there").answer
        assert now is not None and now.text.startswith("5 rivers")
        assert not mrag.verify(kg, answer).ok


@pytest.mark.parametrize("name", ["states", pytest.param("company", marks=pytest.mark.slow)])
def test_a_reading_that_is_offered_is_the_one_that_its_number_takes(graphs: Graphs, name: str) -> None:
    offered = 0
    for asked in questions_of(name):
        answer = compute(graphs(name), asked.question).answer
        if answer is None or answer.computed is None:
            assert not asked.read or asked.rows == ("refused",)
            continue
        for other in answer.computed.readings:
            taken = compute(graphs(name), asked.question, reading=other.number).answer
            assert taken.computed.reading == other.reading
            offered += 1
    assert offered > 2


def test_ways_and_readings_are_checked(graphs: Graphs) -> None:
    with pytest.raises(ConfigError, match="no way"):
        mrag.ask(graphs("states"), "how many rivers are there", how="guess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="readings"):
        mrag.ask(graphs("states"), "how many rivers are there", how="plan", reading=99)


def test_only_a_graph_without_classes_is_read_as_chains(graphs: Graphs) -> None:
    assert has_no_classes(reader_of(graphs("songs")).schema)
    assert not has_no_classes(reader_of(graphs("demo")).schema)


def test_two_relations_that_join_alike_are_two_readings(graphs: Graphs) -> None:
    attempt = compute(graphs("atlas"), "Which expeditions does Ann Lund have?")
    given = [attempt.answer.computed.rows[0][0].label, *(r.answer for r in attempt.answer.computed.readings)]
    assert sorted(given[:2]) == ["Aurora", "Corona"]
    assert attempt.answer.notice is not None


def test_what_is_named_is_not_dropped(graphs: Graphs) -> None:
    kg = graphs("places")
    month = compute(kg, "How many reviews were written in March 2014?")
    assert not month.sure or rows(month) == [("1",)]
    everyday = compute(kg, "Which essays were published in Records?")
    assert not everyday.sure or [row[0] for row in rows(everyday)] == ["On Salt"]
    assert everyday.answer is None or "Records" in everyday.answer.computed.reading  # type: ignore[union-attr]


def test_a_unit_is_no_name(graphs: Graphs) -> None:
    attempt = compute(graphs("tents"), "What is the weight of Cub 1?", reading=1)
    assert rows(attempt) == [('[unit code "GRM"; value 950]',)]
    assert attempt.answer is not None and "GRM" in attempt.answer.text


def test_a_text_that_is_no_question_is_not_read(graphs: Graphs) -> None:
    attempt = compute(graphs("staff"), "Who knows Python " + "and Excel " * 100 + "?")
    assert not attempt.sure and attempt.answer is None and "more than 200 words" in attempt.why


def test_that_something_is_a_film_is_marked_as_inferred(graphs: Graphs) -> None:
    answer = compute(graphs("wikidata"), "How many horror films are there?").answer
    assert any(citation.inferred for citation in answer.citations)


def test_first_and_last_names_are_one_and_a_changed_one_is_followed() -> None:
    changed = URIRef("http://shop.example/customer_last_name")
    with loaded("split_names") as shop, mrag.connect("oxigraph:") as fresh:
        assert shop.labels(["http://shop.example/c3"]) == {"http://shop.example/c3": "Tom Marsh"}
        lexicon_of(shop, None)
        shop.update(
            f"DELETE {{ ?c <{changed}> ?n }} INSERT {{ ?c <{changed}> 'Berg' }} WHERE "
            f"{{ ?c <http://shop.example/customer_first_name> 'Tom' ; <{changed}> ?n }}"
        )
        assert rows(compute(shop, "What is the email of Tom Berg?")) == [("tom@shop.example",)]
        fresh.load([GRAPHS / "split_names.ttl"])
        tom = URIRef("http://shop.example/c3")
        fresh.update(f"DELETE DATA {{ <{tom}> <{changed}> 'Marsh' }}")
        fresh.insert([Triple(tom, changed, Literal("Berg"))])
        for name in ("Tom Berg", "Tom Marsh", "Ellen Marsh", "Berg", "Marsh"):
            followed, built = (lexicon_of(kg, None).match(tokens(name)) for kg in (shop, fresh))
            assert followed == built, name


ASKED = [asked for path in sorted(GRAPHS.glob("*.tsv")) for asked in questions_of(path.stem)]
TOLD = told_of(Path(__file__).with_name("told.tsv"))


@pytest.fixture(scope="module")
def kg(request: pytest.FixtureRequest) -> Iterator[KnowledgeGraph]:
    found = loaded(request.param)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("kg", "asked"), [(asked.graph, asked) for asked in ASKED], indirect=["kg"],
    ids=[f"{asked.graph}-{asked.question}" for asked in ASKED],
)  # fmt: skip
def test_rows_answer_a_question(kg: KnowledgeGraph, asked: ExpectedRows) -> None:
    check(kg, asked)


@pytest.mark.parametrize(
    ("kg", "asked"), [(asked.graph, asked) for asked in TOLD], indirect=["kg"],
    ids=[f"{asked.graph}-{asked.question}" for asked in TOLD],
)  # fmt: skip
def test_an_answer_is_told_in_words(kg: KnowledgeGraph, asked: ExpectedRows) -> None:
    """Hold what an answer says, or how it says that the question was read."""
    attempt = compute(kg, asked.question, seconds=300)
    if attempt.sure or asked.read:
        assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
        told = f"{attempt.answer.text}\n{attempt.answer.computed.reading}"
        assert all(said in told for said in asked.rows)
        assert mrag.verify(kg, attempt.answer).ok


def test_things_are_put_in_order_by_what_they_are_called() -> None:
    called = {"n4": "Alder", "n1": "Elm", "n3": "beech", "n2": "Yew"}
    with mrag.connect("oxigraph:") as kg:
        for number, label in called.items():
            thing = URIRef(f"http://example.org/{number}")
            kg.insert(
                [
                    Triple(thing, RDF.type, URIRef("http://example.org/Tree")),
                    Triple(thing, RDFS.label, Literal(label)),
                ]
            )
        for question, wanted in (
            ("List all trees in alphabetical order", ["Alder", "beech", "Elm", "Yew"]),
            ("the first two trees in alphabetical order", ["Alder", "beech"]),
        ):
            answer = compute(kg, question, least=0.0).answer
            assert [row[0].label for row in answer.computed.rows] == wanted, question


def test_the_kind_of_a_thing_is_not_the_thing() -> None:
    space = "http://example.org/"
    with mrag.connect("oxigraph:") as kg:
        for n in range(6):
            thing = URIRef(f"{space}p{n}")
            kg.insert(
                [
                    Triple(thing, RDF.type, URIRef(space + "Product")),
                    Triple(thing, RDFS.label, Literal(f"pan {n}")),
                    Triple(thing, URIRef(space + "price"), Literal(n * 10)),
                ]
            )
        assert compute(kg, "Which product has the highest price?").sure
        assert not compute(kg, "Which product type has the highest price?").sure


NS = "http://example.org/harbour/"


stated = opened(lambda _: loaded("harbour"))


@pytest.fixture(scope="module")
def inferred() -> Iterator[KnowledgeGraph]:
    with loaded("harbour") as found:
        further = {
            "Gull": ["Vessel"], "Petrel": ["Vessel"], "Puffin": ["Vessel", "Sailboat"], "Mammut": ["Vessel"],
        }  # fmt: skip
        further |= {"Ilse": ["Sailor"], "Jonte": ["Sailor"]}
        found.insert(
            Triple(URIRef(NS + thing), RDF.type, URIRef(NS + c))
            for thing, over in further.items()
            for c in over
        )
        yield found


@pytest.mark.parametrize("kind", ["stated", "inferred"])
@pytest.mark.parametrize("asked", questions_of("harbour"), ids=lambda asked: asked.question)
def test_members_of_subclasses_count(kind: str, asked: ExpectedRows, request: pytest.FixtureRequest) -> None:
    kg = request.getfixturevalue(kind)
    check(kg, asked)
    answer = compute(kg, asked.question).answer
    if answer is not None and answer.computed is not None and asked.read:
        plan = plan_from_json(answer.computed.plan)
        triples = [Triple(*row) for row in kg.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")]
        expected = evaluate(plan, triples)
        assert (
            bool(expected) == (asked.rows == ("yes",)) if plan.yes_or_no else len(expected) == len(asked.rows)
        )
        # A no rests on what the thing is instead.
        assert answer.citations


def test_the_schema_counts_members_of_subclasses(stated: KnowledgeGraph, inferred: KnowledgeGraph) -> None:
    schema = schema_of(stated)
    counts = {c.removeprefix(NS): info.count for c, info in schema.classes.items()}
    assert counts == {
        "Harbour": 2, "Sailboat": 3, "Sailor": 3, "Skipper": 2, "Tug": 1, "Vessel": 4, "Yawl": 2,
    }  # fmt: skip
    narrower = {
        c.removeprefix(NS): {n.removeprefix(NS) for n in i.narrower} for c, i in schema.classes.items()
    }
    assert {c: n for c, n in narrower.items() if n} == {
        "Sailboat": {"Yawl"}, "Sailor": {"Skipper"}, "Vessel": {"Sailboat", "Tug", "Yawl"},
    }  # fmt: skip
    assert schema.properties[NS + "berth"].domains[NS + "Vessel"] == 4
    assert not any(info.narrower for info in schema_of(inferred).classes.values())
    assert schema_of(inferred).classes[NS + "Vessel"].count == 4


def test_where_it_is_inferred_the_query_asks_for_the_class_alone(inferred: KnowledgeGraph) -> None:
    answer = compute(inferred, "How many vessels are there?").answer
    assert "VALUES" not in answer.computed.query


def test_a_proof_says_what_a_thing_is_and_why_it_counts(stated: KnowledgeGraph) -> None:
    answer = compute(stated, "Is Puffin a vessel?").answer
    cited = {(c.triple.s, c.triple.o) for c in answer.citations}
    assert cited == {
        (URIRef(NS + a), URIRef(NS + b))
        for a, b in (("Puffin", "Yawl"), ("Yawl", "Sailboat"), ("Sailboat", "Vessel"))
    }


def test_a_saved_question_and_a_follow_up_count_them(stated: KnowledgeGraph) -> None:
    talk = stated.conversation(model="none")
    assert talk.ask("How many sailors are there?").text.startswith("3 ")
    assert talk.ask("And vessels?").text.startswith("4 ")
    answer = compute(stated, "Which vessels have a berth in Wismar?").answer
    assert answer is not None
    save_question(stated, answer, "moored")
    found = compute(stated, "Which vessels have a berth in Aarhus?").answer
    assert found.computed is not None and [r[0].label for r in found.computed.rows] == ["Petrel"]
