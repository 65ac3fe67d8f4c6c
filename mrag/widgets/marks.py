"""Hits in a notebook with a plus and a minus on each: what the marked ones share is learnt at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mrag import html
from mrag.cel.rerank import Feedback, MarkedConcept, learn_from_marks
from mrag.cel.sparql import individuals_among
from mrag.cel.syntax.notation import to_manchester
from mrag.cel.syntax.verbalise import sentence
from mrag.widgets.view import NotebookView, texts_of

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.retrieval.rankers import Hit


class MarksView(NotebookView):
    """Hits to mark.

    Args:
        kg: The knowledge graph.
        hits: The hits, best first, or their IRIs.

    Attributes:
        feedback: What was learnt from the marks, None where there is none yet.
    """

    kind = "marks"

    def __init__(self, kg: KnowledgeGraph, hits: Iterable[Hit | str]) -> None:
        super().__init__()
        self.kg = kg
        self.feedback: Feedback | None = None
        iris = list(dict.fromkeys(hit if isinstance(hit, str) else hit.iri for hit in hits))
        labels, markable = kg.labels(iris), individuals_among(kg, iris)
        self._iris = iris
        self.value |= {
            "hits": [{"iri": i, "label": labels.get(i, i), "individual": i in markable} for i in iris],
            "liked": [],
            "disliked": [],
            "concept": None,
            "proposals": [],
        }

    @property
    def concept(self) -> MarkedConcept | None:
        """Return the concept that was learnt: its hypothesis can be kept as a class."""
        return self.feedback.best if self.feedback else None

    def changed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Learn from the marks `liked` and `disliked`."""
        liked, disliked = texts_of(asked, "liked"), texts_of(asked, "disliked")
        marks = {"liked": liked, "disliked": disliked, "concept": None, "proposals": []}
        self.feedback = None
        if not liked or len(liked) + len(disliked) < 2:
            return marks
        self.feedback = learn_from_marks(self.kg, self._iris, liked, disliked)
        return {**marks, "concept": self._said(), "proposals": list(self.feedback.proposals)}

    def _said(self) -> dict[str, Any]:
        found = self.concept
        if found is None or self.feedback is None:
            return {"sentence": "Nothing in the graph tells those marked + from the others.", "covered": []}
        counts = found.hypothesis.counts
        return {
            "sentence": sentence(self.kg, found.hypothesis.expression),
            "manchester": to_manchester(found.hypothesis.expression, self.kg.prefixes),
            "covered": list(found.covered),
            "counts": f"{counts.tp} of {counts.positives} meant, {counts.fp} of {counts.negatives} not meant"
            + (" (the last hits, as none is marked −)" if self.feedback.assumed else ""),
        }

    def _repr_html_(self) -> str:
        liked, disliked = set(self.value["liked"]), set(self.value["disliked"])
        marks = [
            (("+" if h["iri"] in liked else "−" if h["iri"] in disliked else ""), h)
            for h in self.value["hits"]
        ]
        rows = [(mark, hit["label"], html.tag("code", hit["iri"])) for mark, hit in marks]
        said = self.value["concept"]
        above = html.tag("p", html.tag("b", said["sentence"])) if said else ""
        return html.join([above, html.table(("", "entity", "IRI"), rows)])


def learn_widget(kg: KnowledgeGraph, hits: Iterable[Hit | str]) -> MarksView:
    """Show hits in a notebook, to be marked as meant or not.

    Args:
        kg: The knowledge graph.
        hits: The hits, best first, or their IRIs.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     names = [kg.prefixes["ex"] + n for n in ("Fuseki", "Neo4j", "Virtuoso", "Redis", "RDFox")]
        ...     view = learn_widget(kg, names)
        ...     view.act({"liked": names[:1], "disliked": names[3:4]})["concept"]["manchester"]
        'ex:GraphDatabase'
    """
    return MarksView(kg, hits)
