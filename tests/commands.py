"""The `mrag` command, run in this process: its output and exit code are those of a process of its own.

`test_cli.py` tests that they are.
"""

import atexit
import io
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest
from rdflib import URIRef

import mrag
from mrag.cli import main
from mrag.rdf.terms import Triple


def run(*args: str, cwd: Path, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, with a cache of its own that has the demo graph in it."""
    _lay_out_the_demo(cwd, env)
    return _run(*args, cwd=cwd, typed=typed, **env)


def ran(*args: str, cwd: Path, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as `run` does, and hold it to have done so well."""
    done = run(*args, cwd=cwd, typed=typed, **env)
    assert done.returncode == 0, done.stderr
    return done


def _run(*args: str, cwd: Path, typed: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    code: int | str | None = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name, value in environment(cwd, **env).items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["mrag", *args])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert not isinstance(code, str), code
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(["mrag", *args], code or 0, out, err)


def process(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as `run` does, in a process of its own."""
    _lay_out_the_demo(cwd, env)
    return subprocess.run(
        [sys.executable, "-m", "mrag", *args], cwd=cwd, env={**os.environ, **environment(cwd, **env)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def python(code: str, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Python in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **env})


def _lay_out_the_demo(cwd: Path, env: dict[str, str]) -> None:
    """Copy the demo graph, which takes a second to make, into the cache of a folder that has none yet."""
    settings = {**environment(cwd), **env}
    place = Path(settings["XDG_CACHE_HOME"])
    if settings["MRAG_EMBEDDER"] == "wordllama" and place.parent.is_dir() and not place.exists():
        shutil.copytree(_demo(), place)


@cache
def _demo() -> Path:
    """Return a cache with the demo graph, made by its first question and kept while this process runs."""
    folder = Path(tempfile.mkdtemp(prefix="mrag-tests-demo-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = _run("ask", "How many triple stores are there?", "--model", "none", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder / ".cache"


def environment(cwd: Path, **env: str) -> dict[str, str]:
    """Return the variables that a command is given beside those of this process."""
    return {
        "XDG_CACHE_HOME": str(cwd / ".cache"), "MRAG_EMBEDDER": "wordllama",
        "OLLAMA_HOST": "http://127.0.0.1:9", "COLUMNS": "100", **env,
    }  # fmt: skip


def filled(url: str) -> None:
    """Make a store with a graph of one triple."""
    with mrag.connect(url) as kg:
        kg.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c"))])
