"""Generative retrieval: a language model writes clues, each of which is in the documents that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.generative import decoding  # noqa: F401 - for `mrag.generative.…`
    from mrag.generative.clue_index import ClueIndex
    from mrag.generative.decoding import (
        DecodingSettings,
        GenerativeRanker,
        build_clues,
        decode,
        is_stale,
        open_clues,
    )
    from mrag.generative.models import ByteTokeniser, LanguageModel, document_tokens, language_model
    from mrag.generative.training import (
        ClueSampling,
        LoraLearner,
        LoraSettings,
        TrainingQuestion,
        TrainingReport,
        TrainingSettings,
        make_pairs,
        open_backbone,
        prompt,
        read_questions,
        sample_clues,
        train,
        write_folder,
    )

__all__ = [
    "ByteTokeniser", "ClueIndex", "ClueSampling", "DecodingSettings", "GenerativeRanker", "LanguageModel",
    "LoraLearner", "LoraSettings",
    "TrainingQuestion", "TrainingReport", "TrainingSettings", "build_clues",
    "decode", "document_tokens", "is_stale", "language_model", "make_pairs", "open_backbone", "open_clues",
    "prompt", "read_questions", "sample_clues", "train", "write_folder",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
