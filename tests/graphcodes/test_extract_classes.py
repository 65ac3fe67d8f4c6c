"""What the reader of captions tells apart: verbs from nouns, lists, colours, compounds, what is denied."""

from __future__ import annotations

import pytest

from mrag.errors import ConfigError
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.reading import LONGEST, TextExtractor
from mrag.graphcodes.repair import FormDictionary, ParsedWord
from tests.conftest import requires

requires("spacy", "graphcodes")


@pytest.fixture(scope="module")
def reader() -> TextExtractor:
    try:
        return TextExtractor()
    except ConfigError as error:
        pytest.skip(str(error))


def said(code: GraphCode) -> set[str]:
    return {" ".join(edge.key) for edge in code.edges}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog bites a man", {"dog v:bite man"}),
        ("dog bit man", {"dog v:bite man"}),
        ("the dog bit the man", {"dog v:bite man"}),
        ("cows stand in a field", {"cows v:stand in field"}),
        ("sheep graze on grass", {"sheep v:graze on grass"}),
        ("a girl glides over the ice", {"girl v:glide over ice"}),
        ("a surfer paddles over a wave", {"surfer v:paddle over wave"}),
        ("a man poses for a photo", {"man v:pose for photo"}),
        ("giraffe standing between bushes", {"giraffe v:stand between bushes"}),
        ("little girl playing game", {"girl is little", "girl v:play game"}),
        ("surfboard laying on the sand", {"surfboard v:lay on sand"}),
        ("sun shining over clouds", {"sun v:shine over clouds"}),
        ("man wearing tuxedo and bow tie", {"man v:wear tuxedo", "man v:wear bow tie"}),
        ("a mechanic fixes a car", {"mechanic v:fix car"}),
        (
            "a man holding a racquet with both hands",
            {"hands is 2", "man v:hold racquet", "man v:hold with hands"},
        ),
        ("a skier is crouched as he is skiing", {"skier is crouched", "skier is skiing"}),
        ("a clown juggles oranges", {"clown v:juggle oranges"}),
        ("a zebra standing next to a tree", {"zebra v:stand next to tree"}),
        ("a man takes a picture of himself eating food", {"man v:take picture", "man v:eat food"}),
        (
            "a horse in a pasture of grass watching a dog",
            {"horse in pasture", "grass v:have pasture", "horse v:watch dog"},
        ),
        ("a stop sign with two notes taped to it", {"notes is 2", "notes pv:tape to stop sign"}),
    ],
)
def test_verbs_are_no_part_of_a_name(reader: TextExtractor, text: str, expected: set[str]) -> None:
    assert said(reader.extract(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "street lights on a road",
        "ski poles in the snow",
        "dog toys on the floor",
        "the horses head",
        "a bus stop",
    ],
)
def test_names_are_no_verbs(reader: TextExtractor, text: str) -> None:
    assert not any(" v:" in edge and "have" not in edge for edge in said(reader.extract(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a cup, a plate and a fork on a table", {"cup on table", "plate on table", "fork on table"}),
        ("plate under knife and cake", {"plate under knife", "plate under cake"}),
        ("a collection of sinks, and basins are on display", {"sinks on display", "basins on display"}),
        ("hand holding a cup and a donut", {"hand v:hold cup", "hand v:hold donut"}),
        ("a red and white bus", {"bus is red", "bus is white"}),
        ("green and white company logo", {"company logo is green", "company logo is white"}),
        ("a black manhole cover is in the street", {"manhole cover is black", "manhole cover in street"}),
        ("white fire hydrant on street", {"fire hydrant is white", "fire hydrant on street"}),
        ("a hot dog on a plate", {"hot dog on plate"}),
        ("people sitting in beach chairs", {"people v:sit in beach chairs"}),
        ("a cat is sitting in a bathroom sink", {"cat v:sit in bathroom sink"}),
        ("a room with a bed, tv and ceiling fan", {"room with bed", "room with tv", "room with ceiling fan"}),
        ("a plate topped with rice and a dumpling", {"plate pv:top with rice", "plate pv:top with dumpling"}),
        ("the model toys are positioned on the table", {"model toys pv:position on table"}),
        ("a wall in both plain and modern styles", {"wall in styles", "styles is plain", "styles is modern"}),
        ("a dozen eggs in a box", {"eggs is dozen", "eggs in box"}),
        ("a man in a jacket and hat looks up", {"man v:wear jacket", "man v:wear hat"}),
        ("a woman is sitting on the railroad tracks", {"woman v:sit on railroad tracks"}),
        ("two teddy bears on a bed", {"teddy bears is 2", "teddy bears on bed"}),
    ],
)
def test_lists_colours_and_compounds(reader: TextExtractor, text: str, expected: set[str]) -> None:
    assert said(reader.extract(text)) == expected


@pytest.mark.parametrize(
    ("text", "there", "gone"),
    [
        ("there are no birds in the sky", {"sky"}, {"birds"}),
        ("there are no cars or trucks on the street", {"street"}, {"cars", "trucks"}),
        ("there are not any birds on the wire", {"wire"}, {"birds"}),
        ("a man without a hat", {"man"}, {"hat"}),
        ("a man is not wearing a hat", {"man"}, {"hat"}),
        ("a room with neither a bed nor a table", {"room"}, {"bed", "table"}),
        ("nobody is on the beach", {"beach"}, {"nobody"}),
        ("the bus is not red", {"bus"}, {"red"}),
        ("a pole with a sign and no lights", {"pole", "sign"}, {"lights"}),
        ("no dog but a cat", {"cat"}, {"dog"}),
    ],
)
def test_what_is_denied_is_not_there(
    reader: TextExtractor, text: str, there: set[str], gone: set[str]
) -> None:
    found = set(reader.extract(text).dictionary)
    assert there <= found
    assert not gone & found


def test_a_denied_act_is_no_edge(reader: TextExtractor) -> None:
    code = reader.extract("the dog does not chase the cat")
    assert (code.dictionary, code.edges) == (("cat", "dog"), ())


@pytest.mark.parametrize(
    ("text", "edge"),
    [
        ("woman with black cane walking on sidewalk", "woman v:walk on sidewalk"),
        ("a person on a snowboard who is performing a trick", "person v:perform trick"),
        ("man wearing red shoes walking across street", "man v:walk across street"),
        ("a white couch with a man and cat sitting on it", "cat v:sit on couch"),
        ("a boy with his hands on his knees", "hands on knees"),
    ],
)
def test_who_acts_is_alive(reader: TextExtractor, text: str, edge: str) -> None:
    assert edge in said(reader.extract(text))


def test_sentences_are_read_apart_and_it_points_back(reader: TextExtractor) -> None:
    code = reader.extract("A dog runs on the grass. It is brown. It has a red ball.")
    assert said(code) == {"dog v:run on grass", "dog is brown", "dog v:have ball", "ball is red"}
    assert reader.extract("It is on the table.").edges == ()


def test_long_texts_are_read_in_parts(reader: TextExtractor) -> None:
    [parts] = reader.parse(["a dog on a mat and " * 300])
    assert max(map(len, parts)) <= LONGEST
    assert len(reader.extract("dog and " * 1500).nodes) == 1
    [sentences] = reader.parse(["One dog. Two cats! Mr. Smith?"])
    assert [len(sentence) for sentence in sentences] == [3, 3, 4]


def test_forms_of_words() -> None:
    forms = FormDictionary(
        frozenset(["shine", "shin", "hop", "carry", "bite"]), irregular={"bit": ["bite"], "bed": ["bed"]}
    )
    assert [forms.third(word) for word in ("hops", "carries", "dress", "tables")] == ["hop", "carry", "", ""]
    assert (forms.past("bit"), forms.past("bed")) == ("bite", "")
    shining = ParsedWord("shining", "shin", "VBG", "ROOT", 0)
    assert forms.spelled(shining).lemma == "shine"
    assert forms.spelled(ParsedWord("hopping", "hop", "VBG", "ROOT", 0)).lemma == "hop"
    assert FormDictionary.of(None) == FormDictionary()
