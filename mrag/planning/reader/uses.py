"""What the words of a question became: for each unit its role, what it stands for and how it matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final

from rdflib import RDF, URIRef

from mrag.generation.result import QuestionWords, WordUse
from mrag.language.tokens import TextToken, language_of, tokens
from mrag.planning.plan import Pattern
from mrag.planning.reader.frames import OR, RoleItem
from mrag.planning.reader.glosses import LANGUAGES
from mrag.planning.reader.outcome import FOLDS, QuestionDerivation
from mrag.planning.reader.units import Unit
from mrag.planning.reader.world import SchemaWays
from mrag.planning.scopes import walk, with_classes

_SIGNS: Final[Mapping[str, str]] = {"=": "", "!=": "≠ ", ">=": "≥ ", "<=": "≤ "}
_WHOLE: Final = frozenset(("year", "year-month", "date", "moment", "rank"))
"""Parts of a time that are written so that they are known by themselves."""


@cache
def phrases() -> Mapping[str, str]:
    """Return what roles, cues and ways of matching are called."""
    lines = Path(__file__).with_name("phrases.tsv").read_text(encoding="utf-8").splitlines()
    return {name: phrase for name, _, phrase in (line.partition("\t") for line in lines[1:])}


def word_uses(
    world: SchemaWays, question: str, words: Sequence[TextToken], one: QuestionDerivation
) -> tuple[WordUse, ...]:
    """Return what the words of a question became, in their order, and behind them what no word says.

    Args:
        world: What can be said of the things of the graph.
        question: The question.
        words: Its words.
        one: How it is read, at the places of these words.
    """
    plan, said, taken, computed = one.draft.plan, phrases(), set[int](), set[str]()
    meant = said["gloss" if language_of(question) in LANGUAGES else "mended"]

    def written(start: int, end: int) -> QuestionWords:
        taken.update(range(start, end))
        a, b = words[start].start, words[end - 1].end
        return QuestionWords(question[a:b], a, b)

    def use(item: RoleItem) -> WordUse:
        unit, cand = item.unit, item.cand
        cues = sorted({(c.start, c.end) for c in item.cues if c.end <= unit.start or unit.end <= c.start})
        roles = item.role.removesuffix("<").removesuffix(">").split("&")
        does = (", " if FOLDS.keys() >= {*roles} else " for each, ").join(
            said.get(role, role) for role in roles
        )
        does = said["rank"] if unit.part == "rank" else does
        if item.role.startswith(OR):
            does = f"{said['or']}, {said[item.role.removeprefix(OR)]}"
        name, iri, value = "", "", _stated(unit)
        if cand is not None and cand.kind == "value":
            iri, value = next((p for p in cand.properties if p in predicates), ""), f"“{cand.term}”"
        elif cand is not None and cand.term in world.computed:
            bases = world.computed[cand.term].bases
            computed.update(bases)
            name, iri, value = (cand.name, "", "") if len(bases) > 1 else ("", bases[0], f"({cand.name})")
        elif cand is not None and (way := _way(world, cand.term)):
            computed.update(step.removeprefix("^").partition("\t")[0].removeprefix("!") for step in way)
            name = cand.name
        elif cand is not None:
            name, iri = cand.name, cand.term
        own = written(unit.start, unit.end)
        return WordUse(
            own, does, name, iri, value, _how(item, own.text, meant), tuple(written(*c) for c in cues)
        )

    folded = with_classes(plan, {})
    patterns = [p for p in walk(folded) if isinstance(p, Pattern) and p.predicate != RDF.type]
    predicates = dict.fromkeys(str(p.predicate) for p in patterns if isinstance(p.predicate, URIRef))
    found = [use(item) for item in one.items]
    if not plan.columns and 0 not in taken:
        found.append(WordUse(written(0, 1), said["truth"]))
    depth = "direct" if any(p.repeated for p in patterns) else "deep"
    told = [
        (said["left"] if c.cue == depth else said.get("cue:" + c.cue.partition(":")[0], said["left"]), c)
        for c in one.cues
    ]
    told += [(said.get(item.role, item.role), item.unit) for item in one.passed]
    for phrase, unit in sorted(told, key=lambda told: (told[0] == said["left"], told[1].kind != "cue")):
        if phrase and taken.isdisjoint(range(unit.start, unit.end)):
            said_ = written(unit.start, unit.end)
            found.append(WordUse(said_, phrase, how=_gloss_of(unit, said_.text, meant)))
    for _, run in groupby(enumerate(sorted({*one.left} - taken)), key=lambda run: run[1] - run[0]):
        at = [place for _, place in run]
        found.append(WordUse(written(at[0], at[-1] + 1), said["left"]))
    named = {use.iri for use in found}
    silent = {iri: said["from" if iri in computed else "implied"] for iri in predicates if iri not in named}
    implied = [WordUse(None, does, iri=iri) for iri, does in silent.items()]
    return (*sorted(found, key=lambda use: use.places[0].start), *implied)


def _way(world: SchemaWays, term: str) -> tuple[str, ...]:
    """Return over which properties a property or a class is, that no triple states."""
    known = world.schema.properties.get(term) or world.schema.classes.get(term)
    return () if known is None else known.way


def _how(item: RoleItem, text: str, meant: str) -> str:
    """Return how words match what they stand for; "" where they are its name."""
    unit, said = item.unit, phrases()
    way = "" if item.cand is None else "adjective" if unit.kind == "adjective" else item.cand.way
    return ", ".join(filter(None, (_gloss_of(unit, text, meant), said.get("way:" + way, ""))))


def _gloss_of(unit: Unit, text: str, meant: str) -> str:
    """Return what words are in English, or rightly spelt, where that is not as they stand."""
    same = unit.gloss in ("", " ".join(t.raw.lower() for t in tokens(text)))
    return "" if same else f"“{unit.gloss}” {meant}"


def _stated(unit: Unit) -> str:
    """Return the number, the time or the text that words state, with how it compares."""
    if not unit.values:
        return ""
    if unit.kind == "text":
        return f"“{unit.values[0]}”"
    part = f"{unit.part} " if unit.part and unit.part not in _WHOLE else ""
    text = f"{part}{' to '.join(unit.values)} {unit.unit}".rstrip()
    return text if len(unit.values) > 1 else _SIGNS.get(unit.op, f"{unit.op} ") + text
