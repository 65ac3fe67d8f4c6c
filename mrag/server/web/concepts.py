"""Concepts for the page: learnt live from marks, explained hit by hit, and kept as classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rdflib import URIRef

from mrag import cel
from mrag.cel.concepts import KeptConcept, keep_concept, list_concepts, remove_concept
from mrag.cel.explain import Reason, in_words, why_satisfied
from mrag.cel.sentences import names_of, sentence, verbalise
from mrag.cel.sparql import count_query, instances_query
from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.rdf.expressions import Expression, Named, length
from mrag.rdf.notation import from_manchester, to_manchester
from mrag.rdf.terms import Term, Triple, triple_to_json
from mrag.server.web.api import MAX_IRI, PageView, Values, iri_value, list_value, text_value
from mrag.server.web.entities import status

MOST_HITS = 500
_LONGEST = 8_000
_SYMBOLS = 60


class Concepts(PageView):
    """Answers the requests about concepts."""

    def learn(self, values: Values) -> dict[str, Any]:
        """Learn what marked hits share, and answer with it, its alternatives and what to mark next."""
        hits, liked, disliked = (
            list_value(values, name, MOST_HITS, MAX_IRI) for name in ("hits", "liked", "disliked")
        )
        settings = cel.FeedbackSettings(seconds=self.api.settings.learn_seconds)
        feedback = cel.learn_from_marks(self.kg, hits, liked, disliked, settings)
        return {
            "alternatives": [self._alternative(one) for one in feedback.alternatives],
            "chosen": feedback.chosen,
            "assumed": list(feedback.assumed),
            "proposals": list(feedback.proposals),
            "seconds": round(feedback.seconds, 3),
        }

    def why(self, values: Values) -> dict[str, Any]:
        """Say why an individual is in a concept, or why not."""
        expression = self._concept(values)
        name = str(iri_value(values, "iri", self.kg.prefixes))
        display = Display(self.kg)
        reason = why_satisfied(self.kg, expression, name)
        names = names_of(self.kg, [expression])

        def words(part: Expression) -> str:
            return verbalise(part, names)

        shown = _reason(reason, display, words)
        return {"iri": name, "label": display.entity(name), "holds": reason.holds, "reason": shown}

    def kept(self, _values: Values) -> dict[str, Any]:
        """List the concepts that are kept as classes, each with its members."""
        concepts = [self._show(concept) for concept in list_concepts(self.kg)]
        return {"concepts": concepts, "pending": self.kg.pending, "writable": self.api.settings.update}

    def keep(self, values: Values) -> dict[str, Any]:
        """Keep a concept as a class; what follows from it is inferred meanwhile."""
        name = text_value(values, "name", 100)
        if ":" in name:
            raise ConfigError("A name has no colon.", hint="Use letters, digits, spaces and -.")
        liked, disliked = (list_value(values, part, MOST_HITS, MAX_IRI) for part in ("liked", "disliked"))
        expression = self._concept(values)
        marked = liked and disliked
        what = cel.rerank.count_marks(self.kg, expression, liked, disliked) if marked else expression
        comment = sentence(self.kg, expression)
        return self._show(keep_concept(self.kg, what, name, comment=comment, learner="search"))

    def forget(self, values: Values) -> dict[str, Any]:
        """Remove a kept concept with all that it brought."""
        return {"removed": remove_concept(self.kg, str(iri_value(values, "iri", self.kg.prefixes)))}

    def _show(self, concept: KeptConcept) -> dict[str, Any]:
        (row,) = self.kg.select(count_query(Named(concept.iri)))
        return {
            "iri": concept.iri,
            "label": concept.label,
            "comment": concept.comment,
            "world": concept.world,
            "members": int(str(row[0])),
            **self._notations(concept.expression),
        }

    def _concept(self, values: Values) -> Expression:
        """Return the class expression that a parameter writes in Manchester syntax."""
        expression = from_manchester(text_value(values, "concept", _LONGEST), self.kg.prefixes)
        if length(expression) > _SYMBOLS:
            raise ConfigError(f"A concept has at most {_SYMBOLS} symbols here.")
        return expression

    def _alternative(self, marked: cel.MarkedConcept) -> dict[str, Any]:
        """Return a hypothesis: in a sentence, in the notations, and how it divides the marks."""
        expression, counts = marked.hypothesis.expression, marked.hypothesis.counts
        return {
            "length": marked.hypothesis.length,
            "sentence": sentence(self.kg, expression),
            **self._notations(expression),
            "counts": {name: getattr(counts, name) for name in ("tp", "fp", "positives", "negatives")},
            "precision": cel.rerank.precision(counts),
            "covered": list(marked.covered),
        }

    def _notations(self, expression: Expression) -> dict[str, str]:
        """Return it in Manchester syntax, in full and with prefixes, and the queries it stands for."""
        return {
            "concept": to_manchester(expression, name=lambda name: f"<{name}>"),
            "manchester": to_manchester(expression, self.kg.prefixes),
            "sparql": instances_query(expression),
            "count": count_query(expression),
        }


def _reason(reason: Reason, display: Display, words: Callable[[Expression], str]) -> dict[str, Any]:
    """Return a reason as a tree: what holds in words, the triples that decide, and what was looked for."""
    evidence = (*([reason.edge] if reason.edge else []), *reason.evidence)

    def label(iri: str) -> str:
        return display.predicate(iri) if any(iri == str(a.p) for a in reason.absent) else display.name(iri)

    return {
        "words": words(reason.expression),
        "holds": reason.holds,
        "subject": _label(reason.subject, display),
        "triples": [{**_triple(e.triple, display), "status": status(e.inferred)} for e in evidence],
        "absent": [in_words((a.s, a.p, a.o), label) for a in reason.absent],
        "parts": [_reason(part, display, words) for part in reason.parts],
        "more": reason.more,
    }


def _triple(triple: Triple, display: Display) -> dict[str, Any]:
    labels = [_label(term, display, at) for at, term in enumerate(triple)]
    return {"triple": triple_to_json(triple), "labels": labels}


def _label(term: Term, display: Display, at: int = 0) -> str:
    """Return the label of a term that stands at a place of a triple."""
    if not isinstance(term, URIRef):
        return str(term)
    name = str(term)
    if at == 1:
        return display.predicate(name)
    return display.name(name)
