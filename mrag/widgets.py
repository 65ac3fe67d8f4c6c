"""What notebooks show: answers, hits to mark and entities, live where the extra `widget` is installed.

Each is also plain HTML, which a notebook keeps and shows where no kernel runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from mrag import html
from mrag.cel.rerank import Feedback, MarkedConcept, learn_from_marks
from mrag.cel.sentences import sentence
from mrag.cel.sparql import individuals_among
from mrag.context.display import Display
from mrag.context.neighbourhood import Direction, read
from mrag.errors import ConfigError, MragError
from mrag.generation.result import doubt_of
from mrag.graph.record import status_of
from mrag.rdf.notation import to_manchester
from mrag.rdf.terms import SKOLEM, curie, iri
from mrag.reasoning.proofs import render
from mrag.reasoning.run import proof_of

if TYPE_CHECKING:
    from mrag.generation.result import Answer
    from mrag.graph.kg import KnowledgeGraph
    from mrag.retrieval.rankers import Hit

__all__ = ["AnswerView", "EntityView", "MarksView", "NotebookView"]


class NotebookView(ABC):
    """A part of a notebook.

    With the extra `widget` and a kernel it is live: what a person does arrives in `act`, and the browser
    shows the new value. Else it is the HTML of `_repr_html_`.
    """

    kind = ""  # which part of `panel.js` draws it
    live = True  # whether `panel.js` can draw all of it

    def __init__(self) -> None:
        self._widget: Any = None
        self.value: dict[str, Any] = {"kind": self.kind}

    @abstractmethod
    def change(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of the value is another one after an action; the message of a `MragError` is shown."""

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def act(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a person asks for, as `panel.js` sends it, and return the new value."""
        try:
            self.value = {**self.value, "problem": "", **self.change(asked)}
        except MragError as error:
            self.value = {**self.value, "problem": error.message}
        return self.value

    @property
    def widget(self) -> Any:
        """Return the widget of anywidget, None where it is not installed."""
        if self.live and self._widget is None and find_spec("anywidget") is not None:
            anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
            body = {
                "_esm": (files("mrag") / "panel.js").read_text(encoding="utf-8"),
                "value": traitlets.Dict().tag(sync=True),
                "asked": traitlets.Dict().tag(sync=True),
                # Its text is kept in the notebook, where an address would change with each run.
                "__repr__": lambda _: f"<{type(self).__name__}>",
            }
            made = type("MragPanel", (anywidget.AnyWidget,), body)(value=self.value)
            made.observe(self._ask, "asked")
            self._widget = made
        return self._widget

    def _ask(self, change: Mapping[str, Any]) -> None:
        if change["new"]:
            self._widget.value = self.act(change["new"])

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        """Return the widget and the HTML: what shows a notebook takes the best that it can."""
        html = {"text/html": self._repr_html_()}
        if self.widget is None:
            return html
        bundle = self.widget._repr_mimebundle_()
        return {**(bundle[0] if isinstance(bundle, tuple) else bundle), **html}


def _text(asked: Mapping[str, Any], name: str) -> str:
    """Return a text of an action, which a browser sent."""
    value = asked.get(name)
    return value[:2_048] if isinstance(value, str) else ""


def _texts(asked: Mapping[str, Any], name: str) -> list[str]:
    values = asked.get(name)
    return [one for one in values[:500] if isinstance(one, str)] if isinstance(values, list) else []


class AnswerView(NotebookView):
    """An answer with its citations."""

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

    def change(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Prove the cited triple that `why` names."""
        wanted = _text(asked, "why")
        citation = next((c for c in self.answer.citations if c.line_id == wanted), None)
        if citation is None:
            raise ConfigError("The answer cites no such triple.")
        proof = proof_of(self.kg, citation.triple)
        said = (
            "The graph does not hold it any more." if proof is None else render(proof, Display(self.kg).name)
        )
        return {"proofs": {**self.value["proofs"], wanted: said}}

    def _repr_html_(self) -> str:
        return self.answer._repr_html_()


_SCAN, _SHARE = 400, 40


class EntityView(NotebookView):
    """An entity and its neighbours, from which a person can walk on.

    Raises:
        ConfigError: If the graph says nothing about it.
    """

    kind = "entity"

    def __init__(self, kg: KnowledgeGraph, start: str) -> None:
        super().__init__()
        self.kg = kg
        self.value |= self.change({"iri": start})

    def change(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Go to the entity `iri`."""
        name = str(iri(_text(asked, "iri"), self.kg.prefixes))
        display = Display(self.kg)
        out, into = self._rows(name, "out", display), self._rows(name, "in", display)
        if not out and not into:
            raise ConfigError("The graph says nothing about this IRI.", term=name)
        been = [*self.value.get("been", []), {"iri": name, "label": display.entity(name)}]
        return {
            "iri": name,
            "name": curie(name, self.kg.prefixes),
            "label": display.entity(name),
            "out": out,
            "in": into,
            "been": been[-20:],
        }

    def _rows(self, name: str, direction: Direction, display: Display) -> list[dict[str, Any]]:
        edges = read(self.kg, name, direction, scan=_SCAN, share=_SHARE).statements
        rows = []
        for s, p, o, graph in edges:
            end = s if direction == "in" else o.value if isinstance(o, ox.NamedNode) else ""
            other = display.entity(s) if direction == "in" else display.term(o, 400)
            rows.append(
                {
                    "predicate": display.predicate(p),
                    "other": other,
                    "iri": "" if end.startswith(SKOLEM) else end,
                    "status": status_of(graph, inferred=self.kg.is_inferred(graph)),
                }
            )
        return sorted(rows, key=lambda row: (row["predicate"], row["other"], row["iri"], row["status"]))

    def _repr_html_(self) -> str:
        def table(rows: list[dict[str, Any]], caption: str) -> object:
            shown = [(row["predicate"], row["other"], html.badge(row["status"])) for row in rows]
            return html.table(("property", "entity or value", ""), shown, caption=caption) if rows else ""

        head = html.tag("p", html.tag("b", self.value["label"]), " ", html.tag("code", self.value["name"]))
        out, into = self.value["out"], self.value["in"]
        return html.join([head, table(out, "What the graph says of it"), table(into, "What points to it")])


class MarksView(NotebookView):
    """Hits, best first, to be marked as meant or not; `feedback` is what was learnt from the marks, if any.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     names = [kg.prefixes["ex"] + n for n in ("Fuseki", "Neo4j", "Virtuoso", "Redis", "RDFox")]
        ...     view = kg.learn_widget(names)
        ...     view.act({"liked": names[:1], "disliked": names[3:4]})["concept"]["manchester"]
        'ex:GraphDatabase'
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

    def change(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Learn from the marks `liked` and `disliked`."""
        liked, disliked = _texts(asked, "liked"), _texts(asked, "disliked")
        marks = {"liked": liked, "disliked": disliked, "concept": None, "proposals": []}
        self.feedback = None
        if not liked or len(liked) + len(disliked) < 2:
            return marks
        self.feedback = learn_from_marks(self.kg, self._iris, liked, disliked)
        return {**marks, "concept": self._say(), "proposals": list(self.feedback.proposals)}

    def _say(self) -> dict[str, Any]:
        feedback = self.concept
        if feedback is None or self.feedback is None:
            return {"sentence": "Nothing in the graph tells those marked + from the others.", "covered": []}
        counts = feedback.hypothesis.counts
        return {
            "sentence": sentence(self.kg, feedback.hypothesis.expression),
            "manchester": to_manchester(feedback.hypothesis.expression, self.kg.prefixes),
            "covered": list(feedback.covered),
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
