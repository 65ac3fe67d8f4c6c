"""The files of each server and of the stack: what they say holds together, and with the documentation.

The compose files hold what a demo on one machine needs: pinned, healthy, local, without secrets. Nothing of
the stack of several servers is run.
"""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from rdflib import RDF, Graph, Literal, Namespace, URIRef

from mrag.config import Settings
from mrag.index.backends.base import _KINDS
from mrag.rdf import queries
from tests.conftest import ROOT

DOCKER = ROOT / "docker"
STACK = DOCKER / "stack" / "compose.yaml"
ALL = sorted(DOCKER.glob("*/compose.yaml"))
FILES = [file for file in ALL if file != STACK]
LOADERS = {"graphdb": "load", "fuseki": "load", "virtuoso": "load", "ollama": "pull"}
PORTS = {"graphdb": 7200, "fuseki": 3030, "virtuoso": 8890, "ollama": 11434}


def read(file: Path) -> dict[str, Any]:
    loaded = yaml.safe_load(file.read_text("utf-8"))
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
        assert "sleep" not in source.read_text("utf-8"), source


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
    text = file.read_text("utf-8")
    for line in text.splitlines():
        if re.search(r"(?i)^\s*\w*(password|token|secret|licen[cs]e)\w*:", line):
            assert re.search(r"\$\{\w+:-\w*\}", line), line
    assert "docker/" + file.parent.name + "/compose.yaml run --rm " + LOADERS[file.parent.name] in text


@pytest.mark.parametrize("file", ALL, ids=lambda f: f.parent.name)
def test_it_follows_the_schema_of_compose(file: Path) -> None:
    import jsonschema  # takes two seconds, which is too long for every worker

    schema = json.loads((Path(__file__).parent / "compose_spec.json").read_text("utf-8"))
    document = read(file)
    # The schema is that of docker-compose 1.29, which had no `name` yet.
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", document.pop("name"))
    schema = jsonschema.Draft7Validator({key: value for key, value in schema.items() if key != "$schema"})
    schema.validate(document)
    assert not schema.is_valid({**document, "services": {"x": {"image": "a/b:1", "port": []}}})


REP = Namespace("http://www.openrdf.org/config/repository#")
SR = Namespace("http://www.openrdf.org/config/repository/sail#")
SAIL = Namespace("http://www.openrdf.org/config/sail#")
GRAPHDB = Namespace("http://www.ontotext.com/config/graphdb#")
FUSEKI = Namespace("http://jena.apache.org/fuseki#")
JA = Namespace("http://jena.hpl.hp.com/2005/11/Assembler#")
TDB2 = Namespace("http://jena.apache.org/2016/tdb#")


def test_the_graphdb_repository_reasons_and_says_when_it_is_too_slow() -> None:
    graph = Graph().parse(DOCKER / "graphdb" / "config.ttl")
    (node,) = graph.subjects(RDF.type, REP.Repository)
    assert graph.value(node, REP.repositoryID) == Literal("products")
    implementation = graph.value(node, REP.repositoryImpl)
    assert graph.value(implementation, REP.repositoryType) == Literal("graphdb:SailRepository")
    sail = graph.value(implementation, SR.sailImpl)
    assert graph.value(sail, SAIL.sailType) == Literal("graphdb:Sail")
    assert graph.value(sail, GRAPHDB.ruleset) == Literal("owl2-rl-optimized")
    assert graph.value(sail, GRAPHDB["disable-sameAs"]) == Literal("false")
    assert graph.value(sail, GRAPHDB["throw-QueryEvaluationException-on-timeout"]) == Literal("true")
    assert int(str(graph.value(sail, GRAPHDB["query-timeout"]))) > 0


def test_the_description_of_the_similarity_index_is_whole() -> None:
    index = json.loads((DOCKER / "graphdb" / "similarity.json").read_text("utf-8"))
    assert index["name"] == "main" and index["type"] == "text" and index["infer"] is True
    assert index["selectQuery"] == ""  # load.sh puts the catalogue's in
    lines = queries.get("similarity/workbench-text").text.splitlines(keepends=True)
    assert index["searchQuery"] == "".join(line for line in lines if not line.startswith("#+"))


def test_fuseki_has_the_dataset_as_stored_and_with_a_reasoner() -> None:
    graph = Graph().parse(DOCKER / "fuseki" / "config.ttl", publicID="http://base.example/config")
    services = {str(graph.value(s, FUSEKI.name)): s for s in graph.subjects(RDF.type, FUSEKI.Service)}
    assert set(services) == {"products", "products-owl"}
    for service in services.values():
        endpoints = {
            (str(graph.value(e, FUSEKI.name)), graph.value(e, FUSEKI.operation))
            for e in graph.objects(service, FUSEKI.endpoint)
        }
        # The paths that the store adapter asks for.
        assert {("query", FUSEKI.query), ("update", FUSEKI.update), ("data", FUSEKI["gsp-rw"])} <= endpoints
    plain = graph.value(services["products"], FUSEKI.dataset)
    assert graph.value(plain, RDF.type) == TDB2.DatasetTDB2
    owl = graph.value(services["products-owl"], FUSEKI.dataset)
    model = graph.value(owl, JA.defaultGraph)
    assert graph.value(model, RDF.type) == JA.InfModel
    reasoner = graph.value(graph.value(model, JA.reasoner), JA.reasonerURL)
    assert reasoner == URIRef("http://jena.hpl.hp.com/2003/OWLMicroFBRuleReasoner")
    base = graph.value(model, JA.baseModel)
    assert graph.value(base, RDF.type) == TDB2.GraphTDB2
    places = {str(place) for place in graph.objects(None, TDB2.location)}
    assert len(places) == 2 and all(place.startswith("/fuseki/databases/") for place in places)


KUBERNETES = DOCKER / "stack" / "kubernetes.yaml"


def objects() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(KUBERNETES.read_text("utf-8")))


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
    upstream = re.findall(r"server (\w+):(\d+)", (DOCKER / "stack" / "nginx.conf").read_text("utf-8"))
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
    asked = {container[p]["httpGet"]["path"] for p in ("startupProbe", "readinessProbe", "livenessProbe")}
    endpoint = (ROOT / "docs" / "endpoint.md").read_text("utf-8")
    assert asked == {"/health", "/ready"} and all(f"| `{path}` |" in endpoint for path in asked)
    assert container["ports"][0]["containerPort"] == 7333
    assert container["securityContext"]["runAsUser"] == 10001


def test_the_image_has_the_extras_and_files_that_it_names() -> None:
    recipe = (DOCKER / "stack" / "Dockerfile").read_text("utf-8")
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', recipe)
    assert all(re.search(rf"^{extra} = ", project, re.MULTILINE) for extra in extras.split(","))
    kept = (DOCKER / "stack" / "Dockerfile.dockerignore").read_text("utf-8").split()
    assert kept[0] == "*" and all((ROOT / name.removeprefix("!")).exists() for name in kept[1:])
    assert Path(ROOT / "mrag" / "sparql").exists()
