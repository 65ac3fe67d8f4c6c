"""What graphs say of things over others that nobody asks for: spans of time, amounts, events, dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias
from urllib.parse import quote

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.language.english import is_empty, root
from mrag.language.grammar import plural
from mrag.planning.lexical.names import lacks_names
from mrag.planning.profiling import kind_property, local_name, usual_ways
from mrag.planning.schema import (
    SAID,
    WORDS,
    ClassEdge,
    ClassInfo,
    PropertyInfo,
    Schema,
    ancestors,
    measured_by,
    tells_units,
)
from mrag.rdf import queries

Ends: TypeAlias = Mapping[tuple[str, str], int]
"""From which classes to which a way leads, and how often at most; "" of literals."""

_FIGURES, _QUANTITIES, _SORTS, _VOCABULARIES = (
    frozenset(map(root, WORDS[name])) for name in ("figures", "quantities", "sorts", "vocabularies")
)
_SUB_CLASS: Final = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
_MOST_MEASURES: Final = 40
_MOST_CLASSES: Final = 300
_STOREYS: Final = 4  # How far up classes are looked for
_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_TOP: Final = (f"{_SKOS}topConceptOf", f"^{_SKOS}hasTopConcept")  # What says that a term stands on top
_ABOUT: Final = re.compile(r"(?:\S+ ){0,5}of (?:\w+ ){0,3}?(\w{3,}s)\b(?! \w+s\b)")
"""How the description of a scheme begins that says what its concepts are."""
_MOST_ROWS: Final = 2_000
_MOST_TRIPLES: Final = 200_000  # Triples of properties that are gone through at most
_LONE: Final = 1.05  # How many nameless things belong to one thing at most, on average


def with_ways(kg: KnowledgeGraph, schema: Schema) -> Schema:
    """Return a schema with what is said of things over others that nobody asks for.

    When something was made is said of a span of time, what it cost of an amount, how tall it is of a
    dimension that is a height, who made it of its production: these have properties of their own, which
    `scopes.with_subclasses` writes as the triples that state them.
    """
    schema = _classified(kg, schema)
    found: dict[str, PropertyInfo] = {}
    for p in (*_over_known(schema), *_over_nameless(kg, schema)):
        found.setdefault(p.iri, p)
    for p in tuple(_measured(kg, schema, [*schema.properties.values(), *found.values()])):
        found.setdefault(p.iri, p)
    some = (*_kinds(schema), *_topic(kg, schema), *_sorts(kg, schema), *_below(kg, schema))
    kinds = {c.iri: c for c in some}
    if not found and not kinds:
        return schema
    edges = [
        ClassEdge(a, p.iri, b, n)
        for p in found.values()
        if p.kind == "entity"
        for (a, b), n in sorted(_ends(schema, p.way).items())
    ]
    return replace(
        schema,
        classes={**schema.classes, **kinds},
        properties={**schema.properties, **found},
        edges=(*schema.edges, *edges),
    )


def _classified(kg: KnowledgeGraph, schema: Schema) -> Schema:
    """Return a schema with the classes that another property than `rdf:type` says, as Wikidata's does."""
    kind = kind_property(kg)
    if kind not in schema.properties or schema.triples > _MOST_TRIPLES * 10:
        return schema
    rows = kg.select(queries.get("planning/classified").bind(kind=[kind], most=10 * _MOST_ROWS)).rows
    sizes = {str(c): int(str(n)) for p, c, _, _, n, _ in rows if str(p) == kind}
    chosen = sorted(sizes, key=lambda c: (-sizes[c], c))[:_MOST_CLASSES]
    direct = _upper(kg, chosen)
    over = {c: ancestors([c], direct) for c in chosen}
    narrower = {
        c: tuple(sorted(sub for sub in chosen if c in over[sub])) for c in {*chosen}.union(*over.values())
    }
    names = kg.labels(narrower)
    ends = {p: (dict[str, int](), dict[str, int]()) for p in schema.properties}
    edges = list[ClassEdge]()
    for p_, c_, d_, n, subjects, objects in rows:
        p, c, d = str(p_), str(c_), str(d_) if d_ is not None else ""
        if p not in ends or c not in sizes:
            continue
        domains, ranges = ends[p]
        domains[c] = max(domains.get(c, 0), int(str(subjects)))
        if schema.properties[p].kind == "entity":
            ranges[d] = max(ranges.get(d, 0), int(str(objects)))
            edges.append(ClassEdge(c, p, d, int(str(n))))
    classes = {
        c: ClassInfo(
            c, tuple(dict.fromkeys((names[c] or local_name(c), local_name(c)))), "",
            sizes.get(c, 0) + sum(sizes[sub] for sub in below if sub != c),
            tuple(sorted(direct.get(c, ()))), tuple(sub for sub in below if sub != c), "", (f"{kind}\t{c}",),
        )
        for c, below in sorted(narrower.items())
    }  # fmt: skip
    properties = {
        p: replace(info, domains=_ordered(ends[p][0]), ranges=_ordered(ends[p][1])) if ends[p][0] else info
        for p, info in schema.properties.items()
    }
    told = {edge.property for edge in edges}
    edges += [edge for edge in schema.edges if edge.property not in told]
    return replace(schema, classes={**schema.classes, **classes}, properties=properties, edges=tuple(edges))


def _upper(kg: KnowledgeGraph, classes: Sequence[str]) -> dict[str, list[str]]:
    """Return what is said to be just above classes, and above that, by what says it of things."""
    found, ahead = dict[str, list[str]](), list(classes)
    for _ in range(_STOREYS):
        text = queries.get("context/out").bind(entity=ahead, limit=10 * _MOST_ROWS)
        for c, p, value in kg.select(text) if ahead else ():
            if local_name(str(p)).lower() in ("p279", "subclass of", "sub class of"):
                found.setdefault(str(c), []).append(str(value))
        ahead = sorted({upper for some in found.values() for upper in some} - found.keys() - {*classes})
    return found


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _kinds(schema: Schema) -> Iterator[ClassInfo]:
    """Yield the kinds of terms by where they stand: those that none is above, or none below."""
    tree, known = schema.tree, schema.properties
    if tree is None or tree.above not in known or tree.kind not in schema.classes:
        return
    info, terms = known[tree.above], schema.classes[tree.kind]
    up, down = ("^" + info.iri, info.iri) if tree.inverse else (info.iri, "^" + info.iri)
    lower, upper = (info.objects, info.subjects) if tree.inverse else (info.subjects, info.objects)
    top = next((step for step in _TOP if step.removeprefix("^") in known), "!" + up)
    for name, way, count in (("top", top, terms.count - lower), ("leaf", "!" + down, terms.count - upper)):
        names = usual_ways()[name,][0]
        yield ClassInfo(
            _iri((terms.iri, name)), names, "", max(count, 1), (terms.iri,), (), terms.iri, (way,)
        )


def _below(kg: KnowledgeGraph, schema: Schema) -> Iterator[ClassInfo]:
    """Yield the kinds of things of a class that the graph says are below it: kinds of bridges."""
    if schema.tree is not None or _SUB_CLASS not in kg.profile().predicates:
        return
    counts = dict[str, int]()
    for lower, upper in kg.select(queries.get("planning/hierarchy").text):
        if str(upper) in schema.classes and is_asked(str(lower)):
            counts[str(upper)] = counts.get(str(upper), 0) + 1
    for c, n in counts.items():
        called = [name.lower() for name in schema.classes[c].names[:2]]
        some = [called_so for name in called for called_so in (name, plural(name))]
        names = tuple(
            dict.fromkeys(f"{kind} of {name}" for kind in SAID["lists"]["below"].split() for name in some)
        )
        way = (f"{_SUB_CLASS}\t{c}",)
        yield ClassInfo(_iri(way), names, "", n, (), (), "", way)


def _topic(kg: KnowledgeGraph, schema: Schema) -> Iterator[ClassInfo]:
    """Yield the class of the concepts of a scheme by what it says that they are: "taxonomy of activities"."""
    tree = schema.tree
    if tree is None or tree.kind != f"{_SKOS}Concept" or tree.kind not in schema.classes:
        return
    text = queries.get("planning/member-sample").bind(**{"class": [f"{_SKOS}ConceptScheme"]}, sample=2)
    schemes = [str(row[0]) for row in kg.select(text)]
    titles = [title for title in kg.labels(schemes).values() if title] if len(schemes) == 1 else []
    said = [w.lower() for title in titles for w in title.split() if w.endswith("s") and len(w) > 3]
    out = queries.get("context/out").bind(entity=schemes[:1], limit=_MOST_ROWS)
    for _, p, value in kg.select(out) if schemes else ():
        if local_name(str(p)) in WORDS["describing"] and (about := _ABOUT.match(str(value))):
            said.append(about[1].lower())
    some = [w for w in said if not is_empty(w) and root(w) not in _VOCABULARIES]
    if some:
        info = schema.classes[tree.kind]
        yield replace(info, names=(*info.names[:-1], *some, *info.names[-1:]))


def _sorts(kg: KnowledgeGraph, schema: Schema) -> Iterator[ClassInfo]:
    """Yield kinds of things that are told by what they are sorted by: the clocks among the objects."""
    for p in schema.properties.values():
        sorts = p.kind == "entity" and not p.through and not p.domains.keys() & p.ranges.keys() - {""}
        sorts = sorts and p.triples <= _MOST_TRIPLES
        if not sorts or _SORTS.isdisjoint(_words(p)) or not 1 < p.objects <= _MOST_MEASURES:
            continue
        counts = dict[str, dict[str, int]]()
        for term, c, n in kg.select(queries.get("planning/sorts").bind(property=[p.iri], most=_MOST_ROWS)):
            if str(c) in schema.classes:
                counts.setdefault(str(term), {})[str(c)] = int(str(n))
        for sort, label in kg.labels(counts).items():
            kind = schema.likeliest(counts[sort])[0]
            names = tuple(dict.fromkeys((label or local_name(sort), local_name(sort))))
            way = (f"{p.iri}\t{sort}",)
            yield ClassInfo(_iri(way), names, "", counts[sort][kind], (kind,), (), kind, way)


def _words(p: PropertyInfo) -> set[str]:
    return {root(word) for name in p.names for word in name.lower().split()}


def _ends(schema: Schema, way: Sequence[str]) -> Ends:
    """Return from which classes a way leads to which, as far as its single steps tell."""
    found: dict[tuple[str, str], int] = {}
    for at, step in enumerate(way):
        p = schema.properties[step.removeprefix("^")]
        if p.kind != "entity":
            here = {(a, ""): n for a, n in p.domains.items()}
        else:
            edges = (e for e in schema.edges if e.property == p.iri)
            here = {(e.target, e.source) if step[0] == "^" else (e.source, e.target): e.count for e in edges}
        if not at:
            found = here
            continue
        joined: dict[tuple[str, str], int] = {}
        for (a, b), n in found.items():
            for (c, d), m in here.items():
                if b == c and b:
                    joined[a, d] = max(joined.get((a, d), 0), min(n, m))
        found = joined
    return found


def _single(schema: Schema, step: str) -> bool:
    p = schema.properties[step.removeprefix("^")]
    return p.triples == (p.objects if step[0] == "^" else p.subjects)


def _iri(way: Sequence[str]) -> str:
    return "urn:mrag:way:" + quote("/".join(way), safe=":/")


def _made(
    schema: Schema, way: Sequence[str], names: Sequence[str], inverse: Sequence[str] = ()
) -> PropertyInfo | None:
    """Return the property that a way stands for; None where it leads nowhere."""
    ends, last = _ends(schema, way), schema.properties[way[-1].removeprefix("^")]
    domains, ranges = dict[str, int](), dict[str, int]()
    for (a, b), n in sorted(ends.items()):
        domains[a] = max(domains.get(a, 0), n)
        ranges[b] = max(ranges.get(b, 0), n)
    if not domains:
        return None
    subjects = max(domains.values())
    objects = min(last.subjects if way[-1][0] == "^" else last.objects, max(ranges.values()))
    single = all(_single(schema, step) for step in way)
    return replace(
        last, iri=_iri(way), names=tuple(dict.fromkeys(names)), domains=domains, subjects=subjects,
        triples=subjects if single else subjects + 1, objects=objects, inverse_names=tuple(inverse),
        ranges=ranges if last.kind == "entity" else {}, comment="", way=tuple(way),
    )  # fmt: skip


def _over_known(schema: Schema) -> Iterator[PropertyInfo]:
    """Yield what is said over ways that common vocabularies have names for."""
    for way, (names, inverse) in usual_ways().items():
        if len(way) > 1 and all(step.removeprefix("^") in schema.properties for step in way):
            made = _made(schema, way, names, inverse)
            if made is not None:
                yield made


def _over_nameless(kg: KnowledgeGraph, schema: Schema) -> Iterator[PropertyInfo]:
    """Yield numbers and dates of nameless things that belong to one thing each: of spans and amounts."""
    nameless = dict[str, bool]()
    for p in schema.properties.values():
        own = p.kind == "entity" and p.domains and not p.through and p.triples == p.objects
        if not own or p.triples > _LONE * p.subjects:
            continue
        cls = next((c for c in schema.likeliest(p.ranges) if p.ranges[c] == p.objects), "")
        said = [
            q
            for q in schema.properties.values()
            if q.kind in ("number", "date") and q.functional and 2 * q.domains.get(cls, 0) >= p.objects
            if next(_measures(schema, q), None) is None
        ]
        if not cls or not said or cls in p.domains:
            continue
        if cls not in nameless:
            nameless[cls] = lacks_names(kg, schema, cls)
        for q in said if nameless[cls] else ():
            if any(measured_by(schema, q, u) for u in _of_units(schema)):
                continue  # numbers in several units can be neither compared nor added
            names = tuple(f"{p.names[-1]} {name}" for name in q.names)
            made = _made(schema, (p.iri, q.iri), (*p.names, *names) if len(said) == 1 else names)
            if made is not None:
                yield made


def _of_units(schema: Schema) -> list[PropertyInfo]:
    """Return the properties that say in which of several units numbers are."""
    return [u for u in schema.properties.values() if u.objects > 1 and tells_units(u)]


def _measures(schema: Schema, q: PropertyInfo) -> Iterator[PropertyInfo]:
    """Yield the properties that say what a number measures that its own property does not tell."""
    if q.kind != "number" or _FIGURES.isdisjoint(map(root, q.names[-1].split())):
        return
    words, cls = _QUANTITIES if q.way else _QUANTITIES | _SORTS, next(iter(schema.likeliest(q.domains)), "")
    for t in schema.properties.values():
        says = t.kind == "entity" and t.triples == t.subjects <= _MOST_TRIPLES and t.objects > 1
        both = 2 * t.domains.get(cls, 0) >= q.domains.get(cls, 1)
        if says and both and not words.isdisjoint(_words(t)):
            yield t


def _measured(kg: KnowledgeGraph, schema: Schema, known: Sequence[PropertyInfo]) -> Iterator[PropertyInfo]:
    """Yield numbers by what something else says that they measure: the height, where a dimension is one."""
    for q in known:
        value = q.way or (q.iri,)
        for t in _measures(schema, q) if value[0][0] != "^" else ():
            both = {c: n for c, n in q.domains.items() if 2 * t.domains.get(c, 0) >= n}
            text = queries.get("planning/measures").bind(measure=[t.iri], value=[value[0]], most=_MOST_ROWS)
            owners = dict[str, dict[str, dict[str, int]]]()
            for term, p, c, n in kg.select(text):
                said = owners.setdefault(str(term), {}).setdefault(str(p or ""), {})
                said.update({str(c): int(str(n))} if str(c) in schema.classes else {})
            if len(owners) > _MOST_MEASURES:
                continue
            mixed = set[str]()
            for u in _of_units(schema):
                query = queries.get("planning/measure-units")
                text = query.bind(measure=[t.iri], value=[value[0]], said=[u.iri])
                mixed |= {str(term) for term, n in kg.select(text) if int(str(n)) > 1}
            owners = {term: said for term, said in owners.items() if term not in mixed}
            for measure, label in kg.labels(owners).items():
                names = tuple(dict.fromkeys((label or local_name(measure), local_name(measure))))
                way: tuple[str, ...] = (f"{t.iri}\t{measure}", *value)
                nodes = max(sum(said.values()) for said in owners[measure].values()) or q.subjects
                one = replace(q, names=names, comment="", inverse_names=(), triples=nodes, subjects=nodes)
                yield replace(one, iri=_iri(way), domains=both, way=way)
                for owner, classes in owners[measure].items():
                    if owner in schema.properties and classes:
                        yield replace(one, iri=_iri((owner, *way)), domains=classes, way=(owner, *way))
