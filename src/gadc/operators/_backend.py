"""Which back end computes a product: torch anywhere, Numba for large products on the CPU where it is faster.

Which of the two is faster is measured once for each processor, number of threads and pair of versions, and
remembered in the user's cache folder. `GADC_KERNELS=torch` (or `numba`) in the environment, or `use_backend`,
decide otherwise. The two agree up to rounding.
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from gadc._base.files import cache_folder, write_text
from gadc.operators._pattern import SparsePattern
from gadc.operators._torch import csr as torch_csr

BACKENDS = ("torch", "numba")
_VARIABLE = "GADC_KERNELS"
# Below so many multiplications a product takes a millisecond or two, whichever way.
_SMALL = 1 << 22
_FLOATS = (torch.float32, torch.float64)
_forced: str | None = None


class use_backend:  # noqa: N801  it is called like a function
    """Compute with this back end from now on, or within a `with` block; None lets the measurement decide.

    Numba remains out of question for tensors that are not float32 or float64 on the CPU.

    Args:
        name: "torch", "numba" or None.
    """

    def __init__(self, name: str | None) -> None:
        global _forced
        self._before = _forced
        _forced = None if name is None else _checked("use_backend", name)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        global _forced
        _forced = self._before


def uses_numba(multiplications: int, *operands: Tensor) -> bool:
    """Whether a product of that size with these operands goes to Numba."""
    if any(one.device.type != "cpu" or one.dtype not in _FLOATS for one in operands):
        return False
    if any(one.dtype != operands[0].dtype for one in operands):
        return False  # torch says what is wrong
    asked = _forced or os.environ.get(_VARIABLE)
    if asked:
        return _checked(_VARIABLE if _forced is None else "use_backend", asked) == "numba"
    return multiplications >= _SMALL and _fastest(torch.get_num_threads()) == "numba"


def cache_file() -> Path:
    """Where measurements are remembered."""
    return cache_folder() / "kernels.json"


def _checked(owner: str, name: str) -> str:
    if name not in BACKENDS:
        raise ValueError(f"{owner}: the back end must be one of {', '.join(BACKENDS)}, got {name!r}.")
    return name


@cache
def _fastest(threads: int) -> str:
    key = f"{_processor()}, {threads} threads, torch {torch.__version__}, numba {version('numba')}"
    known = _read()
    if known.get(key) not in BACKENDS:
        known[key] = _measure()
        _write(known)
    return known[key]


def _measure() -> str:
    """The faster of the two on a random matrix, with an operand of 50 MB: larger than most caches."""
    from gadc.operators._numba import (
        csr as numba_csr,  # importing Numba takes a second, so only where it may be used
    )

    generator = torch.Generator().manual_seed(0)
    n, degree, columns = 100_000, 10, 128
    row_ptr = torch.arange(n + 1, dtype=torch.int32) * degree
    cols = torch.randint(n, (n, degree), generator=generator, dtype=torch.int32).sort(1).values.reshape(-1)
    pattern = SparsePattern(row_ptr, cols, n)
    values, dense = torch.rand(n * degree, generator=generator), torch.rand(n, columns, generator=generator)
    times = {"torch": math.inf, "numba": math.inf}
    for _ in range(6):  # in turn, and the best of each, as other programs may be running
        for name, spmm in (("torch", torch_csr.spmm), ("numba", numba_csr.spmm)):
            start = time.perf_counter()
            spmm(pattern, values, dense)
            times[name] = min(times[name], time.perf_counter() - start)
    return min(times, key=times.__getitem__)


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _read() -> dict[str, str]:
    try:
        known = json.loads(cache_file().read_text())
    except (OSError, ValueError):  # not there, not readable, not JSON
        return {}
    return known if isinstance(known, dict) else {}


def _write(known: dict[str, str]) -> None:
    """Replace the file in one step; without a writable folder it is measured again in the next process."""
    with suppress(OSError):
        cache_file().parent.mkdir(parents=True, exist_ok=True)
        write_text(cache_file(), json.dumps(known, indent=2))
