"""Word lists of the text extractor: what numbers, parts, measures and pronouns stand for in English."""

from __future__ import annotations

import re
from typing import Final

NUMBERS: Final = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen twenty".split()
    )
}
"""Number words as digits, in which scene graphs count."""

PRONOUNS: Final = {
    "he": "man", "him": "man", "she": "woman", "they": "people", "them": "people",
    "someone": "person", "somebody": "person", "everyone": "people", "everybody": "people",
    "something": "", "anything": "", "nothing": "", "everything": "", "one": "", "ones": "",
}  # fmt: skip
"""What a pronoun without antecedent stands for; nothing where it is empty."""

NAMES: Final = {"guy": "person", "guys": "people"}
"""Nouns that scene graphs call otherwise."""

OWNERS: Final = frozenset("his her its their my your our it".split())
"""Possessive pronouns: the owner is looked for in the clause."""

PARTS: Final = frozenset(
    "top side sides front back rear bottom edge middle center centre corner end left right base foot face "
    "surface tip inside outside".split()
)
"""Places on a thing: after a preposition they belong to the relation, as in `on side of`."""

MEASURES: Final = frozenset(
    "group row bunch pair piece stack pile cluster set lot lots number couple herd flock line kind type "
    "slice sheet variety series assortment collection crowd school pack team plenty dozen bit array load "
    "loads handful half part section portion strip patch chunk strand clump bundle batch swarm range "
    "display figure outline body".split()
)
"""Nouns whose `of` names the thing that is meant: `a bunch of bananas` is bananas."""

SAID_MEASURES: Final = {"group": "group of", "piece": "piece", "cluster": "cluster", "slice": "slice",
                        "stack": "stack", "pile": "pile"}  # fmt: skip
"""Measures that are kept as an attribute of the thing."""

CONTAINERS: Final = frozenset(
    "plate bowl glass cup bottle box can jar bag basket tray mug pot pan bucket dish vase case carton "
    "container pitcher barrel crate tub platter".split()
)
"""Nouns that have what follows `of` in them; other wholes have what stands before it as a part."""

COLOURS: Final = frozenset(
    "red orange yellow green blue purple pink brown black white gray grey tan beige gold golden silver "
    "teal maroon turquoise violet navy cream lavender".split()
)
"""Names of colours; before a noun they describe it, even where a tagger takes them for nouns."""

MATERIALS: Final = frozenset(
    "wood wooden metal metallic brick leather cement concrete granite stone glass plastic steel dirt tile "
    "tin paper cardboard marble ceramic rubber denim wool woolen cotton silk wicker iron aluminum chrome "
    "brass copper porcelain asphalt gravel straw bamboo plaid striped floral stainless".split()
)
"""What things are made of; before a noun it describes the noun."""

CLOTHES: Final = frozenset(
    "shirt t-shirt tshirt jacket coat suit dress pants jeans shorts hat cap helmet tie shoe shoes boot "
    "boots sock socks glove gloves skirt sweater hoodie vest uniform glasses sunglasses goggles scarf "
    "sneakers sandals wetsuit bikini swimsuit trunks outfit clothing clothes blouse belt apron robe gown "
    "jersey sweatshirt bandana headband wristband mask watch necklace earrings earring bracelet ring "
    "overalls leggings tights stockings mittens visor beanie costume tank blazer cardigan kimono trousers "
    "khakis slippers heels top attire gear".split()
)
"""What is worn: who is in it, wears it."""

BODY: Final = frozenset(
    "hair head face eye eyes ear ears nose mouth neck arm arms hand hands finger fingers leg legs foot "
    "feet tail mane beard mustache moustache horn horns wing wings beak paw paws fur trunk tusk tusks "
    "knee knees back shoulder shoulders chest chin cheek lip lips tooth teeth tongue whiskers hoof hooves "
    "feather feathers elbow wrist thumb toe toes skin belly stomach body ankle forehead eyebrows claws "
    "snout muzzle sleeve sleeves collar".split()
)
"""Parts of a body or a garment: who is with them has them."""

WEARERS: Final = frozenset(
    "man woman person people boy girl child kid lady guy player men women children boys girls kids ladies "
    "guys players skier skiers surfer surfers snowboarder skateboarder rider riders baby toddler "
    "gentleman male female batter catcher umpire pitcher worker officer soldier chef adult teenager crowd "
    "spectator spectators couple individual bear teddy doll dog cat".split()
)
"""Who wears clothes."""

ANIMATE: Final = (WEARERS - frozenset("pitcher doll teddy crowd couple individual".split())) | frozenset(
    "animal animals bear bears bird birds bull bulls calf calves camel cat cats chicken chickens child cow "
    "cows crow deer dogs donkey duck ducks eagle elephant elephants fish fox frog giraffe giraffes goat "
    "goats goose geese gull gulls hen horse horses human kitten lamb lambs lion lions monkey monkeys owl "
    "ox panda parrot penguin person pig pigeon pigeons pony puppy rabbit ram rooster seagull seagulls seal "
    "shark sheep squirrel swan tiger tigers turkey turtle wolf zebra zebras bride groom crew family father "
    "mother student students teacher farmer driver pilot cyclist runner runners pedestrians dancer".split()
)
"""What acts by itself: it walks, looks and holds, and the hat on it does not."""

ONE_OR_MANY: Final = frozenset("sheep deer fish people police cattle geese men women children".split())
"""Nouns that take a verb in the plural without an ending of their own."""

COMPOUNDS: Final = frozenset(
    ["hot dog", "french fry", "french toast", "high chair", "high heel", "hot tub", "hot plate", "hard hat",
     "hard drive", "soft drink", "sweet potato", "blue jay", "blue cheese", "green bean", "green house",
     "white board", "black board", "black bird", "grand piano", "high school",
     "remote control", "remote controller", "light pole", "light post", "light fixture", "light switch",
     "top hat", "big wheel", "first base", "second base", "third base", "home plate", "guinea pig",
     "wild card", "common room", "great dane", "german shepherd", "golden retriever", "yellow jacket"]
)  # fmt: skip
"""Adjectives with nouns that together are a name, in the singular."""

NO_KIND_OF: Final = frozenset(
    "hot dog|sea lion|sea horse|guinea pig|prairie dog|blue jay|high chair|yellow jacket|hot plate".split("|")
)
"""Compounds that are not of the kind that their last word names: a hot dog is no dog."""

NOUNS_IN_ING: Final = frozenset(
    "building painting railing ceiling clothing lettering writing frosting siding fencing string ring "
    "wing awning topping icing bedding flooring paneling landscaping crossing opening wiring roofing "
    "stuffing dressing dumpling duckling earring evening king lighting molding parking plumbing pudding "
    "seating shelving sibling sling spring swing thing tubing wedding drawing carving".split()
)
"""Nouns that look like participles."""

NOUNS_LIKE_VERBS: Final = frozenset(
    "mirror leave leaf label head light sign shelter board park stop face hand house lamp shade fence "
    "plant wheel picture post cover bottle train rock back step water tile brush box bag bar track handle "
    "match stand rail chain frame screen tie cap top wing tag rack block coat paint phone remote".split()
)
"""Nouns that a tagger takes for verbs after another noun."""

SHADES: Final = frozenset("dark light deep pale bright".split())

EMPTY_ATTRIBUTES: Final = frozenset(
    "several many some other another same different such own few various more most all both each every "
    "much only certain numerous multiple".split()
)
"""Adjectives that count or point and describe nothing."""

COVERING: Final = frozenset("cover surround line".split())
"""Verbs whose passive has its agent after `by`, `with` or `in`."""

POSTURES: Final = frozenset(
    "sit stand lie lay perch lean rest crouch kneel squat walk run look fly graze swim bend".split()
)
"""Verbs without a passive in captions, whose participle only looks like one: `bird perched on a branch`."""

IDLE_PARTICLES: Final = frozenset(
    tuple(pair.split())
    for pair in ("lay down", "sit down", "hold up", "hang up", "stand up", "hold out", "sit up")
)
"""Particles that add nothing to their verb."""

QUALITIES: Final = {
    "wood": "wooden",
    "gray": "grey",
    "coloured": "colored",
    "woolen": "wool",
    "metallic": "metal",
}
"""Attributes in the spelling that is used here."""

PART_ADJECTIVES: Final = {
    "haired": "hair", "eyed": "eyes", "faced": "face", "sleeved": "sleeve", "sleeve": "sleeve",
    "legged": "legs", "tailed": "tail", "nosed": "nose", "eared": "ears", "headed": "head",
    "handled": "handle", "framed": "frame", "roofed": "roof", "winged": "wings", "billed": "bill",
    "beaked": "beak", "skinned": "skin",
}  # fmt: skip
"""Adjectives that name a part: a long-sleeved shirt has a sleeve that is long."""

JOINED: Final = {
    "cell phone": "cellphone", "surf board": "surfboard", "skate board": "skateboard", "t shirt": "t-shirt",
    "tee shirt": "t-shirt", "snow board": "snowboard", "eye glasses": "eyeglasses", "key board": "keyboard",
    "book shelf": "bookshelf", "base ball": "baseball", "tooth brush": "toothbrush", "wet suit": "wetsuit",
    "light bulb": "lightbulb", "sun glasses": "sunglasses", "back pack": "backpack", "lap top": "laptop",
    "motor cycle": "motorcycle", "fire place": "fireplace", "side walk": "sidewalk", "bath tub": "bathtub",
    "note book": "notebook", "grass land": "grassland", "lamp post": "lamppost", "bed spread": "bedspread",
    "table cloth": "tablecloth", "street light": "streetlight", "street lights": "streetlights",
    "cell phones": "cellphones", "surf boards": "surfboards", "t shirts": "t-shirts", "tshirt": "t-shirt",
    "tshirts": "t-shirts", "snow boards": "snowboards",
}  # fmt: skip
"""Compounds that are written in two words or in one."""

LEMMAS: Final = {
    "rid": "ride",
    "seat": "sit",
    "lie": "lay",
    "lye": "lay",
    "'s": "be",
    "has": "have",
    "'ve": "have",
}
"""Lemmas that scene graphs write otherwise: who lies on a bed is said to lay on it."""

PREPOSITIONS: Final = {
    "at top of": "on top of", "in middle of": "on middle of", "at bottom of": "on bottom of",
    "at side of": "on side of", "at edge of": "on edge of", "at end of": "in end of",
    "to left of": "at the left of", "on left side of": "at the left of", "on left of": "at the left of",
    "to right of": "on the right side of", "on right side of": "on the right side of",
    "on right of": "on the right side of", "in between": "between", "along side of": "alongside",
    "along side": "alongside", "on other side of": "on side of", "on front of": "in front of",
    "onto": "on", "atop": "on top of", "underneath": "under", "beneath": "under", "below": "under",
    "besides": "beside", "within": "inside", "amongst": "among", "nearby": "near", "toward": "towards",
    "infront of": "in front of", "inside of": "inside", "outside of": "outside", "on top": "on top of",
    "on to": "on", "next": "next to", "off of": "off", "to the side of": "on side of",
}  # fmt: skip
"""Prepositions as scene graphs write them."""

DETERMINERS: Final = frozenset(
    "a an the this that these those there his her its their my your our some any no another each every "
    "all both either neither several many few one two three four five six seven eight nine ten it he she "
    "they i we you someone here what who where is are , . '' `` people".split()
)
"""Words that open a noun phrase or a clause by themselves: no article goes before them."""

BEFORE_THINGS: Final = frozenset(
    "on in at by of with under behind near over beside above against around across along inside through "
    "into onto from between beneath underneath atop below wearing holding".split()
)
"""Words after which a caption names a thing, often without an article."""

PLACES: Final = frozenset(
    "square street road sidewalk pavement path trail field beach shore court park garden yard lawn grass "
    "hill hillside slope mountain sand snow water ocean sea lake river room kitchen bathroom bedroom hallway "
    "floor ground bench chair couch sofa bed stool".split()
)
"""Places and seats, which do nothing to things."""

FRAMED: Final = re.compile(
    r"(?:(?:this|here|there|it) (?:is|are|'s) )?(?:(?:a|an|the) )?"
    r"(?:(?:blurry|black and white|old|vintage|color) )?"
    r"(?:(?:extreme |very )?close ?- ?up|close up|closeup|photo|photograph|snapshot|image)"
    r"(?: (?:view|shot|photo|photograph|picture|image))? of "
)
"""What a caption may begin with that is said of the picture, and of nothing in it."""

ABREAST: Final = tuple(f"{one} by {one}".split() for one in ("side", "one", "two"))
"""Ways of standing that name no thing."""

BEFORE_TO: Final = frozenset("next close attached tied connected".split())
"""Words whose `to` is a preposition."""

AFTER_PREPOSITIONS: Final = BEFORE_THINGS | frozenset("top front back side between to and".split())
"""Words that go with a preposition and take no article after it."""
