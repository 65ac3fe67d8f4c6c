"""A loopback HTTP proxy that stands before a server, holds each request back for a while, and counts them."""

import http.client
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.servers import Quiet, answering

_OWN = frozenset({"transfer-encoding", "content-length", "connection", "keep-alive"})


@dataclass
class Proxy:
    """What a proxy has passed on, and the seconds that it holds each request back."""

    base: str = ""
    delay: float = 0.0
    bodies: list[bytes] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """How many requests it has passed on."""
        return len(self.bodies)


class _Handler(Quiet):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    behind: str
    proxy: Proxy

    def setup(self) -> None:
        super().setup()
        self.server_side = http.client.HTTPConnection(self.behind, timeout=60)

    def finish(self) -> None:
        self.server_side.close()
        super().finish()

    def _pass_on(self) -> None:
        body = self.body()
        self.proxy.bodies.append(body)
        time.sleep(self.proxy.delay)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in {*_OWN, "host"}}
        self.server_side.request(self.command, self.path, body or None, headers)
        answer = self.server_side.getresponse()
        data = answer.read()
        left_out = _OWN | {"server", "date"}
        others = {name.title(): value for name, value in answer.getheaders() if name.lower() not in left_out}
        self.answer(answer.status, data, **others)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass_on


@contextmanager
def proxy(server: str) -> Iterator[Proxy]:
    """Give a proxy before a server, which it ends afterwards."""
    made = Proxy()
    handler = type("Handler", (_Handler,), {"behind": urlsplit(server).netloc, "proxy": made})
    with answering(handler) as at:
        made.base = f"http://{at}"
        yield made
