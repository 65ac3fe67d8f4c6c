"""Which tests run, and what is collected before anything is imported."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> object:
    """Look only where something may be found, since to look is to import.

    That is for examples in modules that have some, and for slow tests in files that name them.
    """
    found = yield
    if file_path.suffix == ".py":
        slow = parent.config.option.markexpr == "slow"
        if slow and not may_be_slow(file_path):
            return []
        if slow or b">>>" not in file_path.read_bytes():
            return [part for part in found if not isinstance(part, DoctestModule)]
    return found


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, object, object]:
    """Look for no fixtures beside examples: modules have none, and to look imports all that is lazy."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(collector, DoctestModule):
            patch.setattr(collector.session._fixturemanager, "parsefactories", lambda _: None)
        return (yield)


def may_be_slow(path: Path) -> bool:
    """Return whether a file may have slow tests: it names the mark, or parameters of which some have it."""
    return re.search(rb"slow|\b(SIZES|POLICIES)\b", path.read_bytes()) is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--slow`, for the tests that are left out otherwise."""
    parser.addoption("--slow", action="store_true", help="run the tests that are marked as slow, too")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests, unless `--slow`, a marker expression or their own name asks for them."""
    if config.option.slow or "slow" in config.option.markexpr or any("::" in name for name in config.args):
        return
    left = [item for item in items if item.get_closest_marker("slow")]
    hidden = sorted(str(path) for path in {item.path for item in left} if not may_be_slow(path))
    if hidden:
        raise pytest.UsageError(f"`may_be_slow` of conftest.py overlooks {', '.join(hidden)}")
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
