"""What users import from completion, generation and evaluation: there, sorted, and loaded when first used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ("mrag.completion", "mrag.evaluation", "mrag.generation")
HEAVY = ("langchain_core", "numpy", "onnxruntime", "pyoxigraph", "rdflib")


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_there(package: str) -> None:
    module = import_module(package)
    names = module.__all__
    assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    assert dir(module) == sorted(names)
    for name in names:
        assert not isinstance(getattr(module, name), type(sys)), f"{name} is a module"
    with pytest.raises(AttributeError):
        module.nothing  # noqa: B018


def test_importing_them_loads_nothing_heavy() -> None:
    script = f"import sys, {', '.join(PACKAGES)}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
