"""More questions over the public relational graphs, with answers computed in plain Python.

python benchmarks/structured_styles.py                    # all
python benchmarks/structured_styles.py --half untouched   # those whose failures were not looked at
python benchmarks/structured_styles.py --half mended --wrong
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from statistics import mean
from typing import Any

from common import shared_data
from made_graphs import gold, told
from rdflib import RDF, RDFS, Graph, URIRef
from structured_questions import loaded

Row = Any
Asked = tuple[str, Callable[[], Any]]


class Record:
    """A row of a table as its triples tell it."""

    def __init__(self, tables: Tables, node: URIRef) -> None:
        """Wrap a node."""
        self._tables, self.node = tables, node

    def __getattr__(self, name: str) -> Any:
        found = self.all(name)
        return found[0] if found else None

    def all(self, name: str) -> list[Any]:
        """Return all values of a property."""
        return [self._tables.value(o) for o in self._tables.graph.objects(self.node, self._tables.of(name))]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and other.node == self.node

    def __hash__(self) -> int:
        return hash(self.node)

    @property
    def label(self) -> str:
        """Return its name."""
        return str(self._tables.graph.value(self.node, RDFS.label))


class Tables:
    """The graph of one database, as tables."""

    def __init__(self, path: Path) -> None:
        """Read a file."""
        self.graph = Graph().parse(path)
        self.space = f"http://example.org/{path.parent.name}/"

    def of(self, name: str) -> URIRef:
        """Return a property or class."""
        return URIRef(self.space + name)

    def value(self, term: Any) -> Any:
        """Return what a term says."""
        if isinstance(term, URIRef):
            return Record(self, term)
        value = term.toPython()
        if isinstance(value, Decimal):
            return float(value)
        return value if isinstance(value, int | float | bool | str) else str(term)

    def __getitem__(self, name: str) -> list[Record]:
        return [Record(self, s) for s in sorted(self.graph.subjects(RDF.type, self.of(name)))]


def labels(records: Iterable[Record]) -> list[str]:
    """Return names."""
    return sorted({r.label for r in records})


def top(counts: dict[Any, Any]) -> list[Any]:
    """Return what has the highest number."""
    return [k for k, v in counts.items() if v == max(counts.values())]


def total(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, float]:
    """Return sums by key."""
    found: defaultdict[Any, float] = defaultdict(float)
    for key, value in pairs:
        found[key] += value
    return found


def averages(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Return means by key."""
    found: defaultdict[Any, list[float]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return [(k, mean(v)) for k, v in found.items()]


def academic(t: Tables) -> Iterator[Asked]:
    """Questions about papers."""
    authors, papers, orgs = t["Author"], t["Publication"], t["Organization"]
    yield (
        "Show the name and homepage of every author.",
        lambda: [(a.label, a.authorHomepage) for a in authors if a.authorHomepage],
    )
    yield (
        "Find the name and continent of each organization.",
        lambda: [(o.organizationName, o.continent) for o in orgs],
    )
    yield (
        "What are the titles of publications whose title contains the substring 'on'?",
        lambda: [p.title for p in papers if "on" in p.title.lower()],
    )
    yield (
        "Show the title and the year of publication of the publication with the most citations.",
        lambda: [
            (p.title, p.yearOfPublication)
            for p in papers
            if p.numberOfCitations == max(q.numberOfCitations for q in papers)
        ],
    )
    yield (
        "How many publications did each author write?",
        lambda: [(a.label, len(a.all("wrote"))) for a in authors if a.wrote],
    )
    yield (
        "Find the name of the organization with the largest number of authors.",
        lambda: top(Counter(a.affiliatedWith.label for a in authors if a.affiliatedWith)),
    )
    yield (
        "Find the names of the authors who did not write any publication.",
        lambda: labels(a for a in authors if not a.wrote),
    )
    yield (
        "Show the name of the author and the name of the organization for all authors in Europe.",
        lambda: [
            (a.label, a.affiliatedWith.label)
            for a in authors
            if a.affiliatedWith and a.affiliatedWith.continent == "Europe"
        ],
    )
    yield (
        "How many different continents do the organizations come from?",
        lambda: len({o.continent for o in orgs if o.continent}),
    )
    yield (
        "What is the name of the journal in which the most publications were published?",
        lambda: top(Counter(p.publishedIn.label for p in papers if p.publishedIn)),
    )


def advising(t: Tables) -> Iterator[Asked]:
    """Questions about courses."""
    students, records, courses, offers = t["Student"], t["StudentRecord"], t["Course"], t["CourseOffering"]
    programs = t["Program"]
    yield (
        "List the first name, last name and GPA of all students, sorted by GPA in descending order.",
        lambda: [
            (s.firstName, s.lastName, s.gradePointAverage)
            for s in sorted(students, key=lambda s: -s.gradePointAverage)
        ],
    )
    yield (
        "What is the average, minimum and maximum GPA of the students?",
        lambda: [(mean(g), min(g), max(g)) for g in [[s.gradePointAverage for s in students]]],
    )
    yield (
        "Show the name and the credits of each course.",
        lambda: [(c.courseName, c.credits) for c in courses],
    )
    yield (
        "How many students got a grade of A in Advanced Calculus?",
        lambda: len(
            {r.recordOf for r in records if r.grade == "A" and r.recordCourse.label == "Advanced Calculus"}
        ),
    )
    yield (
        "Find the first names of students who took more than two courses.",
        lambda: [
            s.firstName for s in students if len({r.recordCourse for r in records if r.recordOf == s}) > 2
        ],
    )
    yield (
        "Which courses have lab sessions but no projects?",
        lambda: labels(c for c in courses if c.hasLabSessions and not c.hasProjects),
    )
    yield (
        "How many courses do not have a prerequisite?",
        lambda: sum(c.prerequisite is None for c in courses),
    )
    yield (
        "Which programs belong to the college of Arts and Sciences?",
        lambda: labels(p for p in programs if p.college == "Arts and Sciences"),
    )
    yield (
        "Show the name of each instructor and the number of course offerings they teach.",
        lambda: list(Counter(i.label for o in offers for i in o.all("taughtBy")).items()),
    )
    yield (
        "What is the name of the course with the lowest clarity score?",
        lambda: [min(courses, key=lambda c: c.clarityScore).label],
    )
    yield (
        "How many students were admitted before 2018?",
        lambda: sum(s.admissionDate < "2018" for s in students),
    )
    yield (
        "For each program, how many students are enrolled in it and what is their average GPA?",
        lambda: [
            (p.label, len(s), mean(x.gradePointAverage for x in s))
            for p in programs
            for s in [[x for x in students if x.enrolledIn == p]]
            if s
        ],
    )


def atis(t: Tables) -> Iterator[Asked]:
    """Questions about flights."""
    flights, aircraft, fares, airports, ground = (
        t["Flight"],
        t["Aircraft"],
        t["Fare"],
        t["Airport"],
        t["GroundService"],
    )
    yield (
        "Show the aircraft code and capacity of all aircraft made by Boeing.",
        lambda: [(a.aircraftCode, a.capacity) for a in aircraft if a.manufacturer == "Boeing"],
    )
    yield (
        "What is the average capacity of the aircraft of each manufacturer?",
        lambda: averages((a.manufacturer, a.capacity) for a in aircraft),
    )
    yield (
        "How many pressurized aircraft are there?",
        lambda: sum(a.pressurized in ("Yes", "yes") for a in aircraft),
    )
    yield (
        "Find the flight numbers of flights that depart from JFK and have no stops.",
        lambda: [
            f.flightNumber
            for f in flights
            if f.departureAirport.airportCode == "JFK" and f.numberOfStops == 0
        ],
    )
    yield (
        "Which aircraft have a range between 3000 and 5000 miles?",
        lambda: labels(a for a in aircraft if 3000 <= a.rangeInMiles <= 5000),
    )
    yield (
        "How many flights does each airline operate?",
        lambda: list(Counter(f.operatedBy.label for f in flights).items()),
    )
    yield (
        "What is the airport name and minimum connect time of the airports in California?",
        lambda: [
            (a.airportName, a.minimumConnectTime)
            for a in airports
            if a.airportState and a.airportState.stateName == "California"
        ],
    )
    yield (
        "Which flights from JFK arrive at ORD?",
        lambda: labels(
            f
            for f in flights
            if f.departureAirport.airportCode == "JFK" and f.arrivalAirport.airportCode == "ORD"
        ),
    )
    yield (
        "What is the cheapest one-way cost of a fare of American Airlines?",
        lambda: min(f.oneWayCost for f in fares if f.fareAirline.label == "American Airlines"),
    )
    yield (
        "Show the transport types and the average ground fare for each of them.",
        lambda: averages((g.transportType, g.groundFare) for g in ground),
    )
    yield (
        "How many fares have a round-trip cost of more than 400?",
        lambda: sum(f.roundTripCost > 400 for f in fares),
    )
    yield (
        "List the manufacturers that make more than two aircraft.",
        lambda: [m for m, n in Counter(a.manufacturer for a in aircraft).items() if n > 2],
    )


def broker(t: Tables) -> Iterator[Asked]:
    """Questions about securities."""
    customers, tickers, deals, prices = t["Customer"], t["Ticker"], t["Transaction"], t["DailyPrice"]
    yield (
        "What are the names and emails of customers in the state of California (CA)?",
        lambda: [(c.customerName, c.email) for c in customers if c.state == "CA"],
    )
    yield "How many active customers are there?", lambda: sum(c.customerStatus == "active" for c in customers)
    yield (
        "Show the number of tickers for each exchange.",
        lambda: list(Counter(x.exchange for x in tickers if x.exchange).items()),
    )
    yield (
        "Which customers bought shares of Apple Inc.?",
        lambda: labels(
            {d.madeBy for d in deals if d.ticker.label == "Apple Inc." and d.transactionType == "buy"}
        ),
    )
    yield (
        "What is the name of the customer and the symbol of the ticker for each failed transaction?",
        lambda: sorted({(d.madeBy.label, d.ticker.symbol) for d in deals if d.transactionStatus == "fail"}),
    )
    yield (
        "How many transactions were made by customers from New York (NY)?",
        lambda: sum(d.madeBy.state == "NY" for d in deals),
    )
    yield (
        "What is the highest closing price of Amazon.com, Inc.?",
        lambda: max(p.closingPrice for p in prices if p.priceOf.label == "Amazon.com, Inc."),
    )
    yield (
        "Show the total commission for each transaction type.",
        lambda: list(total((d.transactionType, float(d.commission)) for d in deals).items()),
    )
    yield (
        "Which states have more than two customers, and how many do they have?",
        lambda: [(s, n) for s, n in Counter(c.state for c in customers).items() if n > 2],
    )
    yield (
        "Find the names of customers who joined in 2022 and are inactive.",
        lambda: labels(c for c in customers if c.joinDate[:4] == "2022" and c.customerStatus == "inactive"),
    )
    yield (
        "What percentage of the transactions were successful?",
        lambda: 100 * sum(d.transactionStatus == "success" for d in deals) / len(deals),
    )
    yield (
        "List the names of all tickers of type etf in alphabetical order.",
        lambda: sorted(x.tickerName for x in tickers if x.tickerType == "etf"),
    )


def car_dealership(t: Tables) -> Iterator[Asked]:
    """Questions about cars."""
    cars, sales, sellers, customers, paid = (
        t["Car"],
        t["Sale"],
        t["Salesperson"],
        t["Customer"],
        t["PaymentReceived"],
    )
    yield (
        "Show the make, model and year of all cars with an automatic transmission.",
        lambda: [(c.make, c.model, c.year) for c in cars if c.transmission == "Automatic"],
    )
    yield (
        "How many cars are there of each color?",
        lambda: list(Counter(c.color for c in cars).items()),
    )
    yield (
        "What is the first name and last name of the salesperson who made the most sales?",
        lambda: [
            (s.salespersonFirstName, s.salespersonLastName) for s in top(Counter(x.soldBy for x in sales))
        ],
    )
    yield (
        "Find the first and last names of the customers who live in California (CA) and have bought a car.",
        lambda: sorted(
            {(x.soldTo.customerFirstName, x.soldTo.customerLastName) for x in sales if x.soldTo.state == "CA"}
        ),
    )
    yield (
        "What is the average sale price of each make?",
        lambda: averages((x.soldCar.make, float(x.salePrice)) for x in sales),
    )
    yield (
        "Which cars were sold more than three times?",
        lambda: labels(c for c, n in Counter(x.soldCar for x in sales).items() if n > 3),
    )
    yield (
        "List the emails of the salespersons that were hired after 2022.",
        lambda: [s.salespersonEmail for s in sellers if s.hireDate > "2022-12-31"],
    )
    yield (
        "How many salespersons have no termination date?",
        lambda: sum(s.terminationDate is None for s in sellers),
    )
    yield (
        "What is the total payment amount received by check?",
        lambda: sum(
            float(p.paymentReceivedPaymentAmount) for p in paid if p.paymentReceivedPaymentMethod == "check"
        ),
    )
    yield (
        "What are the different engine types of cars that cost more than 40000?",
        lambda: sorted({c.engineType for c in cars if float(c.cost) > 40000}),
    )
    yield (
        "Which salesperson sold a Tesla Model 3?",
        lambda: labels({x.soldBy for x in sales if x.soldCar.label == "Tesla Model 3"}),
    )
    yield (
        "How many customers are there in each state? Sort them by the number of customers, descending.",
        lambda: Counter(c.state for c in customers).most_common(),
    )


GRAPHS = (academic, advising, atis, broker, car_dealership)


def measure(wrong: bool, half: str) -> None:
    """Print a line for each half of the questions; every second question is untouched."""
    every: dict[str, list[Any]] = defaultdict(list)
    for make in GRAPHS:
        path = shared_data("structured_qa") / make.__name__ / "graph.ttl"
        asked = [(q, found()) for q, found in make(Tables(path))]
        parts = {"mended": asked[::2], "untouched": asked[1::2]}
        with loaded(path) as kg:
            for part, of in parts.items():
                if half in (part, "both"):
                    questions = [gold(f"{make.__name__}-{part}", n, q, a) for n, (q, a) in enumerate(of)]
                    every[part] += told(kg, questions, wrong=wrong)
    for part, found in every.items():
        given = [o for _, o, p in found if p.answers is not None]
        right = sum(o.score.exact for o in given)
        print(f"{part}: {right} of {len(found)} right, {len(given)} given")


def main() -> None:
    """Print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--half", choices=("mended", "untouched", "both"), default="both")
    options.add_argument("--wrong", action="store_true", help="print what was wrong or refused")
    args = options.parse_args()
    measure(args.wrong, args.half)


if __name__ == "__main__":
    main()
