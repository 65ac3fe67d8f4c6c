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
    from mrag.graphcodes.interchange import from_json, to_json
    from mrag.graphcodes.linking import Linker
    from mrag.graphcodes.metrics import CodeScores, Lexicographic, Weighted, paper, query_relative, structural
    from mrag.graphcodes.ontology import Ontology
    from mrag.graphcodes.prompt import chain
    from mrag.graphcodes.ranker import GraphCodeRanker
    from mrag.graphcodes.registry import RelationRegistry

__all__ = [
    "CodeComparison",
    "CodeMatch",
    "CodeNormaliser",
    "CodeScores",
    "CodeVerbaliser",
    "Edge",
    "GraphCode",
    "GraphCodeIndex",
    "GraphCodeRanker",
    "Lexicographic",
    "Linker",
    "ModelExtractor",
    "NeighbourhoodSettings",
    "Node",
    "Ontology",
    "PictureExtractor",
    "RelationRegistry",
    "ScoreFusedRanker",
    "TextExtractor",
    "Weighted",
    "chain",
    "difference",
    "explain",
    "from_json",
    "from_scene_triples",
    "intersection",
    "matrix_svg",
    "neighbourhood",
    "neighbourhoods",
    "paper",
    "query_relative",
    "structural",
    "to_json",
    "union",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "CodeComparison": "comparison",
        "CodeMatch": "index.code_index",
        "CodeNormaliser": "extract.normaliser",
        "CodeScores": "metrics",
        "CodeVerbaliser": "explanation.verbalise",
        "Edge": "code",
        "GraphCode": "code",
        "GraphCodeIndex": "index.code_index",
        "GraphCodeRanker": "ranker",
        "Lexicographic": "metrics",
        "Linker": "linking",
        "ModelExtractor": "extract.model",
        "NeighbourhoodSettings": "extract.neighbourhood",
        "Node": "code",
        "Ontology": "ontology",
        "PictureExtractor": "extract.pictures",
        "RelationRegistry": "registry",
        "ScoreFusedRanker": "fusion",
        "TextExtractor": "extract.text",
        "Weighted": "metrics",
        "chain": "prompt",
        "difference": "algebra",
        "explain": "explanation.matches",
        "from_json": "interchange",
        "from_scene_triples": "extract.scene",
        "intersection": "algebra",
        "matrix_svg": "explanation.drawing",
        "neighbourhood": "extract.neighbourhood",
        "neighbourhoods": "extract.neighbourhood",
        "paper": "metrics",
        "query_relative": "metrics",
        "structural": "metrics",
        "to_json": "interchange",
        "union": "algebra",
    },
)
