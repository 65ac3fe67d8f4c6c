"""Class expression learning as a scikit-learn classifier: the features are the graph itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.cel.expressions import Expression
from mrag.cel.learners.base import learner as learner_named
from mrag.cel.problem import Hypothesis, LearningProblem, instances_among
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph

try:
    _base: Any = import_module("sklearn.base")
    _multiclass: Any = import_module("sklearn.utils.multiclass")
    _validation: Any = import_module("sklearn.utils.validation")
except ModuleNotFoundError as error:
    raise ConfigError(
        "ConceptClassifier needs scikit-learn.", hint="Install it with: pip install 'mrag[cel]'"
    ) from error


class ConceptClassifier(_base.ClassifierMixin, _base.BaseEstimator):  # type: ignore[misc]  # it is untyped
    """Classifies individuals of a knowledge graph by a learnt class expression.

    A sample is the IRI of an individual, or a row with the IRI alone. Of the two classes of `y` the second in
    order is the one that the expression describes: 1 of 0 and 1, True of False and True.

    Works with scikit-learn's cross-validation, grid search, pipelines and metrics. These copy the classifier,
    and the copies share the graph, so `n_jobs` is for threads (`joblib.parallel_backend("threading")`).

    Args:
        kg: The knowledge graph.
        learner: A name of `mrag.cel.LEARNERS`.
        seconds: Time limit of a fit.
        settings: Further settings of the learner, such as `{"max_length": 7}`.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     rows = kg.query("SELECT ?x { { ?x a ex:TripleStore } UNION { ?x a ex:Vendor } }")
        ...     X = [str(x) for x in rows.column("x")]
        ...     y = [bool(kg.query(f"ASK {{ <{x}> a ex:Vendor }}")) for x in X]
        ...     model = ConceptClassifier(kg).fit(X[::2], y[::2])
        ...     model.score(X[1::2], y[1::2])
        1.0
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        learner: str = "search",
        *,
        seconds: float = 5.0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.kg = kg
        self.learner = learner
        self.seconds = seconds
        self.settings = settings

    def fit(
        self, X: Sequence[Any] | npt.NDArray[Any], y: Sequence[Any] | npt.NDArray[Any]
    ) -> ConceptClassifier:
        """Learn the expression that tells the second class from the first.

        `X` has IRIs, of shape (samples,) or (samples, 1), and `y` two values.

        Raises:
            LearningProblemError: If there are not two classes, one individual is of both, or one is not in
                the graph.
            ConfigError: If there is no such learner or setting.
        """
        if y is None:
            raise LearningProblemError("A classifier requires y to be passed, but the target y is None.")
        iris, labels = _iris(X), _validation.column_or_1d(y, warn=True)
        if len(labels) != len(iris):
            raise LearningProblemError(f"{len(iris)} samples do not go with classes of shape {labels.shape}.")
        try:
            _multiclass.check_classification_targets(labels)
        except ValueError as error:
            raise LearningProblemError(str(error)) from None
        self.classes_ = np.unique(labels)
        if len(self.classes_) != 2:
            kind = "Only binary classification is supported. The type of the target is multiclass"
            raise LearningProblemError(
                f"{kind if len(self.classes_) > 2 else 'A concept tells two classes apart'}: "
                f"y has {len(self.classes_)} {'classes' if len(self.classes_) > 2 else 'class'}.",
                hint="Learn one for each class, such as by sklearn.multiclass.OneVsRestClassifier.",
            )
        described = labels == self.classes_[1]
        problem = LearningProblem(
            [iri for iri, is_in in zip(iris, described, strict=True) if is_in],
            [iri for iri, is_in in zip(iris, described, strict=True) if not is_in],
        )
        problem.check(self.kg)
        made = learner_named(self.learner, self.kg, seconds=self.seconds, **(self.settings or {}))
        self.hypotheses_: list[Hypothesis] = made.fit(problem)
        if not self.hypotheses_:
            raise LearningProblemError("Nothing was learnt in the time given.", hint="Give more seconds.")
        self.expression_: Expression = self.hypotheses_[0].expression
        self.n_features_in_ = 1
        return self

    def predict(self, X: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the class of each individual, by an instance query.

        Raises:
            NotFittedError: Of scikit-learn, before `fit`.
        """
        _validation.check_is_fitted(self)
        iris = _iris(X)
        held = instances_among(self.kg, self.expression_, dict.fromkeys(iris))
        return np.asarray(self.classes_[[int(iri in held) for iri in iris]])

    def __sklearn_clone__(self) -> ConceptClassifier:
        # A graph is open, and not to be copied.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.one_d_array = tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _iris(samples: Sequence[Any] | npt.NDArray[Any]) -> list[str]:
    """Return IRIs given as a row each, or as one array of them."""
    found = np.asarray(samples, dtype=object)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or not len(found):
        raise LearningProblemError(
            f"Samples are IRIs, one each, not an array of shape {found.shape}.", hint="Give a list of IRIs."
        )
    return [str(iri) for iri in found]
