"""How long the view Images takes on a large graph: the first request, pages, facets, words, and a region.

python benchmarks/image_gallery.py [--scale 1.0] [--url oxigraph:FOLDER] [--times 5]

A graph like Fashionpedia's is generated and loaded into a store on disk, or an earlier one is taken. The
server is started twice: without a catalogue of the images beside the store, which the first request begins to
make, and with one. Seconds are by the clock; those of the processor are of the whole server.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from common import peak_memory

import mrag
from mrag.index.backends.base import home
from mrag.loaders.scenes import Fashionpedia
from mrag.server.settings import ServerSettings
from mrag.testing.annotations import write_annotations


def main() -> None:
    """Print the seconds of each request."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--url", help="a store that was made before")
    options.add_argument("--times", type=int, default=5)
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mrag-bench-") as folder:
        url = args.url or f"oxigraph:{folder}/store"
        if args.url is None:
            made(url, Path(folder), args.scale)
        for kept in (False, True):
            with mrag.connect(url) as kg:
                place = home(kg)
                file = None if place is None else place.parent / "images" / "catalogue.npz"
                if not kept and file is not None:
                    file.unlink(missing_ok=True)
                print("with a catalogue" if kept else "without a catalogue")
                with serving(kg, ServerSettings(model="none", seconds=600)) as client:
                    measured(client, args.times)
    print(f"peak {peak_memory():.0f} MiB")


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
    import threading

    import uvicorn

    from mrag.server.running import create_app

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


def measured(client: httpx.Client, times: int) -> None:
    """Print how long requests take, the first of each kind and the median of the others."""
    about = timed("first request", lambda: client.get("/api/images"), 1)
    timed("first page", lambda: client.get("/api/images/page"), times)
    if about["reading"]:
        about = timed("until all are read", lambda: client.get("/api/images", params={"wait": 60}), 1)
        while about["reading"]:
            about = timed("until all are read", lambda: client.get("/api/images", params={"wait": 60}), 1)
    middle = about["before"][len(about["before"]) // 2]
    timed("page in the middle", lambda: client.get("/api/images/page", params={"after": middle}), times)
    category = about["facets"]["category"][0]["iri"]
    facet = {"category": category, "attribute": about["facets"]["attribute"][0]["iri"]}
    timed("two facets", lambda: client.get("/api/images", params=facet), times)
    words = " ".join(about["facets"][name][3]["label"] for name in ("category", "attribute"))
    timed("words", lambda: client.post("/api/images/search", json={"q": words}), times)
    iri = client.get("/api/images/page").json()[0]["iri"]
    one = timed("one image", lambda: client.get("/api/images/one", params={"iri": iri}), times)
    x, y, w, h = one["parts"][0]["boxes"][0]
    region = {"region": {"iri": iri, "x": x, "y": y, "w": w, "h": h}}
    timed("region", lambda: client.post("/api/images/search", json=region), times)


def timed(what: str, ask: Callable[[], httpx.Response], times: int) -> Any:
    """Ask, print the seconds, and return what was answered."""
    seconds = []
    for _ in range(times):
        began, used = time.perf_counter(), time.process_time()
        reply = ask()
        reply.raise_for_status()
        seconds.append((time.perf_counter() - began, time.process_time() - used))
    first, later = seconds[0], sorted(seconds[1:])
    more = f", then {later[len(later) // 2][0]:.2f} s ({later[len(later) // 2][1]:.2f})" if later else ""
    print(f"  {what:<20} {first[0]:7.2f} s ({first[1]:.2f} of processor){more}", flush=True)
    return reply.json()


if __name__ == "__main__":
    main()
