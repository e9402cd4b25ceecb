"""Graphs as PyTorch Geometric `Data`: named data sets, your own tables and files, synthetic graphs.

    load, names, card, Card          a named data set and the facts about it; `register` adds one
    from_tables, TableReport         a graph from a table of edges and a table of nodes
    CsvOptions                       how text tables are written: separator, encoding, decimal mark
    FeaturePreparation               how features were computed, to read another table in the same way
    from_bipartite_tables            a graph between the rows of two node tables
    from_hetero                      one type of nodes of a HeteroData, with its relations
    from_database                    a graph from two queries on a database
    from_graph                       a graph from a NetworkX or igraph graph
    read_graph                       a graph from one file (.npz, .graphml, .edgelist, .pt)
    write_tables, write_npz          a graph as two tables, or as one NumPy archive
    csbm, digits, power_law          graphs that need no files; `GENERATORS` has them by name
    company_register                 tables of a company register with planted errors
    changed_edges                    the edges that an attack or noise added and removed
    graph_statistics                 degrees, class sizes and homophily of any graph
    TableError, TableProblemsError, ChecksumError, DatasetNotFoundError

Names are imported at first use, so that loading a named data set does not import Polars.
"""

from typing import TYPE_CHECKING

from gadc._base.lazy_names import lazy_names

if TYPE_CHECKING:
    from gadc.datasets._changed_edges import changed_edges
    from gadc.datasets._statistics import graph_statistics
    from gadc.datasets.files._from_graph import from_graph
    from gadc.datasets.files._from_hetero import from_hetero
    from gadc.datasets.files._npz import write_npz
    from gadc.datasets.files._read_graph import read_graph
    from gadc.datasets.named._cards import Card, card
    from gadc.datasets.named._errors import ChecksumError, DatasetNotFoundError
    from gadc.datasets.named._loading import load
    from gadc.datasets.named._registry import names, register
    from gadc.datasets.synthetic import GENERATORS, CompanyRegister, company_register, csbm, digits, power_law
    from gadc.datasets.tables._bipartite import from_bipartite_tables
    from gadc.datasets.tables._databases import from_database
    from gadc.datasets.tables._dialect import CsvOptions
    from gadc.datasets.tables._from_tables import from_tables
    from gadc.datasets.tables._preparation import FeaturePreparation
    from gadc.datasets.tables._report import TableError, TableProblemsError, TableReport
    from gadc.datasets.tables._writers import write_tables

__all__ = [
    "GENERATORS",
    "Card",
    "ChecksumError",
    "CompanyRegister",
    "CsvOptions",
    "DatasetNotFoundError",
    "FeaturePreparation",
    "TableError",
    "TableProblemsError",
    "TableReport",
    "card",
    "changed_edges",
    "company_register",
    "csbm",
    "digits",
    "from_bipartite_tables",
    "from_database",
    "from_graph",
    "from_hetero",
    "from_tables",
    "graph_statistics",
    "load",
    "names",
    "power_law",
    "read_graph",
    "register",
    "write_npz",
    "write_tables",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_changed_edges": ("changed_edges",),
        "_statistics": ("graph_statistics",),
        "files._from_graph": ("from_graph",),
        "files._from_hetero": ("from_hetero",),
        "files._npz": ("write_npz",),
        "files._read_graph": ("read_graph",),
        "named._cards": ("Card", "card"),
        "named._errors": ("ChecksumError", "DatasetNotFoundError"),
        "named._loading": ("load",),
        "named._registry": ("names", "register"),
        "synthetic": ("GENERATORS", "CompanyRegister", "company_register", "csbm", "digits", "power_law"),
        "tables._bipartite": ("from_bipartite_tables",),
        "tables._databases": ("from_database",),
        "tables._dialect": ("CsvOptions",),
        "tables._from_tables": ("from_tables",),
        "tables._preparation": ("FeaturePreparation",),
        "tables._report": ("TableError", "TableProblemsError", "TableReport"),
        "tables._writers": ("write_tables",),
    },
)
