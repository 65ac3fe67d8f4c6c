"""A graph of boats and their charters with questions, for `made_graphs.py`: events stand between things."""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean

from made_things import Asked, Thing, day, most, names, turtle


def _things() -> dict[str, list[Thing]]:
    rng = random.Random(23)
    harbours = [
        Thing("Harbour", n, {"town": t, "berths": b, "depth_m": d})
        for n, t, b, d in (
            ("North Quay", "Port Elm", 120, 4.5),
            ("Old Basin", "Port Elm", 45, 2.8),
            ("Gull Bay", "Sandwick", 80, 3.6),
            ("Lighthouse Dock", "Carrow", 30, 6.2),
        )
    ]
    boats = [
        Thing(
            "Boat",
            n,
            {
                "boat_type": t,
                "length_m": m,
                "built_year": y,
                "homeHarbour": harbours[h],
                "hasEngine": e,
                "day_rate": r,
            },
        )
        for n, t, m, y, h, e, r in (
            ("Sea Breeze", "sailing yacht", 11.2, 2008, 0, "yes", 240),
            ("Albatross", "sailing yacht", 14.5, 1999, 0, "yes", 390),
            ("Twin Tides", "catamaran", 12.8, 2017, 2, "yes", 520),
            ("Little Tern", "dinghy", 4.3, 2020, 1, "no", 45),
            ("Old Growler", "motor boat", 8.9, 1987, 3, "yes", 180),
            ("Quicksilver", "motor boat", 9.6, 2021, 0, "yes", 310),
            ("Moon Shell", "catamaran", 10.4, 2013, 2, "yes", 430),
            ("Petrel", "dinghy", 3.9, 2015, 1, "no", 40),
            ("Grey Lady", "sailing yacht", 16.0, 1974, 3, "no", 450),
            ("Dormouse", "dinghy", 3.5, 2004, 2, "no", 35),
        )
    ]
    skippers = [
        Thing("Skipper", n, {"licence_no": c, "birth_year": b, "nationality": x, "wage_per_day": w})
        for n, c, b, x, w in (
            ("Anders Holm", "SK-104", 1968, "Danish", 190),
            ("Bea Fontaine", "SK-221", 1985, "French", 170),
            ("Callum Reid", "SK-087", 1959, "Scottish", 210),
            ("Dita Horak", "SK-310", 1991, "Czech", 140),
            ("Enzo Galli", "SK-298", 1978, "Italian", 165),
        )
    ]
    customers = [
        Thing("Customer", n, {"home_town": t, "is_vip": v})
        for n, t, v in (
            ("Fiona Marsh", "Sandwick", "Y"),
            ("George Tully", "Carrow", "N"),
            ("Helga Stein", "Hamburg", "Y"),
            ("Ivan Petrov", "Sofia", "N"),
            ("Jane Okafor", "Port Elm", "N"),
            ("Karl Brandt", "Hamburg", "N"),
            ("Lucy Finch", "Sandwick", "N"),
        )
    ]
    islands = [
        Thing("Island", n, {"has_mooring": m, "population": p})
        for n, m, p in (
            ("Skerra", True, 120),
            ("Holm Rock", False, 0),
            ("Vey", True, 3400),
            ("Tarsay", True, 56),
        )
    ]
    yards = [
        Thing("Yard", n, {"town": t, "foremanOf": None})
        for n, t in (("Bligh & Sons", "Port Elm"), ("Carrow Marine", "Carrow"), ("Hull Works", "Sandwick"))
    ]
    charters, repairs = [], []
    for _ in range(48):
        nights = rng.choice((1, 2, 2, 3, 5, 7))
        boat = boats[rng.choice((0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 7))]
        charters.append(
            Thing(
                "Charter",
                "",
                {
                    "charterBoat": boat,
                    "charterSkipper": rng.choice([*skippers[:4], None]) if boat.length_m > 5 else None,
                    "bookedBy": rng.choice(customers[:6]),
                    "start_date": day(rng, 2021, 2023),
                    "nights": nights,
                    "price_eur": nights * boat.day_rate,
                    "distanceNm": rng.randrange(5, 240),
                    "visits": rng.sample(islands[:3], rng.choice((0, 1, 1, 2))),
                    "status": rng.choice(("completed", "completed", "completed", "cancelled")),
                },
            )
        )
    for _ in range(22):
        repairs.append(
            Thing(
                "Repair",
                "",
                {
                    "repairOf": rng.choice(boats[:9]),
                    "doneAt": rng.choice(yards[:2]),
                    "repair_date": day(rng, 2020, 2023),
                    "cost_eur": rng.randrange(80, 4000, 10),
                    "work_type": rng.choice(("hull", "engine", "rigging", "paint")),
                },
            )
        )
    return {
        "harbours": harbours,
        "boats": boats,
        "skippers": skippers,
        "customers": customers,
        "islands": islands,
        "yards": yards,
        "charters": charters,
        "repairs": repairs,
    }


def marina() -> tuple[str, list[Asked]]:
    """Return the graph of some boats for hire, and questions."""
    all_ = _things()
    graph = turtle(
        "marina",
        [one for part in all_.values() for one in part],
        {},
        comments={
            "distanceNm": "nautical miles sailed on the charter",
            "price_eur": "what the customer paid for the whole charter",
            "depth_m": "depth of the harbour in metres",
        },
        bare=True,
    )
    return graph, [*_plain(all_), *_events(all_)]


def _plain(g: dict[str, list[Thing]]) -> list[Asked]:
    boats = g["boats"]
    return [
        ("How many boats are there?", lambda: len(boats)),
        ("What is the longest boat?", lambda: ["Grey Lady"]),
        ("How long is the Albatross?", lambda: 14.5),
        ("Which boats have no engine?", lambda: names(x for x in boats if x.hasEngine == "no")),
        ("Which sailing yachts have an engine?", lambda: ["Albatross", "Sea Breeze"]),
        ("Which harbour is deeper than 4 metres?", lambda: ["Lighthouse Dock", "North Quay"]),
        ("How deep is Gull Bay?", lambda: 3.6),
        ("What is the home harbour of Twin Tides?", lambda: ["Gull Bay"]),
        (
            "How many boats lie in each harbour?",
            lambda: [*Counter(x.homeHarbour.name for x in boats).items()],
        ),
        ("Which harbours are home to more than two boats?", lambda: ["Gull Bay", "North Quay"]),
        (
            "average length per boat type",
            lambda: [
                (t, mean(x.length_m for x in boats if x.boat_type == t))
                for t in sorted({x.boat_type for x in boats})
            ],
        ),
        (
            "Which boats were built between 2000 and 2015?",
            lambda: names(x for x in boats if 2000 <= x.built_year <= 2015),
        ),
        ("Which boats are older than the Albatross?", lambda: ["Grey Lady", "Old Growler"]),
        ("What is the cheapest motor boat?", lambda: ["Old Growler"]),
        ("How much longer is the Grey Lady than the Sea Breeze?", lambda: 16.0 - 11.2),
        ("How many years lie between the building of Grey Lady and Quicksilver?", lambda: 2021 - 1974),
        (
            "List the catamarans and dinghies.",
            lambda: names(x for x in boats if x.boat_type in ("catamaran", "dinghy")),
        ),
        ("Which skipper is the oldest?", lambda: ["Callum Reid"]),
        ("Which skippers earn more than Bea Fontaine?", lambda: ["Anders Holm", "Callum Reid"]),
        ("Who has licence SK-310?", lambda: ["Dita Horak"]),
        ("Which customers come from Hamburg?", lambda: ["Helga Stein", "Karl Brandt"]),
        ("How many customers are VIPs?", lambda: 2),
        ("Is Helga Stein a VIP?", lambda: True),
        ("Does Petrel have an engine?", lambda: False),
        ("Which harbour has the fewest berths?", lambda: ["Lighthouse Dock"]),
        ("Which harbours in Port Elm have fewer than 100 berths?", lambda: ["Old Basin"]),
        ("Which islands have no mooring?", lambda: ["Holm Rock"]),
        ("Which towns have more than one harbour?", lambda: ["Port Elm"]),
        ("What share of the boats are dinghies?", lambda: 3 / 10),
        ("Do all catamarans have their home in Gull Bay?", lambda: True),
        (
            "What are the three longest boats and how long are they?",
            lambda: [(x.name, x.length_m) for x in sorted(boats, key=lambda x: -x.length_m)[:3]],
        ),
        ("What is the difference between the highest and the lowest day rate?", lambda: 520 - 35),
        (
            "Which boat is moored in the harbour with the most berths and costs less than 300 per day?",
            lambda: ["Sea Breeze"],
        ),
        ("How many boats were built before 1990 or after 2019?", lambda: 4),
        ("What is the insurance number of Sea Breeze?", lambda: None),
        ("Which skipper is married?", lambda: None),
        ("Who painted the Grey Lady's portrait?", lambda: None),
        ("What colour is Quicksilver?", lambda: None),
    ]


def _events(g: dict[str, list[Thing]]) -> list[Asked]:
    boats, skippers, customers, islands = g["boats"], g["skippers"], g["customers"], g["islands"]
    charters, repairs = g["charters"], g["repairs"]
    led = {s: [c for c in charters if c.charterSkipper is s] for s in skippers}
    of = {x: [c for c in charters if c.charterBoat is x] for x in boats}
    fixed = {x: [r for r in repairs if r.repairOf is x] for x in boats}
    by = {c: [x for x in charters if x.bookedBy is c] for c in customers}
    miles = {s: sum(c.distanceNm for c in cs) for s, cs in led.items() if cs}

    def ran(name: str) -> list[Thing]:
        return next(cs for s, cs in led.items() if s.name == name)

    def trips(name: str) -> list[Thing]:
        return next(cs for x, cs in of.items() if x.name == name)

    return [
        (
            "Which skippers have sailed the Albatross?",
            lambda: names({c.charterSkipper for c in trips("Albatross")} - {None}),
        ),
        ("Who chartered Twin Tides?", lambda: names({c.bookedBy for c in trips("Twin Tides")})),
        (
            "Which customers chartered both the Albatross and Quicksilver?",
            lambda: names(
                {c.bookedBy for c in trips("Albatross")} & {c.bookedBy for c in trips("Quicksilver")}
            ),
        ),
        (
            "Which boats did Helga Stein book?",
            lambda: names({c.charterBoat for c in charters if c.bookedBy.name == "Helga Stein"}),
        ),
        ("Which boats were never chartered?", lambda: names(x for x, cs in of.items() if not cs)),
        ("Which skippers have no charter?", lambda: names(s for s, cs in led.items() if not cs)),
        ("How many charters had no skipper?", lambda: sum(c.charterSkipper is None for c in charters)),
        ("Which skipper sailed the most nautical miles?", lambda: names(most(miles))),
        (
            "How many nautical miles did each boat sail?",
            lambda: [(x.name, sum(c.distanceNm for c in cs)) for x, cs in of.items() if cs],
        ),
        ("How many nights did Anders Holm sail in total?", lambda: sum(c.nights for c in ran("Anders Holm"))),
        (
            "Which customer has booked the most charters?",
            lambda: names(most({c: len(x) for c, x in by.items()})),
        ),
        ("How many charters were cancelled?", lambda: sum(c.status == "cancelled" for c in charters)),
        (
            "What percentage of charters were cancelled?",
            lambda: 100 * mean(c.status == "cancelled" for c in charters),
        ),
        ("How many charters started in 2022?", lambda: sum(c.start_date[:4] == "2022" for c in charters)),
        (
            "How many charters were there per year?",
            lambda: [*Counter(int(c.start_date[:4]) for c in charters).items()],
        ),
        (
            "How much did Ivan Petrov spend?",
            lambda: sum(c.price_eur for c in charters if c.bookedBy.name == "Ivan Petrov"),
        ),
        (
            "What is the total price of the completed charters?",
            lambda: sum(c.price_eur for c in charters if c.status == "completed"),
        ),
        (
            "Which islands did Callum Reid visit?",
            lambda: names({i for c in ran("Callum Reid") for i in c.visits}),
        ),
        (
            "Which islands were never visited?",
            lambda: names(i for i in islands if not any(i in c.visits for c in charters)),
        ),
        (
            "Which island was visited most often?",
            lambda: names(most(Counter(i for c in charters for i in c.visits))),
        ),
        ("Which boats have never been repaired?", lambda: names(x for x, rs in fixed.items() if not rs)),
        (
            "How many repairs did each boat have?",
            lambda: [(x.name, len(rs)) for x, rs in fixed.items() if rs],
        ),
        (
            "Which boat cost the most to repair?",
            lambda: names(most({x: sum(r.cost_eur for r in rs) for x, rs in fixed.items()})),
        ),
        (
            "What did engine repairs cost on average?",
            lambda: mean(r.cost_eur for r in repairs if r.work_type == "engine"),
        ),
        (
            "Which yards repaired the Albatross?",
            lambda: names({r.doneAt for r in repairs if r.repairOf.name == "Albatross"}),
        ),
        (
            "Which boats were repaired at Bligh & Sons in 2021?",
            lambda: names(
                {
                    r.repairOf
                    for r in repairs
                    if r.doneAt.name == "Bligh & Sons" and r.repair_date[:4] == "2021"
                }
            ),
        ),
        (
            "Which boats have had more than two repairs?",
            lambda: names(x for x, rs in fixed.items() if len(rs) > 2),
        ),
        (
            "When was the last repair of Grey Lady?",
            lambda: [max(r.repair_date for r in repairs if r.repairOf.name == "Grey Lady")],
        ),
        (
            "How many charters went to Vey and lasted more than 5 nights?",
            lambda: sum(any(i.name == "Vey" for i in c.visits) and c.nights > 5 for c in charters),
        ),
        (
            "Which customers from Hamburg have been to Skerra?",
            lambda: names(
                {
                    c.bookedBy
                    for c in charters
                    if c.bookedBy.home_town == "Hamburg" and any(i.name == "Skerra" for i in c.visits)
                }
            ),
        ),
        (
            "Which customers have never booked a catamaran?",
            lambda: names(
                c for c, xs in by.items() if not any(x.charterBoat.boat_type == "catamaran" for x in xs)
            ),
        ),
        (
            "Did Jane Okafor ever charter the Moon Shell?",
            lambda: any(c.bookedBy.name == "Jane Okafor" for c in trips("Moon Shell")),
        ),
        ("What is the average number of nights per charter?", lambda: mean(c.nights for c in charters)),
        (
            "Which work type is the most expensive on average?",
            lambda: most(
                {
                    w: mean(r.cost_eur for r in repairs if r.work_type == w)
                    for w in {r.work_type for r in repairs}
                }
            ),
        ),
        ("How many passengers were on the charters of Sea Breeze?", lambda: None),
        ("Which charter was delayed by a storm?", lambda: None),
    ]
