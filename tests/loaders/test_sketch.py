"""Sketches of mappings: they say what the tables show, and load them as they stand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, LoadError
from mrag.loaders.sketch import sketched
from mrag.loaders.tables import Table, TableDialect
from tests.cases import cases

E = "http://example.org/"
SHOPS = '''\
shop_id,Shop Name,city_id,opened,site,rating,Symptom_1,Symptom_2,Symptom_3,Q1,Q2,zip,open
7,"Coats & ""Co""",3,2001-02-03,http://a.example/,4.5,itch,cough,,1,2,01234,true
8,Hats,4,NA,http://b.example/x,N/A,cough,,,3,4,99999,false
'''
CITIES = "id;name;mayor\n3;Köln;\n4;Paris;8\n"


def text(folder: Path, **files: str) -> list[str]:
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return [str(folder / f"{name}.csv") for name in files]


def loaded(files: list[str], mapping: str, folder: Path) -> set[tuple[str, str, str]]:
    (folder / "mapping.ttl").write_text(mapping, encoding="utf-8")
    found = set()
    for file in files:
        records = Table(file, folder / "mapping.ttl")
        found |= {(str(t.subject), t.predicate.value, str(t.object)) for t in records.triples()}
        assert not records.report.problems
    return found


def test_a_sketch_says_what_the_tables_show(tmp_path: Path) -> None:
    files = text(tmp_path, shops=SHOPS, cities=CITIES)
    found = {(s, p.removeprefix(E), o) for s, p, o in loaded(files, sketched(files), tmp_path)}
    shop = f"<{E}shop/7>"
    xsd = "http://www.w3.org/2001/XMLSchema#"
    assert {(p, o) for s, p, o in found if s == shop} == {
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"<{E}Shop>"),
        ("http://www.w3.org/2000/01/rdf-schema#label", '"Coats & \\"Co\\""'),
        ("shopName", '"Coats & \\"Co\\""'),
        ("shopId", f'"7"^^<{xsd}integer>'),
        ("city", f"<{E}city/3>"),
        ("opened", f'"2001-02-03"^^<{xsd}date>'),
        ("site", "<http://a.example/>"),
        ("rating", f'"4.5"^^<{xsd}decimal>'),
        ("symptom", '"itch"'),
        ("symptom", '"cough"'),
        ("q1", f'"1"^^<{xsd}integer>'),
        ("q2", f'"2"^^<{xsd}integer>'),
        ("zip", '"01234"'),
        ("open", f'"true"^^<{xsd}boolean>'),
    }
    assert (f"<{E}city/3>", "name", '"Köln"') in found
    # A number that happens to be a key somewhere names nothing.
    assert (f"<{E}city/4>", "mayor", f'"8"^^<{xsd}integer>') in found
    assert not [row for row in found if "N/A" in row[2] or '"NA"' in row[2]]


def test_rows_without_a_key_are_told_by_two_columns_or_numbered(tmp_path: Path) -> None:
    files = text(tmp_path, sales="day,item\n1,a\n1,b\n2,a\n", diseases="Disease,S_1\nFlu,itch\nFlu,itch\n")
    mapping = sketched(files)
    assert "/sale/{day}/{item}" in mapping and "/disease/{_row}" in mapping and "rows apart" in mapping
    subjects = {s for s, _, _ in loaded(files, mapping, tmp_path)}
    assert subjects == {
        f"<{E}{name}>" for name in ("sale/1/a", "sale/1/b", "sale/2/a", "disease/1", "disease/2")
    }


def test_names_of_files_and_texts_that_are_keys_make_links(tmp_path: Path) -> None:
    files = text(
        tmp_path,
        **{"2024 film-directors": "name\nAda Lin\nBo Qu\n", "films": "title,Directed by\nX,Ada Lin\nY,\n"},
    )
    mapping = sketched(files)
    assert ":FilmDirector" in mapping and "film-director/{Directed by}" in mapping
    assert (f"<{E}film/X>", f"{E}directedBy", f"<{E}film-director/Ada%20Lin>") in loaded(
        files, mapping, tmp_path
    )


SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
USUAL = cases(__file__, "USUAL")
CELL = st.text(SIGNS, max_size=12) | st.sampled_from(USUAL)
NAMED = st.text(SIGNS, min_size=1, max_size=8).filter(
    lambda name: name == name.strip() != "" and name != "_row"
)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_sketch_loads_whatever_the_table(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("sketch")
    names = data.draw(st.lists(NAMED, min_size=1, max_size=5, unique=True))
    rows = data.draw(st.lists(st.tuples(*(CELL for _ in names)), min_size=1, max_size=6))
    delimiter = data.draw(st.sampled_from(",;\t|"))
    file = folder / "odd {things}.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        writer.writerows(rows)
    dialect = TableDialect(delimiter=delimiter)
    mapping = sketched([str(file)], dialect)
    (folder / "m.ttl").write_text(mapping, encoding="utf-8")
    records = Table(file, folder / "m.ttl", dialect=dialect)
    found = list(records.triples())
    assert records.report.counts == {"rows": len(rows)} and not records.report.problems
    assert len({t.subject for t in found}) <= len(rows)
    assert mapping == sketched([str(file)], dialect)


def test_json_and_encodings_are_sketched_too(tmp_path: Path) -> None:
    rows = [{"id": "a", "tags": ["x", "y"], "size": {"w": 1}, "n": 1}, {"id": "b", "n": None}]
    (tmp_path / "things.json").write_text(json.dumps(rows))
    mapping = sketched([str(tmp_path / "things.json")])
    assert '"size"' in mapping and 'rml:reference "size"' not in mapping and "ql:JSONPath" in mapping
    found = loaded([str(tmp_path / "things.json")], mapping, tmp_path)
    assert {o for _, p, o in found if p == E + "tags"} == {'"x"', '"y"'}
    (tmp_path / "orte.csv").write_bytes("id,name\n1,Köln\n".encode("latin-1"))
    with pytest.raises(LoadError, match="Wrong encoding, column 'name'") as wrong:
        sketched([str(tmp_path / "orte.csv")])
    assert wrong.value.line == 2
    assert ":Orte" in sketched([str(tmp_path / "orte.csv")], TableDialect(encoding="latin-1"))
    assert ":City" in sketched(text(tmp_path, cities="id,name\n"))
    (tmp_path / "b").mkdir()
    with pytest.raises(ConfigError, match="Two files are called"):
        sketched(text(tmp_path, cities="id\n1\n") + text(tmp_path / "b", cities="id\n1\n"))
    with pytest.raises(LoadError, match="no such file"):
        sketched([str(tmp_path / "none.csv")])
