"""Cells of CSV on the Web: from what is written to values of datatypes, and templates of URLs.

Source:
    Model for Tabular Data and Metadata on the Web (W3C recommendation, 2015), section 6.4; RFC 6570.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urljoin

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.tables.formats import is_known, matches
from mrag.loaders.tables.terms import BadCell, is_lexical
from mrag.rdf.namespaces import RDF, XSD

CSVW = "http://www.w3.org/ns/csvw#"
PREFIXES = {
    "csvw": CSVW, "rdf": RDF, "xsd": XSD, "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "owl":
    "http://www.w3.org/2002/07/owl#", "skos": "http://www.w3.org/2004/02/skos/core#", "dc":
    "http://purl.org/dc/terms/", "dcterms": "http://purl.org/dc/terms/", "schema": "http://schema.org/",
    "dc11": "http://purl.org/dc/elements/1.1/", "foaf": "http://xmlns.com/foaf/0.1/", "prov":
    "http://www.w3.org/ns/prov#", "org": "http://www.w3.org/ns/org#", "void": "http://rdfs.org/ns/void#",
    "qb": "http://purl.org/linked-data/cube#", "dcat": "http://www.w3.org/ns/dcat#", "vcard":
    "http://www.w3.org/2006/vcard/ns#", "gr": "http://purl.org/goodrelations/v1#", "oa":
    "http://www.w3.org/ns/oa#", "as": "https://www.w3.org/ns/activitystreams#", "cc":
    "http://creativecommons.org/ns#", "ical": "http://www.w3.org/2002/12/cal/icaltzd#", "sioc":
    "http://rdfs.org/sioc/ns#", "time": "http://www.w3.org/2006/time#", "wdr":
    "http://www.w3.org/2007/05/powder#", "sd": "http://www.w3.org/ns/sparql-service-description#",
}  # fmt: skip
"""Prefixes that need no declaration in metadata (those of RDFa's initial context that are in use)."""
_NAMES = {"number": "double", "binary": "base64Binary", "datetime": "dateTime", "any": "anyAtomicType"}
_OTHERS = {"xml": RDF + "XMLLiteral", "html": RDF + "HTML", "json": CSVW + "JSON"}
_VERBATIM = frozenset(("string", "json", "xml", "html", "anyAtomicType"))
_NUMBERS = frozenset(
    "decimal integer long int short byte nonNegativeInteger positiveInteger unsignedLong unsignedInt "
    "unsignedShort unsignedByte nonPositiveInteger negativeInteger double float".split()
)
_TIMES = frozenset("date dateTime dateTimeStamp time".split())
_KNOWN = frozenset(
    "anyAtomicType anyURI base64Binary boolean duration dayTimeDuration yearMonthDuration gDay gMonth "
    "gMonthDay gYear gYearMonth hexBinary QName string normalizedString token language Name NMTOKEN".split()
)
_FIELD = re.compile(r"yyyy|MM?|dd?|HH|mm|ss|S+|X{1,3}|x{1,3}")
_FORMS = {
    "yyyy": r"(?P<year>-?\d{4,})", "MM": r"(?P<month>\d\d)", "M": r"(?P<month>\d\d?)", "dd": r"(?P<day>\d\d)",
    "d": r"(?P<day>\d\d?)", "HH": r"(?P<hour>\d\d)", "mm": r"(?P<minute>\d\d)", "ss": r"(?P<second>\d\d)",
}  # fmt: skip
_ZONE = r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?)"
_VARIABLE = re.compile(r"\{([+#./;?&]?)([^{}]+)\}")
_FIRST = {"": "", "+": "", "#": "#", ".": ".", "/": "/", ";": ";", "?": "?", "&": "&"}
_BETWEEN = {"": ",", "+": ",", "#": ",", ".": ".", "/": "/", ";": ";", "?": "&", "&": "&"}
_RESERVED = ":/?#[]@!$&'()*+,;=%"
_SHOWN = 80


@dataclass(frozen=True)
class WebDatatype:
    """A datatype of a column.

    Attributes:
        base: Its name in XML Schema, or `json`, `xml` or `html`.
        format: A pattern of dates and times, `true|false` of truth values, a regular expression of others.
        decimal: What separates the fraction of a number.
        group: What separates the groups of digits of a number; empty for nothing.
        id: IRI of the datatype, where it is one of the author's own.
    """

    base: str = "string"
    format: str = ""
    decimal: str = "."
    group: str = ""
    id: str = ""

    @property
    def iri(self) -> str:
        """Return the IRI of the datatype."""
        return self.id or _OTHERS.get(self.base) or XSD + self.base

    @property
    def verbatim(self) -> bool:
        """Return whether white space counts."""
        return self.base in _VERBATIM

    @classmethod
    def of(cls, given: object, file: str) -> WebDatatype:
        """Read a datatype of metadata.

        Args:
            given: A name, or an object with `base` and `format`.
            file: The metadata, for errors.

        Raises:
            LoadError: If there is none of that name.
        """
        about: Mapping[str, object] = given if isinstance(given, dict) else {"base": given}
        name = str(about.get("base", "string"))
        base = _NAMES.get(name, name)
        if base not in _NUMBERS | _TIMES | _KNOWN | _VERBATIM:
            raise LoadError(f"There is no datatype {name!r}.", file=file)
        format, decimal, group = about.get("format", ""), ".", ""
        if isinstance(format, dict):
            decimal, group = str(format.get("decimalChar", ".")), str(format.get("groupChar", "") or "")
            format = ""
        elif base in _NUMBERS:
            group, format = "," if "," in str(format) else "", ""
        if base not in _NUMBERS | _TIMES | {"boolean"} and format and not is_known(str(format)):
            raise LoadError(
                f"The format {str(format)[:_SHOWN]!r} is no regular expression that can be used here.",
                file=file,
                hint="It must be of moderate size, without lookarounds and references to its groups.",
            )
        return cls(base, str(format), decimal, group, str(about.get("@id", "")))

    def lexical(self, text: str) -> str:
        """Return the form of XML Schema of what is written.

        Raises:
            BadCell: If it is not of the datatype.

        Example:
            >>> WebDatatype("date", "d.M.yyyy").lexical("3.12.2024")
            '2024-12-03'
            >>> WebDatatype("double", group=",").lexical("1,200.5")
            '1200.5'
        """
        found: str | None = text
        if self.base == "boolean" and "|" in self.format:
            true, _, false = self.format.partition("|")
            found = {true: "true", false: "false"}.get(text)
        elif self.base in _NUMBERS:
            found = self._number(text)
        elif self.base in _TIMES and self.format:
            found = _time(text, self.format, self.base)
        elif self.format and self.base != "boolean" and not matches(self.format, text):
            found = None
        if found is None or not is_lexical(found, XSD + self._checked()):
            raise BadCell(f"no {self.base}", f"{text[:_SHOWN]!r} is no {self.base}{self._expected()}")
        return found

    def _checked(self) -> str:
        if self.base in ("float", "double"):
            return "double"
        return "integer" if self.base in _NUMBERS - {"decimal"} else self.base

    def _expected(self) -> str:
        return f" of the format {self.format!r}" if self.format else ""

    def _number(self, text: str) -> str:
        plain = text.replace(self.group, "") if self.group else text
        plain = plain.replace(self.decimal, ".") if self.decimal != "." else plain
        shift = {"%": 2, "‰": 3}.get(plain[-1:], 0)
        if shift and _DIGITS.fullmatch(plain[:-1]):
            whole, _, part = plain[:-1].partition(".")
            sign, whole = (whole[0], whole[1:]) if whole[:1] in ("-", "+") else ("", whole)
            whole = whole.rjust(shift + 1, "0")
            plain = f"{sign}{whole[:-shift]}.{whole[-shift:]}{part}"
        return plain


_DIGITS = re.compile(r"[+-]?\d+(\.\d*)?")


def expanded(template: str, values: Mapping[str, str | list[str] | None]) -> str | None:
    """Expand a template of a URL; None where a column that it names has no value.

    Example:
        >>> expanded("http://example.org/{name}{#part}", {"name": "a b", "part": "x/y"})
        'http://example.org/a%20b#x/y'
    """
    missing = False

    def put(found: re.Match[str]) -> str:
        nonlocal missing
        operator, parts = found[1], []
        for name in found[2].split(","):
            value = values.get(name.rstrip("*"))
            if value is None or value == []:
                missing = True
                return ""
            each = value if isinstance(value, list) else [value]
            text = ",".join(quote(v, safe=_RESERVED if operator in ("+", "#") else "") for v in each)
            parts.append(f"{name}={text}" if operator in (";", "?", "&") else text)
        return _FIRST[operator] + _BETWEEN[operator].join(parts)

    made = _VARIABLE.sub(put, template)
    return None if missing else made


def resolved(url: str, base: str) -> str:
    """Return an IRI for what metadata say: prefixes are known, and what is relative is so to the table.

    Raises:
        BadCell: If it is no IRI.

    Example:
        >>> resolved("schema:name", "http://example.org/a.csv"), resolved("#x", "http://example.org/a.csv")
        ('http://schema.org/name', 'http://example.org/a.csv#x')
    """
    prefix, colon, local = url.partition(":")
    found = PREFIXES[prefix] + local if colon and prefix in PREFIXES else urljoin(base, url)
    try:
        return ox.NamedNode(found).value
    except ValueError as error:
        raise BadCell("no IRI", f"{found[:_SHOWN]!r} is no IRI") from error


@lru_cache(maxsize=64)
def _pattern(format: str) -> re.Pattern[str]:
    made, end = "", 0
    for field in _FIELD.finditer(format):
        made += re.escape(format[end : field.start()].replace("'", ""))
        end = field.end()
        name = field[0]
        if name[0] == "S":
            # Seconds may have a fraction of up to so many digits, the dot with it.
            made = made.removesuffix(re.escape(".")) + rf"(?P<part>\.\d{{1,{len(name)}}})?"
        elif name[0] in "Xx":
            made = made.removesuffix(re.escape(" ")) + r"\s?" + _ZONE
        else:
            made += _FORMS[name]
    return re.compile(made + re.escape(format[end:].replace("'", "")))


def _time(text: str, format: str, base: str) -> str | None:
    """Return a date or time in the form of XML Schema."""
    try:
        found = _pattern(format).fullmatch(text)
    except re.error:
        return None
    if found is None:
        return None
    parts = {name: value or "" for name, value in found.groupdict().items()}
    date = "-".join(parts.get(name, "").rjust(2, "0") for name in ("year", "month", "day"))
    time = ":".join(parts.get(name, "00") for name in ("hour", "minute", "second")) + parts.get("part", "")
    zone = parts.get("zone", "")
    if zone not in ("", "Z"):
        zone = zone[:3] + ":" + (zone[3:].removeprefix(":") or "00")
    return {"date": date, "time": time}.get(base, f"{date}T{time}") + zone
