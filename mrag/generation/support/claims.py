"""A sentence taken apart for the search of its support: its words, what it names, what is left over."""

from __future__ import annotations

import re

from mrag.context.render import Line
from mrag.generation.support.mentions import ContextNames, TermMention
from mrag.generation.support.possession import owned
from mrag.generation.wording.phrases import caveats
from mrag.rdf.terms import Term
from mrag.text.english import GERMAN_MARKS, NEGATIONS, PERSON_WORDS, words
from mrag.text.synonyms import OTHERS
from mrag.text.tokens import TextToken, content, is_stopword, stem, tokens

_SOURCE = r"(?:context|facts?|lines?|information|(?:the|this|given) (?:knowledge )?graph)"
_NOTHING_SAID = re.compile(
    r"\b(?:i (?:do not|don['’]t|cannot|can['’]t|could not) (?:know|answer|tell|say|find|determine)"
    rf"|{_SOURCE}(?: (?:given|provided|above|here|found|of it))?"
    r" (?:does|do|did|is|are|was|has|have|says?|holds?|contains?|mentions?|gives?|provides?)"
    r"(?: not|n['’]t| no| nothing)\b"
    rf"|(?:not|nothing|no \w+)(?: \w+){{0,4}} in (?:the |this |my )?(?:\w+ ){{0,2}}{_SOURCE}\b"
    r"|no (?:information|answer|mention|matching)\b"
    r"|not (?:specified|mentioned|given|known|provided|stated)\b"
    r"|weiß (?:ich |es )?nicht|keine (?:information|angabe)|je ne sais pas|non (?:lo )?so\b|no (?:lo )?sé\b"
    r"|non è (?:specificato|indicato)|kontext (?:\w+ ){0,4}(?:nicht|keine))",
    re.IGNORECASE,
)
_CAVEAT = re.compile(caveats())
"""What answers without a model say of themselves."""

_BACK = words("it its they their he his she her")
_CLAUSES = words("and but while whereas und aber et mais y pero e")
_KINDS = frozenset(content("type kind class sort category nature"))
_KIN = words(
    "wife husband spouse parent cousin uncle aunt niece nephew grandchild friend colleague partner boss"
)
_PEOPLE = frozenset(stem(word) for word in PERSON_WORDS | _KIN)
_REPORTING = frozenset(content("describe description comment state say define definition follow"))


class Claim:
    """A sentence taken apart.

    Args:
        text: The sentence, without ids of lines.
        names: The names of the context.

    Attributes:
        words: Its words and numbers.
        mentions: Where it names something of the context.
        rest: Positions of the words outside the mentions.
        here: Everything it names.
        wording: Stems of the words outside names: what it says about what it names.
        first: Its first word, folded.
        denies: Whether it turns its statement round.
        is_caveat: Whether it is a fixed remark of an answer without a model.
        refuses: Whether it says that there is no answer.
        counted: How many things it may say that it names.
        german: Whether it looks German, where every noun has a capital.
    """

    def __init__(self, text: str, names: ContextNames) -> None:
        self.text = text
        self.words: list[TextToken] = tokens(text)
        self.mentions: list[TermMention] = names.find(text, self.words)
        things = [m for m in self.mentions if not m.terms <= names.properties]
        inside = {i for m in things for i in range(max(m.first, 0), m.last)}
        self._things = [m for m in things if not m.terms <= names.properties | names.classes]
        self.rest = [i for i in range(len(self.words)) if i not in inside]
        self.here: frozenset[Term] = frozenset().union(*(m.terms for m in self.mentions))
        common = names.properties | names.classes
        named = {i for m in things if not m.terms <= common for i in range(max(m.first, 0), m.last)}
        self.wording = frozenset(
            stem(w.raw) for i, w in enumerate(self.words) if i not in named and not is_stopword(w.key)
        )
        self.first = self.words[0].key if self.words else ""
        bare = {self.words[i].key for i in self.rest}
        only = re.search(r"\bnot only\b|\bnicht nur\b|\bnon solo\b", text, re.IGNORECASE)
        self.denies = not only and any(k in NEGATIONS or k.endswith("n't") for k in bare)
        self.counted = 0
        self.is_caveat = bool(_CAVEAT.fullmatch(text))
        self.refuses = bool(_NOTHING_SAID.search(text))
        self.german = len(bare & GERMAN_MARKS) > 0

    def is_owner_only(self, term: Term, relation: frozenset[str] | None, *, value: bool) -> bool:
        """Return whether the sentence speaks of what a thing has, rather than of the thing, by a relation.

        Args:
            term: The thing.
            relation: Stems of the relation that a fact about the thing has, None for its class.
            value: Whether the fact gives a value or a class, which no person is.
        """
        kind = relation is None
        relation = _KINDS if relation is None else relation
        if any(word.key in _BACK for word in self.words):
            return False  # "Ada's dog is Rex, and her gender …"
        found = False
        for mention in self._things:
            if term not in mention.terms:
                continue
            nouns = owned(self.text, self.words, mention, self._things)
            meant = nouns.union(*(OTHERS.get(one, frozenset()) for one in nouns))
            if not nouns or meant & relation:
                return False
            at_stake = kind or relation & self._clause_of(mention) or (value and nouns & _PEOPLE)
            found = found or bool(at_stake)
        return found

    def _clause_of(self, mention: TermMention) -> frozenset[str]:
        """Return the stems of the clause of a sentence that a mention stands in."""
        cuts = [i for i in self.rest if self.words[i].key in _CLAUSES]
        start = max((i for i in cuts if i < mention.first), default=-1)
        end = min((i for i in cuts if i >= mention.last), default=len(self.words))
        return frozenset(stem(self.words[i].raw) for i in range(start + 1, end))

    def pair(self, a: Term, b: Term) -> bool:
        """Return whether two different places name the two terms."""
        places_a = [m.first for m in self.mentions if a in m.terms]
        places_b = [m.first for m in self.mentions if b in m.terms]
        return any(x != y for x in places_a for y in places_b)

    def beside(self, a: Term, b: Term) -> bool:
        """Return whether the two terms are named one directly behind the other."""
        firsts = {m.first for m in self.mentions if a in m.terms or b in m.terms}
        return any(
            m.last in firsts and not m.terms >= {a, b} for m in self.mentions if a in m.terms or b in m.terms
        )

    def used(self, line: Line) -> set[str]:
        """Return the stems of what the sentence says, without the name of a line's subject."""
        subject = {i for m in self.mentions if line.triple.s in m.terms for i in range(m.first, m.last)}
        rest = (w for i, w in enumerate(self.words) if i not in subject and not is_stopword(w.key))
        return {stem(w.raw) for w in rest} - _REPORTING

    def starts_quote(self, word: TextToken) -> bool:
        """Return whether a quotation, and so perhaps a capital, begins with the word."""
        return word.start > 0 and self.text[word.start - 1] in "\"'“‘«„(*_"

    def names_part(self, label: tuple[str, ...]) -> bool:
        """Return whether the sentence uses the head or the beginning of a label, standing alone.

        "a database" for "graph database", "supports RDF." for "RDF storage"; but not "vector database" for
        "graph database", where the word before belongs to another name.
        """
        if len(label) < 2:
            return False
        rest = set(self.rest)
        for size in range(len(label) - 1, 0, -1):
            if size * 2 < len(label):
                return False
            for part, head in ((label[-size:], True), (label[:size], False)):
                if not any(len(k) > 2 and not is_stopword(k) for k in part):
                    continue
                for at in range(len(self.words) - size + 1):
                    span = range(at, at + size)
                    if not all(i in rest and self.words[i].key == part[i - at] for i in span):
                        continue
                    beside = at - 1 if head else at + size
                    if beside < 0 or beside >= len(self.words) or is_stopword(self.words[beside].key):
                        return True
                    gap = (self.words[beside].end, self.words[at].start)
                    if not head:
                        gap = (self.words[at + size - 1].end, self.words[beside].start)
                    if any(c in ",;:.()" for c in self.text[slice(*gap)]):
                        return True
        return False
