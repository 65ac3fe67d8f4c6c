"""A cross-encoder in ONNX from a folder: scores as its graph says, whatever the batch, and ranks by name.

No small trained cross-encoder comes with a package, so the model here is made: its graph counts the pairs of
equal words of question and text. It goes through onnxruntime and tokenizers like a trained one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

import mrag
from mrag.errors import ConfigError, ModelError
from mrag.retrieval import OnnxCrossEncoder

onnx = pytest.importorskip("onnx")

WORDS = ("graph", "database", "triple", "store", "reasoning", "rdf", "sparql", "red", "jacket")


def write_model(folder: Path, *, classes: int = 1, inputs: tuple[str, ...] = (), kind: str = "INT64") -> Path:
    """Write a model that counts equal words of question and text, and its tokenizer."""
    from onnx import TensorProto, helper, numpy_helper

    names = inputs or ("input_ids", "attention_mask", "token_type_ids")
    number = getattr(TensorProto, kind)
    given = [helper.make_tensor_value_info(name, number, ["n", "l"]) for name in names]
    import numpy as np

    def constant(name: str, value: Any) -> Any:
        return numpy_helper.from_array(np.asarray(value), name)

    nodes = [
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["seen"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.INT64),
        helper.make_node("GreaterOrEqual", ["ids", "first_word"], ["is_word"]),
        helper.make_node("Cast", ["is_word"], ["word"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["seen", "word"], ["real"]),
        helper.make_node("Mul", ["real", "second"], ["in_text"]),
        helper.make_node("Sub", ["real", "in_text"], ["in_question"]),
        helper.make_node("Unsqueeze", ["ids", "axis1"], ["across"]),
        helper.make_node("Unsqueeze", ["ids", "axis2"], ["down"]),
        helper.make_node("Equal", ["across", "down"], ["same"]),
        helper.make_node("Cast", ["same"], ["alike"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["in_text", "axis1"], ["text_row"]),
        helper.make_node("Unsqueeze", ["in_question", "axis2"], ["question_column"]),
        helper.make_node("Mul", ["alike", "text_row"], ["of_text"]),
        helper.make_node("Mul", ["of_text", "question_column"], ["of_both"]),
        helper.make_node("ReduceSum", ["of_both", "axes"], ["sum"], keepdims=0),
        helper.make_node("Unsqueeze", ["sum", "axis1"], ["count"]),
        helper.make_node("Neg", ["count"], ["against"]),
        helper.make_node("Concat", ["against"] * (classes - 1) + ["count"], ["logits"], axis=1),
    ]
    constants = [
        constant("first_word", np.int64(4)),
        constant("axis1", np.array([1])),
        constant("axis2", np.array([2])),
        constant("axes", np.array([1, 2])),
    ]
    result = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", classes])
    graph = helper.make_graph(nodes, "overlap", given, [result], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    vocabulary = {word: i for i, word in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def overlap(question: str, text: str) -> float:
    asked, told = (x.lower().split() for x in (question, text))
    return float(sum(a == b for a in asked for b in told if a in WORDS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "overlap")


texts = st.lists(st.sampled_from((*WORDS, "RDF", "other", "é", "\ud800")), max_size=9).map(" ".join)


@given(st.lists(st.tuples(texts, texts), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_scores_are_those_of_the_graph_and_of_no_batch(folder: Path, pairs: list[tuple[str, str]]) -> None:
    model = OnnxCrossEncoder(folder, threads=1)
    scores = list(model.score(pairs))
    assert scores == [overlap(*pair) for pair in pairs]
    assert scores == [model.score([pair])[0] for pair in pairs]


@pytest.mark.parametrize(("classes", "kind"), [(2, "INT64"), (1, "INT32")])
def test_two_classes_and_small_numbers(tmp_path: Path, classes: int, kind: str) -> None:
    model = OnnxCrossEncoder(write_model(tmp_path, classes=classes, kind=kind))
    pairs = [("rdf store", "a triple store of rdf"), ("rdf", "red jacket")]
    assert model.score(pairs) == [2.0 * classes, 0.0]


def test_long_texts_are_cut_where_the_model_ends(tmp_path: Path) -> None:
    write_model(tmp_path)
    long = ("rdf", "red " * 600 + "rdf " * 5)
    assert OnnxCrossEncoder(tmp_path).score([long]) == [0.0]
    other = write_model(tmp_path / "short")
    (other / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 8}), encoding="utf-8")
    assert OnnxCrossEncoder(other).score([("rdf", "rdf " * 20)]) == [4.0], "8 with [CLS], [SEP], rdf, [SEP]"


def test_it_ranks_by_its_name(folder: Path) -> None:
    asked = mrag.Question("graph database with RDF reasoning")
    with mrag.demo(model="none") as kg:
        name = f"bm25+cross-encoder:{folder}"
        hits = mrag.ranker(name, kg).rank(asked, 5)
        assert hits == mrag.ranker(name, kg).rank(asked, 5)
        assert {hit.iri for hit in mrag.ranker(name, kg).rank(asked, 50)} == {
            hit.iri for hit in mrag.ranker("bm25", kg).rank(asked, 50)
        }
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score >= 2 and "cross-encoder" in hits[0].reasons[-1]


def test_what_is_no_model_is_said(tmp_path: Path, folder: Path) -> None:
    with mrag.demo(model="none") as kg, pytest.raises(ConfigError, match="needs a folder"):
        mrag.ranker("cross-encoder", kg)
    with pytest.raises(ModelError, match=r"There is no model\.onnx"):
        OnnxCrossEncoder(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes((folder / "model.onnx").read_bytes())
    with pytest.raises(ModelError, match=r"There is no tokenizer\.json"):
        OnnxCrossEncoder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        OnnxCrossEncoder(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    assert OnnxCrossEncoder(tmp_path).score([("rdf", "rdf")]) == [1.0]
    with pytest.raises(ModelError, match="gave \\(1, 3\\)"):
        OnnxCrossEncoder(write_model(tmp_path / "three", classes=3)).score([("rdf", "rdf")])
    names = ("input_ids", "attention_mask", "token_type_ids", "pixels")
    with pytest.raises(ModelError, match=r"it reads .*pixels"):
        OnnxCrossEncoder(write_model(tmp_path / "images", inputs=names))
