"""Words by which a text says that a relation holds: those of its names, and those a corpus uses for it.

The second kind is learnt from the passages themselves, without a model: where two entities stand beside each
other that the graph has a triple of, the words between them are taken for ways of saying it (distant
supervision: Mintz, Bills, Snow and Jurafsky, 2009, Distant supervision for relation extraction without
labeled data). A word that goes with several relations says nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Final

from rdflib import Literal, URIRef

from mrag.completion.checks import SCHEMA
from mrag.completion.names import (
    EntityNames,
    PropertyEnds,
    Relations,
    Span,
    TextWord,
    all_names,
    text_of,
    words_of,
)
from mrag.completion.passages import Passage
from mrag.completion.sentences import asserts
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.language.tokens import is_stopword, normalised, stem, words
from mrag.loaders.snippets import sentence_spans
from mrag.rdf import queries

_SENSES: Final[tuple[tuple[str, str], ...]] = (
    ("direct director filmmaker", "by helm helmer directorial filmmaker film+by movie+by documentary+by"),
    ("write author writer wrote screenwriter script screenplay novelist",
     "by pen author script screenplay screenwriter novelist playwright scribe writer novel+by "
     "book+by poem+by "
     "play+by story+by memoir+by essay+by words+by prose+by"),
    ("star actor cast actress",
     "star feature cast act actor actress play portray lead role appear performance"),
    ("perform performer artist singer band",
     "by sing singer perform performer record song+by album+by single+by"),
    ("release year premiere",
     "premiere debut release open show screen launch appear come+out put+out bring+out"),
    ("maintainer maintained maintains", "maintain maintainer maintenance upkeep look+after care responsible"),
    ("platform", "for platform run work install available compatible support"),
    ("programming", "program programming code source implement write"),
    ("publish publisher publication",
     "publish publisher issue print publication imprint appear press+by bring+out come+out "
     "put+out"),
    ("compose composer music", "by compose composer score music soundtrack symphony+by opera+by melody"),
    ("produce producer", "produce producer production"),
    ("genre kind type category", "genre classify categorise categorize"),
    ("language", "language speak tongue"),
    ("born birth birthplace", "born birth birthplace native hail"),
    ("die death died", "die death decease perish pass+away"),
    ("buried burial grave", "bury burial grave tomb inter"),
    ("spouse marry married wife husband partner", "marry spouse wed wife husband bride groom widow widower"),
    ("found founder founded established inception",
     "found founder cofounder establish start create launch inception origin set+up foundation exist "
     "existence institute date+back go+back"),
    ("develop developer made maker creator create",
     "by develop developer make maker build create creator design engineer program"),
    ("manufacturer manufacture", "by manufacture manufacturer make maker build produce assemble"),
    ("invent inventor", "invent inventor devise patent invention+by"),
    ("discover discoverer", "discover discoverer discovery identify"),
    ("paint painter", "by paint painter painting+by canvas+by portrait+by"),
    ("sculptor sculpt", "by sculpt sculptor carve statue+by"),
    ("architect architecture", "by design architect building+by plan"),
    ("capital", "capital seat"),
    ("located location situated place country region",
     "in locate lie situate stand sit base site"),
    ("headquarters headquartered based seat", "headquarters headquarter base office seat"),
    ("live lives residence resides home", "live reside residence home dwell settle inhabit"),
    ("employer employ works employee", "work employ employer employee hire job staff"),
    ("studied educated education alma student university school",
     "study educate graduate attend enrol enroll alumnus degree education"),
    ("taught teacher teach", "teach teacher instruct mentor tutor"),
    ("owner own owned", "own owner belong acquire buy possess proprietor purchase property "
     "fleet sell+to pass+to hand+of"),
    ("captain commander skipper", "captain command commander skipper master helm sail+under serve+under"),
    ("pilot driver rider drives", "pilot drive driver fly ride rider steer"),
    ("build builder built constructed construction",
     "build builder construct constructor construction erect hull lay+down product"),
    ("launch launched", "launch slipway afloat christen"),
    ("port harbour home", "in port harbour base home register registry moor operate sail+out"),
    ("commissioned patron", "commission patron"),
    ("conductor conducted", "conduct conductor baton"),
    ("designer designed", "design designer draft plan"),
    ("cook chef", "cook chef kitchen prepare"),
    ("sponsor funded funder", "sponsor fund finance funding grant"),
    ("host organiser organizer venue", "in host organise organize hold stage venue"),
    ("opened opening inaugurated", "open opening inaugurate unveil"),
    ("closed dissolved closure abolished", "close closure dissolve disband"),
    ("price cost", "price cost"),
    ("population inhabitants", "population inhabitant resident"),
    ("height tall elevation", "height tall tower"),
    ("length long", "length stretch"),
    ("weight weighs", "weight weigh heavy"),
    ("treats treatment cure drug", "treat treatment cure relieve heal prescribe remedy therapy"),
    ("causes caused", "cause trigger provoke"),
    ("symptom", "symptom sign"),
    ("subsidiary parent", "subsidiary parent"),
    ("grown cultivated", "grow cultivate farm harvest"),
    ("curator keeper", "curator curate keeper"),
    ("referee judge", "referee umpire judge whistle"),
    ("neighbouring twin twinned", "twin partner"),
    ("ceo chief executive leader head chair president led",
     "lead leader leadership head chair president ceo chief run boss helm manage charge"),
    ("specialty speciality specialisation specialization specialises focus field",
     "specialise specialize specialty speciality specialist focus concentrate devote expert expertise"),
    ("affiliated affiliation affiliate",
     "affiliate affiliation attach associate association cooperate cooperation collaborate collaboration "
     "partner partnership link connect connection belong"),
    ("mayor", "mayor"),
    ("member", "member belong join membership"),
    ("team club plays", "play club team sign join"),
    ("coach", "coach train trainer manage"),
    ("award won prize win", "win award receive prize honour honor medal laureate"),
    ("nationality citizen citizenship", "nationality citizen citizenship national"),
    ("occupation profession job", "occupation profession job work career trade"),
    ("flows mouth river empties", "flow empty drain mouth discharge"),
    ("crosses spans bridge", "cross span bridge"),
    ("borders border neighbour", "border adjoin neighbour abut"),
    ("influenced influence", "influence inspire inspiration"),
    ("successor succeeded", "succeed successor follow"),
    ("predecessor preceded", "precede predecessor"),
    ("setting set", "set setting unfold play take+place happen"),
    ("mother", "mother"), ("father", "father"), ("child children", "child son daughter"),
    ("label", "label sign"),
    ("character", "character protagonist hero heroine"),
    ("ingredient contains", "contain ingredient include"),
    ("adapted based adaptation", "adapt adaptation base inspire"),
    ("editor edited", "edit editor"),
    ("translator translated", "translate translator translation render"),
    ("illustrator illustrated", "illustrate illustrator illustration drawing picture woodcut"),
    ("narrator narrated", "narrate narrator voice read"),
    ("dedicated dedicatee", "dedicate dedication"),
    # -- works of art and collections
    ("artist creator painter maker creation",
     "by paint painter painting picture canvas brush create creator creation work masterpiece make "
     "maker draw "
     "portrait etching sketch sign finish"),
    ("donor donated donation gift giver benefactor bequest",
     "donate donor donation give gift giver present bequeath bequest leave hand+over generosity grant endow "
     "endowment contribute contribution legacy benefactor"),
    ("lender loan lent", "lend lender loan borrow"),
    ("display displayed exhibited exhibit exhibition room gallery shown hangs hall",
     "in display exhibit exhibition hang show view see house room gallery home keep occupy contain "
     "move stand "
     "hold place find"),
    ("collection museum kept held holder repository",
     "collection museum belong hold holder keep house own part possess preserve repository"),
    ("medium technique material fabric substance",
     "medium technique material make use execute do paint work consist fashion carve cast choose"),
    ("depicts depicted subject motif portrays portrayed", "depict show portray represent picture motif"),
    ("movement style", "style movement manner exemplify"),
    ("restorer restored conservator", "restore restorer restoration conserve conservator repair"),
    ("choreographer choreography", "choreograph choreographer choreography"),
    ("lyricist lyrics librettist libretto", "lyric lyricist libretto librettist words+by text+by write"),
    ("photographer photography cinematographer cinematography",
     "photograph photographer photography cinematographer cinematography camera shoot lens"),
    ("instrument", "instrument play"),
    ("topic subject theme about", "topic subject theme concern discuss examine address explore cover treat"),
    # -- work, firms and trade
    ("client customer commissioner ordered buyer",
     "client customer commission commissioner order contract behalf buyer buy for"),
    ("contractor builder construction",
     "contractor build builder construct construction contract award carry+out execute undertake "
     "hire win do"),
    ("supplier supplies supplied vendor provider supply",
     "supply supplier vendor deliver provide provider source furnish buy+from order+from come+from"),
    ("manager managed manages management supervisor coordinator responsible",
     "manage manager management lead leader leadership head charge run responsible responsibility supervise "
     "supervisor oversee helm command chief coordinate coordinator"),
    ("employer workplace company employee firm",
     "employ employer hire recruit engage payroll | work employee job staff position post serve join"),
    ("colleague collaborator collaborated", "colleague collaborate collaborator collaboration cooperate"),
    ("investor invested backer shareholder", "invest investor investment back+up backer stake "
     "shareholder fund"),
    ("distributor distributed", "distribute distributor distribution market sell"),
    ("operator operated operates", "operate operator operation run manage"),
    ("tenant occupant occupied leased rented", "tenant occupy occupant lease rent let inhabit"),
    ("landlord lessor", "landlord lessor lease rent let"),
    ("product products", "product produce make manufacture sell offer build"),
    ("industry sector branch", "industry sector branch business trade active"),
    ("brand trademark", "brand trademark market sell"),
    ("competitor rival", "competitor compete rival rivalry"),
    ("auditor accountant", "audit auditor accountant"),
    ("lawyer attorney counsel", "lawyer attorney counsel represent defend"),
    ("insurer insured", "insure insurer insurance cover"),
    ("seller sold vendor", "sell seller vendor sale"),
    ("buyer bought purchaser", "buy buyer purchase purchaser acquire"),
    ("secretary assistant deputy", "secretary assistant assist deputy"),
    # -- beginnings and ends
    ("start started beginning began begin commencement inception",
     "start begin beginning commence commencement launch kick+off way open establish date+from go+back "
     "run+since origin"),
    ("end ended finish finished completion completed",
     "end finish complete completion close conclude expire terminate ready"),
    ("creation created origin originated completed made",
     "create creation make paint date finish complete completion originate origin compose produce end work"),
    ("construction constructed built erected",
     "build construct construction erect complete finish rise date+from date+back"),
    ("discovery discovered found", "discover discovery find identify spot detect"),
    ("invention invented", "invent invention devise patent"),
    ("renovated renovation restored restoration", "renovate renovation restore restoration "
     "refurbish modernise"),
    ("planted sown sowing", "plant sow sowing"),
    ("elected election", "elect election vote"),
    ("appointed appointment", "appoint appointment name nominate"),
    # -- teaching and research
    ("teacher taught tutor mentor supervisor advisor adviser",
     "teach teacher instruct instructor mentor tutor train supervise supervisor advise advisor adviser "
     "| pupil student study learn train+under train+with train+in apprentice apprenticeship disciple lesson "
     "class"),
    ("student pupil students pupils disciple",
     "student pupil teach tutor mentor train apprentice disciple supervise | study learn train+under"),
    ("degree graduated", "degree graduate doctorate"),
    ("thesis dissertation", "thesis dissertation"),
    ("researcher investigator scientist", "research researcher investigate investigator study scientist"),
    # -- land, plants and animals
    ("crop crops plant produce harvest cultivates grows",
     "crop grow cultivate plant raise harvest produce farm sow yield specialise specialize"),
    ("animal animals livestock breed breeds keeps raises herd",
     "breed keep raise rear herd livestock flock stock farm graze"),
    ("farmer farmed grower", "farm farmer cultivate work run till tend grower"),
    ("habitat lives found", "live find inhabit habitat occur native range"),
    ("diet eats food feeds", "eat feed diet food prey consume graze"),
    ("predator", "predator prey hunt eat"),
    ("soil", "soil ground earth land"),
    ("species genus family", "species genus family belong"),
    ("color colour", "color paint"),
    ("area size acreage surface", "area size cover acreage extend measure spread surface hectare "
     "acre comprise"),
    ("certified certification certificate certifier", "certify certification certificate"),
    ("veterinarian vet", "vet veterinarian care look+after treat"),
    ("gardener", "gardener garden tend"),
    # -- places and ways
    ("site location located based city town village",
     "in site locate location situate lie stand sit base build find place centre center outskirts edge heart "
     "near situate town city village"),
    ("near nearby next", "near close next adjacent neighbour neighbourhood"),
    ("county district region province state municipality parish",
     "county district region province state municipality parish lie locate situate belong part"),
    ("architect", "draw design plan"),
    ("terminus ends", "terminus terminate end"),
    ("route line serves", "route line serve run"),
    ("depth deep", "depth deep"), ("width wide", "width wide broad"), ("speed fast", "speed fast knot"),
    ("source spring rises", "source spring rise"),
    ("tributary", "tributary join flow"),
    ("patron saint dedicated", "patron saint dedicate consecrate"),
    ("denomination religion faith", "denomination religion faith confession follow practise practice"),
    ("capacity seats", "capacity seat hold accommodate"),
    # -- people
    ("friend friends", "friend friendship befriend"),
    ("sibling brother sister", "sibling brother sister"),
    ("parent parents", "parent mother father | son daughter child"),
    ("rival enemy", "rival enemy opponent oppose"),
    ("guest visitor visited", "guest visit visitor"),
    ("nickname alias known", "nickname alias know call"),
    ("position office post held rank", "position office post hold rank serve appoint elect"),
    ("party", "party belong member join"),
    ("winner victor champion", "win winner victory victor champion championship triumph"),
    ("nominated nominee", "nominate nomination nominee shortlist"),
    ("participant participants participated", "participate participant part compete enter attend"),
    ("opponent", "opponent against face oppose beat defeat"),
    ("guide", "guide lead"),
    ("host presenter moderator", "host present presenter moderate moderator introduce"),
    # -- matter, machines and software
    ("engine motor power fuel", "engine motor power fuel drive run burn propel"),
    ("fuel", "fuel burn run"),
    ("license licence", "license release publish distribute"),
    ("dependency depends requires", "depend dependency require need use rely"),
    ("uses used using", "use employ utilise utilize rely apply"),
    ("part component", "part component belong include contain consist comprise"),
    ("version", "version release"),
    ("replaces replaced", "replace supersede succeed"),
    ("named namesake", "name namesake honour honor"),
)  # fmt: skip


_IRREGULAR: Final = {
    "write": ("wrote", "written"), "sing": ("sang", "sung"), "win": ("won",), "lead": ("led",),
    "die": ("dead",), "teach": ("taught",), "build": ("built",), "make": ("made",),
    "speak": ("spoke", "spoken"),
    "buy": ("bought",), "run": ("ran",), "stand": ("stood",), "sit": ("sat",), "lie": ("lying", "lay"),
    "come": ("came",),
    "bring": ("brought",), "take": ("took", "taken"), "begin": ("began", "begun"),
    "dwell": ("dwelt",), "find": ("found",), "fly": ("flew", "flown"), "drive": ("drove", "driven"),
    "ride": ("rode", "ridden"),
    "lay": ("laid",), "hold": ("held",), "grow": ("grew", "grown"), "pay": ("paid",), "sell": ("sold",),
    "draw": ("drew", "drawn"), "give": ("gave", "given"), "leave": ("left",), "hang": ("hung",),
    "show": ("shown",), "keep": ("kept",), "feed": ("fed",), "eat": ("ate", "eaten"), "rise": ("rose",),
    "choose": ("chose", "chosen"), "do": ("does", "did", "done", "doing"), "learn": ("learnt",),
    "lend": ("lent",), "breed": ("bred",), "go": ("went", "gone", "goes"), "let": ("letting",),
    "shoot": ("shot",), "know": ("known",), "sow": ("sown",), "see": ("seen",),
}  # fmt: skip


def further(own: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys of further words that say a relation, from the stems of the words of its names.

    The second are those that say it the other way round: of a teacher "the pupil of Ada".
    """
    senses = [(says, back) for heads, says, back in _senses() if heads & own]
    forth = frozenset(key for says, _ in senses for key in says) - own
    return forth, frozenset(key for _, back in senses for key in back) - own


@lru_cache(maxsize=1)
def _senses() -> tuple[tuple[frozenset[str], frozenset[str], frozenset[str]], ...]:
    found = []
    for heads, text in _SENSES:
        says, _, back = text.partition("|")
        found.append((_keys(heads), _keys(says), _keys(back)))
    return tuple(found)


def _keys(text: str) -> frozenset[str]:
    """Return the stems of some words in all their forms, since a stem does not bring all of them together."""
    found: set[str] = set()
    for word in text.split():
        plain, plus, particle = word.partition("+")
        found.update(stem(form) + plus + particle for form in _forms(plain))
    return frozenset(found)


def _forms(word: str) -> list[str]:
    base = word[:-1] if word.endswith("e") else word
    forms = [word, f"{word}s", f"{base}ed", f"{base}ing", f"{base}er", *_IRREGULAR.get(word, ())]
    if word.endswith("y"):
        forms += [f"{word[:-1]}ied", f"{word[:-1]}ies"]
    if len(word) > 2 and word[-1] in "bdgmnprt" and word[-2] in "aeiou" and word[-3] not in "aeiou":
        forms += [f"{word}{word[-1]}ed", f"{word}{word[-1]}ing"]
    return forms


_MAX_PASSAGES: Final = 4000
_MAX_WORDS: Final = 60
_MAX_SPANS: Final = 8
_BETWEEN: Final = 12
WINDOW: Final = 5
"""How many words beside two names may say how they are related, where none between them does."""

_MIN_PLACES: Final = 4
_PURE: Final = 0.7
_PARTICLES: Final = words("by out away up place under down back after")
_PHRASES: Final = words("from over off for of with at on to since under")
"""Particles that make a word say something else, and that passages do not teach."""

_VERBS: Final = frozenset(("find", "give", "show"))
"""Verbs that say nothing in a question, and something in a text."""

_CLAUSES: Final = words("which who whom whose while because but")
_COMMON: Final = frozenset(stem(word) for word in ("year", "date", "place", "name", "number", "time"))
"""Words of names such as "release year" that say nothing where there are others."""

_AHEAD: Final = 0.12
_SAID: Final = 0.6
"""How surely a word that is not a relation's own says it."""


@dataclass(frozen=True)
class RelationWord:
    """A word that says a relation."""

    relations: tuple[tuple[str, float], ...]
    learnt: bool


@dataclass
class RelationWords:
    """The words that say a graph's relations."""

    words: dict[str, list[RelationWord]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    forward: dict[tuple[str, str], float] = field(default_factory=dict)
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inverse: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, kg: KnowledgeGraph, passages: Sequence[Passage] = ()) -> RelationWords:
        """Return the words of a graph's relations, and those that some passages teach; kept by the graph."""
        step = max(1, len(passages) // _MAX_PASSAGES)
        some = list(passages[::step])
        name = "completion words " + hashlib.sha256("\n".join(p.iri for p in some).encode()).hexdigest()
        return kg.cached(name, lambda: cls._build(kg, some))

    @classmethod
    def _build(cls, kg: KnowledgeGraph, passages: Sequence[Passage]) -> RelationWords:
        made = cls()
        lexical: defaultdict[str, set[str]] = defaultdict(set)
        relations = [r for r in Relations.of(kg).all if not str(r.iri).startswith(SCHEMA)]
        relations = [r for r in relations if str(r.iri) not in LABELS]
        for relation in relations:
            for name in relation.names:
                own = [key.partition("+")[0] for key, _ in keys(words_of(name), range(len(words_of(name))))]
                for key in [key for key in own if key not in _COMMON] or own:
                    lexical[key].add(str(relation.iri))
        for key, said_by in lexical.items():
            share = 1 / len(said_by)
            made.words[key] = [RelationWord(tuple((r, share) for r in sorted(said_by)), False)]
        ends = PropertyEnds.of(kg)
        made._say(
            lexical,
            {r for r in map(str, (one.iri for one in relations)) if ends.shape("object", r).numbers > 0.5},
        )
        made.names = frozenset(normalised(name) for r in Relations.of(kg).all for name in r.names)
        made._learn(kg, passages)
        return made

    def _say(self, lexical: Mapping[str, Collection[str]], numeric: Collection[str]) -> None:
        """Add what English says for the relations.

        Of a word that goes with several of them, what stands beside it has to tell which one is said.
        """
        own: defaultdict[str, set[str]] = defaultdict(set)
        for key, said_by in lexical.items():
            for relation in said_by:
                own[relation].add(key)
        said: defaultdict[str, set[str]] = defaultdict(set)
        for relation, stems in own.items():
            forth, back = further(frozenset(stems))
            self.inverse.update((key, relation) for key in back - forth)
            for key in forth | back:
                said[key].add(relation)
        for key, relations in said.items():
            owners = {r in numeric for r in lexical.get(key, ())}
            told = tuple(r for r in sorted(relations) if (r in numeric) not in owners)
            if len(told) == 1:
                self.words.setdefault(key, []).append(RelationWord(((told[0], _SAID),), False))
            elif told:
                self.shared[key] = told

    def at(
        self, words: Sequence[TextWord], place: int, possible: Callable[[str], bool] | None = None
    ) -> dict[str, tuple[float, str]]:
        """Return what the word at a place says: for each relation how surely, and by which word."""
        found: dict[str, tuple[float, str]] = {}
        for key, _ in keys(words, [place]):
            plain = key.partition("+")[0]
            phrases = [f"{plain}+{particle}" for particle in _behind(words, place)]
            phrase = next((one for one in phrases if one in self.words or one in self.shared), "")
            for name in (phrase,) if phrase else _readings(key, {*self.words, *self.shared}):
                for word in self.words.get(name, ()):
                    for relation, share in word.relations:
                        sure = min(0.9, 0.5 + 0.4 * share) if word.learnt else 0.6 + 0.2 * share
                        if sure > found.get(relation, (0.0, ""))[0]:
                            found[relation] = sure, phrase or key
                shared = [r for r in self.shared.get(name, ()) if possible is not None and possible(r)]
                if len(shared) == 1 and not any(possible is None or possible(r) for r in found):
                    found = {shared[0]: (0.6 + 0.2 * _SAID, phrase or key)}
        return found

    def linking(self, preposition: str, possible: Callable[[str], bool]) -> str:
        """Return the relation that a preposition says by itself between two kinds; empty if not one alone."""
        told = [r for word in self.words.get(preposition, ()) for r, _ in word.relations if not word.learnt]
        alive = sorted({r for r in (*told, *self.shared.get(preposition, ())) if possible(r)})
        return alive[0] if len(alive) == 1 else ""

    def _learn(self, kg: KnowledgeGraph, passages: Sequence[Passage]) -> None:
        total: Counter[str] = Counter()
        holds: Counter[tuple[str, str]] = Counter()
        ahead: Counter[tuple[str, str]] = Counter()
        trust: Counter[str] = Counter()
        pairs = list(_pairs(EntityNames.of(kg), passages, self.names))
        linked = _linked(kg, {(a, b) for _, _, lefts, rights in pairs for a in lefts for b in rights})
        for between, every, lefts, rights in pairs:
            named = {relation for key in every for relation in self._named(key)}
            here = {
                (relation, forward)
                for a in lefts
                for b in rights
                for one, other, forward in ((a, b, True), (b, a, False))
                for relation in linked.get((one, other), ())
            }
            if named:
                # A sentence that has words of a relation's own speaks of that one. Where the graph has only
                # others of the pair, what it knows of those does not tell what texts say.
                said = {relation for relation, _ in here if relation in named}
                trust.update(said)
                trust.subtract({relation for relation, _ in here} if not said else ())
                here = {one for one in here if one[0] in said}
            for key in dict.fromkeys(between) if here else ():
                total[key] += 1
                holds.update((key, relation) for relation in {relation for relation, _ in here})
                ahead.update((key, relation) for relation, forward in here if forward)
        held: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for (key, relation), count in holds.items():
            held[key][relation] = count
        for key, seen in sorted(total.items()):
            shares = {relation: count / seen for relation, count in held[key].items()}
            best, *others = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
            # Who directs a film has often written it too: what holds most often is what is said.
            clear = best[1] >= _PURE and (not others or others[0][1] <= best[1] - _AHEAD)
            # A relation is read by its own words, whatever else holds of those whom it links.
            others_own = self._named(key) - {best[0]}
            pure = [best] if clear and not others_own and trust[best[0]] >= 0 else []
            if seen >= _MIN_PLACES and pure:
                # What the corpus says of a word comes before what the relations' names suggest.
                kept = [word for word in self.words.get(key, ()) if not word.learnt]
                self.words[key] = [RelationWord(tuple(pure), True), *(() if seen >= 10 else kept)]
                self.forward.update(((key, r), ahead[key, r] / holds[key, r]) for r, _ in pure)

    def _named(self, key: str) -> set[str]:
        """Return the relations that a word says by itself."""
        known = [
            word
            for name in _readings(key, self.words)
            for word in self.words.get(name, ())
            if not word.learnt
        ]
        return {relation for word in known for relation, _ in word.relations}


def keys(words: Sequence[TextWord], places: Iterable[int]) -> Iterator[tuple[str, int]]:
    """Yield the keys of some words, with their places; words without meaning have none.

    Example:
        >>> list(keys(words_of("was directed by"), range(3)))
        [('direct+by', 1)]
    """
    for at in places:
        word = words[at]
        small = word.text.casefold()
        if (is_stopword(small) and small not in _VERBS) or not word.key or word.key[0].isdigit():
            continue
        after = words[at + 1].key if at + 1 < len(words) else ""
        yield stem(word.key) + (f"+{after}" if after in _PARTICLES else ""), at


def _behind(words: Sequence[TextWord], place: int) -> list[str]:
    """Return particles that go with a word: the next word, or that behind a name: "handed Moss over to"."""
    after = place + 1
    found = [words[after].key] if after < len(words) and words[after].key in _PHRASES else []
    while after < len(words) and words[after].text[:1].isupper():
        after += 1
    if place + 1 < after < len(words) and words[after].key in ("over", "off"):
        found.append(words[after].key)
    return found


def _readings(key: str, known: Collection[str]) -> tuple[str, ...]:
    """Return what a key may be known as: with its particle, and without where that changes nothing."""
    plain, _, particle = key.partition("+")
    return (key,) if particle not in ("", "by") and key in known else (key, plain)


def _is(words: Sequence[TextWord], at: int) -> bool:
    return at < len(words) and words[at].key in ("is", "was", "are", "were")


def around(words: Sequence[TextWord], left: Span, right: Span, taken: Collection[int]) -> list[int]:
    """Return the places behind a pair of names and before it, nearest first, up to the next names."""
    after = range(right.last, min(len(words), right.last + WINDOW))
    before = range(left.first - 1, max(-1, left.first - 1 - WINDOW), -1)
    ends = {i for i in after if words[i].key in _CLAUSES and not _is(words, i + 1)}
    return [
        i for places in (after, before) for i in takewhile(lambda i: i not in taken and i not in ends, places)
    ]


_Pair = tuple[list[str], list[str], list[str], list[str]]


def _pairs(names: EntityNames, passages: Iterable[Passage], skip: frozenset[str]) -> Iterator[_Pair]:
    """Yield the keys between entities that stand beside each other, and what both may be."""
    for passage in passages:
        for start, end in sentence_spans(passage.text):
            sentence = passage.text[start:end]
            words = words_of(sentence)
            if not 3 < len(words) <= _MAX_WORDS:
                continue
            spans = all_names(sentence, words, names, skip)
            if not 2 <= len(spans) <= _MAX_SPANS or not asserts(sentence, spans):
                continue
            taken = {i for span in spans for i in range(span.first, span.last)}
            every = [key for key, _ in keys(words, (i for i in range(len(words)) if i not in taken))]
            for left, right in pairwise(spans):
                if not 0 <= right.first - left.last <= _BETWEEN:
                    continue
                between = [key for key, _ in keys(words, range(left.last, right.first))]
                if not between:
                    between = [key for key, _ in keys(words, around(words, left, right, taken))]
                if between:
                    meant = [_meant(sentence, words, span, names) for span in (left, right)]
                    yield between, every, meant[0], meant[1]


def _meant(sentence: str, words: Sequence[TextWord], span: Span, names: EntityNames) -> list[str]:
    return [str(c.term) for c in names.exact(text_of(sentence, words, span))[:3]]


def _linked(kg: KnowledgeGraph, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    """Return which relations the graph has between entities, in their direction."""
    both = sorted(pairs | {(b, a) for a, b in pairs})
    query = queries.get("completion/predicates")
    rows = [(Literal(n), URIRef(a), URIRef(b)) for n, (a, b) in enumerate(both)]
    found: dict[tuple[str, str], set[str]] = {}
    for text in query.batches(query.params[0], rows, limit=1_000_000):
        for _, s, p, o in kg.select(text):
            found.setdefault((str(s), str(o)), set()).add(str(p))
    return found
