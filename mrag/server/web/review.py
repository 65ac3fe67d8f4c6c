"""Review: what was read in texts and images, with the words it rests on, to accept, reject or roll back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import ConfigError
from mrag.server.web.validation import (
    MAX_IRI,
    MAX_QUESTION,
    PageView,
    check_names,
    guarded,
    iri_value,
    list_value,
    reply,
    text_value,
)

if TYPE_CHECKING:
    from mrag.completion.checks import CompletionRun, Statement
    from mrag.completion.review import WriteReport
    from mrag.context.display import Display
    from mrag.generation.result import EvidenceRef
    from mrag.rdf.terms import Triple
    from mrag.server.web.routes import Api

MOST = 500  # maximum number of runs that are listed, and of triples of one run that are shown

FOLLOWING = 100  # maximum number of triples that are shown of what would be inferred

_FILES = 50
_TEXT = 1 << 20
_NAME = 200
_AROUND = 240  # characters of a passage that are shown before and behind the words that were relied on


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes below `/api/review`."""
    view, token = Review(api), api.settings.token
    posts = {
        "read": view.read,
        "foresee": view.foresee,
        "accept": view.accept,
        "reject": view.reject,
        "rollback": view.rollback,
    }
    return [
        Route("/api/review", api.on_thread(view.runs), methods=["GET"]),
        Route("/api/review/run", api.on_thread(view.run), methods=["GET"]),
        Route("/api/review/enrichment", api.on_thread(view.enrichment), methods=["GET"]),
        *(
            Route(f"/api/review/{name}", guarded(work, token), methods=["POST"])
            for name, work in posts.items()
        ),
    ]


class Review(PageView):
    """Answers the requests of the view Review."""

    most = _FILES * _TEXT // 8

    def runs(self, values: Mapping[str, str]) -> dict[str, Any]:
        """List the runs of completion, the newest first, and those of enrichment."""
        from mrag.completion.review import run_heads
        from mrag.rdf import queries

        check_names(values)
        heads = run_heads(self.kg)
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

    def run(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return a run with its triples, each with its checks and the words it rests on."""
        check_names(values, "id")
        return self._shown(self._found(values))

    def enrichment(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return what a model wrote in one run of enrichment."""
        from mrag.context.display import Display
        from mrag.rdf import queries

        check_names(values, "iri")
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

    async def read(self, request: Request) -> Response:
        """Answer a question over texts that are sent, and propose what was read for it."""
        engine, values = await self.change(request, "question", "texts")
        question, texts = text_value(values, "question", MAX_QUESTION), _texts(values)

        def work() -> dict[str, Any]:
            said, run = _read(self, question, texts)
            return {"answer": said, "run": None if run is None else run.iri}

        return reply(await engine.writer.make(work))

    async def foresee(self, request: Request) -> Response:
        """Say what accepting some triples of a run would add, and what would be inferred; nothing stays."""
        engine, values = await self.change(request, "id", "only")

        def work() -> dict[str, Any]:
            from mrag.completion.checks import consequences
            from mrag.completion.review import checked_anew
            from mrag.context.display import Display

            run, display = self._found(values), Display(self.kg)
            names = _new_names(run)
            checked = checked_anew(self.kg, run, only=_only(values))
            fitting = [one for one in checked if one.verdict == "fits"]
            follows = consequences(self.kg, fitting, FOLLOWING)
            inferred = () if follows is None else follows.triples
            return {
                "adds": [_triple(one.triple, display, names) for one in fitting],
                "refused": [
                    {**_triple(one.triple, display, names), "objections": list(one.objections)}
                    for one in checked
                    if one.verdict == "refused" and _wanted(one, values)
                ],
                "infers": [_triple(triple, display, names) for triple in inferred],
                "inferred": None if follows is None else follows.number,
            }

        return reply(await engine.writer.make(work))

    async def accept(self, request: Request) -> Response:
        """Accept some triples of a run; those that are left out are rejected with it."""

        def work(run: CompletionRun, values: Mapping[str, Any]) -> WriteReport:
            from mrag.completion.review import accept

            return accept(self.kg, run, update=False, only=_only(values))

        return await self._decided(request, work, "only")

    async def reject(self, request: Request) -> Response:
        """Reject a run."""

        def work(run: CompletionRun, values: Mapping[str, Any]) -> WriteReport:
            from mrag.completion.review import WriteReport, reject

            return WriteReport(reject(self.kg, run))

        return await self._decided(request, work)

    async def rollback(self, request: Request) -> Response:
        """Take the triples of an accepted run out again."""

        def work(run: CompletionRun, values: Mapping[str, Any]) -> WriteReport:
            from mrag.completion.review import rollback

            return rollback(self.kg, run, update=False)

        return await self._decided(request, work)

    async def _decided(
        self, request: Request, work: Callable[[CompletionRun, Mapping[str, Any]], WriteReport], *names: str
    ) -> Response:
        engine, values = await self.change(request, "id", *names)
        # Inferences and index follow meanwhile, as after every change.
        report = await engine.writer.make(lambda: work(self._found(values), values))
        shown = await self.api.run(self.api.readers, self._shown, report.run)
        return reply({**shown, "entered": len(report.entered), "removed": len(report.removed)})

    # -- shared ------------------------------------------------------------------------------------

    def _found(self, values: Mapping[str, Any]) -> CompletionRun:
        from mrag.completion.review import find_run

        return find_run(self.kg, text_value(values, "id", MAX_IRI))

    def _shown(self, run: CompletionRun) -> dict[str, Any]:
        from mrag.completion.review import key_of
        from mrag.context.display import Display

        display, names = Display(self.kg), _new_names(run)
        texts = self._passages([ref.iri for one in run.statements[:MOST] for ref in one.evidence])
        return {
            **_head(run),
            "statements": [
                {
                    "key": key_of(one.triple),
                    **_triple(one.triple, display, names),
                    "confidence": one.confidence,
                    "verdict": one.verdict,
                    "objections": list(one.objections),
                    "evidence": [self._quoted(ref, texts) for ref in one.evidence],
                }
                for one in run.statements[:MOST]
            ],
            "number": len(run.statements),
            "writable": self.api.settings.update,
        }

    def _passages(self, iris: Sequence[str]) -> dict[str, str]:
        from mrag.completion.passages import evidence_graph
        from mrag.rdf import queries
        from mrag.stores.base import Dataset

        found: dict[str, str] = {}
        for query in queries.get("completion/passage-texts").batches("passage", sorted({*iris})):
            for passage, text in self.kg.store.select(query, Dataset((evidence_graph(self.kg),))):
                found.setdefault(str(passage), str(text))
        return found

    def _quoted(self, ref: EvidenceRef, texts: Mapping[str, str]) -> dict[str, Any]:
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
        from mrag.server.web.images import Thumbnails

        image, box = _whole(iri)
        size = Thumbnails(self.kg, self.api.media).size(image)
        return {"image": image if size else None, "box": box, "size": size}


def _head(run: CompletionRun) -> dict[str, Any]:
    return {
        "iri": run.iri,
        "id": run.id,
        "question": run.question,
        "state": run.state,
        "model": run.model,
        "started": run.started,
        "decided": run.decided,
    }


def _triple(triple: Triple, display: Display, names: Mapping[str, str]) -> dict[str, Any]:
    from mrag.rdf.terms import to_ox, triple_to_json

    s, o = str(triple.s), str(triple.o)
    labels = [names.get(s) or display.entity(s), display.predicate(str(triple.p))]
    end = names.get(o) or display.term(to_ox(triple.o), 2_000)
    return {"triple": triple_to_json(triple), "labels": [*labels, end]}


def _new_names(run: CompletionRun) -> dict[str, str]:
    """Return what a run calls the entities that it brings in."""
    from mrag.rdf.terms import RDFS

    return {
        str(one.subject): str(one.object) for one in run.statements if str(one.predicate) == RDFS + "label"
    }


def _only(values: Mapping[str, Any]) -> frozenset[str] | None:
    if values.get("only") is None:
        return None
    return frozenset(list_value(values, "only", 100_000, 64))


def _wanted(one: Statement, values: Mapping[str, Any]) -> bool:
    from mrag.completion.review import key_of

    only = _only(values)
    return only is None or key_of(one.triple) in only


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


def _texts(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    given = values.get("texts")
    if not isinstance(given, list) or not 0 < len(given) <= _FILES:
        raise ConfigError(f"texts must be 1 to {_FILES} texts, each with name and text.")
    found = []
    for one in given:
        if not isinstance(one, dict):
            raise ConfigError("A text has a name and a text.")
        check_names(one, "name", "text")
        found.append((text_value(one, "name", _NAME), text_value(one, "text", _TEXT)))
    return found


def _read(view: Review, question: str, texts: Sequence[tuple[str, str]]) -> tuple[str, CompletionRun | None]:
    """Keep texts as evidence, answer a question over them by rules, and propose what was read."""
    from mrag.completion.chain import Completer, CompleterSettings
    from mrag.completion.collect import Evidence
    from mrag.completion.passages import Passage, Passages, store_documents
    from mrag.loaders.snippets import Snippets
    from mrag.storage.files import Scratch

    with Scratch("texts") as folder:
        for name, text in texts:
            safe = name.replace("/", "_").replace("\\", "_").replace("\0", "_").lstrip(".") or "text"
            ending = "" if safe.lower().endswith((".txt", ".md", ".rst")) else ".txt"
            (folder / f"{safe[:60]}{ending}").write_text(text, encoding="utf-8")
        snippets = Snippets(folder)
        store_documents(view.kg, "urn:mrag:collection:review", snippets.documents(), whole=False)
        passages = [Passage(s.iri, s.text, s.document.source, s.document.title) for s in snippets.snippets()]
    # The texts may say more than the graph does, so that they are read in any case.
    evidence = Evidence(Passages(passages))
    said = Completer(view.kg, evidence, settings=CompleterSettings(always=True, update=False)).ask(question)
    return said.text, said.run
