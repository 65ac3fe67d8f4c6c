"""Concepts for the page: learnt live from marks, explained hit by hit, and kept as classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rdflib import URIRef
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import ConfigError
from mrag.server.web.entities import status
from mrag.server.web.validation import (
    MAX_IRI,
    PageView,
    check_names,
    choice_value,
    guarded,
    iri_value,
    list_value,
    reply,
    text_value,
)

if TYPE_CHECKING:
    from mrag.cel.concepts import KeptConcept
    from mrag.cel.explain import Reason, SupportingTriple
    from mrag.cel.problem import ExampleCounts, Hypothesis
    from mrag.cel.syntax.english import Language
    from mrag.cel.syntax.expressions import Expression
    from mrag.context.display import Display
    from mrag.graph.kg import KnowledgeGraph
    from mrag.rdf.terms import Term, Triple
    from mrag.server.web.routes import Api

MOST_HITS = 500
_LONGEST = 8_000
_SYMBOLS = 60
_SECONDS = 3.0
_LEARNERS = 2
_NEW = "urn:mrag:new:"


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes below `/api/learn` and `/api/concepts`."""
    concepts = Concepts(api)
    token = api.settings.token
    return [
        Route("/api/learn", guarded(concepts.learn, token), methods=["POST"]),
        Route("/api/learn/why", api.on_thread(concepts.why, concepts.slots), methods=["GET"]),
        Route("/api/concepts", api.on_thread(concepts.kept), methods=["GET"]),
        Route("/api/concepts", guarded(concepts.keep, token), methods=["POST"]),
        Route("/api/concepts/forget", guarded(concepts.forget, token), methods=["POST"]),
    ]


class Concepts(PageView):
    """Answers the requests about concepts."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.slots = api.slots(_LEARNERS, "learning")

    async def learn(self, request: Request) -> Response:
        """Learn what marked hits share, and answer with it, its alternatives and what to mark next."""
        values = await self.body(request, "hits", "liked", "disliked", "language")
        hits, liked, disliked = (
            list_value(values, name, MOST_HITS, MAX_IRI) for name in ("hits", "liked", "disliked")
        )
        language = language_value(values)

        def work() -> dict[str, Any]:
            from mrag.cel.rerank import FeedbackSettings, learn_from_marks

            settings = FeedbackSettings(seconds=self.api.settings.learn_seconds)
            found = learn_from_marks(self.kg, hits, liked, disliked, settings)
            return {
                "alternatives": [
                    {**alternative(self.kg, one.hypothesis, language), "covered": list(one.covered)}
                    for one in found.alternatives
                ],
                "chosen": found.chosen,
                "assumed": list(found.assumed),
                "proposals": list(found.proposals),
                "seconds": round(found.seconds, 3),
            }

        return reply(await self.api.run(self.slots, work))

    def why(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Say why an individual is in a concept, or what would bring it in."""
        from mrag.cel.explain import why_not, why_satisfied
        from mrag.cel.syntax.verbalise import names_of, verbalise
        from mrag.context.display import Display

        check_names(values, "concept", "iri", "language")
        language = language_value(values)
        expression = concept_value(values, self.kg)
        name = str(iri_value(values, "iri", self.kg.prefixes))
        display = Display(self.kg)
        reason = why_satisfied(self.kg, expression, name)
        found: dict[str, Any] = {"iri": name, "label": display.entity(name), "holds": reason.holds}
        called = names_of(self.kg, [expression])

        def words(part: Expression) -> str:
            return verbalise(part, called, language)

        if reason.holds:
            return {**found, "reason": reason_json(reason, display, words)}
        missing = why_not(self.kg, expression, name, seconds=_SECONDS)
        changes = None
        if missing.changes is not None:
            changes = [
                {**triple_json(c.triple, display), "add": c.add, "inferred": c.inferred}
                for c in missing.changes
            ]
        return {
            **found,
            "changes": changes,
            "lacking": [words(e) for e in missing.lacking],
            "verified": missing.verified,
            "complete": missing.complete,
        }

    def kept(self, values: Mapping[str, str]) -> dict[str, Any]:
        """List the concepts that are kept as classes, each with its members."""
        from mrag.cel.concepts import list_concepts

        check_names(values)
        found = [self._shown(concept) for concept in list_concepts(self.kg)]
        return {"concepts": found, "pending": self.kg.pending, "writable": self.api.settings.update}

    async def keep(self, request: Request) -> Response:
        """Keep a concept as a class; what follows from it is inferred meanwhile."""
        engine, values = await self.change(request, "name", "concept", "liked", "disliked")
        name = text_value(values, "name", 100)
        if ":" in name:
            raise ConfigError("A name has no colon.", hint="Use letters, digits, spaces and -.")
        liked, disliked = (list_value(values, part, MOST_HITS, MAX_IRI) for part in ("liked", "disliked"))

        def work() -> dict[str, Any]:
            from mrag.cel.concepts import keep_concept
            from mrag.cel.rerank import marked_counts
            from mrag.cel.syntax.verbalise import sentence

            expression = concept_value(values, self.kg)
            what = marked_counts(self.kg, expression, liked, disliked) if liked and disliked else expression
            comment = sentence(self.kg, expression)
            return self._shown(keep_concept(self.kg, what, name, comment=comment, learner="search"))

        return reply(await engine.writer.make(work), 201)

    async def forget(self, request: Request) -> Response:
        """Remove a kept concept with all that it brought."""
        engine, values = await self.change(request, "iri")
        name = str(iri_value(values, "iri", self.kg.prefixes))

        def work() -> bool:
            from mrag.cel.concepts import remove_concept

            return remove_concept(self.kg, name)

        return reply({"removed": await engine.writer.make(work)})

    def _shown(self, concept: KeptConcept) -> dict[str, Any]:
        from mrag.cel.sparql import count_query
        from mrag.cel.syntax.expressions import Named

        (row,) = self.kg.select(count_query(Named(concept.iri)))
        return {
            "iri": concept.iri,
            "label": concept.label,
            "comment": concept.comment,
            "world": concept.world,
            "members": int(str(row[0])),
            **written(self.kg, concept.expression),
        }


def language_value(values: Mapping[str, Any]) -> Language:
    """Return the language in which concepts are said."""
    return "de" if choice_value(values, "language", ("en", "de")) == "de" else "en"


def concept_value(values: Mapping[str, Any], kg: KnowledgeGraph) -> Expression:
    """Return the class expression that a parameter writes in Manchester syntax."""
    from mrag.cel.syntax.expressions import length
    from mrag.cel.syntax.notation import from_manchester

    expression = from_manchester(text_value(values, "concept", _LONGEST), kg.prefixes)
    if length(expression) > _SYMBOLS:
        raise ConfigError(f"A concept has at most {_SYMBOLS} symbols here.")
    return expression


def alternative(kg: KnowledgeGraph, hypothesis: Hypothesis, language: Language) -> dict[str, Any]:
    """Return a hypothesis: in a sentence, in the notations, and how it divides the marks."""
    from mrag.cel.rerank import precision
    from mrag.cel.syntax.verbalise import sentence

    return {
        "length": hypothesis.length,
        "sentence": sentence(kg, hypothesis.expression, language),
        **written(kg, hypothesis.expression),
        "counts": counts_json(hypothesis.counts),
        "precision": precision(hypothesis.counts),
    }


def counts_json(counts: ExampleCounts) -> dict[str, int]:
    """Return counts by name."""
    return {"tp": counts.tp, "fp": counts.fp, "positives": counts.positives, "negatives": counts.negatives}


def written(kg: KnowledgeGraph, expression: Expression) -> dict[str, str]:
    """Return an expression in Manchester syntax, in full and with prefixes, and the queries it stands for."""
    from mrag.cel.sparql import count_query, instances_query
    from mrag.cel.syntax.notation import to_manchester

    return {
        "concept": to_manchester(expression, name=lambda name: f"<{name}>"),
        "manchester": to_manchester(expression, kg.prefixes),
        "sparql": instances_query(expression),
        "count": count_query(expression),
    }


def reason_json(reason: Reason, display: Display, words: Callable[[Expression], str]) -> dict[str, Any]:
    """Return a reason as a tree: what holds in words, the triples that decide, and what was looked for."""
    evidence: Sequence[SupportingTriple] = (*([reason.edge] if reason.edge else []), *reason.evidence)
    return {
        "words": words(reason.expression),
        "holds": reason.holds,
        "subject": shown(reason.subject, display),
        "triples": [{**triple_json(e.triple, display), "status": status(e.inferred)} for e in evidence],
        "absent": [
            " ".join(
                "anything" if t is None else named(t, display, at) for at, t in enumerate((a.s, a.p, a.o))
            )
            for a in reason.absent
        ],
        "parts": [reason_json(part, display, words) for part in reason.parts],
        "more": reason.more,
    }


def triple_json(triple: Triple, display: Display) -> dict[str, Any]:
    """Return a triple with the labels of its terms."""
    from mrag.rdf.terms import triple_to_json

    return {
        "triple": triple_to_json(triple),
        "labels": [named(term, display, at) for at, term in enumerate(triple)],
    }


def named(term: Term, display: Display, at: int) -> str:
    """Return the label of a term that stands at a place of a triple."""
    if at == 1 and isinstance(term, URIRef):
        return display.predicate(str(term))
    return shown(term, display)


def shown(term: Term, display: Display) -> str:
    """Return the label of a term; one that is yet to be made is something new."""
    if not isinstance(term, URIRef):
        return str(term)
    name = str(term)
    return f"something new ({name.removeprefix(_NEW)})" if name.startswith(_NEW) else display.name(name)
