"""Rows of sums that stay in the processor's registers while numbers are added to them.

A loop over the columns of a row, as Numba compiles it, fetches the row from memory and puts it back for every
number that is added. Held as one vector, whose width the type knows, it stays where the sums are made.
Matrices come as arrays of records (`as_rows`): the width of a row is then part of their type, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model
from torch import Tensor

_FLOAT, _WORD = ir.FloatType(), ir.IntType(32)
_CONTRACT = ("contract",)  # a product and a sum may be one instruction


def as_rows(matrix: Tensor) -> Any:
    """A contiguous float32 matrix as a NumPy array with a record for each row, sharing its memory."""
    row = np.dtype([("row", np.float32, (matrix.shape[1],))])
    return matrix.detach().numpy().reshape(-1).view(row)


class _Row(types.Type):
    """A row of so many numbers, in registers."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Row({width})")


@register_model(_Row)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Row) -> None:
        super().__init__(manager, kind, ir.VectorType(_FLOAT, kind.width))  # type: ignore[no-untyped-call]


def _row_of(rows: Any) -> _Row:
    return _Row(rows.dtype.size // 4)


def _pointer(context: Any, builder: Any, kind: Any, rows: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, rows).data
    vector = ir.VectorType(_FLOAT, _row_of(kind).width)
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


def _fetched(context: Any, builder: Any, kind: Any, rows: Any, index: Any) -> Any:
    loaded = builder.load(_pointer(context, builder, kind, rows, index))
    loaded.align = 4  # all that is promised; whole cache lines are faster
    return loaded


def _load(typing_context: Any, rows: Any, index: Any) -> Any:
    """Row `index` of a matrix."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _fetched(context, builder, signature.args[0], *arguments)

    return _row_of(rows)(rows, types.uintp), generate


def _store(typing_context: Any, rows: Any, index: Any, row: Any) -> Any:
    """Write a row to its place in a matrix."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, place, values = arguments
        stored = builder.store(values, _pointer(context, builder, signature.args[0], target, place))
        stored.align = 4
        return context.get_dummy_value()

    return types.void(rows, types.uintp, row), generate


def _plus(typing_context: Any, row: Any, number: Any, rows: Any, index: Any) -> Any:
    """The row + number · (row `index` of a matrix)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, factor, matrix, place = arguments
        other = _fetched(context, builder, signature.args[2], matrix, place)
        none = other.type(ir.Undefined)
        first = builder.insert_element(none, factor, _WORD(0))
        spread = builder.shuffle_vector(first, none, ir.VectorType(_WORD, row.width)([0] * row.width))
        return builder.fadd(sums, builder.fmul(spread, other, flags=_CONTRACT), flags=_CONTRACT)

    return row(row, types.float32, rows, types.uintp), generate


def _lowest(typing_context: Any, word: Any) -> Any:
    """The place of the lowest bit that is set in a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
plus: Any = intrinsic(_plus)
lowest: Any = intrinsic(_lowest)
