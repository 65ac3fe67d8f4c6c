"""Ranking by graph codes: every hit says which nodes and edges made its score; fused or in a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from mrag import untrusted
from mrag.errors import ConfigError
from mrag.generation.prompts import messages, prompt
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Extractor, GraphCode, centred
from mrag.graphcodes.code_index import CodeMatch, GraphCodeIndex
from mrag.graphcodes.explanation import CodeVerbaliser, explain
from mrag.graphcodes.metrics import CodeComparison, CodeMeaning, CodeScores, Ontology
from mrag.graphcodes.questions import Linker, QuestionCodes
from mrag.graphcodes.reading import TextExtractor
from mrag.retrieval.rankers import FusedRanker, Hit, Question

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable

EXCESS: Final = 0.01
"""How much what only an entity has counts against it: questions are short, and neighbourhoods are not."""

NEAR: Final = 500
"""How many hits are compared more closely, where they are."""


@dataclass
class GraphCodeRanker:
    """Ranks entities by how alike their codes are to the question's.

    Args:
        kg: The graph whose entities the documents of the index are; None if there is none.
        index: The codes of the entities, by IRI.
        extractor: Reads the code of a question that names nothing of the graph; `TextExtractor`, of the extra
            `graphcodes`, if left out.
        comparison: How codes are compared; if left out by the structural metric, with the ontology of the
            graph, and with little weight on what the question does not ask for.
        link: Whether words of the question that are names in the graph, or labels in the index, stand for
            what they name.
        meaning: Orders the best hits by meaning, see `CodeMeaning`; by structure alone if left out.

    Raises:
        ConfigError: When a question has no text.

    Example:
        >>> class Triples:
        ...     def extract(self, text):
        ...         return GraphCode.of([], [tuple(part.split()) for part in text.split(",")])
        >>> index = GraphCodeIndex()
        >>> index.put({"ex:1": GraphCode.of([], [("dog", "bites", "man")])})
        >>> GraphCodeRanker(None, index, Triples()).rank(Question("dog licks man"), 1)[0].reasons
        ('Has: dog, man.', 'Connected otherwise: dog licks man (here: bites).')
    """

    kg: KnowledgeGraph | None
    index: GraphCodeIndex
    extractor: Extractor | None = None
    comparison: CodeComparison | None = None
    verbaliser: CodeVerbaliser = field(default_factory=CodeVerbaliser)
    link: bool = True
    meaning: CodeMeaning | None = None

    @cached_property
    def how(self) -> CodeComparison:
        """How codes are compared."""
        if self.comparison is not None:
            return self.comparison
        return CodeComparison(excess=EXCESS, ontology=Ontology.of_graph(self.kg) if self.kg else None)

    @cached_property
    def linker(self) -> Linker:
        """The labels of the index, read once."""
        return Linker.of(self.index, self.kg) if self.link else Linker()

    def code(self, question: Question) -> GraphCode:
        """Return the code of a question.

        Raises:
            ConfigError: If it has no text.
        """
        if not question.text.strip():
            raise ConfigError("Graph codes are read from text.", hint="Give the question in words.")
        if self.kg is not None and self.link:
            named = QuestionCodes(self.kg, self.index, self.how.ontology).read(question.text)
            if any(node.id in self._known for node in named.nodes):
                return named
        if self.extractor is None:
            self.extractor = TextExtractor()
        return self.linker.link(self.extractor.extract(question.text))

    def named(self, code: GraphCode) -> GraphCode:
        """Return a code whose terms are what they name: labels of the index, else names of the graph."""
        linked = self.linker.link(code)
        if self.kg is None or not self.link:
            return linked
        return QuestionCodes(self.kg, self.index, self.how.ontology).linked(linked)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(node.id for node, _ in self.index.nodes())

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(kind for node, _ in self.index.nodes() for kind in node.types)

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        return self.rank_code(self.code(question), k)

    def rank_code(self, q: GraphCode, k: int) -> list[Hit]:
        """Return at most `k` hits for a code, such as that of another image, best first."""
        matches = self._matches(q, k)
        parts = [self.index.part(match.id, q, self.how)[0] for match in matches]
        verbaliser = self.verbaliser if self.kg is None else self.verbaliser.with_names(self.kg, [q, *parts])
        return [
            Hit(match.id, match.score, rank, self._reasons(q, part, verbaliser))
            for rank, (match, part) in enumerate(zip(matches, parts, strict=True), start=1)
        ]

    def rank_like(self, entity: str, k: int) -> list[Hit]:
        """Return at most `k` hits for the entities most like one of the index, best first.

        Entities are compared as they are seen from themselves, see `centred`: those that have the same links
        to the same things are alike. The best `NEAR` that share a node with the entity are compared.

        Raises:
            IndexError_: If the entity is not in the index.
        """
        code = self.index.code(entity)
        asked = centred(code, entity)
        nodes = GraphCode.of([node.id for node in code.nodes if node.id != entity] or [entity])
        found = self.index.search(nodes, max(k, NEAR), replace(self.how, excess=EXCESS))
        ids = sorted({entity, *(match.id for match in found)})
        others = {doc: centred(self.index.code(doc), doc) for doc in ids}
        keys = {doc: self.how.aggregate(self._scores(asked, other)) for doc, other in others.items()}
        ranked = sorted(keys, key=lambda doc: (_falling(keys[doc]), doc))[:k]
        verbaliser = self.verbaliser
        if self.kg is not None:
            verbaliser = verbaliser.with_names(self.kg, [asked, *(others[doc] for doc in ranked)])
        return [
            Hit(doc, _first(keys[doc]), rank, self._reasons(asked, others[doc], verbaliser))
            for rank, doc in enumerate(ranked, start=1)
        ]

    def matches(self, question: Question, k: int) -> list[CodeMatch]:
        """Return at most `k` matches with the three values of the metric."""
        return self._matches(self.code(question), k)

    def _matches(self, q: GraphCode, k: int) -> list[CodeMatch]:
        found = self.index.search(q, k if self.meaning is None else max(k, NEAR), self.how)
        if self.how.metric == "structural" and not any(node.id in self._kinds for node in q.nodes):
            # Who is named and has all that is asked is what is looked for: more links are no fault.
            whole = replace(self.how, excess=0.0)
            own = [self._compared(q, node.id, whole) for node in q.nodes if node.id in self.index]
            own = [match for match in own if match.score >= 1]
            named = {match.id for match in own}
            found = [*own, *(match for match in found if match.id not in named)]
        if self.meaning is not None:
            found = [self._meant(q, match, self.meaning) for match in found]
        order = self.how.aggregate if self.meaning is None else self.meaning.aggregate
        return sorted(found, key=lambda match: (_falling(order(match.scores)), match.id))[:k]

    def _compared(self, q: GraphCode, doc: str, how: CodeComparison) -> CodeMatch:
        scores = self.index.compare(q, doc, how)
        return CodeMatch(doc, _first(how.aggregate(scores)), scores)

    def _meant(self, q: GraphCode, match: CodeMatch, meaning: CodeMeaning) -> CodeMatch:
        scores = meaning.scores(q, self.index.code(match.id))
        return CodeMatch(match.id, _first(meaning.aggregate(scores)), scores)

    def _scores(self, q: GraphCode, d: GraphCode) -> CodeScores:
        return self.how.scores(q, d, self.index.registry)

    def _reasons(self, q: GraphCode, part: GraphCode, verbaliser: CodeVerbaliser) -> tuple[str, ...]:
        labels = {node.id: node.label for node in part.nodes if node.label}
        named = replace(verbaliser, names={**verbaliser.names, **labels})
        return explain(q, part, self.how).reasons(q, named)


def _first(key: float | tuple[float, ...]) -> float:
    return key if isinstance(key, float) else key[0]


def _falling(key: float | tuple[float, ...]) -> tuple[float, ...]:
    return (-key,) if isinstance(key, float) else tuple(-value for value in key)


def summed(
    rankings: Sequence[Mapping[str, float]], weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Add up the scores of several rankings, each divided by its best."""
    chosen = [1.0] * len(rankings) if weights is None else list(weights)
    if len(chosen) != len(rankings) or any(not weight >= 0 for weight in chosen):
        raise ConfigError(f"{len(rankings)} rankings need as many weights of at least 0, not {chosen}.")
    total: dict[str, float] = {}
    for ranking, weight in zip(rankings, chosen, strict=True):
        best = max(ranking.values(), default=0.0)
        for doc, score in ranking.items():
            share = weight * score / best if best > 0 and score > 0 else 0.0
            total[doc] = total.get(doc, 0.0) + share
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


class ScoreFusedRanker(FusedRanker):
    """Fuses rankings by their scores, see `summed`.

    Graph codes have scores that mean something: 1 is the same graph. Reciprocal ranks throw that away.

    Raises:
        ConfigError: When ranking, if there is not one weight of at least 0 for each ranker.

    Example:
        >>> from mrag.retrieval.rankers import Question
        >>> class Fixed:
        ...     def __init__(self, **scores):
        ...         self.scores = scores
        ...     def rank(self, question, k):
        ...         found = enumerate(self.scores.items(), 1)
        ...         return [Hit(iri, s, at, (f"{s}",)) for at, (iri, s) in found][:k]
        >>> fused = ScoreFusedRanker([Fixed(a=0.9, b=0.8), Fixed(b=12.0, c=3.0)])
        >>> [(hit.iri, hit.reasons) for hit in fused.rank(Question("?"), 2)]
        [('b', ('0.8', '12.0')), ('a', ('0.9',))]
    """

    def _fused(self, rankings: Sequence[Sequence[Hit]]) -> list[tuple[str, float]]:
        return summed([{hit.iri: hit.score for hit in ranking} for ranking in rankings], self.weights)


def context_of(codes: Iterable[tuple[str, GraphCode]], verbaliser: CodeVerbaliser | None = None) -> str:
    """Return documents in words, a line each, with ids by which an answer can point to them."""
    verbaliser = verbaliser or CodeVerbaliser()
    return "\n".join(
        untrusted.line(f"g{at}", f"{name}: {verbaliser.verbalise(code)}")
        for at, (name, code) in enumerate(codes, start=1)
    )


def assemble(
    question: str,
    q: GraphCode,
    codes: Iterable[tuple[str, GraphCode]],
    verbaliser: CodeVerbaliser | None = None,
) -> list[BaseMessage]:
    """Fill in the prompt: what the documents say, what the question was understood as, the question."""
    verbaliser = verbaliser or CodeVerbaliser()
    return messages(_asked(question, q, verbaliser), context_of(codes, verbaliser))


def _asked(question: str, q: GraphCode, verbaliser: CodeVerbaliser) -> str:
    return f"{question}\n(Understood as: {verbaliser.verbalise(q)})" if q else question


def chain(
    ranker: GraphCodeRanker, model: BaseChatModel, *, k: int = 5, verbaliser: CodeVerbaliser | None = None
) -> Runnable[str, str]:
    """Build a chain from a question to an answer.

    The context has `k` documents, in the words of the verbaliser; the ranker's by default.

    Raises:
        ConfigError: If k is below 1.
    """
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.runnables import RunnableLambda

    if k < 1:
        raise ConfigError(f"A context has at least one document, not {k}.")

    def gather(question: str) -> dict[str, Any]:
        q = ranker.code(Question(question))
        found = ranker.index.search(q, k, ranker.comparison)
        codes = [ranker.index.code(match.id) for match in found]
        words = verbaliser or ranker.verbaliser
        if ranker.kg is not None:
            words = words.with_names(ranker.kg, [q, *codes, GraphCode.of([match.id for match in found])])
        named = [(words.name(match.id), code) for match, code in zip(found, codes, strict=True)]
        return {"context": context_of(named, words), "question": _asked(question, q, words)}

    return RunnableLambda(gather) | prompt() | model | StrOutputParser()
