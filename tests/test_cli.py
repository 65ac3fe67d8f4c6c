"""The commands, as a person runs them: their output, their exit codes and what they change."""

import json
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

import mrag
from mrag.cli import app, commands, main
from mrag.cli.commands import Commands
from tests.cases import beside, cases
from tests.commands import process, ran, run
from tests.conftest import PRODUCTS

COMMANDS = (
    "load import create reason index views describe ask search query explain verify learn train eval"
    " benchmark complete codes clues questions doctor mcp serve"
).split()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with a loaded, reasoned and indexed store in ./mrag.db."""
    folder = tmp_path_factory.mktemp("home")
    loaded = ran("load", str(PRODUCTS), "--json", cwd=folder)
    report = json.loads(loaded.stdout)
    assert report["triples"] > 2000 and report["inferred"] > 1000
    indexed = ran("index", "--json", cwd=folder)
    assert json.loads(indexed.stdout)["documents"] > 200
    return folder


def test_ask_prints_what_it_computed_and_how(home: Path) -> None:
    done = ran("ask", "--sparql", "How many triple stores are there?", cwd=home)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("11 triple stores [t1]") and "Read as: the number of triple stores" in lines
    (query,) = [line for line in lines if line.startswith("SELECT ")]
    assert "[t5] (GraphDB, is a, triple store)" in lines
    assert "11" in run("query", query, cwd=home).stdout
    assert "No language model" not in done.stderr


def test_it_is_told_which_words_became_which_part_of_the_plan(home: Path) -> None:
    products = "https://w3id.org/mrag/demo/products#"
    done = ran("ask", "--explain-reading", "How many vendors are there per country?", cwd=home)
    lines = done.stdout.splitlines()
    at = lines.index("Read as: the number of vendors based in each country")
    assert lines[at + 1 : at + 4] == [
        f"  How many vendors  counted: vendor <{products}Vendor>",
        f"  per country       grouped by: country <{products}Country>",
        f"  (no words)        assumed: based in <{products}basedIn>",
    ]
    german = run("ask", "--explain-reading", "Wie viele Produkte hat Ontotext?", cwd=home)
    assert f"counted: product <{products}Product> (“products” in English)" in german.stdout
    # What a question before it says, its note tells.
    both = ("How many triple stores are there?", "And vector databases?")
    follow = run("ask", "--explain-reading", "--follow", *both, cwd=home).stdout
    assert "\n  How many triple stores  counted: triple store" in follow
    assert "\n  read as a follow-up, with “vector database” in place of “triple store”" in follow
    # Whoever takes a reading that leaves words out sees which.
    left = run("ask", "--explain-reading", "--reading", "1", "Which vendors of Mars are there?", cwd=home)
    assert left.returncode == 0 and "  Not understood: Mars" in left.stdout.splitlines()


def test_the_way_of_an_answer_is_an_option(home: Path) -> None:
    question = "How many employees does GraphDB have?"
    done = run("ask", "--how", "plan", question, cwd=home)
    assert done.returncode == 0 and done.stdout.startswith("Not in this graph: ")
    assert "Read, not computed: " in run("ask", question, cwd=home).stderr
    assert run("ask", "--planner", "oracle", question, cwd=home).returncode == 1
    bad = run("ask", "--how", "guess", question, cwd=home)
    assert bad.returncode == 1 and "auto" in bad.stderr
    many = run("ask", "--reading", "99", "How many triple stores are there?", cwd=home)
    assert many.returncode == 1 and "Choose one from 1 to" in many.stderr


def test_questions_follow_each_other(home: Path) -> None:
    done = ran("ask", "--follow", "How many triple stores are there?", "And vector databases?", cwd=home)
    assert "11 triple stores [t1]" in done.stdout and "\n\n5 vector databases [t1]" in done.stdout
    assert "Computed: read as a follow-up, with “vector database” in place of “triple store”." in done.stderr
    lines = "How many triple stores are there?\n\nwhich of them are commercial?\nhow many?\nand of Mars?\n"
    typed = ran("ask", "--follow", "--json", cwd=home, typed=lines)
    answers = [json.loads(line) for line in typed.stdout.splitlines()]
    assert [a["text"].split(" [")[0] for a in answers[::2]] == ["11 triple stores", "7 triple stores"]
    assert answers[3]["plan"] is None and answers[3]["text"].startswith("Not in this graph: ")
    assert "> " not in typed.stderr
    # Another reading of the last question, and one that there is not.
    both = ("How many vendors are there per country?", "reading 2")
    again = run("ask", "--follow", "--json", *both, cwd=home)
    first, second = map(json.loads, again.stdout.splitlines())
    assert second["reading"] == first["readings"][0]["reading"] and second["question"] == first["question"]
    assert run("ask", "--follow", *both[:1], "reading 99", cwd=home).returncode == 1
    several = run("ask", *both, cwd=home)
    assert several.returncode == 2 and "--follow" in several.stderr


def test_questions_are_saved_run_taught_and_removed(home: Path) -> None:
    question = "Which products does Ontotext develop?"
    saved = run("questions", "save", question, "--name", "products of a vendor", "--by", "Ada", cwd=home)
    assert saved.returncode == 0 and question in saved.stdout
    assert run("questions", "save", question, "--name", "products of a vendor", cwd=home).returncode == 1
    (one,) = json.loads(run("questions", "list", "--json", cwd=home).stdout)
    assert (one["name"], one["author"]) == ("products-of-a-vendor", "Ada")
    assert " by Ada" in run("questions", "list", cwd=home).stdout
    name = "products of a vendor"
    again = run("questions", "run", name, "--sparql", cwd=home)
    assert "GraphDB" in again.stdout and "\nSELECT " in again.stdout
    assert run("questions", "run", "products", cwd=home).returncode == 1
    told = run("ask", "--follow", "Which products does Neo4j Inc. develop?", cwd=home)
    assert "read like the saved question “products-of-a-vendor”" in told.stderr
    assert run("questions", "remove", name, cwd=home).returncode == 0
    assert run("questions", "remove", name, cwd=home).returncode == 1
    assert "No question is saved" in run("questions", "list", cwd=home).stderr


def test_the_right_reading_is_taught(home: Path) -> None:
    question = "How many vendors are there per country?"
    first = json.loads(run("ask", "--json", question, cwd=home).stdout)
    for chosen, code in (("2\n", 0), ("", 1), ("7\n", 1)):
        done = run("ask", "--teach", question, cwd=home, typed=chosen)
        assert done.returncode == code, done.stderr
        assert "Which reading is right (1, 2" in done.stderr
        if code == 0:
            assert f"Read as: {first['readings'][0]['reading']}" in done.stdout
    (one,) = json.loads(run("questions", "list", "--json", cwd=home).stdout)
    assert one["reading"] == first["readings"][0]["reading"]
    assert run("ask", "--teach", "--reading", "1", "What is the price of GraphDB?", cwd=home).returncode == 1
    assert run("questions", "remove", one["name"], cwd=home).returncode == 0


def test_ask_prints_an_answer_with_citations(home: Path) -> None:
    done = ran("ask", "--how", "read", "Which vendor develops GraphDB?", cwd=home)
    assert done.stdout.startswith("GraphDB is developed by Ontotext [t")
    assert "(GraphDB, developed by, Ontotext)" in done.stdout
    assert "No language model was used" in done.stderr
    assert "No language model" not in done.stdout


def test_ask_with_nothing_configured_uses_the_demo_graph(tmp_path: Path) -> None:
    for _ in range(2):
        done = ran("ask", "Which vendor develops GraphDB?", cwd=tmp_path)
        assert "Ontotext" in done.stdout
        assert "demo graph" in done.stderr


def test_an_answer_can_be_saved_and_verified(home: Path) -> None:
    done = run("ask", "--json", "Which vendor develops GraphDB?", cwd=home)
    (home / "answer.json").write_text(done.stdout)
    assert run("verify", "answer.json", cwd=home).stdout.startswith("Verified")
    (home / "answer.json").write_text(done.stdout.replace("Ontotext", "Ontoprise"))
    bad = run("verify", "answer.json", "--json", cwd=home)
    assert bad.returncode == 1
    assert json.loads(bad.stdout)["ok"] is False


def test_search_gives_hits_and_reasons(home: Path) -> None:
    done = run("search", "triple store", "-k", "3", "--json", cwd=home)
    hits = json.loads(done.stdout)
    assert [h["rank"] for h in hits] == [1, 2, 3]
    assert all(h["reasons"] and h["iri"].startswith("https://") for h in hits)
    assert "triple store" in run("search", "triple store", cwd=home).stdout


def test_the_languages_of_the_index_are_kept(tmp_path: Path) -> None:
    graph = (
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
        '<urn:x:ulm> rdfs:label "Ulm town"@en , "Stadt Ulm"@de ; <urn:x:in> <urn:x:by> . '
        '<urn:x:by> rdfs:label "Bavaria"@en , "Bayern"@de .'
    )
    (tmp_path / "towns.ttl").write_text(graph, encoding="utf-8")
    assert run("load", "towns.ttl", "--store", "oxigraph:./mrag.db", cwd=tmp_path).returncode == 0
    assert run("index", "--embedder", "none", "--lang", "de,en", cwd=tmp_path).returncode == 0
    assert "Stadt Ulm" in run("search", "Ulm", cwd=tmp_path).stdout
    asked = ("ask", "--how", "read", "--model", "none", "Was ist Ulm?")
    assert "Stadt Ulm" in run(*asked, cwd=tmp_path).stdout
    assert "Ulm town" in run(*asked, "--lang", "en", cwd=tmp_path).stdout
    again = run("index", "--embedder", "none", cwd=tmp_path)
    assert again.returncode == 0 and "Analyser: snowball:german+words." in again.stdout
    assert "Bayern" in run("search", "Bayern", cwd=tmp_path).stdout
    chosen = run("index", "--embedder", "none", "--analyser", "snowball:en", "--json", cwd=tmp_path)
    assert json.loads(chosen.stdout)["analyser"] == "snowball:english"
    kept = run("index", "--embedder", "none", "--json", cwd=tmp_path, MRAG_ANALYSER="plural")
    assert json.loads(kept.stdout)["analyser"] == "snowball:english"
    auto = run("index", "--embedder", "none", "--analyser", "auto", "--json", cwd=tmp_path)
    assert json.loads(auto.stdout)["analyser"] == "snowball:german+words"
    wrong = run("index", "--embedder", "none", "--analyser", "porter", cwd=tmp_path)
    assert wrong.returncode == 1 and "no analyser 'porter'" in wrong.stderr


def test_query_by_text_name_and_file(home: Path) -> None:
    assert run("query", "ASK { ex:GraphDB a ex:SemanticProduct }", cwd=home).stdout == "true\n"
    asserted = run("query", "ASK { ex:GraphDB a ex:SemanticProduct }", "--layer", "asserted", cwd=home)
    assert asserted.stdout == "false\n"
    rows = json.loads(run("query", "explore/classes", "--json", cwd=home).stdout)
    assert rows["head"]["vars"] == ["class", "instances"]
    (home / "mine.rq").write_text("CONSTRUCT { ex:GraphDB ?p ?o } WHERE { ex:GraphDB ?p ?o }")
    assert "developedBy" in run("query", "mine.rq", cwd=home).stdout


def test_explain_shows_rule_and_premises(home: Path) -> None:
    done = ran("explain", "ex:GraphDB", "rdf:type", "ex:SemanticProduct", cwd=home)
    assert "GraphDB is a semantic product" in done.stdout
    assert (
        "because semantic product EquivalentTo: product and (has feature some semantic feature)"
        in done.stdout
    )
    assert "[asserted]" in done.stdout
    many = json.loads(run("explain", "ex:GraphDB", "--json", cwd=home).stdout)
    assert len(many) > 5 and all(not proof["asserted"] for proof in many)


def test_doctor_finds_all_well_and_what_is_amiss(home: Path, tmp_path: Path) -> None:
    good = ran("doctor", "--json", cwd=home)
    found = {f["what"]: f for f in json.loads(good.stdout)}
    assert found["index main"]["ok"] is True
    assert found["language model"]["ok"] is None and "ollama" in found["language model"]["hint"].lower()
    bad = run("doctor", "--store", str(tmp_path / "new"), cwd=tmp_path)
    assert bad.returncode == 1
    assert "no such store" in bad.stdout and "mrag load" in bad.stdout


BAD = cases(__file__, "BAD")


@pytest.mark.parametrize("args,says", BAD.values(), ids=BAD.keys())
def test_errors_are_one_line_that_says_what_to_do(home: Path, args: list[str], says: str) -> None:
    (home / "broken.ttl").write_text("@prefix ex: <urn:ex:> .\nex:a ex:b .\n")
    done = run(*args, cwd=home)
    assert done.returncode == 1, done.stdout
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("mrag: ") and says in last
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("args", cases(__file__, "a_process_of_its_own_does_the_same"), ids=" ".join)
def test_a_process_of_its_own_does_the_same(home: Path, args: list[str]) -> None:
    inside, outside = run(*args, cwd=home), process(*args, cwd=home)
    assert (inside.returncode, inside.stdout) == (outside.returncode, outside.stdout)
    # Words on misuse begin with how it was called.
    assert inside.stderr.splitlines()[-1:] == outside.stderr.splitlines()[-1:]


def test_misuse_ends_with_code_2(home: Path) -> None:
    assert run("ask", cwd=home).returncode == 2
    assert run("nonsense", cwd=home).returncode == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"])
    assert shown.exit_code == 0
    assert f"mrag {command}" in shown.output
    assert "Example" in shown.output


def test_each_option_is_described_and_each_example_is_of_its_command() -> None:
    def walk(command: Any, *names: str) -> Iterator[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            yield " ".join(names), command
        for name in getattr(command, "commands", {}):
            yield from walk(command.get_command(None, name), *names, name)

    every = dict(walk(get_command(app)))
    assert commands.examples().keys() == every.keys()
    for name, command in every.items():
        assert f"mrag {name.split()[0]}" in commands.examples()[name][0], name
        assert [one.name for one in command.params if not one.help] == [], name
    shared = {one.name for command in every.values() for one in command.params}
    table = {**commands._table()}
    assert {*table.pop("*")} <= shared
    for owner, options in table.items():
        module, _, function = owner.partition(".")
        assert {*options} <= {*signature(getattr(import_module(f"mrag.cli.{module}"), function)).parameters}


def test_the_parameters_of_a_command_are_read_when_it_is_needed() -> None:
    commands = Commands()

    @commands.command()
    def broken(word: "NoSuchType") -> None:  # type: ignore[name-defined] # noqa: F821
        """Fail when its parameters are read."""

    @commands.command("sound")
    def other(word: str, times: int = 2) -> None:
        """Print a word."""
        typer.echo(" ".join([word] * times))

    runner = CliRunner()
    assert runner.invoke(commands, ["sound", "a", "--times", "3"]).output == "a a a\n"
    assert "Fail when its parameters are read." in runner.invoke(commands, ["--help"]).output
    assert isinstance(runner.invoke(commands, ["broken", "a"]).exception, NameError)


def test_a_contradiction_is_reported_and_costs_no_inferences(tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <urn:x:> .\n"
        ":A owl:disjointWith :B . :i a :A , :B . :A a owl:Class . :p a owl:SymmetricProperty . :i :p :j .\n"
    )
    loaded = ran("load", "bad.ttl", "--strict", cwd=tmp_path)
    assert "Nothing was inferred" in loaded.stderr and "contradicts" in loaded.stderr
    strict = run("reason", "--strict", cwd=tmp_path)
    assert strict.returncode == 1 and "contradicts" in strict.stderr and "mrag remove" in strict.stderr
    asked = "ASK { <urn:x:j> <urn:x:p> <urn:x:i> }"
    assert run("query", asked, cwd=tmp_path).stdout == "false\n"
    done = run("reason", "--report", "found.json", cwd=tmp_path)
    assert done.returncode == 0 and "1 contradiction of the ontology" in done.stderr
    assert run("query", asked, cwd=tmp_path).stdout == "true\n"
    (group,) = json.loads((tmp_path / "found.json").read_text())
    assert (group["rule"], group["count"], group["datatype"]) == ("cax-dw", 1, "")
    run("reason", "--report", "found.txt", cwd=tmp_path)
    assert "<urn:x:i>" in (tmp_path / "found.txt").read_text()
    checked = run("doctor", "--store", "mrag.db", cwd=tmp_path)
    assert "DisjointWith" in checked.stdout


def test_interruption_has_a_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mrag.cli.app", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert "interrupted" in capsys.readouterr().err


COMPANIES = beside(__file__, "corp.ttl")
NS = "http://example.org/corp#"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corp.ttl").write_text(COMPANIES)
    loaded = ran("load", "corp.ttl", cwd=tmp_path)
    assert "3 contradictions of the ontology" in loaded.stderr
    return tmp_path


def ask(folder: Path, pattern: str) -> bool:
    query = f"PREFIX : <{NS}> ASK {{ {pattern} }}"
    return run("query", query, cwd=folder).stdout == "true\n"


def test_contradictions_cost_no_inferences_and_are_grouped_by_datatype(folder: Path) -> None:
    assert ask(folder, ":cord a :Organisation ; :subsidiaryOf :acme")
    assert ask(folder, ':acme :revenue "23"')
    ran("reason", "--report", "found.json", cwd=folder)
    groups = json.loads((folder / "found.json").read_text())
    assert [(g["rule"], g["datatype"], g["count"]) for g in groups] == [
        ("dt-not-type", "xsd:string", 2),
        ("dt-not-type", "xsd:string", 1),
    ]
    assert "decimal" in groups[0]["axiom"]
    checked = run("doctor", "--store", "mrag.db", cwd=folder).stdout
    assert "values of xsd:string: 2" in checked


def test_an_update_is_shown_first_and_inferences_follow(folder: Path) -> None:
    text = f"DELETE DATA {{ <{NS}base> <{NS}subsidiaryOf> <{NS}acme> }}"
    shown = ran("update", text, cwd=folder)
    assert "1 triple would be removed" in shown.stderr and "Nothing was changed" in shown.stderr
    assert ask(folder, ":cord :subsidiaryOf :acme")
    done = run("update", "--yes", "--json", text, cwd=folder)
    assert json.loads(done.stdout)["removed"] == 1 and not json.loads(done.stdout)["pending"]
    assert not ask(folder, ":cord :subsidiaryOf :acme")
    assert ask(folder, ":cord :subsidiaryOf :base") and ask(folder, ":cord a :Organisation")
    late = run("update", "--yes", "--no-reason", f"DELETE DATA {{ <{NS}base> a <{NS}Company> }}", cwd=folder)
    assert "not up to date" in late.stderr
    assert "inferences not up to date" in run("kgs", cwd=folder).stdout
    refused = run("update", "DELETE WHERE { ?s ?p", cwd=folder)
    assert refused.returncode == 1 and refused.stderr.startswith("mrag: ")


def test_a_triple_a_graph_and_a_file_are_removed(folder: Path) -> None:
    ran("remove", f"<{NS}cord>", f"{NS}revenue", '"n/a"', "--yes", cwd=folder)
    assert not ask(folder, ':cord :revenue "n/a"') and ask(folder, ":cord a :Organisation")
    run(
        "update", "--yes", f"INSERT DATA {{ GRAPH <urn:g> {{ <{NS}dorn> <{NS}subsidiaryOf> <{NS}base> }} }}",
        cwd=folder,
    )  # fmt: skip
    assert ask(folder, ":dorn a :Organisation ; :subsidiaryOf :acme")
    run("remove", "--graph", "urn:g", "--yes", cwd=folder)
    assert not ask(folder, ":dorn ?p ?o")
    (folder / "some.ttl").write_text(f"<{NS}cord> <{NS}subsidiaryOf> <{NS}base> .")
    run("remove", "--file", "some.ttl", "--yes", cwd=folder)
    assert not ask(folder, ":cord a :Organisation")
    assert run("remove", "corp:a", "corp:b", cwd=folder).returncode == 2
    assert run("remove", f"<{NS}cord>", f"<{NS}p>", "no term", "--yes", cwd=folder).returncode == 1


def test_knowledge_graphs_are_listed_and_deleted(folder: Path) -> None:
    run("load", "--kg", "other", "--store", "mrag.db", "corp.ttl", cwd=folder)
    run("index", "--store", "mrag.db", "--kg", "other", "--embedder", "none", cwd=folder)
    listed = json.loads(run("kgs", "--json", cwd=folder).stdout)
    assert [one["name"] for one in listed] == ["main", "other"]
    assert listed[1]["triples"] == listed[0]["triples"] and listed[1]["index_bytes"] > 0
    kept = run("kgs", "--delete", "other", cwd=folder)
    assert "Nothing was changed" in kept.stderr
    assert run("kgs", "--delete", "other", "--yes", cwd=folder).stdout == "Deleted other.\n"
    assert [one["name"] for one in json.loads(run("kgs", "--json", cwd=folder).stdout)] == ["main"]
    assert ask(folder, ":cord a :Organisation")
    assert run("kgs", "--delete", "other", "--yes", cwd=folder).returncode == 1
    with mrag.connect(f"oxigraph:{folder / 'mrag.db'}") as kg:
        assert not [g for g in kg.store.graphs() if ":other:" in g]
    assert not (folder / "mrag.db.mrag" / "other").exists()
