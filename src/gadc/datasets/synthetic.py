"""Data sets that need no files."""

from collections.abc import Callable

from torch_geometric.data import Data

from .csbm import csbm
from .digits import digits
from .power_law import power_law

GENERATORS: dict[str, Callable[..., Data]] = {"csbm": csbm, "digits": digits, "power_law": power_law}

__all__ = ["GENERATORS", "csbm", "digits", "power_law"]
