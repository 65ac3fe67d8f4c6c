"""What is collected, before anything is imported."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> object:
    """Look for examples only in modules that have some: to look for them is to import the module."""
    found = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [part for part in found if not isinstance(part, DoctestModule)]
    return found
