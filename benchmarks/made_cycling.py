"""A graph of road cycling with questions, for `made_graphs.py`, as users of text-to-SQL collections ask."""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean
from typing import Any

from made_things import Asked, Thing, most, names, turtle


def _things() -> dict[str, list[Thing]]:
    rng = random.Random(73)
    sponsors = [
        Thing("Sponsor", n, {"industry": i, "headquarters": h})
        for n, i, h in (
            ("Alto Bank", "finance", "Spain"),
            ("Brightwater", "energy", "Norway"),
            ("Corsa Tyres", "automotive", "Italy"),
            ("Delphi Telecom", "telecom", "France"),
            ("Ekon Solar", "energy", "Spain"),
            ("Fennec Outdoor", "retail", "France"),
        )
    ]
    teams = [
        Thing(
            "Team",
            n,
            {"country": c, "founded": f, "budget_million": b, "main_sponsor": s and sponsors[s - 1]},
        )
        for n, c, f, b, s in (
            ("Azul Pro", "Spain", 1998, 14.5, 1),
            ("Fjord Racing", "Norway", 2007, 11.0, 2),
            ("Squadra Nove", "Italy", 1985, 22.0, 3),
            ("Velo Lyon", "France", 1979, 18.2, 4),
            ("Sierra Gravel", "Spain", 2016, 4.1, 5),
            ("Highland Wheelers", "Scotland", 2012, 3.6, None),
            ("Team Borealis", "Norway", 2019, 5.5, 2),
        )
    ]
    riders = [
        Thing(
            "Rider",
            n,
            {
                "rides_for": teams[t - 1] if t else None,
                "nationality": x,
                "birth_date": d,
                "height_cm": h,
                "weight_kg": w,
                "role": r,
            },
        )
        for n, t, x, d, h, w, r in (
            ("Mateo Ruiz", 1, "Spanish", "1994-03-12", 178, 64, "leader"),
            ("Iker Soto", 1, "Spanish", "2001-07-02", 171, 58, "climber"),
            ("Pablo Neri", 1, "Italian", "1989-11-23", 184, 77, "sprinter"),
            ("Lars Eide", 2, "Norwegian", "1996-01-30", 188, 79, "sprinter"),
            ("Sven Dahl", 2, "Norwegian", "1992-09-09", 182, 70, "leader"),
            ("Anton Berg", 2, "Swedish", "2000-05-17", 176, 62, "climber"),
            ("Luca Fermi", 3, "Italian", "1990-02-14", 175, 61, "climber"),
            ("Marco Tosi", 3, "Italian", "1997-12-01", 180, 68, "leader"),
            ("Hugo Blanc", 3, "French", "1995-06-25", 186, 80, "sprinter"),
            ("Rémi Colin", 4, "French", "1993-08-19", 179, 66, "leader"),
            ("Jules Petit", 4, "French", "2002-10-05", 169, 55, "climber"),
            ("Owen Marsh", 4, "Scottish", "1991-04-11", 183, 74, "domestique"),
            ("Diego Lara", 5, "Spanish", "1999-03-03", 177, 65, "leader"),
            ("Tomás Vega", 5, "Spanish", "2003-01-15", 173, 60, "domestique"),
            ("Callum Reid", 6, "Scottish", "1998-06-06", 181, 71, "leader"),
            ("Ewan Kerr", 6, "Scottish", "2000-12-24", 190, 82, "domestique"),
            ("Nils Aas", 7, "Norwegian", "2002-02-28", 174, 59, "climber"),
            ("Bram Visser", None, "Dutch", "1988-05-30", 185, 76, "domestique"),
        )
    ]
    races = [
        Thing("Race", n, {"country": c, "first_held": f, "category": k})
        for n, c, f, k in (
            ("Tour of the Pyrenees", "Spain", 1931, "grand tour"),
            ("Giro delle Alpi", "Italy", 1924, "grand tour"),
            ("Fjord Classic", "Norway", 2009, "classic"),
            ("Breton Week", "France", 1967, "stage race"),
            ("Island Criterium", "Scotland", 2018, "classic"),
        )
    ]
    stages = [
        Thing(
            "Stage",
            f"{races[r].name} stage {n}",
            {
                "part_of": races[r],
                "stage_number": n,
                "distance_km": d,
                "elevation_gain": e,
                "profile": p,
                "stage_date": day,
                "start_town": a,
                "finish_town": b,
            },
        )
        for r, n, d, e, p, day, a, b in (
            (0, 1, 162, 900, "flat", "2022-05-07", "Jaca", "Huesca"),
            (0, 2, 148, 3900, "mountain", "2022-05-08", "Huesca", "Benasque"),
            (0, 3, 24, 150, "time trial", "2022-05-10", "Benasque", "Benasque"),
            (0, 4, 171, 2200, "hilly", "2022-05-11", "Benasque", "Vielha"),
            (1, 1, 193, 700, "flat", "2022-06-18", "Turin", "Milan"),
            (1, 2, 136, 4300, "mountain", "2022-06-19", "Bormio", "Livigno"),
            (1, 3, 158, 2500, "hilly", "2022-06-21", "Livigno", "Trento"),
            (2, 1, 205, 2900, "hilly", "2022-08-13", "Bergen", "Voss"),
            (3, 1, 180, 1100, "flat", "2023-04-22", "Brest", "Quimper"),
            (3, 2, 19, 120, "time trial", "2023-04-23", "Quimper", "Quimper"),
            (3, 3, 167, 2000, "hilly", "2023-04-24", "Quimper", "Vannes"),
        )
    ]
    results = []
    for stage in stages:
        field = rng.sample(riders[:16], rng.randint(6, 10))
        seconds = stage.distance_km * rng.randint(80, 95)
        for place, rider in enumerate(field, 1):
            out = place == len(field) and rng.random() < 0.5
            seconds += rng.randint(1, 60)
            values = {
                "on_stage": stage,
                "ridden_by": rider,
                "status": "did not finish" if out else "finished",
                "position": None if out else place,
                "time_seconds": None if out else seconds,
                "points": 0 if out else max(0, (25, 18, 12, 8, 5, 3, 1)[place - 1]) if place < 8 else 0,
            }
            results.append(Thing("Result", f"{stage.name}, {rider.name}", values))
    return {
        "sponsors": sponsors,
        "teams": teams,
        "riders": riders,
        "races": races,
        "stages": stages,
        "results": results,
    }


def cycling() -> tuple[str, list[Asked]]:
    """Return the graph of road cycling, and questions."""
    all_ = _things()
    labels = {
        "budget_million": "budget (million)",
        "height_cm": "height (cm)",
        "weight_kg": "weight (kg)",
        "distance_km": "distance (km)",
        "time_seconds": "time (seconds)",
    }
    words = {p: p.replace("_", " ") for o in all_.values() for one in o for p in one.values}
    graph = turtle("cycling", [o for part in all_.values() for o in part], {**words, **labels})
    return graph, [*_simple(all_), *_joined(all_), *_ridden(all_), *_missing()]


def _simple(g: dict[str, list[Thing]]) -> list[Asked]:
    teams, riders, races, stages, sponsors = (
        g[k] for k in ("teams", "riders", "races", "stages", "sponsors")
    )
    return [
        ("How many riders do we have?", lambda: len(riders)),
        (
            "List the names of all riders taller than 183 cm.",
            lambda: names(r for r in riders if r.height_cm > 183),
        ),
        (
            "What are the name and nationality of the youngest rider?",
            lambda: [
                (r.name, r.nationality) for r in most({r: int(r.birth_date.replace("-", "")) for r in riders})
            ],
        ),
        (
            "Show the different roles of riders and how many riders have each role.",
            lambda: [*Counter(r.role for r in riders).items()],
        ),
        (
            "Find the average weight of the climbers.",
            lambda: mean(r.weight_kg for r in riders if r.role == "climber"),
        ),
        (
            "What is the total budget of all Spanish teams?",
            lambda: sum(t.budget_million for t in teams if t.country == "Spain"),
        ),
        (
            "Which teams were founded after 2000 and have a budget of less than 5 million?",
            lambda: names(t for t in teams if t.founded > 2000 and t.budget_million < 5),
        ),
        ("List all mountain stages.", lambda: names(s for s in stages if s.profile == "mountain")),
        (
            "What is the longest stage and how long is it?",
            lambda: [(s.name, s.distance_km) for s in most({s: s.distance_km for s in stages})],
        ),
        (
            "Give me the top 3 stages by elevation gain.",
            lambda: names(most({s: s.elevation_gain for s in stages}, 3)),
        ),
        (
            "How many kilometres do the time trials add up to?",
            lambda: sum(s.distance_km for s in stages if s.profile == "time trial"),
        ),
        (
            "For every stage profile, give the average distance and the maximum elevation gain.",
            lambda: [
                (
                    p,
                    mean(s.distance_km for s in stages if s.profile == p),
                    max(s.elevation_gain for s in stages if s.profile == p),
                )
                for p in sorted({s.profile for s in stages})
            ],
        ),
        ("Which race is the oldest?", lambda: names(most({r: -r.first_held for r in races}))),
        (
            "Which country do most of the sponsors come from?",
            lambda: most(Counter(s.headquarters for s in sponsors)),
        ),
        ("How many riders were born in the 1990s?", lambda: sum(r.birth_date[:3] == "199" for r in riders)),
        (
            "Which stages start and finish in the same town?",
            lambda: names(s for s in stages if s.start_town == s.finish_town),
        ),
        (
            "What is the height difference between the tallest and the shortest rider?",
            lambda: max(r.height_cm for r in riders) - min(r.height_cm for r in riders),
        ),
        (
            "List the nationalities that have more than two riders.",
            lambda: [n for n, c in Counter(r.nationality for r in riders).items() if c > 2],
        ),
        (
            "Who is heavier than the average rider?",
            lambda: names(r for r in riders if r.weight_kg > mean(x.weight_kg for x in riders)),
        ),
        (
            "What percentage of the riders are sprinters?",
            lambda: 100 * mean(r.role == "sprinter" for r in riders),
        ),
        ("Are there any riders without a team?", lambda: True),
    ]


def _joined(g: dict[str, list[Thing]]) -> list[Asked]:
    teams, riders, races, stages, sponsors = (
        g[k] for k in ("teams", "riders", "races", "stages", "sponsors")
    )
    of = {t: [r for r in riders if r.rides_for is t] for t in teams}
    at = {r: [s for s in stages if s.part_of is r] for r in races}
    return [
        (
            "Show each team's name together with its number of riders.",
            lambda: [(t.name, len(x)) for t, x in of.items()],
        ),
        ("Who rides for Squadra Nove?", lambda: names(of[teams[2]])),
        (
            "Which teams are sponsored by an energy company?",
            lambda: names(t for t in teams if t.main_sponsor and t.main_sponsor.industry == "energy"),
        ),
        (
            "What are the names of the riders on teams from Norway?",
            lambda: names(r for r in riders if r.rides_for and r.rides_for.country == "Norway"),
        ),
        ("Which team has the biggest budget and who sponsors it?", lambda: [("Squadra Nove", "Corsa Tyres")]),
        ("Which teams have no sponsor?", lambda: names(t for t in teams if t.main_sponsor is None)),
        (
            "Which sponsors do not sponsor any team?",
            lambda: names(s for s in sponsors if not any(t.main_sponsor is s for t in teams)),
        ),
        (
            "Return the names of sponsors that sponsor at least two teams.",
            lambda: names(s for s in sponsors if sum(t.main_sponsor is s for t in teams) > 1),
        ),
        ("How many stages does the Giro delle Alpi have?", lambda: len(at[races[1]])),
        (
            "What is the total distance of the Tour of the Pyrenees?",
            lambda: sum(s.distance_km for s in at[races[0]]),
        ),
        ("Which races do not have any stage?", lambda: names(r for r, s in at.items() if not s)),
        (
            "For each race, what is its longest stage in km?",
            lambda: [(r.name, max(x.distance_km for x in s)) for r, s in at.items() if s],
        ),
        (
            "Which race has the most climbing overall?",
            lambda: names(most({r: sum(x.elevation_gain for x in s) for r, s in at.items()})),
        ),
        (
            "What is the average height of Velo Lyon's riders?",
            lambda: mean(r.height_cm for r in of[teams[3]]),
        ),
        (
            "Which team has the heaviest riders on average?",
            lambda: names(most({t: mean(r.weight_kg for r in x) for t, x in of.items() if x})),
        ),
        (
            "In which countries is there both a team and a race?",
            lambda: sorted({t.country for t in teams} & {r.country for r in races}),
        ),
        (
            "How many stages were ridden in each year?",
            lambda: [*Counter(int(s.stage_date[:4]) for s in stages).items()],
        ),
        ("Which riders are currently without a team?", lambda: ["Bram Visser"]),
    ]


def _ridden(g: dict[str, list[Thing]]) -> list[Asked]:
    teams, riders, races, stages, results = (g[k] for k in ("teams", "riders", "races", "stages", "results"))
    of = {r: [x for x in results if x.ridden_by is r] for r in riders}
    on = {s: [x for x in results if x.on_stage is s] for s in stages}

    def points(some: list[Thing]) -> int:
        return sum(x.points for x in some)

    def won(r: Thing) -> int:
        return sum(x.position == 1 for x in of[r])

    return [
        (
            "Who won stage 2 of the Giro delle Alpi?",
            lambda: [x.ridden_by.name for x in on[stages[5]] if x.position == 1],
        ),
        (
            "How many stages has each rider won? Only list riders with at least one win.",
            lambda: [(r.name, won(r)) for r in riders if won(r)],
        ),
        (
            "Which rider scored the most points in total?",
            lambda: names(most({r: points(x) for r, x in of.items()})),
        ),
        (
            "List the riders who finished in the top three on a mountain stage.",
            lambda: names(
                {
                    x.ridden_by
                    for x in results
                    if x.position and x.position <= 3 and x.on_stage.profile == "mountain"
                }
            ),
        ),
        ("Which riders have never finished first?", lambda: names(r for r in riders if not won(r))),
        (
            "How many results are marked as did not finish?",
            lambda: sum(x.status == "did not finish" for x in results),
        ),
        (
            "Which stage had the fewest participants?",
            lambda: names(most({s: -len(x) for s, x in on.items()})),
        ),
        (
            "Total points per team, highest first.",
            lambda: [
                (t.name, points([x for x in results if x.ridden_by.rides_for is t]))
                for t in teams
                if any(x.ridden_by.rides_for is t for x in results)
            ],
        ),
        (
            "What was the winning time, in seconds, of the Fjord Classic?",
            lambda: [x.time_seconds for x in on[stages[7]] if x.position == 1],
        ),
        (
            "Which riders took part in both the Tour of the Pyrenees and Breton Week?",
            lambda: names(
                {x.ridden_by for x in results if x.on_stage.part_of is races[0]}
                & {x.ridden_by for x in results if x.on_stage.part_of is races[3]}
            ),
        ),
        (
            "How many different riders from Fjord Racing have won a stage?",
            lambda: sum(won(r) > 0 for r in riders if r.rides_for is teams[1]),
        ),
        (
            "Which riders took part in more than six stages?",
            lambda: names(r for r, x in of.items() if len(x) > 6),
        ),
        (
            "What is Sven Dahl's average finishing position?",
            lambda: mean(x.position for x in of[riders[4]] if x.position),
        ),
        (
            "How many points did riders younger than Marco Tosi score altogether?",
            lambda: points([x for x in results if x.ridden_by.birth_date > riders[7].birth_date]),
        ),
        (
            "Which nationality has the most stage wins?",
            lambda: most(Counter(x.ridden_by.nationality for x in results if x.position == 1)),
        ),
    ]


def _missing() -> list[Asked]:
    nothing: list[Any] = [
        "What brand of bike does Mateo Ruiz ride?",
        "How many doping tests did Lars Eide fail?",
        "What is the prize money for winning Breton Week?",
        "Who coaches Team Borealis?",
        "How many spectators watched the Fjord Classic?",
        "What was the temperature on the first stage of the Tour of the Pyrenees?",
    ]
    return [(question, lambda: None) for question in nothing]
