"""Words of questions: which say how to compute, which say nothing, and which kind of thing is asked for."""

from __future__ import annotations

from typing import Final

from mrag.text.english import words

ASKING: Final = words(
    "show list give find tell display return name names provide get identify retrieve report output select "
    "print enumerate determine calculate compute count include want know need see look please let could can would like "
    "i me my our your ours yours we us you what which who whom whose where when how"
)
"""Words that ask, and say nothing of what is asked for."""

EMPTY: Final = words(
    "a an the this that these those there here it its they them their he his him she her himself herself itself themselves one ones own "
    "is are was were be been being am do does did done has have had having will would shall should can could may might must "
    "of in on at by for from to with into onto within as and or but so if then than too very also just ever even still "
    "already currently current now actually really exactly precisely yet only any some each every all both either "
    "about through during across among amongst per via s t d ll re ve m "
    "thing things item items entry entries record records recorded registered database data graph dataset table "
    "information info detail details result results value values instance instances object objects "
    "distinct unique different various respective respectively corresponding available associated related "
    "given following existing exist exists existed present certain specific particular individual overall entire whole "
    "kind kinds sort sorts type types include includes included including contain contains contained involve involved "
    "belong belongs belonging make makes made take takes taken took get gets got gotten use uses used using come comes came "
    "go goes went going become becomes became call called names named known say says said found find turn out up "
    "many much few more most less least fewer other others another such same not no nor "
    "how what which who whom whose where when why while whether anybody anyone anything somebody someone something "
    "everybody everyone everything people person persons place places "
    "together along altogether total overall number numbers amount amounts count counts respect regard regarding concerning "
    "single solely o'clock am pm etc ie eg ok hey hi hello thanks thank quickly exact "
    "under over above below between before after since until up down off back far away again once twice times time"
)
"""Words that need no counterpart in a plan: function words, and nouns and verbs that fit everything."""

LIGHT: Final = words(
    "live lives living lived work works working worked leave leaves left happen happened happens occur occurred serve serves "
    "served attend attends attended offer offers offered offering provide provides provided earn earns earned receive receives "
    "received lie lies pass passes passed vary varies differ differs hold holds held play plays played playing stay stays "
    "stayed gain gained achieve achieved obtain obtained feature features run runs ran appear appears appeared perform performs "
    "performed participate participated assign assigned register registered enroll enrolled join joined bring brought set "
    "handle handles handled carry carries carried keep keeps kept lead leads led deal deals reach reached put begin start end "
    "share shares shared list listed order orders spent spend string collect collected collects host hosts hosted fly flies flew flown file files do doing frequently frequent often moment versus vs according part full figure figures charge outside room well "
    "show shows showing full complete completely total totals detail fact question answer convert integer whole round rounded "
    "pair pairs combination combinations rest theirs mine yours hers ours whoever whatever"
)
"""Words that go with any relation; only what the graph itself calls so has to be in the plan."""

NEGATIONS: Final = words(
    "not no never none without neither nor except excluding nobody nothing cannot exclude excludes lack lacks lacking unless "
    "dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont"
)
GREATEST: Final = words("most highest greatest largest biggest maximum max top best latest newest longest leading")
LEAST: Final = words("least lowest fewest smallest minimum min bottom worst earliest oldest shortest")
SHARES: Final = words("percentage percent share proportion fraction ratio percentages proportions ratios")
PLACES: Final = words(
    "place location city town village country nation state region county province district address street area "
    "continent island site venue room building campus station airport port stadium zone territory municipality "
    "department postcode zip latitude longitude coordinates headquarters home residence origin destination "
    "based located neighborhood neighbourhood suburb planet moon lake sea river mountain park office branch floor shelf "
    "hall theatre theater arena track circuit base born birthplace quarter borough parish road track"
)
TIMES: Final = words(
    "date day year month time week hour decade century period season quarter age since start end from until to at on "
    "birthday birth death deadline born died founded established opened built began ended timestamp ts dt dob when"
)
MONTHS: Final = {m: n for n, m in enumerate("january february march april may june july august september october november december".split(), 1)}
MONTHS.update({m[:3]: n for m, n in list(MONTHS.items()) if m != "march"})
