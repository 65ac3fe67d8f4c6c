"""Plans read as plain English."""

import pytest
from hypothesis import HealthCheck, given, settings
from rdflib import Literal, URIRef
from rdflib.namespace import RDF

from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Comparison,
    Contains,
    DatePart,
    Days,
    Number,
    Order,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.plan import Block as B
from mrag.planning.plan import Column as C
from mrag.planning.wording import to_words
from mrag.rdf.terms import Term
from tests.planning.strategies import plans


def u(name: str) -> URIRef:
    return URIRef(f"urn:{name}")


def name(term: Term) -> str:
    return str(term).rpartition(":")[2].replace("_", " ")


X, WHO, Y, P, G = map(Unknown, ("x", "who", "y", "p", "g"))
FILM = Pattern(X, RDF.type, u("film"))
DIRECTOR, YEAR = Pattern(X, u("directed_by"), WHO), Pattern(X, u("year"), Y)
PRICE, GENRE = Pattern(X, u("price"), P), Pattern(X, u("genre"), G)
DIRECTED, TOWN = Pattern(X, u("directed_by"), WHO), Pattern(WHO, RDF.type, u("person"))
COUNT, MEAN = Aggregate("count", of=(X,)), Aggregate("average", Number(P), (X,))


def colour(value: str) -> Pattern:
    return Pattern(X, u("colour"), Literal(value))


CASES = [
    (Plan(B((FILM, DIRECTOR)), (C(WHO, "who"),)), "what the film is directed by"),
    (Plan(B((FILM, Pattern(X, u("directed_by"), u("Ann")))), (C(X, "x"),)), "each film directed by Ann"),
    (Plan(B((Pattern(u("Alien"), u("director"), WHO),)), (C(WHO, "w"),)), "the director of Alien"),
    (
        Plan(
            B((Pattern(u("Alien"), u("director"), WHO), Pattern(WHO, u("birth_place"), Y))), (C(Y, "place"),)
        ),
        "the birth place of the director of Alien",
    ),
    (
        Plan(
            B(
                (FILM, YEAR),
                (
                    Comparison(DatePart("year", Y), ">=", Literal(1990)),
                    Comparison(DatePart("year", Y), "<", Literal(2000)),
                ),
            ),
            (C(COUNT, "n"),),
        ),
        "the number of films whose year is no earlier than 1990 and before 2000",
    ),
    (
        Plan(B((FILM, PRICE, GENRE)), (C(G, "g"), C(MEAN, "a")), order=(Order("a", True),), limit=1),
        "the average price of films, for each genre, greatest first, only the first one",
    ),
    (
        Plan(B((FILM, DIRECTOR)), (C(WHO, "w"),), having=(Comparison(COUNT, ">", Literal(3)),)),
        "what the film is directed by, where the number of films is more than 3",
    ),
    (
        Plan(B((FILM, PRICE)), (C(X, "x"), C(P, "p")), order=(Order("p"),), limit=5, offset=3),
        "each film and its price, least first, numbers 4 to 8",
    ),
    (
        Plan(B((FILM, Pattern(X, u("writer"), u("Ann")), Pattern(X, u("writer"), u("Bo")))), (C(X, "x"),)),
        "each film whose writers are Ann and Bo",
    ),
    (
        Plan(
            B((FILM, Pattern(X, u("directed_by"), u("Ann")), Pattern(X, u("directed_by"), u("Bo")))),
            (C(X, "x"),),
        ),
        "each film directed by Ann and Bo",
    ),
    (Plan(B((Pattern(u("Alien"), u("price"), P),)), (C(Number(P), "p"),)), "the price of Alien"),
    (
        Plan(
            B((FILM, PRICE), (Comparison(P, ">", Scalar(Plan(B((FILM, PRICE)), (C(MEAN, "a"),)))),)),
            (C(X, "x"),),
        ),
        "each film whose price is more than (the average price of films)",
    ),
    (
        Plan(B((FILM,), either=((B((colour("red"),)), B((colour("green"),))),)), (C(COUNT, "n"),)),
        "the number of films either whose colour is red or whose colour is green",
    ),
    (
        Plan(B((FILM, Pattern(X, u("title"), G)), (Contains(G, "star"),)), (C(X, "x"),)),
        "each film whose title contains “star”",
    ),
    (
        Plan(B((FILM,), without=(B((Pattern(X, u("directed_by"), u("Ann")),)),)), (C(X, "x"),)),
        "each film not directed by Ann",
    ),
    (
        Plan(
            B((FILM, Pattern(X, u("start"), P), Pattern(X, u("end"), Y))),
            (C(X, "x"), C(Days(P, Y), "days")),
            order=(Order("days", True),),
            limit=1,
        ),
        "each film and the days from its start to its end, greatest first, only the first one",
    ),
    (
        Plan(
            B((FILM,)),
            (C(Arithmetic(Aggregate("count", of=(X,), where=B((colour("red"),))), "/", COUNT), "share"),),
        ),
        "the number of films whose colour is red divided by the number of films",
    ),
    (
        Plan(B((FILM, YEAR)), (C(X, "x"), C(Y, "y")), order=(Order("y", True),), limit=1, ties=True),
        "each film and its year, latest first, only the first one, ties included",
    ),
    (Plan(B((FILM, GENRE)), (C(G, "g"), C(COUNT, "n"))), "the number of films, for each genre"),
    (
        Plan(B((FILM, DIRECTED, TOWN)), (C(WHO, "w"), C(COUNT, "n"))),
        "the number of films directed by each person",
    ),
    (
        Plan(B((FILM, DIRECTED, TOWN)), (C(WHO, "w"),), having=(Comparison(COUNT, ">", Literal(3)),)),
        "each person where the number of films directed by it is more than 3",
    ),
    (Plan(B((FILM,), without=(B((DIRECTED, TOWN)),)), (C(X, "x"),)), "each film directed by no person"),
    (Plan(B((Pattern(u("Alien"), u("director"), u("Ridley")),))), "whether the director of Alien is Ridley"),
]


A, B_ = Unknown("a"), Unknown("b")
DOG, RED = Pattern(X, RDF.type, u("dog")), colour("red")
TWO = (Pattern(X, u("author"), A), Pattern(X, u("author"), B_))
DIFFERENT = (Comparison(A, "!=", B_),)
LINES = (Pattern(X, RDF.type, u("line")), Pattern(X, u("operator"), A), Pattern(A, u("seat"), u("Rome")))

TOLD_APART = [
    (
        Plan(B(TWO, DIFFERENT)),
        "whether there is a thing with an author and with another author, where the author of the thing "
        "is not the other author of the thing",
    ),
    (
        Plan(B((*TWO, Pattern(X, u("author"), Y)), DIFFERENT), (C(X, "x"), C(A, "a"), C(Y, "y"))),
        "each thing with another author, where its author is not its other author and its author and its "
        "third author",
    ),
    (
        Plan(
            B(
                (
                    *(Pattern(who, RDF.type, u("person")) for who in (A, B_)),
                    Pattern(A, u("age"), X),
                    Pattern(B_, u("age"), Y),
                ),
                (Comparison(X, "<", Y),),
            ),
            (C(A, "a"),),
        ),
        "each person with an age, where the other person has an age and its age is less than the age of "
        "the other person",
    ),
    (
        Plan(
            B((DOG, RED), without=(B((Pattern(A, u("town"), u("Rome")), Pattern(A, u("likes"), X))),)),
            (C(X, "x"),),
        ),
        "each dog whose colour is red and without any thing that likes it and whose town is Rome",
    ),
    (
        Plan(B((DOG, RED), without=(B((Pattern(A, u("town"), u("Rome")),)),)), (C(X, "x"),)),
        "each dog whose colour is red, but none where the town of the thing is Rome",
    ),
    (
        Plan(B((DOG, RED), without=(B(conditions=(Comparison(X, "=", u("Rex")),)),)), (C(X, "x"),)),
        "each dog whose colour is red and not where the dog is Rex",
    ),
    (
        Plan(B((DOG,), optional=(B((Pattern(X, u("breed"), A),)),)), (C(X, "x"), C(A, "a"))),
        "each dog and its breed if there is one",
    ),
    (
        Plan(B(LINES), (C(A, "a"),), having=(Comparison(COUNT, ">", Literal(1)),)),
        "each operator of the line whose seat is Rome, where the number of lines is more than 1",
    ),
    (Plan(B(LINES), (C(A, "a"),), (A,)), "each operator of the line whose seat is Rome"),
]


@pytest.mark.parametrize(("plan", "words"), [*CASES, *TOLD_APART])
def test_plans_in_words(plan: Plan, words: str) -> None:
    assert to_words(plan, name) == words


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(plans())
def test_every_plan_has_words(plan: Plan) -> None:
    words = to_words(plan, name)
    assert words.strip() == words and "  " not in words
