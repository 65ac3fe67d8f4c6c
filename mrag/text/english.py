"""Word lists of the answers that are made without a language model."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Make a set of the words of a text.

    Example:
        >>> sorted(words("to be or not to be"))
        ['be', 'not', 'or', 'to']
    """
    return frozenset(text.split())


IRREGULAR: dict[str, str] = {
    "wrote": "write",
    "written": "write",
    "made": "make",
    "built": "build",
    "began": "begin",
    "begun": "begin",
    "born": "birth",
    "led": "lead",
    "held": "hold",
    "sold": "sell",
    "bought": "buy",
    "ran": "run",
    "gave": "give",
    "given": "give",
    "took": "take",
    "taken": "take",
    "knew": "know",
    "known": "know",
    "children": "child",
    "people": "person",
    "men": "man",
    "women": "woman",
    "cities": "city",
    "licence": "license",
    "licences": "license",
    "colour": "color",
    "colours": "color",
    "coloured": "color",
}
"""Forms that no ending gives away, to the form they are ranked by."""

NEGATIONS = words(
    "not no never none neither nor cannot without except excluding unlike nobody nothing nicht kein "
    "keine keinen keiner ohne nie non pas jamais sans sin nunca ningún ninguna senza mai nessun nessuna"
)
"""Words that turn a statement round."""

YES = words("yes yeah yep ja oui sì sí si correct right indeed")
NO = words("no nope nein non incorrect wrong")
PRONOUNS = words(
    "it its they their he his she her this these that those both er sie es ihr ihre sein seine il elle "
    "ils elles lui lei esso essa el ella ellos ellas su sus"
)
"""First words of a sentence that goes on about what the sentence before was about."""

LEGAL_FORMS = words(
    "inc ltd llc gmbh corp corporation company co plc ag sa srl spa bv ab oy kg se foundation"
)
"""Ends of firms' names that are often left out."""

PREPOSITIONS = words(
    "about above after against as at before behind below beside between by during for from in into near "
    "of off on onto out over than through to toward under until upon via with within without"
)

VERBS = words(
    "achieve act affect activate allow appear apply assign attend belong border build buy call carry "
    "cause chair cite come conduct connect consist contain contribute control cover create define "
    "deliver depend derive describe design develop direct discover divide eat edit embed employ enable "
    "encode equal exclude exhibit express extend face feature feed fight fly follow force form found "
    "fund generate give govern grow handle hang hate have help hold host implement import include "
    "indicate inhabit inhibit inherit integrate interact interoperate introduce invent invest join keep "
    "kill know lack lead lean lie like live look love maintain make manage manufacture marry mean "
    "measure meet mention move need obey occur offer open operate orbit organise organize originate own "
    "participate pass perform play point possess precede prefer present prevent produce promote provide "
    "publish pull push qualify rank read receive recommend refer regulate relate release remain render "
    "replace report represent require resemble reside rest result reuse ride rule run satisfy say see "
    "sell send serve share show sing sit speak specialise specialize specify sponsor stand star start "
    "stop store study succeed suggest supply support surround swim take talk target teach tell test "
    "touch train treat trigger use visit voice walk watch wear win work write"
)
"""Verbs that name relations in knowledge graphs, in their plain form."""

PERSON_WORDS = words(
    "person human character actor actress director writer author artist man woman people employee "
    "player politician scientist agent singer musician child son daughter father mother brother sister "
    "grandfather grandmother user customer client member student teacher instructor patient doctor "
    "manager owner salesperson reviewer individual musician composer researcher driver pilot captain nurse "
    "critic judge chef host guide voter donor "
    "physician professor buyer guest seller tenant coach technician engineer veterinarian vet staff worker "
    "skipper sailor bidder borrower lender passenger traveller traveler tourist visitor subscriber applicant "
    "candidate referee umpire trainer supervisor assistant trainee intern painter poet novelist dancer "
    "farmer lawyer attorney clerk officer runner athlete swimmer cyclist rider jockey climber scholar "
    "mechanic consultant contractor inspector lecturer librarian resident citizen performer conductor "
    "adjuster adviser advisor holder policyholder cardholder shareholder insured claimant principal pupil "
    "learner mayor governor president minister senator landlord dentist surgeon therapist pharmacist "
    "photographer journalist illustrator narrator sculptor architect curator collector "
    "programmer analyst accountant auditor cashier waiter bartender baker carpenter plumber "
    "electrician gardener courier firefighter soldier goalkeeper midfielder defender striker skier boxer "
    "golfer gymnast king queen emperor monarch pope bishop priest monk saint"
)
"""Types whose members are not called "it"."""

AGENTS = words(
    "agency agent airline band bank brand broker club committee company corporation council developer firm "
    "government group institution institute lab laboratory label maker manufacturer ministry operator "
    "orchestra organisation organization party producer provider publisher school studio supplier team "
    "university vendor"
)
"""Types besides people whose members do things: one asks for them by "who"."""

_PLACE = words(
    "located headquarters headquartered based place city country continent homeworld lives born birthplace "
    "situated address region seat"
)
_HOME = words("homeworld home lives residence resides dwells address")
_TIME = words(
    "year date time birth born released founded day started began first published created inception"
)
_MAKE = words("develops makes creates builds produces manufactures designs vendor")
_OFFER = words("feature supports offers provides capability function enables includes allows has")
_LINK = words("linked related connected associated interoperates integrates")
_ACT = words("acted starred cast plays actor performer")

SYNONYMS: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (words("where"), _PLACE),
    (words("when"), _TIME),
    (words("make create build produce maker developer develop vendor company manufacturer"), _MAKE),
    (words("create creator made"), words("author creator")),
    (words("support offer provide capability function feature"), _OFFER),
    (words("link relate connect interoperate integrate work"), _LINK),
    (words("act star cast actor actress appear play"), _ACT),
    (words("located headquartered based situated"), _PLACE),
    (words("live reside dwell"), _HOME),
    (
        words("author write writer screenwriter screenplay script wrote"),
        words("written author writer screenwriter"),
    ),
    (words("found founder"), words("founded created established")),
    (words("win wins won winner prize award"), words("won winner award awarded prize laureate medal")),
    (words("size"), words("size area population diameter")),
    (words("mass"), words("mass weight")),
    (words("birth"), words("birth born birthyear age")),
    (words("date"), words("date year")),
    (words("director direct"), words("directed director")),
)
"""Words of questions, and words of predicates that mean much the same, in whatever form."""

LIGHT = words(
    "appear belong carry come contain feature find give go have hold include keep like list name offer order "
    "return serve show take tell"
)
"""Verbs that relate two things without saying how; beside a noun that does, they say nothing more."""

VAGUE = words(
    "between difference different compare thing things another good best well use kind sort type example "
    "related say "
    "mean explain describe overview information fact get want need help possible many number count total "
    "exist available there have work now currently"
)
"""Words that a question may hold without wanting them covered."""

DEEDS = words("get need use work exist want help") & VAGUE
"""Those of them that say, beside names alone, what is asked of these: "What do I need for X?"."""
