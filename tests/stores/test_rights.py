"""Folders and files of data are their owner's alone, and temporary ones go, however a process ends."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import mrag
from mrag.storage.files import Scratch, collect, create, make_folder
from mrag.stores.process.parsing import close_all
from tests import commands
from tests.conftest import PRODUCTS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")

# A process with an umask of its own that runs the command and is not told of it.
UMASK = (
    "import os, sys; os.umask(int(sys.argv[1], 8)); os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
)


def run(umask: str, folder: Path, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command with an umask that it is not told of, in a process that has no children yet."""
    close_all()
    before, tempfile.tempdir = os.umask(int(umask, 8)), None
    try:
        done = commands.run(*args, cwd=folder, **env(folder))
    finally:
        close_all()
        os.umask(before)
        tempfile.tempdir = None
    assert done.returncode == code, done.stderr
    return done


def command(umask: str, *args: str) -> list[str]:
    return [sys.executable, "-c", UMASK, umask, "-m", "mrag", *args]


def env(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    places = {"XDG_CACHE_HOME": ".cache/deep", "XDG_DATA_HOME": ".data", "TMPDIR": "tmp"}
    path = os.pathsep.join(p for p in sys.path if p)
    return {
        **os.environ,
        **{name: str(folder / place) for name, place in places.items()},
        **{"PYTHONPATH": path, "MRAG_EMBEDDER": "none", "OLLAMA_HOST": "http://127.0.0.1:9"},
    }


def wide(folder: Path, *known: Path) -> dict[str, str]:
    """Return the rights of what lies below a folder and is not its owner's alone."""
    found = {}
    for path in folder.rglob("*"):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path not in known and mode != (0o700 if path.is_dir() else 0o600):
            found[str(path.relative_to(folder))] = oct(mode)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_what_commands_make_is_the_owners_alone(tmp_path: Path, umask: str) -> None:
    tmp = tmp_path / "tmp"
    run(umask, tmp_path, "load", "--store", "some/where/mrag.db", str(PRODUCTS))
    run(umask, tmp_path, "index", "--store", "some/where/mrag.db")
    run(umask, tmp_path, "codes", "build", "--store", "some/where/mrag.db")
    run(umask, tmp_path, "query", "--store", "some/where/mrag.db", "ASK { ?s ?p ?o }")
    run(umask, tmp_path, "search", "database")
    assert wide(tmp_path, tmp) == {}
    places = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    for part in ("some/where/mrag.db/", "mrag.db.mrag/main/index/", ".cache/deep/mrag/demo-"):
        assert any(part in place for place in places), (part, places)
    assert not list(tmp.iterdir())


def test_a_library_makes_them_so_too_and_leaves_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        with mrag.connect(f"oxigraph:{tmp_path / 'a' / 'store'}") as kg:
            kg.load([PRODUCTS])
            kg.query("SELECT * { ?s ?p ?o } LIMIT 1")
            # A snapshot lies there now, and a worker reads it.
            assert any(".snapshot-" in p.name for p in (tmp_path / "a").iterdir())
            # The engine may be writing a file just now, which only the folder keeps to its owner.
            assert not [name for name in wide(tmp_path) if (tmp_path / name).is_dir()]
        assert wide(tmp_path) == {}
        (tmp_path / "mine").touch()
        assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o664
    finally:
        os.umask(before)


def test_a_folder_that_is_there_keeps_its_rights_and_the_doctor_says_so(tmp_path: Path) -> None:
    store = tmp_path / "mrag.db"
    store.mkdir()
    store.chmod(0o755)
    (store / "notes.txt").write_text("mine")
    (store / "notes.txt").chmod(0o644)
    run("022", tmp_path, "load", str(PRODUCTS))
    assert stat.S_IMODE(store.stat().st_mode) == 0o755
    assert wide(store) == {"notes.txt": "0o644"}
    run("022", tmp_path, "index")
    found = json.loads(run("022", tmp_path, "doctor", "--json").stdout)
    (note,) = [one for one in found if one["what"] == "rights"]
    assert note["ok"] is None and str(store) in note["found"] and "chmod" in note["hint"]
    store.chmod(0o700)
    found = json.loads(run("022", tmp_path, "doctor", "--json").stdout)
    assert not [one for one in found if one["what"] == "rights"]


def test_files_and_folders_by_hand(tmp_path: Path) -> None:
    for umask in (0o000, 0o277, 0o777):
        before = os.umask(umask)
        try:
            folder = tmp_path / f"{umask}" / "b"
            make_folder(folder)
            with create(folder / "f", os.O_APPEND) as stream:
                stream.write(b"1")
            make_folder(folder)
        finally:
            os.umask(before)
        assert wide(tmp_path) == {}
    kept = tmp_path / "kept"
    kept.write_text("x")
    kept.chmod(0o640)
    with create(kept) as stream:
        stream.write(b"y")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640 and kept.read_text() == "y"


@contextmanager
def serving(folder: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    server = subprocess.Popen(
        command("022", "serve", "--port", "0", "--workers", "2", *args), cwd=folder, env=env(folder),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert "/sparql" in server.stdout.readline()
        yield server
    finally:
        server.kill()
        server.communicate()


def snapshots(folder: Path) -> set[Path]:
    """Return the snapshots in a folder; libraries may keep files of their own beside them."""
    return {path for path in folder.iterdir() if ".snapshot-" in path.name}


@pytest.mark.slow
def test_a_killed_servers_folders_go_and_a_live_ones_stay(tmp_path: Path) -> None:
    tmp = tmp_path / "tmp"
    store = ["--store", "oxigraph:"]
    with serving(tmp_path, *store) as first, serving(tmp_path, *store):
        both = snapshots(tmp)
        assert len(both) == 2 and wide(tmp) == {}
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert snapshots(tmp) == both
        run("022", tmp_path, "query", "--store", "oxigraph:", "ASK { ?s ?p ?o }")
        (left,) = snapshots(tmp)
        assert left in both and (left / "0" / "store.nq").exists()
    run("022", tmp_path, "query", "--store", "oxigraph:", "ASK { ?s ?p ?o }")
    assert not snapshots(tmp)


def test_a_store_leaves_the_snapshots_of_one_with_a_like_name(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path / 'x.snapshot-y'}") as other:
        other.query("ASK { ?s ?p ?o }")
        there = [p for p in tmp_path.iterdir() if p.name.startswith(".x.snapshot-y")]
        assert there
        with mrag.connect(f"oxigraph:{tmp_path / 'x'}") as kg:
            kg.query("ASK { ?s ?p ?o }")
        assert all(p.exists() for p in there)


KILLED = """
import os, signal, sys
from mrag.storage.files import Scratch
with Scratch(sys.argv[1]) as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_what_the_next_one_removes(tmp_path: Path) -> None:
    folder = Path(commands.python(KILLED, "view", **env(tmp_path)).stdout.strip())
    assert folder.parent == tmp_path / "tmp" and (folder / "file").exists()
    assert collect(tmp_path / "tmp") == 1 and not folder.exists()


def test_only_what_is_ours_and_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = tmp_path / "precious"
    target.mkdir()
    (target / "in-use").touch()
    kept = [target]
    for name in "mrag-data .mrag.cache .mrag.snapshot-short .mrag.UP-abcdefgh x.mrag.view-abcdefgh".split():
        (tmp_path / name).mkdir()
        (tmp_path / name / "in-use").touch()
        kept.append(tmp_path / name)
    (tmp_path / ".mrag.view-a_link00").symlink_to(target)
    (tmp_path / ".mrag.view-afile000").touch()
    (tmp_path / ".mrag.view-new00000").mkdir()
    (tmp_path / ".mrag.view-nolock00").mkdir()
    (tmp_path / ".mrag.view-nolock00" / "file").touch()
    (tmp_path / ".mrag.view-empty000").mkdir()
    os.utime(tmp_path / ".mrag.view-empty000", (time.time() - 3600,) * 2)
    kept += [tmp_path / f".mrag.view-{name}" for name in ("a_link00", "afile000", "new00000", "nolock00")]
    with Scratch("view") as live:
        assert collect() == 1
        assert sorted(tmp_path.iterdir()) == sorted([*kept, live])
    assert not live.exists()


def test_a_folder_that_is_just_made_is_not_taken_for_one_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ThreadPoolExecutor(2) as pool:
        collectors = [pool.submit(lambda: [collect() for _ in range(2_000)]) for _ in range(2)]
        while not all(each.done() for each in collectors):
            with Scratch("view") as live:
                (live / "file").touch()
                assert (live / "file").exists()
    assert not list(tmp_path.iterdir())
