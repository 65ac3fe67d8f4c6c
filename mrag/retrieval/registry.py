"""The rankers by name: those of mrag, and those that installed packages add.

A name is one ranker, or several joined by `+`, each with an argument behind a colon where it takes one:
`bm25`, `hybrid+mmr`, `bm25+cel`, `clues:local:model.gguf`. Rankers that find are fused by reciprocal ranks;
one that re-ranks works on what stands before it, or on `hybrid` if nothing does.

A package adds rankers by entry points of the group `mrag.rankers`: each names a function that takes a
`RankerRequest` and returns a `Ranker`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, cast, runtime_checkable

import numpy as np
from rdflib import URIRef

from mrag import cel, generative, graphcodes
from mrag.context.display import Display
from mrag.errors import ConfigError, ModelError, MragError, RankerError, TermError, check_choice
from mrag.graph.kg import KnowledgeGraph, home
from mrag.index.document_index import Mode
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.language import content
from mrag.planning.lexicon import things_called
from mrag.rdf import queries
from mrag.rdf.terms import iri
from mrag.redaction import brief
from mrag.retrieval.rankers import FusedRanker, Hit, Question, Ranker, SimilarityRanker

logger = logging.getLogger(__name__)

_MOST = 100_000  # Hits after which a ranker that does not end is left alone
_SHOWN = 300  # Characters of another package's error that are shown


@dataclass
class GuardedRanker:
    """Ranks by a ranker that may not keep its promises.

    What can be put right is: hits beyond `k`, entities that come twice, ranks that do not count from 1, and
    an iterator in the place of a list. Entities that the graph does not have are left out, with a warning.
    The rest is an error that names the ranker.
    """

    name: str
    ranker: Ranker
    kg: KnowledgeGraph
    hint: str | None = None

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        hits: dict[str, Hit] = {}
        try:
            for hit in islice(self.ranker.rank(question, k), _MOST):
                if len(hits) >= k:
                    break
                checked = self._check(hit)
                hits.setdefault(checked.iri, checked)
        except MragError:
            raise
        except Exception as error:  # another package raises what it likes
            message = brief(f"{type(error).__name__}: {error}", _SHOWN).rstrip(": ")
            raise RankerError(f"The ranker {self.name} failed: {message}.", hint=self.hint) from error
        query = queries.get("completion/present")
        rows = (row for text in query.batches("term", list(_iris(hits))) for row in self.kg.select(text))
        there = {str(term) for (term,) in rows}
        if missing := sorted(hits.keys() - there):
            message = "The ranker %s found entities that the graph does not have: %d, such as %r; left out."
            logger.warning(message, self.name, len(missing), missing[0])
        kept = [hit for name, hit in hits.items() if name in there]
        return [replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1)]

    def _check(self, hit: object) -> Hit:
        """Return a hit with plain values."""
        if not isinstance(hit, Hit) or not isinstance(hit.iri, str):
            problem = f"gave {type(hit).__name__} {str(hit)[:80]!r}, which is no hit"
            raise RankerError(f"The ranker {self.name} {problem}.", hint=self.hint)
        if not math.isfinite(score := float(hit.score)):
            problem = f"gave {hit.iri[:200]} the score {score}"
            raise RankerError(f"The ranker {self.name} {problem}.", hint=self.hint)
        given: object = hit.reasons
        reasons = (given,) if isinstance(given, str) else hit.reasons
        return Hit(hit.iri, score, 0, tuple(map(str, reasons)))


def _iris(names: Iterable[str]) -> Iterator[URIRef]:
    """Yield those texts that are IRIs."""
    for name in names:
        try:
            yield iri(name)
        except TermError:
            continue


GROUP = "mrag.rankers"  # The group of entry points by which packages add rankers
NEEDS_MODEL = frozenset({"clues"})  # Rankers that run a model; which one, only the operator of a server says
_ARGUED = frozenset({"cel", "mmr"})  # Rankers whose arguments name no file and no model
_JOINED = 4  # Most rankers that a client of a server may join


@dataclass(frozen=True)
class RankerRequest:
    """What a ranker is made from."""

    kg: KnowledgeGraph
    index: str = "main"
    argument: str = ""  # What stands behind the colon; empty if nothing does
    before: Ranker | None = None  # What ranks before it, for one that re-ranks; None for the first

    @property
    def first(self) -> Ranker:
        """What a ranker that re-ranks takes its hits from."""
        return self.before or SimilarityRanker(self.kg, self.index)


Maker = Callable[[RankerRequest], Ranker]


@dataclass(frozen=True)
class RankerInfo:
    """A ranker that has a name."""

    name: str
    summary: str  # What it does, in a line
    reranks: bool  # Whether it orders what another ranker found
    make: Maker


def ranker(name: str | Ranker, kg: KnowledgeGraph, *, index: str = "main") -> Ranker:
    """Return the ranker of a name.

    Args:
        name: One of `known_rankers()`, or several joined by `+`; a ranker is returned as it is.
        kg: The knowledge graph.
        index: Name of the similarity index, for those that use one.

    Raises:
        ConfigError: If there is no such ranker, its argument is missing or of no use, or it needs a package
            that is not installed.
        MissingIndex: If it needs an index that is not there.

    Example:
        >>> import mrag
        >>> from mrag.retrieval.rankers import Question
        >>> with mrag.demo(model="none") as kg:
        ...     hits = ranker("bm25+mmr", kg).rank(Question("graph database"), 3)
        >>> len(hits), hits[0].reasons[-1]
        (3, 'variety: first')
    """
    if not isinstance(name, str):
        return name
    made: Ranker | None = None
    for info, argument in check_ranker(name):
        before = made if info.reranks else None
        one = info.make(RankerRequest(kg, index, argument, before))
        made = one if made is None or info.reranks else FusedRanker((made, one))
    return cast(Ranker, made)


def check_ranker(name: str) -> list[tuple[RankerInfo, str]]:
    """Return the rankers that a name joins, each with its argument, without making them."""
    known, problems = {info.name: info for info in _OWN}, []
    for part in name.split("+"):
        kind, _, argument = part.strip().partition(":")
        if kind not in known:
            known = dict(known_rankers())  # asks all packages
            check_choice("ranker", kind, known)
        problems.append((known[kind], argument))
    return problems


def check_client_ranker(name: str, own: str) -> None:
    """Make sure that a client of a server may choose a ranker: one that names no model and no file."""
    if name == own:
        return
    if len(parts := check_ranker(name)) > _JOINED:
        raise ConfigError(f"At most {_JOINED} rankers are joined here.")
    for info, argument in parts:
        hint = f"Start the server with --ranker {name}{'' if argument else ':MODEL'}."
        if info.name in NEEDS_MODEL:
            raise ConfigError(
                f"The ranker {info.name} runs a model, which only the operator chooses.", hint=hint
            )
        if argument and info.name not in _ARGUED:
            raise ConfigError(
                f"The ranker {info.name} can be given an argument by the operator only.", hint=hint
            )


@cache
def known_rankers() -> Mapping[str, RankerInfo]:
    """Return the rankers by name: those of mrag first, then those of other packages.

    Raises:
        ConfigError: If a package adds a ranker by a name that is taken.
    """
    infos = {info.name: info for info in _OWN}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: e.name):
        if entry.name in infos:
            raise ConfigError(
                f"The package {entry.dist and entry.dist.name} names a ranker {entry.name!r} too."
            )
        infos[entry.name] = RankerInfo(entry.name, f"from {entry.value}", True, _Loaded(entry))
    return infos


@dataclass(frozen=True)
class _Loaded:
    """The maker of a package, imported when it is first used."""

    entry: metadata.EntryPoint

    def __call__(self, asked: RankerRequest) -> Ranker:
        name, package = self.entry.name, self.entry.dist and self.entry.dist.name
        try:
            maker = self.entry.load()
        except Exception as error:  # importing another package may do anything
            raise ConfigError(
                f"The package {package} names a ranker {name!r} that cannot be loaded: {error}.",
                hint="Install it anew, or remove it.",
            ) from error
        hint = f"It comes from the package {package}: tell its authors, or rank without it."
        try:
            made = maker(asked)
        except MragError:
            raise
        except Exception as error:
            problem = f"The ranker {name} cannot be made: {type(error).__name__}: {error}."
            raise RankerError(problem, hint=hint) from error
        if not isinstance(made, Ranker):
            raise RankerError(f"{self.entry.value} does not make a ranker: it has no method rank.", hint=hint)
        return GuardedRanker(name, made, asked.kg, hint)


def _similar(mode: Mode) -> Maker:
    return lambda asked: SimilarityRanker(asked.kg, asked.index, mode)


def _names(asked: RankerRequest) -> Ranker:
    return NameRanker(asked.kg)


def _mmr(asked: RankerRequest) -> Ranker:
    try:
        balance = float(asked.argument or 0.7)
    except ValueError:
        raise ConfigError(f"The balance of mmr is a number, not {asked.argument!r}.") from None
    return MmrRanker(asked.first, asked.kg, asked.index, balance)


def _by_concept(asked: RankerRequest) -> Ranker:
    learner = cel.learner(asked.argument or "search", asked.kg, seconds=5)
    return cel.ClassExpressionReranker(asked.first, asked.kg, learner)


def _codes(asked: RankerRequest) -> Ranker:
    beside = home(asked.kg)
    if beside is None:
        raise ConfigError("A graph in memory has no index of graph codes.", hint="Use GraphCodeRanker.")
    folder: Path = beside.parent / "codes" / (asked.argument or "main")
    return graphcodes.GraphCodeRanker(asked.kg, graphcodes.GraphCodeIndex(folder, must_exist=True))


def _clues(asked: RankerRequest) -> Ranker:
    if not asked.argument:
        raise ConfigError("The ranker clues needs a model.", hint="Such as clues:local:model.gguf.")
    model = generative.language_model(asked.argument)
    return generative.GenerativeRanker(asked.kg, generative.open_clues(asked.kg), model)


_OWN = (
    RankerInfo("hybrid", "words and meaning together (default)", False, _similar("hybrid")),
    RankerInfo("bm25", "words", False, _similar("bm25")),
    RankerInfo("dense", "meaning, by vectors", False, _similar("dense")),
    RankerInfo("names", "names, also in part or misspelt; needs no index", False, _names),
    RankerInfo("codes", "entities by the structure around them, see `mrag codes`", False, _codes),
    RankerInfo("clues", "phrases that a language model writes, see `mrag clues`", False, _clues),
    RankerInfo("cel", "what a learnt class expression holds comes first; cel:LEARNER", True, _by_concept),
    RankerInfo("mmr", "variety: what is like a hit before it comes later; mmr:BALANCE", True, _mmr),
)


@dataclass
class NameRanker:
    """Ranks by the names of things: as a whole, in part, broken off or misspelt; it needs no index."""

    kg: KnowledgeGraph

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        candidates = things_called(self.kg, question.text, k)
        why = ((f"called {one.name}" + " (misspelt)" * (one.way == "spelling")) for one in candidates)
        ranked = enumerate(zip(candidates, why, strict=True), start=1)
        return [Hit(one.term, one.score, rank, (reason,)) for rank, (one, reason) in ranked]


def without_index(name: str, kg: KnowledgeGraph, index: str) -> str:
    """Return the name of a ranker: for `hybrid` without an index that of names alone."""
    return "names" if name == "hybrid" and index not in SimilarityIndexes.of(kg).names() else name


NAMES_ALONE: Final = "There is no similarity index yet, so names alone were sought; `mrag index` makes one."


@runtime_checkable
class CrossEncoder(Protocol):
    """A model that reads a question together with a text, such as LangChain's `BaseCrossEncoder`."""

    def score(self, text_pairs: list[tuple[str, str]]) -> Sequence[float]:
        """Return how well each text answers its question; higher is better."""


@dataclass
class MmrRanker:
    """Ranks for relevance and variety: what is like a hit before it comes later.

    Maximal marginal relevance (Carbonell and Goldstein, 1998, The Use of MMR, Diversity-Based Reranking,
    SIGIR). Texts are alike by their vectors, in an index without vectors by the words they share.

    Raises:
        ConfigError: If the balance is not between 0 and 1.
    """

    ranker: Ranker
    kg: KnowledgeGraph
    index: str = "main"  # Has their texts
    balance: float = 0.7  # 1 counts relevance alone, 0 variety alone
    depth: int = 50  # How deep the ranking is read

    def __post_init__(self) -> None:
        if not 0 <= self.balance <= 1:
            raise ConfigError(f"The balance is between 0 and 1, not {self.balance}.", hint="0.7 is usual.")

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, the most relevant first."""
        hits = self.ranker.rank(question, max(k, self.depth))
        alike = _alikeness(self.kg, self.index, [hit.iri for hit in hits])
        most = max((hit.score for hit in hits), default=0.0)
        least = min((hit.score for hit in hits), default=0.0)
        relevance = np.array([(hit.score - least) / ((most - least) or 1.0) for hit in hits])
        nearest = np.zeros(len(hits))
        left, chosen = list(range(len(hits))), list[Hit]()
        while left and len(chosen) < k:
            gain = self.balance * relevance[left] - (1 - self.balance) * nearest[left]
            at = left.pop(int(np.argmax(gain)))
            reason = f"variety: {nearest[at]:.2f} like what comes before" if chosen else "variety: first"
            chosen.append(replace(hits[at], rank=len(chosen) + 1, reasons=(*hits[at].reasons, reason)))
            nearest = np.maximum(nearest, alike[at])
        return chosen


@dataclass
class CrossEncoderRanker:
    """Ranks by a model that reads the question together with the text of each hit.

    Raises:
        ConfigError: If the model has no method `score`.
    """

    ranker: Ranker
    kg: KnowledgeGraph
    model: CrossEncoder  # Such as LangChain's `HuggingFaceCrossEncoder`
    index: str = "main"  # Has the texts
    depth: int = 50  # How many hits the model reads; the others follow in their order

    def __post_init__(self) -> None:
        if not isinstance(self.model, CrossEncoder):
            raise ConfigError(f"{type(self.model).__name__} is no cross-encoder: it has no method score.")

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first; a `ModelError` if the model fails."""
        hits = self.ranker.rank(question, max(k, self.depth))
        read, rest = hits[: self.depth], hits[self.depth :]
        texts = _texts(self.kg, self.index, [hit.iri for hit in read])
        pairs = [(question.text, texts[hit.iri]) for hit in read]
        try:
            scores = [float(score) for score in (self.model.score(pairs) if pairs else ())]
        except Exception as error:
            raise ModelError(f"The cross-encoder failed: {error}") from error
        if len(scores) != len(read):
            raise ModelError(f"The cross-encoder gave {len(scores)} scores for {len(read)} texts.")
        order = sorted(range(len(read)), key=lambda at: (-scores[at], read[at].iri))
        said = getattr(self.model, "name", "cross-encoder")
        reasons = [(*hit.reasons, f"{said} {score:.2f}") for hit, score in zip(read, scores, strict=True)]
        reranked = [replace(read[at], score=scores[at], reasons=reasons[at]) for at in order]
        # Scores fall along a ranking, and those behind were not read.
        floor = min(scores, default=0.0)
        reranked += [replace(hit, score=floor - at) for at, hit in enumerate(rest, start=1)]
        return [replace(hit, rank=rank) for rank, hit in enumerate(reranked[:k], start=1)]


def _texts(kg: KnowledgeGraph, index: str, iris: Sequence[str]) -> Mapping[str, str]:
    """Return the text of each entity: its document, or its label where there is none."""
    indexes = SimilarityIndexes.of(kg)
    known = indexes.get(index, quiet=True) if index in indexes.names() else None
    display = Display(kg)
    display.prepare(iris)
    # A server keeps its documents to itself.
    files = known.files if isinstance(known, SimilarityIndex) else None
    documents = files.texts_of(iris) if files is not None else {}
    texts = {i: documents[i] if i in documents else display.entity(i) for i in iris}
    # A document repeats the name of its entity.
    return {i: ". ".join(dict.fromkeys(text.split(". "))) for i, text in texts.items()}


def _alikeness(kg: KnowledgeGraph, index: str, iris: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return how alike the texts of entities are, from 0 to 1, shape (entities, entities)."""
    indexes = SimilarityIndexes.of(kg)
    known = indexes.get(index, quiet=True) if index in indexes.names() else None
    vectors = known.files.vectors_of(iris) if isinstance(known, SimilarityIndex) else {}
    if len(vectors) == len(iris) and vectors:
        rows = np.array([vectors[iri] for iri in iris], np.float64)
        return np.clip(rows @ rows.T, 0, 1)
    words = [set(content(text)) for text in _texts(kg, index, iris).values()]
    shared = [[len(a & b) / (len(a | b) or 1) for b in words] for a in words]
    return np.array(shared, np.float64).reshape(len(iris), len(iris))
