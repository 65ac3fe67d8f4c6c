"""What the words of a question may name: names of the lexicon, codes, and names written as one word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mrag.graph.naming import name_part
from mrag.language.tokens import content
from mrag.planning.building import checks
from mrag.planning.building.drafting import Drafting
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.english import is_past, phrasal_verbs, root, synonym_roots
from mrag.planning.lexical.schema_words import CodeWords
from mrag.planning.lexicon import Lexicon
from mrag.planning.profile.names import without_likened
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.schema import Schema

_THESE = frozenset("the all any each every these those".split())


class Mentioning(Drafting):
    """Finds what the words of questions may name.

    Args:
        schema: The schema.
        lexicon: The names of the graph.
    """

    def __init__(self, schema: Schema, lexicon: Lexicon) -> None:
        super().__init__(schema, lexicon)
        self._codes = CodeWords(schema, lexicon.matcher.things)
        called = [n for i in schema.properties.values() for n in i.names]
        called += [n for c in schema.classes.values() for n in c.names]
        self._phrasal = phrasal_verbs(called)
        parts = {iri: part for iri in schema.properties if (part := name_part(iri))}
        self._name_parts = frozenset(parts) if len({*parts.values()}) > 1 else frozenset[str]()
        self._one_word: dict[str, list[Candidate]] = {}
        for info in schema.properties.values():
            for name in info.names:
                if " " in name:
                    found = Candidate("property", info.iri, 0.95, name, "spelling")
                    self._one_word.setdefault(name.lower().replace(" ", ""), []).append(found)

    def _kinds(self, text: str, given: Mapping[str, Candidate]) -> set[str]:
        """Return the classes that a question names, and those of the things that it names."""
        best = [m.candidates[0] for m in self._mentions(cut(text), given) if m.candidates[0].score > 0.8]
        return {c.term for c in best if c.kind == "class"} | {
            c.classes[0] for c in best if c.kind == "entity" and c.classes
        }

    def _named(self, text: str) -> Sequence[Candidate]:
        """Return what some words may name as a whole, best first."""
        question = cut(text)
        low = [w for w in question.low if w not in ("the", "a", "an", "that", "of")]
        return checks.named_as_a_whole(self._mentions(question, {}), len(low))

    def _mentions(self, question: QuestionText, given: Mapping[str, Candidate]) -> list[NameMention]:
        found = [
            NameMention(n, n + 1, (c,))
            for n, w in enumerate(question.low)
            if (c := given.get(w.removesuffix("'s")))
        ]
        taken = {m.start for m in found}
        matched = self.lexicon.match([word.token for word in question.words])
        for mention in matched:
            kept = None if checks.is_part_of_time(mention, question) else checks.headed(mention, question)
            kept = self._no_flags(kept, question) if kept is not None else None
            kept = self._whole_names(kept, question) if kept is not None else None
            if kept is not None:
                before = question.low[kept.start - 1] if kept.start else ""
                kept = without_likened(kept, before, self.schema.properties)
            if kept is not None and taken.isdisjoint(range(mention.start, mention.end)):
                found.append(kept)
        clear = {
            at for m in found for at in range(m.start, m.end) if m.candidates[0].way in ("exact", "inflected")
        }
        exact = {
            at for m in found for at in range(m.start, m.end)
            for c in m.candidates[:1] if c.way == "exact" and (c.kind != "property" or m.end - m.start > 1)
        }  # fmt: skip
        coded = list(self._codes.mentions(question, clear | taken, exact | taken))
        found = [m for m in found if not any(_said_by(c, m) for c in coded)] + coded
        found = list(self._of_their_kind(question, found))
        found = checks.without_parts_asked_for(found, question)
        return checks.without_each_other(checks.without_split_values(found, self.schema)) + list(
            self._joined(question, {(m.start, m.end) for m in found})
        )

    def _no_flags(self, mention: NameMention, question: QuestionText) -> NameMention | None:
        """Return a mention without what only says yes or no, where that is not called so: "directed".

        Nor is an author a "corresponding author", or what somebody owns "state-owned".
        """
        flags = {iri for iri, info in self.schema.properties.items() if info.flag}
        past = is_past(question.low[mention.end - 1])
        said = {root(w) for w in question.low[mention.start : mention.end]}
        said |= {other for word in said for other in synonym_roots().get(word, ())}

        def unlike(c: Candidate) -> bool:
            words = content(c.name)
            part = c.way in ("tokens", "synonym") and len(words) > 1 and root(words[0]) not in said
            part = part and not said & {root(w) for w in content(self.schema.properties[c.term].comment)}
            return part or (past and c.way in ("synonym", "meaning"))

        kept = tuple(c for c in mention.candidates if c.term not in flags or not unlike(c))
        return replace(mention, candidates=kept) if kept else None

    def _whole_names(self, mention: NameMention, question: QuestionText) -> NameMention | None:
        """Return a mention without first and last names, where a "name" alone asks for both."""
        if mention.end - mention.start > 1 or question.low[mention.start] not in ("name", "names"):
            return mention
        kept = tuple(c for c in mention.candidates if c.term not in self._name_parts)
        return replace(mention, candidates=kept) if kept else None

    def _of_their_kind(self, question: QuestionText, found: Sequence[NameMention]) -> Iterator[NameMention]:
        """Yield mentions, what is said "of" a kind being its own: the "id" in "ids of gas stations".

        The name of a kind that has no property called so is none of the names that other kinds have.
        """
        kinds = {
            m.start: m for m in found if m.candidates[0].kind == "class" and m.candidates[0].way == "exact"
        }
        values = {m.start for m in found if m.candidates[0].kind == "value" and m.end == m.start + 1}
        told = dict[int, NameMention]()
        for at in [n for n, w in enumerate(question.low[:-2]) if question.low[n + 1] == "of"]:
            behind = next((i for i in range(at + 2, len(question.low)) if question.low[i] not in _THESE), at)
            # "The ids of the male patients": what tells which of them stands between.
            kind = kinds.get(behind) or (kinds.get(behind + 1) if behind in values else None)
            if kind is None:
                continue
            cls, said = kind.candidates[0], question.words[at].token.key
            own = [i for i in self.schema.properties.values() if cls.term in i.domains and i.kind != "entity"]
            called = f"{cls.name} {said}".lower()
            exact = tuple(
                Candidate("property", i.iri, 1.0, n, "exact")
                for i in own
                for n in i.names
                if n.lower() == called
            )
            alone = next((m for m in found if (m.start, m.end) == (at, at + 1)), None)
            kept = alone.candidates if alone is not None else ()
            if exact and all(c.term != exact[0].term for c in kept):
                told[at] = NameMention(at, at + 1, (*exact, *kept))
            elif said == "name" and alone is not None:
                terms = {i.iri for i in own}
                told[at] = replace(alone, candidates=tuple(c for c in alone.candidates if c.term in terms))
        yield from (m for m in found if not (m.end == m.start + 1 and m.start in told))
        yield from (m for m in told.values() if m.candidates)

    def _joined(self, question: QuestionText, taken: set[tuple[int, int]]) -> Iterator[NameMention]:
        """Yield mentions of names that the question writes as one word: "firstname"."""
        for at, word in enumerate(question.words):
            found = self._one_word.get(word.low) or self._one_word.get(word.token.key)
            if found and (at, at + 1) not in taken:
                yield NameMention(at, at + 1, tuple(found))


def _said_by(code: NameMention, other: NameMention) -> bool:
    """Return whether words are read as a code rather than as what they may mean beside their head."""
    if code.start <= other.start and other.end <= code.end:
        return True
    loose = other.candidates[0].way in ("synonym", "meaning")
    return loose and (other.start, other.end) == (code.start, code.end + 1)
