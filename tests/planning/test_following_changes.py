"""What is known of a graph after small changes is what is read of it from nothing."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, XSD, Literal, URIRef

import mrag.planning.lexical.names
import mrag.planning.lexicon
import mrag.planning.profiling
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.language.tokens import tokens
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import local_name, schema_of, usage_of
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.proxy import proxy
from tests.servers import oxigraph_server

SPACE = "http://example.org/library/"
THINGS = [URIRef(f"{SPACE}{kind}{n}") for kind in ("book", "author", "shelf") for n in range(4)]
CLASSES = [URIRef(SPACE + name) for name in ("Book", "Author", "Shelf", "Novel")]


def p(name: str) -> URIRef:
    return URIRef(SPACE + name)


def stated() -> list[Triple]:
    found = [Triple(p("Novel"), RDFS.subClassOf, p("Book"))]
    for n in range(4):
        book, author, shelf = (URIRef(f"{SPACE}{kind}{n}") for kind in ("book", "author", "shelf"))
        found += [
            Triple(book, RDF.type, p("Novel") if n % 2 else p("Book")),
            Triple(book, RDFS.label, Literal(f"Tales of River {n}")),
            Triple(book, p("pages"), Literal(100 + n)), Triple(book, p("writtenBy"), author),
            Triple(book, p("genre"), Literal("crime" if n else "travel")),
            Triple(author, RDF.type, p("Author")), Triple(author, RDFS.label, Literal(f"Ann Writer{n}")),
            Triple(author, p("born"), Literal(f"19{50 + n}-02-03", datatype=XSD.date)),
            Triple(shelf, RDF.type, p("Shelf")), Triple(book, p("standsOn"), shelf),
        ]  # fmt: skip
    return found


@pytest.fixture(autouse=True, scope="module")
def of_small_properties() -> Iterator[None]:
    """Find out what holds of all triples even where there are few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mrag.planning.profiling, "_WORTH", 0)
        yield


things, classes = st.sampled_from(THINGS), st.sampled_from(CLASSES)
names = st.sampled_from(("Tales of River", "The Sea", "crime", "Ann", "travel")).map(Literal)
changes = st.lists(
    st.tuples(
        st.booleans(),
        st.one_of(
            st.builds(Triple, things, st.just(p("pages")), st.integers(1, 900).map(Literal)),
            st.builds(Triple, things, st.sampled_from((p("writtenBy"), p("standsOn"))), things),
            st.builds(Triple, things, st.just(RDF.type), classes),
            st.builds(Triple, things, st.sampled_from((RDFS.label, p("genre"), p("note"))), names),
            st.sampled_from(stated()),
        ),
    ),
    min_size=1,
    max_size=4,
)


def change(kg: KnowledgeGraph, come: bool, triple: Triple) -> None:
    verb = "INSERT" if come else "DELETE"
    update(kg, f"{verb} DATA {{ {' '.join(term.n3() for term in triple)} }}")


def assert_as_from_nothing(kg: KnowledgeGraph, folder: Path | None = None) -> None:
    triples = [Triple(*row) for row in kg.select("SELECT ?s ?p ?o { ?s ?p ?o }")]  # type: ignore[arg-type]
    with KnowledgeGraph(OxigraphStore()) as fresh:
        fresh.insert(triples)
        assert schema_of(kg) == schema_of(fresh)
        ours, theirs = (lexicon_of(one, None) for one in (kg, fresh))
        things, others = ours.matcher.things, theirs.matcher.things
        assert (things.predicates, things.unnamed) == (others.predicates, others.unnamed)
        for n in range(len(things.predicates)):
            assert things.values_of(n) == others.values_of(n)
        for asked in (*map(local_name, map(str, THINGS)), "tales of the seas by anns", "crimes and travel"):
            assert ours.match(tokens(asked)) == theirs.match(tokens(asked))
        assert all(things.names_of(str(thing)) == others.names_of(str(thing)) for thing in THINGS)


@pytest.mark.slow
@pytest.mark.parametrize("small", [300_000, 0], ids=["small", "large"])
@settings(max_examples=25, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(changes, min_size=1, max_size=3))
def test_after_any_small_changes(small: int, several: list[list[tuple[bool, Triple]]]) -> None:
    with pytest.MonkeyPatch.context() as patch, KnowledgeGraph(OxigraphStore()) as kg:
        patch.setattr(mrag.planning.lexical.names, "_SMALL", small)
        kg.insert(stated())
        assert_as_from_nothing(kg)
        for some in several:
            for come, triple in some:
                change(kg, come, triple)
            assert_as_from_nothing(kg)


@settings(max_examples=12, database=None, suppress_health_check=list(HealthCheck))
@given(st.lists(changes, min_size=1, max_size=2))
def test_large_properties_are_adjusted_to_what_came(several: list[list[tuple[bool, Triple]]]) -> None:
    def exact(kg: KnowledgeGraph) -> dict[str, tuple[object, ...]]:
        return {
            p: (
                i.triples, i.subjects, i.objects, i.kind, i.minimum, i.maximum, i.datatypes, i.plain_dates,
            )
            for p, i in schema_of(kg).properties.items()
        }  # fmt: skip

    with pytest.MonkeyPatch.context() as patch, KnowledgeGraph(OxigraphStore()) as kg:
        patch.setattr(mrag.planning.profiling, "_EXACT", 0)
        patch.setattr(mrag.planning.profiling, "_GROWN", 9)
        kg.insert(stated())
        exact(kg)
        for some in several:
            for come, triple in some:
                change(kg, come, triple)
            found = exact(kg)
            rows = list(kg.select("SELECT ?s ?p ?o { ?s ?p ?o }"))
            with KnowledgeGraph(OxigraphStore()) as fresh:
                fresh.insert([Triple(*row) for row in rows])  # type: ignore[arg-type]
                assert found == exact(fresh)
            assert_holds(kg, rows)


def assert_holds(kg: KnowledgeGraph, rows: Iterable[tuple[object, ...]]) -> None:
    """Check that what is said of all subjects and objects of a property is so."""
    rows = list(rows)
    types = {(str(s), str(c)) for s, q, c in rows if q == RDF.type}
    for iri, info in schema_of(kg).properties.items():
        for at, sets in ((0, info.subjects_in), (2, info.objects_in)):
            things = {str(row[at]) for row in rows if str(row[1]) == iri}
            assert all(any((t, c) in types for c in some) for some in sets for t in things)


def never(*_: object) -> object:
    raise AssertionError("names are read")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Keep which properties are counted."""
    found: list[list[str]] = []

    def kept(
        kg: KnowledgeGraph, counts: dict[str, int], classes: dict[str, int], only: Iterable[str]
    ) -> object:
        found.append(sorted(only))
        return usage_of(kg, counts, classes, found[-1])

    monkeypatch.setattr(mrag.planning.profiling, "usage_of", kept)
    return found


def test_a_changed_number_has_its_properties_read_again_and_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(stated())
        before = lexicon_of(kg, None).matcher.things
        found = counted(monkeypatch)
        change(kg, True, Triple(THINGS[4], p("age"), Literal(51)))
        change(kg, False, Triple(THINGS[4], p("age"), Literal(51)))
        change(kg, True, Triple(THINGS[4], p("born"), Literal("1950-02-04", datatype=XSD.date)))
        assert lexicon_of(kg, None).matcher.things is before
        assert found == [[p("born").toPython()]]
        assert schema_of(kg).properties[str(p("born"))].triples == 5


def test_new_and_lost_names_and_values_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(stated())
        before = lexicon_of(kg, None).matcher.things
        monkeypatch.setattr(mrag.planning.lexicon, "named_things", never)
        change(kg, True, Triple(THINGS[0], RDFS.label, Literal("Zanzibar")))
        change(kg, True, Triple(THINGS[1], p("genre"), Literal("poetry")))
        change(kg, False, Triple(THINGS[0], p("genre"), Literal("travel")))
        change(kg, False, Triple(THINGS[5], RDFS.label, Literal("Ann Writer1")))
        lexicon = lexicon_of(kg, None)
        assert lexicon.matcher.things is not before
        asked = [mention.candidates[0].name for mention in lexicon.match(tokens("Zanzibar poetry travel"))]
        assert asked == ["Zanzibar", "poetry"]
        monkeypatch.undo()
        assert_as_from_nothing(kg)


def test_another_process_goes_on_from_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = f"oxigraph:{tmp_path / 'store'}"
    with KnowledgeGraph(open_store(place)[0]) as kg:
        kg.insert(stated())
        lexicon_of(kg, None)
    with KnowledgeGraph(open_store(place)[0]) as kg:
        change(kg, True, Triple(THINGS[4], p("born"), Literal("1950-02-04", datatype=XSD.date)))
        found = counted(monkeypatch)

        monkeypatch.setattr(mrag.planning.lexicon, "named_things", never)
        lexicon_of(kg, None)
        assert found == [[p("born").toPython()]]
        monkeypatch.undo()
        assert_as_from_nothing(kg)


def test_what_others_keep_on_a_server_is_read_once_for_each_state_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes that leave all counts and lengths as they were are seen by the next process."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)
    with oxigraph_server(tmp_path, memory=True) as url:
        base = url.removeprefix("sparql:").partition("/query")[0]
        others, _ = open_store(url)
        lines = "".join(f"{s.n3()} {p.n3()} {o.n3()} .\n" for s, p, o in stated())
        others.insert(lines.encode(), "urn:theirs")

        def asked(word: str) -> tuple[int, list[str]]:
            with proxy(base) as made:
                store, _ = open_store(url.replace(base, made.base))
                monkeypatch.setattr(store, "identity", url)
                with KnowledgeGraph(store, graphs=["urn:theirs"]) as kg:
                    before = made.requests
                    found = lexicon_of(kg, None).match(tokens(f"the {word} tales"), meanings=False)
                    terms = [c.term for mention in found for c in mention.candidates if c.kind == "entity"]
                    classes = schema_of(kg).classes
                    return made.requests - before, [*terms, *(f"{c} {i.count}" for c, i in classes.items())]

        many, first = asked("Tales of River 1")
        few, again = asked("Tales of River 1")
        assert many > 15 and few <= 2 and again == first and str(THINGS[1]) in first
        swap = "DELETE { GRAPH ?g { ?s ?p ?o } } INSERT { GRAPH ?g { ?s ?p %s } } WHERE { GRAPH ?g { %s } }"
        for change in (
            swap % ("'Tales of Rifts 1'", "?s ?p ?o FILTER(STR(?o) = 'Tales of River 1')"),
            swap % (f"<{SPACE}Buch>", f"?s a <{SPACE}Book> ; ?p ?o FILTER(?o = <{SPACE}Book>)"),
        ):
            others.update(change)
            read, now = asked("Tales of Rifts 1")
            assert read > 15 and now != again
            few, again = asked("Tales of Rifts 1")
            assert few <= 2 and again == now and str(THINGS[1]) in now
        others.close()


def test_what_is_kept_of_a_graph_on_a_server_is_of_no_other_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all was dropped, revisions begin with the first again."""
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)
    with oxigraph_server(tmp_path, memory=True) as url:

        def asked(name: str) -> list[str]:
            file = tmp_path / "graph.ttl"
            file.write_text(f'<urn:a> a <urn:Kind> ; <http://www.w3.org/2000/01/rdf-schema#label> "{name}" .')
            found = list[str]()
            for files in ([file], []):
                with KnowledgeGraph(open_store(url)[0]) as kg:
                    if files:
                        kg.load(files)
                    lexicon = lexicon_of(kg, None)
                    found += [
                        c.term for m in lexicon.match(tokens(name), meanings=False) for c in m.candidates
                    ]
            return found

        assert asked("Ann") == ["urn:a"] * 2
        open_store(url)[0].update("DROP ALL")
        assert asked("Ben") == ["urn:a"] * 2
