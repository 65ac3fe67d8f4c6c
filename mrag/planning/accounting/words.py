"""Words of questions: which say how to compute, which say nothing, and which kind of thing is asked for.

The lists are general English; nothing in them depends on a graph.
"""

from __future__ import annotations

from typing import Final

from mrag.planning.lexical.synonyms import positive
from mrag.text.tokens import words

ASKING: Final = words(
    "show list give gimme compare find tell display return name names provide get identify retrieve "
    "report output select print enumerate determine calculate compute count include want know need see "
    "look please let could can would like i me my our your ours yours we us you what which who whom "
    "whose where when how"
)
"""Words that ask, and say nothing of what is asked for."""

EMPTY: Final = words(
    "a an the this that these those there here it its they them their he his him she her himself "
    "herself itself themselves one ones own is are was were be been being am do does did done has have "
    "had having will shall should may might must of in on at by for from to with into onto within as "
    "and or but so if then than too very also just ever even still already currently current now "
    "actually really exactly precisely yet only any some each every all both either neither about "
    "through during across among amongst per via s t d ll re ve m thing things item items entry entries "
    "record records recorded registered database data graph dataset table tables information info "
    "detail details result results value values instance instances object objects distinct unique "
    "different various respective respectively corresponding available associated related given "
    "following existing exist exists existed present certain specific particular individual overall "
    "entire whole kind kinds sort sorts type types includes included including contain contains "
    "contained containing involve involved belong belongs belonging make makes made take takes taken "
    "took gets got gotten use uses used using come comes came go goes went going become becomes became "
    "call called calls named known say says said found turn out up many much few more most less least "
    "fewer other others another such same not no nor why while whether anybody anyone anything somebody "
    "someone something everybody everyone everything people person persons place places together along "
    "altogether total overall number numbers amount amounts counts respect regard regarding concerning "
    "single solely o'clock am pm etc ie eg ok hey hi hello thanks thank quickly exact true correct "
    "right apart besides under over above below between before after since until down off back far away "
    "again once twice times time above"
)
"""Words that need no counterpart in a plan: function words, and nouns and verbs that fit everything."""

LIGHT: Final = words(
    "live lives living lived work works working worked leave leaves left happen happened happens occur "
    "occurred serve serves served attend attends attended offer offers offered offering provides "
    "provided earn earns earned receive receives received lie lies pass passes passed vary varies "
    "differ differs hold holds held play plays played playing stay stays stayed gain gained achieve "
    "achieved obtain obtained feature features run runs ran appear appears appeared perform performs "
    "performed participate participated assign assigned register enroll enrolled join joined bring "
    "brought set handle handles handled carry carries carried keep keeps kept lead leads led deal deals "
    "reach reached put begin start end correspond corresponds represent represented represents last "
    "lasted lasts share shares shared listed spend spent string collect collected collects host hosts "
    "hosted fly flies flew flown file files doing frequently frequent often moment versus vs according "
    "part full figure figures charge outside room well shows showing complete completely totals fact "
    "question answer convert integer round rounded pair pairs combination combinations rest theirs mine "
    "hers whoever whatever stand stands state touch touches based"
)
"""Words that go with any relation; only what the graph itself calls so has to be in the plan."""

NEGATIONS: Final = words(
    "not no never none without neither nor except excluding nobody nothing cannot exclude excludes lack "
    "lacks lacking unless unknown missing absent unspecified undefined dont doesnt didnt isnt arent "
    "wasnt werent havent hasnt hadnt wont"
)
GREATEST: Final = words(
    "most highest greatest largest biggest maximum max top best latest newest longest leading"
)
LEAST: Final = words("least lowest fewest smallest minimum min bottom worst earliest oldest shortest")
SHARES: Final = words("percentage percent share proportion fraction ratio percentages proportions ratios")
AVERAGES: Final = words("average mean avg")
DIVIDING: Final = (
    SHARES
    | AVERAGES
    | words(
        "density densely thinly sparsely capita against per times each rate half out part every twice "
        "double third quarter compared fold"
    )
)
"""Words by which a plan may divide one number by another."""
OPERATING: Final = AVERAGES | words(
    "capita against density densely thinly sparsely sums sum quarter half combined cumulative "
    "difference gap order ordered sorted sort descending ascending alphabetical alphabetically "
    "chronological chronologically increasing decreasing equal equals greater higher larger bigger "
    "longer lower smaller exceeding exceed exceeds later earlier better worse ranging rank ranked "
    "grouped group broken split starting beginning ending starts begins ends containing letter letters "
    "substring word common"
)
"""Words that say how to compute, or how to order what is told."""
PLACES: Final = words(
    "place location city town village country nation state region county province district address "
    "street area continent island site venue room building campus station airport port stadium zone "
    "territory municipality department postcode zip latitude longitude coordinates headquarters home "
    "residence origin destination based located neighborhood neighbourhood suburb planet moon lake sea "
    "river mountain park office branch floor shelf hall theatre theater arena track circuit base born "
    "birthplace borough parish road live lives resides"
)
TIMES: Final = words(
    "date day year month time week hour decade century period season quarter age since start end from "
    "until at on birthday birth death deadline born died founded established opened built began ended "
    "timestamp ts dt dob when"
)
TIMELY: Final = words(
    "duration age term tenure running active way open ongoing valid century centuries decade length "
    "longevity noon midnight morning evening night"
)
"""Words that a plan says by dates and by the time between them."""
MADE: Final = words("publish write make build release produce issue open launch create compose found record")
"""What was done to a thing when it came to be, which is its date."""
ROOM: Final = words("hold seat house accommodate fit carry capacity places")
"""What something does with as many as there is room for."""
CURRENCIES: Final = words("eur usd gbp chf jpy euro euros dollar dollars pound pounds franc francs yen")
PERSONAL: Final = words("birth surname salary wage hire gender sex nationality firstname lastname")
"""Words in the names of what only people have."""
QUANTITIES: Final = words(
    "score scores rate rates level levels figure figures size sizes value points amount price cost "
    "quantity year date time string"
)
"""Nouns behind the name of a number that add nothing: the "snatch score" of a "snatch"."""
HEADS: Final = words(
    "type types result results detail details id ids code codes status date dates description "
    "descriptions number numbers"
)
"""General nouns that are the heads of names: "company type" asks for no company."""
TELLING: Final = words("type types result results status")
GROUPING: Final = words("each every per by across different all respectively for")
IMPERATIVES: Final = words(
    "list show find give gimme compare return display tell get provide name identify report state"
)
LEADING: Final = words("is are was were the a an me us all of each every any different distinct unique out s")
"""Words between what asks and what is asked for."""
ENDING: Final = words(
    "of for in on at from by with without who whose whom that which where when is are was were do does "
    "did has have had to than both through into against containing contains contain named called having "
    "per each whether how what not about as can could will would if after before during between among "
    "over under or can"
)
"""Words that end the noun that is asked for."""
QUESTION_WORDS: Final = words("who what which where when whose whom how")
BEFORE_DEEDS: Final = words(
    "to not never who that do does did has have had been being can could will would they he she you we i"
)
"""Words that stand before verbs."""
SEXES: Final = {
    "m": words("male males man men boy boys"),
    "f": words("female females woman women girl girls lady ladies"),
    "w": words("woman women"),
}
MONTHS: Final = words(
    "january february march april may june july august september october november december jan feb apr "
    "jun jul aug sep oct nov dec monday tuesday wednesday thursday friday saturday sunday mondays "
    "tuesdays wednesdays thursdays fridays saturdays sundays weekend weekends weekday weekdays"
)
FACTORS: Final = (
    1.0,
    7.0,
    12.0,
    24.0,
    60.0,
    100.0,
    365.0,
    1_000.0,
    3_600.0,
    86_400.0,
    604_800.0,
    1_000_000.0,
)
"""What numbers differ by in other units."""


def is_superlative(word: str) -> bool:
    """Return whether a word asks for what is first or last in some measure.

    Example:
        >>> [w for w in ("highest", "cheap", "cheapest", "fewest") if is_superlative(w)]
        ['highest', 'cheapest', 'fewest']
    """
    if word in GREATEST or word in LEAST:
        return True
    plain = positive(word)
    return plain not in (None, word) and word.endswith("est")
