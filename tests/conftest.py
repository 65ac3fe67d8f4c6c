"""What all tests share: where the data is, and small graphs."""

import gc
import os
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.oxigraph import OxigraphStore
from tests.longest import LONGEST, LONGEST_SLOW

os.environ.setdefault("LANGSMITH_TRACING", "false")
# Many tests start commands of their own: each would compile the whole package anew where Python may not keep
# what it compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# How long an example takes says more of the machine, and of who else is at work on it, than of our code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# Each client of HTTP reads the certificates of all authorities, though none is asked for on loopback.
ssl.create_default_context = cache(ssl.create_default_context)
# What is collected stays: looking for garbage among it takes every worker a quarter of its start.
gc.disable()
ROOT = Path(__file__).parent.parent
PRODUCTS = ROOT / "ontology" / "products.ttl"


def pytest_xdist_auto_num_workers() -> int:
    """Return two workers for each processor where memory allows: tests often wait for another process."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    # A worker grows to a gigabyte, and what it starts, the servers in Java above all, may take another.
    return max(2, processors * 3 // 2, min(processors * 2, memory // (4 << 30)))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each worker import another part of the tests first, so that each file is compiled only once."""
    config = session.config
    whole = config.args == config.getini("testpaths") and not config.option.markexpr
    if not hasattr(config, "workerinput") or not whole:
        return
    first, step = int(config.workerinput["workerid"][2:]), config.workerinput["workercount"]
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))[first::step]:
        # What is wrong with one, or why it is skipped, is said when it is collected.
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let workers begin with the files that take longest, so that none runs one alone at the end."""
    if hasattr(config, "workerinput"):
        files = [item.nodeid.partition("::")[0] for item in items]
        longest = LONGEST_SLOW if config.option.markexpr == "slow" else LONGEST
        tests, place = Counter(files), {f"tests/{name}.py": at for at, name in enumerate(longest)}
        order = {file: (place.get(file, len(place)), -tests[file]) for file in tests}
        items.sort(key=lambda item: order[item.nodeid.partition("::")[0]])


def pytest_collection_finish() -> None:
    """Let the collector of garbage leave alone what stays for all tests: modules, and the tests."""
    gc.freeze()
    gc.enable()


def shared_data(part: str) -> Path:
    """Return a folder or file of the shared data, or skip the test, saying so."""
    root = Path(os.environ.get("MRAG_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not (root / part).exists():
        pytest.skip(f"the shared data has no {part}; set MRAG_SHARED_DATA to its folder")
    return root / part


def slow(*values: Any) -> list[ParameterSet]:
    """Return values of a parameter that only `--slow` tries."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


def requires(package: str, extra: str) -> None:
    """Skip a module of tests if a package is absent; what imports it for each worker takes too long."""
    if find_spec(package) is None:
        reason = f"{package} is not installed (pip install 'mrag[{extra}]')"
        pytest.skip(reason, allow_module_level=True)


def opened(start: Callable[[Path], AbstractContextManager[Any]], scope: Any = "module") -> Any:
    """Return a fixture: what is opened, given an empty folder, until the last test of a scope is done."""

    @pytest.fixture(scope=scope)
    def fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
        with start(tmp_path_factory.mktemp("opened")) as found:
            yield found

    return fixture


def graph_of(*files: Path) -> KnowledgeGraph:
    """Return a graph in memory with what files say."""
    graph = mrag.connect()
    graph.load(files)
    return graph


@pytest.fixture
def kg() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as graph:
        yield graph


@pytest.fixture(params=["memory", "disk"])
def any_kg(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """The same knowledge graph in memory and in a folder."""
    store = OxigraphStore(tmp_path / "store" if request.param == "disk" else None)
    with KnowledgeGraph(store) as graph:
        yield graph


demo = opened(lambda _: mrag.demo(model="none"))
"""The demo graph, anew for each module."""


@pytest.fixture
def heard() -> Iterator[tuple[str, list[bytes]]]:
    """An address on loopback, and what it was told."""
    from tests.servers import listener  # and with it `requests`, which takes long for every worker

    with listener() as (port, told):
        yield f"http://127.0.0.1:{port}/", told


@pytest.fixture(scope="session")
def graphdb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a GraphDB, for repositories of `graphdb_repository`."""
    from tests.java_servers import graphdb_server

    with graphdb_server(tmp_path_factory.mktemp("graphdb")) as base:
        yield base


@pytest.fixture(scope="session")
def rdf4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an RDF4J Server, for repositories of `rdf4j_repository`."""
    from tests.java_servers import rdf4j_server

    with rdf4j_server(tmp_path_factory.mktemp("rdf4j")) as base:
        yield base


@pytest.fixture(scope="session")
def fuseki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Fuseki, whose dataset `/ds` is in memory."""
    from tests.java_servers import fuseki_server

    with fuseki_server(tmp_path_factory.mktemp("fuseki")) as base:
        yield base
