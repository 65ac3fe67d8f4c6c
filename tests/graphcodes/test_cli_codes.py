"""The command `mrag codes`."""

import json

import pytest
from typer.testing import CliRunner

from mrag.cli import app
from mrag.errors import ConfigError, MissingIndex
from mrag.graphcodes.code import from_json

GRAPHDB = "https://w3id.org/mrag/demo/products#GraphDB"
STARDOG = "https://w3id.org/mrag/demo/products#Stardog"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "codes"
    built = run("build", "--path", str(folder), "--json")
    assert json.loads(built)["documents"] > 200
    return str(folder)


def run(*arguments):
    result = CliRunner().invoke(app, ["codes", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_search_by_edges(folder):
    arguments = ["search", "--path", folder, "-k", "2", "--json"]
    found = json.loads(run(*arguments, "-e", "GraphDB,developed by,Ontotext"))
    assert found["question"] == "GraphDB developed by Ontotext."
    assert "Has as asked: GraphDB developed by Ontotext." in found["hits"][0]["reasons"]
    assert len(found["hits"]) == 2
    assert "Has: GraphDB." in run("search", "--path", folder, "-n", "graphdb", "-k", "1")


def test_search_like_an_entity(folder):
    found = json.loads(run("search", "--path", folder, "--like", GRAPHDB, "-k", "1", "--json"))
    assert (found["hits"][0]["iri"], found["hits"][0]["score"]) == (GRAPHDB, 1.0)


def test_search_by_the_metric_of_the_paper(folder):
    found = json.loads(run("search", "--path", folder, "--like", GRAPHDB, "--metric", "paper", "--json"))
    assert found["hits"][0]["iri"] == GRAPHDB


def test_show(folder):
    shown = run("show", GRAPHDB, "--path", folder)
    assert "GraphDB developed by Ontotext." in shown
    assert "= developed by" in shown
    again = from_json(run("show", GRAPHDB, "--path", folder, "--json"))
    assert GRAPHDB in again.dictionary


def test_mistakes_are_named(folder, tmp_path):
    with pytest.raises(MissingIndex):
        run("search", "--path", str(tmp_path), "-n", "x")
    with pytest.raises(ConfigError, match="nothing to search"):
        run("search", "--path", folder)
    with pytest.raises(ConfigError, match="SOURCE,RELATION,TARGET"):
        run("search", "--path", folder, "-e", "a,b")
    with pytest.raises(ConfigError, match="no metric"):
        run("search", "--path", folder, "-n", "x", "--metric", "cosine")
