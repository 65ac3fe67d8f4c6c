"""Rows that are sorted outside memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.storage.sorting import SortedRows

VALUES = st.one_of(st.integers(), st.text())
ROWS = st.lists(st.tuples(st.text(max_size=3), st.integers(), st.lists(VALUES.map(str)).map(tuple)))


@given(ROWS, st.integers(1, 2000))
def test_rows_come_in_order_however_few_fit_into_memory(rows: list[tuple[object, ...]], most: int) -> None:
    with SortedRows(rows, most=most) as found:  # type: ignore[type-var]
        first, second = iter(found), iter(found)
        # Two readers of one file do not disturb each other.
        mixed = [one for pair in zip(first, second, strict=True) for one in pair]
        assert mixed[::2] == mixed[1::2] == sorted(rows)  # type: ignore[type-var]
        assert len(found) == len(rows)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    def broken() -> object:
        yield from ((str(n), n) for n in range(1000))
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        SortedRows(broken(), folder=tmp_path, most=1000)  # type: ignore[arg-type, type-var]
    with SortedRows([(str(n), n) for n in range(1000)], folder=tmp_path, most=1000) as rows:
        assert sum(n for _, n in rows) == 499_500
    assert list(tmp_path.iterdir()) == []
