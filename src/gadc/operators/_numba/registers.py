"""Rows of sums that stay in the processor's registers while numbers are added to them.

A loop over the columns of a row, as Numba compiles it, fetches the sums from memory and puts them back for
every entry. Held as one vector whose width the type knows, they stay where they are made. Numba has no such
type, so this module adds it, with the few operations that a product needs.

Functions take the vector's type and width from `like`, an empty array made by `row_of`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model

_WORD = ir.IntType(32)
_NUMBERS = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}
_CONTRACT = ("contract",)  # a product and a sum may be one instruction


def row_of(width: int, number: type[np.float32] | type[np.float64]) -> Any:
    """Return the empty array whose type tells the loops how wide a row is and which numbers it holds."""
    return np.empty(0, np.dtype([("row", number, (width,))]))


class _Row(types.Type):
    """A row of so many numbers, in registers."""

    def __init__(self, number: Any, width: int) -> None:
        self.number, self.width = number, width
        super().__init__(name=f"Row({number}, {width})")


@register_model(_Row)
class _RowModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Row) -> None:
        vector = ir.VectorType(_NUMBERS[kind.number], kind.width)
        super().__init__(manager, kind, vector)  # type: ignore[no-untyped-call]


def _kind(like: Any) -> _Row:
    """Return the type of the rows that `like` stands for."""
    array = like.dtype.fields["row"].type
    return _Row(array.dtype, array.shape[0])


def _vector(row: _Row) -> Any:
    return ir.VectorType(_NUMBERS[row.number], row.width)


def _pointer(context: Any, builder: Any, row: _Row, kind: Any, flat: Any, start: Any) -> Any:
    data = context.make_array(kind)(context, builder, flat).data
    return builder.bitcast(builder.gep(data, [start]), _vector(row).as_pointer())


def _fetched(context: Any, builder: Any, row: _Row, kind: Any, flat: Any, start: Any) -> Any:
    loaded = builder.load(_pointer(context, builder, row, kind, flat, start))
    loaded.align = row.number.bitwidth // 8  # all that is promised
    return loaded


def _spread(builder: Any, row: _Row, number: Any) -> Any:
    none = _vector(row)(ir.Undefined)
    first = builder.insert_element(none, number, _WORD(0))
    return builder.shuffle_vector(first, none, ir.VectorType(_WORD, row.width)([0] * row.width))


def _sum(builder: Any, row: _Row, sums: Any, factor: Any, other: Any) -> Any:
    product = builder.fmul(_spread(builder, row, factor), other, flags=_CONTRACT)
    return builder.fadd(sums, product, flags=_CONTRACT)


def _zero(typing_context: Any, like: Any) -> Any:
    """Return a row of zeros."""
    row = _kind(like)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _vector(row)([0.0] * row.width)

    return row(like), generate


def _load(typing_context: Any, like: Any, flat: Any, start: Any) -> Any:
    """Return the row that begins at flat[start]."""
    row = _kind(like)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _fetched(context, builder, row, signature.args[1], *arguments[1:])

    return row(like, flat, types.uintp), generate


def _store(typing_context: Any, flat: Any, start: Any, row: Any) -> Any:
    """Write a row to the place that begins at flat[start]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, place, values = arguments
        stored = builder.store(values, _pointer(context, builder, row, signature.args[0], target, place))
        stored.align = row.number.bitwidth // 8
        return context.get_dummy_value()

    return types.void(flat, types.uintp, row), generate


def _plus(typing_context: Any, row: Any, number: Any, flat: Any, start: Any) -> Any:
    """Return row + number · (the row that begins at flat[start])."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, factor, matrix, place = arguments
        other = _fetched(context, builder, row, signature.args[2], matrix, place)
        return _sum(builder, row, sums, factor, other)

    return row(row, row.number, flat, types.uintp), generate


def _plus_row(typing_context: Any, row: Any, number: Any, other: Any) -> Any:
    """Return row + number · other."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _sum(builder, row, *arguments)

    return row(row, row.number, row), generate


zero: Any = intrinsic(_zero)
load: Any = intrinsic(_load)
store: Any = intrinsic(_store)
plus: Any = intrinsic(_plus)
plus_row: Any = intrinsic(_plus_row)
