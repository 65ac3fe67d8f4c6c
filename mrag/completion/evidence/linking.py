"""From words to terms: an entity that the graph has, a literal, or a new entity with an IRI of its own.

The policy for new IRIs: the namespace, the name in lower-case ASCII with hyphens, and eight digits of a
digest of the normalised name, as in `urn:mrag:entity:rolf-de-heer-49e5e64d`. The same name gives the same IRI
in every run. A name that the graph has is never given a new one.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from rdflib import Literal, URIRef

from mrag.completion.plan.names import EntityNames
from mrag.completion.plan.roles import End, PropertyEnds
from mrag.completion.writeback.schema import SchemaFacts
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDFS, XSD, Term, to_ox
from mrag.text.tokens import normalised

NAMESPACE: Final = "urn:mrag:entity:"
_NOT_WORD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class LinkedTerm:
    """What some words mean.

    Attributes:
        term: The term.
        new: The name of a new entity; empty where the term is known, or a literal.
    """

    term: Term
    new: str = ""


def link(
    kg: KnowledgeGraph,
    text: str,
    end: End,
    predicate: str,
    *,
    namespace: str = NAMESPACE,
    new_names: bool = True,
) -> LinkedTerm | None:
    """Return what some words mean at an end of a property.

    Args:
        kg: The knowledge graph.
        text: The words.
        end: The end of the property where they stand.
        predicate: IRI of the property.
        namespace: Where new IRIs begin.
        new_names: Whether new entities may be made.

    Returns:
        The meaning; None where several entities of that name may be meant, or none may.

    Example:
        >>> import mrag
        >>> kg, e = mrag.demo(model="none"), "https://w3id.org/mrag/demo/products#"
        >>> str(link(kg, "ontotext", "object", e + "developedBy").term).removeprefix(e)
        'Ontotext'
        >>> link(kg, "Rolf de Heer", "object", e + "developedBy").term
        rdflib.term.URIRef('urn:mrag:entity:rolf-de-heer-49e5e64d')
        >>> kg.close()
    """
    roles = PropertyEnds.of(kg)
    text = " ".join(text.split())
    if end == "object" and (kinds := _literals(kg, predicate, roles)) is not None:
        value = _literal(text, kinds)
        return None if value is None else LinkedTerm(value)
    meant = [URIRef(str(c.term)) for c in EntityNames.of(kg).exact(text)]
    roles.learn(end, [predicate], map(str, meant))
    there = [e for e in meant if roles.has(end, predicate, str(e))]
    if len(there) == 1 or (not there and len(meant) == 1):
        return LinkedTerm((there or meant)[0])
    if meant or not new_names or not any(c.isalnum() for c in text):
        return None
    return LinkedTerm(URIRef(new_iri(text, namespace)), text)


def new_iri(name: str, namespace: str = NAMESPACE) -> str:
    """Return the IRI of a new entity.

    Raises:
        TermError: If the namespace makes no well-formed IRI.

    Example:
        >>> new_iri("Rolf de Heer"), new_iri("ROLF  DE HEER") == new_iri("Rolf de Heer")
        ('urn:mrag:entity:rolf-de-heer-49e5e64d', True)
        >>> new_iri("} ; DROP ALL #"), new_iri("東京")
        ('urn:mrag:entity:drop-all-44dce622', 'urn:mrag:entity:130016b2')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    slug = _NOT_WORD.sub("-", plain).strip("-")[:60].strip("-")
    mark = hashlib.sha256(normalised(name).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    made = f"{namespace}{slug}-{mark}" if slug else namespace + mark
    to_ox(made)
    return made


def _literals(kg: KnowledgeGraph, predicate: str, roles: PropertyEnds) -> tuple[str, ...] | None:
    """Return the datatypes of a property's values, None where its values are entities."""
    facts = SchemaFacts(kg)
    facts.read_properties([predicate])
    declared = sorted(r for r in facts.ranges[predicate] if r.startswith(XSD))
    if declared:
        return tuple("" if r == XSD + "string" else r for r in declared)
    shape = roles.shape("object", predicate)
    if shape.literals > 0.5:
        return shape.datatypes or ("",)
    return ("",) if RDFS + "Literal" in facts.ranges[predicate] else None


def _literal(text: str, datatypes: tuple[str, ...]) -> Literal | None:
    """Return a text as a literal of the first datatype that it is a value of."""
    for datatype in datatypes:
        if not datatype:
            return Literal(text)
        plain = text.replace(",", "") if datatype.startswith(XSD) else text
        value = Literal(plain, datatype=URIRef(datatype), normalize=False)
        if value.ill_typed is False:
            return value
    return None
