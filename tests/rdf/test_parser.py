"""Queries read: tokens, terms and operators as the standard has them, and what is refused."""

import dataclasses
import inspect
import logging
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import XSD, Literal, URIRef

import mrag
from mrag._patterns import compile_pattern
from mrag.errors import QueryRefused, QueryTimeout
from mrag.loaders import checks
from mrag.rdf import parser, patterns
from mrag.rdf.guard import paths_in_negation, read_gate
from mrag.rdf.parser import FUNCTIONS, KINDS, Tokens, parse_query, visible, walk
from mrag.rdf.parser import parse_update as parse
from mrag.rdf.patterns import Filter, Group, TriplePattern
from mrag.rdf.slicing import page_query, pushable, short_keys, without_limit
from mrag.rdf.terms import term_from_json, to_ox
from mrag.reasoning.rounds import order_patterns
from mrag.stores import http
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside, cases


def test_the_walk_knows_every_kind_of_node_and_no_other() -> None:
    kinds = {c for _, c in inspect.getmembers(parser, inspect.isclass) if dataclasses.is_dataclass(c)}
    assert kinds == KINDS
    assert not any("service" in kind.__name__.lower() for kind in KINDS)

    @dataclasses.dataclass(frozen=True)
    class Service:
        group: object

    query, _ = parse_query("ASK { ?s ?p ?o }")
    hostile = dataclasses.replace(query.select.where, parts=(Service(query.select.where),))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Service is no kind of node"):
        list(walk(hostile))


def test_terms_are_read_as_they_are_written() -> None:
    text = """PREFIX ex: <http://e.example/> BASE <http://b.example/dir/>
    ASK { <x> ex:a\\,b -1.5, "v"@en-GB, '''w'''^^<#t>, true . [] ex:p ( 1 "two" ) }"""
    triples = [n for n in walk(parse_query(text)[0]) if isinstance(n, parser.TripleNode)]
    assert triples[0].s == URIRef("http://b.example/dir/x")
    assert triples[0].p == URIRef("http://e.example/a,b")
    objects = [t.o for t in triples[:4]]
    assert objects[0] == Literal("-1.5", datatype=URIRef("http://www.w3.org/2001/XMLSchema#decimal"))
    assert objects[1] == Literal("v", lang="en-GB")
    assert objects[2] == Literal("w", datatype=URIRef("http://b.example/dir/#t"))
    assert len(triples) == 9


def test_operators_bind_as_the_grammar_says() -> None:
    query, _ = parse_query("ASK { FILTER (?a || ?b && ?c = ?d + ?e * -1) }")
    found = [n.name for n in walk(query) if isinstance(n, parser.CallNode)]
    assert found == ["||", "&&", "=", "+", "*", "-"]
    text = parse_query("SELECT * { ?a ?b ?c FILTER(?a<?b&&?c>?d) }")[1].tokens.print()
    assert "?a < ?b && ?c > ?d" in text


def test_visible_variables_are_those_of_the_standard() -> None:
    text = """SELECT * { ?a ?b ?c MINUS { ?m ?b ?c } FILTER EXISTS { ?e ?b ?c } BIND (1 AS ?d)
    { SELECT (COUNT(?x) AS ?n) ?y { ?x ?y ?z } GROUP BY ?y } OPTIONAL { ?o ?b ?c }
    GRAPH ?g { } } VALUES ?v { 1 }"""
    assert list(visible(parse_query(text)[0].select)) == ["a", "b", "c", "d", "n", "y", "o", "g", "v"]


@pytest.mark.parametrize(
    "text,says",
    [
        *cases(__file__, "REFUSED"),
        ("ASK {" + "{" * 101 + "}" * 102, "nested too deeply"),
        ("ASK { FILTER(" + "(" * 101 + "1" + ")" * 101 + ") }", "nested too deeply"),
        ("ASK { ?s ?p " + "[ ?p " * 101 + "1" + "]" * 101 + " }", "nested too deeply"),
        ("ASK {" + " ?s ?p ?o ." * 2001 + "}", "More than 2000 patterns"),
        ("ASK { FILTER(1" + "+1" * 2001 + ") }", "More than 2000 operators"),
        ("ASK { {} " + "UNION {}" * 2001 + "}", "More than 2000 groups"),
        ("ASK { ?s <urn:p>" + "/<urn:p>" * 2001 + " ?o }", "More than 2000 paths"),
    ],
)
def test_what_is_refused_says_why(text: str, says: str) -> None:
    with pytest.raises(QueryRefused, match=says):
        read_gate(text)


def test_two_prefixes_may_stand_for_one_namespace() -> None:
    text = "PREFIX a: <urn:n:> PREFIX b: <urn:n:> ASK { a:x b:y ?o }"
    assert read_gate(text).patterns[0][:2] == (URIRef("urn:n:x"), URIRef("urn:n:y"))
    prefixes = {"dbo": "http://dbpedia.org/ontology/"}
    assert read_gate("PREFIX o: <http://dbpedia.org/ontology/> ASK { ?s o:a|dbo:b ?o }", (), prefixes).text


def test_what_is_judged_is_what_runs() -> None:
    read = read_gate("BASE <urn:base:> SELECT * FROM <g> { ?s ?p ?o }", ["urn:base:g", "g"])
    assert f"<{read.graphs[0]}>" in read.text


def test_long_lists_are_read_in_time_that_grows_with_them() -> None:
    few, many = (
        read_gate("ASK { ?s ?p ?o FILTER(?o IN (" + ",".join(map(str, range(n))) + ")) }").text
        for n in (50, 50_000)
    )
    assert len(many) > 1000 * len(few) / 2


@pytest.mark.parametrize("path", ["+", "*", "?"])
def test_paths_in_negation_are_found_wherever_they_stand(path: str) -> None:
    assert paths_in_negation(
        f"ASK {{ ?s ?p ?o FILTER(1 = 1 && NOT EXISTS {{ ?s (<urn:a>/<urn:b>{path}) ?o }}) }}"
    )
    assert not paths_in_negation(f"ASK {{ ?s <urn:b>{path} ?o FILTER EXISTS {{ ?s (<urn:a>|<urn:b>) ?o }} }}")


def test_a_path_is_read_as_the_grammar_says() -> None:
    query, _ = parse_query("ASK { ?s ^<urn:a>/(<urn:b>|!(a|^<urn:c>))+ ?o }")
    found = [n.operator for n in walk(query) if isinstance(n, parser.Path)]
    assert found == ["/", "^", "+", "|", "!", "^"]


def test_the_second_operation_of_an_update_is_not_lost_behind_a_comment() -> None:
    text = "INSERT DATA { <urn:a> <urn:b> 1 } # x\r; INSERT DATA { <urn:a> <urn:b> 2 }"
    assert [operation[:2] for operation in parse(text)] == [("data", True), ("data", True)]
    with pytest.raises(QueryRefused, match="SERVICE is not allowed"):
        parse("DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER EXISTS { # x\rSERVICE <urn:a> { ?s ?p ?o } #\n} }")


@pytest.mark.parametrize("text", cases(__file__, "updates_that_are_none_are_refused"))
def test_updates_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(QueryRefused):
        parse(text)


def keys(text: str) -> list[str]:
    return [token.key for token in Tokens(text).tokens[:-1]]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_comment_ends_where_the_line_ends(end: str) -> None:
    assert keys(f"ASK # x{end}{{ }} # y") == ["ASK", "{", "}"]
    with pytest.raises(QueryRefused, match="SERVICE is not allowed"):
        Tokens(f"SELECT * {{ # x{end}SERVICE <http://a.example/> {{ ?s ?p ?o }} #\n }}")


@pytest.mark.parametrize("space", ["\u2028", "\u0085", "\u00a0", "\v", "\f", "\ufeff", "\x00"])
def test_only_four_characters_are_white_space(space: str) -> None:
    assert keys(f"ASK # x{space}SERVICE") == ["ASK"]
    with pytest.raises(QueryRefused, match="Not a SPARQL query"):
        Tokens(f"ASK{space}{{ }}")


def test_strings_in_four_forms_are_printed_in_one() -> None:
    texts = ["'a\"b'", '"a\\"b"', "'''a\"b'''", '"""a"b"""']
    assert {Tokens(text).print() for text in texts} == {'"a\\"b"'}
    assert Tokens('"""a\nb"""').print() == '"a\\nb"'
    assert Tokens("'''it''s''' ''").tokens[0].value == "it''s"


@given(st.text())
def test_a_string_keeps_its_value(value: str) -> None:
    printed = '"' + value.translate({34: '\\"', 92: "\\\\", 10: "\\n", 13: "\\r"}) + '"'
    if "\\u" in printed.replace("\\\\", "") or any("\ud800" <= c <= "\udfff" for c in value):
        return
    once = Tokens(printed)
    assert once.tokens[0].value == value
    assert Tokens(once.print()).tokens[0].value == value


@given(st.text(alphabet="?ab<>=!&|^*/+-.,;:()[]{}'\"#@1e \t\r\nSERVICE_\\u0053", max_size=40))
def test_what_is_printed_reads_the_same(text: str) -> None:
    try:
        once = Tokens(text)
    except QueryRefused:
        return
    again = Tokens(once.print())
    assert [t.key for t in again.tokens] == [t.key for t in once.tokens]
    assert [t.value for t in again.tokens] == [t.value for t in once.tokens]
    assert again.print() == once.print()


def test_every_word_is_known_or_refused() -> None:
    assert keys("select Distinct ?x wHeRe { }")[:2] == ["SELECT", "DISTINCT"]
    for word in ("LATERAL", "VERSION", "DEFINE", "A", "serviceSILENT", "x", "INSERT", "load"):
        with pytest.raises(QueryRefused):
            Tokens(f"ASK {{ {word} }}")
    for word in sorted(parser.READING | FUNCTIONS):
        assert keys(word if word != "A" else "a") == [word if word != "A" else "a"]


def test_names_are_cut_as_the_standard_cuts_them() -> None:
    assert keys("ex:a.b.") == ["pname", "."]
    assert keys("_:b.c. :x") == ["blank", ".", "pname"]
    assert keys("ex:a\\#b ex:%41 ex:a:b ?x.") == ["pname", "pname", "pname", "var", "."]
    numbers = "decimal decimal integer . double double - integer".split()
    assert keys("1.5 .5 1. 1e3 1.e3 -1") == numbers


def test_reading_stops_at_the_deadline() -> None:
    with pytest.raises(QueryTimeout, match="could not be read"):
        Tokens("ASK {" + " ?s ?p ?o ." * 10_000 + "}", deadline=0.0)


PATTERNS: dict[str, tuple[re.Pattern[Any], list[str]]] = {
    "token": (
        parser._TOKEN,
        ["'", '"', "\\", "a", "\n", ":", ".", "@en", "-", "<urn:a>", "?x", "1", "e", "%20", "_"],
    ),
    "space": (parser._SPACE, [" ", "#", "\n", "a"]),
    "codepoint": (parser._CODEPOINT, ["\\", "u0041", "U00000041", "a"]),
    "turtle": (checks._TURTLE, ["'", '"', "\\", "a", "\n", "<urn:a>", "<", "#", "[", "é"]),
    "json": (checks._JSON, ['"', "\\", "a", "{", "]", "\n"]),
    "xml": (checks._XML, ["<a", ">", "</a>", "/>", "<b c=", '"', "'", "x", " ", "/"]),
    "opening": (checks._OPENING, ["<a", ">", "</a>", "/>", "<b c=", '"', "'", "x", " ", "/"]),
    "lines": (http._LINES, ["<http://a/b>", "<urn:a:b>", " ", ".\n", '"', "\\n", "@en", "^^", "a", "#"]),
}


@pytest.mark.parametrize("name", [*PATTERNS])
@given(data=st.data())
def test_greedy_groups_match_the_same(name: str, data: st.DataObject) -> None:
    pattern, words = PATTERNS[name]
    text = "".join(data.draw(st.lists(st.sampled_from(words), max_size=30)))
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    flags = pattern.flags & (re.DOTALL | re.VERBOSE)
    greedy = compile_pattern(pattern.pattern, flags, possessive=False)
    assert spans(greedy, subject) == spans(pattern, subject)


def spans(pattern: re.Pattern[Any], subject: str | bytes) -> list[tuple[tuple[int, int], str | None]]:
    return [(m.span(), m.lastgroup) for m in pattern.finditer(subject)]


X, Y, Z, P = map(patterns.var, "xyzp")
SAME, ROLE = patterns.iri("urn:same"), patterns.iri("urn:role")
TERMS = st.sampled_from(["urn:a", "urn:b", "urn:c", "urn:d", "urn:role"])
NAMES = st.sampled_from(["urn:same", "urn:role", "urn:other"])
GRAPHS = st.lists(st.tuples(TERMS, NAMES, TERMS), max_size=25)
FIRST = patterns.SubSelect(patterns.Select((X, Y), TriplePattern(X, SAME, Y), limit=1000, sized=True))
BODIES = [
    Group((FIRST, TriplePattern(X, P, Z), Filter(patterns.Compare(X, "!=", Y)))),
    Group(
        (
            patterns.SubSelect(
                patterns.Select((X, Y, P, Z), Group((FIRST, TriplePattern(X, P, Z))), distinct=True)
            ),
        )
    ),
    Group(
        (
            TriplePattern(X, SAME, Y),
            TriplePattern(Y, P, Z),
            Filter(patterns.Negation(patterns.Holds(TriplePattern(Z, P, Y)))),
        )
    ),
]


def filled(store: OxigraphStore, graph: list[tuple[str, str, str]]) -> Dataset:
    store.insert("".join(f"<{s}> <{p}> <{o}> .\n" for s, p, o in graph).encode(), "urn:g")
    return Dataset(("urn:g",))


@given(GRAPHS, st.sampled_from(BODIES))
@settings(max_examples=40)
def test_a_query_without_sizes_means_the_same(graph: list[tuple[str, str, str]], body: Group) -> None:
    query = patterns.Construct((TriplePattern(Y, P, Z),), body)
    with OxigraphStore() as store:
        seen = filled(store, graph)
        whole = set(store.construct(patterns.to_sparql(query), seen))
        assert set(store.construct(patterns.to_sparql(without_limit(query)), seen)) == whole


def test_what_an_atom_decides_stands_in_it() -> None:
    """Virtuoso joins first and filters then, which took it minutes where few triples are left."""
    conditions = (patterns.Compare(X, "!=", Y), patterns.In(P, (ROLE,)))
    delta = TriplePattern(X, P, Z)
    same = TriplePattern(X, SAME, Y)
    sizes = [(5, 0, patterns.Graph(patterns.iri("urn:new"), delta), delta), (50, 1, same, same)]
    first, *rest = order_patterns(sizes, hint=True, filters=conditions)  # type: ignore[arg-type]
    assert isinstance(first, patterns.SubSelect) and Filter(conditions[1]) in first.select.where.parts  # type: ignore[union-attr]
    assert rest == [same, Filter(conditions[0])]
    assert not pushable(patterns.Negation(patterns.Holds(delta)), frozenset({X, P, Z}))


@given(GRAPHS)
@settings(max_examples=40)
def test_a_page_has_the_columns_of_the_whole(graph: list[tuple[str, str, str]]) -> None:
    """Whether pages keep an inner order is up to the engine; Virtuoso does, where they are used."""
    text = "PREFIX x: <urn:> SELECT ?o ?s { ?s ?p ?o FILTER(?p != x:other) }"
    with OxigraphStore() as store:
        seen = filled(store, graph)
        for query in (text, f"{text} ORDER BY ?s ?o"):
            page = store.select(str(page_query(query, ("o", "s"), 100, 0)), seen)
            assert page.variables == ("o", "s")
            assert Counter(page) == Counter(store.select(query, seen))


def test_a_query_that_names_its_graphs_has_no_pages() -> None:
    assert page_query("SELECT ?s FROM <urn:g> { ?s ?p ?o }", ("s",), 1, 0) is None
    assert page_query("ASK { ?s ?p ?o }", (), 1, 0) is None


def test_keys_of_inner_and_outer_orders_are_cut() -> None:
    inner = "SELECT ?s { { SELECT ?s ?o { ?s ?p ?o } ORDER BY STR(?o) } FILTER(STR(?s) > 'a') }"
    short = short_keys(f"{inner} ORDER BY DESC(STR(?s)) LANG(?o)")
    assert short.count("SUBSTR(STR(?o), 1, 200)") == short.count("SUBSTR(STR(?s), 1, 200)") == 1
    assert short.count("STR(?s)") == 2


DATA = beside(__file__, "gauges.ttl")


def test_nothing_is_logged_about_ill_typed_values(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "odd.ttl").write_text(DATA, encoding="utf-8")
    with caplog.at_level(logging.WARNING), mrag.connect("oxigraph:") as kg:
        kg.load([tmp_path / "odd.ttl"])
        kg.index(model="none")
        for question in cases(__file__, "nothing_is_logged_about_ill_typed_values"):
            mrag.ask(kg, question, model="none")
        rows = kg.select("SELECT ?v { <http://odd.example/a> <http://odd.example/installed> ?v }")
        assert [str(value) for (value,) in rows] == ["2022-02-29"]
        assert str(term_from_json({"type": "literal", "value": "x", "datatype": str(XSD.date)})) == "x"
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        Literal("2022-02-29", datatype=XSD.date)
    assert caplog.records, "what rdflib says to others is theirs"


TURTLE = beside(__file__, "mottos.ttl")


def test_a_term_keeps_an_odd_tag() -> None:
    term = to_ox(Literal('say "so"\n', lang="zh-classical"))
    assert str(term) == '"say \\"so\\"\\n"@zh-classical'


@pytest.mark.parametrize(("question", "cited"), cases(__file__, "what_has_an_odd_tag_is_cited_and_verified"))
def test_what_has_an_odd_tag_is_cited_and_verified(tmp_path: Path, question: str, cited: int) -> None:
    (tmp_path / "mottos.ttl").write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "mottos.ttl"])
        kg.index(model="none")
        answer = mrag.ask(kg, question, model="none")
        report = mrag.verify(kg, answer.to_json())
        assert ("glory" in str(answer)) and report.complete and report.checked == cited
