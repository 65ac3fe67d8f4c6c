"""The rankers by name: those of mrag, and those that installed packages add.

A name is one ranker, or several joined by `+`, each with an argument behind a colon where it takes one:
`bm25`, `hybrid+mmr`, `bm25+cel`, `hybrid+llm:ollama:qwen3`. Rankers that find are fused by reciprocal ranks;
one that re-ranks works on what stands before it, or on `hybrid` if nothing does.

A package adds rankers by entry points of the group `mrag.rankers`: each names a function that takes a
`RankerRequest` and returns a `Ranker`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import cast

from mrag.errors import ConfigError, MragError, RankerError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import home
from mrag.index.document_index import Mode
from mrag.retrieval.guarding import GuardedRanker
from mrag.retrieval.rankers import FusedRanker, Ranker, SimilarityRanker

GROUP = "mrag.rankers"
"""The group of entry points by which packages add rankers."""
NEEDS_MODEL = frozenset({"clues", "cross-encoder", "late", "llm", "onnx-cross-encoder"})
"""Rankers that run a model; which one, only the operator of a server says."""
_ARGUED = frozenset({"cel", "mmr"})
"""Rankers whose arguments name no file and no model."""
_JOINED = 4
"""Most rankers that a client of a server may join."""


@dataclass(frozen=True)
class RankerRequest:
    """What a ranker is made from.

    Attributes:
        kg: The knowledge graph.
        index: Name of the similarity index.
        argument: What stands behind the colon; empty if nothing does.
        before: What ranks before it, for one that re-ranks; None for the first.
    """

    kg: KnowledgeGraph
    index: str = "main"
    argument: str = ""
    before: Ranker | None = None

    @property
    def first(self) -> Ranker:
        """What a ranker that re-ranks takes its hits from."""
        return self.before or SimilarityRanker(self.kg, self.index)


Maker = Callable[[RankerRequest], Ranker]


@dataclass(frozen=True)
class RankerInfo:
    """A ranker that has a name.

    Attributes:
        name: Its name.
        summary: What it does, in a line.
        reranks: Whether it orders what another ranker found.
        make: Makes it.
    """

    name: str
    summary: str
    reranks: bool
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
    """Return the rankers that a name joins, each with its argument, without making them.

    Raises:
        ConfigError: If there is no such ranker.

    Example:
        >>> [(info.name, argument) for info, argument in check_ranker("bm25+mmr:0.5")]
        [('bm25', ''), ('mmr', '0.5')]
    """
    known, found = known_rankers(), []
    for part in name.split("+"):
        kind, _, argument = part.strip().partition(":")
        if kind not in known:
            raise ConfigError(f"There is no ranker {kind!r}.", hint=f"There are: {', '.join(sorted(known))}.")
        found.append((known[kind], argument))
    return found


def check_client_ranker(name: str, own: str) -> None:
    """Make sure that a client of a server may choose a ranker: one that names no model and no file.

    Args:
        name: What the client asks for.
        own: The server's own, which is always allowed.

    Raises:
        ConfigError: If there is no such ranker, or only the operator may choose it.

    Example:
        >>> check_client_ranker("bm25+mmr:0.5", "hybrid")
        >>> check_client_ranker("hybrid+llm", "hybrid")
        Traceback (most recent call last):
        mrag.errors.ConfigError: The ranker llm runs a model, which only the operator chooses. ...
    """
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

    Example:
        >>> known_rankers()["mmr"].reranks, known_rankers()["codes"].summary
        (True, 'entities by the structure around them, see `mrag codes`')
    """
    found = {info.name: info for info in _OWN}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: e.name):
        if entry.name in found:
            raise ConfigError(
                f"The package {entry.dist and entry.dist.name} names a ranker {entry.name!r} too."
            )
        found[entry.name] = RankerInfo(entry.name, f"from {entry.value}", True, _Loaded(entry))
    return found


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
            told = f"The ranker {name} cannot be made: {type(error).__name__}: {error}."
            raise RankerError(told, hint=hint) from error
        if not isinstance(made, Ranker):
            raise RankerError(f"{self.entry.value} does not make a ranker: it has no method rank.", hint=hint)
        return GuardedRanker(name, made, asked.kg, hint)


def _similar(mode: Mode) -> Maker:
    return lambda asked: SimilarityRanker(asked.kg, asked.index, mode)


def _mmr(asked: RankerRequest) -> Ranker:
    from mrag.retrieval.reranking import MmrRanker

    try:
        balance = float(asked.argument or 0.7)
    except ValueError:
        raise ConfigError(f"The balance of mmr is a number, not {asked.argument!r}.") from None
    return MmrRanker(asked.first, asked.kg, asked.index, balance)


def _listwise(asked: RankerRequest) -> Ranker:
    from mrag.generation.models.resolve import resolve
    from mrag.retrieval.reranking import ListwiseRanker

    model = resolve(asked.argument or None)
    if model is None:
        raise ConfigError(
            "The ranker llm needs a language model.", hint="Name one, such as llm:ollama:qwen3."
        )
    return ListwiseRanker(asked.first, asked.kg, model, asked.index)


def _cross_encoder(asked: RankerRequest) -> Ranker:
    from mrag.retrieval.reranking import CrossEncoderRanker

    if not asked.argument:
        hint = "Such as cross-encoder:cross-encoder/ms-marco-MiniLM-L-6-v2."
        raise ConfigError("The ranker cross-encoder needs a model.", hint=hint)
    try:
        from langchain_community.cross_encoders import HuggingFaceCrossEncoder

        model = HuggingFaceCrossEncoder(model_name=asked.argument)
    except ImportError as error:
        raise ConfigError(
            "A cross-encoder by name needs langchain-community and sentence-transformers.",
            hint="Install them, or take onnx-cross-encoder:FOLDER, which needs neither.",
        ) from error
    return CrossEncoderRanker(asked.first, asked.kg, model, asked.index)


def _onnx_cross_encoder(asked: RankerRequest) -> Ranker:
    from mrag.retrieval.cross_encoding import OnnxCrossEncoder
    from mrag.retrieval.reranking import CrossEncoderRanker

    if not asked.argument:
        hint = "Such as onnx-cross-encoder:./ms-marco-MiniLM-L6-v2, with model.onnx and tokenizer.json."
        raise ConfigError("The ranker onnx-cross-encoder needs a folder.", hint=hint)
    return CrossEncoderRanker(asked.first, asked.kg, OnnxCrossEncoder(asked.argument), asked.index)


def _late(asked: RankerRequest) -> Ranker:
    from mrag.retrieval.late_interaction import LateInteraction
    from mrag.retrieval.reranking import CrossEncoderRanker

    return CrossEncoderRanker(asked.first, asked.kg, LateInteraction(), asked.index)


def _by_concept(asked: RankerRequest) -> Ranker:
    from mrag.cel.learners.base import learner
    from mrag.cel.rerank import ClassExpressionReranker

    return ClassExpressionReranker(
        asked.first, asked.kg, learner(asked.argument or "search", asked.kg, seconds=5)
    )


def _codes(asked: RankerRequest) -> Ranker:
    from mrag.graphcodes.code_index import GraphCodeIndex
    from mrag.graphcodes.ranker import GraphCodeRanker

    beside = home(asked.kg)
    if beside is None:
        raise ConfigError("A graph in memory has no index of graph codes.", hint="Use GraphCodeRanker.")
    folder: Path = beside.parent / "codes" / (asked.argument or "main")
    return GraphCodeRanker(asked.kg, GraphCodeIndex(folder, must_exist=True))


def _clues(asked: RankerRequest) -> Ranker:
    from mrag.generative.documents import open_clues
    from mrag.generative.models import language_model
    from mrag.generative.ranker import GenerativeRanker

    if not asked.argument:
        raise ConfigError("The ranker clues needs a model.", hint="Such as clues:local:model.gguf.")
    return GenerativeRanker(asked.kg, open_clues(asked.kg), language_model(asked.argument))


_OWN = (
    RankerInfo("hybrid", "words and meaning together (default)", False, _similar("hybrid")),
    RankerInfo("bm25", "words", False, _similar("bm25")),
    RankerInfo("dense", "meaning, by vectors", False, _similar("dense")),
    RankerInfo("codes", "entities by the structure around them, see `mrag codes`", False, _codes),
    RankerInfo("clues", "phrases that a language model writes, see `mrag clues`", False, _clues),
    RankerInfo("cel", "what a learnt class expression holds comes first; cel:LEARNER", True, _by_concept),
    RankerInfo("mmr", "variety: what is like a hit before it comes later; mmr:BALANCE", True, _mmr),
    RankerInfo("late", "words in their context, by vectors of minilm", True, _late),
    RankerInfo(
        "cross-encoder", "a model that reads question and text; cross-encoder:NAME", True, _cross_encoder
    ),
    RankerInfo(
        "onnx-cross-encoder",
        "the same, from a local folder; onnx-cross-encoder:FOLDER",
        True,
        _onnx_cross_encoder,
    ),
    RankerInfo("llm", "a chat model that orders the hits; llm:MODEL", True, _listwise),
)
