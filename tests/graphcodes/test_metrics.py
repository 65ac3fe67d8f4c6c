"""The metrics: settled cases, bounds, and what the structural one is for."""

import pytest
from hypothesis import given, settings

from mrag.errors import ConfigError
from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.graphcodes.explanation import explain
from mrag.graphcodes.metrics import (
    CodeComparison,
    CodeScores,
    Lexicographic,
    Ontology,
    Weighted,
    paper,
    query_relative,
    structural,
)
from tests.cases import cases
from tests.graphcodes.strategies import codes, ontologies, told

EMPTY = GraphCode()
BITES, BITTEN, LICKS = map(told, ("dog bites man", "man bites dog", "dog licks man"))


@given(codes(), codes())
def test_all_values_are_between_0_and_1(q, d):
    for scores in (paper(q, d), query_relative(q, d), structural(q, d)):
        assert all(0 <= v <= 1 for v in (scores.features, scores.relations, scores.types))
        assert 0 <= Weighted(3, 2, 1)(scores) <= 1


@settings(max_examples=60)
@given(codes(), codes(), ontologies())
def test_an_ontology_only_adds_matches(q, d, ontology):
    plain, more = structural(q, d), structural(q, d, ontology)
    assert all(0 <= v <= 1 for v in (more.features, more.relations, more.types))
    if q and d:
        assert more.features >= plain.features


@given(codes())
def test_a_code_is_like_itself(code):
    assert structural(code, code) == CodeScores(1.0, 1.0, 1.0)
    assert structural(code, code, Ontology()) == CodeScores(1.0, 1.0, 1.0)
    assert structural(code, code, excess=0) == CodeScores(1.0, 1.0, 1.0)


@given(codes(types=False), codes(types=False))
def test_only_equal_codes_are_fully_alike(q, d):
    assert (structural(q, d) == CodeScores(1.0, 1.0, 1.0)) == (q == d)


@given(codes(types=False))
def test_an_edge_turned_around_lowers_the_score(code):
    for at, edge in enumerate(code.edges):
        turned = Edge(edge.target, edge.relation, edge.source)
        if turned.key in {other.key for other in code.edges}:
            continue
        others = [*code.edges[:at], *code.edges[at + 1 :]]
        swapped = structural(code, GraphCode.of(code.nodes, [*others, turned]))
        assert swapped.types < 1
        assert Weighted()(swapped) < 1


def test_agent_and_patient():
    assert structural(BITES, BITTEN) == CodeScores(1.0, 0.0, 0.0)
    assert structural(BITES, LICKS) == CodeScores(1.0, 1.0, 0.0)
    assert query_relative(BITES, BITTEN) == CodeScores(1.0, 0.0, 0.0)
    assert paper(BITES, BITTEN) == CodeScores(1.0, 0.0, 0.0)


@pytest.mark.parametrize(("q", "d", "expected"), cases(__file__, "query_relative"))
def test_query_relative_is_what_upstream_tests_assert(q, d, expected):
    assert query_relative(told(q), told(d)) == CodeScores(*expected)


class TestPaper:
    def test_worked_out_by_hand(self):
        # Shared are a, b, c: six cells. Edges in both: a-b (same) and b-c (other type); a-c in d alone.
        q, d = told("x, a r b, b r c"), told("y, a r b, b s c, a r c, y r a")
        assert paper(q, d) == CodeScores(3 / 4, 2 / 6, 1 - 2 / 6)

    @pytest.mark.parametrize(("why", "q", "d", "features"), cases(__file__, "undefined"))
    def test_undefined_cases(self, why, q, d, features):
        assert paper(told(q), told(d)) == CodeScores(features, 0, 0), why

    def test_identical_codes_need_not_score_1(self):
        # A property of the paper's formulas, kept: M_FR is the density of a graph.
        assert paper(BITES, BITES) == CodeScores(1.0, 0.5, 1.0)


class TestStructural:
    def test_empty_codes(self):
        assert structural(EMPTY, EMPTY) == CodeScores(1, 1, 1)
        assert structural(EMPTY, BITES) == structural(BITES, EMPTY) == CodeScores(0, 0, 0)
        assert structural(EMPTY, BITES, excess=0) == CodeScores(0, 0, 0)

    def test_self_loops_and_parallel_edges_count(self):
        q, d = told("a r a, a r b, a s b"), told("a r a, a r b")
        assert structural(q, d, excess=0) == CodeScores(1, 1, 2 / 3)

    def test_without_edges_the_nodes_decide(self):
        found = structural(GraphCode.of(["a", "b"]), GraphCode.of(["a"]), excess=0)
        assert found == CodeScores(0.5, 0.5, 0.5)

    def test_what_a_document_has_besides_counts_against_it(self):
        more = GraphCode.of(["tree"], [("dog", "bites", "man")])
        assert structural(BITES, more, excess=0).features == 1
        assert structural(BITES, more).features < structural(BITES, BITES).features


UTI, INFECTION = "urinary tract infection", "infection"
KINDS = Ontology.of([("cystitis", UTI), (UTI, INFECTION), ("pneumonia", INFECTION)])


class TestRoles:
    """The paper's own failure: asked for a urinary tract infection, it was content with any."""

    QUESTION = GraphCode.of([], [("trimethoprim", "treats", UTI)])

    def answers(self, found, kinds=KINDS):
        return structural(self.QUESTION, GraphCode.of([], [("trimethoprim", "treats", found)]), kinds)

    def treated(self, types):
        return GraphCode.of([Node(INFECTION, "", frozenset(types))], [("drug", "treats", INFECTION)])

    def test_a_class_matches_itself_and_its_subclasses(self):
        assert self.answers(UTI) == self.answers("cystitis") == CodeScores(1, 1, 1)

    @pytest.mark.parametrize("found", [INFECTION, "pneumonia"])
    def test_a_class_does_not_match_what_is_wider_or_beside(self, found):
        assert self.answers(found) == CodeScores(0.5, 0, 0)

    def test_a_class_matches_instances_of_its_subclasses(self):
        case = Node("case 7", "", frozenset({"cystitis"}))
        d = GraphCode.of([case], [("trimethoprim", "treats", "case 7")])
        assert structural(self.QUESTION, d, KINDS) == CodeScores(1, 1, 1)

    @pytest.mark.parametrize(
        ("types", "fits"),
        [({"cystitis"}, True), ({UTI}, True), ({INFECTION}, False), ({"pneumonia"}, False), (set(), False)],
    )
    def test_a_role_demands_that_what_fills_it_fits(self, types, fits):
        q, d = self.treated({UTI}), self.treated(types)
        found = structural(q, d, KINDS)
        assert (found == CodeScores(1, 1, 1)) == fits
        assert fits or found == CodeScores(0.5, 0, 0)
        assert fits or explain(q, d, CodeComparison(ontology=KINDS)).unfit == (INFECTION,)
        assert paper(q, d) == paper(q, q), "the paper does not see it"

    def test_without_an_ontology_types_are_compared_as_they_are(self):
        q = GraphCode.of([Node(INFECTION, "", frozenset({UTI}))])
        assert structural(q, q).features == 1
        assert structural(q, GraphCode.of([INFECTION])).features == 0

    def test_relations_match_their_special_cases(self):
        kinds = Ontology.of([("cures", "treats")])
        q, d = told("a treats b"), told("a cures b")
        assert structural(q, d, kinds) == CodeScores(1, 1, 1)
        assert structural(d, q, kinds) == CodeScores(1, 1, 0)


def test_ontology_with_a_cycle():
    same = Ontology.of([("a", "b"), ("b", "a"), ("c", "a")])
    assert same.fits("a", "b") and same.fits("b", "a") and same.fits("c", "b")
    assert not same.fits("a", "c")


def test_lexicographic_order_is_not_cut_to_whole_numbers():
    order = Lexicographic()
    falling = [(0.50001, 0, 0), (0.5, 1, 1), (0.5, 0.2, 0.9), (0.5, 0.2, 0.1), (0.5, 0.1, 1.0)]
    keys = [order(CodeScores(*scores)) for scores in falling]
    assert keys == sorted(set(keys), reverse=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Weighted(0, 0, 0), lambda: Weighted(-1), lambda: Lexicographic(()),
        lambda: CodeComparison("cosine"), lambda: CodeComparison("paper", ontology=KINDS),
        lambda: CodeComparison(excess=-0.1), lambda: structural(BITES, BITES, excess=-1),
    ],
)  # fmt: skip
def test_settings_are_checked(make):
    with pytest.raises(ConfigError):
        make()


def test_an_explanation_names_each_edge_once():
    q, d = told("sun, a r b, b r c, c r d, d r e"), told("e, a r b, b s c, d r c")
    assert explain(q, d).reasons(q) == (
        "Has: a, b, c, d, e.",
        "Has as asked: a r b.",
        "Connected otherwise: b r c (here: s).",
        "The other way round: c r d.",
        "Lacks: sun.",
        "Lacks the connection: d r e.",
    )
