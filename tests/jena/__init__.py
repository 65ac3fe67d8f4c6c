"""Jena's own engine behind Fuseki's paths."""

import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.servers import CACHE, free_port, running

JARS = Path(os.environ.get("MRAG_JENA_JARS", "/usr/share/java"))
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of Java: to optimise code that runs for seconds takes longer than to run it as it is."""
_WANTED = (
    "jena-", "commons-", "thrift", "protobuf", "dexx", "gson", "guava", "http", "jackson-",
    "jakarta.json", "jsonp", "jsonld", "titanium", "slf4j-api", "slf4j-nop",
)  # fmt: skip


def jena_command(folder: Path) -> list[str]:
    """Return the command that runs classes of Jena's, with what Debian's package leaves at the wrong place.

    Args:
        folder: An empty folder for that.
    """
    core = JARS / "jena-core.jar"
    if not core.exists() or shutil.which("java") is None:
        pytest.skip("Jena's tools are not installed (Debian: libapache-jena-java); MRAG_JENA_JARS names them")
    moved = "org/apache/jena/ext/"
    with zipfile.ZipFile(core) as archive:
        for name in archive.namelist():
            if name.startswith(moved + "xerces/") and name.endswith(".properties"):
                target = folder / name.removeprefix(moved)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
    jars = [str(jar) for jar in sorted(JARS.glob("*.jar")) if jar.name.startswith(_WANTED)]
    return ["java", *QUICK, "-cp", os.pathsep.join([str(folder), *jars])]


def _compiled(path: str) -> Path:
    """Return where the compiled server is kept, since it takes long to compile it.

    Args:
        path: Where its compiler finds Jena.
    """
    source = Path(__file__).with_name("JenaServer.java")
    compiler = Path(str(shutil.which("javac"))).resolve()
    kept = CACHE / f"jena-{sha256(source.read_bytes() + bytes(compiler)).hexdigest()[:16]}"
    if not kept.exists():
        CACHE.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as name:
            command = [str(compiler), "-cp", path, "-d", f"{name}/classes", str(source)]
            subprocess.run(command, check=True, capture_output=True)
            # Another worker may have been quicker.
            with suppress(OSError):
                Path(name, "classes").rename(kept)
    return kept


@contextmanager
def jena_server(folder: Path, **datasets: str) -> Iterator[str]:
    """Give the URL of a server whose datasets Jena holds, as Fuseki 4.5 would; its HTTP is the tests' own.

    Args:
        folder: An empty folder.
        datasets: By name, `tdb2` for one in memory, `tdb2:FOLDER`, or an assembler's `FILE#RESOURCE`.
    """
    if shutil.which("javac") is None:
        pytest.skip("no Java compiler is installed (Debian: default-jdk-headless)")
    (folder / "fix").mkdir()
    *command, path = jena_command(folder / "fix")
    port = free_port()
    names = datasets or {"ds": "tdb2"}
    started = [*command, os.pathsep.join([path, str(_compiled(path))]), "JenaServer", str(port)]
    started += [f"{n.replace('_', '-')}={w}" for n, w in names.items()]
    base = f"http://127.0.0.1:{port}"
    with running(started, f"{base}/$/ping", folder / "jena.log", seconds=120):
        yield base
