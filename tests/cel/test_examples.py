"""Learning problems: drawn from a graph, and read from the files of published benchmarks."""

from pathlib import Path

import pytest

import mrag
from mrag.cel import class_problem, read_problems, sampled_negatives
from mrag.errors import LearningProblemError, LoadError
from tests.cases import cases
from tests.cel.facts import E, put
from tests.conftest import shared_data

FOO = "http://localhost/foo#"
CONF = """/* lp.positiveExamples = { "x" } */
prefixes = [ ("ex", "http://localhost/foo#"), ("f","urn:f:") ]  // two
ks.fileName = "family.kb"
lp.type = "posNegStandard"
lp.positiveExamples = { "ex:stefan", "markus" }
lp.negativeExamples = {
"f:heinz", # a comment
"http://a.b/c#gabi" }
alg.type = "ocel"
"""


@pytest.mark.parametrize(("file", "sizes"), cases(__file__, "published"))
def test_published_problems_are_read(file: str, sizes: int) -> None:
    assert len(read_problems(shared_data("cel_kbs/" + file))) == sizes


def test_names_in_a_configuration_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text(CONF, encoding="utf-8")
    (problem,) = read_problems(tmp_path / "a.conf").values()
    assert problem.positives == (FOO + "markus", FOO + "stefan")
    assert problem.negatives == ("http://a.b/c#gabi", "urn:f:heinz")


@pytest.mark.parametrize(("name", "text", "words"), cases(__file__, "refused"))
def test_other_files_are_refused_by_name(tmp_path: Path, name: str, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="latin-1")
    with pytest.raises(LoadError, match=words) as refused:
        read_problems(tmp_path / name)
    assert Path(str(refused.value.file)).resolve() == (tmp_path / name).resolve()


def test_negative_examples_are_drawn_from_the_others() -> None:
    with mrag.demo(model="none") as kg:
        ex = kg.prefixes["ex"]
        drawn = sampled_negatives(kg, [ex + "Virtuoso"], seed=3)
        assert drawn == sampled_negatives(kg, [ex + "Virtuoso"], seed=3)
        assert drawn != sampled_negatives(kg, [ex + "Neo4j"])
        assert len(drawn) == 20 and ex + "Virtuoso" not in drawn
        few = class_problem(kg, ex + "Vendor", most=5)
        assert (len(few.positives), len(few.negatives), few.ignored) == (5, 5, (ex + "Vendor",))
        with pytest.raises(LearningProblemError, match="no members"):
            class_problem(kg, ex + "Nothing")
    with mrag.connect() as kg:
        put(kg, ("a", "a", "A"), ("b", "a", "A"))
        with pytest.raises(LearningProblemError, match="All individuals"):
            class_problem(kg, E + "A")
