"""DL-Learner's knowledge bases become the triples that OWL 2 gives their axioms."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import OWL, Graph, URIRef
from rdflib.compare import isomorphic

import mrag
from mrag.cel.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    Expression,
    Named,
    Not,
    Only,
    Or,
    Property,
    Some,
    Top,
)
from mrag.cel.notation import to_graph
from mrag.errors import LoadError
from mrag.loaders.ontologies import NAMESPACE, convert_kb
from tests.cases import cases

PREFIXES = f"""@prefix : <{NAMESPACE}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . """
_LINES = (Path(__file__).parent / "statements.jsonl").read_text(encoding="utf-8").splitlines()
STATEMENTS = [json.loads(line) for line in _LINES]
"""Statements, each with its triples in Turtle."""


@pytest.mark.parametrize(("text", "turtle"), STATEMENTS)
def test_a_statement_is_its_triples(text: str, turtle: str) -> None:
    found = Graph().parse(data=convert_kb(text, "a.kb"), format="nt")
    assert isomorphic(found, Graph().parse(data=PREFIXES + turtle, format="turtle"))


names = st.sampled_from("abc").map(lambda x: Named(NAMESPACE + x))
roles = st.sampled_from("pq").map(lambda x: Property(NAMESPACE + x))
concepts: st.SearchStrategy[Expression] = st.recursive(
    names | st.just(Top()) | st.just(Bottom()),
    lambda some: (
        st.builds(Not, some)
        | st.builds(Some, roles, some)
        | st.builds(Only, roles, some)
        | st.builds(AtLeast, st.integers(0, 12), roles, some)
        | st.builds(AtMost, st.integers(0, 12), roles, some)
        | st.lists(some, min_size=2, max_size=3).map(lambda x: And(tuple(x)))
        | st.lists(some, min_size=2, max_size=3).map(lambda x: Or(tuple(x)))
    ),
    max_leaves=8,
)


def _written(concept: Expression) -> str:
    match concept:
        case Named(iri):
            return iri.removeprefix(NAMESPACE)
        case Top():
            return "TOP"
        case Bottom():
            return "BOTTOM"
        case Not(inner):
            return f"NOT {_written(inner)}"
        case Some(role, filler):
            return f"EXISTS {role.iri.removeprefix(NAMESPACE)}.{_written(filler)}"
        case Only(role, filler):
            return f"ALL {role.iri.removeprefix(NAMESPACE)}.{_written(filler)}"
        case AtLeast(number, role, filler):
            return f">= {number} {role.iri.removeprefix(NAMESPACE)}.{_written(filler)}"
        case AtMost(number, role, filler):
            return f"<= {number} {role.iri.removeprefix(NAMESPACE)}.{_written(filler)}"
        case And(parts):
            return "(" + " AND ".join(map(_written, parts)) + ")"
        case Or(parts):
            return "(" + " OR ".join(map(_written, parts)) + ")"
    raise AssertionError(concept)


_DECLARED = ("Class", "ObjectProperty")


@given(concepts)
def test_concepts_are_the_triples_of_the_same_expression(concept: Expression) -> None:
    found = Graph().parse(data=convert_kb(f"x = {_written(concept)}.", "a.kb"), format="nt")
    wanted = Graph().parse(data=PREFIXES + ":x a owl:Class .", format="turtle")
    named = {str(s) for s in found.subjects() if str(s).startswith(NAMESPACE)}
    wanted += [t for t in found if str(t[0]) in named and str(t[2]).endswith(_DECLARED)]
    wanted.add((URIRef(NAMESPACE + "x"), OWL.equivalentClass, to_graph(concept, wanted)))
    assert isomorphic(found, wanted)


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        *cases(__file__, "REFUSED"),
        ("x = " + "NOT " * 5000 + "a.", "nested too deep", 1),
        ("x = " + "(" * 5000 + "a", "nested too deep", 1),
    ],
)
def test_what_is_not_of_the_grammar_is_refused_with_its_line(text: str, words: str, line: int) -> None:
    with pytest.raises(LoadError) as refused:
        convert_kb(text, "a.kb")
    assert words in refused.value.message
    assert (refused.value.file, refused.value.line) == ("a.kb", line)


def test_a_knowledge_base_is_loaded_and_reasoned_over(tmp_path: Path) -> None:
    text = "father = (male AND EXISTS hasChild.TOP).\nmale(stefan). person(anna). hasChild(stefan, anna)."
    (tmp_path / "a.kb").write_text(text, encoding="utf-8")
    (tmp_path / "b.kb.gz").write_bytes(gzip.compress(b"male(heinz)."))
    with mrag.connect() as kg:
        kg.load([tmp_path])
        mrag.reason(kg)
        found = {str(x) for (x,) in kg.select(f"SELECT ?x {{ ?x a <{NAMESPACE}father> }}")}
        assert found == {NAMESPACE + "stefan"}
        assert list(kg.select(f"SELECT ?x {{ <{NAMESPACE}heinz> a ?x . FILTER(?x = <{NAMESPACE}male>) }}"))
        (tmp_path / "c.kb").write_text("male(x).\nmale(", encoding="utf-8")
        with pytest.raises(LoadError) as refused:
            kg.load([tmp_path / "c.kb"])
        assert refused.value.line == 2 and str(refused.value.file).endswith("c.kb")
