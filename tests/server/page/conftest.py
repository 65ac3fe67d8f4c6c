"""A browser for the tests of the page, and servers of the demo graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import mrag
from mrag.server.settings import ServerSettings
from tests.server.browsing import chromium
from tests.server.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Learning ends when it has found what there is: the limit only holds off a busy machine.
SETTINGS = ServerSettings(model="none", update=True, learn_seconds=20)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """A server of the demo graph that allows changes."""
    with mrag.demo(model="none") as kg, serving(kg, SETTINGS) as url:
        yield url


@pytest.fixture(scope="module")
def read_only() -> Iterator[str]:
    """A server of the demo graph that allows none."""
    with mrag.demo(model="none") as kg, serving(kg, replace(SETTINGS, update=False)) as url:
        yield url
