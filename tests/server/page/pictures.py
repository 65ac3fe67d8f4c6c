"""A small wardrobe of drawn pictures with annotations, for the tests of the view Images."""

import json
from pathlib import Path

from mrag.graph.kg import KnowledgeGraph

E = "http://example.org/"
COLOURS = {"red": "firebrick", "green": "seagreen", "blue": "royalblue", "yellow": "gold"}
GARMENTS = ("coat", "dress", "pants", "hat", "shoe")


def drawn(folder: Path, number: int) -> Path:
    """Draw pictures: on each a garment above and another one below, in two colours."""
    from PIL import Image, ImageDraw

    folder.mkdir(parents=True, exist_ok=True)
    names = list(COLOURS.values())
    for at in range(number):
        picture = Image.new("RGB", (120, 160), "whitesmoke")
        draw = ImageDraw.Draw(picture)
        draw.rounded_rectangle((30, 10, 90, 80), 12, names[at % 4])
        draw.rectangle((40, 90, 80, 150), names[(at // 4) % 4])
        picture.save(folder / f"{at:05}.png")
    return folder


def turtle(number: int, label: str = "") -> str:
    """Write the graph of as many pictures, as the loader makes it of annotation files."""
    text = json.dumps
    lines = ["@prefix : <http://example.org/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    lines += [f":category_{n} a :Category ; rdfs:label {text(n + label)} ." for n in GARMENTS]
    lines += [f":attribute_{n} a :Attribute ; rdfs:label {text(n + label)} ." for n in COLOURS]
    colours = list(COLOURS)
    for at in range(number):
        name = f"image_{at:05}"
        lines.append(f':{name} a :Image ; :hasFileName "{at:05}.png" ; :hasWidth 120 ; :hasHeight 160 .')
        if label:
            lines.append(f":{name} rdfs:label {text(f'{label} {at}')} .")
        for part, box, what, colour in (
            ("a", "30 10 60 70", GARMENTS[at % 3], colours[at % 4]),
            ("b", "40 90 40 60", GARMENTS[3 + at % 2], colours[(at // 4) % 4]),
        ):
            x, y, w, h = map(int, box.split())
            mask = f"{x},{y} {x + w},{y} {x + w},{y + h} {x},{y + h}"
            lines.append(f':annotation_{at:05}{part} :hasSegmentation "{mask}" .')
            lines.append(
                f':annotation_{at:05}{part} a :Annotation ; :hasImage :{name} ; :hasBoundingBox "{box}" ;'
                f" :hasCategory :category_{what} ; :hasAttribute :attribute_{colour} ."
            )
    return "\n".join(lines)


def wardrobe(kg: KnowledgeGraph, folder: Path, number: int, label: str = "") -> Path:
    """Load the graph, draw its pictures, and return the folder with them."""
    folder.mkdir(exist_ok=True)
    source = folder / "wardrobe.ttl"
    source.write_text(turtle(number, label), encoding="utf-8")
    kg.load([source])
    return drawn(folder / "photos", number)
