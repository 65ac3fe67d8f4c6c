"""Words that decide how names are spoken of in sentences about class expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mrag.text.tokens import VERBS, words

RESERVED = words(
    "a an and anything as at but each exactly has have is its itself least most no not nothing of one only "
    "or other some something than that the thing things value whatever what which"
)
"""Words of sentences that a name may not have without quotation marks."""

IN_ROLES = words("as at has have is of")
"""Words that the name of a property may have although sentences have them."""

IRREGULAR: Final = {
    "bear": "borne", "begin": "begun", "bite": "bitten", "bring": "brought", "build": "built",
    "buy": "bought", "catch": "caught", "choose": "chosen", "draw": "drawn", "drink": "drunk",
    "drive": "driven", "eat": "eaten", "feed": "fed", "fight": "fought", "find": "found", "fly": "flown",
    "forbid": "forbidden", "forget": "forgotten", "give": "given", "grow": "grown", "hang": "hung",
    "have": "had", "hear": "heard", "hold": "held", "keep": "kept", "know": "known", "lead": "led",
    "lend": "lent", "lose": "lost", "make": "made", "mean": "meant", "meet": "met", "oversee": "overseen",
    "read": "read", "ride": "ridden", "run": "run", "say": "said", "see": "seen", "seek": "sought",
    "sell": "sold", "send": "sent", "set": "set", "sew": "sewn", "show": "shown", "sing": "sung",
    "sit": "sat", "speak": "spoken", "spend": "spent", "stand": "stood", "steal": "stolen", "swim": "swum",
    "take": "taken", "teach": "taught", "tell": "told", "throw": "thrown", "undergo": "undergone",
    "understand": "understood", "wear": "worn", "win": "won", "write": "written", "stop": "stopped",
    "refer": "referred", "admit": "admitted", "emit": "emitted", "transmit": "transmitted",
}  # fmt: skip
"""Past participles that no rule makes."""

ALL_VERBS = VERBS | words(
    "absorb accompany accuse acquire admire admit adopt advertise advise analyse analyze annotate announce "
    "approve arrange arrest assemble assess assist associate authorise authorize avoid believe bring "
    "celebrate choose collect combine compete compile complete compose compute confirm conquer construct "
    "consult consume convert correspond cultivate decide decorate defend denote deploy destroy detect "
    "determine diagnose disable dissolve distribute donate earn educate elect emit encourage entail enter "
    "establish evaluate exceed execute exist expect explain explore expose extract fetch forbid forget "
    "greet hear hire identify illustrate imply improve infect inform initiate inject insert inspect inspire "
    "install instruct interpret investigate invite isolate justify learn lend listen locate lose merge "
    "modify narrate nominate notify observe obtain oppose oversee perceive persuade pollinate prepare "
    "prescribe preserve prohibit propose protect prove pursue realise realize recognise recognize reduce "
    "refine reflect reject rely remember remove renovate respond restore restrict retain retrieve reveal "
    "revise seek select separate simulate solve spend steal stimulate subscribe suffer supervise surpass "
    "survive threaten tolerate transform translate transmit undergo understand validate verify warn weigh"
)
"""Verbs in their plain form, none of which is first of all a noun."""

THIRD_ONLY = words(
    "bite catch chase clean climb cook cost cure drink drive fix guard honour hunt kick launch last load "
    "measure monitor mount paint photograph pick repair rescue throw transport"
)
"""Verbs that are nouns in their plain form, and taken for verbs with an ending only."""

MEASURES = words("contains costs earns holds lasts measures weighs")
"""Verbs that numbers follow."""

ADVERBS = words("also first here last often there together well")

RELATED = words("married related connected linked similar")
"""Participles that go with `to`."""

CAPABLE = words("afraid aware capable full made composed")
"""What goes with `of` without being a noun."""

MASS = words(
    "armour baggage bread butter cash cement cheese clothing cotton data denim electricity equipment "
    "furniture gold grass hair hardware information jewellery jewelry leather luggage machinery meat milk "
    "money music mud oxygen plastic rice sand silk silver snow software steel sugar traffic water wheat "
    "wood wool"
)
"""Nouns that take no article."""

PLURALS: Final = {
    "child": "children", "grandchild": "grandchildren", "man": "men", "woman": "women", "person": "people",
    "foot": "feet", "tooth": "teeth", "mouse": "mice", "leaf": "leaves", "wife": "wives", "life": "lives",
    "analysis": "analyses", "axis": "axes", "basis": "bases", "hypothesis": "hypotheses",
}  # fmt: skip
SINGULARS: Final[Mapping[str, str]] = {more: one for one, more in PLURALS.items()}

ADJECTIVES = words(
    "red blue green yellow black white grey gray brown pink purple tan beige dark light bright long short "
    "open closed big small large little tall wide narrow thick thin old new young happy sad wet dry hot "
    "cold warm plain empty full round square flat bald bent active available free public private hidden "
    "visible alive dead digital manual remote robotic automatic electric optional male female"
)
ADJECTIVE_ENDINGS = (
    "ous", "ful", "less", "able", "ible", "thermic", "tropic", "morphic", "phobic", "philic", "trophic",
    "cyclic", "atomic", "genic", "toxic", "lytic",
)  # fmt: skip

UNITS: Final[Mapping[str, str]] = {
    unit.lower(): unit
    for unit in "kg g mg lb t km m cm mm nm ft km/h mph kWh kW MW GW W V A Hz kHz MHz GHz kB MB GB TB ml "
    "l ha km² m² m³ °C °F K % h min s ms days hours minutes seconds years months weeks bytes".split()
} | {"eur": "euros", "usd": "dollars", "gbp": "pounds", "chf": "francs", "percent": "%", "pct": "%",
     "kmh": "km/h", "sqm": "m²", "sqkm": "km²", "km2": "km²", "m2": "m²", "m3": "m³", "celsius": "°C",
     "years": "years"}  # fmt: skip
"""Units at the ends of names, and how they are written."""
