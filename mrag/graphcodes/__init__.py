"""Graph Codes: documents and questions as small graphs, compared by what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.graphcodes import code  # noqa: F401 - for `mrag.graphcodes.…`
    from mrag.graphcodes.code import Edge, GraphCode, Node, from_folder, from_json, to_json, union
    from mrag.graphcodes.code_index import CodeMatch, GraphCodeIndex
    from mrag.graphcodes.metrics import (
        CodeComparison,
        CodeScores,
        Lexicographic,
        Ontology,
        Weighted,
        paper,
        structural,
    )
    from mrag.graphcodes.ranker import CodeVerbaliser, GraphCodeRanker, ScoreFusedRanker, explain
    from mrag.graphcodes.reading import TextExtractor
    from mrag.graphcodes.sources import (
        CodeNormaliser,
        ModelExtractor,
        from_scene_triples,
        neighbourhood,
        neighbourhoods,
    )

__all__ = [
    "CodeComparison", "CodeMatch", "CodeNormaliser", "CodeScores",
    "CodeVerbaliser", "Edge", "GraphCode", "GraphCodeIndex", "GraphCodeRanker", "Lexicographic",
    "ModelExtractor", "Node", "Ontology", 
    "ScoreFusedRanker", "TextExtractor", "Weighted",
    "explain", "from_folder", "from_json", "from_scene_triples",
    "neighbourhood", "neighbourhoods", "paper", "structural",
    "to_json", "union",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
