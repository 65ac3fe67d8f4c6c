"""A made graph of lands: the states, cities and rivers of Germany."""

# ruff: noqa: E501 (tables of data)

from __future__ import annotations

from statistics import mean

from made_things import Asked, Thing, names, turtle

_STATES = """
Baden-Württemberg|Stuttgart|11100000|35752|Feldberg|1493|Mannheim plain|85|Bavaria,Hesse,Rhineland-Palatinate
Bavaria|Munich|13100000|70550|Zugspitze|2962|Kahl am Main|102|Baden-Württemberg,Hesse,Thuringia,Saxony
Berlin|Berlin|3660000|892|Arkenberge|122|Spektesee|28|Brandenburg
Brandenburg|Potsdam|2530000|29654|Kutschenberg|201|Oderbruch|1|Berlin,Mecklenburg,Lower Saxony,Saxony-Anhalt,Saxony
Bremen|Bremen|680000|419|Friedehorstpark|33|Werderland|0|Lower Saxony
Hamburg|Hamburg|1850000|755|Hasselbrack|116|Neuenfelde|-1|Lower Saxony,Schleswig-Holstein
Hesse|Wiesbaden|6290000|21115|Wasserkuppe|950|Lorchhausen|73|Baden-Württemberg,Bavaria,Thuringia,\
Lower Saxony,North Rhine-Westphalia,Rhineland-Palatinate
Lower Saxony|Hanover|8000000|47710|Wurmberg|971|Freepsum|-2|Bremen,Hamburg,Schleswig-Holstein,Mecklenburg,\
Brandenburg,Saxony-Anhalt,Thuringia,Hesse,North Rhine-Westphalia
Mecklenburg|Schwerin|1610000|23214|Helpter Berge|179|Bargischow|0|Brandenburg,Lower Saxony,Schleswig-Holstein
North Rhine-Westphalia|Düsseldorf|17900000|34113|Langenberg|843|Zyfflich|9|Lower Saxony,Hesse,Rhineland-Palatinate
Rhineland-Palatinate|Mainz|4100000|19858|Erbeskopf|816|Hagenbach|60|Baden-Württemberg,Hesse,\
North Rhine-Westphalia,Saarland
Saarland|Saarbrücken|980000|2570|Dollberg|695|Perl|130|Rhineland-Palatinate
Saxony|Dresden|4060000|18450|Fichtelberg|1215|Torgau meadow|73|Bavaria,Brandenburg,Saxony-Anhalt,Thuringia
Saxony-Anhalt|Magdeburg|2180000|20452|Brocken|1141|Wittenberge|17|Brandenburg,Lower Saxony,Saxony,Thuringia
Schleswig-Holstein|Kiel|2910000|15804|Bungsberg|168|Neuendorf|-4|Hamburg,Lower Saxony,Mecklenburg
Thuringia|Erfurt|2120000|16202|Großer Beerberg|983|Wiehe|114|Bavaria,Hesse,Lower Saxony,Saxony,Saxony-Anhalt
"""
_CITIES = """
Baden-Württemberg:Stuttgart 626000,Mannheim 309000,Karlsruhe 306000,Heidelberg 159000
Bavaria:Munich 1488000,Nuremberg 511000,Augsburg 296000,Regensburg 153000,Neustadt 12000
Berlin:Berlin 3660000|Brandenburg:Potsdam 182000,Cottbus 98000,Frankfurt 57000
Bremen:Bremen 563000,Bremerhaven 113000|Hamburg:Hamburg 1850000
Hesse:Frankfurt 759000,Wiesbaden 278000,Kassel 201000,Darmstadt 159000,Neustadt 9000
Lower Saxony:Hanover 535000,Brunswick 248000,Oldenburg 170000|Mecklenburg:Rostock 208000,Schwerin 95000
North Rhine-Westphalia:Cologne 1083000,Düsseldorf 620000,Dortmund 587000,Essen 579000,Bonn 331000,Aachen 249000
Rhineland-Palatinate:Mainz 217000,Koblenz 114000,Trier 111000,Neustadt 53000|Saarland:Saarbrücken 179000
Saxony:Leipzig 601000,Dresden 555000,Chemnitz 243000|Saxony-Anhalt:Magdeburg 236000,Halle 238000
Schleswig-Holstein:Kiel 246000,Lübeck 216000|Thuringia:Erfurt 213000,Jena 110000,Gera 93000
"""
_RIVERS = """
Rhine 865:Baden-Württemberg,Rhineland-Palatinate,Hesse,North Rhine-Westphalia
Elbe 727:Saxony,Saxony-Anhalt,Brandenburg,Lower Saxony,Mecklenburg,Schleswig-Holstein,Hamburg
Danube 647:Baden-Württemberg,Bavaria
Main 527:Bavaria,Baden-Württemberg,Hesse
Weser 451:Lower Saxony,Hesse,North Rhine-Westphalia,Bremen
Saale 413:Bavaria,Thuringia,Saxony-Anhalt
Spree 379:Saxony,Brandenburg,Berlin
Ems 371:North Rhine-Westphalia,Lower Saxony
Neckar 362:Baden-Württemberg,Hesse
Havel 334:Mecklenburg,Berlin,Brandenburg,Saxony-Anhalt
Werra 300:Thuringia,Hesse
Isar 264:Bavaria
Inn 218:Bavaria
Moselle 208:Rhineland-Palatinate
Oder 187:Brandenburg,Mecklenburg
"""
_MOUNTAINS = """Zugspitze 2962 Bavaria|Watzmann 2713 Bavaria|Großer Arber 1456 Bavaria|Feldberg 1493 Baden-Württemberg
|Fichtelberg 1215 Saxony|Brocken 1141 Saxony-Anhalt|Wasserkuppe 950 Hesse|Langenberg 843 North Rhine-Westphalia
|Erbeskopf 816 Rhineland-Palatinate|Wurmberg 971 Lower Saxony|Großer Beerberg 983 Thuringia"""
_LAKES = """Constance 536 Baden-Württemberg,Bavaria|Müritz 113 Mecklenburg|Chiemsee 80 Bavaria|Plau 38 Mecklenburg
|Schwerin 61 Mecklenburg|Starnberg 56 Bavaria|Steinhude 29 Lower Saxony|Plön 30 Schleswig-Holstein"""


def _split(text: str, between: str = "\n") -> list[str]:
    """Return the parts of a text that are not empty."""
    return [part.strip() for part in text.split(between) if part.strip()]


def germany() -> tuple[str, list[Asked]]:
    """Return the graph of the states of Germany, and questions."""
    rows = [line.split("|") for line in _split(_STATES)]
    land = Thing("Country", "Germany", {})
    states = {
        name: Thing(
            "State",
            name,
            {"stateName": name, "population": int(p), "area": float(a), "density": round(int(p) / int(a), 1)}
            | {"capital": capital, "country": land},
        )
        for name, capital, p, a, *_ in rows
    }
    for name, *_, borders in rows:
        states[name].values["borders"] = [states[b] for b in borders.split(",")]
    extremes = [
        Thing("HighLow", f"high and low points of {r[0]}", {"ofState": states[r[0]], "highestPoint": r[4]}
        | {"highestElevation": int(r[5]), "lowestPoint": r[6], "lowestElevation": int(r[7])})
        for r in rows
    ]  # fmt: skip
    cities = [
        Thing("City", name, {"cityName": name, "population": int(people), "inState": states[state]})
        for part in _split(_CITIES.replace("|", "\n"))
        for state, inside in [part.split(":")]
        for name, people in (c.rsplit(" ", 1) for c in inside.split(","))
    ]
    rivers = [
        Thing("River", name, {"length": int(length), "traverses": [states[s] for s in through.split(",")]})
        for line in _split(_RIVERS)
        for (name, length), through in [(line.split(":")[0].split(" "), line.split(":")[1])]
    ]
    mountains = [
        Thing("Mountain", m[1], {"altitude": int(m[2]), "inState": states[m[3]]})
        for line in _split(_MOUNTAINS, "|")
        if (m := _parts(line))
    ]
    lakes = [
        Thing("Lake", m[1], {"area": float(m[2]), "inState": [states[s] for s in m[3].split(",")]})
        for line in _split(_LAKES, "|")
        if (m := _parts(line))
    ]
    labels = {
        "stateName": "state name", "cityName": "city name", "density": "population density",
        "inState": "in state", "ofState": "state", "highestPoint": "highest point",
        "highestElevation": "highest elevation", "lowestPoint": "lowest point", "altitude": "mountain altitude",
        "lowestElevation": "lowest elevation", "HighLow": "high and low point",
    }  # fmt: skip
    s, all_states = states, [*states.values()]
    graph = turtle("germany", [land, *all_states, *extremes, *cities, *rivers, *mountains, *lakes], labels)
    top = {e.ofState.name: e for e in extremes}
    at = {x: [c for c in cities if c.inState is x] for x in all_states}
    through = {x: [r for r in rivers if x in r.traverses] for x in all_states}
    river = {r.name: r for r in rivers}
    big = lambda x: x.population  # noqa: E731
    wide = lambda x: x.area  # noqa: E731
    long = lambda x: x.length  # noqa: E731
    beside = lambda name: names(x for x in all_states if s[name] in x.borders)  # noqa: E731
    questions: list[Asked] = [
        ("what is the capital of hesse", lambda: "Wiesbaden"),
        ("what is the population of lower saxony", lambda: 8000000),
        ("how many people live in bavaria", lambda: 13100000),
        ("How many people live in Leipzig?", lambda: 601000),
        ("how many inhabitants does saarland have", lambda: 980000),
        ("how big is saxony", lambda: 18450.0),
        ("how large is thuringia?", lambda: 16202.0),
        ("what is the area of the largest state", lambda: 70550.0),
        ("what state has the largest population", lambda: ["North Rhine-Westphalia"]),
        ("which state is the smallest", lambda: ["Bremen"]),
        ("what is the longest river", lambda: ["Rhine"]),
        ("what is the longest river in bavaria", lambda: ["Danube"]),
        ("which rivers flow through hesse", lambda: names(through[s["Hesse"]])),
        (
            "what rivers run through states bordering saarland",
            lambda: names({r for x in s["Saarland"].borders for r in through[x]}),
        ),
        ("which states border bavaria", lambda: beside("Bavaria")),
        ("how many states border thuringia", lambda: len(beside("Thuringia"))),
        ("which state borders the most states", lambda: ["Lower Saxony"]),
        (
            "which states border the state with the most cities",
            lambda: beside(max(at, key=lambda x: len(at[x])).name),
        ),
        ("what states does the elbe run through", lambda: names(river["Elbe"].traverses)),
        ("through which states does the weser flow?", lambda: names(river["Weser"].traverses)),
        ("how many states does the rhine flow through", lambda: len(river["Rhine"].traverses)),
        ("what states have no rivers", lambda: names(x for x in all_states if not through[x])),
        ("what is the highest point in bavaria", lambda: "Zugspitze"),
        ("what is the highest point in the smallest state", lambda: "Friedehorstpark"),
        ("what is the lowest point of schleswig-holstein", lambda: "Neuendorf"),
        ("how high is the highest point of saxony", lambda: 1215),
        ("how high is the zugspitze", lambda: 2962),
        ("what is the highest mountain in germany", lambda: ["Zugspitze"]),
        ("how tall is the brocken?", lambda: 1141),
        ("where is leipzig", lambda: ["Saxony"]),
        ("Where is the Watzmann?", lambda: ["Bavaria"]),
        ("in which state is the fichtelberg", lambda: ["Saxony"]),
        ("how many cities named frankfurt are there", lambda: 2),
        ("how many cities are there in hesse", lambda: len(at[s["Hesse"]])),
        ("what is the largest city in saxony", lambda: ["Leipzig"]),
        ("what is the biggest city in the largest state", lambda: ["Munich"]),
        ("what is the population density of bavaria", lambda: s["Bavaria"].density),
        ("which state has the highest population density", lambda: ["Berlin"]),
        (
            "what is the average population of the cities in bavaria",
            lambda: mean(big(c) for c in at[s["Bavaria"]]),
        ),
        ("what is the total area of the states that border hesse", lambda: sum(map(wide, s["Hesse"].borders))),
        ("what is the total population of all states", lambda: sum(map(big, all_states))),
        ("how long is the spree", lambda: 379),
        ("which rivers are longer than 500 kilometers", lambda: names(r for r in rivers if long(r) > 500)),
        ("which rivers are shorter than the ems", lambda: names(r for r in rivers if long(r) < 371)),
        ("what is the length of the longest river that flows through brandenburg", lambda: 727),
        ("how many rivers does bavaria have", lambda: len(through[s["Bavaria"]])),
        ("which state has the most rivers", lambda: ["Bavaria", "Hesse"]),
        ("what rivers do not run through bavaria", lambda: names({*rivers} - {*through[s["Bavaria"]]})),
        ("what is the population of the capital of saxony", lambda: 555000),
        (
            "what states border states that border hamburg",
            lambda: names({y for x in all_states if s["Hamburg"] in x.borders for y in x.borders}),
        ),
        (
            "which cities in saxony-anhalt have more than 237000 inhabitants",
            lambda: ["Halle"],
        ),
        ("name the lakes in mecklenburg", lambda: ["Müritz", "Plau", "Schwerin"]),
        ("which lake is the largest", lambda: ["Constance"]),
        ("what states border bavaria and hesse", lambda: sorted({*beside("Bavaria")} & {*beside("Hesse")})),
        (
            "what is the elevation of the highest point in the state with the largest area",
            lambda: 2962,
        ),
        ("give me the cities in hesse", lambda: names(at[s["Hesse"]])),
        ("which states have a population of more than 5 million", lambda: names(x for x in all_states if big(x) > 5e6)),
        ("dresden is the capital of which state", lambda: ["Saxony"]),
        ("is the rhine longer than the elbe", lambda: True),
        ("does hesse border saxony?", lambda: False),
        ("states with fewer than 1000000 people", lambda: ["Bremen", "Saarland"]),
        ("what is the highest elevation in all the states", lambda: max(e.highestElevation for e in extremes)),
        ("which state has the lowest point", lambda: [min(extremes, key=lambda e: e.lowestElevation).ofState.name]),
        ("how many states have a higher point than hesse", lambda: sum(
            top[x.name].highestElevation > 950 for x in all_states)),
        ("how many rivers run through the state with the highest population density", lambda: 2),
        ("what is the population of the largest city in the smallest state", lambda: 563000),
        ("which state has the city with the largest population", lambda: ["Berlin"]),
        ("what is the smallest state bordering bavaria", lambda: ["Thuringia"]),
        ("what is the longest river that runs through a state bordering saxony-anhalt", lambda: ["Elbe"]),
        ("how many people live in the smallest state bordering hesse", lambda: 2120000),
        ("name all the rivers in thuringia", lambda: names(through[s["Thuringia"]])),
        ("what are the cities in the state through which the isar runs", lambda: names(at[s["Bavaria"]])),
        ("what is the highest point in the state with the capital dresden", lambda: "Fichtelberg"),
        ("give me the largest state", lambda: ["Bavaria"]),
        ("what are the populations of the states through which the elbe runs",
            lambda: [x.population for x in river["Elbe"].traverses]),
        ("what is the state with the smallest population", lambda: ["Bremen"]),
        ("what is the shortest river in germany", lambda: ["Oder"]),
        ("which states does the longest river cross", lambda: names(river["Rhine"].traverses)),
        ("which rivers are in bavaria", lambda: names(through[s["Bavaria"]])),
        ("number of citizens in saxony", lambda: 4060000),
        ("people in munich", lambda: 1488000),
        ("how many states are there", lambda: 16),
        ("how many states are in germany?", lambda: 16),
        ("what is the least populous state", lambda: ["Bremen"]),
        ("what is the most populous city in hesse", lambda: ["Frankfurt"]),
        ("what is the area of saxony in square kilometers", lambda: 18450.0),
        ("what is the average population per square km in saxony", lambda: s["Saxony"].density),
        ("where is the highest mountain in germany", lambda: ["Bavaria"]),
        ("what states have cities named neustadt", lambda: ["Bavaria", "Hesse", "Rhineland-Palatinate"]),
        ("what mountains are in saxony", lambda: ["Fichtelberg"]),
        ("what is the height of the highest mountain in hesse", lambda: 950),
        ("how many rivers do not traverse the state with the capital munich",
            lambda: len({*rivers} - {*through[s["Bavaria"]]})),
        ("which states do not border bavaria",
            lambda: names(x for x in all_states if s["Bavaria"] not in x.borders)),
        ("what is the density of the state that the spree runs through and that borders saxony",
            lambda: [s["Brandenburg"].density]),
        ("what rivers flow through states that the main flows through", lambda: names(
            {r for x in river["Main"].traverses for r in through[x]} - {river["Main"]})),
        ("what is the lowest elevation in brandenburg", lambda: 1),
        ("what is the maximum elevation of saxony", lambda: 1215),
        ("how many square kilometers does hesse have", lambda: 21115.0),
        ("how many cities have a population over 500000", lambda: len({c for c in cities if big(c) > 500000})),
        ("which state has the longest river", lambda: names(river["Rhine"].traverses)),
        ("what is the biggest capital city in germany", lambda: ["Berlin"]),
        ("what is the number of neighboring states for hesse", lambda: len(beside("Hesse"))),
        ("what is the gross domestic product of hesse", lambda: None),
        ("who is the mayor of leipzig", lambda: None),
        ("which rivers are polluted", lambda: None),
        ("how many airports does bavaria have", lambda: None),
        ("what language is spoken in saarland", lambda: None),
    ]  # fmt: skip
    return graph, questions


def _parts(line: str) -> list[str]:
    """Return a name that may have several words, a number, and what stands behind it."""
    words = line.split(" ")
    at = next(n for n, w in enumerate(words) if w.isdigit())
    return ["", " ".join(words[:at]), words[at], " ".join(words[at + 1 :])]
