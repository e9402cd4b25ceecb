"""The sparse products behind `gadc.operators`; one file a back end."""

from gadc.kernels.attention import edge_softmax, weighted_sums
from gadc.kernels.backend import use_backend, uses_numba
from gadc.kernels.masking import masked
from gadc.kernels.pattern import SparsePattern
from gadc.kernels.products import fused_spmm, rescale, row_sums, sddmm, spmm, spmm_transposed

__all__ = [
    "SparsePattern",
    "edge_softmax",
    "fused_spmm",
    "masked",
    "rescale",
    "row_sums",
    "sddmm",
    "spmm",
    "spmm_transposed",
    "use_backend",
    "uses_numba",
    "weighted_sums",
]
