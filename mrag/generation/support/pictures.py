"""Which lines sentences about pictures rest on: which images they name or count, and what these are to show.

"Image 1 and image 2 show a hat", "Two images contain a coat and a dog", "There is a hat in image 1": each
thing must stand in a line of each image. Of other sentences, and of things whose words stand in no one line
together, the general rules decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rdflib import Literal

from mrag.context.render import Context, Line
from mrag.generation.support.citations import Citer, Support
from mrag.rdf.terms import Term
from mrag.text.tokens import NEGATIONS, stem, tokens

_NUMBERS: Final = {
    word: n
    for n, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
}
_ORDINALS: Final = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_SHORT: Final = 4
_LONGEST: Final = 500
"""Characters of a sentence that is read as one about pictures."""
_COUNT: Final = rf"(?:\d+|{'|'.join(_NUMBERS)})"
_ONE: Final = r"pic§\d++"
_KIND: Final = r"(?:images?|pictures?|photos?|photographs?)"
_SUBJECT: Final = (
    rf"(?P<named>(?:both |all of )?{_ONE}(?:(?:, and |, | and | & |/){_ONE})*)"
    rf"|(?P<every>(?:both|all|each|every)(?: of)?(?: the| these| those)?(?: found)? {_KIND}|both|all of them)"
    rf"|(?P<least>at least )?(?:only |exactly )?(?P<count>{_COUNT})(?: of the| of these)?"
    rf"(?: {_COUNT})?(?: found)? {_KIND}"
)
_VERB: Final = (
    r"(?:clearly |also |all |both |each )*(?:shows?|showing|contains?|depicts?|features?|includes?|displays?|"
    r"portrays?|has|have|presents?|captures?)"
)
_SEEN: Final = (
    r"(?:can (?:also )?be (?:seen|found)"
    r"|(?:is|are) (?:also )?(?:shown|visible|depicted|present|displayed|pictured)"
    r"|appears?|is|are)"
)
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        rf"(?:{_SUBJECT}) {_VERB} (?P<things>.+)",
        rf"there (?:is|are) (?:{_SUBJECT}) (?:(?:that|which) {_VERB}|with|of|showing|containing|depicting) "
        r"(?P<things>.+)",
        rf"there (?:is|are) (?P<things>.+?) (?:in|on) (?:{_SUBJECT})",
        rf"(?:in|on) (?:{_SUBJECT}),? (?:there (?:is|are)|(?:you|one|we) (?:can )?see) (?P<things>.+)",
        rf"(?P<things>.+?) {_SEEN} (?:in|on) (?:{_SUBJECT})",
    )
)
_CLAUSES: Final = re.compile(rf"(?:,? (?:and|while|but|whereas) |; |, )(?={_ONE} {_VERB} )")
_LIST: Final = re.compile(r",? and |, |,? (?:as well as|along with|together with|with|plus) ")
_ADJECTIVES: Final = re.compile(r"(\b(?:an?|the|its|some) [\w-]+), (?=[\w-]+ [\w-]+\Z)")
_SMALL: Final = frozenset(("a", "an", "the", "some", "its", "another", "of"))


class PictureCiter(Citer):
    """Finds support for sentences about pictures.

    Args:
        question: What was asked.
        context: The lines that may be cited.
        names: What the images are called, as in the lines about them.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.rdf.terms import Triple
        >>> e = "http://example.org/"
        >>> triple = Triple(URIRef(e + "i"), URIRef(e + "has"), URIRef(e + "hat"))
        >>> line = Line("t1", "…", triple, e, False, ("beach.jpg", "has object", "hat"))
        >>> citer = PictureCiter("a hat", Context((line,), ()), ["beach.jpg"])
        >>> [citer.support(text).supported for text in ("beach.jpg shows a hat.", "Two images show hats.")]
        [True, False]
    """

    def __init__(self, question: str, context: Context, names: Sequence[str]) -> None:
        super().__init__(question, context)
        self._pictures = list(names)

    def support(
        self,
        text: str,
        written: Sequence[str] = (),
        before: frozenset[Term] = frozenset(),
        lead: bool = False,
        items: int = 0,
        under: str = "",
    ) -> Support:
        """Find what a sentence rests on; see `Citer.support`."""
        usual = super().support(text, written, before, lead, items, under)
        found = self._shown(text, before)
        if found is None:
            return usual
        lines, supported = found
        ids = {line.id.casefold() for line in lines}
        rejected = tuple(one for one in written if one.casefold() not in ids)
        subjects = frozenset(line.triple.s for line in lines) or usual.subjects
        return Support(tuple(lines), supported, rejected, subjects)

    def _shown(self, text: str, before: frozenset[Term]) -> tuple[list[Line], bool] | None:
        """Return the lines of what a sentence says that images show, and whether all of it is there."""
        if len(text) > _LONGEST or len(set(map(str.casefold, self._pictures))) < len(self._pictures):
            return None  # two images of one name cannot be told apart
        plain = self._pointed(self._marked(text), before)
        # One statement of several images is looked for before several statements.
        return self._clauses([plain]) or self._clauses(_CLAUSES.split(plain))

    def _clauses(self, clauses: Sequence[str]) -> tuple[list[Line], bool] | None:
        lines: dict[str, Line] = {}
        supported = True
        for clause in clauses:
            match = next((m for form in _FORMS if (m := form.fullmatch(clause))), None)
            things = None if match is None else _things(match["things"])
            found = None if match is None or things is None else self._clause(match, things)
            if found is None:
                return None
            lines.update((line.id, line) for line in found[0])
            supported = supported and found[1]
        return list(lines.values()), supported and bool(lines)

    def _marked(self, text: str) -> str:
        """Return a sentence in small letters, its images as numbers."""
        plain = " ".join(text.split()).rstrip(".!").strip()
        for at in sorted(range(len(self._pictures)), key=lambda i: -len(self._pictures[i])):
            name = re.escape(self._pictures[at])
            plain = re.sub(
                rf"(?<!\w)(?:the )?[\"“'‘]?{name}[\"”'’]?(?!\w)", f"pic§{at}", plain, flags=re.IGNORECASE
            )
        return plain.casefold()

    def _pointed(self, plain: str, before: frozenset[Term]) -> str:
        """Return a sentence with "the first image" as its number, and "it" where one image is meant."""
        for at, word in enumerate(_ORDINALS[: len(self._pictures)]):
            plain = re.sub(rf"\bthe {word} {_KIND}\b", f"pic§{at}", plain)
        spoken = [
            at
            for at, name in enumerate(self._pictures)
            if any(x.triple.s in before and _is_of(x, name) for x in self._every.lines)
        ]
        one = spoken if len(spoken) == 1 else [0] if len(self._pictures) == 1 else []
        if one:
            plain = re.sub(
                r"\A(?:it|(?:the|this) (?:image|picture|photo(?:graph)?))\b", f"pic§{one[0]}", plain
            )
        return plain

    def _clause(
        self, match: re.Match[str], things: list[tuple[int, tuple[str, ...]]]
    ) -> tuple[list[Line], bool] | None:
        every = range(len(self._pictures))
        named = [int(one) for one in re.findall(r"pic§(\d+)", match["named"] or "")]
        counted = match["count"]
        chosen = list(dict.fromkeys(named)) if named else list(every)
        there: dict[int, list[Line]] = {}
        for picture in chosen:
            found = self._all_in(picture, things)
            if found is None:
                return None
            if found[1]:
                there[picture] = found[0]
        lines = [line for several in there.values() for line in several]
        if counted is None:
            both = match["every"] is not None and match["every"].startswith("both")
            return lines, len(there) == len(chosen) > 0 and (not both or len(chosen) == 2)
        number = _NUMBERS.get(counted) or int(counted)
        return lines, len(there) >= number if match["least"] else len(there) == number

    def _all_in(
        self, picture: int, things: list[tuple[int, tuple[str, ...]]]
    ) -> tuple[list[Line], bool] | None:
        """Return the lines of an image that have each of some things, and whether each is there."""
        name = self._pictures[picture]
        own = [x for x in self.lines if _is_of(x, name)]
        words = {line.id: _stems(line) for line in own}
        every = {word for several in words.values() for word in several}
        kept: list[Line] = []
        for count, thing in things:
            having = [line for line in own if _run(words[line.id], thing)]
            if not having and count == 1 and (together := self._together(own, thing)):
                kept += together
                continue
            if not having and set(thing) <= every:
                return None  # what belongs together there is for the general rules
            things_there = sum(not isinstance(line.triple.o, Literal) for line in having)
            told = [x for x in having if any(_run(words[x.id], (n, *thing)) for n in _ways(count))]
            if not having or (count > 1 and things_there < count and not told):
                return kept, False
            # A plain fact says it better than a description that also has the words.
            facts = [line for line in having if not isinstance(line.triple.o, Literal)]
            kept += (told or facts or having) if count == 1 or told else facts
        return kept, True

    def _together(self, own: Sequence[Line], thing: tuple[str, ...]) -> list[Line]:
        """Return the lines of one part of an image, or of one thing on it, that have all words of a thing.

        "A green jacket" stands in the line of the jacket and that of its colour, "a casual style" in the name
        of a property and its value.
        """
        wanted = set(thing)
        for line in own:
            of_part = [x for x in own if x.triple.s == line.triple.s and "(" in x.labels[0]]
            of_thing = [x for x in self.lines if x.triple.s == line.triple.o]
            unit = [x for x in {y.id: y for y in (line, *of_part, *of_thing)}.values() if _is_short(x)]
            words = {x.id: {*_stems(x)} | {stem(t.raw) for t in tokens(x.labels[1])} for x in unit}
            if line in unit and thing[-1] in words[line.id] and wanted <= set().union(*words.values()):
                return [x for x in unit if {*_stems(x)} & wanted]
        return []


def _is_of(line: Line, name: str) -> bool:
    """Return whether a line is about an image or a part of it."""
    return line.labels[0] == name or line.labels[0].startswith(f"{name} (")


def _is_short(line: Line) -> bool:
    """Return whether a line has a name or a few words, not a text in which words of several things stand."""
    truth = str(line.triple.o).strip().casefold()
    return len(tokens(line.labels[2])) <= _SHORT and truth not in ("false", "0")


def _things(text: str) -> list[tuple[int, tuple[str, ...]]] | None:
    """Return what is listed, each with how many of it; None where more than a list is said."""
    if re.search(r"[“”\"()]", text):
        return None  # a fact that is quoted
    found = []
    # "a relaxed, casual style": adjectives of one noun
    text = _ADJECTIVES.sub(r"\1 ", text)
    for part in _LIST.split(text):
        raw = [token.raw for token in tokens(part)]
        if not raw or "§" in part or any(w.casefold() in NEGATIONS for w in raw):
            return None
        count = 1
        while raw and (raw[0].casefold() in _SMALL or raw[0].casefold() in _NUMBERS or raw[0].isdigit()):
            first = raw.pop(0).casefold()
            count = _NUMBERS.get(first) or (int(first) if first.isdigit() else count)
        if not raw:
            return None
        found.append((count, tuple(stem(word) for word in raw)))
    return found


def _stems(line: Line) -> list[str]:
    told = [line.labels[2], *([str(line.triple.o)] if isinstance(line.triple.o, Literal) else [])]
    # Something stands between the two texts, so that no run of words goes over both.
    return [stem(token.raw) for text in told for token in (*tokens(text), *tokens("0"))]


def _run(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(tuple(words[at : at + size]) == tuple(wanted) for at in range(len(words) - size + 1))


def _ways(count: int) -> list[str]:
    return [str(count), *(stem(word) for word, n in _NUMBERS.items() if n == count)] if count > 1 else []
