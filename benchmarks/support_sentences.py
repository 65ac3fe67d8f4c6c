"""Sentences about any graph that are true, and others that are false or that the graph does not say.

The graph is the only source: its facts are put into words by the shapes of its labels (`support_wording`),
and each false sentence is made from a true fact and checked against the whole graph, with the closure of
subproperties, inverses, symmetric and transitive properties, subclasses and `owl:sameAs`.
"""

from __future__ import annotations

import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import quote

import support_wording as english
from common import shared_data
from rdflib import RDF, RDFS, Literal, URIRef
from rdflib.term import Node
from support_wording import Clause, Relation, sentence

import mrag
from mrag.context.display import Display
from mrag.context.expansion import expand
from mrag.context.render import Context, Line
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

BUILD = ("demo", "starwars", "football", "museum")
HELD = ("clinic", "flights", "recipes", "railways", "helpdesk", "lab", "metaqa")
FOLDER = Path(__file__).parent / "blind"
OWL = "http://www.w3.org/2002/07/owl#"
VOCABULARIES = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#", OWL,
    "http://www.w3.org/2004/02/skos/core#", "http://purl.org/vocab/vann/", "http://www.w3.org/2001/XMLSchema#",
)  # fmt: skip
SYMMETRIC = tuple(
    "inter bord link relat compe compa marr sibl partner conn same neigh simi coll spou".split()
)
"""Beginnings of labels of what holds in both directions by its meaning."""
_XSD = "http://www.w3.org/2001/XMLSchema#"
_BOTH_WAYS = (OWL + "equivalentProperty", OWL + "equivalentClass", OWL + "inverseOf", OWL + "sameAs")
_NAMING = ("name", "title", "homepage", "description", "comment")
_OF_PERSONS = {"birth date", "gender", "sex", "dob", "date of birth"}
_UNFIT = re.compile(r"[<>\[\]|_/]|, .*\)|^\w+:\w")
_NUMBERS = frozenset("integer decimal double float int long short nonNegativeInteger positiveInteger".split())
_MOVIES = 400


@dataclass(frozen=True)
class Case:
    """A sentence and whether it is true.

    Attributes:
        graph: Name of the graph.
        kind: How it was made.
        true: Whether the graph says it.
        question: What it answers.
        lead: True sentences before it.
        text: The sentence, or sentences.
        entity: The entity whose neighbourhood is the context.
    """

    graph: str
    kind: str
    true: bool
    question: str
    lead: str
    text: str
    entity: str


@dataclass(frozen=True)
class Said:
    """What a kind makes of a scene.

    Attributes:
        text: The sentence, or sentences.
        lead: True sentences before it.
        question: What it answers, if not what the scene was made for.
        raw: Whether the text is left as it stands.
    """

    text: str
    lead: str = ""
    question: str | None = None
    raw: bool = False


@dataclass(frozen=True)
class Fact:
    """A triple in words.

    Attributes:
        s: IRI of the subject.
        o: The object.
        relation: Its property.
        subject: Name of the subject.
        value: Name of the object, without quotes.
        line: Text of its line.
        single: Whether the subject has one value of this property.
    """

    s: str
    o: Node
    relation: Relation
    subject: str
    value: str
    line: str
    single: bool

    @property
    def plain(self) -> Clause:
        """The clause that the label suggests."""
        return self.relation.plain(self.subject, self.value, self.single)

    def clauses(self) -> list[Clause]:
        """All clauses that say it, the plain one first."""
        if self.relation.shape == "flag":
            return [english.flag(self.subject, self.relation, self.value == "true")]
        r, s, o = self.relation, self.subject, self.value
        maybe = [r.voice(s, o), r.having(s, o) if self.single else None]
        return [self.plain, *(c for c in maybe if c), *r.nouns(s, o, self.single)]

    @property
    def ends(self) -> frozenset[str]:
        """The names at both ends."""
        return frozenset((self.subject, self.value))


@cache
def load(name: str) -> KnowledgeGraph:
    """Open a graph by its name."""
    if name == "demo":
        return mrag.demo(model="none")
    kg = KnowledgeGraph(OxigraphStore())
    if name == "starwars":
        folder = shared_data("starwars_kg")
        kg.load([folder / "SWAPI-ontology.ttl", folder / "starwars-data.ttl"])
    elif name == "metaqa":
        kg.insert(_movies())
    else:
        kg.load([FOLDER / f"{name}.ttl.gz"])
    return kg


def _movies() -> Iterator[Triple]:
    """Read films whose hash is smallest, with all that is said of them."""
    rows = [line.split("|") for line in (shared_data("metaqa") / "kb.txt").read_text("utf-8").splitlines()]
    films = sorted({s for s, *_ in rows}, key=lambda s: (zlib.crc32(s.encode()), s))[:_MOVIES]
    kept, base, film = set(films), "http://example.org/films/", "http://example.org/films/Film"
    named: set[str] = set()
    yield Triple(URIRef(film), RDFS.label, Literal("film"))
    for s, p, o in rows:
        if s not in kept:
            continue
        literal = p in ("release_year", "has_imdb_votes", "has_imdb_rating")
        subject = URIRef(base + "f/" + quote(s, safe=""))
        target: Literal | URIRef = URIRef(base + "x/" + quote(o, safe=""))
        if literal:
            target = Literal(int(o)) if o.isdigit() else Literal(o)
        yield Triple(subject, URIRef(base + p), target)
        for iri, label in ((subject, s), (target, o)):
            if isinstance(iri, URIRef) and iri not in named:
                named.add(iri)
                yield Triple(iri, RDFS.label, Literal(label))
        yield Triple(subject, RDF.type, URIRef(film))


class World:
    """All that a graph says, for checking what is false.

    Args:
        name: What the graph is called.
        kg: The graph.
    """

    def __init__(self, name: str, kg: KnowledgeGraph) -> None:
        self.name, self.kg = name, kg
        self.display = Display(kg)
        rows = list(kg.select("SELECT DISTINCT ?s ?p ?o { ?s ?p ?o }"))
        self.rows = sorted((str(s), str(p), o) for s, p, o in rows)
        self.display.prepare(
            sorted({x for s, p, o in self.rows for x in (s, p, str(o) if isinstance(o, URIRef) else s)})
        )
        self.values: dict[tuple[str, str], set[str]] = defaultdict(set)
        """What a subject has by a property, in the closure; terms in N3."""
        self.between: dict[tuple[str, str], set[str]] = defaultdict(set)
        """The properties from one entity to another, in the closure."""
        self.counts: dict[tuple[str, str], int] = defaultdict(int)
        self.labels: dict[str, set[str]] = defaultdict(set)
        """Properties by their label."""
        self.relations: dict[str, Relation] = {}
        self.entities: dict[str, str] = {}
        self.instances: dict[str, set[str]] = defaultdict(set)
        self.classes: dict[str, str] = {}
        self._close()
        self._read_relations()
        self._read_entities()
        self.facts = [f for s, p, o in self.rows if (f := self.fact(s, p, o))]
        self.of_relation: dict[str, list[Fact]] = defaultdict(list)
        self.about: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            self.of_relation[fact.relation.iri].append(fact)
            self.about[fact.s].append(fact)

    def _close(self) -> None:
        said: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for s, p, o in self.rows:
            if p.startswith((str(RDFS), OWL)) and isinstance(o, URIRef):
                said[p][s].add(str(o))
                if p in _BOTH_WAYS:
                    said[p][str(o)].add(s)
        up, classes = said[str(RDFS.subPropertyOf)], said[str(RDFS.subClassOf)]
        for s, ends in said[OWL + "equivalentProperty"].items():
            up[s] |= ends
        for s, ends in said[OWL + "equivalentClass"].items():
            classes[s] |= ends
        inverse, same = said[OWL + "inverseOf"], said[OWL + "sameAs"]
        kinds = {(s, str(o)) for s, p, o in self.rows if p == str(RDF.type)}
        self.symmetric = {p for _, p, _ in self.rows if (p, OWL + "SymmetricProperty") in kinds}
        self.symmetric |= {
            p for _, p, _ in self.rows if self.display.predicate(p).lower().startswith(SYMMETRIC)
        }
        todo = [(s, p, o.n3()) for s, p, o in self.rows]
        while todo:
            s, p, o = todo.pop()
            if o in self.values[s, p]:
                continue
            self.values[s, p].add(o)
            todo += [(s, q, o) for q in up.get(p, ())]
            if o.startswith("<"):
                end = o[1:-1]
                todo += [(end, q, f"<{s}>") for q in inverse.get(p, ())]
                if p in self.symmetric:
                    todo.append((end, p, f"<{s}>"))
                if p == str(RDF.type):
                    todo += [(s, p, f"<{c}>") for c in classes.get(end, ())]
                todo += [(s, p, f"<{e}>") for e in same.get(end, ())]
            todo += [(e, p, o) for e in same.get(s, ())]
        self._chain({s for s, kind in kinds if kind == OWL + "TransitiveProperty"})
        for (s, p), found in self.values.items():
            for o in found:
                if o.startswith("<"):
                    self.between[s, o[1:-1]].add(p)

    def _chain(self, transitive: set[str]) -> None:
        for p in sorted(transitive):
            starts = [s for s, q in self.values if q == p]
            changed = True
            while changed:
                changed = False
                for s in starts:
                    ends = self.values[s, p]
                    further = {x for e in ends for x in self.values.get((e[1:-1], p), ())} - ends
                    changed = changed or bool(further)
                    ends |= further

    def _read_relations(self) -> None:
        kinds: dict[str, set[str]] = defaultdict(set)
        for s, p, o in self.rows:
            kinds[p].add(_kind(o, self.display.predicate(p)))
            self.counts[s, p] += 1
        for p, found in sorted(kinds.items()):
            label = self.display.predicate(p)
            self.labels[label.casefold()].add(p)
            named = p in self.kg.label_properties or label.casefold() in _NAMING
            if p.startswith(VOCABULARIES) or named or len(found) > 1 or "long" in found:
                continue
            if read := english.relation(p, label, next(iter(found))):
                self.relations[p] = read
        words = [w for label in self.labels for w in english.words_of(label)]
        words += [english.base_of_participle(w) or w for w in words]
        self.stems = {w[:4].lower() for w in words if len(w) > 3}

    def _read_entities(self) -> None:
        named: dict[str, set[str]] = defaultdict(set)
        schema = {s for s, p, o in self.rows if p == str(RDF.type) and str(o).startswith(OWL)}
        schema |= {str(o) for _, p, o in self.rows if p == str(RDF.type)}
        for s, _, o in self.rows:
            for iri in (s, str(o)) if isinstance(o, URIRef) else (s,):
                named[self.display.entity(iri).casefold()].add(iri)
        for iri in sorted(iri for iris in named.values() if len(iris) == 1 for iri in iris):
            name = self.display.entity(iri)
            fit = len(name) < 45 and re.search(r"[A-Za-z]{2}", name) and not _UNFIT.search(name)
            if fit and iri not in schema and not iri.startswith(VOCABULARIES):
                self.entities[iri] = name
        for (s, p), found in self.values.items():
            for c in found if p == str(RDF.type) else ():
                self.instances[c[1:-1]].add(s)
        for c in sorted(self.instances):
            name, known = self.display.entity(c), c.startswith((*VOCABULARIES, "urn:mrag:genid"))
            if not known and re.fullmatch(r"[A-Za-z][A-Za-z -]+", name):
                self.classes[c] = name

    def fact(self, s: str, p: str, o: Node, line: Line | None = None) -> Fact | None:
        """Put a triple in words; None if a name or the relation is not fit for a sentence."""
        read = self.relations.get(p)
        if read is None or s not in self.entities:
            return None
        if isinstance(o, URIRef):
            if str(o) not in self.entities or str(o) == s:
                return None
            value = self.entities[str(o)]
        else:
            value = str(o)
            if _kind(o, read.label) == "text" and not re.fullmatch(
                r"[A-Z]?[A-Za-z][A-Za-z .'-]{2,38}", value
            ):
                return None
            if read.shape in ("flag",) and value not in ("true", "false"):
                return None
        if value.casefold() in self.entities[s].casefold() or self.entities[s].casefold() in value.casefold():
            return None
        single = self.counts.get((s, p), 0) == 1
        return Fact(s, o, read, self.entities[s], value, line.text if line else "", single)

    def holds(self, s: str, p: str, o: Node) -> bool:
        """Whether the graph says it, by any property of the same label."""
        n3 = o.n3()
        label = self.display.predicate(p).casefold()
        return any(n3 in self.values.get((s, q), ()) for q in self.labels[label])

    def related(self, s: str, o: str) -> set[str]:
        """The properties between two entities, in either direction."""
        return self.between.get((s, o), set()) | self.between.get((o, s), set())

    def types(self, iri: str) -> set[str]:
        """The classes of an entity, in the closure."""
        return {c[1:-1] for c in self.values.get((iri, str(RDF.type)), ())}

    def class_of(self, iri: str) -> str | None:
        """The most specific class that an entity is said to have."""
        direct = [c for c in sorted(self.types(iri)) if c in self.classes]
        return min(direct, key=lambda c: (len(self.instances[c]), c), default=None)

    @cached_property
    def by_class(self) -> dict[str, list[str]]:
        """Entities by their most specific class."""
        found: dict[str, list[str]] = defaultdict(list)
        for iri in sorted(self.entities):
            if c := self.class_of(iri):
                found[c].append(iri)
        return found

    def is_person(self, iri: str) -> bool:
        """Whether an entity seems to be somebody."""
        names = {self.display.entity(c).casefold().split()[-1] for c in self.types(iri)}
        labels = {fact.relation.label.casefold() for fact in self.about.get(iri, ())}
        return bool(names & english.PERSONS or labels & _OF_PERSONS)


@cache
def world_of(name: str) -> World:
    """Read a graph by its name, once."""
    return World(name, load(name))


def _kind(o: Node, label: str) -> str:
    if isinstance(o, URIRef):
        return "entity"
    if not isinstance(o, Literal):
        return "long"
    kind = str(o.datatype or "").removeprefix(_XSD)
    text = str(o)
    if kind == "boolean":
        return "flag"
    if kind in ("date", "dateTime") and re.match(r"\d{4}-\d\d-\d\d", text):
        return "date"
    if kind == "gYear" or (
        re.fullmatch(r"1[5-9]\d\d|20\d\d", text)
        and re.search(r"(?i)year|founded|opened|established|since|until|created|built", label)
    ):
        return "year"
    if kind in _NUMBERS:
        return "number"
    return "text" if len(text) < 40 else "long"


@dataclass(frozen=True)
class Scene:
    """An entity with the context that the product makes of it.

    Attributes:
        world: The graph.
        entity: The entity.
        question: What was asked.
        context: Its neighbourhood, and that of another hit.
        facts: What the context's lines say, of those that can be put in words.
        types: Classes that the lines give to entities.
    """

    world: World
    entity: str
    question: str
    context: Context
    facts: tuple[Fact, ...]
    types: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the entity."""
        return self.world.entities[self.entity]

    @cached_property
    def named(self) -> frozenset[str]:
        """All names that the lines of the context show, case folded."""
        shown = (x for line in self.context.lines for x in (line.labels[0], line.labels[2].strip('"')))
        return frozenset(x.casefold() for x in shown)

    def case(self, kind: str, true: bool, said: Said) -> Case:
        """Make a case of what is said of this scene."""
        text = said.text if said.raw else sentence(said.text)
        return Case(self.world.name, kind, true, said.question or self.question, said.lead, text, self.entity)


def scene(world: World, entity: str, question: str, other: str | None) -> Scene:
    """Expand an entity, and another hit behind it, as the retriever does."""
    hits = [(entity, 1.0)] + ([(other, 0.6)] if other else [])
    context = expand(world.kg, hits, question=question)
    facts, types = [], {}
    for line in context.lines:
        s, p, o = line.triple
        if p == RDF.type and str(s) in world.entities and str(o) in world.classes:
            kept = types.get(str(s))
            if kept is None or len(world.instances[str(o)]) < len(world.instances[kept]):
                types[str(s)] = str(o)
        elif (fact := world.fact(str(s), str(p), o, line)) and line.labels[0] == fact.subject:
            facts.append(fact)
    return Scene(world, entity, question, context, tuple(facts), types)


def scenes(world: World, seed: int, count: int = 36) -> list[Scene]:
    """Make scenes of a graph, each of another entity."""
    rng = random.Random(f"{world.name}-{seed}")
    rich: dict[str, list[Fact]] = defaultdict(list)
    for fact in world.facts:
        rich[fact.s].append(fact)
        if isinstance(fact.o, URIRef):
            rich[str(fact.o)].append(fact)
    by_class: dict[str, list[str]] = defaultdict(list)
    for iri in sorted(rich):
        if len(rich[iri]) > 1:
            by_class[world.class_of(iri) or ""].append(iri)
    for iris in by_class.values():
        rng.shuffle(iris)
    order = [iris[at] for at in range(count) for _, iris in sorted(by_class.items()) if at < len(iris)]
    if len(order) > count:
        order = order[: count * 2]
        rng.shuffle(order)
    found = []
    for iri in order[:count]:
        name = world.entities[iri]
        asks = [f"What is {name}?", f"Tell me about {name}."]
        if world.is_person(iri):
            asks[0] = f"Who is {name}?"
        asks += [q for f in rich[iri] if f.s == iri and (q := f.relation.ask(name))][:4]
        alien = rng.choice(sorted(world.entities.values()))
        question = rng.choice(asks) if rng.random() > 0.15 else f"What is {alien}?"
        peers = world.by_class.get(world.class_of(iri) or "", [])
        other = rng.choice(peers) if peers and rng.random() < 0.6 else None
        made = scene(world, iri, question, other if other != iri else None)
        if len(made.facts) > 1:
            found.append(made)
    return found
