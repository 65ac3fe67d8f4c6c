"""A made graph of an archipelago with its towns, streams and cafes: nothing was built for it."""

# ruff: noqa: E501 (tables of data)

from __future__ import annotations

from collections import Counter
from statistics import mean

from made_things import Asked, Thing, names, turtle

_TOWNS = """Skerra:Port Ailsa 18200,Lunna 4100,Brae 950|Hovna:Tarvik 9700,Sund 2300|Morn:Castle Bay 26500,
Eastwick 7400,Sund 800|Little Orra:Orra 310"""
_CAFES = """The Gull|Port Ailsa|seafood|3.5|2012;Salt & Ash|Castle Bay|seafood|4.5|2018;Kettle House|Tarvik|bakery|4.0|2009
Low Tide|Castle Bay|bar|2.5|2015;Bean Row|Port Ailsa|coffee|4.5|2020;The Puffin|Lunna|pub|3.0|1998
Morning Bun|Eastwick|bakery|5.0|2021;Nettle|Castle Bay|vegetarian|4.0|2017;Old Net Loft|Sund|seafood|3.0|2011
Quay 9|Port Ailsa|bar|3.5|2016;Crumb|Castle Bay|coffee|3.0|2019"""


def isles() -> tuple[str, list[Asked]]:
    """Return the graph of an archipelago with its towns, streams and cafes, and questions."""
    shape = (("Skerra", 412.5, 23250, "Ward Top", 450), ("Hovna", 198.0, 12000, "The Saddle", 377))
    shape += (("Morn", 655.2, 34700, "Great Morn", 812), ("Little Orra", 21.4, 310, "Orra Knoll", 64))
    islands = {
        n: Thing("Island", n, {"areaKm2": a, "inhabitants": p, "summit": t, "summitHeight": h})
        for n, a, p, t, h in shape
    }
    for one, others in (
        ("Skerra", "Hovna,Morn"),
        ("Hovna", "Skerra"),
        ("Morn", "Skerra,Little Orra"),
        ("Little Orra", "Morn"),
    ):
        islands[one].values["ferryTo"] = [islands[o] for o in others.split(",")]
    towns = [
        Thing(
            "Town", " ".join(c.split()[:-1]), {"residents": int(c.split()[-1]), "onIsland": islands[island]}
        )
        for part in _TOWNS.replace("\n", "").split("|")
        for island, inside in [part.split(":")]
        for c in inside.split(",")
    ]
    burns = [
        Thing("Stream", n, {"lengthKm": k, "flowsThrough": [t for t in towns if t.name in through]})
        for n, k, through in (
            ("Black Burn", 14.2, ("Port Ailsa", "Brae")), ("Ness Water", 21.5, ("Castle Bay", "Eastwick")),
            ("Silver Burn", 6.3, ("Tarvik",)), ("Kelda", 9.9, ("Lunna", "Brae", "Port Ailsa")),
        )
    ]  # fmt: skip
    cafes = [
        Thing("Business", n, {"town": next(x for x in towns if x.name == t), "category": c, "stars": float(r)}
        | {"openedInYear": int(y)})
        for line in _CAFES.replace("\n", ";").split(";")
        for n, t, c, r, y in [line.split("|")]
    ]  # fmt: skip
    users = [
        Thing("User", n, {"memberSince": y})
        for n, y in (("Ada", 2014), ("Bo", 2016), ("Cleo", 2019), ("Dan", 2020))
    ]
    reviews = [
        Thing("Review", f"review {n + 1}", {"ofBusiness": cafes[(n * 5 + n // 3) % 10], "writtenBy": users[(n * 3 + n // 4) % 3]}
        | {"rating": 1 + (n * 7) % 5, "postedOn": f"20{18 + n % 5}-{1 + (n * 5) % 12:02}-{1 + (n * 11) % 28:02}"})
        for n in range(30)
    ]  # fmt: skip
    labels = {
        "areaKm2": "area (km2)", "summitHeight": "height of the summit", "ferryTo": "ferry connection to",
        "onIsland": "on island", "lengthKm": "length (km)", "flowsThrough": "flows through town",
        "openedInYear": "year of opening", "memberSince": "member since", "ofBusiness": "reviewed business",
        "writtenBy": "written by", "postedOn": "date posted", "summit": "highest summit",
    }  # fmt: skip
    i, lands = islands, [*islands.values()]
    graph = turtle("isles", [*lands, *towns, *burns, *cafes, *users, *reviews], labels)
    on = {x: [t for t in towns if t.onIsland is x] for x in lands}
    of = {b: [r for r in reviews if r.ofBusiness is b] for b in cafes}
    by = {u: [r for r in reviews if r.writtenBy is u] for u in users}
    bay = [b for b in cafes if b.town.name == "Castle Bay"]
    questions: list[Asked] = [
        ("what is the biggest island", lambda: ["Morn"]),
        ("how many people live on hovna", lambda: 12000),
        ("how many people live in Port Ailsa?", lambda: 18200),
        ("how big is little orra", lambda: 21.4),
        ("what is the population of the smallest island", lambda: 310),
        ("which island has the most towns", lambda: ["Morn", "Skerra"]),
        ("what is the highest summit on skerra", lambda: "Ward Top"),
        ("how high is great morn", lambda: 812),
        ("which islands have a ferry to morn", lambda: ["Little Orra", "Skerra"]),
        ("what islands can you reach by ferry from skerra", lambda: ["Hovna", "Morn"]),
        ("how many towns called sund are there", lambda: 2),
        ("where is tarvik", lambda: ["Hovna"]),
        ("what is the longest stream", lambda: ["Ness Water"]),
        ("through which towns does the kelda flow", lambda: names(burns[3].flowsThrough)),
        ("which streams run through port ailsa", lambda: ["Black Burn", "Kelda"]),
        (
            "which towns have no stream",
            lambda: names(t for t in towns if not any(t in b.flowsThrough for b in burns)),
        ),
        ("how long is the silver burn", lambda: 6.3),
        ("what is the largest town on the island with the highest summit", lambda: ["Castle Bay"]),
        (
            "what is the population density of each island",
            lambda: [(x.name, x.inhabitants / x.areaKm2) for x in lands],
        ),
        ("which streams are longer than 10 km", lambda: ["Black Burn", "Ness Water"]),
        ("how many bakeries are there", lambda: 2),
        ("find all seafood places in castle bay", lambda: ["Salt & Ash"]),
        ("how many bars are in Port Ailsa", lambda: 1),
        (
            "which businesses in Castle Bay have more than 3.5 stars",
            lambda: names(b for b in bay if b.stars > 3.5),
        ),
        (
            "What is the average rating of the reviews of Low Tide?",
            lambda: mean(r.rating for r in of[cafes[3]]),
        ),
        ("who wrote the most reviews", lambda: names([max(by, key=lambda u: len(by[u]))])),
        (
            "how many reviews did Ada write in 2020",
            lambda: sum(r.postedOn[:4] == "2020" for r in by[users[0]]),
        ),
        ("which users have never reviewed anything", lambda: ["Dan"]),
        ("which business has the most stars", lambda: ["Morning Bun"]),
        ("What is the oldest pub?", lambda: ["The Puffin"]),
        ("number of businesses per category", lambda: [*Counter(b.category for b in cafes).items()]),
        ("How many five star reviews are there?", lambda: sum(r.rating == 5 for r in reviews)),
        ("businesses reviewed by Cleo", lambda: names({r.ofBusiness for r in by[users[2]]})),
        ("on which island are the most businesses", lambda: ["Morn"]),
        ("which businesses opened after Nettle", lambda: names(b for b in cafes if b.openedInYear > 2017)),
        (
            "average stars of businesses on morn",
            lambda: mean(b.stars for b in cafes if b.town.onIsland is i["Morn"]),
        ),
        ("what is the total length of all streams", lambda: sum(b.lengthKm for b in burns)),
        ("list the towns with fewer than 1000 residents", lambda: ["Brae", "Orra", "Sund"]),
        ("which category has the highest average stars", lambda: ["bakery"]),
        ("what does a ferry ticket to morn cost", lambda: None),
        ("which cafes have outdoor seating", lambda: None),
        ("what is the phone number of bean row", lambda: None),
        ("how many sheep are there on hovna", lambda: None),
        ("who is the owner of the puffin", lambda: None),
    ]
    assert len(on) == 4
    return graph, questions
