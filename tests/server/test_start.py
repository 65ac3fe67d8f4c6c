"""How `mrag serve` starts: where its token comes from, and when it refuses."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from mrag.errors import ConfigError
from mrag.server.settings import ServerSettings
from tests.commands import filled, run
from tests.conftest import slow
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
