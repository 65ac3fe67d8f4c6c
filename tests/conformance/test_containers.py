"""The suite over GraphDB and Fuseki in containers, wherever a Docker engine answers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from mrag.stores.base import TripleStore
from mrag.stores.conformance import StoreConformance
from mrag.stores.fuseki import FusekiStore
from mrag.stores.graphdb import GraphDBStore

docker = pytest.importorskip("docker", reason="the Docker client is not installed: pip install docker")
containers = pytest.importorskip("testcontainers.core.container", reason="testcontainers is not installed")

GRAPHDB = "ontotext/graphdb:10.8.12"
FUSEKI = "secoresearch/fuseki:5.5.0"


@pytest.fixture(scope="module", autouse=True)
def engine() -> None:
    if "DOCKER_HOST" not in os.environ and not Path("/var/run/docker.sock").exists():
        pytest.skip("no Docker engine answers: there is neither DOCKER_HOST nor /var/run/docker.sock")
    client = docker.DockerClient.from_env()
    try:
        client.ping()
    except docker.errors.DockerException as error:
        pytest.skip(f"no Docker engine answers: {error}")
    finally:
        client.close()


def started(image: str, port: int, ready: str, **environment: str) -> Iterator[str]:
    container = containers.DockerContainer(image).with_exposed_ports(port)
    for name, value in environment.items():
        container = container.with_env(name, value)
    with container:
        base = f"http://{container.get_container_host_ip()}:{container.get_exposed_port(port)}"
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            try:
                if requests.get(base + ready, timeout=2).status_code == 200:
                    break
            except requests.RequestException:
                pass
            time.sleep(0.5)
        else:
            pytest.fail(f"{image} did not become ready")
        yield base


class TestGraphDB(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[TripleStore]:
        for base in started(GRAPHDB, 7200, "/rest/repositories"):
            store = GraphDBStore(f"graphdb:{base}/repositories/suite", f"{base}/repositories/suite")
            store.create("owl2-rl-optimized")
            yield store
            store.close()


class TestFuseki(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[TripleStore]:
        for base in started(FUSEKI, 3030, "/$/ping", ENABLE_DATA_WRITE="true", ENABLE_UPDATE="true"):
            store = FusekiStore(f"fuseki:{base}/ds", f"{base}/ds")
            yield store
            store.close()
