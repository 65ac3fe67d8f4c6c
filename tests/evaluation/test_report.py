import json
from functools import partial
from pathlib import Path

import pytest

from mrag.errors import ConfigError
from mrag.evaluation.benchmark import System, index_system, ranker_system, run_system
from mrag.evaluation.metrics import Run, Scored
from mrag.evaluation.report import evaluate
from mrag.index.document_index import DocumentIndex
from mrag.retrieval.rankers import FusedRanker, Hit, Question, SimilarityRanker

QRELS = {f"q{i}": {f"d{i}": 1} for i in range(20)}
GOOD = Run.of_order("good", {f"q{i}": [f"d{i}", "x"] for i in range(20)})
LATE = Run.of_order("late", {f"q{i}": ["x"] * 1 + [f"y{j}" for j in range(8)] + [f"d{i}"] for i in range(20)})
POOR = Run.of_order("poor|", {f"q{i}": ["x", f"d{i}"] if i < 10 else ["x"] for i in range(20)})


def test_systems_are_measured_compared_and_told() -> None:
    given = ([POOR, GOOD, LATE], QRELS, ["MRR", "Hits@10", "P@1"])
    told = partial(evaluate, *given, baseline="poor|", title="T")
    found = told()
    assert [s.means["MRR"].mean for s in found.systems] == pytest.approx([0.25, 1.0, 0.1])
    pairs = {(p.system, p.measure) for p in found.pairs}
    assert pairs == {(s, m) for s in ("good", "late") for m in ("MRR", "Hits@10", "P@1")}
    best = next(p for p in found.pairs if (p.system, p.measure) == ("good", "MRR"))
    assert best.found.better == 20 and best.found.p < 0.001 and best.adjusted >= best.found.p
    shown = found.to_markdown()
    assert "| late | MRR | -0.1500 [" in shown and "poor\\|" in shown
    assert "randomisation test" in shown and "seed 0" in shown and str(found) == shown
    assert "poor|" in found._repr_html_() and "-0.1500 [" in found._repr_html_()
    data = json.loads(json.dumps(found.to_json()))
    assert data["systems"][1]["queries"]["MRR"]["q3"] == 1.0
    assert "queries" not in found.to_json(queries=False)["systems"][0]
    assert found == told()


def test_what_is_missing_is_noted_or_refused() -> None:
    half = Run("half", {q: hits for q, hits in GOOD.hits.items() if q < "q15"})
    notes = evaluate([half], {**QRELS, "none": {"d": 0}}, ["MRR"]).notes
    assert "1 judged queries have no relevant document and are left out." in notes
    assert any(note.startswith("half gives nothing for") for note in notes)
    for systems, qrels, options, words in (
        ([], QRELS, {}, "names"),
        ([GOOD, GOOD], QRELS, {}, "names"),
        ([GOOD], {}, {}, "relevant"),
        ([GOOD], QRELS, {"baseline": "other"}, "no system"),
        ([Run("r", {"z": [Scored("d", 1.0)]})], QRELS, {}, "none of the judged"),
    ):
        with pytest.raises(ConfigError, match=words):
            evaluate(systems, qrels, **options)  # type: ignore[arg-type]


DOCUMENTS = [("ex:1", "red leather shoes"), ("ex:2", "a blue coat"), ("ex:3", "the shoe of leather")]


def index(model: object = None) -> DocumentIndex:
    made = DocumentIndex.create(None, embedder=model)  # type: ignore[arg-type]
    made.sync(DOCUMENTS, extra={})
    return made


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    queries, path = {"1": "shoe", "2": "coat", "3": "leather"}, tmp_path / "run.jsonl"
    asked: list[str] = []
    stop = True

    def search(text: str, k: int) -> list[Scored]:
        if stop and len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(text)
        return [Scored("ex:" + text, 0.1 + 0.2)]

    with pytest.raises(KeyboardInterrupt):
        run_system(System("x", search), queries, journal=path)
    stop = False
    run = run_system(System("x", search), queries, journal=path)
    assert asked == ["shoe", "coat", "leather"]
    assert run == run_system(System("x", search), queries)
    for system, given in (
        (System("x", search, about="a new index"), queries),
        (System("y", search), queries),
        (System("y", search), {**queries, "4": "hat"}),
    ):
        asked.clear()
        run_system(system, given, journal=path)
        assert len(asked) == len(given)
    with pytest.raises(ConfigError, match="k is 1"):
        run_system(System("y", search), queries, k=0)


def test_the_systems_of_an_index_rank_as_the_index_does() -> None:
    from mrag.index.embedding import embedder

    files = index(embedder("wordllama"))
    for kind, mode in (("bm25", "bm25"), ("dense", "dense"), ("hybrid", "hybrid")):
        system = index_system(files, kind)
        expected = [m.doc_id for m in files.search("leather shoe", 3, mode=mode)]  # type: ignore[arg-type]
        assert [hit.doc for hit in system.search("leather shoe", 3)] == expected
    thesis = index_system(files, "bm25-thesis").search("leather shoe", 3)
    assert [hit.doc for hit in thesis] == ["ex:3", "ex:1"]
    with pytest.raises(ConfigError, match="no ranker"):
        index_system(files, "bm42")
    with pytest.raises(ConfigError, match="no vectors"):
        index_system(index(), "dense")
    one, other = index_system(index(), "bm25"), DocumentIndex.create(None, embedder=None)
    other.sync(DOCUMENTS[:2], extra={})
    assert one.about == index_system(index(), "bm25").about != index_system(other, "bm25").about


def test_any_ranker_can_be_measured(images: object) -> None:
    class Backwards:
        def rank(self, question: Question, k: int) -> list[Hit]:
            return [Hit("ex:b", 0.1, 1), Hit("ex:a", 0.9, 2)][:k]

    assert [h.doc for h in ranker_system("b", Backwards()).search("x", 5)] == ["ex:b", "ex:a"]
    from mrag.graph.kg import KnowledgeGraph
    from mrag.index.similarity import SimilarityIndexes

    assert isinstance(images, KnowledgeGraph)
    SimilarityIndexes.of(images).build("main", model="none")
    fused = FusedRanker([SimilarityRanker(images, mode="bm25"), SimilarityRanker(images)])
    run = run_system(ranker_system("fused", fused), {"1": "jacket"}, 5)
    assert [h.doc for h in run.hits["1"]] == [h.iri for h in fused.rank(Question("jacket"), 5)]
