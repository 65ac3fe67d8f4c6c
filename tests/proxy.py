"""A loopback HTTP proxy that stands before a server, holds each request back for a while, and counts them."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_OWN = frozenset({"transfer-encoding", "content-length", "connection", "keep-alive"})


@dataclass
class Proxy:
    """What a proxy has passed on.

    Attributes:
        base: Its address.
        delay: Seconds that it holds each request back.
        bodies: What was sent, request by request.
    """

    base: str = ""
    delay: float = 0.0
    bodies: list[bytes] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """How many requests it has passed on."""
        return len(self.bodies)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    behind: str
    proxy: Proxy

    def log_message(self, *args: object) -> None:
        pass

    def setup(self) -> None:
        super().setup()
        self.server_side = http.client.HTTPConnection(self.behind, timeout=60)

    def finish(self) -> None:
        self.server_side.close()
        super().finish()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _pass_on(self) -> None:
        body = self._body()
        self.proxy.bodies.append(body)
        time.sleep(self.proxy.delay)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in {*_OWN, "host"}}
        self.server_side.request(self.command, self.path, body or None, headers)
        answer = self.server_side.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _OWN | {"server", "date"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on


@contextmanager
def proxy(server: str) -> Iterator[Proxy]:
    """Give a proxy before a server, which it ends afterwards.

    Args:
        server: The server's address, such as `http://127.0.0.1:7878`.
    """
    made = Proxy()
    handler = type("Handler", (_Handler,), {"behind": urlsplit(server).netloc, "proxy": made})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        httpd.daemon_threads = True
        made.base = f"http://127.0.0.1:{httpd.server_address[1]}"
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            httpd.shutdown()
            thread.join()
