"""The tables of the paper as TOML files, one run of a cell, many runs, and the results on disk.

Table, Column, Row, Cell     a table; a cell is one row in one column
load_table, table_names      the tables that there are; `register` adds one
plan, execute, Task          what is left to do, and doing it in one process or in several
run_once, prepare, Result    one run, its data and its result
Store, current_results       the results on disk, and those of a table as it is now
summarize, Summary           mean and standard deviation of a cell beside the published ones
"""

from gadc.experiments._execute import execute
from gadc.experiments._plan import Task, current_results, plan
from gadc.experiments._result import Result
from gadc.experiments._run import prepare, run_once
from gadc.experiments._spec import Cell, Column, Row, Table
from gadc.experiments._store import Store
from gadc.experiments._summary import Summary, summarize
from gadc.experiments._tables import load_table, register, table_names

__all__ = [
    "Cell",
    "Column",
    "Result",
    "Row",
    "Store",
    "Summary",
    "Table",
    "Task",
    "current_results",
    "execute",
    "load_table",
    "plan",
    "prepare",
    "register",
    "run_once",
    "summarize",
    "table_names",
]
