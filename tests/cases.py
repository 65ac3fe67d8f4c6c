"""What tests are run with and lies beside them: tables as JSON, and texts."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def beside(file: str, name: str) -> str:
    """Return the text of a file that lies beside a test module."""
    return Path(file).with_name(name).read_text(encoding="utf-8")


def cases(file: str, name: str | None = None) -> Any:
    """Return a table of the test module of a file, a list or a dictionary of rows; all without a name."""
    found = _read(Path(file).with_suffix(".json"))
    return found if name is None else found[name]
