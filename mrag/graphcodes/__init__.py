"""Graph Codes: documents and questions as small graphs, compared by what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.graphcodes.algebra import difference, intersection, union
    from mrag.graphcodes.code import Edge, GraphCode, Node
    from mrag.graphcodes.comparison import CodeComparison
    from mrag.graphcodes.explanation.drawing import matrix_svg
    from mrag.graphcodes.explanation.matches import explain
    from mrag.graphcodes.explanation.verbalise import CodeVerbaliser
    from mrag.graphcodes.extract.model import ModelExtractor
    from mrag.graphcodes.extract.neighbourhood import NeighbourhoodSettings, neighbourhood, neighbourhoods
    from mrag.graphcodes.extract.normaliser import CodeNormaliser
    from mrag.graphcodes.extract.pictures import PictureExtractor
    from mrag.graphcodes.extract.scene import from_scene_triples
    from mrag.graphcodes.extract.text import TextExtractor
    from mrag.graphcodes.fusion import ScoreFusedRanker
    from mrag.graphcodes.index.code_index import CodeMatch, GraphCodeIndex
    from mrag.graphcodes.interchange import from_folder, from_json, to_json
    from mrag.graphcodes.linking import Linker
    from mrag.graphcodes.meaning import CodeMeaning, CodeUsage
    from mrag.graphcodes.metrics import CodeScores, Lexicographic, Weighted, paper, query_relative, structural
    from mrag.graphcodes.ontology import Ontology
    from mrag.graphcodes.prompt import chain
    from mrag.graphcodes.ranker import GraphCodeRanker
    from mrag.graphcodes.registry import RelationRegistry
    from mrag.graphcodes.texts import extract_codes

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
