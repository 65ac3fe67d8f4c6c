"""Rankers of other packages that keep no promise, at every door: an error that names them, or mended hits."""

import itertools
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

import mrag
from mrag.errors import ConfigError, MragError, RankerError
from mrag.index.similarity import SimilarityIndexes
from mrag.mcp import McpSettings, create_server
from mrag.retrieval import RankerRequest, known_rankers, registry
from mrag.server.running import create_app
from mrag.server.settings import ServerSettings
from tests import commands
from tests.conftest import requires, slow

requires("mcp", "mcp")
GRAPH = """
@prefix : <urn:x:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:kea rdfs:label "Kea" ; :eats :seed . :tui rdfs:label "Tui" ; :eats :nectar .
:seed rdfs:label "Seed" . :nectar rdfs:label "Nectar" .
"""
ASKED = "kea and tui"
Hits = Callable[[int], Any]


def hit(name: str, score: Any = 1.0, rank: Any = 1, **more: Any) -> mrag.Hit:
    return mrag.Hit(f"urn:x:{name}", score, rank, **more)


def raising(k: int) -> Iterator[mrag.Hit]:
    yield hit("kea")
    raise KeyError("lost\n\x1b[31mnames")


FAULTS: dict[str, tuple[Hits, str]] = {
    "raises": (lambda k: 1 / 0, "ZeroDivisionError: division by zero"),
    "raises_midway": (raising, "KeyError"),
    "none": (lambda k: None, "TypeError"),
    "nan": (lambda k: [hit("kea", float("nan"))], "the score nan"),
    "infinite_score": (lambda k: [hit("kea", float("inf"))], "the score inf"),
    "no_score": (lambda k: [hit("kea", "good")], "ValueError"),
    "pairs": (lambda k: [("urn:x:kea", 1.0)], "no hit"),
    "no_iri": (lambda k: [mrag.Hit(7, 1.0, 1)], "no hit"),  # type: ignore[arg-type]
}
"""What cannot be put right, and what is said of it."""
MENDED: dict[str, tuple[Hits, list[str]]] = {
    "generator": (lambda k: (hit(name) for name in ("tui", "kea")), ["tui", "kea"]),
    "endless": (lambda k: (hit(name) for name in itertools.cycle(["tui", "kea"])), ["tui", "kea"]),
    "twice": (lambda k: [hit("tui", 3), hit("tui", 2), hit("kea", 1)], ["tui", "kea"]),
    "too_many": (lambda k: [hit(n) for n in ("seed", "kea", "tui", "nectar")], ["seed", "kea", "tui"]),
    "unranked": (lambda k: [hit("tui", True, 9), hit("kea", 0, None, reasons=["why"])], ["tui", "kea"]),
    "not_there": (lambda k: [hit("moa", 2), mrag.Hit("no iri", 2, 1), hit("kea")], ["kea"]),
}
"""What is put right, and what then comes first of three hits."""


@dataclass
class Faulty:
    hits: Hits

    def rank(self, question: mrag.Question, k: int) -> Any:
        return self.hits(k)


def make_nothing(asked: RankerRequest) -> Any:
    return object()


def make_failing(asked: RankerRequest) -> Any:
    raise OSError("no model here")


def named(fault: str) -> Callable[[RankerRequest], Any]:
    return lambda asked: Faulty({**FAULTS, **MENDED}[fault][0])


for _fault in (*FAULTS, *MENDED):
    globals()[f"make_{_fault}"] = named(_fault)


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install a package with faulty rankers."""
    folder = tmp_path_factory.mktemp("package")
    installed = folder / "faulty_rankers-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty-rankers\nVersion: 1.0\n")
    entries = [f"{f} = tests.test_foreign_rankers:make_{f}" for f in (*FAULTS, *MENDED, "nothing", "failing")]
    (installed / "entry_points.txt").write_text("\n".join((f"[{registry.GROUP}]", *entries)))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        known_rankers.cache_clear()
        yield
    known_rankers.cache_clear()


@dataclass
class House:
    """A graph in memory, the same in a folder, and the doors of both."""

    kg: mrag.KnowledgeGraph
    folder: Path
    portal: BlockingPortal
    browser: httpx.AsyncClient
    agent: Any

    def command(self, *args: str) -> Any:
        done = commands.run(*args, "--store", f"oxigraph:{self.folder}/db", cwd=self.folder)
        assert "Traceback" not in done.stderr
        if done.returncode:
            raise RankerError(done.stderr)
        return done.stdout

    def search(self, ranker: str) -> list[str]:
        found = self.command("search", ASKED, "-k", "3", "--ranker", ranker, "--json")
        return [one["iri"] for one in json.loads(found)]

    def ask(self, ranker: str) -> list[str]:
        args = ("--how", "read", "--model", "none", "-k", "3", "--ranker", ranker, "--context", "--json")
        self.command("ask", ASKED, *args)
        return []

    def eval(self, ranker: str) -> list[str]:
        out = self.folder / "out" / ranker
        asked = ("eval", f"{self.folder}/c", "-r", ranker, "-k", "3", "-m", "MRR", "--resamples", "100")
        self.command(*asked, "--out", str(out))
        (run,) = (out / "runs").iterdir()
        return [line.split()[2] for line in run.read_text().splitlines()]

    def page(self, ranker: str) -> list[str]:
        sought = {"q": ASKED, "k": 3, "ranker": ranker}
        reply = self.portal.call(lambda: self.browser.get("/api/search", params=sought))
        if reply.status_code != 200:
            assert reply.status_code == 502
            raise RankerError(reply.json()["error"])
        return [one["iri"] for one in reply.json()["hits"]]

    def mcp(self, ranker: str) -> list[str]:
        sought = {"text": ASKED, "k": 3, "ranker": ranker}
        result = self.portal.call(lambda: self.agent.call_tool("search", sought))
        if result.is_error:
            raise RankerError(result.content[0].text)
        return [one["iri"] for one in result.structured_content["entities"]]

    def retriever(self, ranker: str) -> list[str]:
        found = mrag.TripleStoreRetriever(kg=self.kg, k=3, ranker=ranker).invoke(ASKED)
        return [str(one.id) for one in found]

    def python(self, ranker: str) -> list[str]:
        return [hit.iri for hit in mrag.search(self.kg, ASKED, 3, ranker=ranker)]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    import mcp

    folder = tmp_path_factory.mktemp("house")
    (folder / "g.ttl").write_text(GRAPH)
    (folder / "c" / "qrels").mkdir(parents=True)
    (folder / "c" / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": ASKED}))
    (folder / "c" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\turn:x:kea\t1\n")
    with mrag.connect() as kg, start_blocking_portal() as portal:
        kg.load([folder / "g.ttl"])
        SimilarityIndexes.of(kg).build("main", model="none")
        app = create_app(kg, ServerSettings(port=0, workers=1))
        browser = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
        agent = mcp.Client(create_server(kg, McpSettings(model="none")))
        with (
            portal.wrap_async_context_manager(app.router.lifespan_context(app)),
            portal.wrap_async_context_manager(browser),
            portal.wrap_async_context_manager(agent),
        ):
            found = House(kg, folder, portal, browser, agent)
            found.command("load", str(folder / "g.ttl"))
            found.command("index", "--embedder", "none")
            yield found


DOORS = ("search", "page", "mcp", "python", *slow("ask", "eval", "retriever"))


@pytest.mark.parametrize("door", DOORS)
def test_a_ranker_of_another_package_is_named_or_put_right(house: House, door: str) -> None:
    rank = getattr(house, door)
    for fault, (_, says) in FAULTS.items():
        with pytest.raises(RankerError) as told:
            rank(fault)
        said = str(told.value)
        assert f"The ranker {fault}" in said and says in said, said
        assert "\x1b" not in said or door in ("retriever", "python"), said
    for fault, (_, names) in MENDED.items():
        assert rank(fault) == [f"urn:x:{name}" for name in names] or door == "ask", fault


def test_what_is_left_out_is_said(house: House, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "mrag"):
        hits = mrag.ranker("bm25+not_there", house.kg).rank(mrag.Question(ASKED), 3)
    assert [(hit.iri, hit.rank, hit.reasons) for hit in hits] == [("urn:x:kea", 1, ())]
    assert "not_there found entities that the graph does not have: 2, such as 'no iri'" in caplog.text


@pytest.mark.parametrize(
    "name,kind,says",
    [("nothing", RankerError, "no method rank"), ("failing", RankerError, "OSError: no model here")],
)
def test_what_makes_no_ranker_is_named(house: House, name: str, kind: type[MragError], says: str) -> None:
    with pytest.raises(kind, match=says):
        mrag.ranker(name, house.kg)
    for door in ("search", "page", "mcp"):
        with pytest.raises(RankerError, match=says):
            getattr(house, door)(name)
    with pytest.raises(ConfigError, match="There is no ranker"):
        mrag.ranker("nothing+never", house.kg)
