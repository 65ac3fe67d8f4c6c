"""A graph of a guesthouse with questions about dates, times and texts, for `made_graphs.py`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from statistics import mean
from typing import Any

from made_things import Asked, Thing, most, names, turtle

_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _things() -> dict[str, list[Thing]]:
    rng = random.Random(77)
    rooms = [
        Thing("Room", n, {"floor": f, "nightlyRate": r, "code": c})
        for n, f, r, c in (
            ("Heron", 1, 95, "HER-101"),
            ("Kestrel", 1, 120, "KES-102"),
            ("Swallow", 2, 88, "SWA-201"),
            ("Lapwing", 2, 140, "LAP-202"),
            ("Egret", 3, 175, "EGR-301"),
        )
    ]
    guests = [
        Thing("Guest", n, {"email": e, "phone": p, "dateOfBirth": b})
        for n, e, p, b in (
            ("Adele Krause", "adele.krause@posteo.de", "+49 30 1234", "1984-03-17"),
            ("Brian O'Dell", "brian@odell.com", "+353 1 5567", "1971-11-02"),
            ("Chiara Fonti", "c.fonti@libero.it", "+39 06 8812", "1990-05-29"),
            ("Dmitri Sokol", "sokol@mail.com", "+371 6 7788", "1966-01-08"),
            ("Esther Adeyemi", "esther.a@mail.com", "+44 20 9911", "1995-08-21"),
            ("Frank Amsel", "frank@amsel.de", "+49 89 4400", "1959-12-30"),
            ("Greta Lindh", "greta.lindh@telia.se", "+46 8 2301", "2001-05-03"),
        )
    ]
    stays = []
    for n in range(48):
        arrival = date(2021, 1, 4) + timedelta(rng.randrange(1040))
        booked = datetime(arrival.year, arrival.month, arrival.day) - timedelta(
            days=rng.randrange(1, 90), minutes=rng.randrange(1440)
        )
        stays.append(
            Thing(
                "Stay",
                f"G{n + 1:03}",
                {
                    "guest": guests[rng.choice((0, 0, 1, 2, 2, 2, 3, 4, 4, 5))],
                    "room": rooms[rng.randrange(5)],
                    "arrivalDate": arrival,
                    "departureDate": arrival + timedelta(rng.choice((1, 1, 2, 2, 3, 4, 6, 7, 9, 15))),
                    "bookedAt": booked,
                    "channel": rng.choice(("phone", "website", "agency")),
                    "note": rng.choice(
                        (None, None, "late check-in", "asks for a late breakfast", "no parking")
                    ),
                },
            )
        )
    return {"rooms": rooms, "guests": guests, "stays": stays}


def guests() -> tuple[str, list[Asked]]:
    """Return the graph of a guesthouse, and questions."""
    t = _things()
    rooms, people, stays = t["rooms"], t["guests"], t["stays"]
    labels = {
        "nightlyRate": "nightly rate",
        "dateOfBirth": "date of birth",
        "arrivalDate": "arrival date",
        "departureDate": "departure date",
        "bookedAt": "booked at",
    }
    graph = turtle("guests", [*rooms, *people, *stays], labels)

    def nights(s: Thing) -> int:
        return int((s.departureDate - s.arrivalDate).days)

    def day(s: Thing) -> str:
        return _DAYS[s.arrivalDate.weekday()]

    def quarter(when: date) -> int:
        return (when.month + 2) // 3

    def some(found: Iterable[Thing]) -> Any:
        return names(found)

    def count(found: Iterable[Any]) -> int:
        return sum(bool(x) for x in found)

    def per(found: Iterable[Any]) -> list[Any]:
        return list(Counter(found).items())

    born = lambda g: date.fromisoformat(g.dateOfBirth)  # noqa: E731
    questions: list[Asked] = [
        # weekdays
        ("How many stays began on a Monday?", lambda: count(day(s) == "Monday" for s in stays)),
        (
            "How many stays have an arrival date on a Friday?",
            lambda: count(day(s) == "Friday" for s in stays),
        ),
        ("Which guests arrived on a Sunday?", lambda: some({s.guest for s in stays if day(s) == "Sunday"})),
        (
            "How many guests departed on a Tuesday?",
            lambda: len({s.guest for s in stays if s.departureDate.weekday() == 1}),
        ),
        ("How many arrivals were on the weekend?", lambda: count(s.arrivalDate.weekday() > 4 for s in stays)),
        (
            "How many stays are there per weekday of the arrival date?",
            lambda: per(s.arrivalDate.isoweekday() for s in stays),
        ),
        ("number of stays by weekday of arrival", lambda: per(s.arrivalDate.isoweekday() for s in stays)),
        (
            "On which weekday do the most stays begin?",
            lambda: [max(Counter(s.arrivalDate.isoweekday() for s in stays).items(), key=lambda x: x[1])[0]],
        ),
        ("Which stays began on a weekday?", lambda: some(s for s in stays if s.arrivalDate.weekday() < 5)),
        # quarters
        (
            "How many stays began in the second quarter of 2022?",
            lambda: count(s.arrivalDate.year == 2022 and quarter(s.arrivalDate) == 2 for s in stays),
        ),
        (
            "How many stays began in Q3 2021?",
            lambda: count(s.arrivalDate.year == 2021 and quarter(s.arrivalDate) == 3 for s in stays),
        ),
        (
            "How many stays began in the fourth quarter?",
            lambda: count(quarter(s.arrivalDate) == 4 for s in stays),
        ),
        (
            "How many stays have an arrival date in the first quarter of any year?",
            lambda: count(quarter(s.arrivalDate) == 1 for s in stays),
        ),
        (
            "How many stays were there per quarter of the arrival date?",
            lambda: [(q, n) for q, n in Counter(quarter(s.arrivalDate) for s in stays).items()],
        ),
        # months
        ("Which guests were born in May?", lambda: some(g for g in people if born(g).month == 5)),
        ("How many stays began in March?", lambda: count(s.arrivalDate.month == 3 for s in stays)),
        (
            "How many stays began in July or August?",
            lambda: count(s.arrivalDate.month in (7, 8) for s in stays),
        ),
        (
            "How many stays began in October 2022?",
            lambda: count(s.arrivalDate.year == 2022 and s.arrivalDate.month == 10 for s in stays),
        ),
        (
            "Which stays started in June 2021?",
            lambda: some(s for s in stays if (s.arrivalDate.year, s.arrivalDate.month) == (2021, 6)),
        ),
        (
            "How many stays began between March and June 2023?",
            lambda: count(s.arrivalDate.year == 2023 and 3 <= s.arrivalDate.month <= 6 for s in stays),
        ),
        (
            "How many stays began between March 2022 and June 2022?",
            lambda: count(s.arrivalDate.year == 2022 and 3 <= s.arrivalDate.month <= 6 for s in stays),
        ),
        ("How many stays did not begin in 2022?", lambda: count(s.arrivalDate.year != 2022 for s in stays)),
        (
            "How many stays are there per month of the arrival date?",
            lambda: per(f"{s.arrivalDate:%Y-%m}" for s in stays),
        ),
        (
            "In which month did the most stays begin?",
            lambda: sorted(most(Counter(f"{s.arrivalDate:%Y-%m}" for s in stays))),
        ),
        (
            "How many guests were born in the 1990s?",
            lambda: count(1990 <= born(g).year < 2000 for g in people),
        ),
        ("Who was born on 29 May 1990?", lambda: ["Chiara Fonti"]),
        ("Who was born after June 1984?", lambda: some(g for g in people if g.dateOfBirth > "1984-06-30")),
        # hours
        ("How many stays were booked before noon?", lambda: count(s.bookedAt.hour < 12 for s in stays)),
        (
            "How many stays were booked after 18:00?",
            lambda: count(s.bookedAt.time().isoformat() > "18:00:00" for s in stays),
        ),
        (
            "How many stays were booked between 9 am and 5 pm?",
            lambda: count("09:00:00" <= s.bookedAt.time().isoformat() <= "17:00:00" for s in stays),
        ),
        ("How many stays were booked per hour?", lambda: per(s.bookedAt.hour for s in stays)),
        (
            "How many stays were booked on a Saturday?",
            lambda: count(s.bookedAt.weekday() == 5 for s in stays),
        ),
        ("How many stays were booked per year?", lambda: per(s.bookedAt.year for s in stays)),
        # differences
        ("What is the longest stay?", lambda: some(most({s: nights(s) for s in stays}))),
        (
            "Which stay was the longest, and how many days did it last?",
            lambda: [(s.name, nights(s)) for s in most({s: nights(s) for s in stays})],
        ),
        ("Which stays lasted longer than a week?", lambda: some(s for s in stays if nights(s) > 7)),
        ("Which stays lasted at least 9 days?", lambda: some(s for s in stays if nights(s) >= 9)),
        ("What is the average length of a stay in days?", lambda: mean(nights(s) for s in stays)),
        (
            "What is the average duration of stays in Egret?",
            lambda: mean(nights(s) for s in stays if s.room.name == "Egret"),
        ),
        (
            "How many days are there between the arrival date and the departure date of G005?",
            lambda: [nights(s) for s in stays if s.name == "G005"],
        ),
        ("How many days did G007 last?", lambda: [nights(s) for s in stays if s.name == "G007"]),
        ("How long was stay G009?", lambda: [nights(s) for s in stays if s.name == "G009"]),
        (
            "Which guest had the longest stay?",
            lambda: some({s.guest for s in most({s: nights(s) for s in stays})}),
        ),
        (
            "What is the average number of days between arrival and departure per room?",
            lambda: [(r.name, mean(nights(s) for s in stays if s.room is r)) for r in rooms],
        ),
        (
            "How many days after G001 did G002 begin?",
            lambda: abs((stays[1].arrivalDate - stays[0].arrivalDate).days),
        ),
        (
            "How many days lie between the arrival dates of G003 and G004?",
            lambda: abs((stays[3].arrivalDate - stays[2].arrivalDate).days),
        ),
        (
            "How many years are between the births of Adele Krause and Brian O'Dell?",
            lambda: (born(people[0]) - born(people[1])).days / 365.25,
        ),
        # texts
        (
            "Which guests have an email that ends in .com?",
            lambda: some(g for g in people if g.email.endswith(".com")),
        ),
        (
            "Which guests have a .de email address?",
            lambda: some(g for g in people if g.email.endswith(".de")),
        ),
        (
            "How many guests have an email address at mail.com?",
            lambda: count(g.email.endswith("mail.com") for g in people),
        ),
        (
            "Which guests have an email ending with '.de'?",
            lambda: some(g for g in people if g.email.endswith(".de")),
        ),
        (
            "Which guests' phone starts with +49?",
            lambda: some(g for g in people if g.phone.startswith("+49")),
        ),
        (
            "Which guests have a name that starts with C?",
            lambda: some(g for g in people if g.name.startswith("C")),
        ),
        ("Whose name contains 'del'?", lambda: some(g for g in people if "del" in g.name.lower())),
        (
            "How many stays have a note that contains 'late'?",
            lambda: count(s.note and "late" in s.note for s in stays),
        ),
        (
            "Which stays have a note mentioning breakfast?",
            lambda: some(s for s in stays if s.note and "breakfast" in s.note),
        ),
        ("Which rooms have a code beginning with 'LAP'?", lambda: ["Lapwing"]),
        (
            "Which rooms have a code that does not end in 01?",
            lambda: some(r for r in rooms if not r.code.endswith("01")),
        ),
        ("rooms whose name contains the letter w", lambda: some(r for r in rooms if "w" in r.name.lower())),
        # not in this graph
        ("How many guests have a passport that ends in 77?", lambda: None),
        ("On which weekday was the Heron room painted?", lambda: None),
        ("How many days did the renovation of Egret take?", lambda: None),
        ("Which guests arrived by train on a Monday?", lambda: None),
    ]
    return graph, questions
