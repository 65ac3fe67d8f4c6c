"""Sentences of a passage: words, names, what they assert, and how words stand to names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mrag.completion.names import Span, TextWord, text_of, words_of
from mrag.completion.passages import Passage
from mrag.language.tokens import is_stopword, words
from mrag.loaders.snippets import sentence_spans

_PRONOUNS: Final = words("it he she they this its his her their")
_LATER: Final = words("it he she they its his her their him them")
_IS: Final = frozenset(("is", "was"))
_OF: Final = words("of for from by in on with to at")
_CLAUSE = re.compile(r";\s+")
_FIELD = re.compile(r"[A-Z][\w ]{1,30}:\s+\S")


@dataclass(frozen=True)
class StandIn:
    """Words that stand for a name said before."""

    span: Span
    name: str
    before: int
    first: bool = True


@dataclass(frozen=True)
class ReadSentence:
    """A sentence, or a clause between semicolons, with its words and the names in it."""

    text: str
    words: tuple[TextWord, ...]
    names: tuple[Span, ...]
    stand_ins: tuple[StandIn, ...]
    start: int
    end: int

    def quote(self, passage: Passage, *since: int) -> str:
        """Return the sentence as the passage has it, from where its pronouns have what they stand for."""
        return passage.text[min(self.start, *since) : self.end]

    def between(self, low: int, high: int) -> str:
        """Return what stands between two words: spaces and marks."""
        return self.text[self.words[low].end : self.words[high].start]


def sentences(
    passage: Passage, names: Callable[[str, tuple[TextWord, ...]], tuple[Span, ...]]
) -> Iterator[ReadSentence]:
    """Yield the sentences of a passage."""
    said: list[tuple[str, int]] = [(passage.title, 0)] if passage.title else []
    older: list[tuple[str, int]] = []
    last, listed = 0, False
    for start, end in _clauses(passage.text):
        text = passage.text[start:end]
        words = words_of(text)
        if not words:
            continue
        spans = names(text, words)
        if start and passage.text[last:start].count("\n") > 1:
            # A paragraph of its own.
            said, older, listed = ([(passage.title, start)] if passage.title else []), [], False
        field = _FIELD.match(text) is not None
        stand_ins = tuple(_stand_ins(text, words, spans, said, older, field and listed))
        yield ReadSentence(text, words, spans, stand_ins, start, end)
        last, listed = end, field
        firm = stand_ins and stand_ins[0].first
        if not firm or (spans and spans[0].first < stand_ins[0].span.first):
            older = said[:1]
            said = [(text_of(text, words, span), start) for span in spans]


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences begin and end, and the clauses between semicolons."""
    for start, end in sentence_spans(text):
        first = start
        for mark in _CLAUSE.finditer(text, start, end):
            if len(words_of(text[first : mark.start()])) > 2 and len(words_of(text[mark.end() : end])) > 2:
                yield first, mark.start()
                first = mark.end()
        yield first, end


def _stand_ins(
    text: str,
    words: Sequence[TextWord],
    names: Sequence[Span],
    said: Sequence[tuple[str, int]],
    older: Sequence[tuple[str, int]],
    listed: bool,
) -> Iterator[StandIn]:
    """Yield what may stand for names of the sentence before, and for the first of the one before that."""
    if not said and not older:
        return
    for number, (span, ahead) in enumerate(_pronouns(words, names, listed)):
        for place, (name, before) in enumerate((*said, *older)):
            yield StandIn(span, name, before, place == number == 0 and bool(said) and not ahead)
            if listed:
                return


def _pronouns(words: Sequence[TextWord], names: Sequence[Span], listed: bool) -> Iterator[tuple[Span, bool]]:
    """Yield what stands for a name, and whether a name of the sentence comes before it."""
    if listed:
        yield Span(0, 0), False
        return
    if _refers(words):
        yield Span(0, 1), False
        return
    taken = {i for span in names for i in range(span.first, span.last)}
    found = [i for i, w in enumerate(words) if i not in taken and w.key in _LATER]
    found = [i for i in found if words[i].key != "it" or i + 1 == len(words) or words[i + 1].key not in _IS]
    if found:
        yield from ((Span(i, i + 1), any(span.first < i for span in names)) for i in found)
    elif (
        len(words) > 2 and words[0].text == "The" and words[1].text.islower() and words[2].key in ("in", "at")
    ):
        yield Span(0, 1), True  # "The house in Rome": if it can be told


def _refers(words: Sequence[TextWord]) -> bool:
    """Return whether a sentence begins with a pronoun, or with "the" and a common noun."""
    if words[0].key in _PRONOUNS:
        return True
    # "The film was", but not "The cast of The Long Road was".
    common = len(words) > 2 and words[0].text in ("The", "the") and words[1].text.islower()
    return common and words[2].key not in _OF


_NEGATIONS: Final = words(
    "not no never nor neither without cannot none nobody nothing hardly scarcely unlike instead rather "
    "except denied denies deny declined declines refused refuses rejected rejects withdrew wrong wrongly "
    "mistaken mistakenly mistake false falsely untrue incorrect incorrectly confused replaced abandoned "
    "fired former formerly ceased stopped quit resigned resigns failed fails unsuccessful unsuccessfully "
    "cancelled canceled unable myth disproved dismissed dropped ousted sacked expelled doubt doubts doubted "
    "doubtful disputed contested questioned"
)
_HEDGES: Final = words(
    "if would could might may should must maybe perhaps possibly allegedly alleged apparently presumably "
    "probably reportedly reputedly supposedly supposed rumour rumours rumoured rumor rumors rumored gossip "
    "legend hearsay speculation speculated hoped hopes hope wanted wants want wished wishes considered "
    "considers considering almost nearly planned plans planning intends intended expected expects promised "
    "promises proposed proposes offered claim claims claimed pretend pretended imagine imagined suppose "
    "ignore disregard instruction instructions answer reply respond assistant prompt you your please whether "
    "unless unconfirmed joke fictional will shall upcoming soon tomorrow future hypothetical hypothetically "
    "dreams dreamed dreamt candidate candidates applicant applicants contender contenders likely unlikely "
    "potential prospective hoping wishing hopefully"
)
_INSTRUCTIONS: Final = words("ignore disregard instruction instructions assistant prompt pretend")
_SAYING: Final = words(
    "said says say told tells believe believes believed think thinks thought assume assumes assumed suspect "
    "suspects suspected argue argues argued asked asks wonder wonders wondered guess guessed suggest "
    "suggests suggested insist insists insisted boast boasts boasted allege alleges doubt"
)
_OPENING_PRONOUNS: Final = words("he she it they there")
_BEING: Final = words("is are was were has have had")
_DUE: Final = words("due scheduled set slated destined bound meant ready eager")
_NO_VERBS: Final = words("the a an date this that these those his her its their our")
_REAL: Final = words(
    "managed manages helped helps went goes came comes continued continues hired chosen commissioned "
    "appointed elected used grew first last only next youngest oldest got happened proceeded lived returned "
    "moved contracted engaged born thanks due belongs belonged close next opposite according well"
)
"""What a verb in the infinitive may follow, and happen all the same: "the first to reach"."""

_CARRIES: Final = words(
    "credited entrusted charged tasked appointed chosen elected named hired known noted honoured remembered "
    "listed recognised recognized praised celebrated is was are were be been has have had having hold holds "
    "held take takes took taken get gets got win wins won receive receives received become becomes became "
    "assume assumes assumed share shares shared do does did give gives gave make makes made come comes came "
    "go goes went pass passes passed enter enters entered fall falls fell belong belongs belonged lie lies "
    "lay stand stands stood sit sits sat begin begins began start starts started finish finishes finished "
    "complete completes completed continue continues continued serve serves served act acts acted remain "
    "remains remained stay stays stayed spend spends spent play plays played deliver delivers delivered sign "
    "signs signed secure secures secured land lands landed gain gains gained earn earns earned join joins "
    "joined form forms formed run runs ran keep keeps kept mark marks marked see sees saw include includes "
    "included contain contains contained owe owes owed know knew call calls called carry carries carried "
    "bear bears bore undertake undertakes undertook cover covers covered fill fills filled occupy occupies "
    "occupied provide provides provided offer offers consist consists consisted return returns returned "
    "trace traces traced appear appears appeared work works worked live lives lived took"
)
"""Verbs that leave what is said to a noun behind them: "won the contract", "has a job", "took command"."""

_AUXILIARIES: Final = words("has had have is was also then later once now")
_IRREGULAR: Final = words(
    "lost left met bid sought thought wrote read put set sent told bought brought built hid led let paid "
    "sold spoke swore threw understood wore drew drove fought flew forgot heard hit knew learnt cut broke "
    "chose"
)
_RESETS: Final = words("as and who which whose where when under but")
_DETERMINERS: Final = words("the a an its his her their for of at with")
_TURNS: Final = words(
    "but yet though although however which who this that or and so nor if unless provided it as not"
)
_META: Final = words(
    "wrong wrongly mistaken mistakenly mistake false falsely untrue incorrect incorrectly confused rumour "
    "rumours rumoured rumor rumors rumored claim claims claimed ignore disregard instruction instructions "
    "answer reply respond assistant prompt pretend pretended imagine imagined suppose if unless myth legend "
    "hearsay joke fictional your whether allegedly supposedly reportedly"
)
"""Denials that may be meant of a whole sentence, wherever in it they stand."""


def asserts(sentence: str, names: Sequence[Span] = ()) -> bool:
    """Return whether a sentence states something: no negation, no hedge, no order to whoever reads it."""
    return _spoken(sentence) and not _denials(words_of(sentence), names)


@lru_cache(maxsize=10_000)
def beyond(sentence: str, names: tuple[Span, ...]) -> tuple[int, ...]:
    """Return where a sentence denies something, if only a part of it may be denied; empty if not so."""
    words = words_of(sentence)
    places = _denials(words, names) if _spoken(sentence) else []
    return () if any(words[at].key in _META or words[at].key in _SAYING for at in places) else tuple(places)


def closed(sentence: ReadSentence, low: Span, high: Span, denials: Sequence[int]) -> bool:
    """Return whether two names stand in a phrase between commas, and what is denied comes behind it.

    "Moss, written by Ada, was never printed" and "Written by Ada, Moss was never printed" tell who wrote it.
    """
    if min(denials) < high.last:
        return False
    commas = [i for i in range(len(sentence.words) - 1) if "," in sentence.between(i, i + 1)]
    inner = [i for i in commas if low.last - 1 <= i < high.first]
    after = [i for i in commas if high.last - 1 <= i < min(denials)]
    opening = bool(inner) and inner[-1] == high.first - 1 and low.first > 0
    around_one = bool(inner and after) and inner[-1] == high.first - 1 and after[0] == high.last - 1
    closing = bool(inner and inner[0] == low.last - 1 and after) or around_one
    if closing:
        return sentence.words[after[0] + 1].key not in _TURNS
    return opening and not after


def governed(sentence: ReadSentence, low: Span, place: int, says: Callable[[int], bool]) -> bool:
    """Return whether a noun is what another verb is about: "lost the contract for", "applied for a job"."""
    words = sentence.words
    head = low.last
    while head < place and (words[head].key.endswith("ly") or words[head].key in _AUXILIARIES):
        head += 1
    inside = [words[i].key for i in range(head + 1, place)]
    if head >= place or not set(inside) & _DETERMINERS or set(inside) & _RESETS:
        return False
    if any("," in sentence.between(i, i + 1) for i in range(low.last - 1, place)):
        return False
    key = words[head].key
    return _verb(key) and key not in _CARRIES and not says(head)


def _verb(key: str) -> bool:
    return key.endswith(("ed", "s")) or key in _IRREGULAR


def _spoken(sentence: str) -> bool:
    words = words_of(sentence)
    last = words[-1].end if words else 0
    # Braces and angle brackets are of code and queries, not of statements.
    return "?" not in sentence[last:] and not any(sign in sentence for sign in "{}<>")


def _denials(words: Sequence[TextWord], names: Sequence[Span]) -> list[int]:
    taken = {at for span in names for at in range(span.first, span.last)}
    return [at for at in range(len(words)) if at not in taken and _denies(words, at)]


def _denies(words: Sequence[TextWord], at: int) -> bool:
    """Return whether a word keeps a sentence from stating something."""
    small, key = words[at].text.casefold(), words[at].key
    before = words[at - 1].key if at else ""
    after = words[at + 1].key if at + 1 < len(words) else ""
    if small.endswith(("n't", "n’t")) or key in _NEGATIONS:
        return True
    if key in _HEDGES:
        return not _harmless(words, at)
    if key in ("down", "away") and before in ("turned", "turns", "stepped", "steps", "stood"):
        return True
    if key == "used" and after == "to" and before not in ("is", "was", "are", "were", "got", "be"):
        return True
    if key in _SAYING:
        return after in ("that", "on") or _hearsay(words, at) or _clause_follows(words, at)
    if key in _DUE and after == "to":
        return _verb_follows(words, at + 2)
    if at == 0 and key in ("let", "had", "were", "suppose", "imagine"):
        return True  # "Let Ada lead it.", "Had Ada led it, ..."
    if key == "to" and before in ("is", "was", "are", "were", "about", "going", "has", "had", "have"):
        return _verb_follows(words, at + 1)
    return key == "according" and after == "to"


def _clause_follows(words: Sequence[TextWord], at: int) -> bool:
    """Return whether what is said follows without "that": "Ada says Moss is by Bob"."""
    if at == 0 or words[at].key in ("asked", "asks", "told", "tells") or at + 1 >= len(words):
        return False
    begins = words[at + 1].text[:1].isupper() or words[at + 1].key in _NO_VERBS | _OPENING_PRONOUNS
    return begins and not {word.key for word in words[at + 2 : at + 8]}.isdisjoint(_BEING)


def _verb_follows(words: Sequence[TextWord], at: int) -> bool:
    """Return whether a verb may stand behind "to": "is to open", but not "due to the weather"."""
    return at < len(words) and words[at].text.islower() and words[at].key not in _NO_VERBS


def _harmless(words: Sequence[TextWord], at: int) -> bool:
    """Return whether what may be a hedge is none here: "her will", "please note", "what you see", "May"."""
    key = words[at].key
    before = words[at - 1].key if at else ""
    after = [word.key for word in words[at + 1 : at + 3]]
    if key == "will":
        return before in ("a", "his", "her", "their", "the", "last", "by") or before == "you"
    if key == "you":
        # "There you see": it speaks to the reader of a place, and asks for nothing.
        return bool({"find", "see", "meet"} & set(after))
    if key == "please":
        return after[:1] in (["note"], ["find"]) or after == ["be", "informed"]
    if key == "may":
        return words[at].text == "May" and at > 0
    return False


def _hearsay(words: Sequence[TextWord], at: int) -> bool:
    """Return whether something is said to be so: "is said to be", "long thought to be"."""
    before = {word.key for word in words[max(0, at - 3) : at]}
    after = words[at + 1].key if at + 1 < len(words) else ""
    return after == "to" and bool(before & {"is", "was", "are", "were", "been"})


def unreal(words: Sequence[TextWord], place: int) -> bool:
    """Return whether a verb stands behind "to" and what does not make it happen: "applied to lead"."""
    at = place - 1
    while at >= 0 and words[at].key in ("be", "have", "been", "also", "jointly", "personally"):
        at -= 1
    if at < 1 or words[at].key != "to":
        return False
    if {word.key for word in words[:at]} & {"took", "takes", "spent", "spends"}:
        return False  # "it took Ada nine years to write"
    return not {word.key for word in words[max(0, at - 2) : at]} & _REAL


def instructs(sentence: str) -> bool:
    """Return whether a sentence speaks to whoever reads it."""
    return bool({w.key for w in words_of(sentence)} & _INSTRUCTIONS)


_INVERSE: Final = frozenset(("belong", "flow", "empt"))
"""Verbs of which the subject is what is had."""
_STATES: Final = words("in at on for of near")


_BARE: Final = words("and is are was were both all the")


def subject_first(
    text: str, words: Sequence[TextWord], place: int, key: str, names: Sequence[str], left: Span, right: Span
) -> bool:
    """Return whether the first of two names is the subject of a relation, by the word that says it."""
    called = names[0].casefold().split() if names else []
    last = called[-1] if called else ""
    told = last in ("of", "to")
    follows = words[place + 1].key if place + 1 < len(words) else ""
    if follows == "of" and key.removesuffix("+by") not in _INVERSE:
        # "The mother of Bob": what comes behind has the mother.
        return (place < left.first) != told
    if left.last <= place and text[words[left.last - 1].end :][:2] in ("'s", "’s"):
        return not told
    passive = key.endswith("+by") or key in _INVERSE
    agent_is_object = last == "by" or (not told and last.endswith(("er", "or", "ist", "ian")))
    if place < left.first or right.last <= place:
        # Beside both names, such as "Directed by Ada, Moss": as the relation is named.
        return not passive if agent_is_object else True
    return passive if agent_is_object else not passive


def stative(
    words: Sequence[TextWord], names: Sequence[Span], left: Span, right: Span, between: Sequence[int]
) -> bool:
    """Return whether a sentence says, of two names alone, how the first is: "Elm focuses on cardiology".

    What happened once is no state: "Elm held a ball in Rome".
    """
    if len(names) != 2 or len(between) < 2 or left.first > 1:
        return False
    if left.first and words[0].key not in ("the", "a"):
        return False
    low = [words[i].text.casefold() for i in between]
    verb = low[0] == "is" or (low[0].endswith("s") and low[0] not in ("was", "has", "does", "as", "s"))
    moving = any(word.endswith(("ing", "ed")) for word in low)
    return verb and not moving and words[right.first - 1].key in _STATES


def beside(sentence: ReadSentence, left: Span, right: Span, between: Sequence[int]) -> bool:
    """Return whether a sentence says in passing how the first of two names is: "Elm, a clinic in Bonn, grew".

    "Elm, in Bonn, grew" and "Elm and Oak are in Bonn" are such, too.
    """
    low = [sentence.words[i].key for i in between]
    if not low or low[-1] not in ("in", "at", "on", "near"):
        return False
    first = "," in sentence.between(left.last - 1, left.last)
    end = sentence.words[right.last - 1].end
    closed = sentence.text[end : end + 1] in (",", "")
    if all(word in _BARE for word in low[:-1]):
        copula = any(word in ("is", "are", "was", "were") for word in low)
        return copula or (first and closed and len(low) == 1)
    steady = not any(word.endswith(("ing", "ed")) for word in low)
    return first and closed and low[0] in ("a", "an") and steady and len(low) < 6


_GOES: Final = {
    "with": words("lies lie lay rests rested is was are were remains"),
    "to": words("went goes go fell falls given"),
    "from": words("came comes come is was are were"),
}
"""Verbs that a preposition goes with, where both only lead from a noun to a name."""
_ANOTHER: Final = words(
    "wife husband widow widower spouse partner fiancee son daughter child children brother sister sibling "
    "mother father parent parents uncle aunt cousin nephew niece grandson granddaughter family heir heirs "
    "descendant friend friends rival rivals competitor competitors enemy enemies opponent neighbour neighbor "
    "pupil pupils student students disciple assistant assistants colleague colleagues deputy successor "
    "predecessor follower followers fan fans admirer admirers critic critics biographer namesake guest "
    "guests style manner spirit wake presence absence memory honour honor death lifetime reign birth "
    "birthday marriage wish wishes will objection objections protest protests example influence portrait "
    "bust statue copy copies imitation replica forgery sequel remake parody frame theft sale review "
    "translation works writings ideas model neighbourhood supporter supporters subsidiary advice logo "
    "website slogan customer customers user users partner partners employee employees clone clones plugin "
    "plugins extension extensions book books dog cat horse house car"
)
"""Nouns that make of a name somebody or something else: "the wife of Ada", "in the style of Ada"."""
_BESIDES: Final = words("alongside beside besides against unlike like than despite")
_STORIES: Final = words("novel novels film films movie story tale book play series game comic")
_AWAY: Final = words(
    "near outside about beyond past towards toward before after without around opposite behind"
)
_RELATIVE: Final = words("which who that whose")
_WHILE: Final = words("while when because although though until unless whereas")
PARTICIPLES: Final = ("ed", "en", "un", "wn", "lt", "de", "ought", "held", "led", "won", "made", "born")
OF: Final = words("of for to in on")
AND: Final = words("and or with as well plus und et y")
COPULA: Final = words("is was are were a an the be been best described as kind sort")
_PLACES: Final = words(
    "in at near on from to during under through into onto for with as against after before"
)
ELSE: Final = words("into for with as against after before during alongside")
LIGHT: Final = words(
    "came comes come went goes go held took place falls fell given began lies lie lay rests rested hands "
    "done made work remains still stood stands sits sat"
)
"""Words that say nothing themselves: "the script came from Ada", "the management lies with Ada"."""


def acting(sentence: ReadSentence, place: int, high: Span) -> bool:
    """Return whether a word is who does what the next word says: "in 1950 the painter finished Moss"."""
    words = sentence.words
    after = words[place + 1].key if place + 1 < high.first else ""
    return place > 0 and words[place - 1].key in ("the", "our") and after.endswith("ed")


def listed(sentence: ReadSentence, place: int) -> list[int]:
    """Return a place and those that are listed with it: "written and directed", "writer-director"."""
    words, found = sentence.words, [place]
    for step in (-1, 1):
        at = place + step
        while 0 <= at < len(words) and words[at].key in ("and", "co", "also", "both", "or"):
            at += step
        joined = (
            sentence.text[words[min(place, at)].end : words[max(place, at)].start]
            if 0 <= at < len(words)
            else ""
        )
        if 0 <= at < len(words) and (abs(at - place) > 1 or joined in ("-", "/", ", ")):
            found.append(at)
    return found


def another(sentence: ReadSentence, span: Span, says: Callable[[int], bool]) -> bool:
    """Return whether not what a name names is spoken of, but what belongs to it, or happens meanwhile."""
    words = sentence.words
    place = span.first - 1
    while place > 0 and words[place].key in ("the", "a", "an"):
        place -= 1
    if place >= 0 and words[place].key in _BESIDES | _WHILE:
        return True
    if place > 0 and words[place].key in ("of", "to", "from", "for") and words[place - 1].key in _ANOTHER:
        return not says(place - 1)
    behind = sentence.text[words[span.last - 1].end :][:2]
    owner = behind in ("'s", "’s", "' ", "’ ") and span.last < len(words)
    return owner and words[span.last].key in _ANOTHER and not says(span.last)


def between_others(sentence: ReadSentence, low: Span, high: Span) -> bool:
    """Return whether what is told of the second of two names is told of another, or of one of several.

    "Moss resembles Fern, which is by Ada" is not of Moss; "by Ada or Bob" leaves it open; "led by Ada until
    1990" is over.
    """
    words = sentence.words
    ends = {span.last for span in sentence.names if span.first >= low.last}
    if any(words[i].key in _RELATIVE and i in ends for i in range(low.last, high.first)):
        return True
    around = [*words[high.first - 1 : high.first], *words[high.last : high.last + 1]]
    past = any(
        word.key in ("was", "were") or word.key.endswith("ed") for word in words[low.last : high.first]
    )
    return bool({word.key for word in around} & {"or", "either"}) or (
        past and any(word.key in ("until", "till") for word in words[high.last : high.last + 3])
    )


def led_elsewhere(sentence: ReadSentence, high: Span, own: frozenset[str]) -> bool:
    """Return whether a preposition that the relation does not have leads to a name: "born near Lund"."""
    words, at = sentence.words, high.first - 1
    while at > 0 and words[at].key in ("the", "a", "an"):
        at -= 1
    away = _AWAY | (frozenset(("to",)) if own & {"in", "at"} else frozenset())
    return at >= 0 and words[at].key in away - own


def in_fiction(sentence: ReadSentence) -> bool:
    """Return whether a sentence tells what happens in a story: "In the novel Fern, Bob is born in Lund"."""
    words = sentence.words
    if len(words) < 4 or words[0].key != "in" or {word.key for word in words[1:4]}.isdisjoint(_STORIES):
        return False
    return any("," in sentence.between(i, i + 1) for i in range(2, len(words) - 1))


def qualifies(sentence: ReadSentence, candidate: Span) -> bool:
    """Return whether a name only says where the place before it is: "in Austin, Texas"."""
    words = sentence.words
    place = next((span for span in sentence.names if span.last == candidate.first), None)
    if place is None or not place.first or "," not in sentence.between(place.last - 1, candidate.first):
        return False
    rest = sentence.text[words[candidate.last - 1].end :].lstrip()
    after = words[candidate.last].key if candidate.last < len(words) else ""
    return (
        words[place.first - 1].key in ("in", "at", "near")
        and after not in AND
        and not (rest.startswith(",") and any(span.first == candidate.last for span in sentence.names))
    )


def apart(words: Sequence[TextWord], between: Sequence[int], after: bool, candidate: Span) -> bool:
    """Return whether a candidate stands in a phrase of its own: "wrote Moss in a small flat in Lyon"."""
    if not after or not between or words[candidate.first].text[0].isdigit():
        return False
    keys = [words[i].key for i in between]
    telling = [
        key
        for i, key in zip(between, keys, strict=True)
        if not is_stopword(words[i].text.casefold()) and key not in LIGHT | COPULA
    ]
    if keys[-1] in _GOES and not set(keys) & _GOES[keys[-1]]:
        return True
    return bool(telling) or keys[0] in _PLACES


def reaches(sentence: ReadSentence, place: int, candidate: Span) -> bool:
    """Return whether a relation word holds for a candidate behind other names: all are listed, or none."""
    words = sentence.words
    low, high = (place + 1, candidate.first) if place < candidate.first else (candidate.last, place)
    names = [span for span in sentence.names if low <= span.first and span.last <= high]
    if place > candidate.first:
        # "Moss, a film by Ada, was made by Bob": what stands between commas is passed over.
        closing = max((i for i in range(low, high) if "," in sentence.between(i, i + 1)), default=-1)
        if "," in sentence.between(low - 1, low) and closing >= 0:
            names = [span for span in names if span.first > closing]
    if not names:
        return True
    by = place < candidate.first and words[candidate.first - 1].key == "by"
    if by and words[place + 1].key != "by":
        return True  # "rendered into English by Ada"
    start, end = (names[0].last, high) if place < candidate.first else (low, names[-1].first)
    if words[candidate.first].text[0].isdigit() and place < candidate.first:
        # "Built by Ada in 1950": when it was, behind who did it.
        commas = any("," in sentence.between(i, i + 1) for i in range(place, candidate.first))
        return len(names) == 1 and words[candidate.first - 1].key in ("in", "from") and not commas
    inside = {i for span in names for i in range(span.first, span.last)}
    return all(words[i].key in AND for i in range(start, end) if i not in inside)
