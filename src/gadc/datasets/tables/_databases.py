"""Tables that a query on a database returns; credentials never appear in a message.

    graph.db, sqlite:///graph.db           SQLite files, read by the standard library
    graph.duckdb, duckdb:///graph.duckdb   DuckDB files (extra `database`)
    postgresql://user:password@host/name   others by connectorx (extra `database`)
    env:NAME                               the environment variable that holds one of these

Files are opened for reading only, so that a query cannot change them.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import polars as pl
from torch_geometric.data import Data

from gadc._base.extras import require
from gadc.datasets.tables._from_tables import from_tables
from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
_HIDDEN = "***"


def from_database(uri: str, edges_query: str, nodes_query: str, **options: Any) -> Data:
    """Read a graph from two queries on a database, as `from_tables` does from two tables.

    Args:
        uri: SQLite or DuckDB file, the URI of a database such as `postgresql://user:password@host/name`, or
            `env:NAME` for an environment variable that holds one of these, so that no password is typed.
        edges_query: SQL that returns one row per edge.
        nodes_query: SQL that returns one row per node.
        **options: Options of `from_tables`.

    Returns:
        Data with the attributes that `from_tables` describes.

    Raises:
        TableError: The database cannot be read; the message does not contain credentials.

    Examples:
        >>> import sqlite3
        >>> from gadc.datasets import from_database
        >>> with sqlite3.connect("people.db") as database:
        ...     _ = database.execute("create table person as select 1 as id, 31 as age union select 2, 27")
        >>> edges = "select 1 as source, 2 as target"
        >>> from_database("people.db", edges, "select * from person").x.flatten().tolist()
        [31.0, 27.0]
    """
    uri = resolve(uri)
    edges, nodes = (
        query_table(uri, query, role) for query, role in ((edges_query, "edges"), (nodes_query, "nodes"))
    )
    return from_tables(edges, nodes, **options)


def resolve(uri: str) -> str:
    """Return the URI, which may be in an environment variable."""
    if not uri.startswith("env:"):
        return uri
    value = os.environ.get(uri[4:])
    if not value:
        raise ValueError(f"from_database: the environment variable {uri[4:]!r} must hold a URI, got none.")
    return value


def hide_credentials(uri: str) -> str:
    """Return a URI without user, password and settings, for messages."""
    uri = re.sub(r"//.*@", f"//{_HIDDEN}@", uri, flags=re.DOTALL)  # also of a password with "@" and "/"
    return re.sub(r"\?.*", f"?{_HIDDEN}", uri, flags=re.DOTALL)


def query_table(uri: str, query: str, role: str) -> Table:
    """Run a query, and return its rows as a table."""
    name = f"{hide_credentials(uri)} ({role})"
    failure = ""
    try:
        frame = _query(uri, query)
    except (TableError, ImportError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        failure = _scrub(first, uri)
    if failure:  # outside of the handler: the text of the original error may hold credentials
        raise TableError(f"the query failed ({failure}).", file=name)
    return Table(name=name, frame=frame.lazy(), schema=dict(frame.schema))


def _query(uri: str, query: str) -> pl.DataFrame:
    kind, path = _file_of(uri)
    if path is None:
        require("connectorx", "database")
        return pl.read_database_uri(query, uri, engine="connectorx")
    if kind == "sqlite":
        return _query_sqlite(path, query)
    with closing(require("duckdb", "database").connect(str(path), read_only=True)) as database:
        return pl.DataFrame(database.sql(query))


def _file_of(uri: str) -> tuple[str, Path | None]:
    """Return the kind of a database and its file; None for a server."""
    scheme, mark, rest = uri.partition(":")
    if mark and scheme in ("sqlite", "duckdb"):
        path = Path(unquote(re.sub(r"^//(?:localhost)?/?(?=.)", "", rest)))
        absolute = Path("/", path)
        path = absolute if not path.exists() and absolute.exists() else path
    elif "://" in uri:
        return scheme, None
    else:
        path, scheme = Path(uri), ""
    if not path.is_file():
        raise TableError("no such file.", file=str(path))
    with path.open("rb") as file:
        head = file.read(16)
    if head != _SQLITE and head[8:12] != _DUCKDB:
        raise TableError("the file must be a SQLite or DuckDB database.", file=str(path))
    return "sqlite" if head == _SQLITE else "duckdb", path


def _query_sqlite(path: Path, query: str) -> pl.DataFrame:
    """Run a query on a SQLite file, which knows the type of each value, not of a column."""
    with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as database:
        cursor = database.execute(query)
        names = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
    if not names:
        raise ValueError("the query returns no columns")
    if len(set(names)) < len(names):
        raise ValueError(f"the columns of the query must have different names, got {names}")
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pl.DataFrame([_series(name, values) for name, values in zip(names, columns, strict=True)])


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    kinds = {type(value) for value in values} - {type(None)}
    if bytes in kinds:
        raise ValueError(f"the column {name!r} must hold text or numbers, got bytes")
    if str in kinds:
        return pl.Series(name, [None if one is None else str(one) for one in values], dtype=pl.String)
    return pl.Series(name, values, dtype=pl.Float64 if float in kinds else pl.Int64)


def _scrub(text: str, uri: str) -> str:
    """Take the URI and its password out of a message."""
    text = text.replace(uri, hide_credentials(uri))
    try:
        secrets = [urlsplit(uri).password or ""]
    except ValueError:
        secrets = []
    secrets += re.findall(r"(?i)pass\w*=([^&\s]+)", uri) + re.findall(r"//[^:/]*:(.*)@", uri)
    plain = {*secrets, *map(unquote, secrets)}
    forms = plain | {quote(one, safe="") for one in plain}
    for secret in sorted(forms - {""}, key=len, reverse=True):  # a short one may be a part of a longer one
        text = text.replace(secret, _HIDDEN)
    return text
