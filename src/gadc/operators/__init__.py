"""Linear operators that are sparse plus low rank, and the products behind them.

- `LinearOperator`: A + U Vᵀ with products, algebra and estimates of the spectrum
- `SparsePattern`: positions of the entries of a sparse matrix
- `Step`: operations on a product that are done in the same pass
- `spmm`, `spmm_transposed`: sparse times dense
- `sddmm`: inner products at the entries of a pattern
- `row_sums`, `rescale`: sums of rows, and rows and columns times factors
- `use_backend`, `uses_numba`: torch or Numba
"""

from gadc.operators._backend import use_backend, uses_numba
from gadc.operators._linear_operator import LinearOperator
from gadc.operators._pattern import SparsePattern
from gadc.operators._products import rescale, row_sums, sddmm, spmm, spmm_transposed
from gadc.operators._step import Step

__all__ = [
    "LinearOperator",
    "SparsePattern",
    "Step",
    "rescale",
    "row_sums",
    "sddmm",
    "spmm",
    "spmm_transposed",
    "use_backend",
    "uses_numba",
]
