"""Concepts as a scikit-learn classifier."""

import doctest
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import mrag
import mrag.cel as cel
from mrag.cel import instances_among, to_dl
from mrag.errors import ConfigError, LearningProblemError
from tests.cases import cases

EX = "https://w3id.org/mrag/demo/products#"

# scikit-learn takes seconds to import, so the worker that runs these tests does so, not every one.


@pytest.fixture(scope="module")
def kg() -> Iterator[mrag.KnowledgeGraph]:
    with mrag.demo(model="none") as found:
        yield found


@pytest.fixture(scope="module")
def data(kg: mrag.KnowledgeGraph) -> tuple[list[str], list[str]]:
    """Products, and whether they are triple stores."""
    rows = kg.query("SELECT ?x { ?x a ex:Product }").column("x")  # type: ignore[union-attr]
    iris = sorted(map(str, rows))
    stores = {str(x) for x in kg.query("SELECT ?x { ?x a ex:TripleStore }").column("x")}  # type: ignore[union-attr]
    return iris, ["store" if iri in stores else "other" for iri in iris]


def test_the_example_that_is_documented_runs() -> None:
    done = doctest.testmod(import_module("mrag.cel.classifier"))
    assert done.attempted > 0 and done.failed == 0


def test_what_is_learnt_is_predicted(kg: mrag.KnowledgeGraph, data: tuple[list[str], list[str]]) -> None:
    from sklearn.metrics import f1_score

    X, y = data
    model = cel.ConceptClassifier(kg, seconds=3).fit(X, y)
    assert list(model.classes_) == ["other", "store"] and "TripleStore" in to_dl(model.expression_)
    found = model.predict(np.array(X)[:, None])
    held = instances_among(kg, model.expression_, X)
    assert [label == "store" for label in found] == [iri in held for iri in X]
    assert model.score(X, y) == 1.0 == f1_score(y, found, pos_label="store")


def test_model_selection_works(kg: mrag.KnowledgeGraph, data: tuple[list[str], list[str]]) -> None:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X, y = np.array(data[0]), np.array(data[1]) == "store"
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = cel.ConceptClassifier(kg, seconds=2)
    assert cross_val_score(model, X, y, cv=folds, scoring="f1").mean() == 1.0
    assert (cross_val_predict(model, X, y, cv=folds) == y).all()
    grid = GridSearchCV(model, {"settings": [{"max_length": 1}, {"max_length": 5}]}, cv=folds).fit(X, y)
    assert grid.best_score_ == 1.0 and grid.best_estimator_.kg is kg
    expanded = make_pipeline(FunctionTransformer(lambda x: [EX + name for name in x]), model)
    names = [iri.removeprefix(EX) for iri in X]
    assert expanded.fit(names, y).score(names, y) == 1.0


def test_it_is_an_estimator(kg: mrag.KnowledgeGraph) -> None:
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError, SkipTestWarning
    from sklearn.utils import estimator_checks, get_tags

    model = cel.ConceptClassifier(kg, "celoe", seconds=1, settings={"max_length": 3})
    # Those that scikit-learn itself runs on what is no matrix of numbers.
    with pytest.warns(SkipTestWarning):
        results = estimator_checks.check_estimator(model, on_fail=None, on_skip=None)
    assert results and all(found["status"] == "passed" for found in results), results
    for name in (
        "check_do_not_raise_errors_in_init_or_set_params", "check_estimator_repr",
        "check_estimator_tags_renamed", "check_get_params_invariance", "check_mixin_order",
        "check_no_attributes_set_in_init", "check_parameters_default_constructible",
        "check_valid_tag_types",
    ):  # fmt: skip
        # The others give numbers for samples, or copy what a graph is open by.
        check: Any = getattr(estimator_checks, name)
        check("ConceptClassifier", model)
    assert model.set_params(seconds=2).get_params()["seconds"] == 2
    copy = clone(model)
    assert copy is not model and copy.kg is kg and copy.get_params() == model.get_params()
    tags = get_tags(model)
    assert tags.estimator_type == "classifier" and tags.input_tags.string
    assert not tags.classifier_tags.multi_class
    with pytest.raises(NotFittedError):
        model.predict([EX + "GraphDB"])


def test_what_the_other_checks_ask_of_numbers_holds_for_iris(
    kg: mrag.KnowledgeGraph, data: tuple[list[str], list[str]]
) -> None:
    from sklearn.base import clone
    from sklearn.exceptions import DataConversionWarning

    X, y = np.array(data[0]), np.array(data[1])
    model = cel.ConceptClassifier(kg, "celoe", seconds=2)
    before, given = model.get_params(), (X.copy(), y.copy())
    assert model.fit(X, y) is model  # check_estimators_fit_returns_self
    assert model.get_params() == before  # check_estimators_overwrite_params
    assert (given[0] == X).all() and (y == given[1]).all()
    found, fitted = model.predict(X), dict(vars(model))
    assert vars(model) == fitted  # check_dict_unchanged
    assert found.dtype == y.dtype and set(found) <= {*model.classes_}  # check_classifiers_classes
    again = clone(model).fit(X[:, None], y)  # check_fit_idempotent
    assert again.expression_ == model.expression_
    order = np.random.default_rng(0).permutation(len(X))
    assert (model.predict(X[order]) == found[order]).all()  # check_methods_sample_order_invariance
    assert [model.predict(X[at : at + 1])[0] for at in range(5)] == list(found[:5])  # …_subset_invariance
    assert clone(model).fit(X[order], y[order]).expression_ == model.expression_
    X.flags.writeable = y.flags.writeable = False  # check_readonly_memmap_input
    assert (clone(model).fit(X, y).predict(X) == found).all()
    with pytest.warns(DataConversionWarning):  # check_supervised_y_2d
        clone(model).fit(X, y[:, None])
    for bad, says in (
        (None, "requires y to be passed, but the target y is None"),  # check_requires_y_none
        (np.linspace(0.1, 0.9, len(X)), "Unknown label type"),  # check_classifiers_regression_target
        ([str(at % 3) for at in range(len(X))], "Only binary classification is supported"),
    ):
        with pytest.raises(ValueError, match=says):
            clone(model).fit(X, bad)


@pytest.mark.parametrize("names,y,says", cases(__file__, "what_is_no_problem_is_told"))
def test_what_is_no_problem_is_told(kg: mrag.KnowledgeGraph, names: str, y: Any, says: str) -> None:
    with pytest.raises(LearningProblemError) as error:
        cel.ConceptClassifier(kg).fit([EX + name for name in names.split()], y)
    assert says in str(error.value)
    with pytest.raises(LearningProblemError, match=r"shape \(1, 2\)"):
        cel.ConceptClassifier(kg).fit([[EX + "GraphDB", EX + "MySQL"]], [0])


@pytest.mark.parametrize(
    ("how", "says"),
    [({"learner": "nothing"}, "No learner"), ({"settings": {"depth": 3}}, "no setting depth")],
)
def test_wrong_settings_are_told(kg: mrag.KnowledgeGraph, how: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        cel.ConceptClassifier(kg, **how).fit([EX + "GraphDB", EX + "MySQL"], [1, 0])
