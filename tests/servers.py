"""Real servers on loopback, started by the tests and stopped after them."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn

import pytest
import requests

ASK = {"query": "ASK { }"}
CACHE = Path(__file__).parent.parent / ".pytest_cache"


def absent(reason: str) -> NoReturn:
    """Skip a test for want of a program, or fail it where the gate has installed them all."""
    if os.environ.get("MRAG_REQUIRE_SERVERS"):
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Quiet(BaseHTTPRequestHandler):
    """A handler that says nothing on the terminal, reads a body whole and answers in one piece."""

    def log_message(self, *args: object) -> None:
        pass

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def answer(self, status: int, text: bytes = b"", media: str = "text/plain", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": media, "Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that was killed or gave up
            super().handle_error(request, client_address)


@contextmanager
def answering(
    handler: Callable[..., BaseHTTPRequestHandler],
    certificate: tuple[Path, Path] | None = None,
    known: Path | None = None,
) -> Iterator[str]:
    """Give host and port of a server in this process that answers by a handler."""
    with _Server(("127.0.0.1", 0), handler) as httpd:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            if known is not None:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(known)
            httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{httpd.server_address[1]}"
        finally:
            httpd.shutdown()
            thread.join()


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """Listen on a port of this machine, and note whatever connects."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        port = server.getsockname()[1]

        def accept() -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    data = connection.recv(1 << 12)
                    if data == b"end":
                        return
                    heard.append(data)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield port, heard
        finally:
            with socket.create_connection(("127.0.0.1", port)) as last:
                last.sendall(b"end")
            thread.join(20)
            assert not thread.is_alive()


@contextmanager
def running(
    command: Sequence[str], url: str, log: Path, *, seconds: float = 60, ask: Mapping[str, str] = ASK
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it answers, and end it afterwards."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=log.parent)
        try:
            deadline = time.monotonic() + seconds
            while True:
                try:
                    if requests.get(url, params=ask, timeout=2).status_code == 200:
                        break
                except requests.RequestException:
                    pass
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def oxigraph_server(
    folder: Path, *, memory: bool = False, seconds: int = 4, union: bool = False
) -> Iterator[str]:
    """Give the URL of a store on an Oxigraph server, its default graph the union of all if so wished."""
    program = shutil.which("oxigraph") or str(Path(sys.executable).with_name("oxigraph"))
    if not Path(program).is_file():
        absent("the Oxigraph server is not installed: pip install oxigraph")
    base = f"http://127.0.0.1:{free_port()}"
    where = [] if memory else ["-l", str(folder / "data")]
    where += ["--union-default-graph"] if union else []
    command = [program, "serve", *where, "-b", base.removeprefix("http://"), "--timeout-s", str(seconds)]
    with running(command, f"{base}/query", folder / "oxigraph.log"):
        yield f"sparql:{base}/query?update={base}/update&graphs={base}/store"


@contextmanager
def graphdb_protocol(folder: Path, *options: str) -> Iterator[str]:
    """Give the URL of an empty store that `mrag serve` offers over GraphDB's protocol, in a process."""
    base = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "mrag", "serve", "--store", str(folder / "data"), "--update"]
    command += ["--workers", "1", "--port", base.rpartition(":")[2], *options]
    with running(command, f"{base}/sparql", folder / "log"):
        yield f"graphdb:{base}/repositories/main"


@contextmanager
def server_of(kind: str, folder: Path) -> Iterator[str]:
    """Give the URL of an empty store on a server of a kind, with its login."""
    if kind == "oxigraph":
        with oxigraph_server(folder, memory=True, seconds=20) as url:
            yield url
    elif kind == "graphdb":
        with graphdb_protocol(folder) as url:
            yield url
    elif kind == "virtuoso":
        with virtuoso_server(folder) as url:
            yield url.replace("//", "//dba:dba@")
    else:
        from tests.java_servers import fuseki_server  # which imports this module

        with fuseki_server(folder) as base:
            yield f"fuseki:{base}/ds"


@contextmanager
def virtuoso_server(
    folder: Path, *, most_rows: int = 10_000, buffers: int = 20_000, seconds: int = 30
) -> Iterator[str]:
    """Give the URL of a store on a Virtuoso server; its login is dba, dba."""
    program = shutil.which("virtuoso-t")
    if program is None:
        absent("Virtuoso is not installed: apt-get install virtuoso-opensource-7")
    made = _made_database(program)
    if made.exists() and not (folder / "virtuoso.db").exists():
        shutil.copy(made, folder / "virtuoso.db")
    with _virtuoso(program, folder, most_rows, buffers, seconds) as url:
        yield url


def _made_database(program: str) -> Path:
    """Return where an empty database of this Virtuoso is kept, since it takes long to make one."""
    status = Path(program).stat()
    kept = CACHE / f"virtuoso-{status.st_size}-{status.st_mtime_ns}.db"
    if not kept.exists():
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as name:
            with _virtuoso(program, Path(name), 10_000, 2000, 30):
                pass
            # Where it was killed, or has not written all into the database, the next test tries again.
            whole = (Path(name) / "virtuoso.trx").stat().st_size < 1000
            if whole and not (Path(name) / "virtuoso.lck").exists():
                (Path(name) / "virtuoso.db").replace(kept)
    return kept


@contextmanager
def _virtuoso(program: str, folder: Path, most_rows: int, buffers: int, seconds: int) -> Iterator[str]:
    port, http = free_port(), free_port()
    (folder / "www").mkdir(exist_ok=True)
    values = {"folder": folder, "port": port, "http": http, "buffers": buffers, "dirty": buffers * 3 // 4}
    ini = Path(__file__).with_name("virtuoso.ini").read_text(encoding="utf-8")
    (folder / "virtuoso.ini").write_text(ini.format(**values, most_rows=most_rows, seconds=seconds), "utf-8")
    command = [program, "+foreground", "+configfile", str(folder / "virtuoso.ini")]
    with running(command, f"http://127.0.0.1:{http}/sparql", folder / "out.log"):
        yield f"virtuoso:http://127.0.0.1:{http}"
