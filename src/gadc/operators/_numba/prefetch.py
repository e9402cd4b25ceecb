"""Fetch a cache line before it is needed: a processor instruction that Numba does not offer.

A product gathers rows of a matrix that may be far larger than the cache, in the order of the column indices,
which the processor cannot predict. Fetching rows well ahead hides a large part of the wait. They go to the
second-level cache, since the first level has room for too few requests at a time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Fetch the cache line of `array[index]` of a flat array; no result depends on it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte_pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte_pointer)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte_pointer], kind)
        builder.call(fetch, [address, word(0), word(2), word(1)])  # to read, second level, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
