"""Images as evidence: each is described by a model that sees, and so are parts cut from it.

The images of a folder become a small knowledge graph of their own in the same store, named after the one that
is completed, so that descriptions are made once, survive an interruption, and carry their provenance
(`mrag.images.enrichment`). What was said of an image, or of a part of it, is read like a passage.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rdflib import RDF, Literal, URIRef

from mrag.completion.evidence.passages import Passage
from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment import EnrichProgress, EnrichReport, EnrichSettings, describe
from mrag.images.files import part_of
from mrag.images.graph import EX, ImageVocabulary, file_names, image_texts
from mrag.loaders._inside import leads_out
from mrag.loaders.snippets import title_of
from mrag.rdf.terms import RDFS, Triple

if TYPE_CHECKING:
    from mrag.images.enrichment import ModelSpec

ENDINGS: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif")
"""Endings of the files that are described."""

PROMPT: Final = (
    "Describe what this picture shows and states. Copy every name, title, date and other text that can be "
    "read in it. Say who or what is shown only where the picture itself says so. Write plain sentences."
)


def image_graph_name(kg: KnowledgeGraph) -> str:
    """Return the name of the knowledge graph of images that belongs to another."""
    return f"{kg.name[:55]}-pictures"


def describe_folder(
    kg: KnowledgeGraph,
    folder: Path | str,
    model: ModelSpec | None = None,
    *,
    settings: EnrichSettings | None = None,
    on_progress: Callable[[EnrichProgress], None] | None = None,
    **options: Any,
) -> EnrichReport:
    """Describe the images of a folder that have no description yet, and parts of each.

    Args:
        kg: The knowledge graph that is completed; it is not changed.
        folder: The folder; those below are looked through too.
        model: A model that sees, as for `mrag.images.enrichment.describe`.
        settings: The settings; by default a whole image and a grid of two by two parts.
        on_progress: Called when something is done.
        options: Passed to `describe`.

    Raises:
        LoadError: If there is no such folder.
        ModelError: If the model cannot be had, or fails again and again.
    """
    root = Path(folder)
    if not root.is_dir():
        raise LoadError("There is no such folder.", file=str(root), hint="Check the path.")
    settings = settings or EnrichSettings(prompt=PROMPT, regions="grid")
    side = _side(kg)
    known = set(file_names(side))
    rows: list[Triple] = []
    for path in sorted(p for p in root.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()):
        if leads_out(path, root):
            continue
        name = path.relative_to(root).as_posix()
        # The IRI follows from name and content: another picture under the same name is another image.
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        image = "urn:mrag:picture:" + hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:32]
        if image not in known:
            rows.append(Triple(URIRef(image), RDF.type, URIRef(EX + "Image")))
            rows.append(Triple(URIRef(image), URIRef(EX + "hasFileName"), Literal(name)))
            rows.append(Triple(URIRef(image), URIRef(RDFS + "label"), Literal(_title(path))))
    side.insert(rows)
    return describe(side, model, folder=root, settings=settings, on_progress=on_progress, **options)


def image_passages(kg: KnowledgeGraph, *, own: bool = True) -> list[Passage]:
    """Return what was said of images and of parts of them, as passages.

    Args:
        kg: The knowledge graph that is completed.
        own: Whether the images that it has itself count beside those of folders.
    """
    found: list[Passage] = []
    graphs = [_side(kg), *([kg] if own else [])]
    for graph in graphs:
        files = file_names(graph)
        labels = graph.labels(files)
        for texts in image_texts(graph, ImageVocabulary()):
            name = files.get(texts.image, texts.image)
            title = labels.get(texts.image) or _title(Path(name))
            for text in (*texts.sentences, *texts.generated):
                found.append(Passage(texts.image, text, name, title, "image"))
            for fragment, text in texts.regions:
                found.append(Passage(part_of(texts.image, fragment), text, name, title, "region"))
    return joined_by_node(list(dict.fromkeys(found)))


def joined_by_node(passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with those of one node joined, since a search finds each node once.

    Example:
        >>> a, b = (Passage("urn:i", text, "i.png", "i", "image") for text in ("A sign.", "A street."))
        >>> [p.text for p in joined_by_node([a, b])]
        ['A sign. A street.']
    """
    groups: dict[str, list[Passage]] = {}
    for passage in passages:
        groups.setdefault(passage.iri, []).append(passage)
    return [
        Passage(iri, " ".join(p.text for p in several), several[0].source, several[0].title, several[0].kind)
        for iri, several in groups.items()
    ]


def _side(kg: KnowledgeGraph) -> KnowledgeGraph:
    """Open the knowledge graph of images beside another, in the same store."""
    return KnowledgeGraph(kg.store, image_graph_name(kg))


def _title(path: Path) -> str:
    return title_of("-", path.stem)
