"""Examples that need not be given: negative ones drawn by chance, and the members of a class."""

from __future__ import annotations

import random
from collections.abc import Iterable

from mrag.cel.problem import LearningProblem
from mrag.cel.semantics.counting import instances
from mrag.cel.semantics.hierarchy import hierarchy
from mrag.cel.syntax.expressions import Named, Top
from mrag.errors import LearningProblemError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.namespaces import OWL

_FEWEST = 20
"""So many negative examples are drawn at least, where there are as many individuals."""


def sampled_negatives(kg: KnowledgeGraph, positives: Iterable[str], *, seed: int = 0) -> list[str]:
    """Return individuals drawn from those that are no positive examples, as many as these, but at least 20.

    They are no more than individuals of which nothing is said, so that some may be what is looked for.

    Args:
        kg: The knowledge graph.
        positives: IRIs of the positive examples.
        seed: Of the draw.

    Returns:
        Their IRIs in order; all others where there are fewer.

    Example:
        >>> import mrag
        >>> from mrag import Triple
        >>> from mrag.rdf.terms import RDF
        >>> from rdflib import URIRef
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef(f"urn:{x}"), URIRef(RDF + "type"), URIRef("urn:A")) for x in "abc"])
        >>> sampled_negatives(kg, ["urn:b"])
        ['urn:a', 'urn:c']
        >>> kg.close()
    """
    wanted = {*map(str, positives)}
    others = [x for x in instances(kg, Top()) if x not in wanted]
    chance = random.Random(seed)
    return sorted(chance.sample(others, min(len(others), max(len(wanted), _FEWEST))))


def class_problem(kg: KnowledgeGraph, name: str, *, seed: int = 0, most: int = 500) -> LearningProblem:
    """Return the problem of defining a class: its members against others, without the class itself.

    Classes that are told or inferred to be equivalent are not used either.

    Args:
        kg: The knowledge graph.
        name: IRI of the class.
        seed: Of the draw of others, and of members where there are more than `most`.
        most: Most examples of each kind.

    Raises:
        LearningProblemError: If the class has no members, or all individuals are its members.

    Example:
        >>> import mrag
        >>> from mrag import Triple
        >>> from mrag.rdf.terms import RDF
        >>> from rdflib import URIRef
        >>> kg = mrag.connect()
        >>> kinds = {"a": "AB", "b": "AB", "c": "C"}
        >>> _ = kg.insert(
        ...     Triple(URIRef(f"urn:{x}"), URIRef(RDF + "type"), URIRef(f"urn:{kind}"))
        ...     for x, given in kinds.items()
        ...     for kind in given
        ... )
        >>> problem = class_problem(kg, "urn:A")
        >>> problem.positives, problem.negatives, problem.ignored
        (('urn:a', 'urn:b'), ('urn:c',), ('urn:A',))
        >>> kg.close()
    """
    members = _members(kg, name)
    others = sampled_negatives(kg, members, seed=seed)
    if not others:
        raise LearningProblemError("All individuals are members of this class.", term=name)
    chance = random.Random(seed)
    drawn = (chance.sample(some, min(len(some), most)) for some in (members, others))
    return LearningProblem(*drawn, ignored=_alike(kg, name))


def described_class(kg: KnowledgeGraph, name: str) -> LearningProblem:
    """Return the problem of describing a class: its members against all others of its superclasses.

    Args:
        kg: The knowledge graph.
        name: IRI of the class.

    Raises:
        LearningProblemError: If the class has no members, or its superclasses have no others.

    Source:
        The class learning problem of DL-Learner.
    """
    members = {*_members(kg, name)}
    alike = _alike(kg, name)
    others = {*instances(kg, Top())} - members
    for below, above in hierarchy(kg)[0]:
        if below == name and above not in alike and above != OWL + "Thing":
            others &= {*instances(kg, Named(above))}
    if not others:
        raise LearningProblemError("Its superclasses have no other members than this class.", term=name)
    return LearningProblem(members, others, ignored=alike)


def _members(kg: KnowledgeGraph, name: str) -> list[str]:
    members = instances(kg, Named(name))
    if not members:
        raise LearningProblemError(
            "This class has no members.", term=name, hint="Reason over the graph first, or check the IRI."
        )
    return members


def _alike(kg: KnowledgeGraph, name: str) -> list[str]:
    """Return a class and all that are equivalent to it, in order of IRI."""
    pairs = [(str(a), str(b)) for a, b in kg.select(queries.get("cel/equivalents").text)]
    below = {*hierarchy(kg)[0]}
    pairs += [(a, b) for a, b in below if (b, a) in below]
    found, fresh = {name}, {name}
    while fresh:
        fresh = {y for a, b in pairs for x, y in ((a, b), (b, a)) if x in fresh} - found
        found |= fresh
    return sorted(found)
