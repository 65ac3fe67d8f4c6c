"""English ways of saying common relations: what a text may say instead of a relation's own words.

Each line is one sense: words that relations are named with, and further words that say as much. They are
general English, no one's data. Words behind a bar say it the other way round. A word with a particle counts
with it alone: "a novel by" tells who wrote it, "a novel" does not, and "came out" tells of a release. A
preposition stands for itself: "Moss is by Ada".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from mrag.text.tokens import stem

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

    Example:
        >>> [sorted(keys) for keys in further(frozenset(["helm"]))]
        [[], []]
        >>> "pen" in further(frozenset([stem("written")]))[0], "pupil" in further(frozenset(["teach"]))[1]
        (True, True)
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
