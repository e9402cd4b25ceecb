"""Graphs that need no files: random graph models, handwritten digits, and tables with planted errors."""

from collections.abc import Callable

from torch_geometric.data import Data

from gadc.datasets.synthetic._company_register import CompanyRegister, company_register
from gadc.datasets.synthetic._csbm import csbm
from gadc.datasets.synthetic._digits import digits
from gadc.datasets.synthetic._power_law import power_law

GENERATORS: dict[str, Callable[..., Data]] = {"csbm": csbm, "digits": digits, "power_law": power_law}

__all__ = ["GENERATORS", "CompanyRegister", "company_register", "csbm", "digits", "power_law"]
