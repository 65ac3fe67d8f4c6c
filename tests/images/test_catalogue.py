"""The catalogue of images: what is kept of it and what follows from changes is what the graph says."""

import random
from pathlib import Path

import numpy as np
import pytest
from rdflib import Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.images.graph import EX, FACETS, ImageCatalogue, KeptCatalogue, PartFeatures
from mrag.rdf.terms import Triple

NOTHING = PartFeatures(frozenset(), frozenset())
SCENES = EX + "scenes#"
VALUES = [EX + name for name in ("coat", "hat", "shoe", "red", "blue", "plain")]


def drawn(seed: int) -> Triple:
    """Draw one triple such as annotations consist of, of few images and parts."""
    rng = random.Random(seed)
    image, part = URIRef(f"{EX}image_{rng.randrange(12)}"), URIRef(f"{EX}part_{rng.randrange(30)}")
    value = URIRef(rng.choice(VALUES))
    a = URIRef("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    return rng.choice([
        Triple(image, URIRef(EX + "hasFileName"), Literal(f"{rng.randrange(3)}.png")),
        Triple(image, URIRef(EX + "hasFileName"), Literal(f"{rng.randrange(3)}.png")),
        Triple(part, URIRef(EX + "hasImage"), image),
        Triple(part, URIRef(EX + "hasImage"), image),
        Triple(image, URIRef(SCENES + "hasObject"), part),
        Triple(part, URIRef(EX + "hasCategory"), value),
        Triple(image, URIRef(EX + "hasAnnotationCategory"), value),
        Triple(part, URIRef(EX + "hasAttribute"), value),
        Triple(part, a, value),
    ])  # fmt: skip


def said(found: ImageCatalogue) -> dict[str, object]:
    """Return all that a catalogue says."""
    rng = np.random.default_rng(1)
    some = rng.random(len(found.images)) < 0.6
    pairs = ((VALUES[:2], VALUES[3:5]), ([], VALUES[3:4]))
    every = [PartFeatures(*map(frozenset, pair)) for pair in pairs]
    return {
        "files": found.files,
        "counts": [found.counts(name, chosen) for name in FACETS for chosen in (some, found.chosen())],
        "chosen": [found.iris(found.chosen({"category": [one]})) for one in VALUES],
        "alike": [found.alike(every[:n], some, 9) for n in (1, 2)],
        "weighted": found.weighted({VALUES[0]: 2.0, VALUES[3]: 0.5}, found.chosen(), 9),
    }  # fmt: skip


def test_what_is_kept_is_what_would_be_read_and_of_one_state(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.insert([drawn(n) for n in range(60)])
        kept = KeptCatalogue(kg)
        found = kept.brought_up_to_date()
        assert said(found) == said(ImageCatalogue.read(kg))
        again = KeptCatalogue(kg).current()
        assert again is not None and said(again) == said(found)
        kg.insert([drawn(100 + n) for n in range(3)])
        assert kept.current() is None and kept.known is found and KeptCatalogue(kg).current() is None
        assert said(kept.brought_up_to_date()) == said(ImageCatalogue.read(kg))


def likeness(one: PartFeatures, other: PartFeatures) -> float:
    """Half for a shared category, half for the share of the attributes of either that both have."""
    either = one.attributes | other.attributes
    shared = len(one.attributes & other.attributes) / len(either) if either else 1.0
    if one.categories and not one.categories & other.categories:
        return 0.5 * shared if either else 0.0
    return 0.5 * bool(one.categories) + (0.5 if one.categories else 1.0) * shared


def test_likeness_is_that_of_the_features() -> None:
    rng = random.Random(3)

    def features() -> PartFeatures:
        names = [frozenset(rng.sample(VALUES, rng.randrange(3))) for _ in range(2)]
        return PartFeatures(*names)

    rows = [(f"urn:{rng.randrange(20):02}", features()) for _ in range(60)]
    found = ImageCatalogue({f"urn:{at:02}": "x.png" for at in range(20)}, rows)
    for _ in range(40):
        wanted = [one for one in (features(), features()) if one.categories or one.attributes]
        if not wanted:
            continue
        scores = {
            image: sum(
                max((likeness(one, k) for i, k in rows if i == image and k != NOTHING), default=0.0)
                for one in wanted
            )
            / len(wanted)
            for image in found.images
        }  # fmt: skip
        best = sorted(((-score, image) for image, score in scores.items() if score > 0))
        given = found.alike(wanted, found.chosen(), 20)
        assert [s for _, s in given] == pytest.approx([-s for s, _ in best])
        assert dict(given) == pytest.approx({i: -s for s, i in best})


def small(kg: KnowledgeGraph) -> KeptCatalogue:
    kg.insert([Triple(URIRef("urn:i1"), URIRef(EX + "hasFileName"), Literal("1.png"))])
    kept = KeptCatalogue(kg)
    kept.brought_up_to_date()
    return kept


def test_a_damaged_or_foreign_file_is_read_anew(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        small(kg)
        [file] = (tmp_path / "store.mrag").rglob("catalogue.npz")
        whole = file.read_bytes()
        for data in (b"", b"no zip", whole[:-30], whole[:200] + b"\0\0\0\0" + whole[204:]):
            file.write_bytes(data)
            assert KeptCatalogue(kg).current() is None
            assert KeptCatalogue(kg).brought_up_to_date().images == ("urn:i1",)
            assert file.read_bytes() == whole


def test_pages_without_a_catalogue_are_those_with_it() -> None:
    with mrag.connect() as kg:
        kept = KeptCatalogue(kg)
        name = URIRef(EX + "hasFileName")
        kg.insert(Triple(URIRef(f"urn:{n:03}"), name, Literal(f"{n}.png")) for n in range(50))
        images = kept.brought_up_to_date().images
        assert (list(kept.page("", 20)[0]), kept.page("", 20)[1]) == (list(images[:20]), 50)
        assert list(kept.page(images[19], 40)[0]) == list(images[20:])
        # As a server gives them, by the query.
        from mrag.rdf import queries

        rows = kg.select(queries.get("image/page").bind(after=[Literal(images[9])], limit=5))
        assert [(str(i), str(f)) for i, f in rows] == [(i, kept.known.files[i]) for i in images[10:15]]  # type: ignore[union-attr]
        [(count,)] = kg.select(queries.get("image/count").text)
        assert int(str(count)) == 50
