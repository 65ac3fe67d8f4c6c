"""Three small graphs with one vocabulary: clean numbers, messy values, and dates of all spellings."""

import random
from collections.abc import Callable

from rdflib import RDF, XSD, Literal, URIRef

from mrag.rdf.terms import Triple

THINGS = tuple(URIRef(f"urn:t:{i}") for i in range(9))
PLACES = tuple(URIRef(f"urn:t:place{i}") for i in range(3))
CLASSES = (URIRef("urn:c:A"), URIRef("urn:c:B"))
KNOWS, IN, SIZE, NAME, WHEN, TILL = (
    URIRef(f"urn:p:{n}") for n in ("knows", "in", "size", "name", "when", "till")
)
HOSTILE = (
    'a "quoted" name', "} ; DROP ALL #", "it's <b>\\ back\\slash", "two\nlines\tand\rmore",
    "line\u2028separator { ?x }", "$1 [a-z]+ (",
)  # fmt: skip


def _typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=XSD[name], normalize=False)


def _clean(rng: random.Random) -> dict[URIRef, list[Literal]]:
    day = f"20{rng.randint(10, 23)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    number = rng.choice(
        [_typed(str(rng.randint(-3, 12)), "integer"), _typed(f"{rng.randint(0, 20)}.25", "decimal")]
    )
    return {
        SIZE: [number],
        NAME: [Literal(rng.choice(["Alpha", "beta", "Gamma Ray", "delta"]))],
        WHEN: [_typed(day, "date")],
        TILL: [_typed(f"{rng.choice(['2024-02-29', day])}T{rng.choice([0, 0, 9, 23]):02}:30:00", "dateTime")],
    }


def _messy(rng: random.Random) -> dict[URIRef, list[Literal]]:
    sizes = [
        Literal("12 kg"), Literal("12"), Literal("1,250.5 m"), Literal("-3.5"), Literal("unknown"),
        Literal("n/a 5"), Literal("  7"), Literal("7.", lang="en"), Literal("$9.99"), Literal("-€3 "),
        Literal(".5 kg"), Literal("12,5"), Literal("10-20"), Literal("2020-05-06"), Literal("PT1M30S"),
        Literal("P1DT2.5S", datatype=XSD.duration, normalize=False), Literal("PT"), _typed("7", "integer"),
        _typed("2.5", "decimal"), Literal("4e1"),
    ]  # fmt: skip
    names = [Literal(h) for h in HOSTILE] + [
        Literal("Élan Vital", lang="fr"), Literal("elan vital", lang="en"), Literal("ELAN VITAL"),
        Literal("5"), Literal(""),
    ]  # fmt: skip
    days = [Literal("2020-01-31"), Literal("31/01/2020"), Literal("2020-13-01"), Literal("1999")]
    return {
        SIZE: rng.sample(sizes, rng.choice([0, 1, 1, 2, 3])), NAME: rng.sample(names, rng.choice([1, 1, 2])),
        WHEN: rng.sample(days, rng.choice([0, 1, 2])), TILL: [],
    }  # fmt: skip


def _dated(rng: random.Random) -> dict[URIRef, list[Literal]]:
    year, month, day = rng.randint(1899, 2030), rng.randint(1, 12), rng.randint(1, 28)
    hour = rng.randint(0, 23)
    spellings = [
        _typed(f"{year}-{month:02}-{day:02}", "date"),
        _typed(f"{year}-{month:02}-{day:02}T{hour:02}:15:30", "dateTime"),
        _typed(f"{year}-{month:02}-{day:02}T{hour:02}:15:30Z", "dateTime"), _typed(str(year), "gYear"),
        _typed(str(year), "integer"), Literal(f"{year}-{month:02}-{day:02}"),
        Literal(f"{year}-{month:02}-{day:02} {hour:02}:45:00"),
        Literal(f"{year}-{month:02}-{day:02} {hour:02}:45"), Literal(f"{year}-{month:02}"),
        Literal("2000-02-29"), Literal("soon"),
    ]  # fmt: skip
    return {
        SIZE: [_typed(str(rng.randint(1, 4)), "integer")],
        NAME: [Literal(f"thing {rng.randint(1, 3)}", lang="en")],
        WHEN: rng.sample(spellings, rng.choice([1, 1, 2])),
        TILL: rng.sample(spellings, rng.choice([0, 1])),
    }


def _graph(values: Callable[[random.Random], dict[URIRef, list[Literal]]], seed: int) -> frozenset[Triple]:
    rng, found = random.Random(seed), set()
    for thing in THINGS:
        found.add(Triple(thing, RDF.type, rng.choice(CLASSES)))
        for other in rng.sample(THINGS, rng.choice([0, 1, 1, 2])):
            found.add(Triple(thing, KNOWS, other))
        for place in rng.sample(PLACES, rng.choice([0, 1, 1, 2])):
            found.add(Triple(thing, IN, place))
        for predicate, literals in values(rng).items():
            if rng.random() < 0.85:
                found.update(Triple(thing, predicate, literal) for literal in literals)
    return frozenset(found)


GRAPHS = {"clean": _graph(_clean, 1), "messy": _graph(_messy, 2), "dates": _graph(_dated, 3)}
