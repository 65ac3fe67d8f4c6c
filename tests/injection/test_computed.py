"""Computed answers from hostile names: their words, rows, readings and queries forge and steer nothing."""

from __future__ import annotations

import random

import pyoxigraph as ox
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import ask, verify
from mrag.stores.oxigraph import OxigraphStore
from tests.injection.hostile import attack, ids_in, signs_in, strange_markup, text
from tests.injection.test_answers import wrong_with

E = "http://example.org/"
QUESTIONS = (
    "How many gadgets are there?",
    "List the gadgets",
    "Which gadgets are made by Acme?",
    "How many gadgets are there per maker?",
    "Is Widget a gadget?",
    "Which gadget has the highest weight?",
)


PLAIN_MARKUP = {*"div p br small pre details summary table caption thead tbody tr th td span ul li".split()}


def gadgets(rng: random.Random) -> KnowledgeGraph:
    """Make a graph of things that can be asked for, most of whose names are hostile."""
    kg = KnowledgeGraph(OxigraphStore())
    named = {"Gadget": "gadget", "Maker": "maker", "made": "made by", "weight": "weight", "acme": "Acme"}
    triples = [Triple(URIRef(E + name), RDFS.label, Literal(label)) for name, label in named.items()]
    triples.append(Triple(URIRef(E + "acme"), RDF.type, URIRef(E + "Maker")))
    for number in range(rng.randint(2, 6)):
        gadget, maker = URIRef(f"{E}g{number}"), URIRef(f"{E}m{number % 2}")
        triples += [
            Triple(gadget, RDF.type, URIRef(E + "Gadget")),
            Triple(gadget, RDFS.label, Literal(text(rng) if number else "Widget")),
            Triple(gadget, URIRef(E + "made"), maker if number else URIRef(E + "acme")),
            Triple(gadget, URIRef(E + "weight"), Literal(rng.randint(1, 5))),
            Triple(maker, RDF.type, URIRef(E + "Maker")),
            Triple(maker, RDFS.label, Literal(text(rng))),
        ]
    kg.insert(triples)
    return kg


def of_names(rng: random.Random) -> str | None:
    computed = 0
    with gadgets(rng) as kg:
        before = kg.count("all")
        for question in QUESTIONS:
            given = ask(kg, question, model="none", how="plan")
            if given.computed is None:
                continue
            computed += 1
            found = given.computed
            if wrong := wrong_with(given, given.context):
                return f"{question}: {wrong}"
            if not (report := verify(kg, given.to_json())).ok:
                return f"{question}: {report}"
            told = [found.reading, *(x for r in found.readings for x in (r.reading, r.answer))]
            for said in [*told, *(s.text for s in given.sentences)]:
                if signs_in(said) or ids_in(said) or len(said.splitlines()) > 1:
                    return f"{question}: a sign, an id or a line break in {said!r}"
            # The query is one read, however things are called.
            if not isinstance(ox.Store().query(found.query), ox.QuerySolutions | ox.QueryBoolean):
                return f"{question}: another query: {found.query!r}"
            if strange := strange_markup(given._repr_html_(), PLAIN_MARKUP):
                return f"{question}: a browser sees {strange}"
        if kg.count("all") != before:
            return "asking wrote"
    return None if computed >= 3 else f"only {computed} questions were computed"


def test_names_forge_nothing_in_what_is_computed() -> None:
    attack("computed answers", 6, of_names)
