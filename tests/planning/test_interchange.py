"""Plans are the same after they have been JSON, and what is no plan is refused with a reason."""

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, MragError
from mrag.planning.compiler import to_sparql
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.plan import Plan
from tests.planning.strategies import plans

SOME = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "",
    "x } ; DROP ALL",
    "\ud800",
    [],
    {},
    [[]],
    {"unknown": "a b"},
    {"unknown": 3},
    {"type": "uri", "value": "no iri <>"},
    {"type": "literal", "value": "\ud800"},
    {"type": "literal", "value": "x", "xml:lang": "not a tag!"},
    {"type": "literal", "value": "x", "datatype": "no iri"},
    {"type": "bnode", "value": "b"},
    {"fold": "median", "of": ["t1"]},
    {"fold": "sum", "of": ["t1"], "value": {"fold": "count", "of": ["t1"]}},
    {"scalar": {}},
    {"days": []},
)


@settings(SOME, max_examples=50)
@given(plans())
def test_a_plan_is_the_same_afterwards(plan: Plan) -> None:
    again = plan_from_json(json.loads(json.dumps(plan_to_json(plan))))
    assert again == plan
    assert to_sparql(again) == to_sparql(plan)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """All members of objects and lists, however deep."""
    members = list(value.items() if isinstance(value, dict) else enumerate(value))
    found = [(value, key) for key, _ in members]
    for _, inner in members:
        if isinstance(inner, dict | list):
            found += _places(inner)
    return found


@SOME
@given(plans(), st.integers(0, 2**32))
def test_what_is_no_plan_is_refused(plan: Plan, number: int) -> None:
    rng = random.Random(number)
    value = json.loads(json.dumps(plan_to_json(plan)))
    for _ in range(rng.randint(1, 3)):
        if places := _places(value):
            holder, key = rng.choice(places)
            holder[key] = json.loads(json.dumps(rng.choice(ODD)))
    try:
        found = plan_from_json(value)
        to_sparql(found)
    except MragError as error:
        assert str(error)


def test_depth_and_size_are_bounded() -> None:
    deep: Any = {"unknown": "x"}
    for _ in range(500):
        deep = {"number": deep}
    with pytest.raises(ConfigError, match="too deep"):
        plan_from_json({"columns": [{"name": "x", "value": deep}]})
    wide = [[{"unknown": "x"}, {"unknown": "y"}, {"unknown": "z"}]] * 10_000
    with pytest.raises(ConfigError, match="too large"):
        plan_from_json({"where": {"patterns": wide}})
