"""What a question asks of the things around a hit: the properties that it names, and whether it returns.

A context of one hop has what is said of a hit itself. "Which genres do the films by X have?" asks for more: a
property that leads on from the films. The words of a question say which, so that no other is followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mrag.context.display import Display
from mrag.context.neighbourhood import kept, labels
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.text.english import words
from mrag.text.names import split_identifier
from mrag.text.stopwords import FUNCTION_WORDS
from mrag.text.synonyms import OTHERS
from mrag.text.tokens import content, fold, stem, tokens

_VOCABULARY = (RDF, RDFS, OWL)
_NO_WEIGHT = frozenset(stem(w) for some in FUNCTION_WORDS.values() for w in some)
_ALIKE = frozenset(
    fold(word)
    for word in words(
        "co same share shares shared sharing common other others also another both together similar alike "
        "gleiche gleichen gleicher derselbe dieselbe dasselbe denselben derselben gemeinsam andere anderen "
        "même mêmes autre autres aussi commun communs ensemble "
        "mismo misma mismos mismas otro otra otros otras también común comunes juntos "
        "stesso stessa stessi stesse altro altra altri altre anche comune comuni insieme"
    )
)
"""Words of questions for what has something in common with a thing."""


class AskedProperties:
    """The properties that a question names.

    Args:
        kg: The knowledge graph.
        display: Shows predicates.
        question: The question.

    Attributes:
        named: IRIs of the properties that it names.
        returns: Whether it asks for things that have something in common with another.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> asked = AskedProperties(kg, Display(kg), "Which features have the products of Ontotext?")
        >>> sorted(iri.rsplit("#")[-1] for iri in asked.named)
        ['hasFeature']
        >>> kg.close()
    """

    def __init__(self, kg: KnowledgeGraph, display: Display, question: str) -> None:
        asked = [token for token in tokens(question) if stem(token.raw) not in _NO_WEIGHT]
        self.returns = any(token.key in _ALIKE for token in tokens(question))
        means = [frozenset([stem(t.raw)]) | OTHERS.get(stem(t.raw), frozenset()) for t in asked]
        known = _stems(kg, display) if asked else {}
        self._stems = [stem(token.raw) for token in asked]
        self._naming: dict[str, frozenset[int]] = {}
        for iri, label in known.items():
            places = frozenset(i for i, meant in enumerate(means) if meant & label)
            said = label & frozenset().union(*(means[i] for i in places))
            if 2 * len(said) >= len(label) and places:
                self._naming[iri] = places
        self.named = frozenset(self._naming)

    def of(self, names: Sequence[str]) -> tuple[list[int], Mapping[str, int]]:
        """Return which of some things the question is about, and the properties that it names beside them.

        Args:
            names: Names of the things.

        Returns:
            Places of the things that it names in full, of all if it names none; and the properties, each
            with the number of words that name it: "The Release" is a film, and names no year of release.
        """
        common = frozenset().union(*self._naming.values())
        found: dict[int, frozenset[int]] = {}
        for number, name in enumerate(names):
            form = [stem(token.raw) for token in tokens(name) if stem(token.raw) not in _NO_WEIGHT]
            places = self._places(form)
            # "director" may be a thing too, but is no name if it is what names a property.
            if places and (len(form) > 1 or not places <= common):
                found[number] = places
        # A name within another is none: "Earth" in "Earth Days".
        about = [n for n, places in found.items() if not any(places < other for other in found.values())]
        hidden = frozenset().union(*(found[n] for n in about))
        left = {iri: len(places - hidden) for iri, places in self._naming.items()}
        return about or list(range(len(names))), {iri: count for iri, count in left.items() if count}

    def _places(self, form: Sequence[str]) -> frozenset[int]:
        """Return where the question has some words one behind the other."""
        size = len(form)
        starts = (at for at in range(len(self._stems) - size + 1) if self._stems[at : at + size] == form)
        return frozenset(i for at in starts for i in range(at, at + size)) if size else frozenset()


def _stems(kg: KnowledgeGraph, display: Display) -> dict[str, frozenset[str]]:
    """Return the stems of the words that name each predicate, which change with the graph only."""

    def make() -> dict[str, frozenset[str]]:
        every = [iri for iri in sorted(kg.profile().predicates) if not iri.startswith(_VOCABULARY)]
        labels(kg, every)
        found = {iri: _content(display.predicate(iri)) for iri in every}
        return {iri: label for iri, label in found.items() if label}

    return kept(kg, "asked properties", "", make)


def _content(label: str) -> frozenset[str]:
    return frozenset(content(split_identifier(label))) - _NO_WEIGHT
