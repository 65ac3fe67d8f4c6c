"""Codes, their matrix, the registry, interchange and the algebra."""

import json

import pytest
from hypothesis import given

from mrag.errors import ConfigError
from mrag.graphcodes.code import (
    Edge,
    GraphCode,
    Node,
    RelationRegistry,
    difference,
    from_json,
    intersection,
    term,
    to_json,
    union,
)
from mrag.graphcodes.explanation import CodeVerbaliser
from tests.graphcodes.strategies import codes

FACTUAL = GraphCode.of([], [("woman", "holds", "umbrella"), ("umbrella", "is", "red")])


def test_nodes_are_iris_or_terms():
    assert Node("http://example.org/A").name == "http://example.org/A"
    assert Node("ex:A", "a thing").name == "a thing"
    assert term(" A \tRed  Thing ") == "a red thing"
    for wrong in ("", "  ", "Man", "two  spaces", " man"):
        with pytest.raises(ConfigError):
            Node(wrong)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_are_finite_and_not_negative(weight):
    with pytest.raises(ConfigError, match="weight"):
        Edge("a", "r", "b", weight)


def test_relations_are_not_blank():
    with pytest.raises(ConfigError, match="blank"):
        Edge("a", " ", "b")


def test_order_does_not_matter_and_ends_become_nodes():
    a = GraphCode.of(["z"], [("b", "r", "a"), ("a", "s", "b")])
    b = GraphCode.of(["a", "z"], [("a", "s", "b"), ("b", "r", "a"), ("a", "s", "b")])
    assert a == b
    assert a.dictionary == ("a", "b", "z")


def test_a_node_given_twice_has_the_types_of_both():
    code = GraphCode.of([Node("a", "", frozenset("x")), Node("a", "label", frozenset("y"))])
    assert code.nodes == (Node("a", "label", frozenset("xy")),)


def test_parallel_edges_and_loops_are_kept():
    code = GraphCode.of([], [("a", "r", "b"), ("a", "s", "b"), ("a", "r", "a")])
    assert code.cells == {("a", "a"): ("r",), ("a", "b"): ("r", "s")}


def test_type_and_weight_stay_apart():
    registry = RelationRegistry({"r": 1, "s": 2})
    light = GraphCode.of([], [Edge("a", "r", "b", 2.0)])
    heavy = GraphCode.of([], [Edge("a", "s", "b", 1.0)])
    # In the product of the paper they are the same; as codes they are not.
    assert light.matrix(registry, weighted=True).toarray().tolist() == [[0, 2], [0, 0]]
    assert heavy.matrix(registry, weighted=True).toarray().tolist() == [[0, 2], [0, 0]]
    assert light.matrix(registry).toarray().tolist() != heavy.matrix(registry).toarray().tolist()


def test_an_edge_of_weight_nothing_is_an_edge():
    registry = RelationRegistry()
    code = GraphCode.of([], [Edge("a", "r", "b", 0.0)])
    assert code.matrix(registry).toarray().tolist() == [[0, 1], [0, 0]]
    assert code.matrix(registry, weighted=True).toarray().tolist() == [[0, 0], [0, 0]]


def test_one_number_tells_parallel_relations():
    registry = RelationRegistry()
    code = GraphCode.of([], [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "a")])
    matrix = code.matrix(registry).toarray()
    assert registry.relations(int(matrix[0, 1])) == ("r", "s")
    assert registry.relations(int(matrix[1, 0])) == ("r",)


def test_matrix_of_nothing():
    assert GraphCode().matrix(RelationRegistry()).shape == (0, 0)


def test_registry_is_injective_and_goes_on_from_its_names():
    registry = RelationRegistry()
    names = ["r", "s", "0", '["r"]', "[", "r + s"]
    numbers = [registry.number(name) for name in names] + [registry.number(("r", "s"))]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) >= 1
    again = RelationRegistry(registry.names())
    assert again.names() == registry.names()
    assert again.number("new") == max(numbers) + 1


@pytest.mark.parametrize("given_numbers", [{"r": 0}, {"r": -1}, {"r": 1, "s": 1}, {"r": True}, {"r": 1.5}])
def test_registry_refuses_bad_numbers(given_numbers):
    with pytest.raises(ConfigError):
        RelationRegistry(given_numbers)


@given(codes(weights=True))
def test_interchange_there_and_back(code):
    written = json.loads(json.dumps(to_json(code, RelationRegistry())))
    assert from_json(written) == code
    assert len(written["matrix"]) == len(written["dictionary"]) == len(code)


def test_interchange_of_parts():
    whole = GraphCode.of(["scene"], [], [FACTUAL, GraphCode.of(["tree"], [], [FACTUAL])])
    again = from_json(json.dumps(to_json(whole, RelationRegistry())))
    assert again == whole
    assert again.parts[1].parts == (FACTUAL,)


def test_a_public_file_is_read():
    code = from_json({"dictionary": ["dog", "man", "hat"], "matrix": [[1, 12, 0], [0, 1, 1], [0, 0, 2]]})
    assert [edge.key for edge in code.edges] == [("dog", "before", "man"), ("man", "child", "hat")]


def test_unknown_numbers_become_relations_of_that_name():
    code = from_json({"dictionary": ["a", "b"], "matrix": [[2, 99], [0, 2]]})
    assert code.edges[0].relation == "relation 99"


DEFECTS = {
    "capital letters": ({"dictionary": ["Dog", "man"], "matrix": [[1, 14], [0, 2]]}, "lower case"),
    "an empty word": (
        {"dictionary": ["dog", " ", "man"], "matrix": [[1, 3, 14], [0, 0, 0], [0, 0, 2]]},
        "word",
    ),
    "a word twice": (
        {"dictionary": ["dog", "dog", "man"], "matrix": [[1, 0, 0], [0, 1, 14], [0, 0, 2]]},
        "2 t",
    ),
    "rows cut short": ({"dictionary": ["dog", "man"], "matrix": [[1, 14]]}, "fewer"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_defects_are_errors_or_mended_knowingly(defect):
    data, message = DEFECTS[defect]
    with pytest.raises(ConfigError, match=message):
        from_json(data)
    told = []
    code = from_json(data, on_mend=told.append)
    assert [edge.key for edge in code.edges] == [("dog", "above", "man")]
    assert len(told) == 1


@pytest.mark.parametrize(
    "data",
    [
        "[",
        "[]",
        "{}",
        {"dictionary": "dog"},
        {"dictionary": ["dog"], "matrix": [[1, 2], [3, 4]]},
        {"dictionary": ["dog", 3], "matrix": []},
        {"dictionary": ["dog", "man"], "matrix": [[1, -1], [0, 2]]},
        {"dictionary": ["dog", "man"], "matrix": [[1, 1.5], [0, 2]]},
        {"dictionary": ["dog"], "matrix": [["x"]]},
        {"dictionary": ["dog"], "matrix": 5},
    ],
)
def test_what_cannot_be_mended_is_an_error(data):
    with pytest.raises(ConfigError):
        from_json(data, on_mend=lambda _: None)


@given(codes(weights=True), codes(weights=True))
def test_algebra(a, b):
    keys = lambda code: {edge.key for edge in code.edges}  # noqa: E731
    assert keys(union([a, b])) == keys(a) | keys(b)
    assert set(union([a, b]).dictionary) == set(a.dictionary) | set(b.dictionary)
    assert keys(intersection([a, b])) == keys(a) & keys(b)
    assert set(intersection([a, b]).dictionary) == set(a.dictionary) & set(b.dictionary)
    assert keys(difference(a, b)) == keys(a) - keys(b)
    assert union([difference(a, b), intersection([a, b])]).dictionary == a.dictionary
    assert union([a, a]) == intersection([a, a]) == a
    assert not difference(a, a)


def test_algebra_of_nothing():
    assert union([]) == intersection([]) == GraphCode()


def test_saying():
    code = GraphCode.of(
        [Node("ex:m", "the man"), Node("sun")], [("ex:m", "http://example.org/ridesOn", "bike")]
    )
    assert CodeVerbaliser().verbalise(code) == "the man rides on bike. Also: sun."
    assert (
        CodeVerbaliser(names={"http://example.org/ridesOn": "rides"}).verbalise(code)
        == "the man rides bike. Also: sun."
    )
    other = CodeVerbaliser({"http://example.org/ridesOn": "{target} under {source}"})
    assert other.verbalise(code) == "bike under the man. Also: sun."
    assert CodeVerbaliser().verbalise(GraphCode()) == ""


@pytest.mark.parametrize("template", ["{subject} sees", "{source", "{} x"])
def test_templates_are_checked(template):
    with pytest.raises(ConfigError):
        CodeVerbaliser({"sees": template})
