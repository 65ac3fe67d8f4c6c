"""What a computed answer says: its rows in words, and what was looked for where there are none."""

from __future__ import annotations

from collections.abc import Sequence

from rdflib import Literal, URIRef

from mrag.generation.result import AnswerCell, Citation, Sentence
from mrag.language.grammar import join, plural
from mrag.planning.loosening import Nearest, Nothing
from mrag.planning.plan import Aggregate, Block, Comparison, Pattern, Plan, Scalar, Unknown
from mrag.planning.reading.drafts import Reading
from mrag.planning.run import PlanResult
from mrag.planning.scopes import aggregates, unit_of_days
from mrag.planning.wording import Name, part_to_words, to_words, value_to_words

SHOWN = 20
"""Rows that the words of an answer hold; `rows` holds all."""


def sentences(
    reading: Reading,
    rows: Sequence[tuple[AnswerCell, ...]],
    support: Sequence[tuple[Citation, ...]],
    compared: str = "",
) -> list[Sentence]:
    """Return the sentences of an answer that has rows, or is yes.

    Args:
        reading: How the question was read.
        rows: The rows as they are shown.
        support: For each of the first rows what it rests on.
        compared: What the two values are that a yes compares; "" if it compares none.
    """
    if reading.plan.yes_or_no:
        return [Sentence(f"Yes: {compared}." if compared else "Yes.", support[0] if support else (), True)]
    if len(rows) == 1:
        return [Sentence(_single(reading, rows[0]), support[0] if support else (), True)]
    found = []
    for number, row in enumerate(rows[:SHOWN]):
        before = "- " if not number else "\n- "
        found.append(Sentence(_row(row), support[number] if number < len(support) else (), True, before))
    if len(rows) > SHOWN:
        found.append(Sentence(f"… {len(rows)} rows in all", (), True, "\n"))
    return found


def looked_for(plan: Plan, name: Name) -> str:
    """Return that there is nothing of what a plan looks for, as a clause.

    Args:
        plan: The plan.
        name: Returns the name of a term.

    Example:
        >>> from mrag.planning.plan import Column
        >>> x = Unknown("x")
        >>> plan = Plan(Block((Pattern(x, URIRef("urn:colour"), Literal("red")),)), (Column(x, "x"),))
        >>> looked_for(plan, lambda term: str(term).rpartition(":")[2])
        'there is no thing whose colour is red'
    """
    if plan.yes_or_no:
        words = to_words(plan, name).removeprefix("whether ")
        kind = words.removeprefix("there is an ").removeprefix("there is a ")
        return f"there is no {kind}" if kind != words else f"nothing in the graph says that {words}"
    words = to_words(Plan(plan.where, plan.columns[:1], plan.group_by, plan.having), name)
    kind = words.removeprefix("each ")
    return f"there is no {kind}" if kind != words else f"nothing was found for {words}"


def nothing_found(plan: Plan, nothing: Nothing, name: Name) -> tuple[str, str]:
    """Return the sentence of an answer without rows, or of a no, and one that says more of it or is "".

    Args:
        plan: The plan.
        nothing: Why it finds nothing.
        name: Returns the name of a term.
    """
    first = f"{'No' if plan.yes_or_no else 'None'}: {looked_for(plan, name)}."
    if nothing.compared is not None:
        return f"No: {values_in_words(*nothing.compared, name)}.", ""
    if nothing.nearest is not None:
        near = _nearest(nothing.nearest, name)
        only = plan.yes_or_no and bool(plan.having) and len(nothing.nearest.plan.columns) == 1
        return (f"No: {near[0].lower()}{near[1:]}", "") if only else (first, near)
    if nothing.having is not None:
        names = [name(row[0]) for row in nothing.having[1].rows if row[0] is not None]
        return first, f"All have, such as {join(names)}."
    if isinstance(nothing.part, Comparison) and nothing.instead:
        names = [name(term) for term in nothing.instead]
        told = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        return f"No: {'those are' if len(names) > 1 else 'that is'} {told}.", ""
    if isinstance(nothing.part, Pattern) and nothing.instead:
        found = Pattern(nothing.part.subject, nothing.part.predicate, nothing.instead[0])
        return first, f"It says that {to_words(Plan(Block((found,))), name).removeprefix('whether ')}."
    several = len(plan.where.conditions) + len(plan.having) + len(plan.where.without)
    several += sum(isinstance(p.object, URIRef | Literal) for p in plan.where.patterns)
    if nothing.part is None or several < 3:
        return first, ""
    return first, f"Without “{part_to_words(plan, nothing.part, name)}” something is found."


def values_in_words(plan: Plan, found: PlanResult, name: Name) -> str:
    """Return what two values are: "the height of Rhone is 5, and that of Rhine is 7".

    Args:
        plan: The plan that finds them.
        found: What it found.
        name: Returns the name of a term.
    """
    called, subjects = list[str](), list[str]()
    for column in plan.columns:
        own = tuple(p for p in plan.where.patterns if p.object == column.value)
        inner = next((p for p in plan.where.plans if p.columns[0].name == column.name), None)
        if inner is not None:
            called.append(f"the {value_to_words(plan, Scalar(inner), name)[0]}")
            continue
        called.append(to_words(Plan(Block(own) if own else plan.where, (column,)), name))
        subjects += [name(p.subject) for p in own if isinstance(p.subject, URIRef)]
    again = called[1]
    if len(subjects) == 2 and called[0].removesuffix(subjects[0]) == again.removesuffix(subjects[1]):
        again = f"that of {subjects[1]}"
    first, second = (name(term) for term in found.rows[0] if term is not None)
    return f"{called[0]} is {first}, and {again} is {second}"


def _nearest(nearest: Nearest, name: Name) -> str:
    row, plan = nearest.result.rows[0], nearest.plan
    called, time = value_to_words(plan, nearest.value, name)
    shown = [name(term) if isinstance(term, URIRef) else str(term) for term in row if term is not None]
    if len(plan.columns) == 1 or len(shown) == 1:
        return f"The {called} is {shown[-1]}."
    most, least = ("latest", "earliest") if time else ("greatest", "least")
    return f"The {most if nearest.greatest else least} {called} is {shown[-1]} ({shown[0]})."


def _single(reading: Reading, row: tuple[AnswerCell, ...]) -> str:
    value = next(c.value for c in reading.plan.columns if c.name == reading.shown[0])
    if len(row) > 1 and all(isinstance(c.value, Aggregate) for c in reading.plan.columns):
        told = zip(reading.shown, row, strict=True)
        return "; ".join(f"{name.replace('_', ' ')}: {cell.label or 'none'}" for name, cell in told)
    if len(row) == 1 and isinstance(value, Aggregate) and value.function == "count" and value.of:
        noun = value.of[0].name.replace("_", " ").rstrip("0123456789 ")
        return f"{row[0].label} {noun if row[0].label == '1' else plural(noun)}"
    if len(row) == 1 and not isinstance(value, Unknown):
        noun = reading.shown[0].replace("_", " ").rstrip("0123456789 ")
        if reading.plan.order and reading.plan.limit is not None and not aggregates(value):
            return row[0].label  # what is first by something else needs no name
        unit = "%" if noun == "percentage" else f" {unit_of_days(value)}".rstrip()
        return f"The {noun} is {_rounded(row[0].label) if unit == ' years' else row[0].label}{unit}."
    return _row(row)


def _rounded(label: str) -> str:
    """Return years to a tenth: what is counted in days is a little off, since years differ in length."""
    return f"{round(float(label), 1):g}" if label.replace(".", "", 1).isdecimal() else label


def _row(row: tuple[AnswerCell, ...]) -> str:
    if len(row) == 1:
        return row[0].label
    return f"{row[0].label}: {', '.join(cell.label or 'none' for cell in row[1:])}"
