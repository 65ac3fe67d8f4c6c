"""Expressions as constructs of owlready2, and back; and as its reasoner reads them."""

import shutil
from collections.abc import Iterator
from types import new_class
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

from mrag.cel.evaluate import World
from mrag.cel.expressions import And, DataOnly, DataSome, Expression, Named, OneOf, Value, normal, walk
from mrag.cel.notation import from_owlready, to_owlready
from mrag.errors import ConfigError
from mrag.rdf.terms import Triple
from tests.cel.facts import dl
from tests.cel.plain import (
    CLASSES,
    DATA,
    INDIVIDUALS,
    ROLES,
    UNWATCHED,
    E,
    Plain,
    expressions,
    graphs,
    in_owlready,
)
from tests.java_servers import QUICK

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


# -- as HermiT reads them, where the world is closed for it by what is asserted ----------------------------


def of_links(e: Expression) -> bool:
    """Tell whether an expression speaks of links alone; literals are compared otherwise by HermiT."""
    on = (getattr(part, "property", None) for part in walk(e))
    return not any(p is not None and p.iri in DATA for p in on)


def world_assumption(triples: frozenset[Triple]) -> World:
    """Return the statements as the learners evaluate them."""
    types = [(s, str(o)) for s, p, o in triples if p == RDF.type]
    return World(types, [(s, str(p), o) for s, p, o in triples if p != RDF.type])


def closed(triples: frozenset[Triple]) -> Any:
    """Return an ontology of the links and classes in which whatever is not stated is denied."""
    some = (t for t in triples if str(t.p) in ROLES or (t.p == RDF.type and str(t.o) in CLASSES))
    ontology = in_owlready(owlready2.World(), some)
    world = ontology.world
    with ontology:
        owlready2.AllDifferent([world[x] for x in INDIVIDUALS])
        for x in INDIVIDUALS:
            for name in CLASSES:
                if Triple(URIRef(x), RDF.type, URIRef(name)) not in triples:
                    world[x].is_a.append(owlready2.Not(world[name]))
            for name in ROLES:
                role = world[name]
                for way, values in (
                    (role, {o for s, p, o in triples if str(s) == x and str(p) == name}),
                    (owlready2.Inverse(role), {s for s, p, o in triples if str(o) == x and str(p) == name}),
                ):
                    inside = [world[str(v)] for v in sorted(values)]
                    world[x].is_a.append(way.only(owlready2.OneOf(inside) if inside else owlready2.Nothing))
    return ontology


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", " ".join(QUICK))
        yield


different = st.lists(expressions.filter(of_links), min_size=6, max_size=6, unique_by=normal)


@pytest.mark.skipif(shutil.which("java") is None, reason="HermiT needs Java")
# Each example starts a Java machine, so none is made smaller.
@settings(UNWATCHED, max_examples=6, phases=(Phase.explicit, Phase.generate), derandomize=True)
@given(graphs(), different)
def test_hermit_holds_the_same_individuals(triples: frozenset[Triple], several: list[Expression]) -> None:
    plain, world, ontology = Plain(triples), world_assumption(triples), closed(triples)
    # Of what is equivalent to everything owlready2 does not tell all members.
    named = OneOf(tuple(INDIVIDUALS))
    asked = {f"Q{at}": normal(And((e, named))) for at, e in enumerate(several)}
    with ontology:
        for name, e in asked.items():
            made = new_class(name, (owlready2.Thing,))
            made.equivalent_to.append(to_owlready(e, ontology))
    owlready2.sync_reasoner_hermit(ontology.world, debug=0)
    individuals = {str(x) for x in plain.individuals}
    assert len(asked) == 6
    for name, e in asked.items():
        inferred = {x.iri for x in ontology[name].instances()} & individuals
        assert inferred == plain.instances(e) == set(world.instances(e)), e
