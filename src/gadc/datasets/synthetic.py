"""Data sets that need no files."""

from .csbm import csbm
from .digits import digits
from .power_law import power_law

__all__ = ["csbm", "digits", "power_law"]
