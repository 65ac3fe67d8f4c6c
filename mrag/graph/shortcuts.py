"""The short way to what people do most with a knowledge graph: methods that call the public functions.

The functions are in rooms above this one, which import it; so they are looked up when they are called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from mrag.cel.problem import Hypothesis
    from mrag.generation.result import Answer
    from mrag.graph.kg import KnowledgeGraph
    from mrag.graph.updates import UpdateReport
    from mrag.index.segments import SyncReport
    from mrag.reasoning.rounds import Closure
    from mrag.retrieval.answering import Conversation, TripleProofs
    from mrag.retrieval.rankers import Hit, Hits, Question, Ranker
    from mrag.retrieval.routing import How
    from mrag.widgets import AnswerView, EntityView, MarksView


class Shortcuts:
    """Methods of a knowledge graph; each names the function that it calls.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     hits = kg.search("graph database with RDF reasoning", 3)
        ...     answer = kg.ask("How many triple stores are there?", how="plan")
        ...     proofs = kg.explain("ex:GraphDB", "rdf:type", "ex:SemanticProduct")
        >>> hits.names[0], answer.computed.rows[0][0].label, proofs.proofs[0].asserted
        ('Stardog', '11', False)
    """

    def index(self, name: str = "main", **options: Any) -> SyncReport:
        """Build a similarity index, or bring it up to date; see `SimilarityIndexes.build`."""
        indexes = _public("mrag.index.similarity", "SimilarityIndexes").of(self)
        return cast("SyncReport", indexes.build(name, **options))

    def update(self, text: str, *, follow: bool = True, **options: Any) -> UpdateReport:
        """Carry out a SPARQL update, and bring what was inferred up to date; see `mrag.graph.update`.

        Args:
            text: The update.
            follow: Whether inferences follow at once, where the graph has been reasoned over; `pending` tells
                that they have not.
            **options: As for `mrag.graph.update`.
        """
        report = cast("UpdateReport", _public("mrag.graph.updates", "update")(self, text, **options))
        if follow and cast("KnowledgeGraph", self).pending:
            self.reason()
            report = replace(report, inferred="kept")
        return report

    def reason(self, **options: Any) -> Closure:
        """Bring the inferred triples up to date; see `mrag.reason`."""
        return cast("Closure", _public("mrag.reasoning.run", "reason")(self, **options))

    def search(
        self, question: str | Question, k: int = 10, *, index: str = "main", ranker: str | Ranker = "hybrid"
    ) -> Hits:
        """Find entities by a ranker; see `mrag.search`."""
        found = _public("mrag.retrieval", "search")(self, question, k, index=index, ranker=ranker)
        return cast("Hits", found)

    def ask(
        self,
        question: str | Question,
        *,
        model: str | BaseChatModel | None = None,
        how: How = "auto",
        reading: int | None = None,
        **options: Any,
    ) -> Answer:
        """Compute or read the answer to a question; see `mrag.ask`. Whether a triple holds, `holds` says."""
        asked = _public("mrag.retrieval", "ask")
        return cast("Answer", asked(self, question, model=model, how=how, reading=reading, **options))

    def conversation(self, **options: Any) -> Conversation:
        """Begin a conversation, in which a question may go on from the last answer; see `mrag.ask`."""
        return cast("Conversation", _public("mrag.retrieval.answering", "Conversation")(self, **options))

    def explain(self, subject: str, predicate: str | None = None, object: str | None = None) -> TripleProofs:
        """Prove a triple, or the inferred triples of an entity; IRIs, CURIEs, or a literal in quotes.

        See `mrag.explain`.
        """
        from rdflib import Literal

        from mrag.rdf.terms import iri

        prefixes = cast("KnowledgeGraph", self).prefixes
        term: Any = object
        if object is not None:
            quoted = len(object) > 1 and object[0] == object[-1] and object[0] in "\"'"
            term = Literal(object[1:-1]) if quoted else iri(object, prefixes)
        named = None if predicate is None else iri(predicate, prefixes)
        proofs = _public("mrag.retrieval", "explain")(self, iri(subject, prefixes), named, term)
        return cast("TripleProofs", proofs)

    def learn(
        self,
        positives: Iterable[str],
        negatives: Iterable[str],
        *,
        learner: str = "search",
        **settings: Any,
    ) -> list[Hypothesis]:
        """Learn the class expression that tells examples apart, best hypothesis first.

        Args:
            positives: IRIs or CURIEs of positive examples.
            negatives: The same of negative ones.
            learner: A name of `mrag.cel.learner`.
            **settings: Settings of that learner, such as `seconds`.
        """
        from mrag.rdf.terms import iri

        prefixes = cast("KnowledgeGraph", self).prefixes
        problem = _public("mrag.cel.problem", "LearningProblem")(
            [iri(x, prefixes) for x in positives], [iri(x, prefixes) for x in negatives]
        )
        problem.check(self)
        made = _public("mrag.cel.learners.base", "learner")(learner, self, **settings)
        return cast("list[Hypothesis]", made.fit(problem))

    def show(self, answer: Answer) -> AnswerView:
        """Show an answer in a notebook, with a proof for each cited triple by a click; see `mrag.widgets`."""
        return cast("AnswerView", _public("mrag.widgets", "show")(self, answer))

    def learn_widget(self, hits: Iterable[Hit | str]) -> MarksView:
        """Show hits in a notebook, to be marked: what the marked ones share is learnt; see `mrag.widgets`."""
        return cast("MarksView", _public("mrag.widgets", "learn_widget")(self, hits))

    def explore(self, iri: str) -> EntityView:
        """Show an entity in a notebook, from which one can walk on; see `mrag.widgets`."""
        return cast("EntityView", _public("mrag.widgets", "explore")(self, iri))


def _public(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
