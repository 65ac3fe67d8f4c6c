"""Codes, their matrix, interchange, union, words, folders of `.gc` files; and metrics that compare them."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings

from mrag.errors import ConfigError, IndexError_
from mrag.front import demo
from mrag.graphcodes import code as graph_code
from mrag.graphcodes import metrics
from mrag.graphcodes.code import Edge, GraphCode, Node, centre, from_folder, from_json, to_json, union
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, CodeScores, Ontology, paper, structural
from mrag.graphcodes.ranker import CodeVerbaliser, GraphCodeRanker, explain
from mrag.graphcodes.sources import QuestionCodes, neighbourhoods
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.rankers import FusedRanker, Question, Ranker, SimilarityRanker
from mrag.retrieval.retriever import TripleStoreRetriever
from tests.cases import cases
from tests.graphcodes.strategies import codes, ontologies, told
from tests.graphcodes.test_index import run

FACTUAL = GraphCode.of([], [("woman", "holds", "umbrella"), ("umbrella", "is", "red")])


def test_nodes_are_iris_or_terms():
    assert Node("http://example.org/A").name == "http://example.org/A"
    assert Node("ex:A", "a thing").name == "a thing"
    assert graph_code.term(" A \tRed  Thing ") == "a red thing"
    for wrong in ("", "  ", "Man", "two  spaces", " man"):
        with pytest.raises(ConfigError):
            Node(wrong)


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


def test_a_matrix_numbers_each_combination_of_relations():
    numbers = {("r",): 1}
    code = GraphCode.of([], [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "a"), ("b", "s", "b")])
    assert code.matrix(numbers).toarray().tolist() == [[0, 2], [1, 3]]
    assert numbers == {("r",): 1, ("r", "s"): 2, ("s",): 3}
    assert GraphCode().matrix(numbers).shape == (0, 0)


@pytest.mark.parametrize("relations", [{"r": 0}, {"r": -1}, {"r": 1, "s": 1}, {"r": True}, {"r": 1.5}])
def test_numbers_of_relations_are_checked(relations):
    with pytest.raises(ConfigError, match="number of its own"):
        from_json({"dictionary": ["a"], "matrix": [[2]], "mrag": {"relations": relations}})


def test_names_that_look_like_lists_are_told_apart():
    names = ["r", "0", '["r"]', "[", "r + s"]
    edges = [("a", name, f"b{at}") for at, name in enumerate(names)]
    code = GraphCode.of([], [*edges, ("b0", "r", "a"), ("b0", "s", "a")])
    assert from_json(json.dumps(to_json(code))) == code


@given(codes())
def test_interchange_there_and_back(code):
    written = json.loads(json.dumps(to_json(code)))
    assert from_json(written) == code
    assert len(written["matrix"]) == len(written["dictionary"]) == len(code)


def test_interchange_of_parts():
    whole = GraphCode.of(["scene"], [], [FACTUAL, GraphCode.of(["tree"], [], [FACTUAL])])
    again = from_json(json.dumps(to_json(whole)))
    assert again == whole
    assert again.parts[1].parts == (FACTUAL,)


def test_a_public_file_is_read():
    code = from_json({"dictionary": ["dog", "man", "hat"], "matrix": [[1, 12, 0], [0, 1, 1], [0, 0, 2]]})
    assert [edge.key for edge in code.edges] == [("dog", "before", "man"), ("man", "child", "hat")]


def test_unknown_numbers_become_relations_of_that_name():
    code = from_json({"dictionary": ["a", "b"], "matrix": [[2, 99], [0, 2]]})
    assert code.edges[0].relation == "relation 99"


@pytest.mark.parametrize(("words", "matrix"), cases(__file__, "mended"))
def test_defects_are_read_as_they_are_meant(words, matrix):
    code = from_json({"dictionary": words, "matrix": matrix})
    assert [edge.key for edge in code.edges] == [("dog", "above", "man")]


@pytest.mark.parametrize("data", cases(__file__, "not_mended"))
def test_what_is_no_code_is_an_error(data):
    with pytest.raises(ConfigError):
        from_json(data)


@given(codes(), codes())
def test_a_union_has_what_any_has(a, b):
    both = union([a, b])
    assert {e.key for e in both.edges} == {e.key for e in (*a.edges, *b.edges)}
    assert set(both.dictionary) == {*a.dictionary, *b.dictionary}
    assert union([a, a]) == a and union([]) == GraphCode()


def test_saying():
    rides = "http://example.org/ridesOn"
    code = told(f"ex:m {rides} bike, sun", Node("ex:m", "the man"))
    for verbaliser, said in (
        (CodeVerbaliser(), "the man rides on bike"),
        (CodeVerbaliser(names={rides: "rides"}), "the man rides bike"),
    ):
        assert verbaliser.verbalise(code) == f"{said}. Also: sun."
    assert CodeVerbaliser().verbalise(GraphCode()) == ""


# -- folders ---

DOG = {"dictionary": ["dog", "man"], "matrix": [[1, 14], [0, 2]]}


def test_a_folder_is_read_in_order(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.gc").write_text(json.dumps(DOG))
    (tmp_path / "a.json").write_text(json.dumps({"dictionary": ["cat"], "matrix": [[2]]}))
    (tmp_path / "readme.txt").write_text("no code")
    found = {name: code.dictionary for name, code in from_folder(tmp_path)}
    assert [*found.items()] == [("a", ("cat",)), ("b", ("dog", "man"))]


def test_numbers_on_the_diagonal_are_relations_of_a_node_to_itself():
    code = from_json({"dictionary": ["dog", "man"], "matrix": [[11, 14], [0, 2]]})
    assert [edge.key for edge in code.edges] == [("dog", "above", "man"), ("dog", "next to", "dog")]
    assert from_json(to_json(code)) == code


@pytest.mark.parametrize(
    ("written", "message"), [("[" * 100_000 + "]" * 100_000, "nested too deeply"), *cases(__file__, "broken")]
)
def test_what_is_broken_is_refused_by_name(tmp_path, written, message):
    (tmp_path / "bad.gc").write_text(written)
    with pytest.raises(ConfigError, match=message) as caught:
        list(from_folder(tmp_path))
    assert "bad.gc" in str(caught.value)


def test_parts_are_not_nested_without_end():
    code = {"dictionary": ["a"], "matrix": [[2]]}
    for _ in range(40):
        code = {"dictionary": ["a"], "matrix": [[2]], "collectionElements": [code]}
    with pytest.raises(ConfigError, match="more than 32 deep"):
        from_json(code)


def test_a_folder_without_codes_and_names_that_are_not_unique(tmp_path):
    with pytest.raises(ConfigError, match="no files"):
        list(from_folder(tmp_path))
    for name in ("a.gc", "a.json"):
        (tmp_path / name).write_text(json.dumps(DOG))
    with pytest.raises(ConfigError, match="'a' too"):
        list(from_folder(tmp_path))


def test_a_file_whose_name_is_no_text_is_refused(tmp_path):
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.gc"))).write_text(json.dumps(DOG))
    with pytest.raises(ConfigError, match="name of this file"):
        list(from_folder(tmp_path))


def test_the_command_imports_a_folder(tmp_path):
    source, folder = tmp_path / "files", str(tmp_path / "codes")
    source.mkdir()
    (source / "one.gc").write_text(json.dumps(DOG))
    (source / "two.gc").write_text('{"dictionary": ["Man"], "matrix": [[2]]}')
    built = json.loads(run("build", "--path", folder, "--from", str(source), "--json"))
    assert (built["documents"], built["edges"]) == (2, 1)
    found = json.loads(run("search", "--path", folder, "-e", "dog,above,man", "--json"))
    assert [hit["iri"] for hit in found["hits"]] == ["one", "two"]


EMPTY = GraphCode()
BITES, BITTEN, LICKS = map(told, ("dog bites man", "man bites dog", "dog licks man"))


@given(codes(), codes())
def test_all_values_are_between_0_and_1(q, d):
    for scores in (paper(q, d), structural(q, d)):
        assert all(0 <= v <= 1 for v in (scores.features, scores.relations, scores.types))
        assert 0 <= metrics.Weighted(3, 2, 1)(scores) <= 1


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
    assert structural(code, code, metrics.Ontology()) == CodeScores(1.0, 1.0, 1.0)
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
        assert metrics.Weighted()(swapped) < 1


def test_agent_and_patient():
    assert structural(BITES, BITTEN) == CodeScores(1.0, 0.0, 0.0)
    assert structural(BITES, LICKS) == CodeScores(1.0, 1.0, 0.0)
    assert paper(BITES, BITTEN) == CodeScores(1.0, 0.0, 0.0)


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
KINDS = metrics.Ontology.of([("cystitis", UTI), (UTI, INFECTION), ("pneumonia", INFECTION)])


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
        assert fits or explain(q, d, metrics.CodeComparison(ontology=KINDS)).unfit == (INFECTION,)
        assert paper(q, d) == paper(q, q), "the paper does not see it"

    def test_without_an_ontology_types_are_compared_as_they_are(self):
        q = GraphCode.of([Node(INFECTION, "", frozenset({UTI}))])
        assert structural(q, q).features == 1
        assert structural(q, GraphCode.of([INFECTION])).features == 0

    def test_relations_match_their_special_cases(self):
        kinds = metrics.Ontology.of([("cures", "treats")])
        q, d = told("a treats b"), told("a cures b")
        assert structural(q, d, kinds) == CodeScores(1, 1, 1)
        assert structural(d, q, kinds) == CodeScores(1, 1, 0)


def test_ontology_with_a_cycle():
    same = metrics.Ontology.of([("a", "b"), ("b", "a"), ("c", "a")])
    assert same.fits("a", "b") and same.fits("b", "a") and same.fits("c", "b")
    assert not same.fits("a", "c")


def test_lexicographic_order_is_not_cut_to_whole_numbers():
    order = metrics.Lexicographic()
    falling = [(0.50001, 0, 0), (0.5, 1, 1), (0.5, 0.2, 0.9), (0.5, 0.2, 0.1), (0.5, 0.1, 1.0)]
    keys = [order(CodeScores(*scores)) for scores in falling]
    assert keys == sorted(set(keys), reverse=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: metrics.Weighted(0, 0, 0), lambda: metrics.Weighted(-1), lambda: metrics.Lexicographic(()),
        lambda: metrics.CodeComparison("cosine"), lambda: metrics.CodeComparison("paper", ontology=KINDS),
        lambda: metrics.CodeComparison(excess=-0.1), lambda: structural(BITES, BITES, excess=-1),
    ],
)  # fmt: skip
def test_settings_are_checked(make):
    with pytest.raises(ConfigError):
        make()


def test_an_explanation_names_each_edge_once():
    q, d = told("sun, a r b, b r c, c r d, d r e"), told("e, a r b, b s c, d r c")
    assert explain(q, d).reasons(q) == (
        "Has: a, b, c, d, e.", "Has as asked: a r b.", "Connected otherwise: b r c (here: s).",
        "The other way round: c r d.", "Lacks: sun.", "Lacks the connection: d r e.",
    )  # fmt: skip


BASE = "https://w3id.org/mrag/demo/products#"


@pytest.fixture(scope="module")
def graph():
    with demo(model="none") as kg:
        SimilarityIndexes.of(kg).get("main")
        yield kg


@pytest.fixture(scope="module")
def index(graph):
    made = GraphCodeIndex()
    entities = sorted({iri for iri, _ in documents(graph, Definition(languages=graph.languages))})
    made.put(dict(neighbourhoods(graph, entities)))
    return made


@pytest.fixture(scope="module")
def ranker(graph, index):
    return GraphCodeRanker(graph, index)


def indexed(codes_of):
    made = GraphCodeIndex()
    made.put({doc: told(text) for doc, text in codes_of.items()})
    return made


def local(iris):
    return [iri.removeprefix(BASE) for iri in iris]


def names(code):
    return local(code.dictionary), [" ".join(local(edge.key)) for edge in code.edges]


@pytest.mark.parametrize(("text", "nodes", "edges"), cases(__file__, "names"))
def test_names_are_found_by_longest_match(graph, index, text, nodes, edges):
    reader = QuestionCodes(graph, index, Ontology.of_graph(graph))
    assert names(reader.read(text)) == (nodes, edges)


def test_the_unknown_is_of_the_class_that_the_answer_has(ranker):
    code = ranker.code(Question("Who develops GraphDB?"))
    assert names(code)[1] == ["Company develops GraphDB"]
    assert BASE + "Ontotext" in [hit.iri for hit in ranker.rank(Question("Who develops GraphDB?"), 5)]


def test_by_default_an_answer_is_among_the_first(ranker):
    for text, wanted in cases(__file__, "by_default_an_answer_is_among_the_first"):
        assert BASE + wanted in [hit.iri for hit in ranker.rank(Question(text), 5)], text


def test_the_ends_of_a_triple_come_first(ranker):
    triple = GraphCode.of([], [(BASE + "GraphDB", BASE + "developedBy", BASE + "Ontotext")])
    assert local(hit.iri for hit in ranker.rank_code(triple, 2)) == ["GraphDB", "Ontotext"]
    assert ranker.rank_code(GraphCode.of([BASE + "GraphDB"]), 1)[0].iri == BASE + "GraphDB"


def test_questions_that_name_nothing_are_parsed(graph, index):
    class Dogs:
        def extract(self, text):
            return GraphCode.of(["dog"])

    assert GraphCodeRanker(graph, index, Dogs()).code(Question("a dog bites a man")).dictionary == ("dog",)


def test_links_of_two_entities_to_the_same_things_are_the_same():
    kind = frozenset(["ex:T"])
    a = told("ex:a ex:r ex:m, ex:n ex:r ex:a", Node("ex:a", "A", kind))
    b = told("ex:b ex:r ex:m, ex:n ex:r ex:b", Node("ex:b", "B", kind))
    assert centre(a, "ex:a") == centre(b, "ex:b")
    assert centre(a, "ex:a").by_id[graph_code.ITSELF].label == "it"
    assert centre(a, "ex:z") == a


def test_alike_is_who_has_the_same_links_not_who_is_linked():
    index = indexed({
        "ex:a": "ex:a ex:in ex:x, ex:a ex:by ex:m",
        "ex:twin": "ex:twin ex:in ex:x, ex:twin ex:by ex:m",
        "ex:other": "ex:other ex:out ex:x, ex:other ex:of ex:m",
        "ex:m": "ex:a ex:by ex:m, ex:twin ex:by ex:m",
    })  # fmt: skip
    hits = GraphCodeRanker(None, index).rank_like("ex:a", 4)
    assert [(hit.iri, hit.rank) for hit in hits][:3] == [("ex:a", 1), ("ex:twin", 2), ("ex:other", 3)]
    assert [hit.score for hit in hits[:2]] == [1.0, 1.0]
    assert any("it by m" in reason for reason in hits[1].reasons)
    with pytest.raises(IndexError_):
        GraphCodeRanker(None, index).rank_like("ex:nowhere", 3)


def test_triple_stores_are_like_a_triple_store(ranker):
    assert {"GraphDB", "Stardog"} <= set(local(hit.iri for hit in ranker.rank_like(BASE + "GraphDB", 3)))


@pytest.mark.parametrize("relation", ["developed by", "developedBy", "is developed by", "Developed By"])
def test_ends_and_relations_go_by_any_of_their_names(ranker, relation):
    asked = GraphCode.of([], [("rdf4j", relation, "eclipse foundation")])
    assert names(ranker.named(asked))[1] == ["RDF4J developedBy EclipseFoundation"]
    found = ranker.rank_code(ranker.named(asked), 2)
    assert local(hit.iri for hit in found) == ["EclipseFoundation", "RDF4J"]


def test_what_is_connected_otherwise_comes_before_what_is_not(ranker):
    first, second = ranker.rank(Question("Which product uses Lucene?"), 2)
    assert all("Connected otherwise: product uses Lucene" in " ".join(hit.reasons) for hit in (first, second))
    unread = ranker.code(Question("Which vendor dislikes Neo4j?"))
    assert ranker.named(unread) == unread


class Triples:
    """Reads "a r b, c r d" as edges."""

    def extract(self, text: str) -> GraphCode:
        return told(text.lower())


@pytest.fixture
def bites() -> GraphCodeIndex:
    return indexed(
        {"ex:bites": "dog bites man", "ex:bitten": "man bites dog", "ex:alone": "dog", "ex:tree": "tree"}
    )


def test_it_is_a_ranker(bites):
    assert isinstance(Triples(), graph_code.Extractor)
    ranker = GraphCodeRanker(None, bites, Triples())
    assert isinstance(ranker, Ranker)
    hits = ranker.rank(Question("dog bites man"), 10)
    assert [(hit.iri, hit.rank) for hit in hits] == [("ex:bites", 1), ("ex:bitten", 2), ("ex:alone", 3)]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].reasons == ("Has: dog, man.", "Has as asked: dog bites man.")
    assert hits[1].reasons == ("Has: dog, man.", "The other way round: dog bites man.")
    assert hits[2].reasons == ("Has: dog.", "Lacks: man.", "Lacks the connection: dog bites man.")


def test_ties_break_by_iri(bites):
    bites.put({f"ex:{name}": GraphCode.of(["sun"]) for name in ("z", "a", "m")})
    ranker = GraphCodeRanker(None, bites, Triples())
    assert [hit.iri for hit in ranker.rank(Question("sun"), 2)] == ["ex:a", "ex:m"]


def test_a_question_without_text_or_features(bites, tmp_path):
    ranker = GraphCodeRanker(None, bites, Triples())
    with pytest.raises(ConfigError, match="text"):
        ranker.rank(Question(image=tmp_path / "a.png"), 3)
    assert ranker.rank(Question("one two"), 3) == []


@pytest.fixture(scope="module")
def codes_of(graph):
    made = GraphCodeIndex()
    names = ("GraphDB", "Stardog", "Ontotext", "Fuseki", "Bulgaria")
    made.put(dict(neighbourhoods(graph, [BASE + name for name in names])))
    return made


def test_over_a_graph_with_its_ontology(graph, codes_of):
    ontology = Ontology.of_graph(graph)
    assert ontology.fits(BASE + "GraphDatabase", BASE + "Database")
    ranker = GraphCodeRanker(graph, codes_of, Triples(), CodeComparison(ontology=ontology, excess=0.1))
    asked = told(f"{BASE}Database {BASE}developedBy ontotext")
    best = ranker.rank_code(ranker.named(asked), 1)[0]
    assert best.iri == BASE + "Ontotext"
    assert "Has as asked: database developed by Ontotext." in best.reasons


def test_fused_with_words_and_in_the_retriever(graph, codes_of):
    structure = GraphCodeRanker(graph, codes_of, Triples())
    fused = FusedRanker([structure, SimilarityRanker(graph, mode="bm25")])
    hits = fused.rank(Question("GraphDB , Ontotext"), 5)
    best = next(hit for hit in hits if hit.iri == BASE + "GraphDB")
    assert any(reason.startswith("Has: ") for reason in best.reasons)
    assert len(best.reasons) > 1
    told = TripleStoreRetriever(kg=graph, ranker=structure, k=2).invoke("GraphDB , Ontotext")
    assert [d.metadata["rank"] for d in told] == [1, 2]
    assert "Has: " in str(told[0].metadata["explanation"])
    assert "Ontotext" in told[0].page_content
