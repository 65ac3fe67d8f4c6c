"""Measures by their definitions and those of scipy; runs and judgements as files; reports."""

import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, LoadError
from mrag.evaluation import metrics
from mrag.evaluation.benchmark import System, index_system, ranker_system, run_system
from mrag.evaluation.metrics import Run, Scored, compare, evaluate, interval, per_query, write_run
from mrag.evaluation.questions import read_collection, read_documents, read_queries
from mrag.graph.kg import KnowledgeGraph
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.rankers import FusedRanker, Hit, Question, SimilarityRanker
from mrag.storage.files import RunJournal
from tests.cases import cases
from tests.conftest import shared_data

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
    for system, texts in (
        (System("x", search, about="a new index"), queries),
        (System("y", search), queries),
        (System("y", search), {**queries, "4": "hat"}),
    ):
        asked.clear()
        run_system(system, texts, journal=path)
        assert len(asked) == len(texts)
    with pytest.raises(ConfigError, match="k is 1"):
        run_system(System("y", search), queries, k=0)


def test_the_systems_of_an_index_rank_as_the_index_does() -> None:
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
    assert isinstance(images, KnowledgeGraph)
    SimilarityIndexes.of(images).build("main", model="none")
    fused = FusedRanker([SimilarityRanker(images, mode="bm25"), SimilarityRanker(images)])
    run = run_system(ranker_system("fused", fused), {"1": "jacket"}, 5)
    assert [h.doc for h in run.hits["1"]] == [h.iri for h in fused.rank(Question("jacket"), 5)]


IDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8
).filter(lambda text: text.split() == [text])
NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([-3.4028234e38, 1e299, 1e300]))
SCORES = st.dictionaries(IDS, st.dictionaries(IDS, NUMBERS, min_size=1, max_size=6), min_size=1)


@given(SCORES)
@settings(max_examples=80)
def test_a_run_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, scores: dict) -> None:
    path = tmp_path_factory.mktemp("runs") / "run.trec"
    run = Run.of_scores("my run", scores)
    write_run(run, path)
    again = metrics.read_run(path)
    assert again.name == "my_run" and list(again.hits) == sorted(run.hits)
    for query, hits in again.hits.items():
        given_hits = run.hits[query]
        assert [hit.doc for hit in hits] == [hit.doc for hit in given_hits]
        with np.errstate(over="ignore"):
            wanted, read = (np.array([hit.score for hit in some], np.float32) for some in (given_hits, hits))
        assert (read[1:] < read[:-1]).all() and np.isfinite(read).all()
        if np.isfinite(wanted).all() and (wanted[1:] < wanted[:-1]).all():
            assert list(hits) == list(given_hits)
    before = path.read_bytes()
    write_run(again, path)
    assert path.read_bytes() == before


DOCS = st.sampled_from([f"d{n}" for n in range(12)])
EQUAL = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 1.5, -2.0, 1e-45, 16777216.0, 16777217.0])
TIED = st.dictionaries(st.sampled_from("qrs"), st.dictionaries(DOCS, EQUAL, min_size=1), min_size=1)
GRADES = st.fixed_dictionaries(dict.fromkeys("qrs", st.dictionaries(DOCS, st.integers(0, 3), min_size=1)))


@given(TIED, GRADES)
@settings(max_examples=50)
def test_others_measure_the_same(tmp_path_factory: pytest.TempPathFactory, scores: dict, qrels: dict) -> None:
    theirs_by = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    folder = tmp_path_factory.mktemp("measured")
    run = Run.of_scores("ours", scores)
    write_run(run, folder / "run.trec")
    lines = [f"{q} 0 {doc} {grade}\n" for q, grades in qrels.items() for doc, grade in grades.items()]
    (folder / "qrels").write_text("".join(lines))
    names = {"RR": "MRR", "AP": "MAP", "nDCG@3": "nDCG@3", "P@2": "P@2"}
    judged = list(theirs_by.read_trec_qrels(str(folder / "qrels")))
    read = list(theirs_by.read_trec_run(str(folder / "run.trec")))
    theirs: dict[str, dict[str, float]] = {name: {} for name in names.values()}
    for found in theirs_by.iter_calc(list(map(theirs_by.parse_measure, names)), judged, read):
        theirs[names[str(found.measure)]][found.query_id] = found.value
    for name, values in per_query(run, qrels, list(theirs)).items():
        assert values == pytest.approx({q: theirs[name].get(q, 0.0) for q in values}, abs=1e-6), name


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.integers(0, 3), min_size=1, max_size=5), min_size=1))
@settings(max_examples=60)
def test_judgements_are_read_as_written(tmp_path_factory: pytest.TempPathFactory, qrels: dict) -> None:
    path = tmp_path_factory.mktemp("qrels") / "qrels.tsv"
    metrics.write_qrels(qrels, path)
    assert metrics.read_qrels(path) == qrels


def test_the_order_of_a_run_survives_the_file_and_scores_decide_over_its_ranks(tmp_path: Path) -> None:
    path = tmp_path / "x.trec"
    write_run(Run("x", {"1": [Scored("b", 0.1), Scored("a", 0.9)]}), path)
    assert [hit.doc for hit in metrics.read_run(path).hits["1"]] == ["b", "a"]
    path.write_text("1 Q0 a 1 0.5 me\n1 Q0 b 2 0.7 me\n1 Q0 0 3 0.5 me\n")
    assert [hit.doc for hit in metrics.read_run(path).hits["1"]] == ["b", "0", "a"]


READERS = {
    "run": metrics.read_run, "qrels": metrics.read_qrels, "queries": read_queries,
    "documents": read_documents,
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "text", "line", "words"), cases(__file__, "malformed"))
def test_files_that_are_not_well_formed_name_the_line(
    tmp_path: Path, kind: str, name: str, text: str | None, line: int | None, words: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(LoadError, match=words) as caught:
        list(READERS[kind](tmp_path / name))
    assert (caught.value.file, caught.value.line) == (str(tmp_path / name), line)


def test_blanks_cannot_stand_in_the_files(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="cannot stand"):
        write_run(Run.of_order("x", {"1": ["a b"]}), tmp_path / "x")
    with pytest.raises(LoadError, match="cannot stand"):
        metrics.write_qrels({"1 2": {"a": 1}}, tmp_path / "x")


def test_cranfield_is_read_as_it_is() -> None:
    found = read_collection(shared_data("cranfield"))
    assert (len(found.documents), len(found.queries), len(found.qrels)) == (1400, 225, 225)
    assert sum(grade > 0 for grades in found.qrels.values() for grade in grades.values()) == 1612
    assert found.queries["1"].startswith("what similarity laws must be obeyed")
    assert found.documents["1"].count("experimental investigation of the aerodynamics of a wing") == 2
    assert len(found.notes) == 1 and "in their order" in found.notes[0]


def test_a_beir_folder_with_splits(tmp_path: Path) -> None:
    asked = '{"_id": "1", "text": "a  coat"}\n\n{"_id": "2", "text": "hat"}\n'
    (tmp_path / "queries.jsonl").write_text(asked)
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "title": "A", "text": "b c", "metadata": {}}\n')
    for split in ("dev", "test"):
        metrics.write_qrels({"1": {"d": 1}}, tmp_path / "qrels" / f"{split}.tsv")
    found = read_collection(tmp_path)
    assert found.documents == {"d": "A b c"} and found.queries["1"] == "a coat"
    assert found.notes == ("1 of 2 queries have no judgements and are left out.",)
    assert read_collection(tmp_path, split="dev").qrels == {"1": {"d": 1}}
    with pytest.raises(Exception, match="no judgements 'train'; there are: dev, test"):
        read_collection(tmp_path, split="train")


def test_a_trec_folder_needs_one_file_of_each(tmp_path: Path) -> None:
    topic = "<top>\n<num> Number: 301\n<title> Topic: heat &amp; flow\n<desc> x </top>"
    (tmp_path / "topics").write_text(topic)
    with pytest.raises(Exception, match="One file of judgements is needed"):
        read_collection(tmp_path)
    (tmp_path / "qrels.txt").write_text("301 0 D1 1\n")
    document = "<DOC><DOCNO> D1 </DOCNO><TITLE>Heat</TITLE> <x>y</x> <TEXT>&lt;flow&gt;</TEXT></DOC>"
    (tmp_path / "docs").write_text(document)
    found = read_collection(tmp_path)
    assert found.queries == {"301": "heat & flow"} and found.documents == {"D1": "Heat <flow>"}


def test_queries_of_other_judgements_are_refused(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "coat"}\n')
    metrics.write_qrels({"7": {"d": 1}}, tmp_path / "qrels" / "test.tsv")
    with pytest.raises(Exception, match=r"1 judged queries are not in queries\.jsonl, such as 7"):
        read_collection(tmp_path)


def test_a_second_process_cannot_write_a_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="this system has no POSIX locks")
    path = tmp_path / "run.jsonl"
    second = "import sys; from pathlib import Path; from mrag.storage.files import RunJournal; "
    second += "RunJournal(Path(sys.argv[1]), {'k': 1}).close()"
    command = [sys.executable, "-c", second, str(path)]
    with RunJournal(path, {"k": 1}) as journal:
        journal.add({"query": "1"})
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and "Another process is writing the file." in refused.stderr
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    with RunJournal(path, {"k": 1}) as journal:
        assert journal.records == [{"query": "1"}]


NAMES = [f"d{i}" for i in range(12)]
QUERIES = ["q1", "q2", "q3"]
GRADED = st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 3), max_size=10)
JUDGED = st.fixed_dictionaries(dict.fromkeys(QUERIES, GRADED))
ORDERS = st.dictionaries(st.sampled_from(QUERIES), st.lists(st.sampled_from(NAMES), unique=True))


def by_hand(name: str, ranking: list[str], grades: dict[str, int]) -> float:
    kind, _, cut = name.partition("@")
    k = int(cut) if cut else len(ranking)
    relevant = {doc for doc, grade in grades.items() if grade > 0}
    ranks = [i for i, doc in enumerate(ranking, 1) if doc in relevant]
    if kind == "MRR":
        return 1 / ranks[0] if ranks else 0.0
    if kind == "MAP":
        return sum(n / rank for n, rank in enumerate(ranks, 1)) / len(relevant)
    if kind == "P":
        return sum(rank <= k for rank in ranks) / k
    if kind == "R":
        return sum(rank <= k for rank in ranks) / len(relevant)
    if kind == "Hits":
        return float(any(rank <= k for rank in ranks))
    if kind == "HitsExclusive":
        return float(any(rank < k for rank in ranks))
    gains = [max(0, grades.get(doc, 0)) for doc in ranking[:k]]
    best = sorted((max(0, grade) for grade in grades.values()), reverse=True)[:k]
    discounted = [sum(g / math.log2(i + 1) for i, g in enumerate(gs, 1)) for gs in (gains, best)]
    return discounted[0] / discounted[1]


CHECKED = ["MRR", "MAP", "nDCG@3", "nDCG@10", "P@1", "P@5", "P@100", "R@2", "R@100", "Hits@1", "Hits@3",
         "HitsExclusive@1", "HitsExclusive@3"]  # fmt: skip


@given(JUDGED, ORDERS)
@settings(max_examples=150)
def test_measures_are_as_defined(qrels: dict[str, dict[str, int]], orders: dict[str, list[str]]) -> None:
    values = per_query(Run.of_order("x", orders), qrels, CHECKED)
    queries = [q for q in QUERIES if any(grade > 0 for grade in qrels[q].values())]
    assert metrics.judged_queries(qrels) == queries
    for name in CHECKED:
        expected = {q: by_hand(name, orders.get(q, []), qrels[q]) for q in queries}
        assert values[name] == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize(
    ("run", "qrels", "measures"),
    [
        # The order counts, and not the scores.
        (Run("x", {"1": [Scored("b", 0.1), Scored("a", 0.9)]}), {"1": {"b": 1}}, {"MRR": 1.0, "Hits@1": 1.0}),
        # Equal scores are in order of ID.
        (Run.of_scores("x", {"1": dict.fromkeys("cab", 1.0)}), {"1": {"b": 1}}, {"MRR": 0.5}),
        (Run.of_scores("x", {"1": dict.fromkeys("bca", 1.0)}), {"1": {"b": 1}}, {"MRR": 0.5}),
        # The precision of fewer than k results is by k.
        (Run.of_order("x", {"1": "ab"}), {"1": {"a": 1, "b": 1}}, {"P@10": 0.2, "P@2": 1.0}),
    ],
)
def test_one_query_by_hand(run: Run, qrels: dict[str, dict[str, int]], measures: dict[str, float]) -> None:
    assert per_query(run, qrels, list(measures)) == {m: {"1": value} for m, value in measures.items()}


def test_a_query_without_relevant_documents_is_left_out_and_one_without_results_counts_nought() -> None:
    run = Run.of_order("x", {"1": ["a"], "2": ["a"], "9": ["a"]})
    qrels = {"1": {"a": 1}, "2": {"a": 0}, "3": {"b": 2}}
    values = per_query(run, qrels, ["R@10", "MAP", "MRR"])
    assert all(found == {"1": 1.0, "3": 0.0} for found in values.values())


def test_the_two_counts_of_hits_differ_at_rank_k_alone() -> None:
    run = Run.of_order("x", {str(n): [*NAMES[1:n], NAMES[0]] for n in range(1, 12)})
    found = per_query(run, {str(n): {NAMES[0]: 1} for n in range(1, 12)}, ["Hits@10", "HitsExclusive@10"])
    assert [q for q, hit in found["Hits@10"].items() if hit != found["HitsExclusive@10"][q]] == ["10"]
    assert per_query(run, {"1": {NAMES[0]: 1}}, ["HitsExclusive@1"]) == {"HitsExclusive@1": {"1": 0.0}}


@pytest.mark.parametrize("name", ["", "MRR@10", "nDCG", "P@0", "P@x", "F1@10", "Hits@-1", "R@10x"])
def test_what_is_no_measure_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no measure"):
        metrics.Measure.parse(name)


def test_names_are_read_in_any_case_and_written_in_one() -> None:
    given = ("ndcg@10", "recall@5", "map", "HITSEXCLUSIVE@3")
    assert [str(metrics.Measure.parse(n)) for n in given] == ["nDCG@10", "R@5", "MAP", "HitsExclusive@3"]


RANDOM = np.random.default_rng(7)
VALUES = RANDOM.beta(0.5, 0.8, 180)
OTHERS = np.clip(VALUES + RANDOM.normal(0.03, 0.2, 180), 0, 1)


def test_the_interval_is_that_of_scipy() -> None:
    import scipy.stats  # takes a second, which is too long for every worker

    found = interval(VALUES.tolist())
    theirs = scipy.stats.bootstrap((VALUES,), np.mean, method="percentile", n_resamples=10_000, batch=500)
    assert found.mean == pytest.approx(VALUES.mean())
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.004)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.004)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    knobs = metrics.Resampling(resamples=400)
    covered = 0
    for _ in range(300):
        found = interval(RANDOM.binomial(1, 0.3, 80).tolist(), knobs)
        covered += found.low <= 0.3 <= found.high
    assert 270 <= covered <= 298


@pytest.mark.parametrize("n", [8, 180])
def test_the_test_is_that_of_scipy(n: int) -> None:
    import scipy.stats

    first, second = VALUES[:n], OTHERS[:n]
    found = compare(first.tolist(), second.tolist())

    def mean(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(b - a, axis=axis)

    theirs = scipy.stats.permutation_test(
        (first, second), mean, permutation_type="samples", vectorized=True, n_resamples=9999, batch=500
    )
    assert found.p == pytest.approx(theirs.pvalue, abs=0.012 if n > 14 else 1e-9)
    assert found.difference.mean == pytest.approx((second - first).mean())
    assert (found.better, found.worse) == ((second > first).sum(), (second < first).sum())


def test_equal_systems_clear_differences_and_which_comes_first() -> None:
    one, other = compare(VALUES.tolist(), OTHERS.tolist()), compare(OTHERS.tolist(), VALUES.tolist())
    assert one.p == other.p and one.difference.mean == pytest.approx(-other.difference.mean)
    same = compare(VALUES.tolist(), VALUES.tolist())
    assert (same.p, same.better, same.worse) == (1.0, 0, 0)
    assert compare([0.0] * 100, [1.0] * 100).p == pytest.approx(1 / 10_001)
    assert compare([0.0], [1.0]).p == 1.0


def test_the_same_seed_gives_the_same_figures_and_another_one_near_ones() -> None:
    assert interval(VALUES.tolist()) == interval(VALUES.tolist())
    other = interval(VALUES.tolist(), metrics.Resampling(seed=1))
    assert other != interval(VALUES.tolist()) and other.low == pytest.approx(interval(VALUES).low, abs=0.01)


def test_holm_never_makes_a_p_value_smaller_and_keeps_their_order() -> None:
    values = RANDOM.random(20).tolist()
    adjusted = metrics.holm(values)
    assert all(a >= p for a, p in zip(adjusted, values, strict=True)) and max(adjusted) <= 1
    assert sorted(adjusted) == [adjusted[i] for i in np.argsort(values)]
    assert metrics.holm([]) == []


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(ConfigError, match="no query"):
        interval([])
    with pytest.raises(ConfigError, match="pair"):
        compare([1.0], [])
    for wrong in ({"resamples": 5}, {"level": 1.0}):
        with pytest.raises(ConfigError, match="resample"):
            metrics.Resampling(**wrong)  # type: ignore[arg-type]
