"""What a receipt adds to the check of its answer: who vouches for what, and for what nobody does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mrag.errors import ModelError
from mrag.generation.receipts.envelope import Receipt, opened
from mrag.generation.receipts.keys import KeyStore
from mrag.generation.verification import HOW, CheckedPart, VerifyReport, verify

ENVELOPE = "the time, the state of the graph and the version of the check"
THEN = "what the check said then"
_OLD_STATE = "the receipt was made without a hash"


def with_receipt(
    report: VerifyReport,
    receipt: Receipt,
    trusted: Callable[[], Mapping[str, str]],
    source: str = "",
) -> VerifyReport:
    """Return the report of an answer with what its receipt adds.

    A signature of a trusted key vouches for what the receipt says of the check, and for those parts of the
    answer that were recomputed then. Nothing else does: whoever changes a receipt can make its hash anew.

    Args:
        report: What the check of the answer says now.
        receipt: The receipt.
        trusted: Returns the names of trusted keys, by key; asked only if it is signed.
        source: IRI of the graph that was asked; "" if none was, and a signature is all that there is.
    """
    altered = [*receipt.altered]
    if source and receipt.source != source:
        altered.append(f"it is of the graph {receipt.source}, not of {source}")
    name = trusted().get(receipt.key, "") if receipt.key else ""
    by = f"by {name}, {receipt.key}" if name else ""
    then = receipt.report
    if not by and not source:
        why = f"signed by a key that is not trusted, {receipt.key}" if receipt.key else "not signed"
        altered.append(f"it is {why}, so nothing of it can be checked without the graph")
    if then is not None and not source and not then.ok:
        altered.append(f"it did not hold when it was checked: {str(then).splitlines()[0]}")
    vouched = {p.name for p in then.of("recomputed")} if then is not None and by and then.ok else set()
    parts = [
        CheckedPart(p.name, "signed", by) if p.state == "not checked" and p.name in vouched else p
        for p in report.parts
    ]
    if not source and then is not None:
        parts = [p for p in parts if p.name != HOW]
        known = {p.name for p in parts}
        parts += [
            CheckedPart(p.name, "signed", by) if p.name in vouched else replace(p, state="not checked")
            for p in then.parts
            if p.name not in known
        ]
    if by:
        parts += [CheckedPart(ENVELOPE, "signed", by), CheckedPart(THEN, "signed", by)]
    else:
        why = f"signed by {receipt.key}, which is not trusted" if receipt.key else "not signed"
        why = _OLD_STATE if then is None else why
        parts += [CheckedPart(ENVELOPE, "not checked", why), CheckedPart(THEN, "not checked", why)]
    checked = then.checked if not source and then is not None else report.checked
    return replace(report, checked=checked, altered=(*report.altered, *altered), parts=tuple(parts))


def checked_alone(value: Mapping[str, Any], keys: KeyStore | None = None) -> VerifyReport:
    """Check a receipt without the graph: that nothing in it contradicts the rest, and whose signature it has.

    Args:
        value: The receipt.
        keys: The keys that are trusted; those of this installation by default.

    Raises:
        ModelError: If it is no receipt.
        ConfigError: If it is signed and `cryptography` is not installed.
    """
    receipt = opened(value)
    if receipt is None:
        raise ModelError(
            "Without the graph only a receipt can be checked.",
            hint="Make one with `mrag verify answer.json --receipt OUT`.",
        )
    return with_receipt(verify(receipt.answer), receipt, lambda: (keys or KeyStore()).trusted())
