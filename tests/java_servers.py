"""Fuseki, RDF4J Server, GraphDB's engine, Blazegraph and OpenSearch, from packages that Maven's cache keeps.

GraphDB is what its licence lets tests use: the engine, in RDF4J's web application. It has no Workbench, so
nothing at `/rest`, and no plugin of similarity, like a GraphDB of which a proxy shows only its repositories.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from tests.cases import beside
from tests.servers import CACHE, absent, free_port, running

CATALOGUE = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of Java: to optimise code that runs for seconds takes longer than to run it as it is."""
_JAVA = ("java", *QUICK, "-Xmx1g")
_POM = '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>{}</project>'
_CONFIG = "tag:rdf4j.org,2023:config/"
_SAIL = beside(__file__, "sail.ttl")


def _element(name: str, *inside: str) -> str:
    return f"<{name}>{''.join(inside)}</{name}>"


def _dependency(package: str) -> str:
    names = ("groupId", "artifactId", "version", "type")
    inside = [_element(n, p) for n, p in zip(names, package.split(":"), strict=False)]
    if package.endswith(":war"):  # what these need is in them
        inside.append(_element("exclusions", _element("exclusion", *(_element(n, "*") for n in names[:2]))))
    return _element("dependency", *inside)


def packages(server: str, part: str = "packages") -> Path:
    """Return a folder of a server's packages and all that these need, fetched when it is first wanted."""
    wanted = CATALOGUE[server][part]
    kept = CACHE / f"{server}-{part}-{sha256(repr(wanted).encode()).hexdigest()[:12]}"
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "maven.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be fetching, and Maven's cache is not for two
        if not kept.exists():
            _fetch(wanted, kept)
    return kept


def _fetch(wanted: list[str], into: Path) -> None:
    if shutil.which("java") is None or (maven := shutil.which("mvn")) is None:
        absent("no Java or no Maven is installed (Debian: default-jdk-headless, maven)")
    with TemporaryDirectory(dir=CACHE) as name:
        own = [_element(n, "x") for n in ("groupId", "artifactId", "version")]
        needs = _element("dependencies", *map(_dependency, wanted))
        (Path(name) / "pom.xml").write_text(_POM.format("".join((*own, needs))), "utf-8")
        command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
        done = subprocess.run(command, cwd=name, capture_output=True, text=True)
        if done.returncode:
            absent(f"Maven cannot fetch {', '.join(wanted)}: {(done.stdout + done.stderr)[-500:]}")
        lib = Path(name) / "lib"
        for plugin in lib.glob("*.zip"):
            with zipfile.ZipFile(plugin) as archive:
                jars = [one for one in archive.namelist() if one.endswith(".jar") and "slf4j" not in one]
                archive.extractall(lib, jars)
        lib.rename(into)


def _artifact(jar: Path) -> str:
    return re.split(r"-[0-9]", jar.name)[0]


def _engine() -> Path:
    """Return RDF4J's web application with GraphDB's engine in it, made when it is first wanted."""
    engine, (war,) = packages("graphdb"), packages("graphdb", "host").glob("*.war")
    kept = engine.with_name(f"{engine.name}-webapp")
    with (CACHE / "maven.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            with TemporaryDirectory(dir=CACHE) as name:
                with zipfile.ZipFile(war) as archive:
                    archive.extractall(name)
                lib, ours = Path(name) / "WEB-INF" / "lib", {_artifact(jar) for jar in engine.iterdir()}
                for jar in lib.iterdir():
                    if _artifact(jar) in ours or re.search(CATALOGUE["graphdb"]["left_out"], _artifact(jar)):
                        jar.unlink()
                for jar in engine.glob("*.jar"):
                    if not jar.name.startswith("log4j-over-slf4j"):
                        os.link(jar, lib / jar.name)
                shutil.copytree(name, kept, copy_function=os.link)
    return kept


def java(server: str) -> list[str]:
    """Return the command that runs classes of a server's packages."""
    return [*_JAVA, "-cp", f"{packages(server)}/*"]


@contextmanager
def fuseki_server(folder: Path, *arguments: str) -> Iterator[str]:
    """Give the address of a Fuseki, by default with an empty dataset `/ds` in memory that may be written."""
    base = f"http://127.0.0.1:{free_port()}"
    command = [*java("fuseki"), "org.apache.jena.fuseki.main.cmds.FusekiMainCmd"]
    command += ["--port", base.rpartition(":")[2], "--ping", *(arguments or ("--update", "--mem", "/ds"))]
    with running(command, f"{base}/$/ping", folder / "fuseki.log"):
        yield base


@contextmanager
def opensearch_server(folder: Path) -> Iterator[str]:
    """Give the address of an OpenSearch with its plugin for vectors."""
    base = f"http://127.0.0.1:{free_port()}"
    command = [*java("opensearch")[:-2], "-Djava.security.manager=allow", "-Dlog4j2.disable.jmx=true"]
    command += [*java("opensearch")[-2:], str(Path(__file__).with_name("OpenSearchNode.java")), str(folder)]
    command += [base.rpartition(":")[2], str(free_port())]
    with running(command, base, folder / "opensearch.log", seconds=600, ask={}):
        yield base


@contextmanager
def blazegraph_server(folder: Path) -> Iterator[str]:
    """Give the URL of an empty store on a Blazegraph."""
    (war,) = packages("blazegraph").glob("*.war")
    opens = (f"--add-opens=java.base/{one}=ALL-UNNAMED" for one in ("java.lang", "java.nio", "sun.nio.ch"))
    with _served(folder, "blazegraph.log", *opens, str(war), ready="/sparql?query=ASK%7B%7D") as base:
        yield f"sparql:{base}/sparql?update={base}/sparql"


@contextmanager
def _served(
    folder: Path, log: str, *arguments: str, path: str = "/", ready: str = "/protocol"
) -> Iterator[str]:
    (runner,) = packages("jetty").glob("jetty-runner-*.jar")
    port = str(free_port())
    command = [*_JAVA, f"-Dorg.eclipse.rdf4j.appdata.basedir={folder / 'data'}", *arguments[:-1]]
    command += ["-jar", str(runner), "--port", port, "--path", path, arguments[-1]]
    base = f"http://127.0.0.1:{port}{path.rstrip('/')}"
    with running(command, f"{base}{ready}", folder / log, seconds=600, ask={}):
        yield base


@contextmanager
def rdf4j_server(folder: Path) -> Iterator[str]:
    """Give the address of an RDF4J Server without repositories."""
    (war,) = packages("rdf4j").glob("*.war")
    with _served(folder, "rdf4j.log", str(war), path="/rdf4j-server") as base:
        yield base


@contextmanager
def graphdb_server(folder: Path) -> Iterator[str]:
    """Give the address of a GraphDB without repositories."""
    home = f"-Dgraphdb.home={folder / 'home'}", f"-Dgraphdb.dist={folder / 'home'}"
    (folder / "home").mkdir()
    with _served(folder, "graphdb.log", *home, str(_engine())) as base:
        yield base


@contextmanager
def _repository(base: str, name: str, config: str) -> Iterator[str]:
    place = f"{base}/repositories/{name}"
    turtle = {"Content-Type": "text/turtle"}
    requests.put(place, data=config.encode(), headers=turtle, timeout=60).raise_for_status()
    try:
        yield place
    finally:
        requests.delete(place, timeout=60).raise_for_status()


@contextmanager
def rdf4j_repository(base: str, name: str, sail: str = '"openrdf:MemoryStore"') -> Iterator[str]:
    """Give the URL of an empty repository of RDF4J; `sail` is its type and, in Turtle, what else it has."""
    config = f"""@prefix c: <{_CONFIG}> . [] a c:Repository ; c:rep.id "{name}" ;
        c:rep.impl [ c:rep.type "openrdf:SailRepository" ; c:sail.impl [ c:sail.type {sail} ] ] ."""
    with _repository(base, name, config) as place:
        yield f"rdf4j:{place}"


@contextmanager
def graphdb_repository(
    base: str, name: str, ruleset: str = "empty", *, shapes: bool = False, **settings: str
) -> Iterator[str]:
    """Give the URL of an empty repository of GraphDB; of settings, `_` stands for `-`."""
    values = {"ruleset": ruleset, "repository-type": "file-repository", "storage-folder": "storage",
              "entity-index-size": "100000", "entity-id-size": "32", "disable-sameAs": "true"}  # fmt: skip
    values |= {key.replace("_", "-"): value for key, value in settings.items()}
    sail = " ; ".join(f'graphdb:{key} "{value}"' for key, value in values.items())
    sail = f'[ sail:sailType "graphdb:Sail" ; {sail} ]'
    config = _SAIL % (name, f'[ sail:sailType "rdf4j:ShaclSail" ; sail:delegate {sail} ]' if shapes else sail)
    with _repository(base, name, config) as place:
        yield f"graphdb:{place}"
