"""Records read from JSON piece by piece are those that the standard library reads at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import LoadError
from mrag.loaders import _records
from mrag.loaders._records import BrokenJson, JsonText
from tests.cases import cases

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(params=[1, 5, 1 << 20], scope="module")
def piece(request: pytest.FixtureRequest) -> Any:
    """Sizes of the pieces, small ones so that every token is cut somewhere."""
    known = _records._CHUNK
    _records._CHUNK = request.param
    yield request.param
    _records._CHUNK = known


@given(rows=st.lists(VALUES, max_size=6), ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
@settings(max_examples=40, deadline=None)
def test_arrays_and_lines(
    piece: int,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Any],
    ascii_only: bool,
    indent: int | None,
) -> None:
    folder = tmp_path_factory.mktemp("json")
    (folder / "a.json").write_text(json.dumps(rows, ensure_ascii=ascii_only, indent=indent), encoding="utf-8")
    with JsonText(folder / "a.json") as text:
        assert list(text.records()) == rows
    lines = "".join(
        json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows if not isinstance(row, list)
    )
    (folder / "a.jsonl").write_text(lines, encoding="utf-8")
    with JsonText(folder / "a.jsonl") as text:
        assert list(text.records()) == [row for row in rows if not isinstance(row, list)]


@given(data=st.dictionaries(st.text(max_size=5), VALUES, max_size=5))
@settings(max_examples=40, deadline=None)
def test_objects(piece: int, tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text("\ufeff" + json.dumps(data), encoding="utf-8")
    with JsonText(path) as text:
        assert {key: text.value() for key in text.fields()} == data
    with JsonText(path) as text:
        for _ in text.fields():
            text.skip()
        assert text.blank()


@pytest.mark.parametrize("text", cases(__file__, "broken_text_is_refused"))
def test_broken_text_is_refused(piece: int, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BrokenJson) as broken, JsonText(tmp_path / "a.json") as source:
        list(source.records())
    assert broken.value.file == str(tmp_path / "a.json")


def test_bytes_that_are_no_text_are_refused(piece: int, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'["caf\xe9"]')
    with pytest.raises(BrokenJson, match="not UTF-8"), JsonText(tmp_path / "a.json") as source:
        list(source.records())


def test_what_is_too_deep_or_too_long_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, f"[{'9' * 5000}]"):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(LoadError, match=r"too deep|ends early"), JsonText(tmp_path / "a.json") as source:
            list(source.records())
