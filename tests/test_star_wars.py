"""The whole job on graphs that were not made for it, and on a company's files as they come, on each store.

One has dozens of languages, statement nodes and contradictions; in the other encodings differ, names stand
only in IRIs, datatypes are wrong, and three named graphs hold one year each.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.errors import InconsistentOntology
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.answering import ask, retrieve, verify
from tests.cases import beside, cases
from tests.commands import run
from tests.conftest import shared_data
from tests.java_servers import fuseki_server
from tests.servers import oxigraph_server, virtuoso_server
from tests.vectors import remembered_vectors

pytestmark = pytest.mark.slow
__all__ = ["remembered_vectors"]


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    folder = shared_data("starwars_kg")
    with mrag.connect() as graph:
        report = graph.load([folder])
        assert report.triples == 69_097
        assert report.odd_tags == ("zh-classical",)
        SimilarityIndexes.of(graph).build("main")
        yield graph


def test_a_contradiction_is_refused_if_so_wished(tmp_path: Path) -> None:
    # To find one takes as long as to keep what follows from it apart; a part of the data has one, too.
    folder = shared_data("starwars_kg")
    things = (folder / "starwars-data.ttl").read_text(encoding="utf-8").split("\n\n")
    (tmp_path / "part.ttl").write_text("\n\n".join(things[:200]), encoding="utf-8")
    with mrag.connect() as graph:
        assert graph.load([folder / "SWAPI-ontology.ttl", tmp_path / "part.ttl"]).triples > 2000
        with pytest.raises(InconsistentOntology, match="Functional"):
            mrag.reason(graph, on_inconsistency="error")
        assert graph.count("inferred") == 0


def test_its_ontology_contradicts_its_data_and_what_follows_is_kept_apart() -> None:
    with mrag.connect() as graph:
        graph.load([shared_data("starwars_kg")])
        closure = mrag.reason(graph)
        assert closure.contradictions[0].axiom.startswith("Functional: ")
        # Places of birth are not the same place because a person has several.
        assert graph.query("ASK { ?a owl:sameAs ?b }", layer="inferred") is False
        assert graph.count("inferred") == closure.triples > 1000
        person = "ASK { ?p a <https://swapi.co/vocabulary/HasWikidataLink> }"
        assert graph.query(person, layer="inferred") is True


QUESTIONS = cases(__file__, "QUESTIONS")


@pytest.mark.parametrize("question,word", QUESTIONS.items())
def test_the_answer_stands_in_the_context_and_is_cited(kg: KnowledgeGraph, question: str, word: str) -> None:
    context = retrieve(kg, question).context
    assert word in context.text()
    given = ask(kg, question, model="none", how="read")
    assert word in given.text
    assert verify(kg, given).ok, verify(kg, given)


@pytest.mark.parametrize("question", QUESTIONS)
def test_contexts_are_clean(kg: KnowledgeGraph, question: str) -> None:
    context = retrieve(kg, question).context
    assert context.tokens <= 4000 and len(context.lines) <= 160
    for line in context.lines:
        assert line.triple.s != line.triple.o
        language = getattr(line.triple.o, "language", None)
        if language and kg.language_rank(language) >= 2 * len(kg.languages):
            others = kg.store.edges(line.graph, s=str(line.triple.s), p=str(line.triple.p))
            ranks = {kg.language_rank(getattr(q.object, "language", None) or "") for q in others}
            assert min(ranks) >= 2 * len(kg.languages), "another language only where there is no better"


STAFF = beside(__file__, "staff.rdf")
TERMS = beside(__file__, "terms.ttl")
YEARS = beside(__file__, "years.trig")
COMPUTED = {
    "How many employees work in Lisbon?": "2 employees", "Who is the oldest employee?": "Eva Novak",
    "Where does Jörg Müller work?": "Zürich", "Which products are made in Lisbon?": "Red Gadget",
}  # fmt: skip
READ = "What is known of Blue Widget?"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "staff.rdf").write_bytes(STAFF.encode("latin-1"))
    (folder / "terms.ttl").write_bytes(b"\xef\xbb\xbf" + TERMS.encode())
    (folder / "years.trig").write_bytes(YEARS.encode())
    return folder


@pytest.fixture(params=["embedded", "oxigraph", "virtuoso", "fuseki"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "embedded":
        yield f"oxigraph:{tmp_path / 'db'}"
    elif request.param == "oxigraph":
        with oxigraph_server(tmp_path, memory=True) as url:
            yield url
    elif request.param == "virtuoso":
        with virtuoso_server(tmp_path) as url:
            yield url
    else:
        with fuseki_server(tmp_path) as base:
            yield f"fuseki:{base}/ds"


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    """What the first store said, which the others must say too."""
    return {}


@pytest.mark.slow
def test_files_come_to_the_same_answers_on_each_store(
    store: str, files: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    login = {"MRAG_STORE_USER": "dba", "MRAG_STORE_PASSWORD": "dba"} if "virtuoso:" in store else {}

    def mrag(*args: str) -> subprocess.CompletedProcess[str]:
        return run(*args, cwd=tmp_path, MRAG_STORE=store, **login)

    loaded = mrag("load", str(files))
    assert loaded.returncode == 0, loaded.stderr
    assert "3 triples inferred" in loaded.stdout
    assert "c:revenue Range: xsd:decimal (dt-not-type), values of xsd:string: 3" in loaded.stderr
    indexed = mrag("index", "--embedder", "none")
    assert indexed.returncode == 0, indexed.stderr
    for question, words in COMPUTED.items():
        answer = mrag("ask", "-m", "none", question)
        assert answer.returncode == 0 and words in answer.stdout.splitlines()[0], (question, answer)
        assert answer.stdout == expected.setdefault(question, answer.stdout)
    read = mrag("ask", "-m", "none", "--how", "read", READ)
    assert '(Blue Widget, revenue, "31", in graph <http://corp.example/years/2024>)' in read.stdout, read
    assert read.stdout == expected.setdefault(READ, read.stdout)
    rows = "SELECT ?g ?r { GRAPH ?g { ?product c:revenue ?r } } ORDER BY ?g STR(?r)"
    listed = mrag("query", "PREFIX c: <http://corp.example/terms#> " + rows)
    assert [line.split("\t")[0][-5:-1] for line in listed.stdout.splitlines()[1:] if line] == [
        "2023", "2024", "2024",
    ]  # fmt: skip
