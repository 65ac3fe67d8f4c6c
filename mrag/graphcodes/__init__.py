"""Graph Codes: documents and questions as small graphs, compared by what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.graphcodes.code import (
        Edge,
        GraphCode,
        Node,
        RelationRegistry,
        difference,
        from_folder,
        from_json,
        intersection,
        to_json,
        union,
    )
    from mrag.graphcodes.code_index import CodeMatch, GraphCodeIndex
    from mrag.graphcodes.explanation import CodeVerbaliser, explain, matrix_svg
    from mrag.graphcodes.metrics import (
        CodeComparison,
        CodeMeaning,
        CodeScores,
        CodeUsage,
        Lexicographic,
        Ontology,
        Weighted,
        paper,
        query_relative,
        structural,
    )
    from mrag.graphcodes.models import ModelExtractor, PictureExtractor
    from mrag.graphcodes.questions import Linker
    from mrag.graphcodes.ranker import GraphCodeRanker, ScoreFusedRanker, chain
    from mrag.graphcodes.reading import TextExtractor
    from mrag.graphcodes.sources import (
        CodeNormaliser,
        NeighbourhoodSettings,
        extract_codes,
        from_scene_triples,
        neighbourhood,
        neighbourhoods,
    )

__all__ = [
    "CodeComparison", "CodeMatch", "CodeMeaning", "CodeNormaliser", "CodeScores", "CodeUsage",
    "CodeVerbaliser", "Edge", "GraphCode", "GraphCodeIndex", "GraphCodeRanker", "Lexicographic", "Linker",
    "ModelExtractor", "NeighbourhoodSettings", "Node", "Ontology", "PictureExtractor",
    "RelationRegistry", "ScoreFusedRanker", "TextExtractor", "Weighted", "chain", "difference",
    "explain", "extract_codes", "from_folder", "from_json", "from_scene_triples", "intersection",
    "matrix_svg", "neighbourhood", "neighbourhoods", "paper", "query_relative", "structural",
    "to_json", "union",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
