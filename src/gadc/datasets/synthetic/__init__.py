"""Graphs that need no files: two random graph models, and handwritten digits from scikit-learn."""

from collections.abc import Callable

from torch_geometric.data import Data

from gadc.datasets.synthetic._csbm import csbm
from gadc.datasets.synthetic._digits import digits
from gadc.datasets.synthetic._power_law import power_law

GENERATORS: dict[str, Callable[..., Data]] = {"csbm": csbm, "digits": digits, "power_law": power_law}

__all__ = ["GENERATORS", "csbm", "digits", "power_law"]
