"""A made graph of scholarly papers."""

# ruff: noqa: E501 (tables of data)

from __future__ import annotations

import random
from collections import Counter
from statistics import mean

from made_things import Asked, Thing, most, names, turtle


def papers() -> tuple[str, list[Asked]]:
    """Return the graph of some scholarly papers, and questions."""
    rng = random.Random(3)
    venues = [Thing("Venue", n, {"venueName": n}) for n in ("SIGGRAPH", "CHI", "ACL", "NeurIPS", "Cell")]
    sets = [Thing("Dataset", n, {}) for n in ("ImageNet", "SQuAD", "MS COCO", "Jeopardy! Questions")]
    topics = [
        Thing("KeyPhrase", n, {})
        for n in (
            "deep learning",
            "question answering",
            "parsing",
            "eye tracking",
            "gene editing",
            "sensor fusion",
        )
    ]
    authors = [
        Thing("Author", n, {"affiliation": a})
        for n, a in (
            ("Wei Zhang", "MIT"),
            ("Laura Stein", "ETH Zurich"),
            ("Peter Mertens", "MIT"),
            ("Aiko Tanaka", "Kyoto"),
            ("Sam Rhee", "Stanford"),
            ("Ida Holm", "Oslo"),
            ("Raul Cano", "Stanford"),
        )
    ]
    titles = """Parsing with few examples;Reading eyes at work;A corpus of hard questions;Editing genes safely;Learning to ask;
Deep views of shapes;Fusing cheap sensors;Answers from tables;What gaze tells;Grammars that learn;Scaling deep retrieval;Noise in sensor networks;
Questions without answers;Cutting with care;Shapes from shading revisited;Parsing speech;Tiny networks;Gaze and trust"""
    written = []
    for n, title in enumerate(titles.replace("\n", "").split(";")):
        values = {"title": title, "yearPublished": 2010 + (n * 7) % 9, "venue": venues[(n * 3 + n // 6) % 5]}
        values |= {
            "author": rng.sample(authors[:6], rng.choice((1, 2, 2, 3))),
            "keyPhrase": rng.sample(topics[:5], rng.choice((1, 2))),
        }
        values |= {
            "usesDataset": rng.sample(sets[:3], rng.choice((0, 0, 1, 1, 2))),
            "cites": rng.sample(written, min(len(written), rng.choice((0, 1, 2, 3)))),
        }
        written.append(Thing("Paper", title, values))
    labels = {
        "venueName": "venue name", "yearPublished": "year of publication", "venue": "published at venue", "author": "written by author",
        "keyPhrase": "has key phrase", "KeyPhrase": "key phrase", "usesDataset": "uses dataset", "cites": "cites paper",
    }  # fmt: skip
    graph = turtle("papers", [*venues, *sets, *topics, *authors, *written], labels)
    a, v = {x.name: x for x in authors}, {x.name: x for x in venues}
    by = {x: [w for w in written if x in w.author] for x in authors}
    at = {x: [w for w in written if w.venue is x] for x in venues}
    on = {x.name: [w for w in written if x in w.keyPhrase] for x in topics}
    cited = {w: [x for x in written if w in x.cites] for w in written}
    year = lambda w: w.yearPublished  # noqa: E731
    wei, ida = a["Wei Zhang"], a["Ida Holm"]
    questions: list[Asked] = [
        ("papers by Wei Zhang", lambda: names(by[wei])),
        ("what papers has Laura Stein written", lambda: names(by[a["Laura Stein"]])),
        ("how many papers does Wei Zhang have", lambda: len(by[wei])),
        ("Wei Zhang's papers at ACL", lambda: names(w for w in by[wei] if w.venue.name == "ACL") or None),
        ("parsing papers", lambda: names(on["parsing"])),
        ("how many papers about deep learning are there", lambda: len(on["deep learning"])),
        ("who has written the most papers", lambda: names(most({x: len(w) for x, w in by.items()}))),
        ("which authors published at CHI", lambda: names({x for w in at[v["CHI"]] for x in w.author})),
        ("who published papers in NeurIPS in 2015?", lambda: names({x for w in at[v["NeurIPS"]] if year(w) == 2015 for x in w.author}) or None),
        ("papers published in 2014", lambda: names(w for w in written if year(w) == 2014)),
        ("how many papers were published at SIGGRAPH", lambda: len(at[v["SIGGRAPH"]])),
        ("papers that use ImageNet", lambda: names(w for w in written if sets[0] in w.usesDataset)),
        ("what datasets does Ida Holm use in her papers", lambda: names({d for w in by[ida] for d in w.usesDataset})),
        ("who are the coauthors of Wei Zhang", lambda: names({x for w in by[wei] for x in w.author} - {wei})),
        ("papers coauthored by Wei Zhang and Ida Holm", lambda: names({*by[wei]} & {*by[ida]}) or None),
        ("how many citations does Parsing with few examples have", lambda: len(cited[written[0]])),
        ("which paper is cited the most", lambda: names(most({w: len(x) for w, x in cited.items()}))),
        ("papers that cite Learning to ask", lambda: names(cited[written[4]])),
        ("papers cited by Tiny networks", lambda: names(written[16].cites) or None),
        ("which papers have no citations", lambda: names(w for w, x in cited.items() if not x)),
        ("when was Answers from tables published", lambda: year(written[7])),
        ("where was Deep views of shapes published", lambda: [written[5].venue.name]),
        ("who wrote Editing genes safely", lambda: names(written[3].author)),
        ("what is the most recent paper by Aiko Tanaka", lambda: names(most({w: year(w) for w in by[a["Aiko Tanaka"]]}))),
        ("what topics does Peter Mertens write about", lambda: names({k for w in by[a["Peter Mertens"]] for k in w.keyPhrase})),
        ("which authors wrote about gene editing", lambda: names({x for w in on["gene editing"] for x in w.author})),
        ("how many authors are there at MIT", lambda: 2),
        ("number of papers per venue", lambda: [(x.name, len(w)) for x, w in at.items()]),
        ("how many papers were published each year", lambda: [*Counter(map(year, written)).items()]),
        ("which year had the most papers", lambda: most(Counter(map(year, written)))),
        ("papers with more than two authors", lambda: names(w for w in written if len(w.author) > 2)),
        ("which authors have no paper", lambda: ["Raul Cano"]),
        ("what is the first paper of Ida Holm", lambda: names(w for w in by[ida] if year(w) == min(map(year, by[ida])))),
        ("which venue has published the most papers on question answering", lambda: names(most(Counter(w.venue for w in on["question answering"])))),
        ("how many papers cite more than two papers", lambda: sum(len(w.cites) > 2 for w in written)),
        ("has Sam Rhee published at Cell?", lambda: any(w.venue.name == "Cell" for w in by[a["Sam Rhee"]])),
        ("papers published after 2015 on eye tracking", lambda: names(w for w in on["eye tracking"] if year(w) > 2015) or None),
        ("what is the average number of authors per paper", lambda: mean(len(w.author) for w in written)),
        ("authors who published in both ACL and CHI", lambda: names({x for w in at[v["ACL"]] for x in w.author} & {x for w in at[v["CHI"]] for x in w.author})),
        ("which dataset is not used in any paper", lambda: ["Jeopardy! Questions"]),
        ("papers on parsing by Wei Zhang", lambda: names(w for w in on["parsing"] if wei in w.author) or None),
        ("who published the most in 2014", lambda: names(most(Counter(x for w in written if year(w) == 2014 for x in w.author)))),
        ("how many papers has Wei Zhang published in each year", lambda: [*Counter(year(w) for w in by[wei]).items()]),
        ("which author wrote the most cited paper", lambda: names({x for w in most({w: len(c) for w, c in cited.items()}) for x in w.author})),
        ("what venues does Ida Holm publish in", lambda: names({w.venue for w in by[ida]})),
        ("what are the most used datasets", lambda: names(most(Counter(d for w in written for d in w.usesDataset)))),
        ("which papers used both ImageNet and SQuAD", lambda: names(w for w in written if sets[0] in w.usesDataset and sets[1] in w.usesDataset) or None),
        ("how many coauthors does Sam Rhee have", lambda: len({x for w in by[a["Sam Rhee"]] for x in w.author}) - 1),
        ("most cited papers by Ida Holm", lambda: names(most({w: len(cited[w]) for w in by[ida]}))),
        ("which authors have published more than 5 papers", lambda: names(x for x, w in by.items() if len(w) > 5)),
        ("when did Aiko Tanaka first publish", lambda: min(map(year, by[a["Aiko Tanaka"]]))),
        ("list the papers of authors from Stanford", lambda: names({w for x in authors if x.affiliation == "Stanford" for w in by[x]})),
        ("does Peter Mertens have papers in CHI", lambda: any(w.venue.name == "CHI" for w in by[a["Peter Mertens"]])),
        ("authors that have never written about deep learning", lambda: names(x for x in authors if not any(w in on["deep learning"] for w in by[x]))),
        ("keyphrases used by Laura Stein", lambda: names({k for w in by[a["Laura Stein"]] for k in w.keyPhrase})),
        ("the number of keyphrases of each paper", lambda: [(w.name, len(w.keyPhrase)) for w in written]),
        ("who reviewed Learning to ask", lambda: None),
        ("what is the h-index of Wei Zhang", lambda: None),
        ("which papers were retracted", lambda: None),
        ("how many pages does Tiny networks have", lambda: None),
    ]  # fmt: skip
    return graph, questions
