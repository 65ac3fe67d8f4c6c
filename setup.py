"""Puts a software bill of materials into the wheel (PEP 770); all else of the build is in pyproject.toml.

The bill is CycloneDX 1.6 and the same for the same sources: it has neither a time nor a random number. Of
packages it gives the ranges that are declared, since what is installed is decided elsewhere; of the files
that are bundled it gives versions, licences and digests.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from setuptools import Distribution, setup
from setuptools.command.egg_info import egg_info

ROOT = Path(__file__).parent
VENDOR = ROOT / "mrag" / "server" / "page" / "vendor"
VOCABULARY = ROOT / "mrag" / "index" / "data" / "bert-uncased-vocab.txt.gz"
_ROW = re.compile(
    r"^\| (?P<files>`.+`) \| \[(?P<name>.+?)\]\(.+?\) \| (?P<version>\S+) \| (?P<licence>.+?) \|$", re.M
)
_BUNDLED = re.compile(r"^=+\n(?P<names>\S.*) \((?P<licence>.+)\)$", re.M)
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?P<extras>\[.*?\])?(?P<range>[^;]*)")


def bill(distribution: Distribution) -> dict[str, Any]:
    """Return the bill of a distribution."""
    name, version = distribution.get_name(), distribution.get_version()
    own = f"pkg:pypi/{name}@{version}"
    required = {p["bom-ref"]: p for p in map(package, distribution.install_requires)}
    wanted = (line for lines in distribution.extras_require.values() for line in lines)
    optional = {p["bom-ref"]: {**p, "scope": "optional"} for p in map(package, wanted) if p["name"] != name}
    bundled = [*vendored(), file_of(VOCABULARY, "Apache-2.0")]
    components = [*required.values(), *(optional[r] for r in optional if r not in required), *bundled]
    root = {"type": "library", "bom-ref": own, "name": name, "version": version, "purl": own,
            "licenses": [{"expression": "Apache-2.0"}]}  # fmt: skip
    depends = sorted([*required, *(c["bom-ref"] for c in bundled)])
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root},
        "components": sorted(components, key=lambda c: str(c["bom-ref"])),
        "dependencies": [{"ref": own, "dependsOn": depends}],
    }


def package(line: str) -> dict[str, Any]:
    """Return a package of the index as a component; a version only where it is pinned."""
    found = _REQUIREMENT.match(line)
    if found is None:
        raise ValueError(f"Not a requirement: {line}")
    name = re.sub(r"[-_.]+", "-", found["name"]).lower()
    accepted = found["range"].strip()
    pinned = {"version": accepted.removeprefix("==")} if accepted.startswith("==") else {}
    purl = f"pkg:pypi/{name}" + (f"@{pinned['version']}" if pinned else "")
    made = {"type": "library", "bom-ref": f"pkg:pypi/{name}", "name": name, **pinned, "purl": purl}
    return {**made, "scope": "required", "properties": [{"name": "mrag:accepts", "value": accepted or "any"}]}


def vendored() -> list[dict[str, Any]]:
    """Return what the page bundles: packages, their files, and what they bundle themselves."""
    made = []
    for row in _ROW.finditer((VENDOR / "README.md").read_text(encoding="utf-8")):
        purl = f"pkg:npm/{row['name'].replace('@', '%40')}@{row['version']}"
        files = [file_of(VENDOR / name, row["licence"]) for name in re.findall("`(.+?)`", row["files"])]
        about = {
            "type": "library",
            "bom-ref": purl,
            "name": row["name"],
            "version": row["version"],
            "purl": purl,
        }
        made.append({**about, "licenses": [{"expression": row["licence"]}], "components": files})
    named = {component["name"] for component in made}
    for found in _BUNDLED.finditer((VENDOR / "LICENSES.txt").read_text(encoding="utf-8")):
        for name in re.split(r", | and ", found["names"]):
            bare = name.split(" ")[0]
            if bare not in named:
                purl = f"pkg:npm/{bare.replace('@', '%40')}"
                licence = found["licence"].removeprefix("(").removesuffix(")")
                made.append({"type": "library", "bom-ref": purl, "name": bare, "purl": purl,
                             "licenses": [{"expression": licence}]})  # fmt: skip
    return made


def file_of(path: Path, licence: str) -> dict[str, Any]:
    """Return a bundled file as a component with its digest."""
    name = path.relative_to(ROOT).as_posix()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"type": "file", "bom-ref": name, "name": name, "licenses": [{"expression": licence}],
            "hashes": [{"alg": "SHA-256", "content": digest}]}  # fmt: skip


class WithBill(egg_info):
    """Writes the bill beside the other metadata, from where it gets into the wheel."""

    def run(self) -> None:
        """Write the metadata and the bill."""
        super().run()
        folder = Path(self.egg_info) / "sboms"
        folder.mkdir(exist_ok=True)
        text = json.dumps(bill(self.distribution), ensure_ascii=False, indent=2)
        (folder / "mrag.cdx.json").write_text(text + "\n", encoding="utf-8")


setup(cmdclass={"egg_info": WithBill})
