"""The page's JavaScript: checked by TypeScript against its JSDoc, and each of its texts in every language."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from tests.clients.conftest import HERE, lacking
from tests.conftest import opened
from tests.server.browsing import WIDE, Browser, Page, chromium
from tests.server.conftest import running
from tests.servers import Quiet, answering

PAGE = Path(str(files("mrag") / "server" / "page"))
OWN = sorted(path for path in PAGE.rglob("*.js") if "vendor" not in path.parts)
ANY = re.compile(r"@(?:type|param|returns|typedef) \{(?:[^{}]|\{[^{}]*\})*\bany\b")


def node(packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Node, which needs TypeScript beside it."""
    program = shutil.which("node")
    if program is None:
        lacking("Node.js is not installed")
    if not (packages / "typescript" / "lib" / "tsc.js").is_file():
        lacking("TypeScript is not installed: npm ci --ignore-scripts --prefix tests/clients")
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=300)


def checked(packages: Path, module: Path | None = None) -> str:
    """Return what the compiler says of all modules, or of one in a copy of the page; nothing if sound."""
    project = HERE / "page.tsconfig.json"
    if module is not None:
        options = json.loads(project.read_text(encoding="utf-8")) | {"include": [module.name]}
        project = module.with_name("tsconfig.json")
        project.write_text(json.dumps(options), encoding="utf-8")
    compiler = str(packages / "typescript" / "lib" / "tsc.js")
    done = node(packages, compiler, "--project", str(project), "--pretty", "false")
    assert bool(done.returncode) == bool(done.stdout.strip()), done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_every_module_of_the_page_is_typed(packages: Path) -> None:
    assert checked(packages) == ""


@pytest.mark.slow
def test_a_fault_is_found(packages: Path, tmp_path: Path) -> None:
    page = tmp_path / "page"
    shutil.copytree(PAGE, page, ignore=shutil.ignore_patterns("vendor"))
    wrong = """
import { byId } from "./dom.js";
/** @import {EntityPage} from "./types.js" */
/** @param {EntityPage} about */
export const wrong = (about) => about.lable;
byId("sought").value = "";
"""
    module = page / "wrong.js"
    module.write_text(wrong, encoding="utf-8")
    said = checked(packages, module)
    assert said.count("error TS") == 2 and "'lable'" in said and "'value'" in said


def test_nothing_is_left_unchecked() -> None:
    assert len(OWN) > 25
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@ts-(?:ignore|nocheck|expect-error)", text), path
        # What the API returns is said where it is asked for.
        assert path.name == "api.js" or not ANY.search(text), path


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
    done = node(packages, *arguments)
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
        "never", "Not yet", "seen", "{} things were found", "t(word)",
    ]  # fmt: skip


FOLDER = Path(__file__).parent
TOKEN = "a-long-random-token"
QUERY = """PREFIX ex: <https://w3id.org/mrag/demo/products#>
SELECT ?product ?vendor { ?product ex:developedBy ?vendor } ORDER BY ?product LIMIT 5"""
CONSTRUCT = """PREFIX ex: <https://w3id.org/mrag/demo/products#>
CONSTRUCT { ?v ex:develops ex:GraphDB } { ex:GraphDB ex:developedBy ?v }"""


browser = opened(lambda _: chromium())


@pytest.fixture(scope="module")
def site(packages: Path) -> Iterator[str]:
    """Another server, which has the page."""
    assert (packages / "@triply" / "yasgui").is_dir()
    quiet = type("Files", (Quiet, SimpleHTTPRequestHandler), {})
    with answering(partial(quiet, directory=FOLDER)) as at:
        yield f"http://{at}"


@contextmanager
def opened(browser: Browser, site: str, **wanted: str) -> Iterator[Page]:
    """Open the page, its endpoint and token given in the address."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    context.set_default_timeout(20_000)
    try:
        page = context.new_page()
        page.goto(f"{site}/yasgui.html?{urlencode(wanted)}")
        yield page
    finally:
        context.close()


def test_yasgui_shows_a_table_and_a_graph(browser: Browser, site: str, demo: KnowledgeGraph) -> None:
    with (
        running(demo, cors_origins=(site,)) as server,
        opened(browser, site, endpoint=f"{server.url}/sparql") as page,
    ):
        page.evaluate("q => ask(q).then(() => {})", QUERY)
        page.wait_for_selector(".yasr table.dataTable tbody tr")
        rows = page.locator(".yasr table.dataTable tbody tr")
        assert rows.count() == 5
        assert "product" in page.inner_text(".yasr table.dataTable thead")
        page.evaluate("q => ask(q).then(() => {})", CONSTRUCT)
        page.wait_for_function("document.querySelector('.yasr').innerText.includes('develops')")


@pytest.mark.parametrize("path", ["/sparql", "/repositories/main"])
def test_yasgui_sends_a_token_after_asking_whether_it_may(browser: Browser, site: str, path: str) -> None:
    with (
        mrag.demo(model="none") as kg,
        running(kg, cors_origins=(site,), token=TOKEN) as server,
        opened(browser, site, endpoint=server.url + path, token=TOKEN) as page,
    ):
        page.evaluate("q => ask(q).then(() => {})", QUERY)
        page.wait_for_selector(".yasr table.dataTable tbody tr")


def test_yasgui_shows_what_a_server_says_of_errors(browser: Browser, site: str, demo: KnowledgeGraph) -> None:
    with (
        running(demo, cors_origins=(site,)) as server,
        opened(browser, site, endpoint=f"{server.url}/sparql") as page,
    ):
        page.evaluate("q => { ask(q).catch(() => {}) }", "SELECT ?s { ?s nonsense }")
        page.wait_for_selector(".yasr .errorResult")
        assert "line 1" in page.inner_text(".yasr .errorResult")


def test_a_page_unknown_to_the_server_gets_nothing(browser: Browser, site: str, demo: KnowledgeGraph) -> None:
    with running(demo) as server, opened(browser, site, endpoint=f"{server.url}/sparql") as page:
        page.evaluate("q => { ask(q).catch(() => {}) }", QUERY)
        page.wait_for_selector(".yasr .errorResult")
        assert page.locator(".yasr table.dataTable tbody tr").count() == 0
