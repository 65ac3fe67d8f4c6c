"""An answer in a notebook: its sentences and rows, the triples that it cites, and their proofs by a click."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.generation.computed import doubt_of
from mrag.graph.record import status_of
from mrag.reasoning.proofs import render
from mrag.reasoning.run import proof_of
from mrag.widgets.view import NotebookView, text_of

if TYPE_CHECKING:
    from mrag.generation.result import Answer
    from mrag.graph.kg import KnowledgeGraph


class AnswerView(NotebookView):
    """An answer with its citations.

    Args:
        kg: The graph that it was asked of.
        answer: The answer.
    """

    kind = "answer"

    def __init__(self, kg: KnowledgeGraph, answer: Answer) -> None:
        super().__init__()
        self.kg, self.answer = kg, answer
        # Pictures and quoted evidence are in the HTML alone.
        self.live = not answer.images and answer.completed is None
        labels = {line.id: " ".join(line.labels) for line in answer.context.lines}
        computed = answer.computed
        self.value |= {
            "sentences": [
                {"text": s.before + s.text, "ids": [c.line_id for c in s.citations], "supported": s.supported}
                for s in answer.sentences
            ],
            "doubt": doubt_of(computed.confidence) if computed else "",
            "columns": list(computed.columns) if computed else [],
            "rows": [[cell.label for cell in row] for row in computed.rows[:50]] if computed else [],
            "reading": computed.reading if computed else "",
            "readings": [f"reading={other.number}: {other}" for other in answer.readings],
            "query": computed.query if computed else "",
            "notice": answer.notice or "",
            "triples": [
                {
                    "id": c.line_id,
                    "text": labels.get(c.line_id, c.text),
                    "status": status_of(c.graph, inferred=c.inferred),
                }
                for c in answer.citations
            ],
            "proofs": {},
        }

    def changed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Prove the cited triple that `why` names."""
        wanted = text_of(asked, "why")
        found = next((c for c in self.answer.citations if c.line_id == wanted), None)
        if found is None:
            raise ConfigError("The answer cites no such triple.")
        proof = proof_of(self.kg, found.triple)
        said = (
            "The graph does not hold it any more." if proof is None else render(proof, Display(self.kg).name)
        )
        return {"proofs": {**self.value["proofs"], wanted: said}}

    def _repr_html_(self) -> str:
        return self.answer._repr_html_()


def show(kg: KnowledgeGraph, answer: Answer) -> AnswerView:
    """Show an answer in a notebook.

    Args:
        kg: The graph that it was asked of.
        answer: The answer.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     view = show(kg, kg.ask("How many triple stores are there?", how="plan"))
        ...     value = view.act({"why": view.value["triples"][0]["id"]})
        >>> value["sentences"][0]["text"], len(value["proofs"])
        ('11 triple stores', 1)
    """
    return AnswerView(kg, answer)
