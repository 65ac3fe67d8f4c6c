"""A real Ollama, built from packages once and kept in the tests' cache."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.servers import CACHE, absent, free_port, running


@cache
def program() -> str:
    """Return the path of Ollama, built when it is first wanted."""
    script = str(Path(__file__).with_suffix(".sh"))
    done = subprocess.run(["bash", script, str(CACHE)], capture_output=True, text=True)
    if done.returncode == 3:
        pytest.skip("Ollama cannot be built: Go's modules cannot be had here")
    if done.returncode:
        absent(f"Ollama cannot be built: {done.stderr[-500:]}")
    return done.stdout.strip()


@dataclass(frozen=True)
class Ollama:
    """A server that runs; `url` is for OLLAMA_HOST."""

    url: str
    process: subprocess.Popen[bytes]
    environment: Mapping[str, str]

    def create(self, name: str, modelfile: str) -> None:
        """Make a model by what a Modelfile says."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "Modelfile"
            path.write_text(modelfile, encoding="utf-8")
            command = [program(), "create", name, "-f", str(path)]
            subprocess.run(command, env={**os.environ, **self.environment}, check=True, capture_output=True)

    def kill(self, *, whole: bool) -> None:
        """End what runs the model at once, as where memory runs out, or the server, too."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        started = [int(one) for task in tasks for one in task.read_text().split()]
        assert started, "a process of its own runs the model"
        for each in (*([self.process.pid] if whole else []), *started):
            os.kill(each, 9)
        if whole:
            self.process.wait()


@contextmanager
def ollama_server(folder: Path) -> Iterator[Ollama]:
    """Give an Ollama without models, which writes into a folder alone."""
    address = f"127.0.0.1:{free_port()}"
    environment = {"OLLAMA_HOST": address, "OLLAMA_MODELS": str(folder / "models"), "HOME": str(folder)}
    command = ["env", *(f"{key}={value}" for key, value in environment.items()), program(), "serve"]
    with running(command, f"http://{address}/api/tags", folder / "ollama.log") as process:
        yield Ollama(f"http://{address}", process, environment)
