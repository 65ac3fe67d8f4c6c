"""Sentences for the triples of one subject in other languages than English."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mrag.context.render import Line
from mrag.generation.support.mentions import NAMING
from mrag.generation.wording.expressions import bare, is_expression
from mrag.generation.wording.phrases import PHRASES, Phrases, filled
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.text.grammar import relation
from mrag.text.tokens import PREPOSITIONS, words

_TEMPLATES = {
    RDF + "type": "typed",
    RDFS + "subClassOf": "kind",
    OWL + "equivalentClass": "same",
    OWL + "sameAs": "same",
    OWL + "disjointWith": "apart",
    **dict.fromkeys(NAMING, "named"),
}
_LINKING = PREPOSITIONS | words(
    "von mit zu zum zur auf für aus bei in im an am nach über unter durch um ist hat wird wurde "
    "de du des par avec dans sur pour à au aux en est a sont été "
    "del por con para en al es son fue ha tiene está"
)
"""Words at the beginning or the end of a label that is no noun."""

_DE = re.compile(r"\bde (?=[AEIOUYÀÂÄÉÈÊËÎÏÔÖÙÛÜaeiouyàâäéèêëîïôöùûü])")


def told_in(language: str, line: Line, label: str, values: Sequence[str], marked: str, *, prose: bool) -> str:
    """Say what lines of one subject and predicate say, without a full stop.

    Args:
        language: A language of `PHRASES`; in any other, labels and values are listed.
        line: The first of the lines.
        label: Label of the predicate in words.
        values: The values.
        marked: The values joined, with the marks of what was inferred.
        prose: Whether the values are texts about the subject.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.rdf.terms import Triple
        >>> t = Triple(URIRef("urn:ada"), URIRef("urn:gender"), URIRef("urn:f"))
        >>> line = Line("t1", "", t, "urn:g", False, ("Ada", "gender", "female"))
        >>> [told_in(one, line, "gender", ["female"], "female", prose=False) for one in ("de", "fr", "it")]
        ['gender von Ada: female', "gender d'Ada : female", 'Ada — gender: female']
    """
    name = line.labels[0]
    phrases = PHRASES.get(language)
    if phrases is None or language == "en":
        return f"{name} — {label}: {marked}"
    kind = _TEMPLATES.get(str(line.triple.p), "")
    if kind in ("kind", "same") and is_expression(line) and len(values) == 1:
        return _elided(phrases, phrases.condition, name, phrases.quoted(bare(values[0])))
    if kind:
        return _elided(phrases, getattr(phrases, kind), name, marked)
    if prose:
        return _elided(phrases, phrases.described, name, marked)
    if _is_noun(label):
        return _elided(phrases, phrases.noun, name, marked, label)
    return f"{name} — {label}: {marked}"


def _elided(phrases: Phrases, template: str, name: str, value: str, label: str = "") -> str:
    if phrases.elides and _DE.match(f"de {name}"):
        template = template.replace("de {s}", "d'{s}")
    if phrases.elides and _DE.match(f"de {value}"):
        template = template.replace("de {o}", "d'{o}")
    return filled(template, s=name, o=value, p=label)


def _is_noun(label: str) -> bool:
    """Return whether a label names a property by a noun, in English or another language."""
    parts = label.casefold().split()
    if not parts or parts[0] in _LINKING or parts[-1] in _LINKING:
        return False
    return relation(label, several=False)[0] in ("noun", "foreign")
