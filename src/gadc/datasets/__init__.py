"""Data sets as PyTorch Geometric `Data`: named ones, made-up ones and your own tables."""

from gadc.datasets.attacked import changed_edges
from gadc.datasets.cards import Card, card
from gadc.datasets.errors import ChecksumError, DatasetNotFoundError
from gadc.datasets.graph_archives import write_npz
from gadc.datasets.graph_files import read_graph
from gadc.datasets.loading import load
from gadc.datasets.registry import names
from gadc.datasets.synthetic import GENERATORS, csbm, digits, power_law
from gadc.datasets.table_writers import write_tables
from gadc.datasets.tables import TableError, TableReport, from_tables

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
