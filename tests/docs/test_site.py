"""The documentation site is built without a warning, has no broken link, and loads nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from mrag.cli import app
from tests.conftest import ROOT
from tests.docs.notebooks import executed, kernel
from tests.server.browsing import chromium
from tests.servers import oxigraph_server, virtuoso_server

pytestmark = pytest.mark.slow
PACKAGES = runpy.run_path(str(ROOT / "docs" / "hooks.py"))["PACKAGES"]
OUTSIDE = ("http:", "https:", "mailto:")


@dataclass
class Html(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") not in ("next", "prev"):
            self.loaded.append(found["href"])
        elif "src" in found:
            self.loaded.append(found["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    for needed in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(needed, reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Html]:
    found = {}
    for path in sorted(site.rglob("*.html")):
        if path.name != "404.html":  # its links are from the root of a server
            found[path.resolve()] = Html()
            found[path.resolve()].feed(path.read_text(encoding="utf-8"))
    assert len(found) > 30
    return found


def test_every_link_of_the_site_leads_to_a_page_and_a_place(pages: dict[Path, Html]) -> None:
    broken = []
    for page, html in pages.items():
        for link in (*html.links, *html.loaded):
            target, _, anchor = link.partition("#")
            if link.startswith(OUTSIDE):
                continue
            path = (page.parent / unquote(target)).resolve() if target else page
            known = pages[path].anchors if path in pages else {""}
            if not path.is_file() or (anchor and unquote(anchor) not in known):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_the_site_loads_nothing_from_elsewhere(site: Path, pages: dict[Path, Html]) -> None:
    elsewhere = re.compile(r"(https?:)?//")
    assert [link for html in pages.values() for link in html.loaded if elsewhere.match(link)] == []
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"""(url\(|@import)\s*["']?(https?:)?//""", text), path.name


def asked_for(site: Path) -> Iterator[str]:
    with chromium() as browser:
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index.html", "command-line.html", "reference/mrag.html"):
            page.goto((site / name).as_uri())
            page.wait_for_load_state("networkidle")
        yield from asked


def test_a_browser_asks_nobody_for_a_page_of_the_site(site: Path) -> None:
    asked = list(asked_for(site))
    assert asked
    assert [url for url in asked if not url.startswith("file:")] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package: str, site: Path) -> None:
    names = [n for n in getattr(import_module(package), "__all__", ()) if not n.startswith("_")]
    html = Html()
    html.feed((site / "reference" / f"{package}.html").read_text(encoding="utf-8"))
    assert [n for n in names if f"{package}.{n}" not in html.anchors] == []


def test_every_command_is_in_the_reference(site: Path) -> None:
    html = (site / "command-line.html").read_text(encoding="utf-8")
    shown = CliRunner().invoke(app, ["--help"]).output
    commands = re.findall(r"^  (\w+) {2,}\w", shown, re.M)
    assert len(commands) > 15
    below = [
        f"{name} {inner}"
        for name, command in get_command(app).commands.items()  # type: ignore[attr-defined]
        for inner in getattr(command, "commands", ())
    ]
    for command in (*commands, *below):
        assert f'id="mrag-{command.replace(" ", "-")}"' in html, command


if TYPE_CHECKING:
    from jupyter_client import AsyncKernelManager

__all__ = ["kernel"]
NOTEBOOK = ROOT / "notebooks" / "02_your_triple_store.ipynb"


@pytest.fixture(params=["oxigraph", "virtuoso"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    start = oxigraph_server if request.param == "oxigraph" else virtuoso_server
    with start(tmp_path) as url:
        yield url


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, kernel: AsyncKernelManager) -> list[str]:
    """What it prints on the embedded store."""
    return outputs("oxigraph:", tmp_path_factory.mktemp("here"), kernel)


def outputs(store: str, folder: Path, kernel: AsyncKernelManager, notebook: Path = NOTEBOOK) -> list[str]:
    access = {"MRAG_STORE_USER": "dba", "MRAG_STORE_PASSWORD": "dba", "XDG_DATA_HOME": str(folder)}
    return printed(executed(notebook, folder, kernel, MRAG_NOTEBOOK_STORE=store, **access))


def printed(cells: Sequence[Any]) -> list[str]:
    # The second cell of code shows the store itself; a kernel may send what one cell prints in any number of
    # messages, so each cell's are joined.
    shown = [cell["outputs"] for cell in cells[2:] if cell["outputs"]]
    texts = ([o.get("text") or o["data"]["text/plain"] for o in some] for some in shown)
    return ["".join("".join(text) for text in some) for some in texts]


def test_the_notebook_prints_the_same_on_every_store(
    here: list[str], url: str, tmp_path: Path, kernel: AsyncKernelManager
) -> None:
    there = outputs(url, tmp_path, kernel)
    assert len(here) >= 5 and "2235 triples loaded" in here[0] and "Virtuoso" in "".join(here)
    assert there == here


def test_the_notebook_of_graphdb_prints_what_it_stores(
    graphdb: str, tmp_path: Path, kernel: AsyncKernelManager
) -> None:
    path = NOTEBOOK.with_name("graphdb.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    stored = [cell for cell in cells if cell["cell_type"] == "code"]
    there = outputs(f"graphdb:{graphdb}/repositories/notebook", tmp_path, kernel, path)
    assert len(there) > 5 and there == printed(stored)
