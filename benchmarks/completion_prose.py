"""How well the plain reader reads prose: clauses, coordination, pronouns, and what states nothing.

    python benchmarks/completion_prose.py            # all sets
    python benchmarks/completion_prose.py museum     # one
    python benchmarks/completion_prose.py museum --show

The sets of `completion_paraphrases.py` state one fact in each text. Here a text may state several: of two
subjects, of two objects, or of one subject in several relations. Between them stand texts that state nothing:
denied, planned, reported, supposed, or about something else; each is about a subject that another text states
something of, and names an object of the right kind. `museum` and `projects` are for development;
`conferences` was written before the reader was changed for them, and is only measured.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rdflib import RDF, RDFS, Literal, URIRef

sys.path.insert(0, str(Path(__file__).parent))

from completion_paraphrases import Made, iri, people, read

import mrag
from mrag.completion.collect import Evidence
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import IncompleteTriple
from mrag.planning.plan import Unknown
from mrag.rdf.terms import XSD, Term, Triple


@dataclass(frozen=True)
class Relation:
    """A relation, how texts state it, and how they do not.

    Attributes:
        label: What the graph calls it.
        subject: Kind of its subjects.
        object: Kind of its objects.
        wordings: How texts state it, with `{s}` and `{o}`; with `{s2}` of a second subject, `{o2}` object.
        traps: Texts with `{s}` and `{o}` that do not state it.
    """

    label: str
    subject: str
    object: str
    wordings: tuple[str, ...]
    traps: tuple[str, ...]


@dataclass(frozen=True)
class Prose:
    """A set: names by kind, relations, and paragraphs with `{s}` and labels of relations as fields."""

    names: dict[str, tuple[str, ...]]
    relations: tuple[Relation, ...]
    paragraphs: tuple[str, ...]


def _titles(text: str) -> tuple[str, ...]:
    return tuple(" ".join(one.split()) for one in text.split(","))


MUSEUM = Prose(
    {
        "artwork": _titles(
            "Woman at a Window, Blue Interior, The Drowned Field, Harvesters, Still Life with Quinces, "
            "Evening Mass, Portrait of a Clerk, The Red Staircase, Nocturne, Bathers, Snow on the Quay, "
            "The Card Players, Girl with a Kite, Ruins at Dusk, The Letter, Fishermen, Composition VII, "
            "Garden in Rain, The Notary, Yellow Houses, Sleeping Dog, After the Storm, The Fortune "
            "Teller, Orchard in May, Two Sisters, Winter Road, The Money Changer, Lilies, Market Day, "
            "The Empty Chair, Pilgrims, Boats at Anchor, The Juggler"
        ),
        "room": _titles("East Gallery, Long Hall, Blue Room, Orangery, North Wing, Print Cabinet, Rotunda"),
        "medium": ("oil", "watercolour", "tempera", "charcoal", "gouache", "pastel", "acrylic"),
        "pupil": _titles(
            "Anton Weiss, Beate Kolar, Carlo Minetti, Dora Falk, Emil Strand, Franka Boll, Gustav Orme, "
            "Hedda Quist, Ivo Tamm, Julia Renn, Kurt Palme, Lotte Vries, Matteo Sarti, Nora Eide, Oskar "
            "Lund, Paula Zorn, Quentin Ray, Ruth Amsel, Silas Winter, Tilda Holm"
        ),
    },
    (
        Relation("artist", "artwork", "person", (
            "{s} is the work of {o}.",
            "{o} painted {s} during a long stay on the coast.",
            "Painted by {o} shortly after the war, {s} entered the collection much later.",
            "{s}, a late masterpiece by {o}, is among the most visited works in the house.",
            "The museum owns {s}. It was created by {o}, whose studio stood nearby.",
            "{s} and {s2} are both by {o}.",
            "Among the paintings of {o}, {s} is the best known.",
            "The artist behind {s} is {o}.",
            "{o}, who made {s} at the age of thirty, never sold it.",
            "{s} came from the brush of {o}.",
            "The painter of {s} was {o}.",
            "{o} trained as a carpenter. In later life, he painted {s}.",
            "With {s}, {o} created a portrait of a whole generation.",
        ), (
            "{s} was not painted by {o}.",
            "{s} was long thought to be by {o}, but this is wrong.",
            "According to a rumour, {o} painted {s}.",
            "If {o} painted {s}, the date must be wrong.",
            "{s} was inspired by {o}.",
            "{s} shows {o} at a table.",
            "{o} refused to paint {s}.",
            "{s} is no longer considered a work of {o}.",
            "{o} is said to have painted {s}.",
            "Some experts doubt that {o} painted {s}.",
            "A pupil of {o} painted {s}.",
            "{s} was painted in the style of {o}.",
            "{s} was painted for {o}.",
            "{o} owned a copy of {s}.",
            "{s} was painted shortly after the death of {o}.",
            "The wife of {o} painted {s}.",
            "{s} was painted while {o} was abroad.",
            "The frame of {s} was made by {o}.",
            "Had {o} painted {s}, it would hang elsewhere.",
            "{o} insists on having painted {s}.",
            "{o} was due to paint {s}.",
            "{s} is most likely by {o}.",
        )),
        Relation("donor", "artwork", "person", (
            "{s} was a gift from {o}.",
            "{o} donated {s} to the museum in memory of a brother.",
            "{s} was given to the museum by {o}.",
            "The museum owes {s} to the generosity of {o}.",
            "{o} left {s} to the museum.",
            "{s} came to the museum as a bequest of {o}.",
            "{s}, presented by {o} on the centenary, has been cleaned.",
            "{s} and {s2} were donated by {o}.",
            "The donor of {s}, {o}, attended the opening.",
            "{s} hung in a private flat for decades. It was bequeathed by {o}.",
            "Thanks to a donation by {o}, {s} is now in public hands.",
            "{o} handed {s} over to the museum as a present.",
            "It was {o} who gave {s} to the museum.",
        ), (
            "{o} plans to donate {s}.",
            "{o} would have given {s} to the museum.",
            "{o} promised {s} to another house.",
            "{o} asked whether {s} was a gift.",
            "{s} was never a gift from {o}.",
            "Neither {o} nor the family donated {s}.",
            "{o} sold {s} to the museum.",
            "{o} was asked to donate {s}.",
            "{s} was stolen from {o}.",
            "{o} thanked the donor of {s}.",
            "A brother of {o} donated {s}.",
        )),
        Relation("on display in", "artwork", "room", (
            "{s} hangs in the {o}.",
            "Visitors find {s} in the {o}.",
            "{s} can be seen in the {o}.",
            "The {o} houses {s}.",
            "{s} and {s2} are exhibited in the {o}.",
            "{s} is on view in the {o} until further notice.",
            "{s} has been moved to the {o}, where it now hangs.",
            "In the {o} you will see {s}.",
            "The {o} is home to {s}.",
            "{s} occupies the far wall of the {o}.",
            "Dear all, {s} is back from the restorers. It is now shown in the {o}.",
            "{s}, currently displayed in the {o}, is insured.",
            "The {o} contains {s} among other works.",
        ), (
            "{s} will be shown in the {o} next year.",
            "{s} does not hang in the {o}.",
            "{s} no longer hangs in the {o}.",
            "The {o} is too small for {s}.",
            "{s} might move to the {o}.",
            "The director wants to see {s} in the {o}.",
            "{s} was removed from the {o}.",
            "{s} is to be moved to the {o}.",
            "The {o} was closed when {s} arrived.",
            "{s} was moved away from the {o}.",
            "{s} went missing from the {o}.",
        )),
        Relation("year of creation", "artwork", "year", (
            "{s} dates from {o}.",
            "{s} was painted in {o}.",
            "{s} was completed in {o} after long delays.",
            "{s} ({o}) is a small picture.",
            "The year of origin of {s} is {o}.",
            "Created in {o}, {s} marks a turning point.",
            "{s} is a work from {o}.",
            "In {o} the artist finished {s}.",
            "{s}, made in {o}, was long thought lost.",
            "Work on {s} ended in {o}.",
            "{s} is dated {o}.",
            "The picture called {s} originated in {o}.",
            "{s} looks modern, yet it was created in {o}.",
        ), (
            "{s} was restored in {o}.",
            "{s} was stolen in {o}.",
            "{s} cannot have been painted in {o}.",
            "{s} was sold before {o}.",
            "{s} was bought by the museum in {o}.",
            "{s} was last shown in {o}.",
            "{s} is to be finished in {o}.",
            "{s} was not yet finished in {o}.",
            "{s} was damaged in {o}.",
        )),
        Relation("medium", "artwork", "medium", (
            "{s} is executed in {o}.",
            "The medium of {s} is {o}.",
            "The artist chose {o} for {s}.",
            "{s} is a work in {o}.",
            "{s} was done in {o}.",
            "For {s}, {o} was used.",
            "{s} is painted in {o} on a thin panel.",
            "{s} was made with {o}.",
            "{s}, a large sheet in {o}, is sensitive to light.",
            "{s} and {s2} are in {o}.",
            "The technique of {s} is {o}.",
        ), (
            "{s} is not in {o}.",
            "A copy of {s} in {o} exists elsewhere.",
            "{s} looks like {o}, but is something else.",
            "{s} was to be done in {o}.",
        )),
        Relation("teacher", "pupil", "person", (
            "{s} studied under {o}.",
            "{s} was a pupil of {o}.",
            "{o} taught {s}.",
            "{o} was the teacher of {s}.",
            "{s} learned the craft from {o}.",
            "Among the students of {o} was {s}.",
            "{s} trained in the workshop of {o}.",
            "{s} and {s2} were taught by {o}.",
            "{s}, a student of {o}, died young.",
            "The pupils of {o} included {s}.",
            "{s} took lessons with {o}.",
        ), (
            "{s} wanted to study under {o}.",
            "{s} was never a pupil of {o}.",
            "{s} met {o} in Paris.",
            "{s} would have liked to be taught by {o}.",
            "{o} denied having taught {s}.",
            "{s} taught alongside {o}.",
            "{s} was rejected as a pupil by {o}.",
            "{s} painted the teacher of {o}.",
            "{s} studied the works of {o}.",
        )),
    ),
    (
        "{s} is a painting by {artist} from {year of creation}. It hangs in the {on display in} and was "
        "a gift "
        "from {donor}.",
        "{artist} painted {s} in {year of creation}; {donor} later gave it to the museum.",
        "{s} ({year of creation}), by {artist}, is on view in the {on display in}.",
        "{s} was painted by {artist} and donated by {donor}.",
        "{artist} created {s}, which was presented to the museum by {donor} and now hangs in the {on "
        "display in}.",
        "Dear colleagues, please note that {s} has a new place: the {on display in}. The work, given by "
        "{donor}, "
        "was made in {year of creation}.",
    ),
)  # fmt: skip

PROJECTS = Prose(
    {
        "project": _titles(
            "Falcon, Juniper, Westgate Tunnel, Marsh Lane Depot, Riverside Two, Heron, North Quay Crane, "
            "Millbrook Weir, Tower Twelve, Lighthouse, Station Square, Cedar, Coastal Link, Upper Dam, "
            "Bluebird, Granite, Eastfield Yard, Pine Street Bridge, Saltworks, Compass, Harbour Loop, "
            "Meridian, Old Mill, Airside Hangar, Silverline, Thornton Pumps, Windmere, Quarry Road, "
            "Beacon, Fairview Park, Ironside, Larkspur"
        ),
        "company": _titles(
            "Brightwater, Holt & Marsh, Norden Group, Castello, Alpina Rail, Stonebridge Ltd, Veritas "
            "Power, Delmar"
        ),
        "city": _titles("Leeds, Ghent, Turin, Malmö, Porto, Graz, Lyon, Gdansk"),
        "colleague": _titles(
            "Alan Price, Birgit Thoma, Colin Webb, Daria Novik, Edgar Pohl, Fiona Marsden, Gareth Lloyd, "
            "Helen Osei, Imran Shah, Janet Cole, Karl Wirth, Leila Haddad, Martin Kowal, Nadia Petit, "
            "Owen Tully, Priya Nair, Ralf Timm, Sonia Vega, Tomas Lind, Ursula Grau"
        ),
    },
    (
        Relation("project manager", "project", "person", (
            "{o} is in charge of {s}.",
            "{s} is led by {o}.",
            "{o} heads {s} from the Oslo office.",
            "{s} is run by {o}, an engineer by training.",
            "Responsibility for {s} lies with {o}.",
            "{s} is under the leadership of {o}.",
            "Hi team, {o} has taken over the management of {s}.",
            "{o} manages both {s} and {s2}.",
            "The person managing {s} is {o}.",
            "For questions about {s}, write to {o}, who leads it.",
            "{o} joined us in March. She manages {s}.",
            "{o}, the manager of {s}, is on leave this week.",
            "{s} is going well. Its project manager, {o}, expects no delays.",
        ), (
            "{o} will take over {s} in the autumn.",
            "{o} is not in charge of {s}.",
            "{o} has left {s}, which somebody else now manages.",
            "{o} applied to lead {s}.",
            "{o} might manage {s}.",
            "Should {o} lead {s}, we would be pleased.",
            "{o} criticised the management of {s}.",
            "{o} used to lead {s}.",
            "{o} reports to the manager of {s}.",
            "{o} stepped down as manager of {s}.",
            "{o} has been asked to lead {s}.",
            "The assistant of {o} manages {s}.",
            "{o} spoke with the manager of {s}.",
            "{o} is a candidate for the post of manager of {s}.",
            "Let {o} manage {s}.",
            "{o} hopes to become manager of {s}.",
            "{o} is the former manager of {s}.",
        )),
        Relation("client", "project", "company", (
            "{s} was commissioned by {o}.",
            "{o} commissioned {s} after a public tender.",
            "The client for {s} is {o}.",
            "We are carrying out {s} on behalf of {o}.",
            "{s} is being built for {o}.",
            "{o} ordered {s}.",
            "{o} is the client of {s} and {s2}.",
            "{s}, commissioned by {o}, has passed its first review.",
            "Our customer for {s} is {o}.",
            "The order for {s} came from {o}.",
            "{s} is a contract for {o}.",
            "It was {o} that commissioned {s}.",
            "{s} is a large job. It was ordered by {o}.",
        ), (
            "{o} withdrew from {s} before anything was signed.",
            "{o} considered commissioning {s}.",
            "{s} was not ordered by {o}.",
            "We hope that {o} will commission {s}.",
            "It is said that {o} commissioned {s}.",
            "{o} cancelled the order for {s}.",
            "{o} complained about {s}.",
            "A competitor of {o} commissioned {s}.",
            "{s} was offered to {o}.",
        )),
        Relation("location", "project", "city", (
            "{s} is located in {o}.",
            "The site of {s} is in {o}.",
            "{s} is being built in {o}.",
            "{o} is the site of {s}.",
            "{s} lies on the outskirts of {o}.",
            "Work on {s} takes place in {o}.",
            "{s} and {s2} are situated in {o}.",
            "In {o}, the firm is building {s}.",
            "{s}, in {o}, employs sixty people.",
            "{s} stands in the centre of {o}.",
            "The {o} project, {s}, is on schedule.",
            "{s} can be found in {o}.",
            "You will find {s} near the old docks of {o}.",
        ), (
            "{s} is not in {o}.",
            "{s} is far from {o}.",
            "{s} was almost built in {o}.",
            "{s} could have been located in {o}.",
            "A delegation from {o} visited {s}.",
            "{s} was moved away from {o}.",
            "{s} was set to be built in {o}.",
            "The team of {s} met in {o}.",
        )),
        Relation("start year", "project", "year", (
            "{s} began in {o}.",
            "{s} was started in {o}.",
            "Work on {s} started in {o}.",
            "{s} has been under way since {o}.",
            "The start of {s} was in {o}.",
            "{s} kicked off in {o}.",
            "In {o} we launched {s}.",
            "{s} got under way in {o}.",
            "{o} marked the beginning of {s}.",
            "Begun in {o}, {s} is nearly finished.",
            "{s} goes back to {o}, when it was begun.",
        ), (
            "{s} will be completed in {o}.",
            "{s} was first proposed in {o}.",
            "{s} did not begin in {o}.",
            "{s} should have begun in {o}.",
            "{s} was interrupted in {o}.",
            "{s} ended in {o}.",
            "{s} is scheduled to begin in {o}.",
            "{s} was renamed in {o}.",
        )),
        Relation("contractor", "project", "company", (
            "{s} is being carried out by {o}.",
            "{o} is the contractor for {s}.",
            "The contract for {s} went to {o}.",
            "{o} won the contract for {s}.",
            "{o} was hired to build {s}.",
            "{s} was awarded to {o}.",
            "{o} is building {s}.",
            "{o}, the contractor on {s}, has hired two hundred workers.",
            "{s} is being built by {o} and {o2}.",
            "Construction of {s} is in the hands of {o}.",
            "{s} is on time. {o} is doing the building work.",
        ), (
            "{o} bid for {s} without success.",
            "{o} lost the contract for {s}.",
            "{o} is not building {s}.",
            "{o} would like to build {s}.",
            "{o} may be hired to build {s}.",
            "{o} inspected {s} while it was being built.",
            "{o} sued the contractor of {s}.",
            "{o} supplied paint to the builder of {s}.",
            "{s} was built against the wishes of {o}.",
            "{o} was dropped as the contractor for {s}.",
        )),
        Relation("employer", "colleague", "company", (
            "{s} works for {o}.",
            "{s} is employed by {o}.",
            "{s} is an engineer at {o}.",
            "{o} employs {s} as a surveyor.",
            "{s} has a job at {o}.",
            "{s} joined {o} straight from university.",
            "{s}, who works at {o}, lives in Bruges.",
            "{o} hired {s} last autumn.",
            "{s} and {s2} are on the staff of {o}.",
            "{s} is an employee of {o}.",
            "{s} sent regards. He has worked at {o} since May.",
        ), (
            "{s} no longer works for {o}.",
            "{s} applied for a job at {o}.",
            "{s} never worked at {o}.",
            "{s} turned down an offer from {o}.",
            "{s} will join {o} in June.",
            "{s} used to work for {o}.",
            "{s} was dismissed by {o}.",
            "{s} worked for a rival of {o}.",
            "{s} is married to an employee of {o}.",
            "{s} has been offered a job at {o}.",
            "{s} interviewed the head of {o}.",
        )),
    ),
    (
        "{s} is led by {project manager} and located in {location}.",
        "Started in {start year}, {s} is managed by {project manager} for the client {client}.",
        "{client} commissioned {s}; the contractor is {contractor}.",
        "Hello, a short update on {s}. The project in {location} was begun in {start year}. It is headed by "
        "{project manager}.",
        "{s}, which {contractor} is building for {client}, is in {location}.",
        "Project: {s}. Client: {client}. Contractor: {contractor}. Location: {location}.",
    ),
)  # fmt: skip

CONFERENCES = Prose(
    {
        "conference": _titles(
            "Polar Days, Soil Forum, Ceramics Week, Northern Law Congress, Neurolink, Forest Talks, "
            "Steel Summit, Open Archives, Baltic Energy Meeting, Textile Futures, Deep Water Symposium, "
            "Map Makers, Night Sky Assembly, Rural Health Days, Folklore Round Table, Glass and Light, "
            "Insect Science Meet, Urban Trees, Old Books Fair, Voice and Speech, Alpine Medicine Forum, "
            "Data Commons, River Basin Congress, Toy History Days, Salt Conference, Bridge Builders, "
            "Plant Names Meeting, Sound Design Camp, Peat and Moor, Clock Symposium, Radio Week, Paper "
            "Science Days"
        ),
        "institute": _titles(
            "Holberg Institute, Academy of Crafts, Tallis College, Society for Soils, Meyer Foundation, "
            "Royal Bureau"
        ),
        "firm": _titles("Optima, Kestrel Bank, Zenith Optics, Barlow & Co, Hydra Systems, Lumen"),
        "town": _titles("Bergen, Delft, Siena, Tartu, Coimbra, Uppsala, Krakow, Bath"),
    },
    (
        Relation("organiser", "conference", "institute", (
            "{s} is organised by the {o}.",
            "The {o} organises {s} every second year.",
            "{s} is an event of the {o}.",
            "{s}, an initiative of the {o}, attracts three hundred guests.",
            "The organiser of {s} is the {o}.",
            "{s} is run by the {o}.",
            "The {o} is behind {s}.",
            "{s} and {s2} are arranged by the {o}.",
            "Organised by the {o}, {s} has grown steadily.",
            "The {o} puts on {s} with the help of volunteers.",
            "{s} takes four days. It is organised by the {o}.",
            "The organisation of {s} lies in the hands of the {o}.",
            "It is the {o} that organises {s}.",
        ), (
            "{s} is not an event of the {o}.",
            "The {o} will organise {s} in future.",
            "The {o} stopped organising {s} long ago.",
            "The {o} has no part in {s}.",
            "Rumour has it that the {o} organises {s}.",
        )),
        Relation("keynote speaker", "conference", "person", (
            "{o} gave the keynote at {s}.",
            "The keynote speaker of {s} was {o}.",
            "{s} was opened with a keynote by {o}.",
            "{o} delivered the opening lecture at {s}.",
            "At {s}, {o} spoke on the opening day.",
            "{o}, the keynote speaker at {s}, missed the train.",
            "{s} had {o} as its keynote speaker.",
            "The keynotes at {s} were given by {o} and {o2}.",
            "The main speech at {s} was held by {o}.",
            "{o} has a busy month. He was keynote speaker at {s}.",
            "{s} invited {o} as keynote speaker.",
        ), (
            "{o} declined to speak at {s}.",
            "{o} was in the audience of {s}.",
            "{o} will give the keynote at {s}.",
            "{o} did not speak at {s}.",
            "If {o} speaks at {s}, we will record it.",
        )),
        Relation("chair", "conference", "person", (
            "{o} chairs {s}.",
            "{s} is chaired by {o}.",
            "The chair of {s} is {o}.",
            "{s} is held under the chairmanship of {o}.",
            "{o} presides over {s}.",
            "{o} was elected chair of {s}.",
            "{s}, chaired by {o}, opens on Monday.",
            "{o} is chair of both {s} and {s2}.",
            "{s} has a new chair, {o}.",
            "{o}, who chairs {s}, welcomed the guests.",
            "Registration for {s} is open. Its chair is {o}.",
        ), (
            "{o} resigned as chair of {s}.",
            "{o} hopes to chair {s}.",
            "{s} was never chaired by {o}.",
            "{o} could chair {s} if asked.",
            "{o} thanked the chair of {s}.",
        )),
        Relation("venue", "conference", "town", (
            "{s} takes place in {o}.",
            "{s} is held in {o}.",
            "{o} hosts {s}.",
            "{o} is the venue of {s}.",
            "The venue of {s} is {o}.",
            "The participants of {s} meet in {o}.",
            "{s}, held in {o}, lasts three days.",
            "In {o}, {s} fills every hotel.",
            "{s} and {s2} both take place in {o}.",
            "{s} came to {o} and stayed there.",
            "Dear speakers, {s} is about to begin. It takes place in {o}.",
        ), (
            "{s} moves away from {o}.",
            "{s} is not held in {o}.",
            "{s} would fit well into {o}.",
            "A group of students from {o} attended {s}.",
            "{s} was to take place in {o} but was cancelled there.",
        )),
        Relation("sponsor", "conference", "firm", (
            "{s} is sponsored by {o}.",
            "{o} sponsors {s}.",
            "The sponsor of {s} is {o}.",
            "{s} is financed by {o}.",
            "{o} supports {s} with a large sum.",
            "{s} receives money from {o}.",
            "{s}, which is funded by {o}, is free of charge.",
            "{s} is made possible by {o}.",
            "{o} and {o2} sponsor {s}.",
            "{s} enjoys the sponsorship of {o}.",
            "{o} is among the sponsors of {s}.",
        ), (
            "{o} refused to sponsor {s}.",
            "{o} is no longer a sponsor of {s}.",
            "{s} asked {o} for money.",
            "{o} would sponsor {s} if it were larger.",
            "{o} employees attended {s}.",
        )),
        Relation("first held", "conference", "year", (
            "{s} was first held in {o}.",
            "{s} was held for the first time in {o}.",
            "The first {s} took place in {o}.",
            "{s} started in {o}.",
            "{s} has been held since {o}.",
            "{s} goes back to {o}.",
            "First held in {o}, {s} is a fixture of the calendar.",
            "The history of {s} begins in {o}.",
            "{s} was founded in {o}.",
            "Since {o}, {s} has been held every year.",
            "{o} saw the first {s}.",
        ), (
            "{s} was cancelled in {o}.",
            "{s} was last held in {o}.",
            "{s} did not exist in {o}.",
            "{s} returns in {o}.",
        )),
    ),
    (
        "{s} is organised by the {organiser} and takes place in {venue}.",
        "First held in {first held}, {s} is chaired by {chair} and sponsored by {sponsor}.",
        "{s}, organised by the {organiser}, was first held in {first held}. Its keynote speaker was "
        "{keynote speaker}.",
        "Dear colleagues, {s} takes place in {venue}. It is chaired by {chair}; the keynote was given by "
        "{keynote speaker}.",
        "{sponsor} sponsors {s}, which the {organiser} organises in {venue}.",
        "Conference: {s}. Chair: {chair}. Venue: {venue}. Sponsor: {sponsor}.",
    ),
)  # fmt: skip

SETS: dict[str, Prose] = {"museum": MUSEUM, "projects": PROJECTS, "conferences": CONFERENCES}


class Maker:
    """Makes a graph, and texts that state what it lacks."""

    def __init__(self, prose: Prose, seed: int) -> None:
        """Give everything in the set a name and a kind; nothing is stated yet."""
        self.dice = random.Random(seed)
        self.prose = prose
        self.names = {**prose.names, "person": tuple(self.dice.sample(people(), 60))}
        self.graph: dict[Triple, None] = {}
        self.missing: dict[tuple[URIRef, URIRef, Term], None] = {}
        self.texts: list[str] = []
        for kind, several in self.names.items():
            for name in several:
                self.graph[Triple(iri(name), RDFS.label, Literal(name))] = None
                self.graph[Triple(iri(name), RDF.type, iri(f"kind {kind}"))] = None
        for relation in prose.relations:
            self.graph[Triple(iri(relation.label), RDFS.label, Literal(relation.label))] = None

    def value(self, relation: Relation, other: str = "") -> str:
        """Return an object of a relation that differs from another."""
        if relation.object == "year":
            return str(1950 + self.dice.randrange(70))
        return self.dice.choice([name for name in self.names[relation.object] if name != other])

    def fact(self, subject: str, relation: Relation, name: str) -> tuple[URIRef, URIRef, Term]:
        """Return a fact."""
        value: Term = (
            Literal(name, datatype=URIRef(XSD + "integer")) if relation.object == "year" else iri(name)
        )
        return iri(subject), iri(relation.label), value

    def paragraphs(self) -> set[str]:
        """Write the paragraphs, each about a subject of its own; return their subjects."""
        by_label = {relation.label: relation for relation in self.prose.relations}
        kind = self.prose.relations[0].subject
        subjects = self.dice.sample(self.names[kind], len(self.prose.paragraphs))
        for subject, text in zip(subjects, self.prose.paragraphs, strict=True):
            labels = [label for label in by_label if f"{{{label}}}" in text]
            fields = {}
            for label in labels:
                fields[label] = self.value(by_label[label])
                while list(fields.values()).count(fields[label]) > 1:
                    fields[label] = self.value(by_label[label])
                self.missing[self.fact(subject, by_label[label], fields[label])] = None
            self.texts.append(text.format(s=subject, **fields))
        return set(subjects)

    def relation(self, relation: Relation, taken: set[str]) -> None:
        """Write what states a relation, and what does not; a third of its facts the graph knows."""
        subjects = [name for name in self.names[relation.subject] if name not in taken]
        self.dice.shuffle(subjects)
        known, told = subjects[: len(subjects) // 3], subjects[len(subjects) // 3 :]
        for subject in known:
            self.graph[Triple(*self.fact(subject, relation, self.value(relation)))] = None
        traps = list(relation.traps)
        self.dice.shuffle(traps)
        wordings = list(relation.wordings)
        self.dice.shuffle(wordings)
        for number in range(len(told)):
            if not told:
                break
            wording = wordings[number % len(wordings)]
            subject, object_ = told.pop(), self.value(relation)
            second = told.pop() if "{s2}" in wording and told else subject
            other = self.value(relation, object_)
            self.missing[self.fact(subject, relation, object_)] = None
            if "{s2}" in wording:
                self.missing[self.fact(second, relation, object_)] = None
            if "{o2}" in wording:
                self.missing[self.fact(subject, relation, other)] = None
            self.texts.append(wording.format(s=subject, o=object_, s2=second, o2=other))
            if number % 2:
                trap = traps[(number // 2) % len(traps)]
                self.texts.append(trap.format(s=subject, o=self.value(relation, object_)))


def make(prose: Prose, seed: int) -> Made:
    """Return a graph and texts."""
    maker = Maker(prose, seed)
    taken = maker.paragraphs()
    for relation in prose.relations:
        maker.relation(relation, taken)
    return Made(list(maker.graph), list(maker.missing), maker.texts)


def _shown(made: Made, fact: tuple[URIRef, URIRef, Term], bad: set[Term], lost: bool) -> str:
    s, p, o = (str(term).rsplit("/", 1)[-1].replace("_", " ") for term in fact)
    wrong = " ".join(str(term).rsplit("/", 1)[-1] for term in sorted(bad))
    about = [text for text in made.texts if s in text and (o in text or bad)]
    return f"{'lost' if lost else ''} {f'WRONG {wrong}' if bad else ''} {s} | {p} | {o}: {about}"


def measure(name: str, seeds: Sequence[int], show: bool = False) -> tuple[float, float, int, int]:
    """Return recall, precision, number of facts, and number of wrong triples of a set."""
    right = wrong = total = 0
    for seed in seeds:
        made = make(SETS[name], seed)
        with mrag.connect() as kg:
            kg.insert(made.graph)
            said = {tuple(fact) for fact in made.missing}
            for fact, found in read(kg, made):
                total += 1
                right += fact[2] in found
                bad = {v for v in found if (*fact[:2], v) not in said}
                wrong += len(bad)
                if show and (fact[2] not in found or bad):
                    print(_shown(made, fact, bad, fact[2] not in found))
    return right / total, right / max(1, right + wrong), total, wrong


def asked_back(name: str, seeds: Sequence[int]) -> tuple[float, float, int]:
    """Return recall, precision and number of facts of which the subject is asked for."""
    right = wrong = total = 0
    for seed in seeds:
        made = make(SETS[name], seed)
        passages = [Passage(f"urn:x:{n}", text, f"{n}.txt") for n, text in enumerate(made.texts)]
        with mrag.connect() as kg:
            kg.insert(made.graph)
            evidence = Evidence(Passages(passages))
            for p, o in sorted({(p, o) for _, p, o in made.missing if isinstance(o, URIRef)}):
                found = evidence.complete(kg, IncompleteTriple(Unknown("x"), p, o), 20)
                subjects = {triple.subject for triple in found}
                said = {s for s, q, v in made.missing if (q, v) == (p, o)}
                total += len(said)
                right += len(subjects & said)
                wrong += len(subjects - said)
    return right / total, right / max(1, right + wrong), total


def lines(sets: Sequence[str], seeds: int, show: bool) -> Iterator[str]:
    """Yield the figures of sets."""
    for name in sets or SETS:
        recall, precision, count, wrong = measure(name, range(seeds), show)
        yield f"{name:12} objects   recall {recall:.3f}  precision {precision:.3f}  n={count}  wrong={wrong}"
        recall, precision, count = asked_back(name, range(seeds))
        yield f"{name:12} subjects  recall {recall:.3f}  precision {precision:.3f}  n={count}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", help="which sets; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many graphs of each")
    parser.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args()
    for line in lines(options.sets, options.seeds, options.show):
        print(line, flush=True)


if __name__ == "__main__":
    main()
