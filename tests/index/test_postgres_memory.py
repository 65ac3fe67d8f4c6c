"""An index of vectors is built where the server has as little shared memory as a container is given."""

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from mrag.index import Bm25Params
from mrag.index.backends.base import open_backend
from mrag.index.embedding import embedder

pytestmark = pytest.mark.slow
_SMALL = 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"'


def build(folder: Path) -> None:
    """Build an index in a server of its own, search it, and print what the server could not do."""
    import psycopg

    model = embedder("wordllama")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver

        server = pgserver.get_server(folder / "server", cleanup_mode="stop")
    try:
        backend = open_backend(server.get_uri(), "small", folder)
        index = backend.create("main", embedder=model, bm25=Bm25Params())
        index.sync(((f"urn:{n}", f"shelf {n} holds {n * 7 % 1013} books") for n in range(15_000)), extra={})
        assert index.search("shelf 77 holds 539 books", 1)[0].doc_id == "urn:77"
        with psycopg.connect(server.get_uri()) as connection:
            count = "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'"
            assert connection.execute(count).fetchone() == (1,)
    finally:
        server.cleanup()
    sys.stdout.write((folder / "server" / "log").read_text())


def test_workers_that_have_no_memory_to_share_are_done_without(tmp_path: Path) -> None:
    for needed in ("psycopg", "pgserver", "wordllama"):
        pytest.importorskip(needed)
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode
    ):
        pytest.skip("no file system may be mounted here")
    command = ["unshare", "-m", "sh", "-c", _SMALL, "sh", sys.executable, __file__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "could not resize shared memory segment" in done.stdout


if __name__ == "__main__":
    build(Path(sys.argv[1]))
