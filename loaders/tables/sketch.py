"""A mapping to begin with, sketched from the tables themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders.rdf import Progress
from mrag.loaders.tables.engines import connected, is_database
from mrag.loaders.tables.guess import IRI, Surveyed, SurveyedColumn, folded, label_of, linked, survey, words
from mrag.loaders.tables.rows import TableDialect, is_json
from mrag.loaders.tables.table import ROW, rows_of

_BASE = "http://example.org/"
_HEAD = f"""\
# A mapping to begin with. Change what it gets wrong, and {_BASE} to a namespace of your own.
@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix tab: <https://w3id.org/mrag/table#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <{_BASE}> .
"""


def sketched(
    files: Sequence[str], dialect: TableDialect | None = None, on_progress: Progress | None = None
) -> str:
    r"""Return a mapping in Turtle for tables, which loads them as it stands.

    Each row becomes a thing, of a class by the name of its file, and each column a property. The key,
    datatypes, texts that stand for no value, columns that repeat a property, names for people, and columns
    that name rows of another table are told from all values; of a database, keys and links are as it
    declares them.

    Args:
        files: Tables, or the URL of one database.
        dialect: How tables are written that are text.
        on_progress: Called with the bytes read and the bytes in all.

    Raises:
        LoadError: If a file is missing, or cannot be read as a table.
        ConfigError: If two files have the same name.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "shops.csv").write_text("id,name,city\n1,Coats,3\n2,Hats,3\n")
        ...     _ = (Path(folder) / "cities.csv").write_text("id,name\n3,Köln\n", encoding="utf-8")
        ...     text = sketched([f"{folder}/shops.csv", f"{folder}/cities.csv"])
        >>> print(text[text.index("<#Shop>") : text.index("<#City>")])
        <#Shop> rml:logicalSource [ rml:source "shops.csv" ; rml:referenceFormulation ql:CSV ] ;
          rr:subjectMap [ rr:template "http://example.org/shop/{id}" ; rr:class :Shop ] ;
          rr:predicateObjectMap [ rr:predicate :id ;
            rr:objectMap [ rml:reference "id" ; rr:datatype xsd:integer ] ] ;
          rr:predicateObjectMap [ rr:predicate :name , rdfs:label ;
            rr:objectMap [ rml:reference "name" ] ] ;
          rr:predicateObjectMap [ rr:predicate :city ;
            rr:objectMap [ rr:template "http://example.org/city/{city}" ] ] .
        <BLANKLINE>
        # cities.csv: 1 row.
        <BLANKLINE>
    """
    if any(map(is_database, files)):
        if len(files) > 1:
            raise ConfigError("A database is sketched alone.", hint="Name one URL and no file.")
        tables = _declared(files[0])
    else:
        tables = linked([_surveyed(Path(file), dialect or TableDialect(), on_progress) for file in files])
        names = [table.name for table in tables]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"Two files are called {name!r}.", hint="Sketch them apart.")
    database = any(map(is_database, files))
    taken: set[str] = set()
    named = {t.name: _Names(_unlike(_class(t), taken), t) for t in tables}
    return _HEAD + "".join("\n" + "\n".join(_written(named[t.name], named, database)) + "\n" for t in tables)


def _surveyed(path: Path, dialect: TableDialect, on_progress: Progress | None) -> Surveyed:
    if not path.is_file():
        raise LoadError("There is no such file.", file=str(path), hint="Check the path.")
    return survey(path.name, rows_of(path, dialect, on_progress), str(path))


def _declared(url: str) -> list[Surveyed]:
    """Return the tables of a database by what it declares of them."""
    found = []
    with connected(url) as connection:
        import sqlalchemy as sa

        inspector = sa.inspect(connection)
        names = sorted(inspector.get_table_names())
        keys = {name: inspector.get_pk_constraint(name)["constrained_columns"] for name in names}
        for name in names:
            columns = tuple(
                SurveyedColumn(each["name"], typed=True, nested=isinstance(each["type"], sa.JSON))
                for each in inspector.get_columns(name)
            )
            links = {
                foreign["constrained_columns"][0]: foreign["referred_table"]
                for foreign in inspector.get_foreign_keys(name)
                if len(foreign["constrained_columns"]) == 1
                # A link to what is no single key, or out of sight, would name nothing.
                and foreign["referred_columns"] == keys.get(foreign["referred_table"])
            }
            key = tuple(keys[name])
            found.append(Surveyed(name, columns, 0, key, links, known=True))
    if not found:
        raise LoadError("The database has no tables.", hint="Name another with its URL.")
    return found


@dataclass(frozen=True)
class _Names:
    """The names that a table gets in the mapping."""

    kind: str
    table: Surveyed

    def template(self, columns: Sequence[str]) -> str:
        """Return the template of the IRIs of its rows, by the columns that hold the key."""
        noun = "-".join(words(self.kind)).lower()
        return _BASE + "/".join((_in_template(noun), *("{" + _in_template(c) + "}" for c in columns)))


def _written(names: _Names, others: dict[str, _Names], database: bool) -> Iterator[str]:
    """Yield the lines of the map of a table."""
    table = names.table
    yield from _remarks(table, database)
    if database:
        source = f"rr:logicalTable [ rr:tableName {_text(table.name)} ]"
    else:
        form = "JSONPath" if is_json(table.name) else "CSV"
        source = f"rml:logicalSource [ rml:source {_text(table.name)} ; rml:referenceFormulation ql:{form} ]"
    subject = f"rr:template {_text(names.template(table.key or (ROW,)))}"
    if len(table.key) == 1 and table.column(table.key[0]).kind == IRI:
        subject = f"rml:reference {_text(table.key[0])}"
    node = f"<#{names.kind}>" if names.kind.isascii() else "[]"
    properties = [*_properties(table, others)]
    yield f"{node} {source} ;"
    yield f"  rr:subjectMap [ {subject} ; rr:class {_name(names.kind)} ] {';' if properties else '.'}"
    yield " ;\n".join(properties) + " ." if properties else ""


def _properties(table: Surveyed, others: dict[str, _Names]) -> Iterator[str]:
    """Yield the predicate-object maps of a table."""
    label, taken = label_of(table), set[str]()
    groups = folded(table)
    grouped = {column: stem for stem, columns in groups.items() for column in columns}
    for column in table.columns:
        stem = grouped.get(column.name, column.name)
        if column.nested or stem in taken:
            continue
        taken.add(stem)
        other = others.get(table.links.get(column.name, ""))
        predicate = _name(_unlike(_property(stem, other, table, column.name), taken))
        if column.name == label:
            predicate += " , rdfs:label"
        members = [table.column(name) for name in groups.get(stem, (column.name,))]
        maps = " ,\n      ".join(_object(each, other) for each in members)
        yield f"  rr:predicateObjectMap [ rr:predicate {predicate} ;\n    rr:objectMap {maps} ]"


def _remarks(table: Surveyed, database: bool) -> Iterator[str]:
    rows = "" if database else f": {table.rows:,} row{'' if table.rows == 1 else 's'}"
    yield f"# {_bare(table.name)}{rows}."
    if not table.key:
        yield "# No column tells the rows apart, nor do two, so they are numbered. If rows with the same"
        yield "# value of a column are about the same thing, name it in the subject template instead of _row."
    for column in table.columns:
        if column.nested:
            yield f"# Left out, as it holds objects: {_text(column.name)}."


def _object(column: SurveyedColumn, other: _Names | None) -> str:
    """Return the object map of a column."""
    if other is not None:
        key = other.table.column(other.table.key[0])
        made = f"rml:reference {_text(column.name)} ; rr:termType rr:IRI"
        if key.kind != IRI:
            made = f"rr:template {_text(other.template([column.name]))}"
    else:
        made = f"rml:reference {_text(column.name)}"
        if column.kind == IRI:
            made += " ; rr:termType rr:IRI"
        elif column.kind:
            made += f" ; rr:datatype xsd:{column.kind}"
    if column.absent:
        made += f" ; tab:null {' , '.join(map(_text, column.absent))}"
    return f"[ {made} ]"


def _property(stem: str, link: _Names | None, table: Surveyed, column: str) -> str:
    """Return the local name of a property: `city` for `city_id` where it names a city."""
    found = words(stem)
    if link is not None and len(found) > 1 and column not in table.key:
        key = link.table.key[0]
        if found[-1].casefold() in ("id", "key", "code", *(word.casefold() for word in words(key))):
            found = found[:-1]
    first, *rest = found or ["column"]
    first = first.lower() if first.isupper() or not rest else first[:1].lower() + first[1:]
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _class(table: Surveyed) -> str:
    return "".join(word[:1].upper() + word[1:] for word in table.noun)


def _unlike(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    found, number = name, 1
    while f":{found}" in taken:
        number += 1
        found = f"{name}{number}"
    taken.add(f":{found}")
    return found


def _name(local: str) -> str:
    return (
        f":{local}"
        if local.isascii() and local.replace("_", "").isalnum()
        else str(ox.NamedNode(_BASE + local))
    )


def _text(text: str) -> str:
    return str(ox.Literal(text))


def _bare(text: str) -> str:
    return _text(text)[1:-1]


def _in_template(text: str) -> str:
    return text.replace("\\", "\\\\").replace("{", "\\{").replace("}", "\\}")
