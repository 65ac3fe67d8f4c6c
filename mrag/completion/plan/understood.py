"""Whether a plan reads its question: every word that carries meaning, and every step by words of its own.

A path through a graph always leads somewhere. What it finds answers a question only where the question asks
for each of its steps, and says nothing besides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rdflib import Literal, URIRef

from mrag.completion.plan.names import EntityNames
from mrag.completion.plan.paths import RelationPath
from mrag.completion.plan.patterns import Completion
from mrag.completion.plan.relations import NamedRelation
from mrag.completion.writeback.schema import SchemaFacts
from mrag.context.display import Display
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.lexical.english import root, synonym_roots
from mrag.rdf import queries
from mrag.rdf.terms import RDF, RDFS, XSD, Term
from mrag.text.tokens import FUNCTION_WORDS, fold, language_of, tokens, words

_SHARED: Final = words("same share shared shares sharing common")
_SAME: Final = _SHARED | words("both also too other others another else similar alike")
"""Words that ask for what is beside the thing that is named, over a relation that both have."""

_COUNTING: Final = words("many much more most few than each every least")
"""Function words that ask for more than a path gives."""

_EMPTY: Final = words(
    "person people someone somebody anyone anybody thing something one place called named find"
) | _SAME  # fmt: skip
"""Words that say no more than "who", "what" and "where"."""

_NARROW: Final = {
    "mother": (), "father": (), "son": (), "daughter": (), "brother": (), "sister": (),
    "husband": ("spouse", "marry"), "wife": ("spouse", "marry"),
}  # fmt: skip
"""Words that others of their group do not say as much as."""


_WHEN: Final = words("when wann")
_NO_VALUE: Final = words("who whom whose where wer wen wem wessen wo")
_VALUES: Final = frozenset(
    XSD + kind for kind in ("integer", "decimal", "double", "float", "boolean", "date", "dateTime", "gYear")
)
"""Datatypes of values that are neither somebody nor a place."""
_TO_CLASSES: Final = frozenset((RDF + "type", RDFS + "subClassOf", RDFS + "domain", RDFS + "range"))


def unread(
    rest: str, path: RelationPath, relations: Sequence[NamedRelation], known: Collection[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a question that a path leaves unread, and the relations that no word asks for.

    Args:
        rest: The question with a hole in the place of what it names.
        path: The path.
        relations: The relations of its steps.
        known: Words that were learnt from solved questions.

    Example:
        >>> lives = NamedRelation(URIRef("urn:lives"), "lives in", ("lives in",))
        >>> from mrag.completion.plan.paths import Step
        >>> unread("Who lives in @?", (Step(lives.iri, False),), [lives])
        ((), ())
        >>> unread("What is the population of @?", (Step(lives.iri, False),), [lives])
        (('population',), ('lives in',))
    """
    stop = FUNCTION_WORDS["en"] | FUNCTION_WORDS.get(language_of(rest), frozenset())
    found = [(t.raw, t.raw.casefold()) for t in tokens(rest)]
    said = [_meanings(raw) for raw, _ in found]
    called = [_roots(relation) for relation in relations]
    reads = [[at for at, own in enumerate(said) if own & names] for names in called]
    read = {at for places in reads for at in places}
    turns = any(_back(path, at) for at in range(1, len(path)))
    left = tuple(
        raw
        for at, (raw, word) in enumerate(found)
        if at not in read
        and word not in known
        and (word in _COUNTING or (word in _SHARED and not turns) or not (word in stop or word in _EMPTY))
    )
    shared = any(word in _SAME for _, word in found)
    needed = [at for at in range(len(path)) if not (shared and at and _back(path, at))]
    matched = _matched([reads[at] for at in needed])
    missed = tuple(
        dict.fromkeys(relations[needed[at]].label for at in range(len(needed)) if at not in matched)
    )
    return left, missed


def of_kind(kg: KnowledgeGraph, completion: Completion) -> Completion:
    """Return a completion with the answers that are of the kind that the words left unread name.

    "Which products are developed in Sofia?" asks for products: the word is read where an answer is one. A
    value of which no class is known may be of any that the graph has.

    Args:
        kg: The knowledge graph.
        completion: A completion.
    """
    left = completion.plan.unread
    if not left or not completion.answers:
        return completion
    entities = [str(t) for t in (*completion.answers, *completion.plan.excluded) if isinstance(t, URIRef)]
    facts = SchemaFacts(kg)
    facts.read_types(sorted(set(entities)))
    facts.read_classes()
    classes = sorted({c for e in entities for c in facts.above(facts.types[e])})
    display = Display(kg)
    kg.labels(classes)
    kinds = {c: frozenset(root(t.raw) for t in tokens(display.entity(c))) for c in classes}

    def of(term: Term) -> set[str]:
        return {r for c in facts.above(facts.types[str(term)]) for r in kinds[c]}

    start = {r for t in completion.plan.excluded if isinstance(t, URIRef) for r in of(t)}
    left = tuple(word for word in left if not _meanings(word) & start)
    kept = [
        t
        for t in completion.answers
        if all(_meanings(word) & of(t) if facts.types[str(t)] else _is_class(kg, word) for word in left)
    ]
    if not left or kept:
        plan = replace(completion.plan, unread=())
        answers = kept if left else completion.answers
        return replace(completion, plan=plan, answers=answers)
    return replace(completion, plan=replace(completion.plan, unread=left))


def of_sort(kg: KnowledgeGraph, completion: Completion) -> Completion:
    """Return a completion with the answers that the question word asks for, if any is.

    *When* asks for a time, which is a literal or has a digit in its name; *who* and *where* ask for none. If
    no answer is of the sort, the question word counts as unread.

    Args:
        kg: The knowledge graph.
        completion: A completion.
    """
    asked = next((t.raw.casefold() for t in tokens(completion.question)), "")
    if not completion.answers or asked not in _WHEN | _NO_VALUE:
        return completion
    display = Display(kg)
    kg.labels([str(t) for t in completion.answers if isinstance(t, URIRef)])

    def fits(term: Term) -> bool:
        if asked in _WHEN:
            return isinstance(term, Literal) or any(c.isdigit() for c in display.entity(str(term)))
        return not isinstance(term, Literal) or str(term.datatype or "") not in _VALUES

    kept = [term for term in completion.answers if fits(term)]
    if kept:
        return replace(completion, answers=kept)
    plan = replace(completion.plan, unread=(*completion.plan.unread, asked))
    return replace(completion, plan=plan)


def _is_class(kg: KnowledgeGraph, word: str) -> bool:
    """Return whether a word names a class of the graph."""
    forms = (word, fold(word))
    named = sorted({str(c.term) for form in forms for c in EntityNames.of(kg).exact(form)})
    rows = (
        row for text in queries.get("completion/arriving").batches("entity", named) for row in kg.select(text)
    )
    return any(str(p) in _TO_CLASSES for _, p in rows)


def _meanings(word: str) -> frozenset[str]:
    """Return the root of a word, and those of words that say as much."""
    own = root(word)
    narrow = next((also for narrow, also in _NARROW.items() if own == root(narrow)), None)
    if narrow is not None:
        return frozenset((own, *map(root, narrow)))
    return frozenset((own, *synonym_roots().get(own, ())))


def _roots(relation: NamedRelation) -> frozenset[str]:
    """Return the roots of the words of a relation that carry meaning; of all where none does."""
    every = [t.raw for name in relation.names for t in tokens(name)]
    telling = [word for word in every if word.casefold() not in FUNCTION_WORDS["en"]]
    return frozenset(map(root, telling or every))


def _back(path: RelationPath, at: int) -> bool:
    """Return whether a step goes back over the relation that the one before it came by."""
    before, step = list(pairwise(path))[at - 1]
    return before.predicate == step.predicate and before.forward != step.forward


def _matched(wanted: Sequence[Sequence[int]]) -> set[int]:
    """Return which of some steps can have a word of their own each."""
    owner: dict[int, int] = {}

    def place(step: int, tried: set[int]) -> bool:
        for at in wanted[step]:
            if at in tried:
                continue
            tried.add(at)
            if at not in owner or place(owner[at], tried):
                owner[at] = step
                return True
        return False

    for step in range(len(wanted)):
        place(step, set())
    return set(owner.values())
