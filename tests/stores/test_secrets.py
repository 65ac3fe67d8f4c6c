"""What a URL holds of a login is printed nowhere: not in errors, tracebacks, logs, reprs or reports."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import mrag
from mrag.config import Settings
from mrag.errors import MragError
from mrag.generation.models import status
from mrag.graph.connection import open_store
from mrag.graph.kg import home
from mrag.redaction import brief, redact, redact_url
from mrag.retrieval.reading_child import outcome, unpack
from mrag.stores.base import Dataset
from mrag.stores.engines import open_server
from mrag.stores.http import Access
from tests.cases import cases
from tests.commands import process
from tests.servers import Quiet, answering

SECRET = "5ecr3t/of+me&you"
QUOTED = "5ecr3t%2Fof%2Bme%26you"
FORMS = (SECRET, QUOTED, "5ecr3t")

# Where a URL can hold it, as a store's URL says it; {at} is host and port.
PLACES = {
    "token": "http://{at}{path}?token=" + QUOTED,
    "apikey": "http://{at}{path}?graph=urn:g&apikey=" + QUOTED,
    "any name": "http://{at}{path}?zq=" + QUOTED + "&infer=true",
    "no name": "http://{at}{path}?" + QUOTED,
    "login": "http://ann:" + QUOTED + "@{at}{path}",
    "name alone": "http://" + QUOTED + "@{at}{path}",
}
PATHS = {"sparql": "/query", "graphdb": "/repositories/x", "fuseki": "/x", "virtuoso": ""}
NESTED = "sparql:http://{at}/query?" + urlencode(
    {"update": f"http://ann:{QUOTED}@AT/u", "graphs": f"http://AT/g?access_token={QUOTED}"}
).replace("AT", "{at}")


class _Echo(Quiet):
    """Answers with all that it was told, as careless servers do."""

    status = 200

    def do_GET(self) -> None:
        body = self.body().decode("utf-8", "replace")
        if self.status == 0:
            self.close_connection = True
            return
        said = f"{self.path} {self.headers.get('authorization')} {body}".encode()
        # One byte too many: what came is not all.
        length = {"Content-Length": str(len(said) + (self.status == 206))}
        self.answer(self.status, said, "application/sparql-results+json", **length)

    do_POST = do_PUT = do_DELETE = do_GET


@contextmanager
def server(status: int) -> Iterator[str]:
    handler = type("Handler", (_Echo,), {"status": status})
    with answering(handler) as at:
        yield at


def works(url: str) -> Iterator[Callable[[], object]]:
    """What can go wrong with a store of this URL."""
    access = Access(retries=0, connect_seconds=2.0, read_seconds=2.0)
    store, _ = open_store(url, access)
    yield lambda: store.select("SELECT ?s { ?s ?p ?o }", Dataset())
    yield lambda: list(store.construct("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", Dataset()))
    yield lambda: store.update("INSERT DATA { <urn:a> <urn:b> <urn:c> }")
    yield lambda: store.insert(b"<urn:a> <urn:b> <urn:c> .", "urn:g")
    yield lambda: store.clear("urn:g")
    yield lambda: store.graphs()
    yield lambda: store.server()  # type: ignore[attr-defined]
    yield lambda: mrag.connect(url, access=access)
    store.close()


def clean(text: str) -> None:
    for form in FORMS:
        assert form not in text, text


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 200, 206, 400, 401, 404, 408, 500, -1])
@pytest.mark.parametrize("kind", PATHS)
def test_no_failure_of_a_store_tells_its_login(
    kind: str, code: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG)
    raised = 0
    with server(code) as at:
        at = "127.0.0.1:9" if code == -1 else at
        urls = [f"{kind}:{place.format(at=at, path=PATHS[kind])}" for place in PLACES.values()]
        for url in [*urls, *([NESTED.format(at=at)] if kind == "sparql" else [])]:
            for work in works(url):
                try:
                    work()
                except MragError as error:
                    raised += 1
                    clean("".join(traceback.format_exception(error)))
                    clean(repr(error) + str(vars(error)))
    assert raised > 20
    clean(caplog.text)
    for record in caplog.records:
        clean(f"{record.msg} {record.args}")


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("place", PLACES)
def test_no_text_of_a_store_tells_its_login(kind: str, place: str) -> None:
    url = f"{kind}:{PLACES[place].format(at='127.0.0.1:9', path=PATHS[kind])}"
    store, _ = open_store(url)
    named = Settings.from_env(store=url)
    for thing in (store, store.url, store.paths, store.http, store.http.access, named):  # type: ignore[attr-defined]
        clean(f"{thing!r} {thing}")
    clean(redact_url(url))
    store.close()


def test_what_stands_behind_the_path_goes_with_each_request() -> None:
    heard: list[str] = []

    class Handler(_Echo):
        def do_GET(self) -> None:
            heard.append(self.path)
            super().do_GET()

        do_POST = do_DELETE = do_GET

    with answering(Handler) as at:
        for kind, path in PATHS.items():
            place = f"http://{at}{path}?token={QUOTED}&graph=urn:g"
            store, graphs = open_server(kind, place, Access(retries=0))
            assert graphs == ("urn:g",)
            store.clear("urn:g") if kind != "sparql" else None
            with pytest.raises(MragError):
                store.select("SELECT * {}", Dataset())
            store.close()
    assert len(heard) > 6 and all(f"token={QUOTED}" in path for path in heard), heard
    assert not any("graph=urn:g" in path and "token" not in path for path in heard)


@pytest.mark.parametrize("url", cases(__file__, "a_url_that_cannot_be_used_tells_nothing_either"))
def test_a_url_that_cannot_be_used_tells_nothing_either(url: str) -> None:
    with pytest.raises(MragError) as caught:
        mrag.connect(url)
    assert caught.value.hint
    clean("".join(traceback.format_exception(caught.value)))


def test_an_index_of_a_server_stays_where_it_is_when_the_token_changes() -> None:
    class Graph:
        name = "main"

    def place(url: str) -> Path | None:
        graph: Any = Graph()
        graph.store, _ = open_store(url)
        try:
            return home(graph)
        finally:
            graph.store.close()

    plain = place("sparql:http://h/q")
    assert place("sparql:http://ann:x@h/q") == plain
    assert place("sparql:http://h/q?token=a") == place("sparql:http://h/q?token=b")
    assert place("sparql:http://h/q?db=1") != place("sparql:http://h/q?db=2") != plain


@pytest.mark.slow
@pytest.mark.parametrize(
    "args", [["doctor"], ["query", "ASK {}"], ["load", "x.ttl"], ["ask", "who?"], ["search", "x"]]
)
@pytest.mark.parametrize("how", ["option", "environment"])
def test_no_command_prints_the_login_of_its_store(tmp_path: Path, args: list[str], how: str) -> None:
    (tmp_path / "x.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
    with server(401) as at:
        url = f"sparql:http://ann:{QUOTED}@{at}/q?token={QUOTED}"
        option = ["--store", url] if how == "option" else []
        known = {"MRAG_STORE": url, "OLLAMA_HOST": f"http://ann:{QUOTED}@127.0.0.1:9"}
        done = process("-v", *args, *option, cwd=tmp_path, MRAG_EMBEDDER="none", **known)
    assert done.returncode == 1
    clean(done.stdout + done.stderr)
    assert ("list of processes" in done.stderr) is (how == "option")


def test_no_text_of_a_model_tells_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in (f"http://ann:{QUOTED}@127.0.0.1:9/?token={QUOTED}", f"http://ann:{QUOTED}@127.0.0.1:x"):
        monkeypatch.setenv("OLLAMA_HOST", host)
        try:
            clean(f"{status('ollama:llama3.2')} {status('ollama:llama3.2')!r}")
        except MragError as error:
            clean(f"{error} {error!r}")


def test_ordinary_text_stays_as_it_is() -> None:
    for text in (
        "SELECT ?token { ?token ?key ?o FILTER(?key > 5) }",
        "http://example.org/item?id=5&page=2 is no class",
        "see http://host:7200/repositories/a@b, ex:Password and user@example.org",
        "The store oxigraph:/home/me/data?x is locked: 12:30 @ noon",
    ):
        assert redact(text) == text


@pytest.mark.parametrize("size", [0, 280, 295, 299, 5_000])
@pytest.mark.parametrize("password", ["s3cret", "s/3cret", "x" * 400 + "/3cret", "s:3cret@" * 50 + "3cret"])
def test_a_login_is_hidden_wherever_it_stands_and_a_text_is_cut(size: int, password: str) -> None:
    said = "a " * (size // 2) + f"no answer from http://ann:{password}@host:8080/path?token={password} today"
    assert "3cret" not in redact(said) and "ann" not in redact(said)
    assert redact(said).endswith("http://***@host:8080/path?token=*** today")
    for most in (40, 160, 300):
        assert "ann:" not in brief(said, most) and "x" * 20 not in brief(said, most)
    with pytest.raises(RuntimeError) as found:
        unpack(outcome(failing, said))
    assert "ann:" not in str(found.value)


def failing(text: str) -> None:
    raise ValueError(text)


@pytest.mark.parametrize(
    "pump", ["http://", "http://a:", "http://a:b", "x:/", "@", "a:b@", "http://a:1/", "h://@"]
)
def test_redacting_takes_time_that_grows_with_the_text(pump: str) -> None:
    text = pump * (200_000 // len(pump))
    began = time.thread_time()
    redact(text)
    assert time.thread_time() - began < 2
