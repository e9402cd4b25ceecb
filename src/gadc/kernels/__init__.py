"""The sparse products behind `gadc.operators`; one file a back end."""

from gadc.kernels.pattern import SparsePattern
from gadc.kernels.products import sddmm, spmm, spmm_transposed

__all__ = ["SparsePattern", "sddmm", "spmm", "spmm_transposed"]
