"""What was paid or earned, where a graph only states how many there were of something and its price."""

from __future__ import annotations

from collections.abc import Iterator

from mrag.language.tokens import words_in
from mrag.planning.derived.property import DerivedProperty, roots_of, words_of
from mrag.planning.lexical.english import root
from mrag.planning.schema import PropertyInfo, Schema

COMPUTED = "urn:x-amount:"
"""Beginning of the names of amounts, which no graph has."""
_SO_MANY = frozenset(map(root, "quantity qty units pieces copies count tickets seats".split()))
_SO_LONG = frozenset(map(root, "nights hours days weeks months".split()))
_VISITORS = frozenset(map(root, "attendance visitors spectators audience attendees admissions".split()))
_ENTRY = frozenset(map(root, "ticket admission entry entrance".split()))
_PRICED = frozenset(map(root, "price cost rate fee fare tariff wage".split()))
_OF_ONE = frozenset(map(root, "per unit each rate hourly daily nightly weekly monthly wage".split()))
_STATED = ("amount", "total", "revenue", "sum", "payment", "turnover", "subtotal", "paid", "spent", "sales")
"""What properties of amounts are called, the likeliest first."""
_SUMS = frozenset("number total amount count quantity sum tot num cnt amt".split())
"""Words for a number of things, rather than for a mark or a year."""
_ROOTS = tuple(map(root, _STATED))


def stated_amounts(schema: Schema) -> list[PropertyInfo]:
    """Return the properties that state amounts of money, in order of how plainly they are called so."""
    found = [
        (min(_ROOTS.index(w) for w in roots_of(i) & {*_ROOTS}), len(i.names[0]), i.iri)
        for i in schema.properties.values()
        if i.kind == "number" and not isinstance(i, DerivedProperty) and roots_of(i) & {*_ROOTS}
        if not _counts(i)
    ]
    return [schema.properties[iri] for _, _, iri in sorted(found)]


def quantities(schema: Schema) -> list[PropertyInfo]:
    """Return the property that states how many there were of something; none where several do."""
    many = (i for i in schema.properties.values() if i.kind == "number" and roots_of(i) & _SO_MANY)
    found = [i for i in many if not roots_of(i) & _PRICED]
    return found if len(found) == 1 else []


def _counts(info: PropertyInfo) -> bool:
    """Return whether a total is one of things rather than of money: "total employees"."""
    words = [root(w) for w in words_of(info.names[0])]
    money = {*words} & ({*_ROOTS, *_PRICED} - {root("total")})
    return len(words) > 1 and words[0] == root("total") and not money


def amounts_of(schema: Schema) -> dict[str, PropertyInfo]:
    """Return what the things of a class amount to, a quantity times a price, by IRI.

    The price may be that of what the quantity is of: an order line has a product, which has a price.

    Args:
        schema: The schema.

    Returns:
        Nothing where a property states the amount, or where several prices may be meant.
    """
    stated = {c for i in stated_amounts(schema) for c in i.domains}
    found = [
        _amount(many, price, link)
        for many in schema.properties.values()
        if many.kind == "number" and many.functional and not stated & set(many.domains)
        for price, link in _prices(many, schema)
    ]
    own = [i for i in found if not i.link] or found
    return {i.iri: i for i in own} if len(own) == 1 else {}


def _prices(many: PropertyInfo, schema: Schema) -> Iterator[tuple[PropertyInfo, str]]:
    """Yield the prices that a quantity goes with, and the property that leads to what has it."""
    for price in schema.properties.values():
        said = roots_of(price)
        # The price of a stay of five nights is that of all of them, the price per night is not.
        times = _SO_MANY | (_SO_LONG if said & _OF_ONE else frozenset())
        times |= _VISITORS if said & _ENTRY else frozenset()
        if price.kind != "number" or price.iri == many.iri or not price.functional:
            continue
        if not said & _PRICED or not roots_of(many) & times:
            continue
        if set(price.domains) & set(many.domains):
            yield price, ""
        for link in schema.properties.values():
            leads = set(link.domains) & set(many.domains) and set(link.ranges) & set(price.domains)
            if link.kind == "entity" and link.functional and leads:
                yield price, link.iri


def number_recorded(cls: str, schema: Schema) -> PropertyInfo | None:
    """Return the number that records of a class are there for: how many are enrolled, of an enrolment.

    Args:
        cls: The class.
        schema: The schema.

    Returns:
        The only number of the class that its name, or its comment, calls as the class is called; else None.
    """
    kind = schema.classes.get(cls)
    heads = {root(name.lower().split()[-1]) for name in kind.names[:1]} if kind is not None else set[str]()
    found = [
        info for info in schema.properties.values()
        if info.kind == "number" and cls in info.domains and not info.flag
        and not isinstance(info, DerivedProperty)
        for said in [{w for text in (*info.names, info.comment) for w in words_in(text.lower())}]
        if said & _SUMS and any(_same_stem(head, root(w)) for head in heads for w in said)
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None


def tally(cls: str, schema: Schema) -> PropertyInfo | None:
    """Return the "count" of a class, which says how many each record stands for; None if it has none."""
    found = [
        info for info in schema.properties.values()
        if info.kind == "number" and cls in info.domains and not isinstance(info, DerivedProperty)
        if [w.lower() for w in words_of(info.names[0])] in (["count"], ["tally"])
    ]  # fmt: skip
    return found[0] if len(found) == 1 else None


def _same_stem(one: str, other: str) -> bool:
    """Return whether two words are made of one: "enrolment" and "enrolled"."""
    return one == other or (min(len(one), len(other)) > 4 and one[:5] == other[:5])


def _amount(many: PropertyInfo, price: PropertyInfo, link: str) -> DerivedProperty:
    return DerivedProperty(
        iri=f"{COMPUTED}{many.iri}|{price.iri}",
        names=("amount",),
        comment=f"what it comes to: {many.names[0]} times {price.names[0]}",
        kind="number",
        triples=many.triples,
        subjects=many.subjects,
        objects=many.objects,
        domains=dict(many.domains),
        first=many,
        second=price,
        operation="*",
        link=link,
    )
