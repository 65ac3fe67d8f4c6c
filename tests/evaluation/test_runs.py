import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import LoadError
from mrag.evaluation.benchmark import RunJournal
from mrag.evaluation.metrics import Run, Scored, per_query, read_qrels, read_run, write_qrels, write_run
from mrag.evaluation.questions import read_collection, read_documents, read_queries
from tests.cases import cases
from tests.conftest import shared_data

IDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8
).filter(lambda text: text.split() == [text])
NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([-3.4028234e38, 1e299, 1e300]))
SCORES = st.dictionaries(IDS, st.dictionaries(IDS, NUMBERS, min_size=1, max_size=6), min_size=1)


@given(SCORES)
@settings(max_examples=80, deadline=None)
def test_a_run_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, scores: dict) -> None:
    path = tmp_path_factory.mktemp("runs") / "run.trec"
    run = Run.of_scores("my run", scores)
    write_run(run, path)
    again = read_run(path)
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
@settings(max_examples=50, deadline=None)
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
@settings(max_examples=60, deadline=None)
def test_judgements_are_read_as_written(tmp_path_factory: pytest.TempPathFactory, qrels: dict) -> None:
    path = tmp_path_factory.mktemp("qrels") / "qrels.tsv"
    write_qrels(qrels, path)
    assert read_qrels(path) == qrels


def test_the_order_of_a_run_survives_the_file_and_scores_decide_over_its_ranks(tmp_path: Path) -> None:
    path = tmp_path / "x.trec"
    write_run(Run("x", {"1": [Scored("b", 0.1), Scored("a", 0.9)]}), path)
    assert [hit.doc for hit in read_run(path).hits["1"]] == ["b", "a"]
    path.write_text("1 Q0 a 1 0.5 me\n1 Q0 b 2 0.7 me\n1 Q0 0 3 0.5 me\n")
    assert [hit.doc for hit in read_run(path).hits["1"]] == ["b", "0", "a"]


READERS = {"run": read_run, "qrels": read_qrels, "queries": read_queries, "documents": read_documents}


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
        write_qrels({"1 2": {"a": 1}}, tmp_path / "x")


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
        write_qrels({"1": {"d": 1}}, tmp_path / "qrels" / f"{split}.tsv")
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
    write_qrels({"7": {"d": 1}}, tmp_path / "qrels" / "test.tsv")
    with pytest.raises(Exception, match=r"1 judged queries are not in queries\.jsonl, such as 7"):
        read_collection(tmp_path)


def test_a_second_process_cannot_write_a_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="this system has no POSIX locks")
    path = tmp_path / "run.jsonl"
    second = "import sys; from pathlib import Path; from mrag.evaluation.benchmark import RunJournal; "
    second += "RunJournal(Path(sys.argv[1]), {'k': 1}).close()"
    command = [sys.executable, "-c", second, str(path)]
    with RunJournal(path, {"k": 1}) as journal:
        journal.add({"query": "1"})
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and "Another process is writing the file." in refused.stderr
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    with RunJournal(path, {"k": 1}) as journal:
        assert journal.records == [{"query": "1"}]
