"""What a plan leaves unread is said, and nothing that it finds is stated as an answer then."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rdflib import RDFS, Graph, Literal, URIRef

import mrag
from mrag.completion.chain import Completer, Evidence, open_planner
from mrag.completion.grounding import PathTable, Step
from mrag.completion.passages import Passage, Passages
from mrag.completion.path_planner import Example, PathPlanner, calibrate
from mrag.generation.result import Completed
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDF, Triple

E = "http://example.org/"
FACTS = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Person rdfs:label "person" . :Town rdfs:label "town" . :Island rdfs:label "island" .
:bornIn rdfs:label "born in" . :livesIn rdfs:label "lives in" . :author rdfs:label "author" .
:mother rdfs:label "mother" . :father rdfs:label "father" . :gender rdfs:label "gender" .
:ann a :Person ; rdfs:label "Ann Hill" ; :bornIn :paris ; :gender :female .
:bob a :Person ; rdfs:label "Bob Stone" ; :livesIn :rome ; :gender :male ; :father :cid .
:cid a :Person ; rdfs:label "Cid Lake" ; :bornIn :rome ; :gender :male ; :livesIn :gozo .
:dora a :Person ; rdfs:label "Dora Vane" ; :bornIn :paris ; :livesIn :rome ; :gender :female .
:paris a :Town ; rdfs:label "Paris" . :rome a :Town ; rdfs:label "Rome" .
:gozo a :Island ; rdfs:label "Gozo" .
:female rdfs:label "female" . :male rdfs:label "male" .
:moss rdfs:label "Moss" ; :author :ann .
"""


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.connect() as graph:
        graph.insert(Triple(*t) for t in Graph().parse(data=FACTS, format="turtle"))  # type: ignore[arg-type]
        yield graph


@pytest.fixture(params=["for the graph", "for evidence"])
def planner(request: pytest.FixtureRequest, kg: KnowledgeGraph) -> PathPlanner:
    made = PathPlanner(kg) if request.param == "for the graph" else open_planner(kg)
    made.model = None
    return made


def ask(kg: KnowledgeGraph, planner: PathPlanner, question: str) -> Completed:
    found = Completer(kg, planner=planner).ask(question).answer.completed
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Where was Ann Hill born?", {"Paris"}),
        ("Who was born in Paris?", {"Ann Hill", "Dora Vane"}),
        ("Who wrote Moss?", {"Ann Hill"}),
        ("Who was born where Bob Stone lives?", {"Cid Lake"}),
        ("Which towns was Dora Vane born in?", {"Paris"}),
        ("Which other people were born in the same place as Ann Hill?", {"Dora Vane"}),
        ("Where was the author of Moss born?", {"Paris"}),
        ("Where was the father of Bob Stone born?", {"Rome"}),
        ("Where does the person Bob Stone live?", {"Rome"}),
    ],
)
def test_what_is_read_whole_is_answered(
    kg: KnowledgeGraph, planner: PathPlanner, question: str, answers: set[str]
) -> None:
    found = ask(kg, planner, question)
    assert set(found.answers) == answers and found.reading is not None
    assert not found.reading["unread"] and not found.reading["unasked"]


@pytest.mark.parametrize(
    "question",
    [
        "Where was Bob Stone born?",
        "What is the population of Rome?",
        "Who knows Bob Stone?",
        "Who is the mother of Bob Stone?",
        "Where did Bob Stone die?",
        "How many people were born in Paris?",
        "Who was not born in Paris?",
        "Which island was Dora Vane born in?",
        "Who is the mayor of the town that Bob Stone lives in?",
        "What does Ann Hill earn?",
        "Tell me about Cid Lake",
        "When was Dora Vane born in Paris or Rome?",
    ],
)
def test_what_is_not_is_no_answer(kg: KnowledgeGraph, planner: PathPlanner, question: str) -> None:
    found = ask(kg, planner, question)
    assert found.answers == ()


def test_it_says_what_is_unread_and_shows_plan_and_score(kg: KnowledgeGraph, planner: PathPlanner) -> None:
    refused = Completer(kg, planner=planner).ask("Who is the mayor of Rome?")
    assert "“mayor” is not read" in refused.text and "the nearest plan is" in refused.text
    assert refused.completion.answers == [] and not refused.answer.citations
    given = Completer(kg, planner=planner).ask("Where was Ann Hill born?").answer
    assert "Read as: What is “born in” of Ann Hill? (plan (Ann Hill, born in, ?x1), score 0." in str(given)
    assert "Read as:" in given._repr_html_()
    assert given.completed is not None
    assert Completed.from_json(given.completed.to_json()) == given.completed


def test_no_path_goes_through_a_class_to_its_other_members(kg: KnowledgeGraph) -> None:
    table = PathTable.of(kg)
    to, back = Step(URIRef(RDF + "type"), True), Step(URIRef(RDF + "type"), False)
    assert (to,) in table.numbers and (back,) in table.numbers
    assert (back, Step(URIRef(E + "bornIn"), True)) in table.numbers, "from a class to its members"
    for path in table.numbers:
        assert to not in path[:-1] and back not in path[1:]


def test_words_learnt_from_solved_questions_are_read(kg: KnowledgeGraph) -> None:
    born, lives = Step(URIRef(E + "bornIn"), True), Step(URIRef(E + "livesIn"), True)
    people = {"Ann Hill": "ann", "Cid Lake": "cid", "Dora Vane": "dora", "Bob Stone": "bob"}
    examples = [
        Example(f"Whence hails {name}?", URIRef(E + one), (born,)) for name, one in people.items()
    ] + [Example(f"Where dwells {name}?", URIRef(E + one), (lives,)) for name, one in people.items()]
    planner = PathPlanner(kg, calibrate(kg, examples, model=None), model=None)
    assert ask(kg, planner, "Whence hails Ann Hill?").answers == ("Paris",)
    assert ask(kg, planner, "Whence hails the butcher Ann Hill?").answers == ()


def test_evidence_is_not_proposed_for_what_was_not_understood(kg: KnowledgeGraph) -> None:
    from mrag.completion.chain import Evidence
    from mrag.completion.passages import Passage, Passages

    evidence = Evidence(Passages([Passage("urn:x:1", "Bob Stone was born in Paris.", "a.txt")]))
    planner = open_planner(kg)
    planner.model = None
    read = Completer(kg, evidence, planner).ask("Where was Bob Stone born?")
    assert read.answers == ("Paris",) and read.run is not None
    other = Completer(kg, evidence, planner).ask("In which hospital was Bob Stone born?")
    assert other.answers == () and other.run is None and "“hospital”" in other.text


def test_a_value_of_no_known_class_may_be_of_the_kind(kg: KnowledgeGraph) -> None:
    with mrag.connect() as other:
        other.insert(kg.store.construct("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", kg.dataset()))
        other.insert(
            [
                Triple(URIRef(E + "eve"), RDFS.label, Literal("Eve Moor")),
                Triple(URIRef(E + "eve"), URIRef(E + "bornIn"), URIRef(E + "ystad")),
                Triple(URIRef(E + "ystad"), RDFS.label, Literal("Ystad")),
            ]
        )
        planner = PathPlanner(other, model=None)
        assert ask(other, planner, "Which town was Eve Moor born in?").answers == ("Ystad",)


def test_a_relation_that_an_entity_cannot_have_is_not_read_for_it() -> None:
    facts = """
    @prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Van rdfs:label "van" . :Driver rdfs:label "driver" . :Depot rdfs:label "depot" .
    :home rdfs:label "home depot" ; rdfs:domain :Van ; rdfs:range :Depot .
    :swift a :Van ; rdfs:label "Swift" ; :home :north . :arrow a :Van ; rdfs:label "Arrow" .
    :ann a :Driver ; rdfs:label "Ann Hill" . :north a :Depot ; rdfs:label "Northgate" .
    """
    texts = ("Ann Hill lives in Northgate.", "The home depot of Arrow is Northgate.")
    passages = [Passage(f"urn:x:p{n}", text, "news.txt") for n, text in enumerate(texts)]
    with mrag.connect() as graph:
        graph.insert(Triple(*t) for t in Graph().parse(data=facts, format="turtle"))  # type: ignore[arg-type]
        completer = Completer(graph, Evidence(Passages(passages)))
        lives = completer.ask("Where does Ann Hill live?")
        assert lives.run is None and not lives.completion.read and not lives.answers
        assert "Northgate" in completer.ask("What is the home depot of Arrow?").text


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("When was Ann Hill born?", ["1970-02-03"]),
        ("Where was Ann Hill born?", ["Paris"]),
        ("When was Dora Vane born?", []),  # there is only a place
        ("Where was Bob Stone born?", []),  # there is only a day
        ("Who is the author of Moss?", ["Ann Hill"]),
    ],
)
def test_a_time_is_no_place_and_a_place_is_no_time(question: str, answers: list[str]) -> None:
    with mrag.connect() as graph:
        day = "^^<http://www.w3.org/2001/XMLSchema#date>"
        days = f':ann :bornOn "1970-02-03"{day} . :bob :bornOn "1980-01-01"{day} .'
        more = f':bornOn rdfs:label "born on" . {days}'
        graph.insert(Triple(*t) for t in Graph().parse(data=FACTS + more, format="turtle"))  # type: ignore[arg-type]
        planner = PathPlanner(graph, model=None)
        assert list(ask(graph, planner, question).answers) == answers
