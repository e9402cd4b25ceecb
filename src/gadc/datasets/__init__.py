"""Data sets as PyTorch Geometric `Data`: named ones, made-up ones and your own tables."""

from gadc.datasets.attacked import changed_edges
from gadc.datasets.cards import Card, card
from gadc.datasets.errors import ChecksumError, DatasetNotFoundError
from gadc.datasets.loading import load
from gadc.datasets.registry import names
from gadc.datasets.synthetic import csbm, digits, power_law
from gadc.datasets.tables import TableError, from_tables

__all__ = [
    "Card",
    "ChecksumError",
    "DatasetNotFoundError",
    "TableError",
    "card",
    "changed_edges",
    "csbm",
    "digits",
    "from_tables",
    "load",
    "names",
    "power_law",
]
