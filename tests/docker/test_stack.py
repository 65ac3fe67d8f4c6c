"""The stack of several servers: what its parts say of each other holds together. Nothing of it is run."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from mrag.config import Settings
from mrag.index.backends.base import _KINDS
from tests.conftest import ROOT
from tests.docker.test_compose import DOCKER, STACK, read

KUBERNETES = DOCKER / "stack" / "kubernetes.yaml"


def objects() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(KUBERNETES.read_text(encoding="utf-8")))


def pod() -> dict[str, Any]:
    (deployment,) = (each for each in objects() if each["kind"] == "Deployment")
    found: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.31", "1.34"])
def test_kubernetes_knows_every_field(version: str) -> None:
    import kubernetes_validate  # and with it jsonschema, which takes two seconds

    for each in objects():
        kubernetes_validate.validate(each, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**objects()[1], "spec": {"replicas": "two"}}, version, strict=True)


def test_every_service_is_there_that_another_waits_for_or_names() -> None:
    document = read(STACK)
    services = document["services"]
    for name, service in services.items():
        for other, how in service["depends_on"].items() if "depends_on" in service else ():
            assert how == {"condition": "service_healthy"} and "healthcheck" in services[other], name
        for volume in service.get("volumes", []):
            source, _, *mode = volume.split(":")
            if source.startswith("."):
                assert mode == ["ro"] and (STACK.parent / source).exists(), volume
            else:
                assert source in document["volumes"], volume
    texts = " ".join(map(str, chain(*(s.get("environment", {}).values() for s in services.values()))))
    hosts = set(re.findall(r"(?://|@)([a-z]+)[:/]", texts))
    assert hosts == {"fuseki", "postgres", "ollama"} and hosts <= services.keys()
    upstream = re.findall(
        r"server (\w+):(\d+)", (DOCKER / "stack" / "nginx.conf").read_text(encoding="utf-8")
    )
    assert upstream == [("mrag", "7333")]
    assert services["mrag"]["deploy"]["replicas"] == 2
    ports = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert list(ports) == ["balancer"] and ports["balancer"][0].startswith("127.0.0.1:")


def test_its_settings_are_those_that_the_program_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    config = next(each["data"] for each in objects() if each["kind"] == "ConfigMap")
    given = read(STACK)["services"]["mrag"]["environment"]
    assert config.keys() == given.keys() - {"MRAG_TOKEN"}
    for name, value in config.items():
        monkeypatch.setenv(name, value)
    settings = Settings.from_env()
    assert settings.store == given["MRAG_STORE"] and settings.index == given["MRAG_INDEX"]
    assert settings.index.partition(":")[0] in _KINDS
    assert settings.embedder == "wordllama" and settings.model == "ollama:llama3.2"


def test_probes_ask_what_the_server_answers() -> None:
    (container,) = pod()["containers"]
    asked = {
        container[probe]["httpGet"]["path"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")
    }
    endpoint = (ROOT / "docs" / "endpoint.md").read_text(encoding="utf-8")
    assert asked == {"/health", "/ready"} and all(f"| `{path}` |" in endpoint for path in asked)
    assert container["ports"][0]["containerPort"] == 7333
    assert container["securityContext"]["runAsUser"] == 10001


def test_the_image_has_the_extras_and_files_that_it_names() -> None:
    recipe = (DOCKER / "stack" / "Dockerfile").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', recipe)
    assert all(re.search(rf"^{extra} = ", project, re.MULTILINE) for extra in extras.split(","))
    kept = (DOCKER / "stack" / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert kept[0] == "*" and all((ROOT / name.removeprefix("!")).exists() for name in kept[1:])
    assert Path(ROOT / "mrag" / "sparql").exists()
