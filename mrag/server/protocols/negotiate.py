"""Which format an answer comes in, and which one a request's body is in (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException

RESULTS: Mapping[str, str] = {
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/x-sparqlstar-results+json": "json",
    "application/x-sparqlstar-results+tsv": "tsv",
    "text/x-tab-separated-values-star": "tsv",
}
"""Formats of the results of SELECT and ASK, best first; at the end, names that only RDF4J has for them."""

BOOLEANS: Mapping[str, str] = {**RESULTS, "text/boolean": "boolean"}
"""Formats of the results of ASK, best first."""

GRAPHS: Mapping[str, str] = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
    "application/rdf+xml": "rdfxml",
    "application/x-turtle": "turtle",
    "application/turtle": "turtle",
    "application/n-quads": "nquads",
    "application/trig": "trig",
    "text/n3": "n3",
    "text/plain": "ntriples",
    "application/json": "jsonld",
    "application/xml": "rdfxml",
    "application/rdf+json": "rdfjson",
    "text/rdf+n3": "n3",
    "text/x-nquads": "nquads",
    "application/x-trig": "trig",
    "application/x-turtlestar": "turtle",
    "application/x-trigstar": "trig",
}
"""Formats of triples, best first; at the end, names that only RDF4J has for them."""

QUADS: Mapping[str, str] = {
    "application/n-quads": "nquads",
    "application/trig": "trig",
    **GRAPHS,
}
"""Formats of statements, those with graph names first."""

_PARSED = {
    "application/x-turtle": "text/turtle",
    "application/turtle": "text/turtle",
    "text/plain": "application/n-triples",
    "text/x-nquads": "application/n-quads",
    "application/x-trig": "application/trig",
    "application/x-turtlestar": "text/turtle",
    "application/x-trigstar": "application/trig",
    "application/xml": "application/rdf+xml",
    "text/xml": "application/rdf+xml",
    "application/json": "application/ld+json",
}
_READ = tuple(media for media, name in QUADS.items() if name not in ("n3", "rdfjson"))


def choose(accept: str | None, offers: Mapping[str, str]) -> tuple[str, str]:
    """Return the media type and the format that a client likes best.

    Args:
        accept: Its Accept header.
        offers: Formats by media type, best first.

    Raises:
        HTTPException: 406 if it accepts none of them.

    Example:
        >>> choose("text/csv;q=0.5, application/sparql-results+xml", RESULTS)
        ('application/sparql-results+xml', 'xml')
        >>> choose(None, RESULTS)
        ('application/sparql-results+json', 'json')
    """
    first = next(iter(offers.items()))
    if not accept or not accept.strip():
        return first
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best: tuple[float, int, int] | None = None
    found = first
    for place, (media, name) in enumerate(offers.items()):
        fits = [(_fit(pattern, media), q) for pattern, q in ranges]
        fitting = [(fit, q) for fit, q in fits if fit]
        if not fitting:
            continue
        # The most specific range decides (RFC 9110), then the client's weight, then our order.
        fit, q = max(fitting)
        if q > 0 and (best is None or (q, fit, -place) > best):
            best, found = (q, fit, -place), (media, name)
    if best is None:
        raise HTTPException(406, f"None of {accept[:200]} can be sent. There are: {', '.join(offers)}.")
    return found


def accepts(accept: str | None, media: str) -> bool:
    """Return whether an Accept header names a media type, wildcards left out."""
    return any(_range(part)[0] == media for part in (accept or "").split(","))


def content_type(header: str | None) -> str:
    """Return the media type of a Content-Type header, lower case and without parameters."""
    return (header or "").partition(";")[0].strip().lower()


def rdf_type(header: str | None) -> str:
    """Return the media type of an RDF body, under the name that the parser knows.

    Raises:
        HTTPException: 415 if it is no RDF format that can be read.

    Example:
        >>> rdf_type("application/x-turtle; charset=utf-8")
        'text/turtle'
    """
    media = content_type(header)
    known = _PARSED.get(media, media)
    if known not in _READ:
        named = f"{media!r} is" if media else "The request names"
        raise HTTPException(415, f"{named} no RDF format that can be read. There are: {', '.join(_READ)}.")
    return known


def _range(part: str) -> tuple[str, float]:
    media, *parameters = (piece.strip() for piece in part.split(";"))
    weight = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                weight = min(max(float(value), 0.0), 1.0)
            except ValueError:
                weight = 0.0
    return media.lower(), weight


def _fit(pattern: str, media: str) -> int:
    if pattern == media:
        return 3
    kind, _, sub = pattern.partition("/")
    if sub == "*" and media.startswith(kind + "/"):
        return 2
    return 1 if pattern in ("*/*", "*") else 0
