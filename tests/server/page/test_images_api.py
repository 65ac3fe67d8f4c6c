"""The API of the view Images: pages, facets, thumbnails, boxes and searches, against what was annotated."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import mrag
from mrag.server.settings import ServerSettings
from tests.server.page.pictures import COLOURS, GARMENTS, E, wardrobe
from tests.server.serving import serving

NUMBER = 450


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("photos")


@pytest.fixture(scope="module")
def client(photos: Path) -> Iterator[httpx.Client]:
    with mrag.connect() as kg:
        media = wardrobe(kg, photos, NUMBER)
        with (
            serving(kg, ServerSettings(model="none", media=media)) as url,
            httpx.Client(base_url=url, timeout=60) as found,
        ):
            yield found


def expected(at: int) -> set[tuple[str, str]]:
    colours = list(COLOURS)
    return {(GARMENTS[at % 3], colours[at % 4]), (GARMENTS[3 + at % 2], colours[(at // 4) % 4])}


def test_pages_give_every_image_once_and_facets_count_them(client: httpx.Client) -> None:
    for chosen, has in (
        ({}, lambda at: True),
        ({"category": E + "category_coat"}, lambda at: at % 3 == 0),
        ({"category": E + "category_coat " + E + "category_hat", "attribute": E + "attribute_red"},
         lambda at: at % 3 == 0 and at % 2 == 0 and "red" in {c for _, c in expected(at)}),
    ):  # fmt: skip
        wanted = [at for at in range(NUMBER) if has(at)]
        about = client.get("/api/images", params=chosen).json()
        assert (about["images"], about["total"]) == (NUMBER, len(wanted))
        pages = [
            client.get("/api/images/page", params={**chosen, "after": after}).json()
            for after in about["before"]
        ]
        assert [one["iri"] for page in pages for one in page] == [f"{E}image_{at:05}" for at in wanted]
        for facet, place in (("category", 0), ("attribute", 1)):
            counts = Counter(value for at in wanted for value in {pair[place] for pair in expected(at)})
            given = {one["label"]: one["count"] for one in about["facets"][facet]}
            assert {label: n for label, n in given.items() if n} == counts


def test_an_image_has_its_boxes_and_triples_and_a_thumbnail(client: httpx.Client) -> None:
    found = client.get("/api/images/one", params={"iri": f"{E}image_00007"}).json()
    assert {(part["label"], *part["attributes"]) for part in found["parts"]} == expected(7)
    assert sorted(part["boxes"] for part in found["parts"]) == [[[30, 10, 60, 70]], [[40, 90, 40, 60]]]
    assert [30.0, 10.0, 90.0, 10.0, 90.0, 80.0, 30.0, 80.0] in [m for p in found["parts"] for m in p["masks"]]
    assert all(part["out"]["triples"] for part in found["parts"]) and found["size"] == [120, 160]
    assert (found["before"], found["after"]) == (f"{E}image_00006", f"{E}image_00008")
    small = client.get("/api/images/thumbnail", params={"iri": f"{E}image_00007", "side": 64})
    assert (
        small.headers["content-type"] == "image/jpeg" and small.headers["x-content-type-options"] == "nosniff"
    )
    assert small.content[:3] == b"\xff\xd8\xff" and len(small.content) < 10_000


def search(client: httpx.Client, **values: Any) -> dict[str, Any]:
    reply = client.post("/api/images/search", json=values)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_words_find_what_is_annotated_among_what_is_chosen(client: httpx.Client) -> None:
    found = search(client, q="dress", k=200, attribute=E + "attribute_blue")
    numbers = [int(hit["iri"][-5:]) for hit in found["hits"]]
    wanted = {at for at in range(NUMBER) if at % 3 == 1 and "blue" in {c for _, c in expected(at)}}
    assert set(numbers) == wanted and [hit["rank"] for hit in found["hits"]] == list(
        range(1, len(wanted) + 1)
    )
    assert all(hit["individual"] for hit in found["hits"])


def test_a_box_finds_images_with_the_like_of_what_is_in_it(client: httpx.Client) -> None:
    box = {"x": 20, "y": 5, "w": 80, "h": 80}
    found = search(client, region={"iri": f"{E}image_00012", **box}, k=30)
    assert found["what"] == "coat with red"
    same = [at for at in range(NUMBER) if ("coat", "red") in expected(at) and at != 12]
    assert [int(hit["iri"][-5:]) for hit in found["hits"]] == same[:30]
    small = search(client, region={"iri": f"{E}image_00012", "x": 50, "y": 100, "w": 5, "h": 5})
    assert small["what"] == "hat with yellow"


def test_only_images_of_the_graph_below_the_folder_are_served(photos: Path) -> None:
    (photos / "secret.png").write_bytes((photos / "photos" / "00000.png").read_bytes())
    with mrag.connect() as kg:
        source = photos / "odd.ttl"
        lines = [
            f'<urn:i{n}> <{E}hasFileName> "{name}" .'
            for n, name in enumerate(("../secret.png", "gone.png", "00001.png"))
        ]
        source.write_text("\n".join(lines))
        kg.load([source])
        with serving(kg, ServerSettings(model="none", media=photos / "photos")) as url:
            got = [
                httpx.get(f"{url}/api/images/thumbnail", params={"iri": f"urn:i{n}"}).status_code
                for n in range(4)
            ]
            assert got == [404, 404, 200, 404]
        with serving(kg, ServerSettings(model="none")) as url:
            assert httpx.get(f"{url}/api/images/thumbnail", params={"iri": "urn:i2"}).status_code == 404
            assert "--media" in httpx.get(f"{url}/api/images").json()["pictures"]


def test_a_picture_finds_those_that_look_like_it(photos: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (pip install 'mrag[conse]')")
    with mrag.connect() as kg:
        media = wardrobe(kg, photos / "few", 4)
        data = base64.b64encode((media / "00002.png").read_bytes()).decode()
        with (
            serving(kg, ServerSettings(model="none", media=media)) as url,
            httpx.Client(base_url=url, timeout=120) as few,
        ):
            found = search(few, picture=data)
            assert found["hits"][0]["iri"] == f"{E}image_00002" and len(found["hits"]) == 4
            both = search(few, picture=data, q="coat")
            assert {f"{E}image_00000", f"{E}image_00002"} <= {hit["iri"] for hit in both["hits"]}
            assert both["what"] == "“coat” and the picture"


def test_while_many_images_are_read_the_first_are_there(tmp_path: Path) -> None:
    source = tmp_path / "many.nt"
    lines = [f'<urn:{n:05}> <{E}hasFileName> "{n}.png" .' for n in range(6_000)]
    lines += [f"<urn:{n:05}> <{E}hasAnnotationCategory> <urn:coat> ." for n in range(0, 6_000, 3)]
    source.write_text("\n".join(lines))
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.load([source])
        with (
            serving(kg, ServerSettings(model="none")) as url,
            httpx.Client(base_url=url, timeout=60) as many,
        ):
            about = many.get("/api/images").json()
            assert about["images"] == 6_000 and about["total"] == (200 if about["reading"] else 6_000)
            first = many.get("/api/images/page").json()
            assert [one["iri"] for one in first] == [f"urn:{n:05}" for n in range(200)]
            only = many.get("/api/images/page", params={"category": "urn:coat"}).json()
            assert [one["iri"] for one in only] == [f"urn:{n:05}" for n in range(0, 600, 3)]
            about = many.get("/api/images", params={"wait": 60}).json()
            assert (about["total"], about["reading"]) == (6_000, False)
            assert [one["count"] for one in about["facets"]["category"]] == [2_000]
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg, serving(kg) as url:
        about = httpx.get(f"{url}/api/images").json()  # from the file, at once
        assert (about["total"], about["reading"], len(about["before"])) == (6_000, False, 30)
