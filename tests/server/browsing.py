"""A real browser for the tests of the page: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The same browser; without the windows that nobody sees, a page takes a fifth of the processor's time."""
WIDE, NARROW = (1280, 900), (390, 844)
SIZES = pytest.mark.parametrize(
    "size", [pytest.param(WIDE, id="1280"), pytest.param(NARROW, id="390", marks=pytest.mark.slow)]
)
POLICIES = pytest.mark.parametrize(
    ("size", "bare"),
    [
        pytest.param(WIDE, False, id="1280 as served"),
        pytest.param(NARROW, True, id="390 without the policy", marks=pytest.mark.slow),
    ],
)
"""Sizes of the window, and whether the page goes without its policy, which alone would stop scripts."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser, or skip the test, saying why."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium is on the PATH")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, and what it did that it should not."""

    page: Page
    base: str
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def open(self, path: str = "/") -> Page:
        """Go to an address of the server."""
        self.page.goto(self.base + path)
        return self.page

    def until(self, expression: str) -> None:
        """Wait until JavaScript says true; Playwright's own way needs `eval`, which the page forbids."""
        for _ in range(400):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"never came true: {expression}")

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


@contextmanager
def watched(browser: Browser, base: str, size: tuple[int, int] = WIDE, **options: Any) -> Iterator[Watched]:
    """Open a page; at the end no request has left the server, and the console has no error."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    seen = Watched(page, base)
    context.on("request", lambda r: seen.asked.append(r.url))
    page.on("console", lambda m: seen.said.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: (seen.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield seen
        outside = [url for url in seen.asked if not _own(url, seen.base)]
        assert not outside, f"requests left the server: {outside}"
        assert not seen.said, f"the console says: {seen.said}"
    finally:
        context.close()


def _own(url: str, base: str) -> bool:
    return url.startswith((base + "/", "data:", f"blob:{base}/"))
