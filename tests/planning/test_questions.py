"""Questions read without a language model and computed, on two graphs made for these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rdflib import Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.rdf.terms import Triple

DATA = Path(__file__).parent / "data"
RDFS_LABEL = URIRef("http://www.w3.org/2000/01/rdf-schema#label")

STATES = [
    ("what state is austin in", ["Texas"]),
    ("which state has the smallest area", ["Hawaii"]),
    ("Is Texas the largest state?", ["yes"]),
    ("Is the Rio Grande the longest river?", ["no"]),
    ("Is Houston one of the two largest cities?", ["yes"]),
    ("is texas the state with the most rivers", ["yes"]),
    ("what is the smallest river", ["Pecos"]),
    ("what is the lowest population of any state", ["964000"]),
    ("how many people live in the capital of new mexico", ["48953"]),
    ("what is the total population of the states that border texas", ["8534000"]),
    ("which states does the longest river run through", ["Louisiana"]),
    ("states through which the red river runs", ["Louisiana", "New Mexico", "Oklahoma", "Texas"]),
    ("how many rivers run through new mexico", ["3"]),
    ("what is the average length of rivers in texas", ["1825.3333"]),
    ("what is the number of states", ["5"]),
    ("which city has the largest population", ["Houston"]),
    ("which capitals are in texas", ["Austin"]),
    ("what is the population of the largest city in texas", ["1595138"]),
    ("name all rivers", ["Mississippi", "Pecos", "Red", "Rio Grande"]),
    (
        "list the cities ordered by population",
        [
            "Albuquerque",
            "Austin",
            "Baton Rouge",
            "Dallas",
            "Honolulu",
            "Houston",
            "Oklahoma City",
            "Santa Fe",
        ],
    ),
    ("list the three largest cities", ["Dallas | 904078", "Honolulu | 762874", "Houston | 1595138"]),
    ("what are the two longest rivers", ["Mississippi | 3778", "Rio Grande | 3033"]),
    ("which state has the most rivers", ["New Mexico", "Texas"]),
    ("which river runs through the most states", ["Red"]),
    ("which states are not bordered by texas", ["Hawaii", "Texas"]),
    ("how many cities have more than 300000 people", ["6"]),
    ("which cities have a population between 300000 and 500000", ["Albuquerque", "Austin", "Oklahoma City"]),
    ("is houston larger than dallas", ["yes"]),
    ("which states have a population density above 50", ["Hawaii", "Louisiana", "Texas"]),
    ("which is the smallest capital", ["Santa Fe"]),
    (
        "show the average population of cities per state",
        [
            "Hawaii | 762874",
            "Louisiana | 219419",
            "New Mexico | 190936.5",
            "Oklahoma | 403213",
            "Texas | 948237.3333",
        ],
    ),
    ("which mountains are in hawaii or texas", ["Guadalupe Peak", "Mauna Kea"]),
    ("does the red river run through oklahoma", ["yes"]),
    ("are there any rivers in hawaii", ["no"]),
    ("how many states have no mountains", ["2"]),
    ("what states contain mountains", ["Hawaii", "New Mexico", "Texas"]),
    ("what is the longest river", ["Mississippi"]),
    ("which is the longest river in texas", ["Rio Grande"]),
    ("which states border texas", ["Louisiana", "New Mexico", "Oklahoma"]),
    ("how many states border texas", ["3"]),
    ("how many states does the red river run through", ["4"]),
    ("how many states does the mississippi touch", ["1"]),
    ("what is the capital of texas", ["Austin"]),
    ("what is the largest city in texas", ["Houston"]),
    ("what is the biggest state", ["Texas"]),
    ("what is the smallest city", ["Santa Fe"]),
    ("which state has the most cities", ["Texas"]),
    ("which states have no rivers", ["Hawaii"]),
    ("what is the highest mountain", ["Mauna Kea"]),
    ("what is the area of the smallest state", ["6471"]),
    ("how long is the rio grande", ["3033"]),
    ("how big is texas", ["266807"]),
    ("how high is mauna kea", ["4205"]),
    ("what rivers flow through texas", ["Pecos", "Red", "Rio Grande"]),
    ("which rivers do not run through texas", ["Mississippi"]),
    ("what is the average population of states", ["4745400"]),
    ("what is the population density of texas", ["53.3"]),
    ("what is the population of austin", ["345496"]),
    ("how many people live in texas", ["14229000"]),
    ("which state has the highest population density", ["Hawaii"]),
    ("what cities in texas have a population over 500000", ["Dallas", "Houston"]),
    ("give me the cities in new mexico", ["Albuquerque", "Santa Fe"]),
    (
        "how many cities are there in each state",
        ["Hawaii | 1", "Louisiana | 1", "New Mexico | 2", "Oklahoma | 1", "Texas | 3"],
    ),
    ("which state borders the most states", ["Texas"]),
    ("what is the total area of all states", ["512578"]),
    ("name the rivers longer than 1000 km", ["Mississippi", "Red", "Rio Grande"]),
    ("what is the capital of the state with the largest area", ["Austin"]),
    ("rivers in texas", ["Pecos", "Red", "Rio Grande"]),
    ("is austin the capital of texas", ["yes"]),
    ("does texas border hawaii", ["no"]),
    ("which states have more than two cities", ["Texas"]),
    ("what is the second longest river", ["Rio Grande"]),
    ("what is the population of the capital of texas", ["345496"]),
    ("what states border states that border louisiana", ["Louisiana", "New Mexico", "Oklahoma"]),
    ("what is the longest river in the largest state", ["Rio Grande"]),
    ("how many rivers run through the largest state", ["3"]),
    ("which states border the state with the most cities", ["Louisiana", "New Mexico", "Oklahoma"]),
    ("what is the population of the state with the most rivers", ["1303000", "14229000"]),
    ("what is the largest city in the smallest state", ["Honolulu"]),
    ("which rivers run through states that border oklahoma", ["Pecos", "Red", "Rio Grande"]),
    ("how many states border the state with the longest river", ["1"]),
    ("what is the average population of cities in states that border texas", ["251126.25"]),
    ("which is the smallest state that the longest river runs through", ["Louisiana"]),
    ("what is the average number of rivers per state", ["2.25"]),
    ("what is the capital of the largest state", ["Austin"]),
    ("what is the combined area of texas and oklahoma", ["336763"]),
    ("what is the difference in population between texas and oklahoma", ["11204000"]),
    ("where is the highest mountain", ["Hawaii"]),
    ("where is houston", ["Texas"]),
    ("which states have more people than oklahoma", ["Louisiana", "Texas"]),
    ("which cities are more populous than dallas", ["Houston"]),
    ("what is the area of all the states combined", ["512578"]),
    ("of the states bordering texas which has the largest population", ["Louisiana"]),
    ("how many rivers does new mexico have", ["3"]),
    ("which rivers run through both texas and oklahoma", ["Red"]),
    ("which rivers run through texas or oklahoma", ["Pecos", "Red", "Rio Grande"]),
    ("what is the largest state bordering texas", ["New Mexico"]),
    ("how many rivers are there", ["4"]),
    ("what percentage of the cities are in texas", ["37.5"]),
    ("which state is larger than new mexico", ["Texas"]),
    ("what is the shortest river", ["Pecos"]),
    ("which city has fewer than 100000 inhabitants", ["Santa Fe"]),
    ("how many cities in texas have more than 500000 people", ["2"]),
    ("what is the largest capital", ["Honolulu"]),
    ("what mountains are higher than guadalupe peak", ["Mauna Kea", "Wheeler Peak"]),
]

COMPANY = [
    ("Which department does John Smith work in?", ["Engineering"]),
    ("Who works in Engineering?", ["Lopez, Maria", "Smith, John"]),
    ("What is Heinrich Brant's email address?", ["h.b@c.example"]),
    ("Give me the phone number of Maria Lopez", ["+49-1"]),
    ("Which products cost more than 5 euros?", ["Data Cleaning", "S7 Heat Sensor", "X20-11873 - Pump, blue"]),
    ("How many products cost less than 10 EUR?", ["2"]),
    ("What is the total price of all hardware?", ["27.6 EUR"]),
    ("What is the weight of the heat sensor?", ["30"]),
    ("Which suppliers are located in Berlin?", ["Bolt GmbH"]),
    ("How many suppliers are there per country?", ["Germany | 1", "Spain | 2", "United States | 1"]),
    ("List the suppliers from Germany or Spain", ["Acme Ltd", "Bolt GmbH", "Delta Co"]),
    ("What is the most reliable product?", ["S7 Heat Sensor"]),
    ("Which category has the highest average price?", ["Pump"]),
    ("Which products have no supplier?", ["Data Cleaning"]),
    ("What is the average weight of products supplied by Acme?", ["151.5"]),
    ("Name the product categories that Engineering is responsible for", ["Resistor"]),
    ("How many managers are there?", ["2"]),
    ("Is Acme Ltd from Spain?", ["yes"]),
    ("Which products are taller than the heat sensor?", ["X20-11873 - Pump, blue"]),
    ("top 2 products by weight", ["S7 Heat Sensor | 30", "X20-11873 - Pump, blue | 300"]),
    ("What is the height and width of the X20 pump?", ["20 | 10"]),
    (
        "Show me name and price of all hardware sorted by price descending",
        ["R100-2 Strain Resistor | 2.2 EUR", "S7 Heat Sensor | 9.9 EUR", "X20-11873 - Pump, blue | 15.5 EUR"],
    ),
    ("How many employees does each department have?", ["Engineering | 2", "Marketing | 2"]),
    ("Which department has the fewest employees?", ["Engineering", "Marketing"]),
    ("What is the email of Ms. Lopez?", ["maria.lopez@c.example"]),
    ("Who is the manager of John Smith?", ["Lopez, Maria"]),
    ("Which department is responsible for resistors?", ["Engineering"]),
    ("In which department is Ms. Miller?", ["Marketing"]),
    ("How many suppliers are from Spain?", ["2"]),
    ("Which Spanish suppliers do we have?", ["Acme Ltd", "Delta Co"]),
    ("What is the price of the X20 pump?", ["15.5 EUR"]),
    ("Which product is the most expensive?", ["Data Cleaning"]),
    ("Which is the cheapest hardware?", ["R100-2 Strain Resistor"]),
    ("What is the heaviest product?", ["X20-11873 - Pump, blue"]),
    ("Which suppliers deliver no product?", ["Delta Co"]),
    ("How many products does each supplier have?", ["Acme Ltd | 2", "Bolt GmbH | 1", "Cortex Inc | 1"]),
    ("Which suppliers have more than one product?", ["Acme Ltd"]),
    (
        "What is the average price of hardware per category?",
        ["Pump | 15.5 EUR", "Resistor | 2.2 EUR", "Sensor | 9.9 EUR"],
    ),
    ("Which products weigh less than 100 g?", ["R100-2 Strain Resistor", "S7 Heat Sensor"]),
    ("What are the phone numbers of employees in Engineering?", ["+49-1", "+49-2"]),
    ("Who is the product manager of the heat sensor?", ["Brant, Heinrich"]),
    ("Which products are managed by Heinrich Brant?", ["R100-2 Strain Resistor", "S7 Heat Sensor"]),
    ("List all products below 10 euros", ["R100-2 Strain Resistor", "S7 Heat Sensor"]),
    ("What is the total weight of all products of Acme?", ["303"]),
    ("How many employees work in Marketing?", ["2"]),
    ("Which country has the most suppliers?", ["Spain"]),
    ("Does Bolt GmbH supply the heat sensor?", ["no"]),
    ("Which employees have no manager?", ["Lopez, Maria", "Miller, Anna"]),
    ("Which products are supplied by Acme Ltd?", ["R100-2 Strain Resistor", "X20-11873 - Pump, blue"]),
    ("What share of the suppliers is from Germany?", ["0.25"]),
    ("products of suppliers from the US", ["S7 Heat Sensor"]),
    ("Which suppliers supply sensors or pumps?", ["Acme Ltd", "Cortex Inc"]),
    ("email addresses of managers", ["a.m@c.example", "maria.lopez@c.example"]),
    ("How many services are there?", ["1"]),
    ("Which product has the highest reliability index?", ["S7 Heat Sensor"]),
]

DEMO = [
    ("Who develops GraphDB?", ["Ontotext"]),
    ("How many triple stores are there?", ["11"]),
    ("How many databases?", ["33"]),
    ("How many more graph databases than vector databases are there?", ["12"]),
    ("Which vendor has the most products?", ["Apache Software Foundation"]),
    ("Is Virtuoso a database?", ["yes"]),
    ("Is Ontotext a database?", ["no"]),
    ("Does GraphDB support SHACL?", ["yes"]),
    ("What share of the products is open source?", ["0.6825"]),
    ("How many products are graph databases?", ["17"]),
    ("Which products were released before 2005?", ["MySQL", "SQLite"]),
]

REFUSED = {
    "demo": [
        "Which European vendors develop a triple store?",
        "What is the capital of France?",
        "Which vendors are headquartered in Paris?",
    ],
    "states": [
        "who is the president of texas",
        "what is the climate of hawaii",
        "how many airports are there in texas",
        "why is texas so big",
        "which river is the cleanest",
    ],
    "company": [
        "What is the capital of Spain?",
        "Who is the CEO?",
        "Which products are red?",
        "Who manages nobody?",
        "How many parking lots does Engineering have?",
        "What is the median price of hardware?",
    ],
}


def opened(name: str) -> KnowledgeGraph:
    kg = mrag.connect("oxigraph:")
    kg.load([DATA / f"{name}.ttl"])
    kg.reason()
    return kg


@pytest.fixture(scope="module")
def graphs() -> Iterator[dict[str, KnowledgeGraph]]:
    found = {name: opened(name) for name in ("states", "company")}
    found["demo"] = mrag.demo(model="none")
    yield found
    for kg in found.values():
        kg.close()


@pytest.mark.parametrize(
    ("name", "question", "rows"),
    [("states", *q) for q in STATES] + [("company", *q) for q in COMPANY] + [("demo", *q) for q in DEMO],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_question_is_computed_and_proved(
    graphs: dict[str, KnowledgeGraph], name: str, question: str, rows: list[str]
) -> None:
    attempt = compute(graphs[name], question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    found = attempt.answer.computed.rows
    assert sorted(" | ".join(cell.label for cell in row) for row in found) == rows
    assert attempt.answer.citations or rows in (["no"], ["0"])
    report = mrag.verify(graphs[name], attempt.answer)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("name", "question"), [(name, q) for name, questions in REFUSED.items() for q in questions]
)
def test_what_is_not_understood_is_not_answered(
    graphs: dict[str, KnowledgeGraph], name: str, question: str
) -> None:
    attempt = compute(graphs[name], question)
    assert not attempt.sure
    given = mrag.ask(graphs[name], question, how="plan")
    assert given.text.startswith(("Not in this graph", "Not answered")) and given.computed is None


def test_answers_do_not_depend_on_the_order_of_loading() -> None:
    lines = (DATA / "states.ttl").read_text(encoding="utf-8")
    whole = opened("states")
    other = mrag.connect("oxigraph:")
    triples = list(whole.query("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", layer="asserted"))  # type: ignore[call-overload]
    assert lines and triples
    other.insert(sorted(triples, reverse=True))
    other.reason()
    for question, _ in STATES[::5]:
        one, two = compute(whole, question).answer, compute(other, question).answer
        assert one is not None and two is not None
        assert one.to_json()["rows"] == two.to_json()["rows"], question
    whole.close()
    other.close()


def test_an_altered_answer_does_not_verify(graphs: dict[str, KnowledgeGraph]) -> None:
    kg = graphs["states"]
    answer = compute(kg, "how many rivers are there").answer
    assert answer is not None
    forged = answer.to_json()
    forged["rows"][0][0]["value"] = forged["rows"][0][0]["label"] = "40"
    forged["text"] = forged["text"].replace("4 rivers", "40 rivers")
    forged["sentences"][0]["text"] = "40 rivers"
    report = mrag.verify(kg, forged)
    assert not report.ok and report.unsupported == ("40 rivers",)
    assert "its rows are not what is computed now" in report.altered


def test_a_changed_graph_changes_the_answer() -> None:
    kg = opened("states")
    answer = compute(kg, "how many rivers are there").answer
    assert answer is not None and answer.text.startswith("4 rivers")
    river = URIRef("http://example.org/states/new")
    kg.insert(
        [
            Triple(river, URIRef("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
                   URIRef("http://example.org/states/River")),
            Triple(river, RDFS_LABEL, Literal("Brazos")),
        ]
    )  # fmt: skip
    now = compute(kg, "how many rivers are there").answer
    assert now is not None and now.text.startswith("5 rivers")
    assert not mrag.verify(kg, answer).ok
    kg.close()


@pytest.mark.parametrize(
    ("name", "questions"), [("states", STATES), pytest.param("company", COMPANY, marks=pytest.mark.slow)]
)
def test_a_reading_that_is_offered_is_the_one_that_its_number_takes(
    graphs: dict[str, KnowledgeGraph], name: str, questions: list[tuple[str, Any]]
) -> None:
    offered = 0
    for question, _ in questions:
        answer = compute(graphs[name], question).answer
        assert answer is not None and answer.computed is not None
        for other in answer.computed.readings:
            taken = compute(graphs[name], question, reading=other.number).answer
            assert taken is not None and taken.computed is not None
            assert taken.computed.reading == other.reading
            offered += 1
    assert offered > 2


def test_ways_and_readings_are_checked(graphs: dict[str, KnowledgeGraph]) -> None:
    kg = graphs["states"]
    with pytest.raises(ConfigError, match="no way called"):
        mrag.ask(kg, "how many rivers are there", how="guess")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="readings"):
        mrag.ask(kg, "how many rivers are there", how="plan", reading=99)
