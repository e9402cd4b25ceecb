"""Decide which back end computes a product: Numba for large products on the CPU, torch for all others.

Numba computes a product if

- its operands are float32 or float64 tensors of one type on the CPU,
- it takes at least 2²² multiplications, and
- the dense operand of a sparse-times-dense product has 8 columns or at least 16.

A smaller product takes few milliseconds in either back end, and importing Numba takes longer. Of fewer
columns torch gathers the short rows faster, except that 8 columns fit into a register. The rule depends on
the product alone, not on the machine; `benchmarks/backends.py` and `benchmarks/kernels.py` measure both back
ends. `GADC_BACKEND=torch` (or `numba`) in the environment and `use_backend` override the rule. The back ends
agree up to rounding.
"""

from __future__ import annotations

import os

import torch
from torch import Tensor

BACKENDS = ("torch", "numba")
_VARIABLE = "GADC_BACKEND"
_MIN_MULTIPLICATIONS = 1 << 22
_MIN_COLUMNS, _NARROW = 16, 8
_DTYPES = (torch.float32, torch.float64)
_chosen: str | None = None


class use_backend:  # noqa: N801  it is called like a function
    """Compute all products with one back end, from now on or within a `with` block.

    Operands that Numba cannot take (other types than float32 and float64, other devices than the CPU) go to
    torch regardless.

    Args:
        name: "torch" or "numba"; None restores the rule of this module.

    Examples:
        >>> import torch
        >>> from gadc.operators import use_backend, uses_numba
        >>> with use_backend("torch"):
        ...     uses_numba(10**9, torch.ones(1))
        False
    """

    def __init__(self, name: str | None) -> None:
        global _chosen
        self._before = _chosen
        _chosen = None if name is None else _checked("use_backend", name)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        global _chosen
        _chosen = self._before


def uses_numba(multiplications: int, *operands: Tensor, columns: int | None = None) -> bool:
    """Return whether Numba computes a product.

    Args:
        multiplications: Number of multiplications that the product takes.
        operands: All floating-point operands.
        columns: Columns of the dense operand of a sparse-times-dense product; None for other products.
    """
    if any(one.device.type != "cpu" or one.dtype not in _DTYPES for one in operands):
        return False
    if any(one.dtype != operands[0].dtype for one in operands):
        return False  # torch raises the error that names the types
    chosen = _chosen or os.environ.get(_VARIABLE)
    if chosen:
        return _checked(_VARIABLE if _chosen is None else "use_backend", chosen) == "numba"
    suits = columns is None or columns >= _MIN_COLUMNS or columns == _NARROW
    return suits and multiplications >= _MIN_MULTIPLICATIONS


def _checked(owner: str, name: str) -> str:
    if name not in BACKENDS:
        raise ValueError(f"{owner}: the back end must be one of {', '.join(BACKENDS)}, got {name!r}.")
    return name
