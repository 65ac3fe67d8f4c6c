"""The frozen answers of the product, and plans written by hand for questions of graphs by others."""

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, slow

ROOMS = ("--room", "loaders", "stores", "--jobs", "1")


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("oracle")


def test_changes_are_found_and_told(oracle: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "frozen.json.gz"
    assert oracle.main(["freeze", str(file), *ROOMS]) == 0
    frozen = json.loads(gzip.decompress(file.read_bytes()))
    assert len(frozen) > 150 and not [key for key, value in frozen.items() if "failed" in str(value)]
    assert oracle.main(["compare", str(file), *ROOMS]) == 0
    capsys.readouterr()
    key = "stores|catalogue|explore/classes.rq"
    frozen[key]["rows"][0][0] = "<urn:x:other>"
    del frozen["loaders|files|people.kb"]
    file.write_bytes(gzip.compress(json.dumps(frozen).encode()))
    assert oracle.main(["compare", str(file), *ROOMS]) == 1
    told = capsys.readouterr().out
    assert key in told and "<urn:x:other>" in told and "loaders|files|people.kb" in told
    table = {line.split()[0]: line.split()[1:] for line in told.splitlines()[:3]}
    assert table["room"] == ["same", "changed", "missing", "new"]
    assert table["stores"][1:] == ["1", "0", "0"] and table["loaders"][1:] == ["0", "0", "1"]


def test_what_fails_is_recorded_and_stops_nothing_else(oracle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(part: str) -> Any:
        yield "good", 1
        yield "bad", lambda: 1 / 0
        yield "better", lambda: part
        raise FileNotFoundError("/some/folder/file.txt")

    monkeypatch.setitem(oracle.ROOMS, "stores", (broken, "catalogue"))
    items, _ = oracle.record_part(("stores", "catalogue"))
    found = {key.split("|")[-1]: value for key, value in items.items()}
    assert (found["good"], found["better"]) == (1, "catalogue")
    assert found["bad"] == {"failed": "ZeroDivisionError: division by zero"}
    assert found["(part)"] == {"failed": "FileNotFoundError: file.txt"}


def test_a_quick_run_takes_the_same_tenth_each_time(oracle: Any) -> None:
    keys = [f"planning|{part}|{n}" for part in oracle.planning_parts() for n in range(3)]
    taken = {key.rpartition("|")[0] for key in keys if oracle.in_tenth(key)}
    assert {key for key in keys if oracle.in_tenth(key)} == {k for k in keys if k.rpartition("|")[0] in taken}
    assert 0 < len(taken) < len(keys) / 9


@pytest.mark.parametrize("name", ["library", *slow("carmakers", "helpdesk", "kennel", "railways")])
def test_kept_plans_give_the_gold_answers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found = importlib.import_module("blind_plans").tried(name)
    assert (found.questions, found.plans, found.wrong) == (40, 40, ())
    assert not found.inexpressible
