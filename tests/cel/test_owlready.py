"""Expressions as constructs of owlready2, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from rdflib import Literal

from mrag.cel.expressions import DataOnly, DataSome, Expression, Named, Value, normal, walk
from mrag.cel.notation import from_owlready, to_owlready
from mrag.errors import ConfigError
from tests.cel.facts import dl
from tests.cel.plain import DATA, UNWATCHED, E, expressions, in_owlready

owlready2 = pytest.importorskip("owlready2", reason="owlready2 is not installed")
# To install it takes a minute, since it is compiled then.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ontology() -> Any:
    return in_owlready(owlready2.World())


def writable(e: Expression) -> bool:
    """Tell whether owlready2 can hold it: data properties lead to data only, and dates have no type there."""
    for part in walk(e):
        on = getattr(part, "property", None)
        if on is None:
            continue
        data = on.iri in DATA
        if data and not isinstance(part, DataSome | DataOnly | Value):
            return False
        if isinstance(part, Value) and data != isinstance(part.value, Literal):
            return False
    return True


@settings(UNWATCHED, max_examples=200)
@given(e=expressions.map(normal).filter(writable))
def test_there_and_back(ontology: Any, e: Expression) -> None:
    assert normal(from_owlready(to_owlready(e, ontology))) == e


def test_what_owlready2_writes_is_what_it_means(ontology: Any) -> None:
    e = dl("∃ :r⁻.:A")
    construct = to_owlready(e, ontology)
    assert isinstance(construct, owlready2.Restriction) and construct.value is ontology.world[E + "A"]
    assert from_owlready(ontology.world[E + "r"].some(ontology.world[E + "A"])) == dl("∃ :r.:A")
    assert from_owlready(owlready2.Thing) == dl("⊤")


def test_strange_names_and_constructs_are_refused(ontology: Any) -> None:
    with pytest.raises(ConfigError, match="no such name"):
        to_owlready(Named(E + "Nowhere"), ontology)
    with pytest.raises(ConfigError):
        from_owlready("text")
    with pytest.raises(ConfigError):
        from_owlready(ontology.world[E + "r"].has_self(True))
