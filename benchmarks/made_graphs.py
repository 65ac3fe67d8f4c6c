"""Questions over thirteen made graphs of domains that no other graph of the benchmarks has.

    python benchmarks/made_graphs.py                 # all
    python benchmarks/made_graphs.py --only isles    # the one that nothing was built for
    python benchmarks/made_graphs.py --wrong         # and what was wrong or refused

Graphs and answers are computed here in plain Python, from a seed; each question was written down before the
parser was worked on for it. Answers are computed or refused (`how="plan"`), without a language model.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from made_auction import auction
from made_cycling import cycling
from made_guests import guests
from made_isles import isles
from made_lands import germany
from made_league import league
from made_marina import marina
from made_papers import papers
from made_things import Asked, Thing, day, most, names, turtle
from made_trades import films, shop
from made_wards import wards
from structured_questions import line_of, loaded

from mrag.evaluation import GoldQuestion, evaluate_questions
from mrag.evaluation.answers import Outcome, Prediction, outcome
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.results import CERTAIN

# -- an animal clinic: what was built was checked on it ------------------------------------------------


def clinic() -> tuple[str, list[Asked]]:
    """Return the graph of some animal clinics, and questions."""
    rng = random.Random(7)
    towns = [
        Thing("Town", n, {"inhabitants": p})
        for n, p in (("Ashford", 74000), ("Brill", 1200), ("Corby", 61000), ("Dunster", 900), ("Ely", 20500))
    ]
    clinics = [
        Thing("Clinic", n, {"locatedIn": towns[t], "openedIn": y, "rooms": r})
        for n, t, y, r in (
            ("Paws & Co", 0, 1998, 9),
            ("Green Lane", 2, 2006, 6),
            ("Riverside Vets", 4, 2011, 4),
            ("Old Mill", 0, 2018, 3),
        )
    ]
    vets = [
        Thing("Vet", n, {"worksAt": clinics[c], "speciality": s, "hiredOn": h, "salary": w})
        for n, c, s, h, w in (
            ("Irene Adler", 0, "surgery", "2009-03-02", 71000),
            ("Tom Okoro", 0, "dentistry", "2015-09-14", 58000),
            ("Mia Lund", 1, "surgery", "2012-01-09", 64500),
            ("Raj Patel", 1, "exotics", "2019-06-01", 52000),
            ("Eva Stone", 2, "dermatology", "2016-04-18", 56000),
            ("Noah Berg", 3, "surgery", "2021-02-22", 49500),
            ("Lia Costa", 3, "dermatology", "2022-10-03", 47000),
        )
    ]
    owners = [
        Thing("Owner", n, {"livesIn": towns[t], "phone": f"0{rng.randint(10**8, 10**9)}"})
        for n, t in (
            ("Ann Field", 0),
            ("Ben Marsh", 0),
            ("Carla Diaz", 2),
            ("Dev Shah", 2),
            ("Ed Poole", 4),
            ("Fay Moss", 1),
            ("Gus Hill", 4),
            ("Hana Sato", 0),
            ("Ian Reed", 2),
        )
    ]
    species = ["cat", "dog", "rabbit", "parrot"]
    weights = {"cat": (3, 6), "dog": (8, 40), "rabbit": (1, 3), "parrot": (0, 1)}
    pets = []
    for n, name in enumerate(
        "Milo Bella Oscar Luna Rex Daisy Coco Felix Nala Biscuit Zorro Pixie Shadow Toffee Kiwi Ruby".split()
    ):
        kind = species[(n * 7 + n // 5) % 4] if n > 3 else species[n]
        low, high = weights[kind]
        value = {
            "species": kind,
            "weight": round(low + rng.random() * (high - low), 1),
            "bornOn": day(rng, 2010, 2022),
        }
        pets.append(
            Thing(
                "Pet", name, {**value, "ownedBy": owners[(0, 0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 7, 1, 2, 6, 3)[n]]}
            )
        )
    makers = [Thing("Maker", n, {"headquarters": t}) for n, t in (("Zoevet", towns[2]), ("Animax", towns[0]))]
    drugs = [
        Thing("Medicine", n, {"madeBy": makers[m], "pricePerDose": p})
        for n, m, p in (
            ("Calmivet", 0, 4.5),
            ("Dermasol", 1, 12.25),
            ("Wormex", 0, 3.2),
            ("Painaway", 1, 7.9),
            ("Auriclean", 1, 9.4),
        )
    ]
    reasons = ["check-up", "vaccination", "injury", "skin problem", "dental care"]
    visits = []
    for n in range(60):
        pet = pets[rng.randrange(14)]
        given = rng.sample(drugs[:4], rng.choice((0, 0, 1, 1, 2)))
        value = {"patient": pet, "attendedBy": rng.choice(vets[:6]), "visitDate": day(rng, 2020, 2023)}
        value |= {"reason": rng.choice(reasons), "fee": rng.randrange(30, 240, 5), "prescribed": given}
        visits.append(Thing("Visit", f"V{n + 1:03}", value))
    labels = {
        "locatedIn": "located in",
        "openedIn": "year opened",
        "rooms": "number of rooms",
        "worksAt": "works at",
        "hiredOn": "hire date",
        "livesIn": "lives in",
        "bornOn": "date of birth",
        "ownedBy": "owned by",
        "madeBy": "made by",
        "pricePerDose": "price per dose",
        "attendedBy": "attended by",
        "visitDate": "visit date",
        "Vet": "veterinarian",
    }
    graph = turtle("clinic", [*towns, *clinics, *vets, *owners, *pets, *makers, *drugs, *visits], labels)
    of = {p: [v for v in visits if v.patient is p] for p in pets}
    seen = {v: [x for x in visits if x.attendedBy is v] for v in vets}
    year = lambda v: v.visitDate[:4]  # noqa: E731
    questions: list[Asked] = [
        ("How many dogs are there?", lambda: sum(p.species == "dog" for p in pets)),
        ("Which pets does Ann Field own?", lambda: names(p for p in pets if p.ownedBy.name == "Ann Field")),
        ("Who owns Luna?", lambda: [p.ownedBy.name for p in pets if p.name == "Luna"]),
        ("Who owns the heaviest pet?", lambda: [max(pets, key=lambda p: p.weight).ownedBy.name]),
        ("What is the average fee of a visit?", lambda: mean(v.fee for v in visits)),
        ("avg fee per reason", lambda: [(r, mean(v.fee for v in visits if v.reason == r)) for r in reasons]),
        ("Which vet attended the most visits?", lambda: names(most({v: len(s) for v, s in seen.items()}))),
        (
            "Which veterinarians work in Ashford?",
            lambda: names(v for v in vets if v.worksAt.locatedIn.name == "Ashford"),
        ),
        ("How many visits were there in 2021?", lambda: sum(year(v) == "2021" for v in visits)),
        (
            "Which owners live in a town with fewer than 5000 inhabitants?",
            lambda: names(o for o in owners if o.livesIn.inhabitants < 5000),
        ),
        ("Which pets have never visited?", lambda: names(p for p in pets if not of[p])),
        (
            "pets that were never prescribed anything",
            lambda: names(p for p in pets if not any(v.prescribed for v in of[p])),
        ),
        (
            "How many pets have a visit and how many have no visit?",
            lambda: [(sum(bool(of[p]) for p in pets), sum(not of[p] for p in pets))],
        ),
        (
            "What share of visits were for vaccination?",
            lambda: sum(v.reason == "vaccination" for v in visits) / len(visits),
        ),
        (
            "What percentage of each vet's visits were vaccinations?",
            lambda: [
                (v.name, 100 * sum(x.reason == "vaccination" for x in s) / len(s))
                for v, s in seen.items()
                if s
            ],
        ),
        ("Which medicine is the most expensive?", lambda: names([max(drugs, key=lambda d: d.pricePerDose)])),
        ("Who makes the cheapest medicine?", lambda: [min(drugs, key=lambda d: d.pricePerDose).madeBy.name]),
        (
            "How many medicines does each maker make?",
            lambda: list(Counter(d.madeBy.name for d in drugs).items()),
        ),
        (
            "Which medicines were never prescribed?",
            lambda: names(d for d in drugs if not any(d in v.prescribed for v in visits)),
        ),
        ("List the vets that earn more than 55000.", lambda: names(v for v in vets if v.salary > 55000)),
        ("Which vets were hired before 2015?", lambda: names(v for v in vets if v.hiredOn < "2015")),
        ("Which clinic has the most vets?", lambda: names(most(Counter(v.worksAt for v in vets)))),
        (
            "total fees by clinic",
            lambda: [
                (c.name, sum(v.fee for v in visits if v.attendedBy.worksAt is c))
                for c in clinics
                if any(v.attendedBy.worksAt is c for v in visits)
            ],
        ),
        (
            "In which town is the oldest clinic?",
            lambda: [min(clinics, key=lambda c: c.openedIn).locatedIn.name],
        ),
        ("Which clinics opened after Green Lane?", lambda: names(c for c in clinics if c.openedIn > 2006)),
        ("Does Mia Lund work at Green Lane?", lambda: True),
        ("Which species is seen most often?", lambda: most(Counter(v.patient.species for v in visits))),
        (
            "What are the three heaviest pets?",
            lambda: [(p.name, p.weight) for p in sorted(pets, key=lambda p: -p.weight)[:3]],
        ),
        (
            "How much did Ben Marsh pay in total?",
            lambda: sum(v.fee for v in visits if v.patient.ownedBy.name == "Ben Marsh"),
        ),
        (
            "Which owners have more than two pets?",
            lambda: names(o for o, n in Counter(p.ownedBy for p in pets).items() if n > 2),
        ),
        (
            "Which vets earn more than the average salary?",
            lambda: names(v for v in vets if v.salary > mean(w.salary for w in vets)),
        ),
        ("What is the difference in salary between Irene Adler and Noah Berg?", lambda: 71000 - 49500),
        (
            "When was the last visit of Milo?",
            lambda: [max(v.visitDate for v in visits if v.patient.name == "Milo")],
        ),
        (
            "Which pets are owned by someone from Corby?",
            lambda: names(p for p in pets if p.ownedBy.livesIn.name == "Corby"),
        ),
        (
            "How many vets are there for each speciality?",
            lambda: list(Counter(v.speciality for v in vets).items()),
        ),
        ("Which vet earns the least at Paws & Co?", lambda: ["Tom Okoro"]),
        ("How many visits ended with surgery insurance claims?", lambda: None),
        ("Which pets are microchipped?", lambda: None),
        ("What is the email address of Ann Field?", lambda: None),
        ("Which vet trained in Edinburgh?", lambda: None),
    ]
    return graph, questions


# -- wind farms: held out --------------------------------------------------------------------------------


def turbines() -> tuple[str, list[Asked]]:
    """Return the graph of some wind farms, and questions."""
    rng = random.Random(11)
    regions = [
        Thing("Region", n, {"area": a})
        for n, a in (("Nordmark", 15800.5), ("Estia", 9200.0), ("Tarn", 4100.0))
    ]
    operators = [
        Thing("Operator", n, {"foundedIn": y, "employees": e})
        for n, y, e in (
            ("Gale Energy", 1999, 320),
            ("BluePeak", 2009, 150),
            ("Nordwind", 1987, 780),
            ("Aeolus", 2015, 40),
        )
    ]
    farms = [
        Thing(
            "WindFarm",
            n,
            {"region": regions[r], "operatedBy": operators[o], "commissioned": c, "offshore": w},
        )
        for n, r, o, c, w in (
            ("Black Hill", 0, 0, "2003-05-12", False),
            ("Sea Gate", 1, 2, "2014-08-30", True),
            ("Long Ridge", 0, 2, "2009-10-01", False),
            ("Cape Horn Bank", 1, 2, "2019-03-21", True),
            ("Mill Plain", 2, 1, "2011-06-15", False),
            ("West Sands", 2, 0, "2017-11-05", True),
        )
    ]
    makers = [
        Thing("Manufacturer", n, {"country": c})
        for n, c in (
            ("Vestar", "Denmark"),
            ("Siegen Wind", "Germany"),
            ("Galaxia", "Spain"),
            ("Orkan", "Germany"),
        )
    ]
    models = [
        Thing("Model", n, {"producedBy": makers[m], "ratedPower": p, "rotorDiameter": d, "listPrice": e})
        for n, m, p, d, e in (
            ("V90", 0, 3000, 90, 2.9),
            ("V117", 0, 4200, 117, 3.8),
            ("SW-130", 1, 4300, 130, 4.0),
            ("SW-193", 1, 14000, 193, 12.5),
            ("G80", 2, 2000, 80, 1.8),
            ("O-64", 3, 1100, 64, 0.9),
        )
    ]
    towers = []
    for n in range(38):
        farm = farms[(0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5)[n % 19]]
        model = models[rng.choice((0, 1, 4)) if not farm.offshore else rng.choice((2, 3))]
        value = {
            "partOf": farm,
            "model": model,
            "hubHeight": rng.choice((65, 80, 95, 105, 120)),
            "built": int(farm.commissioned[:4]),
        }
        towers.append(Thing("Turbine", f"T-{n + 1:02}", value))
    crew = [
        Thing("Technician", n, {"employer": operators[o], "certifiedUntil": c})
        for n, o, c in (
            ("Ola Brandt", 0, "2024-04-30"),
            ("Kim Sung", 0, "2023-09-15"),
            ("Petra Novak", 2, "2025-01-31"),
            ("Hugo Lind", 2, "2023-02-28"),
            ("Sara Weiss", 1, "2024-11-11"),
            ("Jon Eide", 2, "2024-06-06"),
        )
    ]
    causes = ["gearbox failure", "lightning strike", "sensor fault", "blade damage"]
    outages = []
    for n in range(55):
        start = day(rng, 2019, 2023)
        value = {"affects": towers[rng.randrange(34)], "began": start, "cause": rng.choice(causes)}
        value |= {"lostEnergy": rng.randrange(5, 400), "repairedBy": rng.choice([*crew[:5], None])}
        outages.append(Thing("Outage", f"O-{n + 1:03}", value))
    labels = {
        "WindFarm": "wind farm",
        "foundedIn": "founded in",
        "operatedBy": "operated by",
        "commissioned": "commissioning date",
        "producedBy": "produced by",
        "ratedPower": "rated power (kW)",
        "rotorDiameter": "rotor diameter",
        "listPrice": "list price (million EUR)",
        "partOf": "part of",
        "hubHeight": "hub height",
        "built": "year built",
        "certifiedUntil": "certified until",
        "lostEnergy": "lost energy",
        "repairedBy": "repaired by",
        "began": "began on",
    }
    graph = turtle(
        "turbines", [*regions, *operators, *farms, *makers, *models, *towers, *crew, *outages], labels
    )
    of = {t: [o for o in outages if o.affects is t] for t in towers}
    at = {f: [t for t in towers if t.partOf is f] for f in farms}
    questions: list[Asked] = [
        ("How many turbines does Sea Gate have?", lambda: len(at[farms[1]])),
        ("Which wind farms are in Nordmark?", lambda: names(f for f in farms if f.region is regions[0])),
        ("number of turbines per wind farm", lambda: [(f.name, len(t)) for f, t in at.items()]),
        ("Who operates Mill Plain?", lambda: ["BluePeak"]),
        ("Who produces the model with the largest rotor diameter?", lambda: ["Siegen Wind"]),
        ("Who operates the oldest wind farm?", lambda: ["Gale Energy"]),
        ("Which manufacturers are from Germany?", lambda: ["Orkan", "Siegen Wind"]),
        ("What is the highest hub height?", lambda: max(t.hubHeight for t in towers)),
        (
            "What is the mean hub height of the turbines of Long Ridge?",
            lambda: mean(t.hubHeight for t in at[farms[2]]),
        ),
        ("Which operator has the most employees?", lambda: ["Nordwind"]),
        (
            "How many outages were caused by lightning strikes?",
            lambda: sum(o.cause == causes[1] for o in outages),
        ),
        (
            "How many outages were there in each year?",
            lambda: [(int(y), n) for y, n in Counter(o.began[:4] for o in outages).items()],
        ),
        ("What was the most frequent cause of outages?", lambda: most(Counter(o.cause for o in outages))),
        (
            "Total lost energy by cause",
            lambda: [(c, sum(o.lostEnergy for o in outages if o.cause == c)) for c in causes],
        ),
        ("Which turbines never had an outage?", lambda: names(t for t in towers if not of[t])),
        (
            "Which turbine models are not used by any turbine?",
            lambda: names(m for m in models if not any(t.model is m for t in towers)),
        ),
        (
            "Which technicians repaired nothing?",
            lambda: names(c for c in crew if not any(o.repairedBy is c for o in outages)),
        ),
        (
            "How many outages have a technician who repaired them and how many have none?",
            lambda: [
                (sum(o.repairedBy is not None for o in outages), sum(o.repairedBy is None for o in outages))
            ],
        ),
        (
            "What share of the turbines of each wind farm is taller than 100?",
            lambda: [(f.name, sum(t.hubHeight > 100 for t in s) / len(s)) for f, s in at.items()],
        ),
        (
            "What percentage of outages were sensor faults?",
            lambda: 100 * sum(o.cause == causes[2] for o in outages) / len(outages),
        ),
        (
            "Which wind farms have more than six turbines?",
            lambda: names(f for f, t in at.items() if len(t) > 6),
        ),
        (
            "Which wind farms opened in the same year as BluePeak was founded?",
            lambda: names(f for f in farms if f.commissioned[:4] == "2009"),
        ),
        (
            "Which wind farms are bigger than Black Hill by number of turbines?",
            lambda: names(f for f, t in at.items() if len(t) > len(at[farms[0]])),
        ),
        ("models with a rated power of at least 4000 kW", lambda: ["SW-130", "SW-193", "V117"]),
        ("List the models cheaper than the SW-130.", lambda: ["G80", "O-64", "V117", "V90"]),
        ("Which technicians' certification ended before 2024?", lambda: ["Hugo Lind", "Kim Sung"]),
        ("Who does Petra Novak work for?", lambda: ["Nordwind"]),
        (
            "How much energy was lost at Cape Horn Bank?",
            lambda: sum(o.lostEnergy for o in outages if o.affects.partOf is farms[3]),
        ),
        (
            "Which wind farm lost the most energy?",
            lambda: names(
                most({f: sum(o.lostEnergy for o in outages if o.affects.partOf is f) for f in farms})
            ),
        ),
        ("Is West Sands offshore?", lambda: True),
        ("Which farms are offshore?", lambda: names(f for f in farms if f.offshore)),
        ("When was Long Ridge commissioned?", lambda: ["2009-10-01"]),
        ("Which operators were founded between 1990 and 2010?", lambda: ["BluePeak", "Gale Energy"]),
        (
            "In which region is the wind farm with the most turbines?",
            lambda: sorted({f.region.name for f in most({f: len(t) for f, t in at.items()})}),
        ),
        ("What are the two most expensive models?", lambda: [("SW-193", 12.5), ("SW-130", 4.0)]),
        (
            "How many technicians does each operator employ?",
            lambda: list(Counter(c.employer.name for c in crew).items()),
        ),
        ("Which turbines are near a school?", lambda: None),
        ("How many birds were killed by T-01?", lambda: None),
        ("What is the salary of Ola Brandt?", lambda: None),
        ("Which insurance company covers Sea Gate?", lambda: None),
    ]
    return graph, questions


GRAPHS = {
    "clinic": clinic,
    "turbines": turbines,
    "germany": germany,
    "films": films,
    "shop": shop,
    "papers": papers,
    "isles": isles,
    "marina": marina,
    "auction": auction,
    "wards": wards,
    "league": league,
    "cycling": cycling,
    "guests": guests,
}


def gold(name: str, number: int, question: str, found: Any) -> GoldQuestion:
    """Return a question with its answer; a value is one row, and None an answer that there is not."""
    rows = found if isinstance(found, list) else [] if found is None else [found]
    cells = [list(r) if isinstance(r, tuple) else [r] for r in rows]
    said: dict[str, Any] = {"id": f"{name}-{number:02}", "question": question, "category": name}
    return GoldQuestion.of({**said, "answers": cells} if cells else {**said, "answerable": False})


def told(
    kg: KnowledgeGraph, questions: Sequence[GoldQuestion], *, wrong: bool
) -> list[tuple[GoldQuestion, Outcome, Prediction]]:
    """Return what is told of questions, and print what was wrong or refused if that is wanted."""
    predictions = [Prediction.from_json(p) for p in evaluate_questions(kg, questions, how="plan").predictions]
    every = [(q, outcome(q, p), p) for q, p in zip(questions, predictions, strict=True)]
    for question, found, prediction in every if wrong else ():
        if question.answerable != found.score.exact or (
            not question.answerable and prediction.answers is not None
        ):
            told_ = prediction.answers or prediction.guess
            print(f"- {question.text}\n    {told_} {prediction.why} {prediction.confidence}")
    return every


def measure(name: str, *, wrong: bool) -> str:
    """Return a graph's line of the table, and print what was wrong or refused if that is wanted."""
    graph, asked = GRAPHS[name]()
    questions = [gold(name, n, q, found()) for n, (q, found) in enumerate(asked)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.ttl"
        path.write_text(graph, encoding="utf-8")
        with loaded(path) as kg:
            found = told(kg, questions, wrong=wrong)
    certain = [o for q, o, p in found if q.answerable and (p.confidence or 0.0) >= CERTAIN]
    return line_of(name, [o for _, o, _ in found], [q.answerable for q, _, _ in found], certain)


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--only", action="append", choices=tuple(GRAPHS))
    options.add_argument("--wrong", action="store_true", help="print what was wrong or refused")
    args = options.parse_args()
    lines = [measure(name, wrong=args.wrong) for name in args.only or GRAPHS]
    columns = "graph questions said of_these exact best F1 given certain refused".split()
    print(f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *lines, sep="\n")


if __name__ == "__main__":
    main()
