"""How well the plain reader reads paraphrases that nothing has taught it.

    python benchmarks/completion_paraphrases.py            # all sets
    python benchmarks/completion_paraphrases.py films      # one

Each set is a small graph of its own and texts that state what the graph lacks, in wordings from general
knowledge. The reader was tuned on `films`, `companies`, `books`, `ships`, `clinics` and `software`; `places`,
`science`, `clubs` and `farms` were written without looking at what the reader makes of them, and only
measured; of `music` only wrong readings were looked at. No text states a fact that the graph knows, so that
no wording can be learnt.
"beside others" is the same with a second relation between each pair that a text speaks of, known to the
graph: writers who also direct. Precision counts every triple that is read and that no text states.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.completion.collect import Evidence
from mrag.completion.passages import Passage, Passages
from mrag.completion.patterns import IncompleteTriple
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import XSD, Term, Triple

BASE = "http://example.org/paraphrases/"
FIRST = "Ada Bruno Clara Diego Elsa Farid Greta Hugo Ines Jonas Karin Liam Mona Nils Olga Pavel Rosa Sven"
LAST = "Abel Brandt Castle Duarte Ekman Fischer Grove Hansen Ivarsson Jung Keller Lindt Moreau Novak"


@dataclass(frozen=True)
class Relation:
    """A relation and how texts say it.

    Attributes:
        label: What the graph calls it.
        subject: Kind of its subjects.
        object: Kind of its objects.
        wordings: How texts say it, with `{s}` and `{o}`.
    """

    label: str
    subject: str
    object: str
    wordings: tuple[str, ...]


@dataclass(frozen=True)
class Domain:
    """A set: names by kind, and relations; a kind without names is people, one of years is `year`."""

    names: dict[str, tuple[str, ...]]
    relations: tuple[Relation, ...]


def _titles(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(","))


FILMS = Domain(
    {
        "film": _titles(
            "Amber Tide, The Glass Orchard, Winter Signal, Copper Sky, A Quiet Harbour, Paper Lanterns, "
            "The Last Ferry, Salt and Iron, Northern Echo, Velvet Road, The Clockmaker, Burning Meadow, "
            "Hollow Crown, Silver Creek, The Lighthouse Keeper, Broken Compass, Distant Thunder, Stone "
            "Garden, Midnight Parade, The Seventh Door, River of Glass, Autumn Letters, Iron Bridge, "
            "The Long Shore"
        ),
        "genre": ("western", "thriller", "comedy", "musical", "horror", "satire"),
        "language": ("Swedish", "Portuguese", "Hindi", "Korean", "Polish", "Greek"),
    },
    (
        Relation("directed by", "film", "person", (
            "{o} directed {s}.",
            "{s} was made under the direction of {o}.",
            "The director of {s} was {o}, who had just turned forty.",
            "{s} was helmed by {o}.",
            "{s} is a film by {o}.",
            "In 1987 {o} finished directing {s}.",
        )),
        Relation("written by", "film", "person", (
            "{o} wrote {s} in a small flat in Lyon.",
            "The screenplay of {s} was penned by {o}.",
            "The script for {s} is the work of {o}.",
            "{s} was scripted by {o}.",
            "{o} authored the screenplay of {s}.",
            "The writer of {s}, {o}, came from the theatre.",
        )),
        Relation("starring", "film", "person", (
            "{s} stars {o}.",
            "{o} plays the lead in {s}.",
            "{o} appeared in {s} alongside a large cast.",
            "In {s} the main role went to {o}.",
            "{s} features {o} as a retired sailor.",
            "{o} acted in {s}.",
        )),
        Relation("release year", "film", "year", (
            "{s} was released in {o}.",
            "{s} premiered in {o}.",
            "{s} opened in cinemas in {o}.",
            "The premiere of {s} was held in {o}.",
            "First shown in {o}, {s} was soon forgotten.",
        )),
        Relation("genre", "film", "genre", (
            "{s} is a {o}.",
            "{s} belongs to the genre of {o}.",
            "Critics classified {s} as a {o}.",
            "{s} is best described as a {o}.",
        )),
        Relation("language", "film", "language", (
            "{s} was filmed in {o}.",
            "The characters of {s} speak {o}.",
            "The language of {s} is {o}.",
            "{s} is spoken in {o} throughout.",
        )),
    ),
)  # fmt: skip

COMPANIES = Domain(
    {
        "company": _titles(
            "Arvello Systems, Brightmoor Group, Calderon Foods, Delphine Motors, Eastgate Labs, Ferrum "
            "Works, Gilded Oak, Halcyon Air, Inkwell Press, Juniper Health, Kestrel Optics, Lumen "
            "Energy, Marlowe Textiles, Norrland Paper, Opaline Glass, Pinecrest Media, Quarry Stone, "
            "Redwood Robotics, Sable Shipping, Tidewater Bank"
        ),
        "city": _titles(
            "Aarhus, Bilbao, Cork, Dresden, Exeter, Florence, Ghent, Haarlem, Izmir, Jaipur"
        ),
        "product": _titles(
            "Zephyr One, Orbit Pad, Nimbus Chair, Falcon Lens, Terra Pump, Vela Scanner, Mistral "
            "Engine, Cobalt Drive, Aura Lamp, Pulse Meter, Strato Wing, Onyx Phone"
        ),
    },
    (
        Relation("founded by", "company", "person", (
            "{o} founded {s}.",
            "{s} was established by {o}.",
            "{o} is the founder of {s}.",
            "{s} was started by {o} in a garage.",
            "{o} created {s} after leaving the navy.",
            "Among the founders of {s} was {o}.",
        )),
        Relation("headquarters", "company", "city", (
            "{s} is headquartered in {o}.",
            "{s} has its head office in {o}.",
            "{s} is based in {o}.",
            "The headquarters of {s} are in {o}.",
            "From its base in {o}, {s} sells to the world.",
        )),
        Relation("chief executive", "company", "person", (
            "{o} is the chief executive of {s}.",
            "{s} is led by {o}.",
            "{o} heads {s}.",
            "{o} runs {s} from a glass tower.",
            "{o} serves as CEO of {s}.",
            "The CEO of {s} is {o}.",
        )),
        Relation("founding year", "company", "year", (
            "{s} was founded in {o}.",
            "{s} was established in {o}.",
            "{s} has existed since it was created in {o}.",
            "{s} started in {o} with three workers.",
        )),
        Relation("manufacturer", "product", "company", (
            "The {s} is manufactured by {o}.",
            "{o} makes the {s}.",
            "The maker of the {s} is {o}.",
            "The {s} is produced by {o}.",
            "{o} builds the {s} in two factories.",
        )),
        Relation("owner", "company", "company", (
            "{s} is owned by {o}.",
            "{o} owns {s}.",
            "{o} acquired {s} last spring.",
            "{s} belongs to {o}.",
            "The owner of {s} is {o}.",
        )),
    ),
)  # fmt: skip

BOOKS = Domain(
    {
        "book": _titles(
            "The Salt Diaries, Night Ferry to Riga, A Map of Ash, The Beekeeper's Oath, Cold Lantern, "
            "Seven Bridges, The Drowned Orchard, Letters from Tromso, Glass Mountain, The Patient Fox, "
            "Harvest of Stones, Blue Hour, The Cartographer, Under the Elm, A Winter Ledger, The Silent "
            "Choir, Paper Moons, The Iron Gate"
        ),
        "publisher": _titles(
            "Alder House, Bellweather, Corvid Books, Dunmore, Ember Editions, Foxglove, Gatehouse"
        ),
        "country": _titles(
            "Iceland, Chile, Estonia, Kenya, Ireland, Vietnam, Peru, Latvia"
        ),
    },
    (
        Relation("author", "book", "person", (
            "{o} is the author of {s}.",
            "{s}, a novel by {o}, divided its readers.",
            "It took {o} nine years to write {s}.",
            "{s} was penned by {o} during a long illness.",
            "{o}'s pen gave us {s}.",
            "The writer behind {s} is {o}.",
            "{o} wrote {s} for a niece.",
        )),
        Relation("translator", "book", "person", (
            "{o} translated {s} into English.",
            "The translation of {s} is by {o}.",
            "{s} was rendered into English by {o}.",
            "{s}, in the translation of {o}, sold well.",
            "The English version of {s} is owed to {o}.",
        )),
        Relation("illustrator", "book", "person", (
            "{s} was illustrated by {o}.",
            "The drawings in {s} are by {o}.",
            "{o} illustrated {s} with woodcuts.",
            "{o} did the illustrations for {s}.",
            "The pictures of {s} come from {o}.",
        )),
        Relation("publisher", "book", "publisher", (
            "{s} was published by {o}.",
            "{o} brought out {s}.",
            "{o} published {s} in hardback.",
            "{s} appeared with {o}.",
            "The publisher of {s} is {o}.",
            "{s} was issued by {o}.",
        )),
        Relation("publication year", "book", "year", (
            "{s} was published in {o}.",
            "{s} came out in {o}.",
            "{s} appeared in {o}.",
            "{s} was first printed in {o}.",
            "The year of publication of {s} is {o}.",
        )),
        Relation("setting", "book", "country", (
            "{s} is set in {o}.",
            "{s} takes place in {o}.",
            "The story of {s} unfolds in {o}.",
            "The setting of {s} is {o}.",
        )),
    ),
)  # fmt: skip

PLACES = Domain(
    {
        "town": _titles(
            "Arlen, Brackwater, Corvale, Dunhollow, Eskmoor, Fenwick Bay, Glenharrow, Hartsmouth, "
            "Ilverton, Jorvale, Kestermere, Lowgate, Marrowby, Northolm, Oakhaven, Pellworth"
        ),
        "province": _titles(
            "Upper Marsh, Westmark, Eastrand, Solvania, Greyfells, Tarnland"
        ),
        "river": _titles(
            "Aven, Brisk, Calder Water, Drune, Elster Beck, Ferrow, Glimme"
        ),
    },
    (
        Relation("mayor", "town", "person", (
            "The mayor of {s} is {o}.",
            "{o} is mayor of {s}.",
            "{o} was elected mayor of {s}.",
            "{s} has {o} for a mayor.",
            "Mayor {o} governs {s}.",
        )),
        Relation("located in", "town", "province", (
            "{s} lies in {o}.",
            "{s} is a town in {o}.",
            "{s} is located in {o}.",
            "{s} is situated in the north of {o}.",
            "{s}, in {o}, is known for its cheese.",
        )),
        Relation("birthplace", "person", "town", (
            "{s} was born in {o}.",
            "{s} is a native of {o}.",
            "{s} hails from {o}.",
            "The birthplace of {s} is {o}.",
            "{s} came into the world in {o}.",
        )),
        Relation("place of death", "person", "town", (
            "{s} died in {o}.",
            "{s} passed away in {o}.",
            "Death found {s} in {o}.",
            "{s} spent her last days in {o}, where she died.",
        )),
        Relation("residence", "person", "town", (
            "{s} lives in {o}.",
            "{s} resides in {o}.",
            "{s} has made a home in {o}.",
            "{s} settled in {o}.",
            "The home of {s} is in {o}.",
        )),
        Relation("flows through", "river", "province", (
            "The {s} flows through {o}.",
            "The {s} runs through {o}.",
            "The {s} crosses {o} from end to end.",
            "{o} is watered by the {s}, which flows there all year.",
        )),
        Relation("spouse", "person", "person", (
            "{s} is married to {o}.",
            "{s} married {o}.",
            "The wife of {s} is {o}.",
            "{s} wed {o} in June.",
            "{o} is the husband of {s}.",
        )),
    ),
)  # fmt: skip

MUSIC = Domain(
    {
        "song": _titles(
            "Harbour Lights Again, Tin Heart, The Weaver's Song, Low Tide, Marigold Rain, Ghost Train "
            "Home, Candle Street, Swallow Waltz, Cinder Road, Hollow Bell, Evergreen Lullaby, Rust and "
            "Roses, Morning Ledger, The Ninth Wave, Slow Comet, Paper Crown"
        ),
        "band": _titles(
            "The Copper Larks, Velvet Anchor, Northern Static, Idle Kings, Moss Parade, Quiet Engine"
        ),
        "label": _titles(
            "Bluebird Sound, Cave Records, Delta Groove, Elmwood, Falcon Music"
        ),
        "instrument": _titles(
            "Violin, Cello, Trumpet, Piano, Oboe, Harp"
        ),
    },
    (
        Relation("composer", "song", "person", (
            "{o} composed {s}.",
            "{s} was composed by {o}.",
            "The music of {s} is by {o}.",
            "The composer of {s} was {o}.",
            "The melody of {s} came from {o}.",
        )),
        Relation("lyricist", "song", "person", (
            "The lyrics of {s} were written by {o}.",
            "{o} wrote the words to {s}.",
            "The lyricist of {s} is {o}.",
            "The lyrics of {s} are by {o}.",
        )),
        Relation("performer", "song", "band", (
            "{s} was performed by {o}.",
            "{o} recorded {s}.",
            "{s} is a song by {o}.",
            "{o} perform {s} at every concert.",
            "{s} was sung by {o}.",
        )),
        Relation("record label", "band", "label", (
            "{s} are signed to {o}.",
            "The label of {s} is {o}.",
            "{s} signed with {o}.",
            "{s} record for the label {o}.",
        )),
        Relation("member of", "person", "band", (
            "{s} is a member of {o}.",
            "{s} joined {o}.",
            "{s} belongs to {o}.",
            "{s} plays in {o}.",
            "Among the members of {o} is {s}.",
        )),
        Relation("teacher", "person", "person", (
            "{s} was taught by {o}.",
            "{o} taught {s}.",
            "The teacher of {s} was {o}.",
            "{s} studied under {o}.",
            "{s} was a pupil of {o}.",
        )),
        Relation("instrument", "person", "instrument", (
            "{s} plays the {o}.",
            "The instrument of {s} is the {o}.",
            "{s} took up the {o} as a child.",
        )),
        Relation("release year", "song", "year", (
            "{s} was released in {o}.",
            "{s} came out in {o}.",
            "{s} hit the shops in {o}.",
            "The release of {s} followed in {o}.",
        )),
    ),
)  # fmt: skip

SCIENCE = Domain(
    {
        "theory": _titles(
            "Lattice Drift, Tidal Resonance, Cold Fusion Lensing, Spiral Folding, Echo Mapping, "
            "Granular Flow, Shadow Imaging, Phase Weaving, Thermal Braiding, Ring Scattering, Vortex "
            "Pinning, Pulse Sorting"
        ),
        "university": _titles(
            "Harrowgate University, Linden College, Ostmark Institute, Sankt Elmo, Weston Academy"
        ),
        "prize": _titles(
            "Copperfield Medal, Hallam Prize, Meridian Award, Orion Medal"
        ),
        "planet": _titles(
            "Nereus, Talos, Ophir, Cassio, Vesper, Lethe, Antares Minor, Corva, Dione Major, Halia"
        ),
    },
    (
        Relation("discoverer", "planet", "person", (
            "{o} discovered {s}.",
            "{s} was discovered by {o}.",
            "The discovery of {s} is credited to {o}.",
            "The discoverer of {s} was {o}.",
            "{s} was first seen by {o}.",
            "{o} found {s} with a small telescope.",
        )),
        Relation("year of discovery", "planet", "year", (
            "{s} was discovered in {o}.",
            "The discovery of {s} dates from {o}.",
            "{s} was found in {o}.",
            "Astronomers first noticed {s} in {o}.",
        )),
        Relation("inventor", "theory", "person", (
            "{o} invented {s}.",
            "{s} was invented by {o}.",
            "{s} was devised by {o}.",
            "The inventor of {s} is {o}.",
            "{s} is an invention of {o}.",
            "{o} came up with {s}.",
        )),
        Relation("educated at", "person", "university", (
            "{s} studied at {o}.",
            "{s} graduated from {o}.",
            "{s} attended {o}.",
            "{s} was educated at {o}.",
            "{s} took a degree at {o}.",
        )),
        Relation("employer", "person", "university", (
            "{s} works for {o}.",
            "{s} is employed by {o}.",
            "{o} hired {s}.",
            "{s} has a post at {o}.",
            "The employer of {s} is {o}.",
        )),
        Relation("doctoral advisor", "person", "person", (
            "The doctoral advisor of {s} was {o}.",
            "{s} was advised by {o}.",
            "{o} supervised the thesis of {s}.",
            "{s} wrote a thesis under {o}.",
        )),
        Relation("award received", "person", "prize", (
            "{s} received the {o}.",
            "{s} won the {o}.",
            "{s} was awarded the {o}.",
            "The {o} went to {s}.",
            "{s} was honoured with the {o}.",
        )),
    ),
)  # fmt: skip

SHIPS = Domain(
    {
        "ship": _titles(
            "Morning Star, Aurora Belle, Kestrel, Lady Franklin, Southern Pride, Tern of Oban, "
            "Halcyon, Grey  Gannet, Polar Bear II, Bright Hope, Medusa, Ocean Wanderer, Saint "
            "Brendan, Thistle, Black Prince,  Wild Rose, Commodore Perry, Snow Goose, Evening Tide, "
            "Hesperus, Pole Star, Merry Widow, Cormorant,  Argosy, Baltic Trader, Redoubtable"
        ),
        "port": _titles("Stavanger, Hull, Cork, Lorient, Gdynia, Ostend, Aberdeen, Bremerhaven"),
        "company": _titles("Nordline, Harrow & Sons, Blue Anchor, Kattegat Shipping, Reederei Ost, Seaways"),
        "shipyard": _titles("Dunmore Yard, Vulkan Docks, Harland Slip, Karlskrona Works, Greenock Basin"),
    },
    (
        Relation("captain", "ship", "person", (
            "{o} was captain of {s}.",
            "{s} sailed under {o}.",
            "{o} commanded {s} for six years.",
            "The captain of {s} was {o}.",
            "{s} was under the command of {o}.",
            "Captain {o} took {s} round Cape Horn.",
            "{s} was captained by {o}.",
            "{o} was master of {s}.",
            "At the helm of {s} stood {o}.",
            "In spring, {o} took command of {s}.",
            "{o} skippered {s} from the first day on.",
            "The skipper of {s} is {o}.",
            "{s}, whose captain was {o}, reached Lisbon in May.",
        )),
        Relation("year of launch", "ship", "year", (
            "{s} was launched in {o}.",
            "{s} left the slipway in {o}.",
            "The launch of {s} took place in {o}.",
            "{s} first touched water in {o}.",
            "{s}, launched in {o}, is still afloat.",
            "In {o}, {s} was launched before a large crowd.",
            "The year of launch of {s} is {o}.",
            "{s} slid down the ways in {o}.",
            "{s} has been afloat since her launch in {o}.",
            "{o} saw the launch of {s}.",
            "They launched {s} in {o}.",
            "Launched: {s}, {o}.",
            "The ship {s} dates from {o}, when it was launched.",
        )),
        Relation("owner", "ship", "company", (
            "{s} belongs to {o}.",
            "{o} owns {s}.",
            "{s} is owned by {o}.",
            "The owner of {s} is {o}.",
            "{s} is the property of {o}.",
            "{o} bought {s} last year.",
            "{o} is the owner of {s}.",
            "{s} passed into the hands of {o}.",
            "{s} was sold to {o}.",
            "{o} acquired {s} at an auction.",
            "{s} is part of the fleet of {o}.",
            "{s}, owned by {o}, carries timber.",
            "The owners of {s} are {o}.",
        )),
        Relation("home port", "ship", "port", (
            "The home port of {s} is {o}.",
            "{s} is based in {o}.",
            "{s} sails out of {o}.",
            "{o} is the home port of {s}.",
            "{s} has its home in {o}.",
            "{s} is registered at {o}.",
            "{s} returns to {o} after each voyage, which is her home port.",
            "{s} is at home in {o}.",
            "{s} has {o} as its home port.",
            "{o} is where {s} is based.",
            "{s} operates from {o}.",
            "{s} calls {o} home.",
            "Home port of {s}: {o}.",
        )),
        Relation("built by", "ship", "shipyard", (
            "{s} was built by {o}.",
            "{o} built {s}.",
            "{s} was constructed at {o}.",
            "{s} is a product of {o}.",
            "The builder of {s} was {o}.",
            "{s} was laid down at {o}.",
            "{s} came from {o}.",
            "{o} was the builder of {s}.",
            "{s} was built at {o} within a year.",
            "The shipyard that built {s} was {o}.",
            "The hull of {s} was made by {o}.",
            "{s} was the last ship that {o} built.",
            "{o} delivered {s} in autumn.",
        )),
    ),
)  # fmt: skip

CLUBS = Domain(
    {
        "stadium": _titles(
            "Linden Park, Northgate Arena, Victory Ground, Harbour Field, Elm Lane, The Cauldron, "
            "Silverdome,  Meadow Road, Kings Oval, Riverside Bowl, Castle Green, Sunset Terraces, "
            "Millmoor, The Foundry,  Eagle Nest, Station Road, Maple Court, Highfield, Lakeside, The "
            "Quarry, Union Square, Priory Lane,  Westend Stadium, Orchard Ground"
        ),
        "city": _titles("Brenna, Tolmin, Kestro, Avigny, Marlow Bay, Estrava, Pollen, Vardal"),
        "firm": _titles("Lightyear Foods, Ober Bank, Calder Motors, Nimbus Air, Pine Telecom, Rhein Steel"),
        "event": _titles("Baltic Cup, Winter Games, Harvest Marathon, Youth Trophy, Grand Regatta"),
    },
    (
        Relation("architect", "stadium", "person", (
            "{o} was the architect of {s}.",
            "{s} was designed by {o}.",
            "The architect of {s} is {o}.",
            "{o} drew up the plans for {s}.",
            "{s} is the work of the architect {o}.",
            "The design of {s} goes back to {o}.",
            "{o} designed {s} on a napkin.",
            "{s} was planned by {o}.",
            "{s}, a design by {o}, won a prize.",
            "{o}, the architect of {s}, lives abroad.",
            "It was {o} who designed {s}.",
            "{s} came from the drawing board of {o}.",
            "The town asked {o} to design {s}.",
        )),
        Relation("opening year", "stadium", "year", (
            "{s} opened in {o}.",
            "{s} was opened in {o}.",
            "The opening of {s} was in {o}.",
            "{s} opened its gates in {o}.",
            "{s} was inaugurated in {o}.",
            "In {o} {s} opened with a friendly match.",
            "The inauguration of {s} took place in {o}.",
            "{s} has been open since {o}.",
            "{s} welcomed its first crowd in {o}.",
            "{s}, which opened in {o}, has a new roof.",
            "The first match in {s} was played in {o}.",
            "{s} was completed and opened in {o}.",
            "The gates of {s} opened for the first time in {o}.",
        )),
        Relation("city", "stadium", "city", (
            "{s} is in the city of {o}.",
            "{s} is located in {o}.",
            "{s} stands in {o}.",
            "{s} lies in the east of {o}.",
            "The city of {s} is {o}.",
            "{s} is situated in {o}.",
            "{o} is the city where {s} stands.",
            "{s} can be found in {o}.",
            "{o} is home to {s}.",
            "{s} was built in the centre of the city of {o}.",
            "You find {s} in {o}.",
            "{s} is a stadium in {o}.",
            "In {o} stands {s}.",
        )),
        Relation("sponsor", "stadium", "firm", (
            "{s} is sponsored by {o}.",
            "The sponsor of {s} is {o}.",
            "{o} sponsors {s}.",
            "{o} is the sponsor of {s}.",
            "{s} has {o} as its sponsor.",
            "{s} is funded by {o}.",
            "{o} finances {s}.",
            "{s} is supported by {o}.",
            "{o} gives money to {s}.",
            "{s} carries the logo of its sponsor {o}.",
            "{o} has been sponsoring {s} for years.",
            "{s} receives funding from {o}.",
            "{o} backs {s}.",
        )),
        Relation("hosted event", "stadium", "event", (
            "{s} hosted the {o}.",
            "The {o} was held at {s}.",
            "The {o} took place at {s}.",
            "{s} was the venue of the {o}.",
            "{s} was host to the {o}.",
            "The {o} was hosted by {s}.",
            "The {o} came to {s} last year.",
            "{s} staged the {o}.",
            "They held the {o} at {s}.",
            "The organisers of the {o} chose {s}.",
            "{s} hosts the {o} every year.",
            "The {o} is hosted at {s}.",
            "The venue for the {o} was {s}.",
        )),
    ),
)  # fmt: skip

CLINICS = Domain(
    {
        "clinic": _titles(
            "Saint Alma, Greenhill Clinic, Lakeview Infirmary, The Old Priory, Marien Hospital, Westbrook, "
            "Sunfield House, Grace Memorial, Bethel Clinic, Harbour Hospital, Rosewood, Kingsmead, Elmcroft, "
            "North Ward, Cedar Lodge, Holy Cross, Fernbank, Millbrook Hospital, Stonegate, The Pavilion, "
            "Queen Astrid, Larkfield, Oakdene, Riverside Infirmary"
        ),
        "field": ("cardiology", "oncology", "paediatrics", "neurology", "dermatology", "orthopaedics"),
        "college": _titles("Tolmin University, Estrava College, Brenna Institute, Vardal University"),
        "town": _titles("Avigny, Kestro, Pollen, Marlow Bay, Tarnow, Issel"),
    },
    (
        Relation("head physician", "clinic", "person", (
            "{o} is the head physician of {s}.",
            "{s} is headed by {o}.",
            "{o} heads {s}.",
            "{o} has been in charge of {s} for ten years.",
            "The doctors of {s} report to {o}.",
            "{o} took over as head of {s}.",
            "{s} is led by {o}.",
            "The physician at the head of {s} is {o}.",
            "{o} was appointed to lead {s}.",
            "At the top of {s} is {o}.",
            "{s} is under the leadership of {o}.",
            "Under {o}, {s} has grown.",
        )),
        Relation("specialty", "clinic", "field", (
            "{s} specialises in {o}.",
            "{s} is specialised in {o}.",
            "{s} is known for {o}.",
            "{s} focuses on {o}.",
            "{o} is the specialty of {s}.",
            "The focus of {s} is {o}.",
            "{s} is a centre for {o}.",
            "{s} concentrates on {o}.",
            "The speciality of {s} is {o}.",
            "{s} devotes itself to {o}.",
            "{o} is what {s} does best.",
            "People come to {s} for {o}.",
        )),
        Relation("affiliated with", "clinic", "college", (
            "{s} is affiliated with {o}.",
            "{s} is attached to {o}.",
            "{s} is associated with {o}.",
            "{s} cooperates with {o}.",
            "{s} is a teaching hospital of {o}.",
            "{o} and {s} are affiliated.",
            "{s} belongs to {o}.",
            "{s} is linked to {o}.",
            "{s} is a partner of {o}.",
            "{s} works closely with {o}.",
            "There is an affiliation between {s} and {o}.",
            "{s} is connected with {o}.",
        )),
        Relation("founded", "clinic", "year", (
            "{s} was founded in {o}.",
            "{s} was set up in {o}.",
            "{s} was established in {o}.",
            "The foundation of {s} dates from {o}.",
            "{s} dates back to {o}.",
            "{s} has existed since {o}.",
            "The history of {s} began in {o}.",
            "{s} goes back to {o}.",
            "It was in {o} that {s} was founded.",
            "{s} took in its first patients in {o}.",
            "The founding year of {s} is {o}.",
            "{s} came into being in {o}.",
        )),
        Relation("location", "clinic", "town", (
            "{s} is located in {o}.",
            "{s} stands on a hill above {o}.",
            "{s} is a clinic in {o}.",
            "The location of {s} is {o}.",
            "{s} is found in {o}.",
            "{s} is based in {o}.",
            "{s} serves patients in {o}.",
            "{o} is where {s} is.",
            "{s} has its site in {o}.",
            "{s} occupies a villa in {o}.",
            "In {o} there is {s}.",
            "{s} is near the station of {o}.",
        )),
    ),
)  # fmt: skip

SOFTWARE = Domain(
    {
        "program": _titles(
            "Quillpad, Tidemark, Lumen Editor, Brightbase, Cobalt Shell, Fernwood, Mapwright, Ledgerly, "
            "Nightowl, Pixelmill, Rivet, Sandbox Pro, Tessera, Umbra, Vantage Point, Wavelet, Xylograph, "
            "Yardstick, Zephyr Mail, Anchorite, Backstop, Cartogram, Driftwood, Everest Notes"
        ),
        "company": _titles("Norden Labs, Acheron Systems, Bluefin, Castor Works, Delta Nine, Eider Soft"),
        "system": _titles("Windmill OS, Penguin, Cider, Fireglass, Solstice, Trident"),
        "code": _titles("Rascal, Lisbon, Coral, Topaz, Basil, Fortress"),
    },
    (
        Relation("developer", "program", "company", (
            "{s} was developed by {o}.",
            "{o} is the developer of {s}.",
            "{o} created {s}.",
            "{s} is made by {o}.",
            "{s} is a product of {o}.",
            "{s} comes from {o}.",
            "{o} built {s}.",
            "The makers of {s} are {o}.",
            "The company behind {s} is {o}.",
            "{s} was programmed at {o}.",
            "{o} brought out {s}.",
            "{s} is the creation of {o}.",
        )),
        Relation("maintainer", "program", "person", (
            "{s} is maintained by {o}.",
            "{o} maintains {s}.",
            "The maintainer of {s} is {o}.",
            "{o} looks after {s}.",
            "{o} takes care of {s}.",
            "{s} is kept alive by {o}.",
            "Maintenance of {s} lies with {o}.",
            "{o} is responsible for {s}.",
            "{s} is looked after by {o}.",
            "{o} keeps {s} up to date.",
            "{o} has been maintaining {s} alone.",
            "The upkeep of {s} is the job of {o}.",
        )),
        Relation("platform", "program", "system", (
            "{s} runs on {o}.",
            "The platform of {s} is {o}.",
            "{s} is available for {o}.",
            "{s} works on {o}.",
            "{s} was written for {o}.",
            "{s} can be installed on {o}.",
            "{o} is the platform of {s}.",
            "{s} supports {o}.",
            "{s} requires {o}.",
            "{s} is a program for {o}.",
            "{s} is compatible with {o}.",
            "There is a version of {s} for {o}.",
        )),
        Relation("programming language", "program", "code", (
            "{s} is written in {o}.",
            "{s} was programmed in {o}.",
            "The programming language of {s} is {o}.",
            "{s} is implemented in {o}.",
            "{s} is coded in {o}.",
            "The code of {s} is {o}.",
            "{o} is the language of {s}.",
            "{s} uses {o} as its programming language.",
            "The source of {s} is in {o}.",
            "{s} was rewritten in {o}.",
            "{s} is built with {o}.",
            "The authors of {s} programmed it in {o}.",
        )),
        Relation("first release", "program", "year", (
            "{s} was first released in {o}.",
            "{s} appeared in {o}.",
            "{s} came out in {o}.",
            "The first release of {s} was in {o}.",
            "{s} has been available since {o}.",
            "Version one of {s} was published in {o}.",
            "{s} was launched in {o}.",
            "{s} reached its first users in {o}.",
            "In {o} the first version of {s} was released.",
            "{s} saw the light of day in {o}.",
            "{s} was put out in {o}.",
            "{s} made its debut in {o}.",
        )),
    ),
)  # fmt: skip

FARMS = Domain(
    {
        "farm": _titles(
            "Hollow Oak, Windrush Farm, Upper Barn, Meadowlea, Kiln House, Blackbriar, Sparrow Hill, "
            "Long Acre, "
            "Nettlebed, Rushmere, Pear Tree Farm, Fox Covert, Highcombe, Thistledown, Crow Wood, Larch End, "
            "Old Dairy, Sweetwater, Tanner Farm, Ivy Bank, Marsh Gate, Quince Court, Dove Cottage, Applegarth"
        ),
        "crop": ("barley", "hops", "rye", "flax", "maize", "lentils"),
        "county": _titles("Wexbury, Norland, Dunmark, Ostrava Vale, Hathshire, Lowmoor"),
        "dealer": _titles("Grainway, Union Mills, Kornhaus, Fairfield Foods, Bulk Brothers, Harvestline"),
    },
    (
        Relation("tenant", "farm", "person", (
            "{o} is the tenant of {s}.",
            "{s} is let to {o}.",
            "{o} rents {s}.",
            "The tenant of {s} is {o}.",
            "{s} was leased to {o}.",
            "{o} holds the lease of {s}.",
            "{s} has {o} as its tenant.",
            "{o} took {s} on a long lease.",
            "{s} is rented by {o}.",
            "{o} moved to {s} as a tenant.",
            "It is {o} who rents {s}.",
            "{o}, the tenant of {s}, keeps bees.",
        )),
        Relation("main crop", "farm", "crop", (
            "The main crop of {s} is {o}.",
            "{s} grows {o}.",
            "{o} is grown at {s}.",
            "{s} lives on {o}.",
            "{s} is known for {o}.",
            "Most fields of {s} are sown with {o}.",
            "{s} produces {o}.",
            "The fields of {s} are full of {o}.",
            "{o} is the most important crop of {s}.",
            "{s} mainly cultivates {o}.",
            "{o} has been the crop of {s} for decades.",
            "{s} specialises in {o}.",
        )),
        Relation("county", "farm", "county", (
            "{s} lies in the county of {o}.",
            "{s} is in {o}.",
            "{s} is a farm in {o}.",
            "{s} is located in {o}.",
            "The county of {s} is {o}.",
            "{s} belongs to {o}.",
            "{s} is situated in the south of {o}.",
            "You will find {s} in {o}.",
            "{s} stands at the edge of {o}.",
            "{o} is the county in which {s} lies.",
            "{s} sits in the hills of {o}.",
            "In {o} lies {s}.",
        )),
        Relation("buyer", "farm", "dealer", (
            "{o} buys the harvest of {s}.",
            "{s} sells its harvest to {o}.",
            "The buyer of {s} is {o}.",
            "{s} supplies {o}.",
            "{s} delivers to {o}.",
            "{o} is the buyer of {s}.",
            "The harvest of {s} is bought by {o}.",
            "{s} has a contract with {o}.",
            "{o} purchases everything from {s}.",
            "{s} found a buyer in {o}.",
            "{s} is a supplier of {o}.",
            "{o} takes what {s} brings in.",
        )),
        Relation("built", "farm", "year", (
            "{s} was built in {o}.",
            "{s} was erected in {o}.",
            "{s} dates from {o}.",
            "The house of {s} was built in {o}.",
            "{s} was put up in {o}.",
            "Construction of {s} ended in {o}.",
            "In {o} {s} was built by monks.",
            "{s}, built in {o}, has thick walls.",
            "The building of {s} took place in {o}.",
            "{s} was constructed in {o}.",
            "{s} was finished in {o}.",
            "{s} goes back to {o}.",
        )),
    ),
)  # fmt: skip

DOMAINS: dict[str, Domain] = {
    "films": FILMS,
    "companies": COMPANIES,
    "books": BOOKS,
    "places": PLACES,
    "music": MUSIC,
    "science": SCIENCE,
    "ships": SHIPS,
    "clubs": CLUBS,
    "clinics": CLINICS,
    "software": SOFTWARE,
    "farms": FARMS,
}

DENIALS = (
    "It is not true that {o} had anything to do with {s}.",
    "{o} was never involved in {s}.",
    "Some claim that {o} stood behind {s}.",
    "{o} and {s} are often named in one breath.",
    "{o} admired {s} from afar.",
)


def people() -> list[str]:
    """Return names of people."""
    return [f"{first} {last}" for last in LAST.split() for first in FIRST.split()]


def iri(name: str) -> URIRef:
    """Return the IRI of a name."""
    return URIRef(BASE + name.replace(" ", "_").replace("'", ""))


@dataclass
class Made:
    """A graph, what the texts state that it lacks, and the texts."""

    graph: list[Triple]
    missing: list[tuple[URIRef, URIRef, Term]]
    texts: list[str]


def make(domain: Domain, seed: int, beside: bool) -> Made:
    """Return a graph and texts; a third of the facts are known, so that relations have kinds."""
    dice = random.Random(seed)
    names = {**domain.names, "person": tuple(dice.sample(people(), 60))}
    graph: dict[Triple, None] = {}
    for kind, several in names.items():
        for name in several:
            graph[Triple(iri(name), RDFS.label, Literal(name))] = None
            graph[Triple(iri(name), RDF.type, iri(f"kind {kind}"))] = None
    missing: dict[tuple[URIRef, URIRef, Term], None] = {}
    texts: list[str] = []
    for at, relation in enumerate(domain.relations):
        p = iri(relation.label)
        graph[Triple(p, RDFS.label, Literal(relation.label))] = None
        subjects = list(names[relation.subject])
        dice.shuffle(subjects)
        others = [r for r in domain.relations if r is not relation and r.subject == relation.subject]
        others = [r for r in others if r.object == relation.object]
        for number, subject in enumerate(subjects):
            objects = names.get(relation.object, ())
            name = (
                dice.choice([o for o in objects if o != subject])
                if objects
                else str(1950 + dice.randrange(70))
            )
            value: Term = iri(name) if objects else Literal(name, datatype=URIRef(XSD + "integer"))
            fact = (iri(subject), p, value)
            if number % 3 == 0:
                graph[Triple(*fact)] = None
                continue
            missing[fact] = None
            texts.append(relation.wordings[(number + at) % len(relation.wordings)].format(s=subject, o=name))
            if beside and others:
                graph[Triple(iri(subject), iri(dice.choice(others).label), value)] = None
            if dice.random() < 0.4:
                other = dice.choice(names.get(relation.object, names["person"]))
                texts.append(dice.choice(DENIALS).format(s=subject, o=other))
    return Made(list(graph), [f for f in missing if Triple(*f) not in graph], texts)


def read(kg: KnowledgeGraph, made: Made) -> Iterator[tuple[tuple[URIRef, URIRef, Term], set[Term]]]:
    """Yield for each missing fact what was read in its place."""
    passages = [Passage(f"urn:x:{n}", text, f"{n}.txt") for n, text in enumerate(made.texts)]
    evidence = Evidence(Passages(passages))
    for s, p, o in made.missing:
        found = evidence.complete(kg, IncompleteTriple(s, p, Unknown("x")), 8)
        yield (s, p, o), {t.object for t in found}


def measure(name: str, seeds: Sequence[int], beside: bool, show: bool = False) -> tuple[float, float, int]:
    """Return recall, precision and number of facts of a set."""
    right = wrong = total = 0
    for seed in seeds:
        made = make(DOMAINS[name], seed, beside)
        with mrag.connect() as kg:
            kg.insert(made.graph)
            said = {tuple(f) for f in made.missing}
            for (s, p, o), found in read(kg, made):
                total += 1
                right += o in found
                bad = {v for v in found if (s, p, v) not in said}
                wrong += len(bad)
                if show and (o not in found or bad):
                    label, value = s.rsplit("/", 1)[-1].replace("_", " "), str(o).rsplit("/", 1)[-1]
                    about = [t for t in made.texts if label in t]
                    print(
                        "lost" if o not in found else "    ",
                        "WRONG" if bad else "",
                        p.rsplit("/", 1)[-1],
                        value,
                        about,
                    )
    return right / total, right / max(1, right + wrong), total


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", help="which sets; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many graphs of each")
    parser.add_argument("--show", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args()
    for name in options.sets or DOMAINS:
        for beside in (False, True):
            recall, precision, count = measure(name, range(options.seeds), beside, options.show)
            what = "beside others" if beside else "alone"
            print(f"{name:10} {what:14} recall {recall:.3f}  precision {precision:.3f}  n={count}")


if __name__ == "__main__":
    main()
