"""How `mrag serve` starts, where its token comes from, and what is there after it was killed amid updates."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import ConfigError
from mrag.server.settings import ServerSettings
from tests.commands import filled, run
from tests.conftest import PRODUCTS, ROOT, slow
from tests.crash import SEED, TRIES, end_group, mrag_in
from tests.server import serving

TOKEN = "5ecret-of-the-server"
OTHERS = ["0.0.0.0", "::", "192.0.2.1", "example.org", "0", "", "[::]", "127.0.0.1.nip.io", "::ffff:0.0.0.0"]


def command(tmp_path: Path, *args: str) -> list[str]:
    return ["serve", "--store", str(tmp_path / "data"), "--port", "0", *args]


def started(tmp_path: Path, *args: str, **env: str) -> tuple[str, str, list[int]]:
    """Start the server; return what it said, its command line, the status without and with a token."""
    filled(f"oxigraph:{tmp_path / 'data'}")
    said = tmp_path / "said"
    store = f"oxigraph:{tmp_path / 'data'}"
    with serving.command("--store", store, "--workers", "1", *args, said=said, **env) as (server, url):
        seen = Path(f"/proc/{server.pid}/cmdline")
        line = seen.read_text() if seen.exists() else ""
        where = url.replace("0.0.0.0", "127.0.0.1").replace("[::]", "127.0.0.1")
        ask = f"{where}/sparql?query=ASK%7B%7D"
        tokens: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {TOKEN}"}]
        codes = [httpx.get(ask, headers=headers).status_code for headers in tokens]
        server.terminate()
        server.wait(30)
    return said.read_text(), line, codes


@pytest.mark.slow
@pytest.mark.parametrize("how", ["file", "environment", "command line"])
def test_the_token_is_seen_only_where_it_was_typed(tmp_path: Path, how: str) -> None:
    file = tmp_path / "token"
    file.write_text(f"\ufeff{TOKEN}\n", encoding="utf-8")
    file.chmod(0o600)
    args = {"file": ["--token-file", str(file)], "command line": ["--token", TOKEN]}.get(how, [])
    env = {"MRAG_TOKEN": TOKEN} if how == "environment" else {}
    said, line, codes = started(tmp_path, *args, **env)
    assert codes == [401, 200]
    assert TOKEN not in said
    assert (TOKEN in line) is (how == "command line")
    assert ("list of processes" in said) is (how == "command line")


def test_a_token_file_that_others_can_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    said, _, codes = started(tmp_path, "--token-file", str(file))
    assert codes == [401, 200] and "chmod 600" in said and TOKEN not in said


@pytest.mark.parametrize("host", ["0.0.0.0", *slow("::")])
def test_reading_alone_is_served_to_others_with_a_warning(tmp_path: Path, host: str) -> None:
    said, _, codes = started(tmp_path, "--host", host, MRAG_TOKEN="")
    assert codes == [200, 200]
    assert "can read the graph" in said


@pytest.mark.parametrize("host", OTHERS)
def test_updates_by_others_need_a_token(tmp_path: Path, host: str) -> None:
    done = run(*command(tmp_path, "--host", host, "--update"), cwd=tmp_path, MRAG_TOKEN="")
    assert done.returncode == 1 and not done.stdout
    assert "--token-file" in done.stderr
    assert not (tmp_path / "data").exists()


def test_updates_by_others_are_refused_in_python_too() -> None:
    for host in OTHERS:
        with pytest.raises(ConfigError, match="token"):
            ServerSettings(host=host, update=True)
        ServerSettings(host=host, update=True, token=TOKEN)
    for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost"):
        assert ServerSettings(host=host, update=True).local


def test_a_token_is_in_no_text_of_the_settings() -> None:
    assert TOKEN not in repr(ServerSettings(token=TOKEN))


@pytest.mark.parametrize("content", [None, "", "  \n", "short", "ünicode-token-ünicode"])
def test_a_token_file_that_holds_none_is_an_error(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    done = run(*command(tmp_path, "--token-file", str(file)), cwd=tmp_path)
    assert done.returncode == 1 and "oken" in done.stderr
    if content and content.strip():
        assert content not in done.stderr


def test_two_tokens_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    done = run(*command(tmp_path, "--token", TOKEN, "--token-file", str(file)), cwd=tmp_path)
    assert done.returncode == 1 and "twice" in done.stderr and TOKEN not in done.stderr


PARTS = 40


def started_in(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], str]:
    command = [sys.executable, "-m", "mrag", "serve", "--port", "0", "--update", "--workers", "1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--store", "store", *words], cwd=folder, stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT), "MRAG_MODEL": "none"}, start_new_session=True,
        )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    assert line.startswith("SPARQL"), (folder / "log").read_text()
    return process, line.split()[1].removesuffix("/sparql")


class Stream(threading.Thread):
    """Sends updates, each of so many triples and a counter, until the server is gone.

    Attributes:
        sent: How many were sent.
        acknowledged: How many of them the server has acknowledged.
        refused: What it answered else.
    """

    def __init__(self, url: str, name: str) -> None:
        super().__init__()
        self.url, self.who = url, name
        self.sent = self.acknowledged = 0
        self.refused: list[str] = []

    def run(self) -> None:
        with httpx.Client(timeout=30) as client:
            while True:
                self.sent += 1
                parts = ", ".join(map(str, range(PARTS)))
                counter = f"<urn:{self.who}> <urn:at>"
                text = (
                    f"DELETE {{ {counter} ?n }} INSERT {{ {counter} {self.sent} }} "
                    f"WHERE {{ OPTIONAL {{ {counter} ?n }} }} ; "
                    f"INSERT DATA {{ <urn:{self.who}:{self.sent}> <urn:part> {parts} }}"
                )
                try:
                    answer = client.post(f"{self.url}/update", data={"update": text})
                except httpx.HTTPError:
                    return
                if answer.status_code != 204:
                    self.refused.append(answer.text)
                    return
                self.acknowledged = self.sent


@pytest.mark.slow
@pytest.mark.parametrize("number", range(TRIES or 1))
def test_what_was_acknowledged_is_there(tmp_path: Path, number: int) -> None:
    dice = random.Random(f"{SEED} serve {number}")
    mrag_in(tmp_path, "load", str(PRODUCTS), "--store", "store")
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        asserted = kg.count()
    process, url = started_in(tmp_path, *(["--reason"] if dice.random() < 0.3 else []))
    try:
        streams = [Stream(url, name) for name in ("one", "two")]
        for stream in streams:
            stream.start()
        wanted, deadline = dice.randint(1, 12), time.monotonic() + 60
        while streams[0].acknowledged < wanted and time.monotonic() < deadline:
            time.sleep(0.0005)
        time.sleep(dice.random() * 0.03)
        os.killpg(process.pid, signal.SIGKILL)
        for stream in streams:
            stream.join(40)
            assert not stream.is_alive() and not stream.refused, stream.refused
    finally:
        end_group(process.pid)
        process.__exit__(None, None, None)
    assert streams[0].acknowledged or streams[1].acknowledged
    done = CliRunner().invoke(app, ["doctor", "--json", "--store", str(tmp_path / "store")])
    assert all(finding["ok"] is not False or finding["hint"] for finding in json.loads(done.stdout)), (
        done.output
    )
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        rows = kg.query("SELECT ?s (COUNT(?o) AS ?n) { ?s <urn:part> ?o } GROUP BY ?s")
        found = {str(s): int(str(n)) for s, n in rows}  # type: ignore[union-attr,misc]
        at = {str(s): int(str(n)) for s, n in kg.query("SELECT ?s ?n { ?s <urn:at> ?n }")}  # type: ignore[union-attr,misc]
        more = 0
        for stream in streams:
            name = f"urn:{stream.who}"
            there = [n for n in range(1, stream.sent + 1) if f"{name}:{n}" in found]
            assert there in ([*range(1, stream.acknowledged + 1)], [*range(1, stream.sent + 1)])
            assert all(found[f"{name}:{n}"] == PARTS for n in there)
            assert at.get(name, 0) == len(there), "the counter belongs to the triples"
            more += len(there) * PARTS + (name in at)
        assert kg.record.triples == kg.count() == asserted + more
    process, url = started_in(tmp_path)
    try:
        size = httpx.get(f"{url}/repositories/main/size", timeout=30).text
        assert int(size) >= asserted + more
        assert (
            httpx.post(f"{url}/update", data={"update": "INSERT DATA { <urn:a> <urn:b> 1 }"}).status_code
            == 204
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        end_group(process.pid)
        process.__exit__(None, None, None)
