"""Data sets as PyTorch Geometric `Data`: named ones, made-up ones and your own tables."""

from gadc.datasets.files._archives import write_npz
from gadc.datasets.files._graph_files import read_graph
from gadc.datasets.named._attacked import changed_edges
from gadc.datasets.named._cards import Card, card
from gadc.datasets.named._errors import ChecksumError, DatasetNotFoundError
from gadc.datasets.named._loading import load
from gadc.datasets.named._registry import names
from gadc.datasets.synthetic import GENERATORS, csbm, digits, power_law
from gadc.datasets.tables._from_tables import TableError, TableReport, from_tables
from gadc.datasets.tables._writers import write_tables

__all__ = [
    "GENERATORS",
    "Card",
    "ChecksumError",
    "DatasetNotFoundError",
    "TableError",
    "TableReport",
    "card",
    "changed_edges",
    "csbm",
    "digits",
    "from_tables",
    "load",
    "names",
    "power_law",
    "read_graph",
    "write_npz",
    "write_tables",
]
