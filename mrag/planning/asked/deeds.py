"""Verbs for which no property is called, but something that happened: who drove a car made a trip with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from rdflib import RDF

from mrag.language.tokens import PERSON_WORDS, VERBS, content, is_stopword, words_in
from mrag.planning.building.assembly import QueryGraph
from mrag.planning.building.nodes import PlanNode
from mrag.planning.lexical.english import is_doer, is_past, root, synonym_roots
from mrag.planning.plan import Unknown
from mrag.planning.reading.periods import Word
from mrag.planning.schema import Schema

Likeness = Callable[[str, str], float]

_LIKE = 0.45
"""How like the name of what happened a verb must be in meaning."""
_OF_PEOPLE = frozenset(
    "hired hire salary wage married surname nationality occupation profession forename firstname "
    "lastname".split()
)
_OF_WORK = frozenset("hired hire salary wage".split())
"""Words for what people have, or a record of their work has in their place."""
_NAMES_OF_PEOPLE = frozenset(
    ("first name", "last name", "given name", "family name", "job title", "birth date", "birthday")
)
_DOING = frozenset("did do does".split())
_BEFORE = frozenset("have has had ever never also who not been was were is are".split())


def is_deed(low: Sequence[str], at: int, subjects: set[int]) -> bool:
    """Return whether a word stands where a verb does: "have sailed", "did each boat sail".

    Args:
        low: The words of the question.
        at: Where the word stands.
        subjects: Where names and nouns of the question end.
    """
    word = low[at]
    if is_past(word) or word in VERBS:
        return True
    return (at in subjects and bool(_DOING & {*low[:at]})) or bool(_BEFORE & {*low[max(0, at - 1) : at]})


def told_by_event(verb: str, graph: QueryGraph, schema: Schema, likeness: Likeness) -> bool:
    """Return whether a verb says what happened between the things of a plan.

    Args:
        verb: The verb.
        graph: The plan so far; what happened is in it as a thing that the question does not name.
        schema: The schema.
        likeness: How near two phrases are in meaning.
    """
    return any(_tells(verb, node, graph, schema, likeness) for node in _events(graph))


def _events(graph: QueryGraph) -> Iterator[PlanNode]:
    """Yield the things of a plan that lead to several others and are not named."""
    for node in graph.nodes:
        around = [p for p in graph.patterns if p.subject == node.place and p.predicate != RDF.type]
        if isinstance(node.place, Unknown) and len(around) > 1:
            yield node


def _tells(verb: str, event: PlanNode, graph: QueryGraph, schema: Schema, likeness: Likeness) -> bool:
    used = {str(p.predicate) for p in graph.patterns if event.place in (p.subject, p.object)}
    ends = {str(e) for p in graph.patterns if p.subject == event.place for e in (p.object,)}
    near = [c for n in graph.nodes if str(n.place) in ends for c in n.classes[:1]]
    terms = [*used, *event.classes, *near]
    names = [n for t in terms for n in _names(t, schema)]
    if any(is_doer(word.lower(), verb) for name in names for word in words_in(name)):
        return True
    own = [i for i in schema.properties.values() if set(i.domains) & set(event.classes)]
    comments = [i.comment for i in own] + [c.comment for t in event.classes if (c := schema.classes.get(t))]
    if any(root(word) == root(verb) for text in comments for word in words_in(text)):
        return True
    called = [schema.classes[c].names[0] for c in event.classes[:1] if c in schema.classes]
    return any(likeness(root(verb), name.lower()) >= _LIKE for name in called)


def told_of(verb: str, cls: str, schema: Schema, likeness: Likeness) -> float:
    """Return how well a verb says that something of a class happened: 1 if one of its names has the verb."""
    own = [i for i in schema.properties.values() if cls in i.domains]
    names = [*_names(cls, schema), *(n for i in own for n in i.names)]
    said = root(verb)
    if any(root(word.lower()) == said or is_doer(word.lower(), verb) for n in names for word in words_in(n)):
        return 1.0
    if any(root(word) == said for i in own for word in words_in(i.comment)):
        return 0.8
    return max((likeness(said, name.lower()) for name in _names(cls, schema)[:1]), default=0.0)


def _names(term: str, schema: Schema) -> Sequence[str]:
    info = schema.properties.get(term) or schema.classes.get(term)
    return info.names if info is not None else ()


def doers(verbs: Sequence[str], schema: Schema) -> list[str]:
    """Return the classes that are named after those who do what some verbs say."""
    return [
        c for c, info in sorted(schema.classes.items())
        if any(is_doer(w, v) for name in info.names[:1] for w in content(name) for v in verbs)
        or any(is_doer(w.lower(), v) for name in info.names[:1] for w in words_in(name) for v in verbs)
    ]  # fmt: skip


def told_by_verb(said: Iterable[Word], cls: str, schema: Schema) -> bool:
    """Return whether a word is in the name of a relation of the things of a class.

    Args:
        said: The words that name nothing.
        cls: The class.
        schema: The schema.
    """
    roots = {root(w.low) for w in said if not is_stopword(w.token.key)}
    own = (i for i in schema.properties.values() if i.kind == "entity" and cls in (*i.domains, *i.ranges))
    return any(roots & {root(w) for w in content(name)} for info in own for name in info.names)


def kinds_of_people(schema: Schema) -> list[str]:
    """Return the classes of people: by their names, or as they have a surname, a salary or a nationality."""
    said: dict[str, set[str]] = {}
    for info in schema.properties.values():
        found = {w for n in info.names for w in n.lower().split() if w in _OF_PEOPLE}
        found |= {n.lower() for n in info.names if n.lower() in _NAMES_OF_PEOPLE}
        for cls in info.domains if found else ():
            said.setdefault(cls, set()).update(found)
    people = {
        cls
        for cls, info in schema.classes.items()
        if said.get(cls, set()) - _OF_WORK
        or PERSON_WORDS & {w for name in info.names[:1] for w in name.lower().split()}
    }
    records = {
        cls
        for info in schema.properties.values()
        if info.kind == "entity" and info.functional and people & {*info.ranges}
        for cls in info.domains
    }
    return sorted(
        cls for cls in schema.classes
        if (cls in people or cls in said.keys() - records) and not _joins(cls, schema)
    )  # fmt: skip


def _joins(cls: str, schema: Schema) -> bool:
    """Return whether the things of a class only join things that it is called after: a "film actor"."""
    said = schema.classes[cls].names[0].lower().split()
    ends = {
        e for i in schema.properties.values()
        if i.kind == "entity" and cls in i.domains for e in i.ranges if e in schema.classes
    }  # fmt: skip
    called = {schema.classes[e].names[0].lower() for e in ends}
    return len(said) > 1 and {*said} <= called


def names_near_end(said: Sequence[str], names: Iterable[str], far: Collection[str]) -> bool:
    """Return whether words name the things that a property is said of: the "members" of "member of".

    Args:
        said: The words, in small letters.
        names: Names of the property.
        far: Stems of the words for what it leads to, which may stand behind its "of".
    """
    plain = {root(w) for w in said} - {"of"}
    meant = {s for w in plain for s in synonym_roots().get(w, ())} if len(plain) == 1 else set[str]()
    ends = [name.lower().split(" of", 1) for name in names if " of" in name.lower()]
    return any(
        (own == plain or (own and own <= meant)) and {*content(behind)} <= {*far}
        for near, behind in ends
        for own in [{root(w) for w in near.split()}]
    )
