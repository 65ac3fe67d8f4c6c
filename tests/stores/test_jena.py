"""What Fuseki does in its own way."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

import mrag
from mrag.errors import EndpointError
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.answering import retrieve
from mrag.stores.base import Dataset
from mrag.stores.fuseki import FusekiStore
from tests.conftest import PRODUCTS
from tests.docker.test_compose import DOCKER
from tests.java_servers import fuseki_server

pytestmark = pytest.mark.slow
EX = "PREFIX ex: <https://w3id.org/mrag/demo/products#>\n"
SEMANTIC = EX + "SELECT DISTINCT ?x { ?x a ex:SemanticProduct }"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server of `docker/fuseki`, its databases in a temporary folder."""
    folder = tmp_path_factory.mktemp("jena")
    config = (DOCKER / "fuseki" / "config.ttl").read_text("utf-8")
    (folder / "config.ttl").write_text(config.replace("/fuseki/databases", str(folder)), "utf-8")
    with fuseki_server(folder, "--config", str(folder / "config.ttl")) as url:
        yield url


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)


@pytest.fixture
def empty(fuseki: str) -> str:
    with mrag.connect(f"fuseki:{fuseki}/ds") as kg:
        kg.store.update("DROP ALL")
    return f"fuseki:{fuseki}/ds"


def test_the_datasets_of_the_shipped_assembler_are_read(base: str) -> None:
    turtle = {"data": PRODUCTS.read_bytes(), "headers": {"Content-Type": "text/turtle"}}
    for name, query, found in (("products", "graph=urn:demo", 0), ("products-owl", "default", 28)):
        requests.post(f"{base}/{name}/data?{query}", timeout=60, **turtle).raise_for_status()  # type: ignore[arg-type]
        with mrag.connect(f"fuseki:{base}/{name}", create=False) as kg:
            assert kg.as_found
            assert len(kg.query(SEMANTIC)) == found  # type: ignore[arg-type]
            assert kg.query("SELECT ?g { GRAPH ?g { ?s ?p ?o } }").rows == []  # type: ignore[union-attr]
            SimilarityIndexes.of(kg).build("main", model="none")
            answer = mrag.ask(kg, "Who develops GraphDB?", model="none")
            assert any("Ontotext" in citation.text for citation in answer.citations)


def test_a_graph_that_is_not_there_is_empty_in_a_dataset_of_an_assembler(base: str) -> None:
    store = FusekiStore("fuseki:", f"{base}/products-owl")
    plain, named = "ASK { ?s ?p ?o }", "ASK { GRAPH ?g { ?s ?p ?o } }"
    assert not store.ask(plain, Dataset(("urn:no",), ("urn:no",)))
    assert not store.ask(named, Dataset((), ("urn:no",))) and not store.ask(plain, Dataset((), ("urn:no",)))
    store.insert(b"<urn:s> <urn:p> <urn:o> .\n", "urn:yes")
    assert store.ask(named, Dataset((), ("urn:no", "urn:yes")))
    store.clear("urn:yes")
    assert not store.ask(named, Dataset((), ("urn:no", "urn:yes")))
    store.close()


def test_texts_of_mixed_languages_are_put_in_order(empty: str, tmp_path: Path) -> None:
    chosen = random.Random(1)
    words = ["".join(chosen.choices("abABéZz01", k=chosen.randint(1, 3))) for _ in range(60)]
    tags = ["", "@en", "@de", "@fr", "@en-GB", "@zh", "@EN"]
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    texts = [f'"{chosen.choice(words)}"{chosen.choice(tags)}' for _ in range(3000)]
    lines = [f"<urn:x:{n}> {label} {text} ." for n, text in enumerate(texts)]
    lines += [f"<urn:x:one> {label} {text} ." for text in texts]
    (tmp_path / "texts.nt").write_text("\n".join(lines), "utf-8")
    with mrag.connect(empty) as kg:
        kg.load([tmp_path / "texts.nt"])
        assert SimilarityIndexes.of(kg).build("main", model="none").added > 0
        assert kg.labels(["urn:x:one"])["urn:x:one"]
        assert retrieve(kg, words[0]).context.entities


def test_a_server_without_administration_says_so(base: str) -> None:
    store = FusekiStore("fuseki:", f"{base}/more")
    with pytest.raises(EndpointError, match="no administration") as raised:
        store.create("mem")
    assert "configuration" in str(raised.value.hint)
    store.close()
