"""The page in its languages: every text of its modules and of its document is in each of them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import HERE, lacking
from tests.clients.test_page_types import PAGE

LANGUAGES = sorted(path.stem for path in (PAGE / "languages").glob("*.js"))


class Document(HTMLParser):
    """Collects what a document says."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        self.texts += [value for name, value in attrs if name in ("placeholder", "aria-label") and value]

    def handle_endtag(self, tag: str) -> None:
        while tag in self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        # Without JavaScript nothing is translated.
        if "body" in self._open and "noscript" not in self._open and data.strip():
            self.texts.append(data.strip())


def ran(packages: Path, *arguments: str) -> Any:
    """Return what a script of Node prints as JSON."""
    node = shutil.which("node")
    if node is None:
        lacking("Node.js is not installed")
    if not (packages / "typescript").is_dir():
        lacking("TypeScript is not installed: npm ci --ignore-scripts --prefix tests/clients")
    done = subprocess.run([str(node), *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def said(packages: Path, page: Path = PAGE) -> tuple[list[str], list[str]]:
    """Return the texts that the page's modules have translated, and those that stand there as they are."""
    found = ran(packages, str(HERE / "page_strings.mjs"), str(page))
    where = [f"{one['file']}:{one['line']}: {one['text']}" for one in found["bare"]]
    return [one["text"] for one in found["texts"]], where


@pytest.fixture(scope="module")
def used(packages: Path) -> set[str]:
    """Every text of the page that is to be in each language."""
    document = Document()
    document.feed((PAGE / "index.html").read_text(encoding="utf-8"))
    texts, bare = said(packages)
    assert bare == [], "not translated"
    assert len(document.texts) > 50 and len(texts) > 250
    return {*document.texts, *texts} - {"mrag"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_in_every_language(packages: Path, used: set[str], language: str) -> None:
    module = (PAGE / "languages" / f"{language}.js").read_text(encoding="utf-8")
    code = f"{module}process.stdout.write(JSON.stringify([...words]))"
    pairs = ran(packages, "--input-type=module", "--eval", code.replace("export default", "const words ="))
    words = dict(pairs)
    assert len(words) == len(pairs), "a text is there twice"
    assert sorted(used - words.keys()) == [] and sorted(words.keys() - used) == []
    for text, other in words.items():
        values = re.findall(r"\{\w+\}", text)
        assert sorted(values) == sorted(re.findall(r"\{\w+\}", other)), text
        assert text.count("|") == other.count("|") and other.strip(), text
        # What stands before or after it is set off in the same way.
        assert (text[:1] == " ", text[-1:] == " ") == (other[:1] == " ", other[-1:] == " "), text


def test_a_text_that_nobody_translated_is_found(packages: Path, tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.mkdir()
    module = """
import { h } from "./dom.js";
import { t } from "./language.js";
export const made = (number, word) => [
  h("p", { class: "note wide", title: "never" }, "Not yet", word ? "seen" : t("Said")),
  h("p", {}, `${number} things were found`, t(word)),
];
"""
    (page / "made.js").write_text(module, encoding="utf-8")
    texts, bare = said(packages, page)
    assert texts == ["Said"]
    assert [one.split(": ", 1)[1] for one in bare] == [
        "never",
        "Not yet",
        "seen",
        "{} things were found",
        "t(word)",
    ]
