"""A real browser for the tests of the page: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route
else:  # what annotations name, wherever Playwright is not installed
    Browser = Locator = Page = Route = Any

ARGUMENTS = """
--no-sandbox --disable-gpu --in-process-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync
""".split()
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The same browser; without the windows that nobody sees, a page takes a fifth of the processor's time."""
Size = tuple[int, int]
WIDE, NARROW = (1280, 900), (390, 844)
SIZES = pytest.mark.parametrize(
    "size", [pytest.param(WIDE, id="1280"), pytest.param(NARROW, id="390", marks=pytest.mark.slow)]
)
POLICY = pytest.mark.parametrize(
    ("size", "bare"),
    [
        pytest.param(WIDE, False, id="1280 as served"),
        pytest.param(NARROW, True, id="390 without the policy", marks=pytest.mark.slow),
    ],
)
"""Sizes of the window, and whether the page goes without its policy, which alone would stop scripts."""
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><b>bold</b> {{x}}"  # A name that attacks a page
MADE = "main :is(img, b, script, i), svg[onload], a[href^='javascript:']"
"""What hostile text would be where it were no text."""


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

    def open(self, path: str = "/", ready: str = "") -> Page:
        """Go to an address of the server, and wait for what shows that the view is there."""
        self.page.goto(self.base + path)
        return self.wait(ready)

    def wait(self, ready: str) -> Page:
        """Wait for an element, if one is named; the page is no wider than its window then."""
        if ready:
            self.page.wait_for_selector(ready)
            assert self.overflow() <= 0, f"too wide at {ready}"
        return self.page

    def click(self, what: str | Locator, ready: str = "") -> None:
        """Click on something, or on a button by its name."""
        if isinstance(what, str):
            what = self.page.get_by_role("button", name=what, exact=True)
        what.click()
        self.wait(ready)

    def press(self, where: Locator, key: str, ready: str = "") -> None:
        """Press a key where the focus is put."""
        where.focus()
        self.page.keyboard.press(key)
        self.wait(ready)

    def text(self, selector: str) -> str:
        """Return what an element shows."""
        return self.page.locator(selector).inner_text()

    def unfold(self, selector: str) -> None:
        """Open what is folded where there is little room."""
        summary = self.page.locator(f"{selector} > summary")
        if self.page.viewport_size == {"width": NARROW[0], "height": NARROW[1]}:
            summary.click()

    def back(self, ready: str) -> None:
        """Go back in the browser's history."""
        self.page.go_back()
        self.wait(ready)

    def enter(self, label: str, text: str, ready: str = "") -> None:
        """Fill in a field by its label, and press the key Enter."""
        self.page.get_by_label(label).fill(text)
        self.page.keyboard.press("Enter")
        self.wait(ready)

    def put(self, query: str) -> None:
        """Write a query into the editor."""
        self.page.wait_for_selector("#editor .CodeMirror")
        self.page.evaluate("text => document.querySelector('.CodeMirror').CodeMirror.setValue(text)", query)

    def plain(self, made: str = MADE) -> None:
        """See to it that hostile text has become no element, no link and no title."""
        assert self.page.locator(made).count() == 0 and "owned" not in self.page.title()

    def forgive(self, *words: str) -> None:
        """Forget what the console says of errors that are meant to be."""
        self.said[:] = [text for text in self.said if not any(word in text for word in words)]

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
def watched(browser: Browser, base: str, size: Size = WIDE, **options: Any) -> Iterator[Watched]:
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
        assert page.url == "about:blank" or seen.overflow() <= 0
        outside = [url for url in seen.asked if not _own(url, seen.base)]
        assert not outside, f"requests left the server: {outside}"
        assert not seen.said, f"the console says: {seen.said}"
    finally:
        context.close()


def _own(url: str, base: str) -> bool:
    return url.startswith((base + "/", "data:", f"blob:{base}/"))
