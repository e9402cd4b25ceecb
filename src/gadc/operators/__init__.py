"""Linear operators: sparse plus low rank, and the products behind them."""

from gadc.operators._backend import use_backend
from gadc.operators._linear_operator import LinearOperator
from gadc.operators._pattern import SparsePattern
from gadc.operators._step import Step

__all__ = ["LinearOperator", "SparsePattern", "Step", "use_backend"]
