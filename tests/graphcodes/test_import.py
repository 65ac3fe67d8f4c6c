"""Folders of `.gc` files: read by name, their diagonals kept, what is broken refused by name."""

import json
import os
from pathlib import Path

import pytest

from mrag.errors import ConfigError
from mrag.graphcodes.code import GraphCode, from_folder, from_json, to_json
from tests.graphcodes.test_cli_codes import run

DOG = {"dictionary": ["dog", "man"], "matrix": [[1, 14], [0, 2]]}


def test_a_folder_is_read_in_order(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.gc").write_text(json.dumps(DOG))
    (tmp_path / "a.json").write_text(json.dumps({"dictionary": ["cat"], "matrix": [[2]]}))
    (tmp_path / "readme.txt").write_text("no code")
    assert [(name, code.dictionary) for name, code in from_folder(tmp_path)] == [
        ("a", ("cat",)),
        ("b", ("dog", "man")),
    ]


def test_numbers_on_the_diagonal_are_relations_of_a_node_to_itself():
    code = from_json({"dictionary": ["dog", "man"], "matrix": [[11, 14], [0, 2]]})
    assert [edge.key for edge in code.edges] == [("dog", "above", "man"), ("dog", "next to", "dog")]
    assert from_json(to_json(code)) == code


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"dictionary": ["\\ud800"], "matrix": [[2]]}', r"lone surrogate.*ud800"),
        (
            '{"dictionary": ["a"], "matrix": [[2]], "mrag": {"nodes": {"a": {"label": "\\udfff"}}}}',
            "lone surrogate",
        ),
        ('{"dictionary": []', "written in JSON"),
        ("[]", "dictionary and a matrix"),
        ('{"dictionary": ["A"], "matrix": [[2]]}', "lower case"),
        (
            '{"dictionary": ["a"], "matrix": [[2]], "mrag": {"nodes": {"a": {"label": 3, "types": []}}}}',
            "label of 'a' is a text",
        ),
        (
            '{"dictionary": ["a"], "matrix": [[2]], "mrag": {"nodes": {"a": {"label": "", "types": [1]}}}}',
            "types are a list of texts",
        ),
    ],
)
def test_what_is_broken_is_refused_by_name(tmp_path, written, message):
    (tmp_path / "bad.gc").write_text(written)
    with pytest.raises(ConfigError, match=message) as caught:
        list(from_folder(tmp_path))
    assert "bad.gc" in str(caught.value)


def test_parts_are_not_nested_without_end():
    code = {"dictionary": ["a"], "matrix": [[2]]}
    for _ in range(40):
        code = {"dictionary": ["a"], "matrix": [[2]], "collectionElements": [code]}
    with pytest.raises(ConfigError, match="more than 32 deep"):
        from_json(code)


def test_a_folder_without_codes_and_names_that_are_not_unique(tmp_path):
    with pytest.raises(ConfigError, match="no files"):
        list(from_folder(tmp_path))
    for name in ("a.gc", "a.json"):
        (tmp_path / name).write_text(json.dumps(DOG))
    with pytest.raises(ConfigError, match="'a' too"):
        list(from_folder(tmp_path))


def test_a_file_whose_name_is_no_text_is_refused(tmp_path):
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.gc"))).write_text(json.dumps(DOG))
    with pytest.raises(ConfigError, match="name of this file"):
        list(from_folder(tmp_path, on_mend=print))


def test_defects_are_mended_and_reported(tmp_path):
    (tmp_path / "a.gc").write_text('{"dictionary": ["Dog", ""], "matrix": [[2]]}')
    said = []
    assert [code for _, code in from_folder(tmp_path, on_mend=said.append)] == [GraphCode.of(["dog"])]
    assert len(said) == 3
    assert all(text.startswith(f"{tmp_path}") for text in said)


def test_the_command_imports_a_folder(tmp_path):
    source, folder = tmp_path / "files", str(tmp_path / "codes")
    source.mkdir()
    (source / "one.gc").write_text(json.dumps(DOG))
    (source / "two.gc").write_text('{"dictionary": ["Man"], "matrix": [[2]]}')
    with pytest.raises(ConfigError, match=r"lower case.*two\.gc"):
        run("build", "--path", folder, "--from", str(source))
    built = json.loads(run("build", "--path", folder, "--from", str(source), "--mend", "--json"))
    assert (built["documents"], built["edges"]) == (2, 1)
    found = json.loads(run("search", "--path", folder, "-e", "dog,above,man", "--json"))
    assert [hit["iri"] for hit in found["hits"]] == ["one", "two"]
    near = run("search", "--path", folder, "-e", "puppy,over,man", "--meaning", "wordllama", "--json")
    assert json.loads(near)["hits"][0]["iri"] == "one"
