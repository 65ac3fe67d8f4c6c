"""What a query's process cannot do, tried in real processes against a listener on this machine."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import Child
from tests.commands import filled
from tests.conftest import slow
from tests.servers import listener

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both means are Linux's")
MACHINE = os.uname().machine
UNSHARE, SECCOMP = {"x86_64": (272, 317), "aarch64": (97, 277)}.get(MACHINE, (0, 0))
NO_NAMESPACE, NO_FILTER = [UNSHARE], [SECCOMP]

# What a container does: it refuses some calls to all that runs in it.
REFUSING = """
import json, sys
from mrag.stores.process import sandbox
refused = json.loads(sys.argv.pop(1))
if refused:
    assert sandbox.filter_calls(refused)
"""
BARE = (
    REFUSING
    + """
import pyoxigraph
defences = sandbox.confine()
query = f"SELECT * {{ SERVICE <http://127.0.0.1:{sys.argv[1]}/x> {{ ?s ?p ?o }} }}"
try:
    said = str(list(pyoxigraph.Store().query(query)))
except OSError as error:
    said = str(error)
print(json.dumps([defences.namespace, defences.seccomp, said]))
"""
)


def run(script: str, refused: list[int], *arguments: object, code: int | None = 0) -> str:
    """Run a script in a process that is refused some calls, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(refused), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert code is None or done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.skipif(not UNSHARE, reason="the filter knows x86-64 and ARM64")
@pytest.mark.parametrize(
    ("refused", "active"),
    [(NO_NAMESPACE, [False, True]), (NO_FILTER, [None, False]), ([], [None, True])],
    ids=["no namespace", "no filter", "both"],
)
def test_the_bare_engine_reaches_nothing(refused: list[int], active: list[bool | None]) -> None:
    with listener() as (port, heard):
        namespace, seccomp, said = json.loads(run(BARE, refused, port))
    if refused == NO_FILTER and not namespace:
        pytest.skip("the system this runs on has no network namespaces")
    assert [namespace if active[0] is not None else None, seccomp] == active
    assert not heard
    assert "connect" in said.lower() or "network" in said.lower() or "permitted" in said.lower()


@pytest.mark.skipif(not UNSHARE, reason="the filter knows x86-64 and ARM64")
def test_without_both_the_listener_hears_so_the_test_measures_something() -> None:
    with listener() as (port, heard):
        namespace, seccomp, _ = json.loads(run(BARE, [UNSHARE, SECCOMP], port))
    assert (namespace, seccomp) == (False, False)
    assert heard


WORKER = (
    REFUSING
    + """
import time
from mrag.stores.base import Dataset, Limits
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.workers import request
query = f"SELECT * {{ SERVICE SILENT <http://127.0.0.1:{sys.argv[1]}/x> {{ ?s ?p ?o }} }}"
with OxigraphStore() as store:
    worker = store.workers.take()
    asked = request("rows", query, Dataset(), Limits(20, 10, 1000))
    reply = worker.ask(asked, time.monotonic() + 30)
    store.workers.discard(worker)
print(json.dumps([worker.defences.namespace, worker.defences.seccomp, reply[0]]))
"""
)


@pytest.mark.skipif(not UNSHARE, reason="the filter knows x86-64 and ARM64")
@pytest.mark.parametrize("refused", [NO_NAMESPACE, []], ids=["no namespace", "both"])
def test_a_worker_that_is_given_service_reaches_nothing(refused: list[int]) -> None:
    with listener() as (port, heard):
        namespace, seccomp, reply = json.loads(run(WORKER, refused, port))
    assert seccomp and (not refused or not namespace)
    assert reply == "select"
    assert not heard


BYPASSES = (
    REFUSING
    + """
import ctypes, errno, os, socket, subprocess, threading
inherited = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
bound = socket.create_server(("127.0.0.1", 0))
go, found = threading.Event(), {}
port = int(sys.argv[1])

def tried(name, work):
    try:
        work()
        found[name] = "done"
    except OSError as error:
        found[name] = errno.errorcode[error.errno]

def raw(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def thread():
    go.wait()
    tried("an older thread", lambda: socket.socket())

older = threading.Thread(target=thread)
older.start()
assert sandbox.confine().seccomp
go.set()
older.join()
for family in ("AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"):
    if hasattr(socket, family):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            tried(f"{family} {kind}", lambda: socket.socket(getattr(socket, family), kind))
tried("socketpair", socket.socketpair)
tried("sendto", lambda: inherited.sendto(b"x", ("127.0.0.1", port)))
tried("sendmsg", lambda: inherited.sendmsg([b"x"], [], 0, ("127.0.0.1", port)))
tried("connect", lambda: inherited.connect(("127.0.0.1", port)))
tried("bind", lambda: inherited.bind(("127.0.0.1", 0)))
tried("accept", bound.accept)
tried("io_uring", lambda: raw(425, 1, ctypes.addressof(ctypes.create_string_buffer(256))))
tried("ptrace", lambda: raw(101 if sys.argv[2] == "x86_64" else 117, 16, os.getppid(), 0, 0))
tried("pidfd_getfd", lambda: raw(438, 0, 0, 0))
tried("execve", lambda: os.execv("/bin/true", ["true"]))
tried("a program", lambda: subprocess.run(["/bin/true"]))
if sys.argv[2] == "x86_64":
    tried("x32", lambda: raw(0x40000000 + 41, 2, 1, 0))
def name():
    try:
        socket.getaddrinfo("example.org", 80)
    except socket.gaierror:
        raise OSError(errno.EPERM, "refused")
tried("a name", name)
print(json.dumps(found))
"""
)


@pytest.mark.skipif(not UNSHARE, reason="the filter knows x86-64 and ARM64")
def test_no_way_round_the_filter_is_open() -> None:
    with listener() as (port, heard):
        found = json.loads(run(BYPASSES, NO_NAMESPACE, port, MACHINE))
    assert set(found.values()) == {"EPERM"}, found
    assert len(found) > 25
    assert not heard


FOREIGN = (
    REFUSING
    + "assert sandbox.filter_calls(); import ctypes, mmap\n"
    + (
        # mov eax, 20 (getpid of 32 bits); int 0x80; ret
        "page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"
        "at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "print(ctypes.CFUNCTYPE(ctypes.c_int)(at)())\n"
    )
)


@pytest.mark.skipif(MACHINE != "x86_64", reason="calls of 32 bits are x86's")
def test_calls_of_another_machine_end_the_process() -> None:
    assert run(FOREIGN, [], code=-31) == ""


def test_every_child_says_which_defences_hold() -> None:
    judge = Child("mrag.stores.process.task_child", str(2 << 30))
    with OxigraphStore() as store:
        store.workers.memory = 1 << 30
        worker = store.workers.take()
        try:
            assert judge.defences.memory == 2 << 30
            assert replace(judge.defences, memory=1 << 30) == worker.defences
            assert worker.defences.memory == 1 << 30
            assert worker.defences.seccomp or not UNSHARE
        finally:
            judge.kill()
            store.workers.discard(worker)


def test_a_smaller_cap_of_the_system_stays() -> None:
    script = REFUSING + (
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))\n"
        "print(sandbox.confine(1 << 30).memory, sandbox.confine().memory)"
    )
    assert run(script, []).split() == [str(1 << 29)] * 2


def test_what_a_confined_process_writes_is_its_own(tmp_path: Path) -> None:
    script = REFUSING + "sandbox.confine(); open(sys.argv[1], 'w').close()"
    run(script, [], tmp_path / "file")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_a_child_gets_no_secrets_of_the_environment_and_no_module_of_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "mrag").mkdir()
    (tmp_path / "mrag" / "__init__.py").write_text("raise SystemExit('shadows the package')")
    monkeypatch.chdir(tmp_path)
    for name in ("MRAG_TOKEN", "MRAG_STORE_PASSWORD", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "5ecret-of-the-parent")
    child = Child("mrag.stores.process.task_child", str(2 << 30))
    try:
        assert b"5ecret-of-the-parent" not in Path(f"/proc/{child.pid}/environ").read_bytes()
        assert b"PATH=" in Path(f"/proc/{child.pid}/environ").read_bytes()
    finally:
        child.kill()


@pytest.mark.skipif(not UNSHARE or os.getuid() != 0, reason="needs root, to become someone else")
def test_the_filter_needs_no_right() -> None:
    script = REFUSING + (
        "import ctypes, os, resource, socket\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "print(sandbox.confine().seccomp)\n"
        "try: socket.socket()\n"
        "except PermissionError: print('refused')"
    )
    assert run(script, []).split() == ["True", "refused"]


COMMAND = (
    REFUSING
    + """
import os
os.environ["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
from mrag.cli import main
main()
"""
)
BOTH = [UNSHARE, SECCOMP]


@pytest.mark.skipif(not UNSHARE, reason="the filter knows x86-64 and ARM64")
@pytest.mark.parametrize(
    ("refused", "namespace", "seccomp"),
    [([], None, True), (NO_NAMESPACE, None, True), (BOTH, False, False)],
    ids=["both", "no namespace", "neither"],
)
def test_the_doctor_says_which_defences_are_active(
    refused: list[int], namespace: bool | None, seccomp: bool, tmp_path: Path
) -> None:
    # The store is empty, which the doctor finds amiss too.
    printed = run(COMMAND, refused, "doctor", "--json", "--store", tmp_path / "data", code=1)
    found = {finding["what"]: finding for finding in json.loads(printed)}
    assert found["query network, seccomp filter"]["ok"] is seccomp
    if refused:
        assert found["query network, namespace"]["ok"] is namespace
        assert "user namespaces" in found["query network, namespace"]["hint"]
    assert found["query memory limit"]["ok"] is True and "1024 MB" in found["query memory limit"]["found"]
    assert found["query deadline"]["ok"] is True


@pytest.mark.skipif(not UNSHARE, reason="the filter knows x86-64 and ARM64")
@pytest.mark.parametrize("refused", [BOTH, *slow(NO_NAMESPACE)], ids=["neither", "no namespace"])
def test_the_server_warns_where_no_defence_is_active(refused: list[int], tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the extra `server` is not installed")
    command = [sys.executable, "-c", COMMAND, json.dumps(refused), "serve", "--port", "0"]
    command += ["--store", str(tmp_path / "data"), "--workers", "1"]
    filled(f"oxigraph:{tmp_path / 'data'}")
    said = tmp_path / "said"
    with said.open("wb") as errors:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert "/sparql" in server.stdout.readline()
        finally:
            server.terminate()
            server.communicate(timeout=30)
    assert ("could reach the network" in said.read_text()) is (refused == BOTH)
