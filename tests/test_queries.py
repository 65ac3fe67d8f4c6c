"""Queries: those of the catalogue, what no text can break, what is refused, and the comfort of results."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, BNode, Literal, URIRef, Variable
from rdflib.plugins.sparql import prepareQuery, prepareUpdate
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query

import mrag
from mrag.errors import ConfigError, QueryRefused, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.rdf.terms import Triple
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside, cases
from tests.commands import run
from tests.conftest import opened

ECHO = queries.parse("echo", "SELECT ?x WHERE {\n  VALUES ?x { 1 }  #+ bind: x\n}\n")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
NASTY = cases(__file__, "NASTY")


@cache
def prepared(text: str) -> Query:
    """A query as rdflib reads it, which takes it longer than all else here."""
    return prepareQuery(text)


store = opened(lambda _: OxigraphStore())


@pytest.mark.parametrize("name", queries.names())
def test_every_file_runs_as_it_stands_and_documents_itself(name: str, store: OxigraphStore) -> None:
    query = queries.get(name)
    assert query.summary, "say in `#+ summary:` what it answers"
    if "#+ update" in query.text or name.startswith("update/"):
        prepareUpdate(query.text)
        store.update(query.text)
        return
    prepared(query.text)
    graphs = Dataset(("urn:g",), ("urn:g",))
    if "\nASK" in query.text:
        assert store.ask(query.text, graphs) is False
    elif "SELECT" in query.text and "\nCONSTRUCT" not in query.text:
        assert store.select(query.text, graphs).rows is not None
    else:
        assert list(store.construct(query.text, graphs)) == []
    for param in query.params:
        assert f"#+ params: {param} " in query.text, f"document the parameter {param}"


# Their rows are sets to work on, and may be millions; an index sorts what it is given.
_UNORDERED = ("update/", "reasoning/", "cel/", "kg/sentences", "kg/changes", "index/")


@pytest.mark.parametrize("name", [n for n in queries.names() if not n.startswith(_UNORDERED)])
def test_every_query_has_a_total_order(name: str) -> None:
    text = queries.get(name).text
    if "\nASK" in text or "\nCONSTRUCT" in text:
        return
    assert "ORDER BY" in text
    order = text.rsplit("ORDER BY", 1)[1].splitlines()[0]
    head = text[text.index("SELECT") : text.index("WHERE")]
    projected = {word.strip("()") for word in head.split() if word.startswith("?") or word.startswith("(?")}
    aggregated = {w.strip("()") for w in head.replace("AS ", "AS").split() if w.startswith("AS?")}
    keys = {word.strip("()").removeprefix("DESC(") for word in order.split()}
    assert projected - keys <= {a.removeprefix("AS") for a in aggregated} | {"?g"}, (projected, keys)


_NAMED = {RDF.type, RDFS.subClassOf, RDFS.subPropertyOf, RDFS.domain, RDFS.range, OWL.inverseOf}
_PLAIN_TEXTS = ("Builtin_DATATYPE", "Builtin_STR", "Builtin_ENCODE_FOR_URI")
# Numbers, what mrag writes itself without language tags, and IRIs that their query does not show to be such.
_PLAIN = set(
    "score rank n start confidence state verdict model time author "
    "other source subject predicate image documentID entity resultValue".split()
)


def _parts(node: object) -> Iterator[CompValue]:
    if isinstance(node, CompValue):
        yield node
    inside = node.values() if isinstance(node, dict) else node
    if isinstance(inside, list | tuple | set | type({}.values())):
        for part in inside:
            yield from _parts(part)


def _without_languages(part: CompValue) -> Iterator[object]:
    """Yield what a part of a query shows to be no text with a language tag."""
    for s, p, o in part.get("triples") or () if part.name == "BGP" else ():
        yield from (s, p, *((o,) if p in _NAMED else ()))
    if part.name == "Graph":
        yield part.term
    if part.name == "Builtin_isIRI":
        yield part.arg
    if part.name == "Extend":
        # The beginning of a plain text is one.
        told_by = part.expr.arg if getattr(part.expr, "name", "") == "Builtin_SUBSTR" else part.expr
        told = isinstance(told_by, CompValue) and told_by.name in _PLAIN_TEXTS
        if told or str(part.expr).startswith("__agg"):
            yield part.var
    for row in part.get("res") or () if part.name == "values" else ():
        yield from (name for name, value in row.items() if isinstance(value, URIRef))


@pytest.mark.parametrize("name", [n for n in queries.names() if not n.startswith(("update/", "kg/registry"))])
def test_texts_of_several_languages_are_ordered_by_text_and_tag(name: str) -> None:
    # Jena 4 compares literals of several languages in a way that is no order, and then fails.
    text = queries.get(name).text
    if "ORDER BY" not in text or "INSERT" in text:
        return
    parts = list(_parts(prepared(text).algebra))
    sure = {one for part in parts for one in _without_languages(part)}
    for part in parts:
        keys = [key.expr for key in part.expr] if part.name == "OrderBy" else []
        told = {(k.name, k.arg) for k in keys if isinstance(k, CompValue)}
        for key in keys:
            if isinstance(key, Variable) and key not in sure and str(key) not in _PLAIN:
                assert {("Builtin_STR", key), ("Builtin_LANG", key)} <= told, key


def test_no_two_independent_values_stand_before_an_open_pattern() -> None:
    # Oxigraph scans the whole store for `VALUES ?a {…} VALUES ?b {…} ?x ?p ?o`.
    for name in queries.names():
        block = [line.strip() for line in queries.get(name).text.splitlines()]
        for first, second in pairwise(block):
            assert not (first.startswith("VALUES ?") and second.startswith("VALUES ?")), name


@given(TEXT)
@settings(max_examples=200)
def test_any_text_comes_back_as_itself(text: str) -> None:
    store = OxigraphStore()
    rows = store.select(ECHO.bind(x=[Literal(text)]), Dataset()).rows
    assert rows == [(Literal(text),)]


@pytest.mark.parametrize("text", NASTY)
def test_nasty_text_comes_back_as_itself(store: OxigraphStore, text: str) -> None:
    assert store.select(ECHO.bind(x=[Literal(text)]), Dataset()).rows == [(Literal(text),)]
    tagged = Literal(text, lang="en")
    assert store.select(ECHO.bind(x=[tagged]), Dataset()).rows == [(tagged,)]


@pytest.mark.parametrize("text", NASTY)
def test_nasty_iris_and_tags_are_refused(text: str) -> None:
    with pytest.raises(TermError):
        ECHO.bind(x=[f"http://example.org/{text}> }}"])
    with pytest.raises((TermError, ValueError)):
        ECHO.bind(x=[Literal("x", lang=f"en{text}")])


@given(TEXT)
@settings(max_examples=100)
def test_an_iri_is_itself_or_refused(text: str) -> None:
    iri = f"http://example.org/{text}"
    try:
        bound = ECHO.bind(x=[iri])
    except TermError:
        with pytest.raises(ValueError):
            ox.NamedNode(iri)
        return
    assert OxigraphStore().select(bound, Dataset()).rows == [(URIRef(iri),)]


@given(st.lists(TEXT, max_size=8))
@settings(max_examples=50)
def test_labels_that_are_syntax_are_found_by_themselves(texts: list[str]) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        label = URIRef("http://www.w3.org/2000/01/rdf-schema#label")
        kg.insert([Triple(URIRef(f"urn:x:{i}"), label, Literal(t)) for i, t in enumerate(texts)])
        found = kg.labels([f"urn:x:{i}" for i in range(len(texts))])
        assert found == {f"urn:x:{i}": " ".join(t.split()) for i, t in enumerate(texts)}


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ConfigError, match="no argument"):
        ECHO.bind(nothing=[Literal(1)])
    with pytest.raises(ConfigError):
        ECHO.bind(x=3)
    with pytest.raises(TermError, match="blank node"):
        ECHO.bind(x=[BNode()])
    limited = queries.parse("l", "SELECT * { ?s ?p ?o }\nLIMIT 5  #+ bind: limit\n")
    assert "LIMIT 7" in limited.bind(limit=7)
    for wrong in (-1, True, "7; DROP ALL"):
        with pytest.raises(ConfigError):
            limited.bind(limit=wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="No query"):
        queries.get("no/such")


def test_undef_and_rows() -> None:
    pairs = queries.parse("p", "SELECT * {\n VALUES (?a ?b) { (1 2) } #+ bind: a b\n}")
    text = pairs.bind(a_b=[(Literal("x"), None), (None, URIRef("urn:y"))])
    assert OxigraphStore().select(text, Dataset()).bindings() == [{"a": Literal("x")}, {"b": URIRef("urn:y")}]
    with pytest.raises(ConfigError, match="rows of 2"):
        pairs.bind(a_b=[(Literal("x"),)])


PROBES = cases(__file__, "PROBES")


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES.keys())
def test_calls_and_writes_are_refused(kg: KnowledgeGraph, heard: tuple[str, list[bytes]], probe: str) -> None:
    url, calls = heard
    kg.store.update("INSERT DATA { GRAPH <urn:mrag:kg:main:asserted:0> { <urn:a> <urn:b> <urn:c> } }")
    with pytest.raises(QueryRefused) as caught:
        kg.query(probe.replace("URL", url))
    assert caught.value.message
    assert calls == []
    assert kg.count() == 1


def test_a_worker_has_no_network_without_the_gate(kg: KnowledgeGraph, heard: tuple[str, list[bytes]]) -> None:
    url, calls = heard
    try:
        kg.store.bounded(f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", Dataset(), Limits(seconds=10))
    except QueryRefused as error:
        if calls:
            pytest.skip(f"this system does not let a process leave the network: {error}")
    assert calls == []


INERT = cases(__file__, "INERT")


@pytest.mark.parametrize("query", INERT)
def test_what_only_looks_dangerous_passes(kg: KnowledgeGraph, query: str) -> None:
    read_gate(query)
    assert not kg.query(query)


def test_the_system_graph_and_other_graphs_are_out_of_sight(kg: KnowledgeGraph) -> None:
    kg.store.update("INSERT DATA { GRAPH <urn:other> { <urn:a> <urn:b> <urn:c> } }")
    kg.clear()
    result = kg.query("SELECT ?g { GRAPH ?g { ?s ?p ?o } }")
    assert list(result) == []  # type: ignore[arg-type]
    assert kg.query("ASK { GRAPH <urn:mrag:system> { ?s ?p ?o } }") is False
    assert kg.query("ASK { GRAPH <urn:other> { ?s ?p ?o } }") is False


def test_undeclared_well_known_prefixes_work(kg: KnowledgeGraph) -> None:
    assert kg.query("ASK { ?x a owl:Class ; rdfs:label ?l }") is False


def test_a_refusal_says_what_to_do() -> None:
    with pytest.raises(QueryRefused, match="Load that data here"):
        read_gate("SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }")
    with pytest.raises(QueryRefused, match="Only SELECT, ASK, CONSTRUCT and DESCRIBE"):
        read_gate("not SPARQL at all")


E = "http://e.example/"
DATA = beside(__file__, "comfort.ttl")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comfort")
    (folder / "a.ttl").write_text(DATA, "utf-8")
    assert run("load", "a.ttl", cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize(("pattern", "columns"), cases(__file__, "a_star_keeps_the_order_of_the_query"))
def test_a_star_keeps_the_order_of_the_query(pattern: str, columns: str) -> None:
    with mrag.connect() as kg:
        found = kg.query(f"SELECT * {{ {pattern} }}")
        assert isinstance(found, SelectResult) and list(found.variables) == columns.split()


@settings(max_examples=20)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=3, unique=True))
def test_the_columns_are_those_of_the_triple(names: list[str]) -> None:
    with mrag.connect() as kg:
        found = kg.query(f"SELECT DISTINCT * {{ {' '.join('?' + n for n in names)} }} ORDER BY ?{names[2]}")
        assert isinstance(found, SelectResult) and list(found.variables) == names


def test_numbers_are_printed_as_numbers(home: Path) -> None:
    out = run("query", f"SELECT * {{ <{E}throne> ?p ?o FILTER(isLiteral(?o)) }} ORDER BY ?p", cwd=home).stdout
    cells = dict(line.split("\t") for line in out.splitlines()[1:])
    assert cells["e:price"] == "10" and cells["e:weight"] in ("12.5", "12.50")
    assert cells["e:bad"].startswith('"ten"^^') and cells["e:made"].startswith('"1200-01-01"^^')


@pytest.mark.parametrize(("cast", "portable"), [("int", "integer"), ("byte", "integer"), ("token", "string")])
def test_a_cast_that_is_missing_names_the_portable_one(cast: str, portable: str) -> None:
    with mrag.connect() as kg, pytest.raises(QueryRefused, match=f"no cast to xsd:{cast}") as caught:
        kg.query(f'SELECT (xsd:{cast}("3") AS ?i) {{}}')
    assert f"xsd:{portable}" in str(caught.value)


@pytest.mark.parametrize(
    "text", cases(__file__, "a_query_that_cannot_be_read_is_told_in_a_sentence_with_its_place")
)
def test_a_query_that_cannot_be_read_is_told_in_a_sentence_with_its_place(text: str) -> None:
    with mrag.connect() as kg, pytest.raises(QueryRefused, match=r"at line 1, column \d+\.") as caught:
        kg.query(text)
    assert "Exception" not in caught.value.message and "Parse" not in caught.value.message


@pytest.mark.parametrize("name", ["Iron Throne", "iron throne", "e:throne", f"{E}throne"])
def test_things_are_explained_by_label_curie_and_iri(home: Path, name: str) -> None:
    done = run("explain", name, cwd=home)
    assert done.returncode == 0 and "Seat" in done.stdout


def test_proofs_of_triples_by_name(home: Path) -> None:
    assert run("explain", "Iron Throne", "rdf:type", "Seat", cwd=home).returncode == 0
    assert "Seat" in run("explain", "BarStool", cwd=home).stdout
    assert "Seat" in run("explain", "Bar Stool", cwd=home).stdout


@pytest.mark.parametrize(("name", "said"), cases(__file__, "what_cannot_be_explained_is_told_apart"))
def test_what_cannot_be_explained_is_told_apart(home: Path, name: str, said: str) -> None:
    done = run("explain", name, cwd=home)
    assert done.returncode == 1 and said in done.stderr
