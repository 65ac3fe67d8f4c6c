"""Review: what was read in texts and images, with the words it rests on, to accept, reject or roll back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mrag import completion
from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.generation.result import EvidenceRef
from mrag.graph.books import books
from mrag.loaders.snippets import Snippets
from mrag.rdf import queries
from mrag.rdf.terms import RDFS
from mrag.server.web.api import (
    MAX_IRI,
    MAX_QUESTION,
    PageView,
    Values,
    check_names,
    iri_value,
    list_value,
    text_value,
)
from mrag.server.web.entities import label
from mrag.server.web.images import Thumbnails
from mrag.storage.files import Scratch
from mrag.stores.base import Dataset

MOST = 500  # maximum number of runs that are listed, and of triples of one run that are shown
FOLLOWING = 100  # maximum number of triples that are shown of what would be inferred
_FILES = 50
_TEXT = 1 << 20
LARGEST = _FILES * _TEXT // 8  # bytes of a body with texts, where the settings allow more
_NAME = 200
_AROUND = 240  # characters of a passage that are shown before and behind the words that were relied on


class Review(PageView):
    """Answers the requests of the view Review."""

    def runs(self, _values: Values) -> dict[str, Any]:
        """List the runs of completion, the newest first, and those of enrichment."""
        heads = completion.review.run_heads(self.kg)
        described = self.kg.select(queries.get("provenance/enrichments").text)
        return {
            "runs": [_head(run) for run in reversed(heads[-MOST:])],
            "number": len(heads),
            "enrichments": [
                {"iri": str(a), "model": str(model), "descriptions": int(str(n)), "last": str(last)}
                for a, model, n, last in described
                if a is not None
            ],
            "writable": self.api.settings.update,
        }

    def run(self, values: Values) -> dict[str, Any]:
        """Return a run with its triples, each with its checks and the words it rests on."""
        return self._show(self._find(values))

    def enrichment(self, values: Values) -> dict[str, Any]:
        """Return what a model wrote in one run of enrichment."""
        activity = iri_value(values, "iri", self.kg.prefixes)
        query = queries.get("provenance/enriched-by").bind(activity=[activity], limit=FOLLOWING)
        display = Display(self.kg)
        rows = [(str(subject), str(text)) for subject, text in self.kg.select(query)]
        return {
            "iri": str(activity),
            "texts": [
                {"iri": iri, "label": display.entity(_whole(iri)[0]), "text": text[:2_000], **self._part(iri)}
                for iri, text in rows
            ],
        }

    def read(self, values: Values) -> dict[str, Any]:
        """Answer a question by rules over texts that are sent, and propose what was read for it."""
        question, texts = text_value(values, "question", MAX_QUESTION), _texts(values)
        with Scratch("texts") as folder:
            for name, text in texts:
                safe = name.replace("/", "_").replace("\\", "_").replace("\0", "_").lstrip(".") or "text"
                ending = "" if safe.lower().endswith((".txt", ".md", ".rst")) else ".txt"
                (folder / f"{safe[:60]}{ending}").write_text(text, encoding="utf-8")
            snippets = Snippets(folder)
            completion.store_documents(
                self.kg, "urn:mrag:collection:review", snippets.documents(), whole=False
            )
            readings = [
                completion.Passage(s.iri, s.text, s.document.source, s.document.title)
                for s in snippets.snippets()
            ]
        # The texts may say more than the graph does, so that they are read in any case.
        evidence = completion.Evidence(completion.Passages(readings))
        said = completion.Completer(self.kg, evidence, always=True, update=False).ask(question)
        return {"answer": said.text, "run": None if said.run is None else said.run.iri}

    def foresee(self, values: Values) -> dict[str, Any]:
        """Say what accepting some triples of a run would add, and what would be inferred; nothing stays."""
        run, only, display = self._find(values), _only(values), Display(self.kg)
        names = _new_names(run)
        checked = completion.review.check_anew(self.kg, run, only=only)
        fitting = [one for one in checked if one.verdict == "fits"]
        follows = completion.checks.consequences(self.kg, fitting, FOLLOWING)
        return {
            "adds": [label(one.triple, display, names) for one in fitting],
            "refused": [
                {**label(one.triple, display, names), "objections": list(one.objections)}
                for one in checked
                if one.verdict == "refused" and (only is None or completion.review.key_of(one.triple) in only)
            ],
            "infers": [label(t, display, names) for t in (follows[0] if follows else ())],
            "inferred": follows[1] if follows else None,
        }

    # Inferences and index follow what is decided meanwhile, as after every change.

    def accept(self, values: Values) -> dict[str, Any]:
        """Accept some triples of a run; those that are left out are rejected with it."""
        return self._decide(completion.accept(self.kg, self._find(values), update=False, only=_only(values)))

    def reject(self, values: Values) -> dict[str, Any]:
        """Reject a run."""
        return self._decide(completion.WriteReport(completion.reject(self.kg, self._find(values))))

    def rollback(self, values: Values) -> dict[str, Any]:
        """Take the triples of an accepted run out again."""
        return self._decide(completion.rollback(self.kg, self._find(values), update=False))

    def _decide(self, report: completion.WriteReport) -> dict[str, Any]:
        entered, removed = len(report.entered), len(report.removed)
        return {**self._show(report.run), "entered": entered, "removed": removed}

    def _find(self, values: Values) -> completion.CompletionRun:
        return completion.find_run(self.kg, text_value(values, "id", MAX_IRI))

    def _show(self, run: completion.CompletionRun) -> dict[str, Any]:
        display, names = Display(self.kg), _new_names(run)
        texts = self._passages([ref.iri for one in run.statements[:MOST] for ref in one.evidence])
        return {
            **_head(run),
            "statements": [
                {
                    "key": completion.review.key_of(one.triple),
                    **label(one.triple, display, names),
                    "confidence": one.confidence,
                    "verdict": one.verdict,
                    "objections": list(one.objections),
                    "evidence": [self._quote(ref, texts) for ref in one.evidence],
                }
                for one in run.statements[:MOST]
            ],
            "number": len(run.statements),
            "writable": self.api.settings.update,
        }

    def _passages(self, iris: Sequence[str]) -> dict[str, str]:
        graph = completion.passages.evidence_graph(self.kg)
        passages: dict[str, str] = {}
        for query in queries.get("completion/passage-texts").batches("passage", sorted({*iris})):
            with books(self.kg) as store:
                rows = store.select(query, Dataset((graph,))).rows
            for passage, text in rows:
                passages.setdefault(str(passage), str(text))
        return passages

    def _quote(self, ref: EvidenceRef, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return words with what stands around them in their passage, or with their part of an image."""
        text = texts.get(ref.iri, "")
        at = text.find(ref.quote) if ref.quote else -1
        around = ["", ""]
        if at >= 0:
            end = at + len(ref.quote)
            around = [text[max(0, at - _AROUND) : at], text[end : end + _AROUND]]
        return {
            "quote": ref.quote,
            "source": ref.source,
            "kind": ref.kind,
            "before": around[0],
            "after": around[1],
            **(self._part(ref.iri) if ref.kind != "passage" else {"image": None, "box": None, "size": None}),
        }

    def _part(self, iri: str) -> dict[str, Any]:
        """Return the image that something is or is a part of, if it can be shown, and where in it."""
        image, box = _whole(iri)
        size = Thumbnails(self.kg, self.api.media).size(image)
        return {"image": image if size else None, "box": box, "size": size}


def _head(run: completion.CompletionRun) -> dict[str, Any]:
    names = ("iri", "id", "question", "state", "model", "started", "decided")
    return {name: getattr(run, name) for name in names}


def _new_names(run: completion.CompletionRun) -> dict[str, str]:
    """Return what a run calls the entities that it brings in."""
    return {
        str(one.subject): str(one.object) for one in run.statements if str(one.predicate) == RDFS + "label"
    }


def _only(values: Values) -> frozenset[str] | None:
    if values.get("only") is None:
        return None
    return frozenset(list_value(values, "only", 100_000, 64))


def _whole(iri: str) -> tuple[str, list[int] | None]:
    """Return the image of a media fragment, and its box.

    Example:
        >>> _whole("urn:i#xywh=1,2,30,40"), _whole("urn:i")
        (('urn:i', [1, 2, 30, 40]), ('urn:i', None))
    """
    image, _, fragment = iri.rpartition("#xywh=")
    sides = fragment.removeprefix("pixel:").split(",")
    if not image or len(sides) != 4 or not all(side.isascii() and side.isdigit() for side in sides):
        return iri, None
    return image, [int(side) for side in sides]


def _texts(values: Values) -> list[tuple[str, str]]:
    given = values.get("texts")
    if not isinstance(given, list) or not 0 < len(given) <= _FILES:
        raise ConfigError(f"texts must be 1 to {_FILES} texts, each with name and text.")
    texts = []
    for one in given:
        if not isinstance(one, dict):
            raise ConfigError("A text has a name and a text.")
        check_names(one, "name", "text")
        texts.append((text_value(one, "name", _NAME), text_value(one, "text", _TEXT)))
    return texts
