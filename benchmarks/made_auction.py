"""A graph of an auction house with questions, for `made_graphs.py`: bids stand between bidders and lots."""

from __future__ import annotations

import random
from collections import Counter
from statistics import mean
from typing import Any

from made_things import Asked, Thing, day, most, names, turtle


def _things() -> dict[str, list[Thing]]:
    rng = random.Random(41)
    rooms = [
        Thing("Saleroom", n, {"city": c, "seats": s})
        for n, c, s in (
            ("Mayfair", "London", 220),
            ("Left Bank", "Paris", 140),
            ("Harbourside", "Bristol", 60),
        )
    ]
    auctioneers = [
        Thing("Auctioneer", n, {"yrs_exp": y, "hiredYr": h})
        for n, y, h in (("Oscar Thorne", 22, 2004), ("Pia Lindqvist", 9, 2014), ("Quentin Shaw", 15, 2010))
    ]
    sales = [
        Thing(
            "Sale", n, {"heldAt": rooms[r], "ledBy": auctioneers[a], "sale_dt": d, "cat_code": c, "online": o}
        )
        for n, r, a, d, c, o in (
            ("Spring Paintings", 0, 0, "2021-04-14", "PNT", "N"),
            ("Autumn Paintings", 0, 0, "2021-10-20", "PNT", "N"),
            ("Fine Clocks", 2, 1, "2022-02-11", "CLK", "Y"),
            ("Modern Prints", 1, 2, "2022-06-30", "PRT", "Y"),
            ("Old Masters", 0, 1, "2023-03-08", "PNT", "N"),
            ("Garden Sculpture", 2, 2, "2023-09-02", "SCU", "N"),
        )
    ]
    artists = [
        Thing("Artist", n, {"birthYr": b, "deathYr": d, "natl": x, "movement": m})
        for n, b, d, x, m in (
            ("Ruben Vale", 1841, 1902, "British", "Realism"),
            ("Sofia Marchetti", 1902, 1977, "Italian", "Cubism"),
            ("Theo van Laar", 1655, 1711, "Dutch", "Baroque"),
            ("Ursula Keen", 1938, None, "British", "Pop Art"),
            ("Victor Amiel", 1880, 1945, "French", "Cubism"),
            ("Wen Zhao", 1966, None, "Chinese", "Pop Art"),
        )
    ]
    sellers = [
        Thing("Consignor", n, {"countryOf": c})
        for n, c in (
            ("Abbot Estate", "England"),
            ("Dr. Clara Munk", "Germany"),
            ("Galerie Blanche", "France"),
            ("Marlow Trust", "England"),
        )
    ]
    lots, bids = [], []
    titles = (
        "Harvest Moon",
        "The Ferryman",
        "Woman in Red",
        "Still Life with Pears",
        "Night Train",
        "Blue Guitar",
        "The Astronomer",
        "Storm at Sea",
        "Girl with Kite",
        "Soup Tins",
        "Lantern Street",
        "The Chess Players",
        "Winter Canal",
        "Carriage Clock",
        "Bracket Clock",
        "Bronze Heron",
        "Marble Faun",
        "Dancers",
    )
    for n, title in enumerate(titles):
        low = rng.randrange(400, 20000, 100)
        lots.append(
            Thing(
                "Lot",
                title,
                {
                    "lot_no": f"L{n + 101}",
                    "soldIn": sales[(0, 0, 0, 1, 1, 3, 4, 4, 3, 3, 1, 4, 4, 2, 2, 5, 5, 3)[n]],
                    "hasArtist": None
                    if n in (13, 14, 15, 16)
                    else artists[(0, 0, 1, 1, 4, 4, 2, 2, 3, 3, 5, 1, 2)[n] if n < 13 else 4],
                    "consignedBy": sellers[(0, 0, 1, 2, 2, 2, 0, 1, 1, 2, 2, 0, 1, 0, 0, 1, 2, 2)[n]],
                    "est_low": low,
                    "est_high": int(low * 1.5),
                    "reserveMet": "Y",
                    "medium": (
                        "oil",
                        "oil",
                        "oil",
                        "oil",
                        "oil",
                        "lithograph",
                        "oil",
                        "oil",
                        "screenprint",
                        "screenprint",
                        "oil",
                        "oil",
                        "oil",
                        "brass",
                        "walnut",
                        "bronze",
                        "marble",
                        "lithograph",
                    )[n],
                },
            )
        )
    bidders = [
        Thing("Bidder", n, {"paddle": p, "segment": s, "joined_on": j})
        for n, p, s, j in (
            ("Mr. Abel Crane", 12, "private", "2015-03-01"),
            ("Ms. Bonnie Yates", 27, "dealer", "2018-07-19"),
            ("Castle Gallery", 33, "dealer", "2011-01-30"),
            ("Denby Museum", 41, "museum", "2009-11-11"),
            ("Mrs. Edda Kroll", 58, "private", "2020-05-05"),
            ("Fulton & Co", 66, "dealer", "2021-02-14"),
            ("Gideon Park", 70, "private", "2022-08-08"),
        )
    ]
    for lot in lots:
        amount = lot.est_low * 0.6
        for _ in range(rng.choice((0, 1, 2, 3, 4, 5))):
            amount = int(amount * 1.25)
            bids.append(
                Thing(
                    "Bid",
                    "",
                    {
                        "bid_by": rng.choice(bidders[:6]),
                        "onLot": lot,
                        "bid_amt": amount,
                        "bid_date": lot.soldIn.sale_dt,
                        "channel": rng.choice(("phone", "room", "web")),
                    },
                )
            )
        mine = [b for b in bids if b.onLot is lot]
        met = bool(mine) and mine[-1].bid_amt >= lot.est_low
        lot.values["reserveMet"] = "Y" if met else "N"
        lot.values["hammerPrice"] = mine[-1].bid_amt if met else None
        lot.values["winner"] = mine[-1].bid_by if met else None
    shipments = [
        Thing(
            "Shipment",
            "",
            {
                "shipmentOf": lot,
                "carrier": rng.choice(("ArtMove", "SafeHands")),
                "shipped_on": day(rng, 2021, 2023),
                "weightKg": rng.randrange(2, 90),
            },
        )
        for lot in lots
        if lot.winner is not None and rng.random() < 0.8
    ]
    return {
        "rooms": rooms,
        "auctioneers": auctioneers,
        "sales": sales,
        "artists": artists,
        "sellers": sellers,
        "lots": lots,
        "bidders": bidders,
        "bids": bids,
        "shipments": shipments,
    }


def auction() -> tuple[str, list[Asked]]:
    """Return the graph of an auction house, and questions."""
    all_ = _things()
    comments = {
        "natl": "nationality of the artist",
        "yrs_exp": "years of experience",
        "cat_code": "category of the sale: PNT paintings, CLK clocks, PRT prints, SCU sculpture",
        "est_low": "low estimate",
        "est_high": "high estimate",
        "bid_amt": "amount of the bid",
    }
    graph = turtle("auction", [o for part in all_.values() for o in part], {}, comments=comments, bare=True)
    return graph, [*_plain(all_), *_events(all_)]


def _plain(g: dict[str, list[Thing]]) -> list[Asked]:
    lots, sales, artists, bidders = g["lots"], g["sales"], g["artists"], g["bidders"]
    sold = [x for x in lots if x.hammerPrice is not None]
    by = {a: [x for x in lots if x.hasArtist is a] for a in artists}
    at: dict[Any, list[Thing]] = {s: [x for x in lots if x.soldIn is s] for s in sales}
    return [
        ("How many lots are there?", lambda: len(lots)),
        ("Who is the artist of Woman in Red?", lambda: ["Sofia Marchetti"]),
        (
            "Which lots are by Theo van Laar?",
            lambda: names(x for x in lots if x.hasArtist and x.hasArtist.name == "Theo van Laar"),
        ),
        ("How many lots were in each sale?", lambda: [(s.name, len(x)) for s, x in at.items()]),
        ("Which artists belong to Pop Art?", lambda: ["Ursula Keen", "Wen Zhao"]),
        ("Which artists have no death year?", lambda: ["Ursula Keen", "Wen Zhao"]),
        ("Which artists were born before 1900?", lambda: names(a for a in artists if a.birthYr < 1900)),
        ("Who is the youngest artist?", lambda: ["Wen Zhao"]),
        ("Which British artists are there?", lambda: ["Ruben Vale", "Ursula Keen"]),
        ("How many Cubism artists are there?", lambda: 2),
        ("Which sales were held online?", lambda: ["Fine Clocks", "Modern Prints"]),
        ("Was Old Masters held online?", lambda: False),
        ("Where was Fine Clocks held?", lambda: ["Harbourside"]),
        (
            "Which sales took place in London?",
            lambda: ["Autumn Paintings", "Old Masters", "Spring Paintings"],
        ),
        ("Who led the most sales?", lambda: names(most(Counter(s.ledBy for s in sales)))),
        ("How many sales were held in 2022?", lambda: 2),
        ("Which auctioneer has the most years of experience?", lambda: ["Oscar Thorne"]),
        ("What is the highest hammer price?", lambda: max(x.hammerPrice for x in sold)),
        ("Which lot had the highest low estimate?", lambda: names(most({x: x.est_low for x in lots}))),
        (
            "average hammer price per medium",
            lambda: [
                (m, mean(x.hammerPrice for x in sold if x.medium == m))
                for m in sorted({x.medium for x in sold})
            ],
        ),
        ("Which lots have no artist?", lambda: names(x for x in lots if x.hasArtist is None)),
        ("Which lots did not meet the reserve?", lambda: names(x for x in lots if x.reserveMet == "N")),
        ("How many lots met their reserve?", lambda: sum(x.reserveMet == "Y" for x in lots)),
        ("What percentage of lots met the reserve?", lambda: 100 * mean(x.reserveMet == "Y" for x in lots)),
        (
            "Which lots sold for more than their high estimate?",
            lambda: names(x for x in sold if x.hammerPrice > x.est_high),
        ),
        ("What is lot L105?", lambda: ["Night Train"]),
        ("Which lots are oil or marble?", lambda: names(x for x in lots if x.medium in ("oil", "marble"))),
        ("Which artists have more than two lots?", lambda: names(a for a, x in by.items() if len(x) > 2)),
        (
            "Which consignor consigned the most lots?",
            lambda: names(most(Counter(x.consignedBy for x in lots))),
        ),
        ("Which consignors have no lots?", lambda: ["Marlow Trust"]),
        ("Which saleroom has the fewest seats?", lambda: ["Harbourside"]),
        ("How many more seats does Mayfair have than Left Bank?", lambda: 80),
        ("How many years passed between the births of Ruben Vale and Victor Amiel?", lambda: 39),
        (
            "Which bidders joined after Ms. Yates?",
            lambda: names(b for b in bidders if b.joined_on > "2018-07-19"),
        ),
        ("Which bidders are dealers?", lambda: names(b for b in bidders if b.segment == "dealer")),
        ("How many bidders are there per segment?", lambda: [*Counter(b.segment for b in bidders).items()]),
        (
            "Which sale had the most lots by British artists?",
            lambda: names(
                most(Counter(x.soldIn for x in lots if x.hasArtist and x.hasArtist.natl == "British"))
            ),
        ),
        (
            "What were the total hammer prices of each sale?",
            lambda: [
                (s.name, sum(i.hammerPrice for i in x if i.hammerPrice))
                for s, x in at.items()
                if any(i.hammerPrice for i in x)
            ],
        ),
        ("Which museum bought the Mona Lisa?", lambda: None),
        ("What is the insurance value of Blue Guitar?", lambda: None),
        ("How many visitors came to Old Masters?", lambda: None),
    ]


def _events(g: dict[str, list[Thing]]) -> list[Asked]:
    lots, bidders, bids, sales, shipments = g["lots"], g["bidders"], g["bids"], g["sales"], g["shipments"]
    on = {x: [b for b in bids if b.onLot is x] for x in lots}
    of = {p: [b for b in bids if b.bid_by is p] for p in bidders}

    def lot(name: str) -> list[Thing]:
        return next(b for x, b in on.items() if x.name == name)

    def person(part: str) -> list[Thing]:
        return next(b for p, b in of.items() if part in p.name)

    def bidding(x: Thing) -> set[Thing]:
        return {b.bid_by for b in on[x]}

    most_bid = max(on, key=lambda x: len(on[x]))
    return [
        (f"Who bid on {most_bid.name}?", lambda: names(bidding(most_bid))),
        (
            "Which bidders bid on both Dancers and Night Train?",
            lambda: names({b.bid_by for b in lot("Dancers")} & {b.bid_by for b in lot("Night Train")}),
        ),
        ("Which lots did Castle Gallery bid on?", lambda: names({b.onLot for b in person("Castle")})),
        ("Which lots received no bids?", lambda: names(x for x, b in on.items() if not b)),
        ("Which bidders have never placed a bid?", lambda: names(p for p, b in of.items() if not b)),
        ("How many bids did each bidder place?", lambda: [(p.name, len(b)) for p, b in of.items() if b]),
        ("Which lot received the most bids?", lambda: names(most({x: len(b) for x, b in on.items()}))),
        ("What was the highest bid of Mrs. Kroll?", lambda: max(b.bid_amt for b in person("Kroll"))),
        ("How many bids were made by phone?", lambda: sum(b.channel == "phone" for b in bids)),
        ("What share of bids came from the web?", lambda: mean(b.channel == "web" for b in bids)),
        (
            "What is the average amount of a bid by dealers?",
            lambda: mean(b.bid_amt for b in bids if b.bid_by.segment == "dealer"),
        ),
        (
            "Which artists did Denby Museum bid for?",
            lambda: names({b.onLot.hasArtist for b in person("Denby")} - {None}),
        ),
        ("Which bidder won the most lots?", lambda: names(most(Counter(x.winner for x in lots if x.winner)))),
        (
            "How much did Fulton & Co spend?",
            lambda: sum(x.hammerPrice for x in lots if x.winner and "Fulton" in x.winner.name),
        ),
        (
            "Who won Night Train?",
            lambda: [x.winner.name for x in lots if x.name == "Night Train" and x.winner],
        ),
        (
            "Which bidders bid in sales led by Pia Lindqvist?",
            lambda: names({b.bid_by for b in bids if b.onLot.soldIn.ledBy.name == "Pia Lindqvist"}),
        ),
        ("How many lots did each carrier ship?", lambda: [*Counter(s.carrier for s in shipments).items()]),
        ("What is the heaviest shipment's weight?", lambda: max(s.weightKg for s in shipments)),
        (
            "How many kilograms did SafeHands ship?",
            lambda: sum(s.weightKg for s in shipments if s.carrier == "SafeHands"),
        ),
        (
            "Which sold lots have not been shipped?",
            lambda: names(x for x in lots if x.winner and not any(s.shipmentOf is x for s in shipments)),
        ),
        ("Which lots have more than three bids?", lambda: names(x for x, b in on.items() if len(b) > 3)),
        (
            "Which bidders bid more than 10000 on a lot?",
            lambda: names({b.bid_by for b in bids if b.bid_amt > 10000}),
        ),
        ("Did Mr. Crane bid on Dancers?", lambda: any("Crane" in b.bid_by.name for b in lot("Dancers"))),
        (
            "In which sale did bidders bid the most in total?",
            lambda: names(most({s: sum(b.bid_amt for b in bids if b.onLot.soldIn is s) for s in sales})),
        ),
        ("How many bidders withdrew a bid?", lambda: None),
    ]
