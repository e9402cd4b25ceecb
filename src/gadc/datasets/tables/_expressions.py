"""Weights as expressions of columns: `amount / days`, `log1p(amount)`, `"total paid" * share`.

An expression is read by Python's own parser and built from columns, numbers, + - * / ** and a few functions;
nothing is executed. Cells of text files are read as numbers as the file writes them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import polars as pl

from gadc.datasets.tables._report import TableError
from gadc.datasets.tables._table import Table

_OPERATIONS: dict[type[ast.operator], Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a.pow(b),
}
_FUNCTIONS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "abs": pl.Expr.abs,
    "sqrt": pl.Expr.sqrt,
    "exp": pl.Expr.exp,
    "log": pl.Expr.log,
    "log1p": pl.Expr.log1p,
}
_SIGNS = re.compile(r"[-+*/()]")
_LONGEST = 300  # characters, so that nesting stays shallow
_RULE = (
    "a weight must be a column or an expression of columns, numbers, + - * / ** and "
    f"{', '.join(_FUNCTIONS)}, "
    'with quotes around column names that are not a word, as in "total paid" / days'
)


def is_expression(table: Table, weight: str) -> bool:
    """Tell whether a weight is an expression rather than a column, which has precedence."""
    return weight not in table.schema and _SIGNS.search(weight) is not None


def columns_of(table: Table, text: str) -> list[str]:
    """Return the columns that an expression names; some may not exist.

    Raises:
        TableError: The text is not an expression of columns and numbers.
    """
    names: list[str] = []

    def read(name: str) -> pl.Expr:
        names.append(name)
        return pl.lit(0.0)

    _build(table, text, _parsed(table, text), read)
    if not names:
        raise _error(table, text, "it names no column")
    return list(dict.fromkeys(names))


def read_expression(table: Table, text: str) -> pl.Expr:
    """Return the weights as float64; null where a cell is not a number."""

    def read(name: str) -> pl.Expr:
        table.require(name)
        dtype = table.schema[name]
        if not (table.text or dtype.is_numeric() or dtype == pl.Boolean):
            raise TableError(f"weights must be numbers, got {dtype}.", file=table.name, column=name)
        return table.numbers(name)

    return _build(table, text, _parsed(table, text), read)


def _parsed(table: Table, text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise _error(table, text, f"it is longer than {_LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _error(table, text, str(error)) from None


def _build(table: Table, text: str, node: ast.expr, read: Callable[[str], pl.Expr]) -> pl.Expr:
    """Turn a parsed expression into one of Polars; whatever is not listed here is refused."""

    def build(node: ast.expr) -> pl.Expr:
        match node:
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                return read(name)
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return pl.lit(float(number))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -build(inner)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](build(left), build(right))
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](build(inner))
        raise _error(table, text, f"{ast.unparse(node)!r} is not allowed")

    try:
        return build(node)
    except OverflowError as error:  # a whole number that no float holds
        raise _error(table, text, str(error)) from None


def _error(table: Table, text: str, why: str) -> TableError:
    return TableError(f"{_RULE}, got {text[:80]!r}: {why}.", file=table.name)
