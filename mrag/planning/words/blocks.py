"""What must hold and what must not, in plain English."""

from __future__ import annotations

from dataclasses import replace

from rdflib import RDF

from mrag.planning import plan as pl
from mrag.planning.words.joining import all_of
from mrag.planning.words.values import Name, ValueWords
from mrag.text.grammar import article, join


class BlockWords(ValueWords):
    """Words of what must hold in one plan."""

    def __init__(self, plan: pl.Plan, name: Name) -> None:
        super().__init__(plan, name)
        self._said: set[pl.Pattern] = set()

    def _rows_of(self, plan: pl.Plan) -> str:
        """Return another plan in words."""
        raise NotImplementedError

    def _where(self, before: str) -> str:
        """Return what must hold, with a word before it if there is anything."""
        found = self._block(self._plan.where, self._roles.subject)
        return f"{before}{found}" if found else ""

    def _block(self, block: pl.Block, main: pl.Unknown | None) -> str:
        """Return what must hold: first what is said of the main thing itself, then what is of others."""
        own: list[str] = []
        others: list[str] = []
        for p in block.patterns:
            several = self._several(p, block, main)
            if several is None:
                (own if main in (p.subject, p.object) else others).append(self._pattern(p, block, main))
            elif several:
                own.append(several)
        for said in (self.condition(c) for c in block.conditions if not self._is_said(c, block)):
            (own if said.startswith("other than ") else others).append(said)
        for branches in block.either:
            own.append("either " + " or ".join(self._block(b, main) or "anything" for b in branches))
        for inner in block.without:
            own.append(self._without(inner, main))
        others += [self._joined(plan) for plan in block.plans]
        for optional in block.optional:
            said = self._block(optional, main)
            others.append(said and f"if there is one, {said}")
        said, rest = (all_of([f for f in found if f]) for found in (own, others))
        if not rest or main is None:
            return " and ".join(f for f in (said, rest) if f)
        return f"{said}, where {rest}" if said else f"where {rest}"

    def _joined(self, plan: pl.Plan) -> str:
        """Return which rows of another plan there are."""
        things = [pl.Unknown(c.name) for c in plan.columns if isinstance(c.value, pl.Unknown)]
        named = join([self._unknown(t) for t in things if self._roles.type(t)] or ["it"])
        return f"{named} is ({self._rows_of(plan)})"

    def _without(self, block: pl.Block, main: pl.Unknown | None) -> str:
        pattern = block.patterns[0] if len(block.patterns) == 1 else None
        simple = pattern is not None and block == pl.Block(block.patterns) and pattern.subject == main
        if pattern is not None and simple and isinstance(pattern.object, pl.Unknown):
            if self._verb(pattern):
                return self._related(pattern, "which", "nothing")
            return f"without any {self._predicate(pattern)}"
        if pattern is not None and simple and pattern.predicate != RDF.type:
            other = self.value(pattern.object)
            if not self._verb(pattern):
                return f"whose {self._predicate(pattern)} is not {other}"
            if not (said := self._related(pattern, "which", other)).startswith("which "):
                return f"not {said}"
        if (kind := self._no_kind(block, main)) is not None:
            return kind
        if (described := self._none_such(block, main)) is not None:
            return described
        said = self._block(block, main)
        few = block.patterns or block.either
        return f"but none {said}" if few else f"and not where {said.removeprefix('where ')}"

    def _none_such(self, block: pl.Block, main: pl.Unknown | None) -> str | None:
        """Return that there is nothing described that is related to the main thing: "without any visit …"."""
        link = [p for p in block.patterns if main in (p.subject, p.object) and p.predicate != RDF.type]
        other = next((e for p in link for e in (p.subject, p.object) if e != main), None)
        if main is None or len(link) != 1 or not isinstance(other, pl.Unknown) or block.either:
            return None
        (pattern,) = link
        kinds = [p.object for p in block.patterns if (p.subject, p.predicate) == (other, RDF.type)]
        inner = replace(
            block,
            patterns=tuple(
                p for p in block.patterns if p != pattern and not (p.subject == other and p.object in kinds)
            ),
        )
        if pattern.object == main:
            verb = self._verb(pattern)
            kind = (
                self._name(kinds[0]) if kinds and not isinstance(kinds[0], pl.Unknown) else self._any(other)
            )
            told = f"that {verb} it" if verb else f"whose {self._predicate(pattern)} it is"
        else:
            kind, told = self._predicate(pattern), ""
            if self._verb(pattern):
                return None
        rest = type(self)(pl.Plan(inner, (pl.Column(other, other.name),)), self._name)._where("")
        rest = rest.removeprefix("where ") if told else rest.replace("where the thing is ", "that is ", 1)
        said = " and ".join(w for w in (told, rest.removeprefix("where ")) if w)
        return f"without any {kind} {said}".rstrip()

    def _pattern(self, pattern: pl.Pattern, block: pl.Block, main: pl.Unknown | None) -> str:
        s, p, o = pattern.subject, pattern.predicate, pattern.object
        if pattern in self._said or (p == RDF.type and self._roles.is_kind(pattern)):
            return ""
        which = "which" if s == main else self._thing(s)
        if p == RDF.type:
            return f"{which} is {article(self.value(o))}"
        if not isinstance(o, pl.Unknown):
            return self._related(pattern, which, self.value(o))
        if bounds := [c for c in block.conditions if self._roles.only(c, o)]:
            return self._owned(which, self._bounds(bounds, pattern, which))
        if o == main:
            said = self._said_of(pattern)
            if verb := self._verb(pattern):
                if isinstance(s, pl.Unknown) and self._is_any(s):
                    return f"which {article(self._kind(s))} {verb}"
                return f"which {said[5:]}"
            named = self._kind(main) == self._predicate(pattern)
            return f"of {self._thing(s)}" if named else f"which is the {said}"
        if self._roles.mentions(o) <= 1 and not (self._roles.is_shown(o) or self._roles.is_joined(o)):
            if self._verb(pattern):
                return self._related(pattern, which, "something")
            said = self._predicate(pattern)
            said = f"another {said}" if self._roles.number(o) else article(said)
            return f"{'with' if s == main else which + ' has'} {said}"
        if self._named_by(o, pattern) and not self._verb(pattern):
            return ""  # where it is spoken of, it is "the price of the lamp"
        return self._related(pattern, which, self._object(o, pattern))

    def _is_said(self, condition: pl.Condition, block: pl.Block) -> bool:
        """Return whether a condition is said with the pattern that binds its unknown."""
        return any(
            isinstance(p.object, pl.Unknown)
            and p.predicate != RDF.type
            and p not in self._said
            and self._roles.only(condition, p.object)
            for p in block.patterns
        )
