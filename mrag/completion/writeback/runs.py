"""Runs of completion: what was read for one question, and what became of it.

A run is described in a graph of its own that no question is answered from
(`mrag.completion.review`). Its statements enter the graph of completed triples when the run is
accepted (`mrag.completion.review`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
import typing
from typing import Any, cast

from rdflib import URIRef

from mrag.completion.writeback.kept_checks import CheckSettings
from mrag.generation.result import EvidenceRef
from mrag.rdf.terms import Term, Triple, ntriples_terms

State = typing.Literal["proposed", "accepted", "rejected", "rolled back"]
"""Where a run stands: only what was accepted, and not rolled back, is in the graph."""

Verdict = typing.Literal["fits", "known", "refused"]
"""What the checks say of a statement: it may be written, it is in the graph already, or it may not."""


@dataclass(frozen=True)
class Statement:
    """One triple of a run.

    Attributes:
        subject: Its subject.
        predicate: Its predicate, a property of the graph.
        object: Its object.
        confidence: From 0 to 1.
        evidence: What it was read in.
        verdict: What the checks say.
        objections: Why it is refused, in words.
        iri: What the description of its run calls it; empty before it is kept.
    """

    subject: Term
    predicate: Term
    object: Term
    confidence: float = 1.0
    evidence: tuple[EvidenceRef, ...] = ()
    verdict: Verdict = "fits"
    objections: tuple[str, ...] = ()
    iri: str = field(default="", compare=False)

    @property
    def triple(self) -> Triple:
        """Return the triple alone."""
        return Triple(cast(URIRef, self.subject), cast(URIRef, self.predicate), self.object)

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what statements are sorted by."""
        s, p, o = ntriples_terms(self.triple)
        return s, p, o


@dataclass(frozen=True)
class CompletionRun:
    """What was read for one question.

    Attributes:
        iri: IRI of the run; it follows from question, model and statements, so that the same comes once.
        question: The question.
        state: Where the run stands.
        model: Name of what read the evidence.
        started: When it was proposed, in UTC, as xsd:dateTime writes it.
        decided: When it was accepted, rejected or rolled back; empty before.
        statements: Its statements, sorted. What was written when the run was accepted are those that fit.
        checks: What its statements were checked under, and will be when it is accepted.
        graph: Where its triples go, on a server to which acceptance takes several requests; else empty.
    """

    iri: str
    question: str
    state: State
    model: str
    started: str
    decided: str = ""
    statements: tuple[Statement, ...] = field(default=())
    checks: CheckSettings = field(default_factory=CheckSettings)
    graph: str = field(default="", compare=False)

    @property
    def id(self) -> str:
        """Return the short name by which a person calls the run."""
        return self.iri.removeprefix("urn:mrag:run:")[:12]

    @property
    def fitting(self) -> tuple[Statement, ...]:
        """Return the statements that may be written."""
        return tuple(s for s in self.statements if s.verdict == "fits")

    @property
    def refused(self) -> tuple[Statement, ...]:
        """Return the statements that may not be written."""
        return tuple(s for s in self.statements if s.verdict == "refused")

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON values; terms as N-Triples writes them."""
        return {
            "run": self.iri,
            "id": self.id,
            "question": self.question,
            "state": self.state,
            "model": self.model,
            "started": self.started,
            "decided": self.decided,
            "checks": {
                "min_confidence": self.checks.min_confidence,
                "functional": list(self.checks.functional),
                "closed_types": self.checks.closed_types,
                "consistency": self.checks.consistency,
                "shapes": len(self.checks.shape_texts),
            },
            "statements": [
                {
                    **dict(zip(("subject", "predicate", "object"), s.key, strict=True)),
                    "confidence": s.confidence,
                    "verdict": s.verdict,
                    "objections": list(s.objections),
                    "evidence": [asdict(e) for e in s.evidence],
                }
                for s in self.statements
            ],
        }


def new_run(
    question: str, model: str, statements: Iterable[Statement], checks: CheckSettings | None = None
) -> CompletionRun:
    """Return a proposed run; its IRI follows from what it says, its time and its checks apart.

    Example:
        >>> new_run("Who?", "words", []).iri == new_run("Who?", "words", []).iri
        True
    """
    ordered = tuple(sorted(dict.fromkeys(statements), key=lambda s: s.key))
    parts = [question, model]
    for one in ordered:
        parts += [*one.key, *(f"{e.iri} {e.quote}" for e in one.evidence)]
    if any("\n" in part for part in parts):
        # Joined by line feeds alone, a quote with line feeds could pass for the statements of another run.
        parts = ["", json.dumps(parts)]
    return CompletionRun(
        "urn:mrag:run:" + digest(*parts), question, "proposed", model, now(), "", ordered,
        checks or CheckSettings(),
    )  # fmt: skip


def now() -> str:
    """Return the present time in UTC, as xsd:dateTime writes it, to two microseconds."""
    time = datetime.now(UTC)
    # Stores drop zeros at the end; an odd last digit keeps all times of one length, and so in order as text.
    return time.replace(microsecond=time.microsecond | 1).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def digest(*parts: str) -> str:
    """Return the SHA-256 of some texts, in hexadecimal."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
