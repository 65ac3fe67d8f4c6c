"""The wheel, the public names, the direction of imports, and the gate's audit, by a service on loopback."""

import ast
import hashlib
import json
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import mrag
from tests.conftest import ROOT
from tests.servers import Quiet, answering, free_port


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a clean copy of the tracked files."""
    source = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
        capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("the sources are no git checkout")
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if not name or not (path.is_symlink() or path.exists()):
            continue
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            target.symlink_to(path.readlink())
        else:
            target.write_bytes(path.read_bytes())
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(source)],
        check=True,
        capture_output=True,
    )
    (built,) = out.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_the_package_alone_with_all_its_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        tops = {n.split("/")[0] for n in names if ".dist-info/" not in n}
        (top_level,) = [n for n in names if n.endswith("top_level.txt")]
        assert archive.read(top_level).split() == [b"mrag"]
    assert tops == {"mrag"}
    for folder, endings in (("sparql", (".rq", ".ru")), ("ontology", (".ttl",)), ("loaders", (".py",))):
        here = {str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*") if p.suffix in endings}
        assert here
        assert {f"mrag/{n}" for n in here} <= set(names)
    assert "mrag/py.typed" in names
    assert any(n.startswith("mrag/index/data/") for n in names)


@pytest.mark.slow
def test_the_wheel_carries_a_bill_of_its_materials(wheel: Path) -> None:
    # These take two seconds, which is too long for every worker.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if ".dist-info/sboms/" in n]
        text = archive.read(name).decode()
        (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        declared = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist")
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
        bill = json.loads(text)
        components = {c["name"]: c for c in bill["components"]}
        requirements = [Requirement(line) for line in declared]
        assert {r.name.lower() for r in requirements} - {"mrag"} <= set(components)
        required = {r.name.lower() for r in requirements if r.marker is None}
        assert required == {c["name"] for c in bill["components"] if c.get("scope") == "required"}
        files = {}
        for component in bill["components"]:
            for file in (component, *component.get("components", ())):
                if file["type"] == "file":
                    files[file["name"]] = file["hashes"][0]["content"]
        bundled = {n for n in archive.namelist() if n.startswith("mrag/server/page/vendor/")}
        bundled -= {f"mrag/server/page/vendor/{n}" for n in ("LICENSES.txt", "README.md")}
        assert set(files) == bundled | {"mrag/index/data/bert-uncased-vocab.txt.gz"}
        assert files == {n: hashlib.sha256(archive.read(n)).hexdigest() for n in files}
        for inside in ("@zazuko/yasqe", "codemirror", "dompurify", "lodash-es"):
            assert components[inside]["licenses"], inside
        depends = bill["dependencies"][0]["dependsOn"]
        assert {f"pkg:pypi/{n}" for n in required} <= set(depends)


@pytest.mark.slow
def test_the_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    # Only what the embedded store and the catalogue need: the rest is tested by the README's command.
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-compile"]
    install.append("--disable-pip-version-check")
    subprocess.run([*install, "--no-deps", str(wheel)], check=True, capture_output=True)
    subprocess.run([*install, "pyoxigraph", "rdflib", "platformdirs"], check=True, capture_output=True)
    code = (
        "import mrag, mrag.loaders.rdf\nfrom mrag.rdf import queries\n"
        "assert len(queries.names()) > 10\n"
        "kg = mrag.connect()\nfrom importlib.resources import files, as_file\n"
        "with as_file(files('mrag') / 'ontology' / 'products.ttl') as p: assert kg.load([p]).triples > 2000\n"
        "print(kg.query('ASK { ex:GraphDB a ex:TripleStore }'), mrag.__file__)\nkg.close()\n"
    )
    done = subprocess.run([str(python), "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True") and "site-packages" in done.stdout


def test_the_public_names_are_complete_sorted_and_there() -> None:
    assert mrag.__all__ == sorted(mrag.__all__, key=lambda n: (not n[0].isupper(), n))
    for name in mrag.__all__:
        assert getattr(mrag, name) is not None
    assert {"__version__", *dir(mrag)} >= set(mrag.__all__)
    with pytest.raises(AttributeError):
        mrag.nothing  # noqa: B018


def test_imports_point_one_way() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_version_is_the_same_everywhere() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{mrag.__version__}"' in text
    assert f"version: {mrag.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^## \[?{re.escape(mrag.__version__)}", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_sparql_stands_in_files_alone() -> None:
    # Generated queries are printed by `patterns.py`, the parser lists the words of the language, PostgreSQL
    # is asked in SQL, and the conformance suite is a test that ships; the list is short on purpose.
    allowed = {"patterns.py", "parser.py", "queries.py", "postgres.py"}
    verbs = re.compile(r"\b(SELECT|CONSTRUCT|ASK|INSERT|DELETE)\b.*(\{|\bWHERE\b|\bDATA\b)", re.S)
    found = []
    for path in sorted((ROOT / "mrag").glob("**/*.py")):
        if path.name in allowed or path.name == "conformance.py":
            continue
        if not verbs.search(text := path.read_text()):
            continue
        tree = ast.parse(text)
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose)
        found += [
            f"{path.relative_to(ROOT)}: {node.value[:60]}"
            for node in texts
            if isinstance(node.value, str) and verbs.search(node.value)
        ]
    assert found == []


KNOWN = {("requests", "2.19.0"): "PYSEC-0000-1", ("rdflib", "7.1.1"): "PYSEC-0000-2"}


def advisory(name: str, version: str) -> dict[str, Any]:
    events = [{"introduced": "0"}, {"fixed": "99"}]
    ranges = [{"type": "ECOSYSTEM", "events": events}]
    told = {"id": KNOWN[name, version], "summary": "Bad.", "modified": "2026-01-01T00:00:00Z"}
    return {**told, "affected": [{"package": {"name": name, "ecosystem": "PyPI"}, "ranges": ranges}]}


@pytest.fixture
def service() -> Iterator[str]:
    class Osv(Quiet):
        def do_POST(self) -> None:
            asked = json.loads(self.body())
            key = (asked["package"]["name"], asked["version"])
            self.answer(200, json.dumps({"vulns": [advisory(*key)]} if key in KNOWN else {}).encode())

    with answering(Osv) as at:
        yield f"http://{at}/v1/query"


def audit(url: str, folder: Path, wanted: str) -> subprocess.CompletedProcess[str]:
    (folder / "wanted.txt").write_text(wanted)
    options = ["-s", "osv", "--osv-url", url, "--no-deps", "--disable-pip", "-r", str(folder / "wanted.txt")]
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "audit.py"), *options], capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_an_advisory_fails_the_gate_and_a_sound_package_does_not(service: str, tmp_path: Path) -> None:
    sound = audit(service, tmp_path, "numpy==2.3.0\n")
    assert sound.returncode == 0 and "1 packages audited, 0 advisories" in sound.stdout, sound
    bad = audit(service, tmp_path, "numpy==2.3.0\nrdflib==7.1.1\n")
    assert bad.returncode == 1 and "rdflib 7.1.1: PYSEC-0000-2" in bad.stdout, bad


@pytest.mark.slow
def test_a_service_that_knows_nothing_counts_as_none(tmp_path: Path) -> None:
    silent = audit(f"http://127.0.0.1:{free_port()}/v1/query", tmp_path, "rdflib==7.1.1\n")
    assert silent.returncode == 0 and silent.stdout.startswith("not run: no service"), silent


def test_each_line_that_is_left_out_says_why() -> None:
    bare = []
    for path in sorted((ROOT / "mrag").rglob("*.py")):
        lines = path.read_text("utf-8").splitlines()
        for at, line in enumerate(lines):
            if rule := re.search(r"# noqa: S\d+(.*)", line):
                before = [x.strip() for x in lines[max(0, at - 3) : at]]
                if not rule[1].strip(" #") and not any(x.startswith("#") for x in before):
                    bare.append(f"{path}:{at + 1}")
    assert not bare


def test_what_torch_reads_is_weights_alone() -> None:
    """The linter has no rule for it."""
    calls = [
        node
        for path in sorted((ROOT / "mrag").rglob("*.py"))
        if b"torch" in (source := path.read_bytes())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load"
    ]
    assert calls
    for call in calls:
        assert {word.arg: ast.unparse(word.value) for word in call.keywords}["weights_only"] == "True"
