"""Which tests run, and what is collected before anything is imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> object:
    """Look for examples only in modules that have some, and not among slow tests: to look is to import."""
    found = yield
    none = parent.config.option.markexpr == "slow" or b">>>" not in file_path.read_bytes()
    if file_path.suffix == ".py" and none:
        return [part for part in found if not isinstance(part, DoctestModule)]
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--slow`, for the tests that are left out otherwise."""
    parser.addoption("--slow", action="store_true", help="run the tests that are marked as slow, too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests, unless `--slow`, a marker expression or their own name asks for them."""
    if config.option.slow or "slow" in config.option.markexpr or any("::" in name for name in config.args):
        return
    left = [item for item in items if item.get_closest_marker("slow")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
