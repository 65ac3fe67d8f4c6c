"""Configurations of DL-Learner, of all its versions, become the learning problems that they state."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.cel import find_problems, open_knowledge_base, read_configuration, read_problems
from mrag.cel.benchmark import BenchmarkSetup, run_benchmark
from mrag.errors import LearningProblemError, LoadError

FOO = "http://localhost/foo#"
FACTS = """male(stefan). male(markus). male(heinz). female(anna). female(gabi).
hasChild(stefan, markus). hasChild(markus, anna). hasChild(gabi, anna).
"""
NEW = """/** A father */
prefixes = [ ("ex", "http://localhost/foo#"), ("f","urn:f:") ]
ks.type = "KB File"
ks.fileName = "family.kb" // beside it
reasoner.type = "closed world reasoner"
reasoner.sources = { ks }
lp.type = "posNegStandard"
lp.positiveExamples = { "ex:stefan", "ex:markus" }
lp.negativeExamples = {
"ex:heinz", # a comment
"ex:gabi" }
lp.accuracyMethod = measure
op.costs = [("a",1.0),("b",0.5)]
h.expansionPenaltyFactor = 0.2
alg.type = "ocel"
alg.operators = -
alg.startClasses = {}
alg.writeSearchTree = true"""
OLD = """import("family.kb", "KB");
reasoner = dig;
refinement.noise = -5;
hidePrefix = "http://example.com/father#";
+stefan
+"http://localhost/foo#markus"
-heinz -gabi
"""
OLDEST = f"""showRoles = true;
father = (male AND EXISTS hasChild.TOP).
{FACTS}
+good(stefan). +good(markus).
-good(heinz). -good(gabi).
"""


def written(folder: Path, text: str, name: str = "a.conf") -> Path:
    (folder / "family.kb").write_text(FACTS, encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "ignored", "sources"),
    [
        (NEW, ("reasoner", "op", "h", "alg"), ("family.kb",)),
        (OLD, ("reasoner", "refinement", "hidePrefix"), ("family.kb",)),
        (OLDEST, ("showRoles",), ("a.conf",)),
    ],
)
def test_every_form_is_the_same_problem_and_solved(
    tmp_path: Path, text: str, ignored: tuple[str, ...], sources: tuple[str, ...]
) -> None:
    file = written(tmp_path, text)
    problem = read_problems(file)["a"]
    assert problem.positives == (FOO + "markus", FOO + "stefan")
    assert problem.negatives == (FOO + "gabi", FOO + "heinz")
    found = read_configuration(file)
    assert found.ignored == ignored
    assert tuple(s.name for s in found.sources) == sources
    sets, unread = find_problems(file)
    assert not unread and sets[0].ignored == ignored
    outcome = next(run_benchmark(sets, [BenchmarkSetup(seconds=5, folds=0)]))
    assert outcome.f1 == 1.0 and outcome.error == ""


def test_positive_examples_alone_stand_against_all_others(tmp_path: Path) -> None:
    text = NEW.replace("posNegStandard", "posonlylp")
    file = written(tmp_path, text)
    with pytest.raises(LearningProblemError, match="from its knowledge base"):
        read_problems(file)
    problem = find_problems(file)[0][0].problems["a"]
    assert problem.positives == (FOO + "markus", FOO + "stefan")
    assert problem.negatives == tuple(FOO + x for x in ("anna", "gabi", "heinz"))
    older = written(tmp_path, "problem = posOnlyDefinition;\n" + OLD.replace("-heinz -gabi", ""))
    assert find_problems(older)[0][0].problems["a"] == problem


def test_a_class_stands_against_the_others_of_its_superclasses(tmp_path: Path) -> None:
    (tmp_path / "more.kb").write_text("father SUB male. father(stefan). father(markus).", encoding="utf-8")
    text = """baseURI = "http://localhost/foo#"
    ks1.fileName = "family.kb"
    ks2.type = "kbfile"
    ks2.url = "more.kb"
    unused.type = "SPARQL"
    reasoner.sources = { ks1, ks2 }
    lp.type = "clp"
    lp.classToDescribe = "father"
    """
    file = written(tmp_path, text)
    assert [s.name for s in read_configuration(file).sources] == ["family.kb", "more.kb"]
    with open_knowledge_base(tmp_path / "family.kb", tmp_path / "more.kb") as kg:
        problem = read_problems(file, kg)["a"]
    assert (problem.positives, problem.negatives) == ((FOO + "markus", FOO + "stefan"), (FOO + "heinz",))
    assert problem.ignored == (FOO + "father",)
    assert find_problems(file)[0][0].problems["a"] == problem


def test_two_problems_have_their_own_names(tmp_path: Path) -> None:
    found = read_problems(written(tmp_path, OLDEST + "+bad(heinz). -bad(stefan)."))
    assert {name: len(p.examples) for name, p in found.items()} == {"good": 4, "bad": 2}


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ('a.b = "x"\nlp.type = ', "Expected a value, found the end", 2),
        ('lp.positiveExamples = { "a" "b" }', 'Expected ",", found "b"', 1),
        ('lp.positiveExamples = { "a" }\nlp.type = "fuzzyPosNeg"', "type 'fuzzyPosNeg' are not supported", 2),
        ('lp.positiveExamples = { "a" }\n\nlp.fuzzyExamples = { "b" }', "lp.fuzzyExamples is not supp", 3),
        ('ks.type = "SPARQL endpoint"\nr.sources = {ks}\nlp.positiveExamples = {"a"}', "SPARQL endpoint", 1),
        ('\nr.sources = { ks }\nlp.positiveExamples = {"a"}', "ks names no file", 2),
        ('ks.url = "http://a.b/c.owl"\nlp.positiveExamples = {"a"}', "Only files are read", 1),
        ('import("http://a.b/sparql", "SPARQL");\n+a', "'SPARQL' are not read", 1),
        ('import("a.owl")\n+a', 'Expected ";", found "+"', 2),
        ("+good(a)\n-good(b).", 'Expected ".", found "-"', 2),
        ("male(stefan)\n", 'Expected ".", found the end', 2),
        ("a = ?", "cannot stand here", 1),
        ("+", "Expected an example", 1),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(
    tmp_path: Path, text: str, words: str, line: int
) -> None:
    with pytest.raises(LoadError) as refused:
        read_configuration(written(tmp_path, text))
    assert words in refused.value.message and refused.value.line == line
    assert refused.value.file == str(tmp_path / "a.conf")


def test_no_examples_are_no_problem(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="No examples"):
        read_configuration(written(tmp_path, 'ks.fileName = "family.kb"\nalg.type = "ocel"'))
    with pytest.raises(LoadError, match="cannot be read"):
        read_configuration(tmp_path / "nowhere.conf")
    _, unread = find_problems(written(tmp_path, 'import("lost.owl");\n+a\n-b'))
    assert "lost.owl is not there" in unread[0].reason


words = st.text(st.sampled_from("abcxyzé-_ ./#"), min_size=1, max_size=8).filter(lambda x: ":" not in x)


@given(st.sets(words, min_size=2, max_size=6), st.booleans(), st.booleans())
def test_all_names_come_back_whatever_the_form(names: set[str], old: bool, semicolons: bool) -> None:
    from tempfile import TemporaryDirectory

    ordered = sorted(names)
    positive, negative = ordered[:1], ordered[1:]
    end = ";" if semicolons or old else ""
    if old:
        lines = [f'+"urn:x:{x}"' for x in positive] + [f'-"urn:x:{x}"' for x in negative]
    else:
        quoted = [", ".join(f'"p:{x}"' for x in some) for some in (positive, negative)]
        lines = ['prefixes = [("p","urn:x:")]' + end]
        kinds = zip(("positive", "negative"), quoted, strict=True)
        lines += [f"q.{kind}Examples={{{some}}}{end}" for kind, some in kinds]
    with TemporaryDirectory() as folder:
        (Path(folder) / "a.conf").write_text("\n".join(lines), encoding="utf-8")
        found = read_problems(Path(folder) / "a.conf")["a"]
    assert found.positives == tuple("urn:x:" + x for x in positive)
    assert found.negatives == tuple("urn:x:" + x for x in negative)
