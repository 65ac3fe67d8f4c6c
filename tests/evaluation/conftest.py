"""The small model of the other tests, a scripted one, and a graph of images with garments."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.evaluation.questions import EntityShape
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from tests.generation.conftest import gguf, local_server
from tests.generation.ollama_server import OllamaServer, Served
from tests.servers import Quiet, answering

__all__ = ["gguf", "local_server"]
E = "http://example.org/"
SHAPE = EntityShape(E + "hasGarment", E + "hasKind", E + "Image")
IMAGES: dict[str, list[tuple[str, ...]]] = {
    "image_1": [("jacket", "red"), ("skirt", "blue")], "image_2": [("jacket", "blue"), ("skirt", "red")],
    "image_3": [("jacket", "red", "tight (fit)")], "image_4": [("top, t-shirt", "white")], "image_5": [],
}  # fmt: skip


def iri(name: str) -> str:
    return E + name.replace(" ", "_").replace(",", "").replace("(", "").replace(")", "")


def garments(*, backwards: bool = False) -> list[Triple]:
    """The graph of IMAGES; backwards, the garments name their image."""
    found = [Triple(URIRef(E + "Image"), RDFS.label, Literal("image", lang="en"))]
    for image, worn in IMAGES.items():
        found.append(Triple(URIRef(E + image), RDF.type, URIRef(E + "Image")))
        found.append(Triple(URIRef(E + image), RDFS.label, Literal(image.replace("_", " "), lang="en")))
        for number, (kind, *attributes) in enumerate(worn):
            garment, link = URIRef(f"{E}{image}/{number}"), URIRef(E + "hasGarment")
            one, other = URIRef(E + image), garment
            found.append(Triple(other, link, one) if backwards else Triple(one, link, other))
            for predicate, names in (("hasKind", [kind]), ("hasAttribute", attributes)):
                for name in names:
                    value = URIRef(iri(name))
                    found.append(Triple(garment, URIRef(E + predicate), value))
                    found.append(Triple(value, RDFS.label, Literal(name, lang="en")))
    return found


@pytest.fixture
def images(kg: KnowledgeGraph) -> KnowledgeGraph:
    kg.insert(garments())
    return kg


Say = Callable[[Sequence[dict[str, str]]], str | None]
Start = Callable[[Say], OllamaServer]


class Scripted:
    """A loopback server in the shape of OpenAI's that says what a function gives for the messages."""

    api_key = "none"

    def __init__(self, say: Say) -> None:
        class Handler(Quiet):
            def do_POST(self) -> None:
                text = say(json.loads(self.body())["messages"])
                if text is None:
                    self.answer(500, b"out of memory")
                    return
                chunk = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
                self.answer(200, f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

        opened = ExitStack()
        self.base_url, self.close = f"http://{opened.enter_context(answering(Handler))}", opened.close


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start Ollama's protocol in front of a scripted model, and point OLLAMA_HOST to it."""
    started: list[Scripted | OllamaServer] = []

    def start(say: Say) -> OllamaServer:
        behind = Scripted(say)
        server = OllamaServer([Served("asker:latest")], chat=behind)  # type: ignore[arg-type]
        started.extend([server, behind])
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        return server

    yield start
    for server in started:
        server.close()
