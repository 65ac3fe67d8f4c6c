"""The page, Images, and its API: a gallery that scrolls, facets, searches, a drawn box, and hostile names."""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import mrag
from tests.server.browsing import HOSTILE, NARROW, POLICY, SIZES, WIDE, Browser, Size, watched
from tests.server.page.pictures import COLOURS, GARMENTS, E, wardrobe
from tests.server.serving import serving

MANY = 1_250
MADE = "main b, main script, main img[onerror], a[href^=javascript]"
IMAGE = f"{E}image_00012"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of many pictures with annotations, which allows changes."""
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path_factory.mktemp("shop"), MANY)
        with serving(kg, update=True, media=media, learn_seconds=20) as url:
            yield url


@SIZES
def test_a_task_from_the_gallery_to_a_box_and_marks(browser: Browser, shop: str, size: Size) -> None:
    with watched(browser, shop, size) as seen:
        page = seen.open()
        seen.click(page.get_by_role("link", name="Images", exact=True), ".cell img[src]")
        assert seen.text("#images-state") == "1,250 images."
        assert page.get_by_role("list", name="1,250 images").count() == 1

        # Only what is in sight is there, at the beginning as at the end.
        most = 12 * (size[0] // 150 + 1)
        assert 4 <= page.locator(".cell").count() <= most
        page.evaluate("(f => { f.scrollTop = f.scrollHeight })(document.querySelector('.grid-frame'))")
        page.wait_for_selector(f".cell [data-index='{MANY - 1}'] img[src]")
        assert page.locator(".cell").count() <= most
        assert seen.text(f".cell [data-index='{MANY - 1}']") == "01249.png"

        # A facet says how many there will be, and then there are so many.
        seen.unfold(".facets")
        coat = page.locator(f"[data-facet='category {E}category_coat']")
        counted = coat.locator("xpath=..").locator(".count").inner_text().split()[-1]
        coat.check()
        page.wait_for_selector(f"#images-state:has-text('{counted} images of 1,250.')")
        page.locator(f"[data-facet='attribute {E}attribute_red']").check()
        seen.until("location.hash.includes('attribute_red') && location.hash.includes('category_coat')")
        page.wait_for_selector(f"[data-facet='attribute {E}attribute_red']:checked")
        seen.click("Remove all filters", "#images-state:has-text('1,250 images.')")

        # One image: its boxes lie over what was drawn, each with its triples.
        seen.open(f"/#/images?iri={IMAGE}", ".stage img[src]")
        assert page.locator(".parts > li").count() == 2
        stage, box = (page.locator(one).first.bounding_box() for one in (".stage", ".part:not(.under)"))
        assert stage and box
        shares = ((box["x"] - stage["x"]) / stage["width"], (box["y"] - stage["y"]) / stage["height"])
        assert shares == pytest.approx((30 / 120, 10 / 160), abs=0.02)
        masks = page.locator(".mask")
        assert masks.count() == 2 and masks.first.is_visible()
        page.get_by_label("Masks").uncheck()
        assert not masks.first.is_visible()
        seen.click(page.locator(".parts summary").first, ".parts table :text('has bounding box')")

        # A box is drawn around the coat, and finds red coats.
        seen.click("Draw a box")
        page.locator(".stage").evaluate("stage => stage.scrollIntoView({ block: 'center' })")
        stage = page.locator(".stage").bounding_box()
        assert stage
        page.mouse.move(stage["x"] + 0.2 * stage["width"], stage["y"] + 0.04 * stage["height"])
        page.mouse.down()
        page.mouse.move(stage["x"] + 0.8 * stage["width"], stage["y"] + 0.53 * stage["height"], steps=4)
        page.mouse.up()
        assert 20 <= int(page.get_by_label("Left").input_value()) <= 28
        seen.click(page.locator(".box-form button.main"), "#images-state:has-text('found for coat with red')")
        hits = page.locator(".pictures .hits > li")
        assert hits.count() == 60 and "100 % like" in hits.first.inner_text()

        # Marks on what was found are learnt.
        for at in (0, 1):
            hits.nth(at).locator("[data-liked='true']").click()
        page.wait_for_selector(".learnt .sentence, .learnt :text('Nothing in the graph')")
        seen.back(".stage img[src]")


@SIZES
def test_it_can_be_used_by_the_keyboard_alone(browser: Browser, shop: str, size: Size) -> None:
    with watched(browser, shop, size) as seen:
        page = seen.open("/#/images", ".cell img[src]")
        index = "document.activeElement.dataset.index"
        page.locator(".cell a[tabindex='0']").focus()
        assert page.locator(".cell a[tabindex='0']").count() == 1
        page.keyboard.press("ArrowRight")
        assert page.evaluate(index) == "1"
        page.keyboard.press("ArrowDown")
        down = int(page.evaluate(index))
        assert down > 2
        page.keyboard.press("End")
        seen.until(f"{index} === '{MANY - 1}'")
        page.keyboard.press("PageUp")
        seen.until(f"Number({index}) < {MANY - 1}")
        page.keyboard.press("Home")
        seen.until(f"{index} === '0'")
        page.keyboard.press("Enter")
        page.wait_for_selector(".stage img[src]")
        seen.press(page.get_by_role("button", name="Find images with the like of coat, number 1"), "Enter")
        seen.wait("#images-state:has-text('found for coat with red')")
        words = page.get_by_label("Words")
        words.focus()
        page.keyboard.type("blue dress")
        page.keyboard.press("Enter")
        page.wait_for_selector("#images-state:has-text('“blue dress”')")
        assert page.locator(".pictures .hits .name").first.inner_text() == "00010.png"


def test_a_picture_of_ones_own_is_searched_by(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (pip install 'mrag[conse]')")
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path / "few", 4)
        mine = tmp_path / f"{HOSTILE.replace('/', '')}.png"
        mine.write_bytes((media / "00002.png").read_bytes())
        with serving(kg, media=media, seconds=120) as url, watched(browser, url) as seen:
            page = seen.open("/#/images", ".pictures .thumb img[src]")
            page.get_by_label("By a picture of yours").set_input_files(mine)
            page.set_default_timeout(90_000)
            page.wait_for_selector("#images-state:has-text('4 images found for the picture')")
            assert page.locator(".pictures .hits .name").first.inner_text() == "00002.png"
            assert HOSTILE.replace("/", "") in seen.text(".chosen-picture")
            seen.enter("Words", "coat", "#images-state:has-text('“coat” and the picture')")
            page.reload()
            page.wait_for_selector(".chosen-picture:has-text('not kept in the address')")
            assert page.locator("main b").count() == 0 and "owned" not in page.title()


@POLICY
def test_hostile_names_of_images_and_labels_stay_text(
    browser: Browser, tmp_path: Path, size: Size, bare: bool
) -> None:
    with mrag.connect() as kg:
        media = wardrobe(kg, tmp_path / "hostile", 70, HOSTILE)
        odd = tmp_path / "odd.ttl"
        name = json.dumps(HOSTILE)
        odd.write_text(
            f"<urn:odd> <{E}hasFileName> {name} . <urn:odd2> <{E}hasFileName> 'javascript:alert(1)' ."
        )
        kg.load([odd])
        with (
            serving(kg, media=media, learn_seconds=20) as url,
            watched(browser, url, size, bypass_csp=bare) as seen,
        ):
            page = seen.open("/#/images", ".cell img[src]")
            assert HOSTILE in page.locator(".cell .name").first.inner_text()
            seen.unfold(".facets")
            assert HOSTILE in page.locator(".facet-name").first.inner_text()
            for path in ("q=coat", f"iri={IMAGE}", f"iri={IMAGE}&region=20,5,80,80", "iri=urn:odd"):
                seen.open(f"/#/images?{path}", "#images :text('onerror') >> visible=true")
            assert page.locator(MADE).count() == 0 and page.title() != "owned"


@pytest.mark.slow
@SIZES
def test_images_are_found_in_german(browser: Browser, shop: str, size: Size) -> None:
    with watched(browser, shop, size, locale="de-DE") as seen:
        page = seen.open("/#/images", "#images-state:has-text('1.250 Bilder.')")
        seen.unfold(".facets")
        assert page.locator(".facets legend").first.inner_text() == "Kategorie"
        page.get_by_label("Wörter", exact=True).fill("red coat")
        seen.click("Suchen", "#images-state:has-text('Bilder gefunden für')")
        seen.open(f"/#/images?iri={IMAGE}", ".stage img[src]")
        assert "Ähnliches finden" in seen.text("#images")


def test_where_there_are_no_images_it_is_said_what_to_do(browser: Browser, base: str) -> None:
    with watched(browser, base, NARROW) as seen:
        page = seen.open("/#/images", "#images .note:has-text('mrag import'):has-text('--media')")
        assert not page.get_by_label("Words").is_visible()


def test_without_the_folder_names_are_shown_and_nothing_asked_for(browser: Browser, tmp_path: Path) -> None:
    with mrag.connect() as kg:
        wardrobe(kg, tmp_path / "away", 70)
        with serving(kg) as url, watched(browser, url, WIDE) as seen:
            page = seen.open("/#/images", ".cell .lost:has-text('00000.png')")
            assert "--media" in seen.text("#images-state")
            assert page.get_by_label("By a picture of yours").is_disabled()
            assert not any("thumbnail" in address for address in seen.asked)


NUMBER = 450


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("photos")


@pytest.fixture(scope="module")
def client(photos: Path) -> Iterator[httpx.Client]:
    with mrag.connect() as kg:
        media = wardrobe(kg, photos, NUMBER)
        with serving(kg, media=media) as url, httpx.Client(base_url=url, timeout=60) as found:
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
    assert small.headers["content-type"] == "image/jpeg"
    assert small.headers["x-content-type-options"] == "nosniff"
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
    assert set(numbers) == wanted
    assert [hit["rank"] for hit in found["hits"]] == list(range(1, len(wanted) + 1))
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
        with serving(kg, media=photos / "photos") as url:
            got = [
                httpx.get(f"{url}/api/images/thumbnail", params={"iri": f"urn:i{n}"}).status_code
                for n in range(4)
            ]
            assert got == [404, 404, 200, 404]
        with serving(kg) as url:
            assert httpx.get(f"{url}/api/images/thumbnail", params={"iri": "urn:i2"}).status_code == 404
            assert "--media" in httpx.get(f"{url}/api/images").json()["pictures"]


def test_a_picture_finds_those_that_look_like_it(photos: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (pip install 'mrag[conse]')")
    with mrag.connect() as kg:
        media = wardrobe(kg, photos / "few", 4)
        data = base64.b64encode((media / "00002.png").read_bytes()).decode()
        with serving(kg, media=media) as url, httpx.Client(base_url=url, timeout=120) as few:
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
        with serving(kg) as url, httpx.Client(base_url=url, timeout=60) as many:
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
