"""A browser for the tests of the page, and servers of the demo graph."""

from collections.abc import Iterator

import httpx
import pytest

import mrag
from tests.conftest import opened
from tests.server.browsing import WIDE, Browser, Size, Watched, chromium, watched
from tests.server.serving import serving

# Learning ends when it has found what there is: the limit only holds off a busy machine.
SETTINGS = {"update": True, "learn_seconds": 20}


browser = opened(lambda _: chromium(), "package")


@pytest.fixture
def size() -> tuple[int, int]:
    """The size of the window, unless a test names others."""
    return WIDE


@pytest.fixture
def seen(browser: Browser, base: str, size: Size) -> Iterator[Watched]:
    """A page of the server, and what it did that it should not."""
    with watched(browser, base, size) as found:
        yield found


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """A server of the demo graph that allows changes."""
    with mrag.demo(model="none") as kg, serving(kg, **SETTINGS) as url:
        yield url


@pytest.fixture(scope="module")
def client(base: str) -> Iterator[httpx.Client]:
    """A client of that server."""
    with httpx.Client(base_url=base, timeout=60) as found:
        yield found


@pytest.fixture(scope="module")
def read_only() -> Iterator[str]:
    """A server of the demo graph that allows none."""
    with mrag.demo(model="none") as kg, serving(kg, learn_seconds=20) as url:
        yield url
