"""The sparse product for few columns, whose sums stay in registers (`registers`).

Results equal those of `loops.spmm` to the last bit: every row is summed in the order of its entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadc.operators._numba.loops import _ahead, _fetch, compiled
from gadc.operators._numba.registers import load, plus, plus_row, store, zero

Array = Any
_U = np.uint64


def _spmm(
    row_ptr: Array,
    cols: Array,
    values: Array,
    dense: Array,
    columns: int,
    scale: Any,
    first: Array,
    first_weight: Any,
    second: Array,
    second_weight: Any,
    out: Array,
    total: Array,
    total_weight: Any,
    like: Array,
    low: int,
    start: int,
    stop: int,
) -> None:
    """Compute what `loops.spmm` does for the columns from `low` on that `like` stands for."""
    stride, begin, last = _U(columns), _U(low), _U(len(cols))
    count = _U(like.itemsize // dense.itemsize)
    ahead = _ahead(dense, count)
    for i in range(start, stop):
        here = _U(i) * stride + begin
        sums = zero(like)
        for p in range(_U(row_ptr[i]), _U(row_ptr[i + 1])):
            if ahead > 0 and p + ahead < last:
                _fetch(dense, _U(cols[p + ahead]) * stride + begin, count)
            sums = plus(sums, values[p], dense, _U(cols[p]) * stride + begin)
        sums = plus_row(zero(like), scale, sums)
        if len(first):
            sums = plus(sums, first_weight, first, here)
        if len(second):
            sums = plus(sums, second_weight, second, here)
        store(out, here, sums)
        if len(total):
            store(total, here, plus_row(load(like, total, here), total_weight, sums))


spmm = compiled(_spmm)
