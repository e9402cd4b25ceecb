"""How a text file writes its cells: separator, quote, encoding and decimal mark, found from its beginning.

What is found is stated in the report, and `CsvOptions` sets it. Nothing is guessed about numbers that can be
read in two ways: "1,234" is a number only if the file shows, or the user says, what its comma means.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gadc.datasets.tables._report import TableError

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
TEXT = {".csv": ",", ".tsv": "\t"}
_HEAD = 2**20  # bytes from which separator, quote and decimal mark are found
_CHECKED = 2**26  # bytes that are checked for UTF-8
_ROWS = 200
_UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # bytes that Windows-1252 does not use
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:[.' \u00a0\u202f]\d{3})+|\d*),\d+")
_POINT = re.compile(r"[+-]?(?:\d{1,3}(?:[,' \u00a0\u202f]\d{3})+|\d*)\.\d+(?:[eE][+-]?\d+)?")
_THREE = re.compile(r"[+-]?\d{1,3}[.,]\d{3}")  # 1,234: a thousand or a little more than one


@dataclass(frozen=True, kw_only=True)
class CsvOptions:
    """How text tables (CSV and TSV) are written; what is None is found from the beginning of each file.

    Args:
        separator: Character between cells, such as ";" or a tab. Default: found.
        encoding: Name of the encoding, such as "windows-1252". Default: found (UTF-8, UTF-16, Windows-1252).
        decimal: Decimal mark, "." or ",". The other one may then separate thousands. Default: found.
        quote: Character around cells that hold a separator. Default: found.

    Examples:
        >>> from gadc.datasets import CsvOptions
        >>> CsvOptions(separator=";", decimal=",")
        CsvOptions(separator=';', encoding=None, decimal=',', quote=None)
    """

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    quote: str | None = None

    def __post_init__(self) -> None:
        for name in ("separator", "quote"):
            value = getattr(self, name)
            if value is not None and (len(value) != 1 or not value.isascii() or value in "\r\n"):
                raise ValueError(f"CsvOptions: {name} must be one ASCII character, got {value!r}.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"CsvOptions: decimal must be '.' or ',', got {self.decimal!r}.")
        if self.encoding is not None:
            _check_encoding(self.encoding)


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one text file is written.

    Args:
        separator: Character between cells.
        quote: Character around cells.
        encoding: Name of the encoding.
        decimal: Decimal mark; None if no cell shows it, so that numbers with a comma are not numbers.
    """

    separator: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    decimal: str | None = None

    @property
    def is_utf8(self) -> bool:
        """Whether the file can be read without being converted."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")

    def describe(self, name: str) -> str | None:
        """Say how a file is written; None if it is as its suffix promises."""
        parts = []
        if self.separator != TEXT[file_suffix(Path(name))]:
            parts.append(f"separated by {SEPARATORS.get(self.separator, repr(self.separator))}")
        if self.quote != '"':
            parts.append(f"quoted by {self.quote}")
        if self.decimal == ",":
            parts.append("with decimal commas")
        if not self.is_utf8:
            parts.append(f"encoded as {self.encoding}")
        return f"{name} was read as {', '.join(parts)}" if parts else None


def read_dialect(path: str | os.PathLike[str], options: CsvOptions | None = None) -> Dialect:
    """Find how a text file is written, except for what the options say."""
    given = options or CsvOptions()
    default = TEXT.get(file_suffix(Path(path)), ",")
    with _open_bytes(path) as file:
        head = file.read(_HEAD)
        encoding = given.encoding or _find_encoding(path, head, file)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head).removeprefix("\ufeff")
    whole = len(head) < _HEAD
    quote = given.quote or _find_quote(text)
    separator = given.separator or _find_separator(text, quote, default, whole=whole)
    rows = _records(text, separator, quote, whole=whole)
    return Dialect(
        separator=separator,
        quote=quote,
        encoding=encoding,
        decimal=given.decimal or _find_decimal(rows[1:], separator),
    )


def open_text(path: str | os.PathLike[str], encoding: str | None = None) -> io.TextIOBase:
    """Open a text file, gzipped or not; without an encoding, the one that its beginning shows."""
    encoding = encoding or read_dialect(path).encoding
    encoding = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    if str(path).lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding=encoding, newline="")
    return open(path, encoding=encoding, newline="")


def file_suffix(path: Path) -> str:
    """Return the last suffix in lower case; for `table.csv.gz` it is `.csv`."""
    path = Path(path.name.lower())
    inner = Path(path.stem).suffix
    return inner if path.suffix == ".gz" and inner in TEXT else path.suffix


def _open_bytes(path: str | os.PathLike[str]) -> io.BufferedIOBase:
    return gzip.open(path) if str(path).lower().endswith(".gz") else open(path, "rb")


def _check_encoding(name: str) -> None:
    try:
        "a".encode(name)  # also refuses codecs between bytes, such as base64
    except (LookupError, TypeError):
        raise ValueError(
            "CsvOptions: encoding must be the name of a text encoding, such as 'utf-8' or 'windows-1252', "
            f"got {name!r}."
        ) from None


def _find_encoding(path: str | os.PathLike[str], head: bytes, rest: io.BufferedIOBase) -> str:
    """Find the encoding by its mark, by NUL bytes, or by whether the bytes are UTF-8."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    nul = [head[side : 2**12 : 2].count(0) for side in (0, 1)]
    if max(nul) > 0.3 * min(len(head), 2**12) / 2 and max(nul) > 4 * min(nul):
        return "utf-16-le" if nul[1] > nul[0] else "utf-16-be"
    decoder, part, seen = codecs.getincrementaldecoder("utf-8")(), head, len(head)
    try:
        while part and seen <= _CHECKED:
            decoder.decode(part)
            part = rest.read(_HEAD)
            seen += len(part)
        if not part:
            decoder.decode(b"", final=True)
        return "utf-8"
    except UnicodeDecodeError:
        _refuse_broken(path, part or head)
    return "latin-1" if any(byte in part for byte in _UNDEFINED) else "windows-1252"


def _refuse_broken(path: str | os.PathLike[str], part: bytes) -> None:
    """Refuse UTF-8 with a few broken characters, which another encoding would turn into nonsense."""
    text = part.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if sum(not char.isascii() for char in text) > 2 * broken:
        near = text[max(text.index("\ufffd") - 20, 0) : text.index("\ufffd") + 20].split("\n")[-1]
        raise TableError(
            f"{broken:,} characters are not valid UTF-8, the first near {near!r}; repair the file, or name "
            'its encoding with encoding="windows-1252".',
            file=str(path),
        )


def _find_quote(text: str) -> str:
    """Find whether cells are quoted by single quotes; a file with any double quote is not."""
    first = text[: 2**14].splitlines()[:50]
    single = [line for line in first if re.match(r"'[^']*'\s*[,;\t|]", line)]
    return "'" if first and '"' not in text and 2 * len(single) > len(first) else '"'


def _records(text: str, separator: str, quote: str, *, whole: bool) -> list[list[str]]:
    """Split the first rows into cells, without blank lines and the row that the head cuts off."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote):
            if row:
                rows.append(row)
            if len(rows) > _ROWS:
                break
    except csv.Error:  # a NUL byte or a huge cell; the reader of the table says it better
        return rows
    return rows[:-1] if len(rows) > 1 and not whole and len(rows) <= _ROWS else rows


def _find_separator(text: str, quote: str, default: str, *, whole: bool) -> str:
    """Find the separator that gives all rows as many cells as the header, at least two; else the default."""
    best, most = default, 1
    for separator in (default, *(one for one in SEPARATORS if one != default)):
        rows = _records(text, separator, quote, whole=whole)
        width = len(rows[0]) if rows else 0
        if width > most and all(len(row) == width for row in rows):
            best, most = separator, width
    if most > 1:
        return best
    # No separator fits all rows: take the default if the header has it, else the one the header has most of.
    widths = {
        one: len((_records(text, one, quote, whole=whole) or [[]])[0]) for one in (default, *SEPARATORS)
    }
    return default if widths[default] > 1 else max(widths, key=lambda one: widths[one])


def _find_decimal(rows: Sequence[Sequence[str]], separator: str) -> str | None:
    """Find the decimal mark that the cells show; None if they show none or both."""
    cells = [cell.strip() for row in rows for cell in row]
    commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
    points = [cell for cell in cells if _POINT.fullmatch(cell)]
    clear_comma, clear_point = (
        any(not _THREE.fullmatch(cell) for cell in group) for group in (commas, points)
    )
    if separator == ";" and commas and not points:  # a comma separates there because it is a decimal mark
        return ","
    if clear_comma == clear_point:
        return None
    return "," if clear_comma else "."
