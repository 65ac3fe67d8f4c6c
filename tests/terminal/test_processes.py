"""Text for a terminal, and what the driver of commands does not see: servers, crashes, logs, encodings."""

import io
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.terminal import Guarded, escape, guard, inline, protocol, visible, write_data
from tests.cases import cases
from tests.commands import run
from tests.servers import free_port, running
from tests.terminal.driver import collect, environment
from tests.terminal.hostile import DRAWN, NAME, TEXT, faults, turtle


def on_a_terminal(code: str, piped: list[bytes] | None = None, **more: str) -> bytes:
    """Run code in a process whose standard error, and output unless it is piped, are a terminal."""
    master, slave = pty.openpty()
    parts: list[bytes] = []
    reader = threading.Thread(target=collect, args=(master, parts))
    reader.start()
    out = slave if piped is None else subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=out, stderr=slave,
        env=environment(**more),
    )  # fmt: skip
    os.close(slave)
    try:
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        reader.join()
    if piped is not None:
        piped.append(said)
    return b"".join(parts)


def command(body: str) -> str:
    """Code that runs `mrag` with a command whose body is given."""
    return f"""
import sys, threading, logging, warnings
import mrag.cli
from mrag.cli.output import progress, say, show, show_json, status
T, N = {TEXT!a}, {NAME!a}
@mrag.cli.app.command("odd")
def odd() -> None:
{body}
sys.argv = ["mrag", "-v", "odd"]
mrag.cli.main()
"""


ODD = cases(__file__, "ODD")


@pytest.mark.parametrize("body", ODD.values(), ids=ODD.keys())
def test_nothing_goes_round_the_guard(body: str) -> None:
    raw = on_a_terminal(command(body))
    assert b"PWN" in raw or b"ZeroDivisionError" in raw
    # Somebody else's console reads names of emoji, as it does everywhere; controls of its own are shown.
    assert set(faults(raw, tty=True)) <= ({"a name of an emoji was replaced"} if "rich" in body else set()), (
        raw
    )


def test_our_own_styles_reach_a_terminal_and_no_pipe() -> None:
    code = command("    say('note', style='yellow'); show('data')")
    assert on_a_terminal(code) == b"\x1b[33mnote\x1b[0m\r\ndata\r\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), check=True)
    assert (done.stdout, done.stderr) == (b"data\n", b"note\n")


def test_lines_under_a_bar_go_where_they_belong() -> None:
    code = command("    with progress('Working') as note:\n        show('data'); note(1, 1)")
    piped: list[bytes] = []
    said = on_a_terminal(code, piped)
    assert piped == [b"data\n"] and b"Working" in said and b"data" not in said


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_no_encoding_makes_a_command_fail(encoding: str) -> None:
    code = command("    show(T); say(T, style='red'); show_json([T]); raise typer.BadParameter(T)").replace(
        "import sys,", "import typer, sys,"
    )
    command_line, given = [sys.executable, "-c", code], environment(PYTHONIOENCODING=encoding)
    done = subprocess.run(command_line, capture_output=True, env=given, check=False)
    assert done.returncode == 2, done.stderr
    for raw in (done.stdout, done.stderr):
        text = raw.decode(encoding)
        assert "PWN" in text
        assert not faults(text.encode(), tty=False, isolated=False)


@pytest.mark.slow
def test_the_servers_log_shows_hostile_requests_as_signs(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(turtle(), encoding="utf-8")
    port = free_port()
    base = [sys.executable, "-m", "mrag", "-v"]
    assert run("load", "a.ttl", "--store", "data", cwd=tmp_path, MRAG_EMBEDDER="none").returncode == 0
    line = TEXT.encode()
    with running(
        [*base, "serve", "--store", "data", "--port", str(port)],
        f"http://127.0.0.1:{port}/sparql",
        tmp_path / "log",
    ) as server:
        for request in (
            b"GET /" + line.replace(b" ", b"") + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"GET /%1b%5d0;PWN%07%c2%9b31m%0d%0aFORGED%e2%80%ae HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"GET /sparql?query=" + b"%1b]0;PWN%07%0aFORGED" + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: \x1b]0;PWN\x07\r\nReferer: \x9bFORGED\r\n\r\n",
            line + b" / HTTP/9.9\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
                while client.recv(1 << 16):
                    pass
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 0
    raw = (tmp_path / "log").read_bytes()
    assert b"SPARQL" in raw and b"has stopped" in raw
    assert not faults(raw, tty=False)


@pytest.mark.slow
def test_the_protocol_of_assistants_is_whole_and_its_notes_are_guarded(tmp_path: Path) -> None:
    (tmp_path / f"a{NAME}.ttl").write_text(turtle(), encoding="utf-8")
    base = [sys.executable, "-m", "mrag"]
    for words in (("load", f"a{NAME}.ttl"), ("index",)):
        assert run(*words, "--store", "data", cwd=tmp_path, MRAG_EMBEDDER="none").returncode == 0
    start = {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": TEXT, "version": "1"},
    }  # fmt: skip
    search = {"name": "search", "arguments": {"text": "gizmo"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search},
        {"jsonrpc": "2.0", "id": 3, "method": f"no{TEXT}", "params": {}},
    ]
    master, slave = pty.openpty()
    parts: list[bytes] = []
    reader = threading.Thread(target=collect, args=(master, parts))
    reader.start()
    process = subprocess.Popen(
        [*base, "-v", "mcp", "--store", "data"],
        cwd=tmp_path, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=slave,
    )  # fmt: skip
    os.close(slave)
    answers = {}
    try:
        process.stdin.write(TEXT.encode() + b"\n" + "".join(json.dumps(m) + "\n" for m in messages).encode())
        process.stdin.flush()
        while {1, 2, 3} - set(answers):
            answer = json.loads(process.stdout.readline())
            answers[answer.get("id")] = answer
        process.stdin.close()
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        reader.join()
    found = json.dumps(answers[2], ensure_ascii=False)
    assert "Gizmo" in found and "שלום" in found and "\u2068" not in found, "data is as the graph has it"
    assert b"Serving on standard input" in b"".join(parts)
    assert not faults(b"".join(parts), tty=True)


ANY = st.text(st.characters(exclude_categories=()))  # Any text, lone surrogates too
NASTY = st.text(
    st.sampled_from("a5 -,.|\t\n\x1b\x07\x9b\u05d0\u0627\u0660\u202e\u2066\u2068\u2069\u200d\u200e\ud800")
)


def test_every_control_and_format_character_is_shown() -> None:
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    hidden = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) in kinds]
    raw = {ord(c) for c in hidden if c in visible(f"a{c}b")}
    assert raw == {0x09, 0x0A} | DRAWN


@given(ANY | NASTY)
def test_nothing_raw_is_left_and_once_is_enough(text: str) -> None:
    once = visible(text)
    assert not [f for f in faults(once.encode(), tty=False) if f != "a forged line"]
    assert visible(once) == once
    assert "\n" not in inline(text)


@given(ANY | NASTY)
def test_json_keeps_its_value(text: str) -> None:
    written = escape(json.dumps([text], ensure_ascii=False), json=True)
    assert json.loads(written) == [text]
    assert not faults(written.encode(), tty=False, isolated=False)


@given(st.text() | NASTY.map(lambda t: t.replace("\ud800", "")))
def test_ntriples_keep_their_value(text: str) -> None:
    line = escape(f"<urn:a> <urn:p> {ox.Literal(text)} .")
    (quad,) = ox.parse(line, ox.RdfFormat.N_TRIPLES)
    assert isinstance(quad.object, ox.Literal) and quad.object.value == text
    assert not faults(line.encode(), tty=False, isolated=False)


@pytest.mark.parametrize(
    "text", ["Ångström – “naïve” 東京 ½ 😀 👩‍💻 ❤️ 🏳️‍🌈", "क्‍ष नेपाल് മലയാളം", "e\u0301 \u00a0 tab\there"]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(("text", "shown"), cases(__file__, "texts_from_right_to_left_stand_each_by_itself"))
def test_texts_from_right_to_left_stand_each_by_itself(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_joiners_stay_where_they_join_and_hide_nothing_elsewhere() -> None:
    assert visible("pay\u200dpal") == "pay\\u200dpal"
    assert visible("नि\u200d\u200dक") == "नि\\u200d\\u200dक"
    assert visible("क\u200d") == "क\\u200d"


def test_a_guard_guards_whatever_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with guard(), guard():
        print(TEXT)  # noqa: T201
        sys.stdout.writelines([TEXT, "\n"])
        sys.stderr.write(TEXT)
        with pytest.raises(AttributeError):
            sys.stdout.buffer  # noqa: B018
        write_data("שלום \x1b\n")
        with protocol():
            assert sys.stdout is out
    assert sys.stdout is out and sys.stderr is err
    assert out.getvalue() == f"{visible(TEXT)}\n" * 2 + "שלום ␛\n"
    assert err.getvalue() == visible(TEXT)


def test_what_an_encoding_lacks_is_written_as_escapes() -> None:
    raw = io.BytesIO()
    stream = Guarded(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    stream.write("naïve → \x1b 東")
    assert raw.getvalue() == b"na\\xefve \\u2192 \\u241b \\u6771"
