"""A graph of a football league with questions in the words of text-to-SQL data, for `made_graphs.py`.

Nothing was built for it: what fails on it is not looked at.
"""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean

from made_things import Asked, Thing, day, most, names, turtle

_LABELS = {
    "clubName": "name", "stadiumName": "name", "coachName": "name",
    "playerName": "name", "sponsorName": "name",
    "clubCity": "city", "stadiumCity": "city", "coachNationality": "nationality",
    "playerNationality": "nationality",
    "foundedIn": "founding year", "openedIn": "opening year", "playsAt": "plays at stadium",
    "playsFor": "plays for club", "birthYear": "birth year", "heightCm": "height",
    "annualWage": "annual wage",
    "preferredFoot": "preferred foot", "isCaptain": "is captain",
    "coaches": "coaches club", "hiredOn": "hired on",
    "homeClub": "home club", "awayClub": "away club", "matchDate": "match date", "homeGoals": "home goals",
    "awayGoals": "away goals", "playedAt": "played at stadium", "appearancePlayer": "appearance of player",
    "appearanceMatch": "appearance in match", "minutesPlayed": "minutes played",
    "goalsScored": "goals scored",
    "sponsorshipClub": "sponsorship of club", "sponsorshipSponsor": "paid by sponsor", "amount": "amount",
    "season": "season", "isActive": "active",
}  # fmt: skip


def _things() -> dict[str, list[Thing]]:
    rng = random.Random(97)
    stadiums = [
        Thing("Stadium", n, {"stadiumName": n, "stadiumCity": c, "capacity": p, "surface": s, "openedIn": y})
        for n, c, p, s, y in (
            ("Eastgate Park", "Norwood", 32000, "grass", 1921),
            ("The Foundry", "Kilmore", 18500, "grass", 1958),
            ("Harbour Arena", "Seaton", 54000, "hybrid", 2009),
            ("Mill Lane", "Norwood", 9200, "artificial", 1974),
            ("Queen's Meadow", "Aldham", 12700, "grass", 1933),
            ("Solar Dome", "Seaton", 8000, "artificial", 2018),
        )
    ]
    clubs = [
        Thing("Club", n, {"clubName": n, "clubCity": c, "foundedIn": y, "playsAt": stadiums[s]})
        for n, c, y, s in (
            ("Norwood United", "Norwood", 1902, 0),
            ("Kilmore Rovers", "Kilmore", 1911, 1),
            ("Seaton City", "Seaton", 1948, 2),
            ("Norwood Athletic", "Norwood", 1936, 3),
            ("Aldham Town", "Aldham", 1897, 4),
        )
    ]
    coaches = [
        Thing("Coach", n, {"coachName": n, "age": a, "coachNationality": x, "hiredOn": h,
                           "coaches": None if c is None else clubs[c]})
        for n, a, x, h, c in (
            ("Pierre Lacroix", 52, "French", "2019-06-01", 0),
            ("Sean Doyle", 44, "Irish", "2021-07-15", 1),
            ("Marta Silva", 39, "Portuguese", "2022-01-10", 2),
            ("Olaf Brandt", 61, "German", "2015-08-20", 3),
            ("Ivo Marek", 57, "Czech", "2023-02-03", None),
        )
    ]  # fmt: skip
    players = []
    lines = (
        "Alan Shore|English|1990|0|GK|R", "Bastien Roux|French|1996|0|DF|L", "Carl Udo|Nigerian|1999|0|FW|R",
        "Diego Pinto|Portuguese|1994|0|MF|R", "Evan Marsh|English|2001|1|GK|R",
        "Fred Okoye|Nigerian|1993|1|DF|R",
        "Gavin Hale|Irish|1998|1|FW|L", "Henri Morel|French|1991|1|MF|L", "Igor Zelan|Croatian|1989|2|GK|R",
        "Joao Nunes|Portuguese|1997|2|FW|R", "Kofi Badu|Ghanaian|2000|2|MF|L", "Liam Grady|Irish|1995|2|DF|R",
        "Mats Holm|Danish|1992|3|GK|L", "Nils Berg|Danish|2002|3|FW|R", "Owen Price|Welsh|1988|3|DF|R",
        "Paul Finch|English|1999|4|MF|L", "Quique Sanz|Spanish|1994|4|FW|R", "Rory Flynn|Irish|2003|4|GK|R",
        "Sven Dahl|Danish|1990||DF|R", "Theo Blanc|French|2004||MF|L",
    )  # fmt: skip
    for n, line in enumerate(lines):
        name, land, born, club, position, foot = line.split("|")
        values = {"playerName": name, "playerNationality": land, "birthYear": int(born), "position": position}
        values |= {"heightCm": rng.randrange(168, 199), "annualWage": rng.randrange(60, 900, 5) * 1000}
        values |= {"preferredFoot": foot, "isCaptain": n in (0, 7, 8, 14, 16)}
        values |= {"playsFor": clubs[int(club)] if club else None}
        players.append(Thing("Player", name, values))
    matches = []
    for home in range(5):
        for away in range(4):
            if home != away:
                values = {"homeClub": clubs[home], "awayClub": clubs[away], "matchDate": day(rng, 2021, 2023)}
                values |= {"homeGoals": rng.randrange(5), "awayGoals": rng.randrange(4)}
                values |= {"playedAt": clubs[home].playsAt, "attendance": rng.randrange(3000, 30000, 50)}
                matches.append(Thing("Match", f"{clubs[home].name} - {clubs[away].name}", values))
    appearances = []
    for match in matches:
        for player in players[:17]:
            if player.playsFor in (match.homeClub, match.awayClub) and rng.random() < 0.7:
                values = {"appearancePlayer": player, "appearanceMatch": match}
                values |= {"minutesPlayed": rng.choice((15, 30, 45, 70, 90, 90, 90))}
                scored = 0 if player.position == "GK" else rng.choice((0, 0, 0, 1, 1, 2))
                appearances.append(Thing("Appearance", "", {**values, "goalsScored": scored}))
    sponsors = [
        Thing("Sponsor", n, {"sponsorName": n, "industry": i})
        for n, i in (
            ("Blue Bank", "finance"), ("Fizz Cola", "beverages"), ("Volt Energy", "energy"),
            ("Peak Sports", "retail"), ("Orchard Juice", "beverages"),
        )
    ]  # fmt: skip
    deals = [
        Thing("Sponsorship", "", {"sponsorshipClub": clubs[c], "sponsorshipSponsor": sponsors[s], "amount": a,
                                  "season": y, "isActive": x})
        for c, s, a, y, x in (
            (0, 0, 900000, 2021, 0), (0, 1, 450000, 2022, 1), (1, 1, 120000, 2021, 0),
            (2, 0, 2100000, 2022, 1),
            (2, 2, 1500000, 2023, 1), (2, 3, 800000, 2023, 0), (3, 3, 60000, 2022, 1),
            (0, 2, 300000, 2023, 1),
        )
    ]  # fmt: skip
    return {
        "stadiums": stadiums, "clubs": clubs, "coaches": coaches, "players": players, "matches": matches,
        "appearances": appearances, "sponsors": sponsors, "deals": deals,
    }  # fmt: skip


def league() -> tuple[str, list[Asked]]:
    """Return the graph of a football league, and questions."""
    all_ = _things()
    graph = turtle(
        "league",
        [one for part in all_.values() for one in part],
        _LABELS,
        comments={
            "preferredFoot": "L for left, R for right.",
            "position": "GK: goalkeeper, DF: defender, MF: midfielder, FW: forward.",
            "isActive": "1 while the contract runs, else 0.",
            "heightCm": "Height of the player in cm.",
        },
    )
    return graph, [*_about_players(all_), *_about_clubs(all_), *_about_matches(all_)]


def _about_players(all_: dict[str, list[Thing]]) -> list[Asked]:
    players, clubs, shown = all_["players"], all_["clubs"], all_["appearances"]
    goals = {p: sum(a.goalsScored for a in shown if a.appearancePlayer is p) for p in players}
    games = {p: sum(a.appearancePlayer is p for a in shown) for p in players}
    of = {c: [p for p in players if p.playsFor is c] for c in clubs}
    return [
        (
            "Show the name and nationality of each player.",
            lambda: [(p.name, p.playerNationality) for p in players],
        ),
        ("How many goalkeepers are there?", lambda: sum(p.position == "GK" for p in players)),
        (
            "What are the names of all left-footed players?",
            lambda: names(p for p in players if p.preferredFoot == "L"),
        ),
        (
            "What are the names and birth years of players from France, sorted "
            "by birth year in ascending order?",
            lambda: [
                (p.name, p.birthYear)
                for p in sorted(players, key=lambda p: p.birthYear)
                if p.playerNationality == "French"
            ],
        ),
        (
            "Return the average, maximum and minimum height of the players of Seaton City.",
            lambda: [(mean(h), max(h), min(h)) for h in [[p.heightCm for p in of[clubs[2]]]]],
        ),
        (
            "How many different nationalities do the players have?",
            lambda: len({p.playerNationality for p in players}),
        ),
        (
            "Show the number of players for each nationality.",
            lambda: list(Counter(p.playerNationality for p in players).items()),
        ),
        (
            "Which nationality has the most players?",
            lambda: most(Counter(p.playerNationality for p in players)),
        ),
        (
            "Which nationalities have more than two players?",
            lambda: [n for n, k in Counter(p.playerNationality for p in players).items() if k > 2],
        ),
        (
            "What is the name and annual wage of the youngest player?",
            lambda: [(p.name, p.annualWage) for p in [max(players, key=lambda p: p.birthYear)]],
        ),
        (
            "List the names of players with an annual wage between 200000 and 400000.",
            lambda: names(p for p in players if 200000 <= p.annualWage <= 400000),
        ),
        ("Which players are captains?", lambda: names(p for p in players if p.isCaptain)),
        ("How many players are not captains?", lambda: sum(not p.isCaptain for p in players)),
        ("Find the names of players who do not play for any club.", lambda: ["Sven Dahl", "Theo Blanc"]),
        (
            "Find the names of the players who have never appeared in a match.",
            lambda: names(p for p in players if not games[p]),
        ),
        (
            "Show the names of all players and the names of the clubs they play for.",
            lambda: [(p.name, p.playsFor.name) for p in players if p.playsFor],
        ),
        (
            "How many goals did each player score?",
            lambda: [(p.name, goals[p]) for p in players if games[p]],
        ),
        ("Which player scored the most goals?", lambda: names(most(goals))),
        (
            "What are the names of players who appeared in more than 4 matches?",
            lambda: names(p for p in players if games[p] > 4),
        ),
        (
            "What is the total number of minutes played by Carl Udo?",
            lambda: sum(a.minutesPlayed for a in shown if a.appearancePlayer.name == "Carl Udo"),
        ),
        (
            "For each club, show the name of the tallest player.",
            lambda: [(c.name, p.name) for c, s in of.items() for p in most({p: p.heightCm for p in s})],
        ),
        (
            "What percentage of the players are left-footed?",
            lambda: 100 * sum(p.preferredFoot == "L" for p in players) / len(players),
        ),
        (
            "What is the average annual wage per position?",
            lambda: [
                (x, mean(p.annualWage for p in players if p.position == x)) for x in ("GK", "DF", "MF", "FW")
            ],
        ),
        (
            "Which players earn more than the average?",
            lambda: names(p for p in players if p.annualWage > mean(q.annualWage for q in players)),
        ),
        (
            "Find the names of players whose name starts with the letter 'K' or ends with 'n'.",
            lambda: names(p for p in players if p.name[0] == "K" or p.name[-1] == "n"),
        ),
    ]


def _about_clubs(all_: dict[str, list[Thing]]) -> list[Asked]:
    clubs, stadiums, coaches, deals = all_["clubs"], all_["stadiums"], all_["coaches"], all_["deals"]
    paid = {s: [d for d in deals if d.sponsorshipSponsor is s] for s in all_["sponsors"]}
    got = {c: [d for d in deals if d.sponsorshipClub is c] for c in clubs}
    return [
        ("List all clubs in alphabetical order.", lambda: sorted(c.name for c in clubs)),
        (
            "Show the name of each club and the name and capacity of its stadium.",
            lambda: [(c.name, c.playsAt.name, c.playsAt.capacity) for c in clubs],
        ),
        (
            "What is the name of the club that plays at the stadium with the largest capacity?",
            lambda: ["Seaton City"],
        ),
        ("Find the names of the stadiums where no club plays.", lambda: ["Solar Dome"]),
        (
            "How many stadiums have a capacity between 10000 and 40000?",
            lambda: sum(10000 <= s.capacity <= 40000 for s in stadiums),
        ),
        (
            "What is the average capacity of stadiums for each surface?",
            lambda: [
                (x, mean(s.capacity for s in stadiums if s.surface == x))
                for x in ("grass", "hybrid", "artificial")
            ],
        ),
        ("Which cities have more than one club?", lambda: ["Norwood"]),
        (
            "Show the name and the opening year of the newest stadium.",
            lambda: [("Solar Dome", 2018)],
        ),
        ("Who coaches Kilmore Rovers?", lambda: ["Sean Doyle"]),
        ("Which clubs do not have a coach?", lambda: ["Aldham Town"]),
        (
            "What are the name, age and nationality of the coaches older than 50?",
            lambda: [(c.name, c.age, c.coachNationality) for c in coaches if c.age > 50],
        ),
        ("What is the nationality of the coach of Seaton City?", lambda: ["Portuguese"]),
        (
            "What is the total amount paid by each sponsor?",
            lambda: [(s.name, sum(d.amount for d in x)) for s, x in paid.items() if x],
        ),
        ("How many active sponsorships are there?", lambda: sum(d.isActive for d in deals)),
        ("Which sponsors have not sponsored any club?", lambda: names(s for s, x in paid.items() if not x)),
        (
            "Which industry paid the highest total amount?",
            lambda: most(_sums(deals)),
        ),
        (
            "List the names of the clubs that are sponsored by both Blue Bank and Volt Energy.",
            lambda: names(
                c
                for c, x in got.items()
                if {"Blue Bank", "Volt Energy"} <= {d.sponsorshipSponsor.name for d in x}
            ),
        ),
        (
            "Show the club name, sponsor name and amount of all sponsorships of the season 2023.",
            lambda: [
                (d.sponsorshipClub.name, d.sponsorshipSponsor.name, d.amount)
                for d in deals
                if d.season == 2023
            ],
        ),
        (
            "Which clubs from Norwood were founded before 1910?",
            lambda: names(c for c in clubs if c.clubCity == "Norwood" and c.foundedIn < 1910),
        ),
        (
            "What is the number of sponsorships for each season?",
            lambda: list(Counter(d.season for d in deals).items()),
        ),
    ]


def _sums(deals: list[Thing]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for deal in deals:
        found[deal.sponsorshipSponsor.industry] += deal.amount
    return dict(found)


def _about_matches(all_: dict[str, list[Thing]]) -> list[Asked]:
    matches, clubs, shown = all_["matches"], all_["clubs"], all_["appearances"]
    at = Counter(m.playedAt.name for m in matches)
    return [
        (
            "What is the average attendance of the matches at each stadium?",
            lambda: [(s, mean(m.attendance for m in matches if m.playedAt.name == s)) for s in at],
        ),
        (
            "Which matches had an attendance of more than 20000 people?",
            lambda: names(m for m in matches if m.attendance > 20000),
        ),
        (
            "How many matches were played in each year?",
            lambda: list(Counter(int(m.matchDate[:4]) for m in matches).items()),
        ),
        (
            "Show the match date and attendance of all matches where Aldham Town was the home club.",
            lambda: [(m.matchDate, m.attendance) for m in matches if m.homeClub is clubs[4]],
        ),
        (
            "How many home goals did each club score?",
            lambda: [(c.name, sum(m.homeGoals for m in matches if m.homeClub is c)) for c in clubs],
        ),
        (
            "What is the date of the match with the highest attendance?",
            lambda: [max(matches, key=lambda m: m.attendance).matchDate],
        ),
        (
            "Which clubs have never played an away match?",
            lambda: ["Aldham Town"],
        ),
        (
            "How many matches were played on grass?",
            lambda: sum(m.playedAt.surface == "grass" for m in matches),
        ),
        (
            "List the top 3 matches by attendance.",
            lambda: [m.name for m in sorted(matches, key=lambda m: -m.attendance)[:3]],
        ),
        (
            "How many goals were scored by Irish players?",
            lambda: sum(a.goalsScored for a in shown if a.appearancePlayer.playerNationality == "Irish"),
        ),
        (
            "In how many matches did the players of each club appear?",
            lambda: [
                (c.name, len({a.appearanceMatch for a in shown if a.appearancePlayer.playsFor is c}))
                for c in clubs
                if any(a.appearancePlayer.playsFor is c for a in shown)
            ],
        ),
        ("Which referee led the most matches?", lambda: None),
        ("How much does a ticket for Seaton City cost?", lambda: None),
        ("What is the weight of Carl Udo?", lambda: None),
        ("How many red cards did Owen Price get?", lambda: None),
    ]
