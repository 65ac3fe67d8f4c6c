"""Ranking by graph codes: every hit says which nodes and edges made its score."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import Extractor, GraphCode
from mrag.graphcodes.comparison import CodeComparison
from mrag.graphcodes.explanation.matches import explain
from mrag.graphcodes.explanation.verbalise import CodeVerbaliser
from mrag.graphcodes.index.code_index import CodeMatch, GraphCodeIndex
from mrag.graphcodes.linking import Linker
from mrag.retrieval.rankers import Hit, Question

__all__ = ["GraphCodeRanker"]


@dataclass
class GraphCodeRanker:
    """Ranks entities by how alike their codes are to the question's.

    Args:
        kg: The graph whose entities the documents of the index are; None if there is none.
        index: The codes of the entities, by IRI.
        extractor: Reads the code of a question.
        comparison: How codes are compared.
        verbaliser: How codes are put in words in the reasons.
        link: Whether words of the question that are labels in the index stand for what they label.

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
    extractor: Extractor
    comparison: CodeComparison = field(default_factory=CodeComparison)
    verbaliser: CodeVerbaliser = field(default_factory=CodeVerbaliser)
    link: bool = True

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
        return self.linker.link(self.extractor.extract(question.text))

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        return self.rank_code(self.code(question), k)

    def rank_code(self, q: GraphCode, k: int) -> list[Hit]:
        """Return at most `k` hits for a code, such as that of another image, best first."""
        matches = self.index.search(q, k, self.comparison)
        parts = [self.index.part(match.id, q, self.comparison)[0] for match in matches]
        verbaliser = self.verbaliser if self.kg is None else self.verbaliser.with_names(self.kg, [q, *parts])
        return [
            Hit(match.id, match.score, rank, self._reasons(q, part, verbaliser))
            for rank, (match, part) in enumerate(zip(matches, parts, strict=True), start=1)
        ]

    def matches(self, question: Question, k: int) -> list[CodeMatch]:
        """Return at most `k` matches with the three values of the metric."""
        return self.index.search(self.code(question), k, self.comparison)

    def _reasons(self, q: GraphCode, part: GraphCode, verbaliser: CodeVerbaliser) -> tuple[str, ...]:
        labels = {node.id: node.label for node in part.nodes if node.label}
        named = replace(verbaliser, names={**verbaliser.names, **labels})
        return explain(q, part, self.comparison).reasons(q, named)
