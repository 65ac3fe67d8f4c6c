"""The compose files hold what a demo on one machine needs: pinned, healthy, local, without secrets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

DOCKER = ROOT / "docker"
STACK = DOCKER / "stack" / "compose.yaml"
ALL = sorted(DOCKER.glob("*/compose.yaml"))
FILES = [file for file in ALL if file != STACK]
LOADERS = {"graphdb": "load", "fuseki": "load", "virtuoso": "load", "ollama": "pull"}
PORTS = {"graphdb": 7200, "fuseki": 3030, "virtuoso": 8890, "ollama": 11434}


def read(file: Path) -> dict[str, Any]:
    loaded = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_there_is_one_for_each_server() -> None:
    assert [file.parent.name for file in FILES] == sorted(LOADERS)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_images_are_pinned_to_a_version(file: Path) -> None:
    for service in read(file)["services"].values():
        assert re.fullmatch(r"[\w.\-]+/[\w.\-]+:v?\d+\.\d+\.\d+[\w.\-]*", service["image"])
        if "build" in service:
            assert re.search(r"#jena-\d+\.\d+\.\d+:", service["build"]["context"])


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_servers_have_health_checks_and_ports_of_this_machine_only(file: Path) -> None:
    services = read(file)["services"]
    server, loader = file.parent.name, LOADERS[file.parent.name]
    assert set(services) == {server, loader}
    check = services[server]["healthcheck"]
    assert check["test"][0] in ("CMD", "CMD-SHELL") and check["retries"] * int(check["interval"][:-1]) >= 60
    ports = services[server]["ports"]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert ports[0].endswith(f":{PORTS[server]}")
    assert "ports" not in services[loader]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_the_loader_waits_for_health_and_never_for_a_time(file: Path) -> None:
    server, loader = file.parent.name, read(file)["services"][LOADERS[file.parent.name]]
    assert loader["depends_on"] == {server: {"condition": "service_healthy"}}
    # Compose counts a container that has ended as a failure of `up --wait`, so it is run by name.
    assert loader["profiles"] == ["load"]
    for source in file.parent.iterdir():
        assert "sleep" not in source.read_text(encoding="utf-8"), source


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_volumes_are_named_and_mounts_are_there_and_read_only(file: Path) -> None:
    document = read(file)
    for service in document["services"].values():
        for volume in service.get("volumes", []):
            source, _, *mode = volume.split(":")
            if source.startswith("."):
                assert mode == ["ro"], volume
                assert (file.parent / source).exists(), volume
            else:
                assert source in document["volumes"], volume


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.parent.name)
def test_there_are_no_secrets_but_a_default_for_the_demo(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for line in text.splitlines():
        if re.search(r"(?i)^\s*\w*(password|token|secret|licen[cs]e)\w*:", line):
            assert re.search(r"\$\{\w+:-\w*\}", line), line
    assert "docker/" + file.parent.name + "/compose.yaml run --rm " + LOADERS[file.parent.name] in text


@pytest.mark.parametrize("file", ALL, ids=lambda f: f.parent.name)
def test_it_follows_the_schema_of_compose(file: Path) -> None:
    import jsonschema  # takes two seconds, which is too long for every worker

    schema = json.loads((Path(__file__).parent / "compose_spec.json").read_text(encoding="utf-8"))
    document = read(file)
    # The schema is that of docker-compose 1.29, which had no `name` yet.
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", document.pop("name"))
    schema = jsonschema.Draft7Validator({key: value for key, value in schema.items() if key != "$schema"})
    schema.validate(document)
    assert not schema.is_valid({**document, "services": {"x": {"image": "a/b:1", "port": []}}})


@pytest.mark.parametrize("file", ALL, ids=lambda f: f.parent.name)
def test_compose_reads_it(file: Path) -> None:
    found = shutil.which("docker")
    plugin = [found, "compose"] if found else []
    if not plugin or subprocess.run([*plugin, "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker compose is not installed")
    command = [*plugin, "-f", str(file), "--profile", "load", "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
