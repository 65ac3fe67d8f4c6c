"""Generative retrieval: a language model writes clues, each of which is in the documents that it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.generative.decoding.beam import DecodingSettings, decode
    from mrag.generative.index.clue_index import ClueIndex
    from mrag.generative.index.documents import build_clues, is_stale, open_clues
    from mrag.generative.models.resolve import LanguageModel, language_model
    from mrag.generative.models.tokens import ByteTokeniser, document_tokens
    from mrag.generative.models.transformers import SeeingTransformersModel
    from mrag.generative.ranker import GenerativeRanker
    from mrag.generative.training.backbone import open_backbone
    from mrag.generative.training.data import TrainingQuestion, make_pairs, prompt, read_questions
    from mrag.generative.training.export import write_folder, write_gguf
    from mrag.generative.training.lora import LoraLearner, LoraSettings
    from mrag.generative.training.prefix import ObjectPrefix, PrefixLearner, PrefixSettings
    from mrag.generative.training.run import TrainingReport, TrainingSettings, train
    from mrag.generative.training.sampling import ClueSampling, sample_clues

__all__ = [
    "ByteTokeniser", "ClueIndex", "ClueSampling", "DecodingSettings", "GenerativeRanker", "LanguageModel",
    "LoraLearner", "LoraSettings", "ObjectPrefix", "PrefixLearner", "PrefixSettings",
    "SeeingTransformersModel", "TrainingQuestion", "TrainingReport", "TrainingSettings", "build_clues",
    "decode", "document_tokens", "is_stale", "language_model", "make_pairs", "open_backbone", "open_clues",
    "prompt", "read_questions", "sample_clues", "train", "write_folder", "write_gguf",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
