"""What `mrag index` has to say of an index and of the backend that keeps it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

import mrag
from mrag.cli.shared import stopping
from mrag.cli.shared.output import progress, show, show_json
from mrag.redaction import redact_url

if TYPE_CHECKING:
    from mrag.index.intake import SyncReport

BackendOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="What keeps the index, such as local: or postgresql://HOST/DATABASE; it is written down. "
        "Default: where it is, else MRAG_INDEX, else local:.",
    ),
]
CopyOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Copy the index to this backend, embed nothing, and use the copy."),
]
RecallOption = Annotated[
    bool, typer.Option("--recall", help="Compare what the index finds, and how fast, with an exact search.")
]


def show_built(indexes: mrag.SimilarityIndexes, name: str, report: SyncReport, *, as_json: bool) -> None:
    """Print what a build did."""
    made = indexes.info(name)
    size, backend = made.documents, _shown(indexes, name)
    if as_json:
        about = {"index": name, "documents": size, "analyser": made.analyser, "backend": backend}
        show_json({**about, **asdict(report)})
    elif size is None:
        show(f"The server built the index {name!r} in {report.seconds:.1f} s.")
    else:
        place = "" if backend == "local:" else f" in {backend}"
        show(
            f"{size:,} documents in the index {name!r}{place}: {report.added:,} new, "
            f"{report.changed:,} changed, {report.deleted:,} removed, in {report.seconds:.1f} s. "
            f"Analyser: {made.analyser}."
        )
        if made.fusion is not None:
            show(f"Fusion: {made.fusion}.")


def copied_or_compared(
    indexes: mrag.SimilarityIndexes, name: str, url: str | None, *, recall: bool, as_json: bool
) -> bool:
    """Copy an index or compare it with an exact one, where that is asked for, and return whether it was."""
    if url is not None:
        _copied(indexes, name, url, as_json=as_json)
    if recall:
        _compared(indexes, name, as_json=as_json)
    return recall or url is not None


def _copied(indexes: mrag.SimilarityIndexes, name: str, url: str, *, as_json: bool) -> None:
    from mrag.index.backends.base import copy_to

    kept = "The index is where it was. Run the same command again."
    with stopping.kept(kept), progress("Copying", unit="vectors") as note:
        report = copy_to(indexes, name, url, on_progress=note)
    backend = _shown(indexes, name)
    if as_json:
        show_json({"index": name, "backend": backend, **asdict(report)})
    else:
        show(
            f"{report.added:,} documents of the index {name!r} copied to {backend} in {report.seconds:.1f} s."
        )


def _compared(indexes: mrag.SimilarityIndexes, name: str, *, as_json: bool) -> None:
    from mrag.index.backends.base import compare
    from mrag.index.embedding import embedder

    index = indexes.stored(name)
    model = embedder(index.extra.get("model") or "none")
    with progress("Comparing", unit="queries") as note:
        found = compare(index, model, on_progress=note)
    if as_json:
        about = {"index": name, "backend": _shown(indexes, name)}
        show_json({**about, "recall": [one.to_json() for one in found]})
    for one in found if not as_json else ():
        show(str(one))


def _shown(indexes: mrag.SimilarityIndexes, name: str) -> str:
    return redact_url(indexes.places.of(name).url)
