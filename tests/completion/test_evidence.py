"""Evidence nodes: texts of folders, loaders and vector stores, and what is said of images, in the store."""

import io
from pathlib import Path

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from rdflib import URIRef

from mrag.completion.chain import Evidence, new_iri
from mrag.completion.names import PropertyEnds
from mrag.completion.passages import (
    Passage,
    Passages,
    RetrievedPassages,
    collection_of,
    describe_folder,
    evidence_graph,
    from_langchain,
    image_passages,
    passages_of,
    store_documents,
    store_folder,
)
from mrag.completion.patterns import IncompleteTriple
from mrag.errors import LoadError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment import EnrichSettings
from mrag.index.embedding import embedder
from mrag.loaders.snippets import Cutting, Snippets
from mrag.planning.plan import Unknown
from mrag.stores.base import Dataset
from tests.completion.towns import iri
from tests.images.seeing_server import llava

BORN = IncompleteTriple(iri("bob"), iri("bornIn"), Unknown("where"))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "bob.md").write_text("# Bob Stone\n\nHe was born in Visby.", encoding="utf-8")
    (folder / "ada.txt").write_text("Ada Hill wrote Moss. She knows Bob Stone.", encoding="utf-8")
    return folder


def test_a_folder_becomes_evidence_nodes_out_of_sight(kg: KnowledgeGraph, texts: Path) -> None:
    before, record = kg.count("asserted"), kg.record
    collection, kept = store_folder(kg, Snippets(texts))
    assert (kept.added, kept.gone, kept.total, kept.passages) == (2, 0, 2, 2)
    assert kg.count("asserted") == before and kg.record == record
    assert kg.query("ASK { ?p a mrag:Passage }") is False
    assert kg.query("ASK { GRAPH ?g { ?p a mrag:Passage } }") is False
    found = passages_of(kg, [collection])
    assert [(p.source, p.title) for p in found] == [("ada.txt", "ada"), ("bob.md", "Bob Stone")]
    node = URIRef(found[1].iri)
    rows = kg.store.select("SELECT ?p ?o { ?s ?p ?o } ORDER BY ?p ?o", Dataset((evidence_graph(kg),)))
    said = {(str(p), str(o)) for p, o in rows}
    assert ("http://www.w3.org/ns/prov#value", found[1].text) in said and str(node) in {p.iri for p in found}
    assert str(texts) not in "".join(o for _, o in said), "where the folder lies is nobody's business"
    assert kg.collect() == 0, "it is not taken for something left behind"
    assert passages_of(kg, [collection]) == found


def test_only_what_changed_is_read_again(kg: KnowledgeGraph, texts: Path) -> None:
    collection, _ = store_folder(kg, Snippets(texts))
    size = kg.store.count(evidence_graph(kg))
    _, again = store_folder(kg, Snippets(texts))
    assert (again.added, again.gone) == (0, 0) and kg.store.count(evidence_graph(kg)) == size
    (texts / "ada.txt").write_text("Ada Hill wrote Fern.", encoding="utf-8")
    (texts / "bob.md").unlink()
    _, changed = store_folder(kg, Snippets(texts))
    assert (changed.added, changed.gone, changed.total) == (1, 2, 1)
    assert [p.text for p in passages_of(kg, [collection])] == ["Ada Hill wrote Fern."]
    # What was quoted before can still be looked up.
    assert kg.store.count(evidence_graph(kg)) > size


def test_two_folders_do_not_mix(kg: KnowledgeGraph, texts: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "bob.md").write_text("Something else.", encoding="utf-8")
    first, _ = store_folder(kg, Snippets(texts))
    second, _ = store_folder(kg, Snippets(other))
    assert first == collection_of(texts) != second
    assert len(passages_of(kg, [first])) == 2 and len(passages_of(kg, [second])) == 1
    assert len(passages_of(kg, [first, second])) == 3 and passages_of(kg, []) == []


def test_found_by_words_and_by_meaning(kg: KnowledgeGraph, texts: Path) -> None:
    collection, _ = store_folder(kg, Snippets(texts))
    for model in (None, embedder("minilm")):
        passages = Passages.of(kg, [collection], model)
        assert [p.source for p in passages.search("Bob Stone born in", [["Bob Stone"]], 1)] == ["bob.md"]
        assert passages.search("Bob Stone born in", [["Bob Stone"], ["Lund"]], 5) == []
    assert Passages([]).search("x", [["x"]], 3) == []


def test_a_triple_is_completed_with_its_evidence(kg: KnowledgeGraph, texts: Path) -> None:
    collection, _ = store_folder(kg, Snippets(texts))
    passages = Passages.of(kg, [collection])
    [found] = Evidence(passages).complete(kg, BORN, 5)
    assert found.terms == (iri("bob"), iri("bornIn"), iri("visby")) and found.status == "completed"
    [ref] = found.evidence
    assert ref.kind == "passage" and ref.source == "bob.md" and ref.quote.endswith("He was born in Visby.")
    assert ref.iri in {p.iri for p in passages.all}


def test_what_is_not_asked_in_the_right_way_gives_nothing(kg: KnowledgeGraph, texts: Path) -> None:
    evidence = Evidence(Passages.of(kg, [store_folder(kg, Snippets(texts))[0]]))
    x, y = Unknown("x"), Unknown("y")
    for triple in (
        IncompleteTriple(x, iri("bornIn"), y),
        IncompleteTriple(iri("bob"), iri("bornIn"), iri("visby")),
        IncompleteTriple(iri("bob"), iri("noRelation"), x),
        IncompleteTriple(iri("bob"), "born in", x),
        IncompleteTriple(iri("nobody"), iri("bornIn"), x),
    ):
        assert evidence.complete(kg, triple, 5) == []


def test_documents_of_a_loader(kg: KnowledgeGraph) -> None:
    page = LangChainDocument("Bob Stone was born in Visby.", metadata={"source": "https://x.example/bob"})
    store_documents(kg, "urn:mrag:collection:web", from_langchain([page]))
    [found] = Evidence(Passages.of(kg, ["urn:mrag:collection:web"])).complete(kg, BORN, 5)
    assert found.evidence[0].source == "https://x.example/bob"


def test_a_vector_store(kg: KnowledgeGraph) -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    said = ["Bob Stone was born in Visby.", "Ada Hill wrote Moss.", "Lund is a town."]
    store.add_texts(said, metadatas=[{"source": f"{n}.txt"} for n in range(3)])
    source = RetrievedPassages(kg, store.as_retriever(search_kwargs={"k": 3}))
    [found] = Evidence(source).complete(kg, BORN, 5)
    kept = passages_of(kg, [source.collection])
    assert [p.iri for p in kept] == [found.evidence[0].iri], "what was read is an evidence node"
    more = [Passage("urn:x:p", "Bob Stone was born in Visby, too.", "y")]
    [found] = Evidence(Passages.of(kg, [source.collection], more=more)).complete(kg, BORN, 5)
    assert len(found.evidence) == 2


def test_a_very_long_document_of_a_retriever_is_cut(kg: KnowledgeGraph) -> None:
    long = "word " * 3000 + "\n\nBob Stone was born in Visby."
    store_documents(kg, "urn:mrag:collection:l", from_langchain([LangChainDocument(long)]), Cutting(500))
    passages = Passages.of(kg, ["urn:mrag:collection:l"])
    assert len(passages) > 20 and all(len(p.text) <= 500 for p in passages.all)
    assert len(Evidence(passages).complete(kg, BORN, 3)) == 1


def test_images_and_parts_of_them_are_read(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")
    folder = tmp_path / "photos"
    folder.mkdir()
    image.new("RGB", (64, 64), "white").save(folder / "bob_stone.png")
    image.new("RGB", (64, 64), "black").save(folder / "lake.png")
    sizes: list[tuple[int, int]] = []

    def say(data: bytes) -> str:
        picture = image.open(io.BytesIO(data))
        sizes.append(picture.size)
        if picture.convert("RGB").getpixel((0, 0))[0] < 128:
            return "A dark lake."
        part = picture.size != (64, 64)
        return "A sign reads: Bob Stone was born in Visby." if part else "A house with a sign."

    before = kg.count("asserted")
    with llava(say=say) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        report = describe_folder(kg, folder, "ollama:llava")
        assert (report.described, report.left) == (10, 0)
        again = describe_folder(kg, folder, "ollama:llava")
        assert (again.described, again.already) == (0, 10)
        assert len(server.asked) == 10
    assert kg.count("asserted") == before, "pictures are a graph of their own"
    assert set(sizes) == {(64, 64), (32, 32)}
    passages = image_passages(kg)
    assert sorted({p.kind for p in passages}) == ["image", "region"] and len(passages) == 10
    [found] = Evidence(Passages(passages)).complete(kg, BORN, 10)
    assert found.object == iri("visby")
    assert {r.kind for r in found.evidence} == {"region"} and len(found.evidence) == 4
    assert all("#xywh=percent:" in r.iri and r.source == "bob_stone.png" for r in found.evidence)


def test_images_without_a_folder_or_a_model_are_an_error(kg: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such folder"):
        describe_folder(kg, tmp_path / "none", "labels")
    (tmp_path / "empty").mkdir()
    settings = EnrichSettings(prompt="Say it.", regions="none")
    assert describe_folder(kg, tmp_path / "empty", lambda: None, settings=settings).described == 0  # type: ignore[arg-type,return-value]


def test_new_iris_follow_the_policy() -> None:
    assert new_iri("Ada Hill") == new_iri("  ada   HILL") != new_iri("Ada Hall")
    assert new_iri("Ada Hill", "http://example.org/").startswith("http://example.org/ada-hill-")
    assert new_iri("x" * 500).count("x") == 60
    with pytest.raises(TermError):
        new_iri("Ada", "no iri ")


def test_names_are_matched_before_new_ones_are_made(kg: KnowledgeGraph) -> None:
    bob, born, evidence = str(iri("bob")), str(iri("bornIn")), Evidence(Passages([]))
    for text in ("Visby", "VISBY", " visby "):
        linked = evidence.link(kg, text, "object", born)
        assert linked is not None and linked.term == iri("visby") and not linked.new
    fresh = evidence.link(kg, "Ystad", "object", born)
    assert fresh is not None and fresh.new == "Ystad"
    assert Evidence(Passages([]), new_names=False).link(kg, "Ystad", "object", born) is None
    assert evidence.link(kg, "...", "object", born) is None
    year = evidence.link(kg, "1930", "object", str(iri("birthYear")))
    assert year is not None and str(year.term.datatype).endswith("integer")  # type: ignore[union-attr]
    assert evidence.link(kg, "soon", "object", str(iri("birthYear"))) is None
    assert PropertyEnds.of(kg).has("subject", str(iri("knows")), bob)
