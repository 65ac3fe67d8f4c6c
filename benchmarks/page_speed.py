"""How long a person waits for the page, in Chromium: the first view, a hub, the gallery, and learning.

python benchmarks/page_speed.py [--scale 1.0] [--url oxigraph:FOLDER] [--times 5]

A graph like Fashionpedia's (45,623 images) is generated, with pictures for all of them and an entity that has
70,000 links, and loaded into a store on disk, or an earlier one is taken. The server and the browser run on
this machine. Seconds are by the clock, medians with the longest, and beside them those of the processor: of
the server, and of the page's main thread. `pip install playwright` and `playwright install chromium` bring
the browser.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import httpx
import uvicorn
from common import peak_memory

import mrag
from mrag.loaders.scenes import Fashionpedia
from mrag.server.running import create_app
from mrag.server.settings import ServerSettings
from tests.made import write_annotations

HUB = "http://example.org/hub"
LINKS = 70_000
PICTURES = 48
_, *_PARTS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").split("//// ")
SCRIPTS = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in _PARTS}


def made(url: str, folder: Path, scale: float) -> None:
    """Make the graph."""
    images, annotations = write_annotations(folder / "annotations.json", scale=scale)
    print(f"{images:,} images, {annotations:,} annotations")
    Fashionpedia(folder / "annotations.json", boxes=True).write(folder / "images.nt")
    with mrag.connect(url) as kg:
        kg.load([folder / "images.nt"])
        kg.profile()  # as it is after `mrag index`


@contextmanager
def serving(kg: mrag.KnowledgeGraph, settings: ServerSettings) -> Iterator[httpx.Client]:
    """Serve a graph on a thread, and give a client of it."""
    config = uvicorn.Config(create_app(kg, settings), port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(30)


def main() -> None:
    """Print how long each of the four takes."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--url", help="a store that was made before")
    options.add_argument("--times", type=int, default=5)
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mrag-bench-") as name:
        folder = Path(name)
        url = args.url or f"oxigraph:{folder}/store"
        if args.url is None:
            made(url, folder, args.scale)
        with mrag.connect(url) as kg:
            if not kg.query(f"ASK {{ <{HUB}> ?p ?o }}"):
                kg.load([hub(folder / "hub.nt")])
                kg.profile()
            media = pictures(kg, folder / "media")
            print(f"{kg.record.triples:,} triples; load of the machine {os.getloadavg()[0]:.1f}")
            with (
                serving(kg, ServerSettings(model="none", seconds=600, media=media)) as client,
                browser() as one,
            ):
                seen = str(client.base_url)
                first_view(one, seen, args.times)
                explore(one, seen, args.times)
                while (about := client.get("/api/images", params={"wait": 60}).json())["reading"]:
                    pass
                gallery(one, seen)
                learning(one, seen, words(about))
    print(f"peak {peak_memory():.0f} MiB; load of the machine {os.getloadavg()[0]:.1f}")


def hub(path: Path) -> Path:
    """Write an entity that has so many links, half of them in each direction."""
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    with path.open("w", encoding="utf-8") as out:
        out.write(f'<{HUB}> <{label}> "a hub" .\n')
        for n in range(LINKS // 2):
            out.write(f"<{HUB}> <http://example.org/linksTo> <http://example.org/far_{n}> .\n")
            out.write(f"<http://example.org/near_{n}> <http://example.org/linkedBy> <{HUB}> .\n")
            out.write(f'<http://example.org/near_{n}> <{label}> "near {n}" .\n')
    return path


def pictures(kg: mrag.KnowledgeGraph, folder: Path) -> Path:
    """Draw some pictures, and give each image of the graph the name of one of them."""
    import numpy as np
    from PIL import Image

    (folder / "drawn").mkdir(parents=True)
    random = np.random.default_rng(7)
    for at in range(PICTURES):
        rough = random.integers(0, 255, (20, 15, 3), dtype=np.uint8)
        Image.fromarray(rough).resize((600, 800)).save(folder / "drawn" / f"{at}.jpg", quality=85)
    rows: Any = kg.select("SELECT ?f { ?i <http://example.org/hasFileName> ?f } ORDER BY ?f", "asserted")
    for at, (name,) in enumerate(rows):
        os.link(folder / "drawn" / f"{at % PICTURES}.jpg", folder / str(name))
    return folder


def words(about: Any) -> str:
    """Return what to search for: a category and an attribute that many images have."""
    return " ".join(about["facets"][name][3]["label"] for name in ("category", "attribute"))


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


class Waits:
    """How long something took, each time: by the clock, of the server, and of the page's main thread."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.server: list[float] = []
        self.thread: list[float] = []

    def measure(self, opened: Any, work: Callable[[], float]) -> None:
        """Do something that returns the milliseconds that it took."""
        cdp = opened.context.new_cdp_session(opened)
        cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

        def busy() -> float:
            metrics = cdp.send("Performance.getMetrics")["metrics"]
            return next(float(m["value"]) for m in metrics if m["name"] == "TaskDuration")

        server, thread = time.process_time(), busy()
        self.clock.append(work() / 1000)
        self.server.append(time.process_time() - server)
        self.thread.append(busy() - thread)

    def print(self, what: str) -> None:
        """Print medians, and the longest by the clock."""
        print(
            f"{what:<26} {median(self.clock):6.3f} s, at most {max(self.clock):.3f} s; of processor: server"
            f" {median(self.server):.3f} s, page {median(self.thread):.3f} s; {len(self.clock)} times",
            flush=True,
        )


@contextmanager
def page(one: Any, url: str, path: str) -> Iterator[Any]:
    """Open a page with nothing in its cache."""
    context = one.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(120_000)
    opened.add_init_script(SCRIPTS["ready"])
    if path:
        opened.goto(url + path)
    yield opened
    context.close()


def first_view(one: Any, url: str, times: int) -> None:
    """Open the page anew, again and again."""
    found = Waits()
    for _ in range(times):
        with page(one, url, "") as opened:

            def work(opened: Any = opened) -> float:
                opened.goto(url + "/")
                while not (ready := opened.evaluate("window.interactive")):
                    opened.wait_for_timeout(5)
                return float(ready)

            found.measure(opened, work)
    found.print("first view, interactive")


def explore(one: Any, url: str, times: int) -> None:
    """Go to the hub's page, each time in a page that has another one open, and to its drawing."""
    for name, view, selector in (
        ("the hub in Explore", "", "#explore-entity article.entity h2"),
        ("the hub as a graph", "&view=graph", ".growing-frame canvas"),
    ):
        found = Waits()
        for _ in range(times):
            with page(one, url, "/#/explore") as opened:
                opened.wait_for_selector(".class-tree a")
                address = f"#/explore?iri={quote(HUB, safe='')}{view}"
                found.measure(opened, partial(opened.evaluate, SCRIPTS["go"], [address, selector]))
        found.print(name)


def gallery(one: Any, url: str) -> None:
    """Scroll through the whole gallery in 300 frames, so that each shows others than the one before."""
    with page(one, url, "/#/images") as opened:
        opened.wait_for_selector(".cell img[src]")
        seen: dict[str, Any] = {}

        def work() -> float:
            seen.update(opened.evaluate(SCRIPTS["scroll"]))
            return float(sum(seen["times"]))

        whole = Waits()
        whole.measure(opened, work)
        whole.print("300 frames of the gallery")
        times = sorted(seen["times"])
        late = sum(t > 100 for t in times)
        print(f"  a frame {median(times):.0f} ms, at most {times[-1]:.0f}; above 100 ms: {late}")
        print(f"  images in the document at once: {seen['most']}")


def learning(one: Any, url: str, sought: str) -> None:
    """Mark hits of a search one after the other, and wait each time for the concept."""
    found = Waits()
    for start in range(0, 24, 4):
        with page(one, url, f"/#/images?q={sought.replace(' ', '+')}") as opened:
            opened.wait_for_selector(".hits .vote")
            names = opened.evaluate("[...document.querySelectorAll('.hits .vote')].map(v => v.dataset.mark)")
            first, *others = list(dict.fromkeys(names))[start : start + 4]
            opened.evaluate(
                SCRIPTS["mark"], [first, "true"]
            )  # with it learning begins, and shows nothing yet
            opened.wait_for_timeout(1500)
            for at, name in enumerate(others):
                mark = [name, "true" if at % 2 else "false"]
                found.measure(opened, partial(opened.evaluate, SCRIPTS["mark"], mark))
    found.print("learning after a mark")


if __name__ == "__main__":
    main()
