"""Your own graph: a table of edges and a table of nodes become a PyTorch Geometric `Data`.

Nothing is dropped silently: `data.table_report` counts everything that was found, and tables that cannot be
read raise a `TableError` that names file, row and column. Edge tables are streamed, and only the columns
that are needed are read.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import polars as pl

from gadc._base.scalars import check_choice
from gadc.datasets.tables._dialect import CsvOptions
from gadc.datasets.tables._files import TableLike, open_table
from gadc.datasets.tables._preparation import CATEGORICAL, FeaturePreparation
from gadc.datasets.tables._problems import REPAIRS, check_repair
from gadc.datasets.tables._reading import Choices, read_tables
from gadc.datasets.tables._targets import TASKS, label_columns
from gadc.datasets.tables._times import Moment, TimeWindow
from gadc.datasets.tables._weights import WEIGHT_SCALES

if TYPE_CHECKING:
    from torch_geometric.data import Data


def from_tables(
    edges: TableLike,
    nodes: TableLike,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node_id: str | None = None,
    label: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    categorical: str = "skip",
    missing: str = "error",
    unknown: str = "error",
    directed: bool = False,
    preparation: FeaturePreparation | None = None,
    keep_rows: bool = False,
    csv_options: CsvOptions | None = None,
    repair: str | Collection[str] = (),
    lenient: bool = False,
    weight_scale: str = "none",
    task: str = "classify",
    time: str | None = None,
    until: Moment | None = None,
    half_life: str | float | None = None,
    signed: bool = False,
    relation: str | None = None,
    exclude: Sequence[str] = (),
) -> Data:
    """Read a graph from a table with one row per edge and a table with one row per node.

    Args:
        edges: Path (.csv, .tsv, .csv.gz, .tsv.gz, .parquet, .feather, .arrow, .ipc, .jsonl, .ndjson, or .xlsx
            with a sheet as in "book.xlsx#edges") or data frame of the edges, or anything that exports an
            Arrow stream (pyarrow, DuckDB, Ibis).
        nodes: Path or data frame of the nodes.
        source: Column of one end; by default `source`, `src`, `from` or the first column.
        target: Column of the other end; by default `target`, `dst`, `to` or the second column.
        weight: Column of edge weights >= 0, or an expression of columns such as "amount / days" (numbers,
            + - * / **, abs, sqrt, exp, log and log1p); no weights by default. The weights of repeated rows
            are added, the weights of the two directions are averaged.
        node_id: Column of the node ids; by default `id`, `node_id`, `node` or the first column.
        label: Column of the classes, with an empty cell for an unlabelled node; by default `label`, `class`
            or `y`, if there is one.
        features: Feature columns; by default all columns other than id and label that can be features.
        categorical: What to do with text columns: "skip" (default) leaves them out and says so in the report,
            "onehot" encodes them. A text column that is named in `features` is an error under "skip". "auto"
            encodes short text by its 50 most common values and one for the others, dates as days since the
            first and days of the week, and leaves out ids and long text.
        missing: What to do with an empty feature cell: "error" (default), "mean" of the column, or "zero".
        unknown: What to do with an edge to a node that is not in `nodes`: "error" (default), "drop" the edge,
            or "add" the node.
        directed: Keep the edges as listed instead of in both directions; False by default.
        preparation: The `feature_preparation` of another graph or of a fitted model, to compute the features
            as they were computed there: the same columns, categories, fill values and scales. A column that
            is missing is an error, other columns are ignored, and `features`, `categorical`, `missing`,
            `repair`, `weight_scale` and the names of other columns are not needed. None by default.
        keep_rows: Remember in `data.table_rows` which row of the edge table lists which edge in which
            direction, for `gadc.suspicious_edges`; False by default, since it takes memory.
        csv_options: How text files are written (separator, encoding, decimal mark); by default this is found
            from the beginning of each file, and the report says what was found.
        repair: Problems to repair instead of refusing the tables; nothing by default. "duplicate-ids" keeps
            the first row of each id, "empty-ids" leaves out rows without an id, "non-numbers" treats cells of
            numeric columns that are not numbers as empty, "bad-weights" leaves out edges without a usable
            weight, "bad-times" edges without a time. The report says what was repaired.
        lenient: Repair all of these, and where it is not chosen, drop edges with unknown ends and fill empty
            cells with the mean; False by default.
        weight_scale: What to do with weights that span many orders of magnitude, such as amounts of money:
            "none" (default), "log" (log2(1 + w / median)), "rank" (between 0 and 1), or "auto", which is
            "log" if the largest weight exceeds a hundred medians.
        time: Column of the time of each edge, dates or numbers; none by default.
        until: Read the edges up to this time only: a date (its whole day, unless a time of the day is given)
            or a number. By default as in the preparation, or all.
        half_life: Time after which an edge counts half, counted back from `until` or else from the latest
            edge: text such as "30d" (units s, min, h, d, w, y) or a number of days for dates, a number for
            numbers. By default as in the preparation, or no decay.
        signed: Accept negative weights, for `gadc.diffuse(..., signed=True)`; False by default.
        relation: Column that names the kind of each edge, such as "friend" or "colleague"; every kind becomes
            a relation of its own in `data.edge_type`. By default all edges are of one kind.
        exclude: Columns that are not features, such as notes made after the fact, when all others are; none
            by default. With a preparation, it must not name a column that the preparation reads.
        task: What `label` holds: "classify" (default) classes, "regress" numbers, or "multilabel" a list of
            columns with 0 and 1. For the last two, `target` takes the place of `y`.

    Returns:
        Data with `edge_index`, `node_ids`, `feature_names`, `table_report` (a `TableReport`) and
        `feature_preparation` (a `FeaturePreparation`, to read another table in the same way); with `x`
        (float32) if there are features, `edge_weight` if weighted, `table_rows` (both ends and the number of
        each row of `edges`, shape (3, rows)) if rows are kept, `edge_type` (number of the relation of each
        edge, shape (m,)) and `relation_names` (sorted) with `relation`, and `y` (-1 = unlabelled) and
        `class_names` if there are labels: `class_names[y[i]]` is the label of node i in the table.

    Raises:
        TableError: A table cannot be read.

    Examples:
        >>> import polars as pl
        >>> from gadc.datasets import from_tables
        >>> edges = pl.DataFrame({"source": ["ann", "bob"], "target": ["bob", "eve"]})
        >>> nodes = pl.DataFrame(
        ...     {"id": ["ann", "bob", "eve"], "age": [31, 27, 45], "label": ["x", None, "y"]}
        ... )
        >>> data = from_tables(edges, nodes)
        >>> data.edge_index
        tensor([[0, 1, 1, 2],
                [1, 0, 2, 1]])
        >>> data.y.tolist(), data.class_names, data.feature_names
        ([0, -1, 1], ['x', 'y'], ['age'])
    """
    check_choice("from_tables", categorical, "categorical", CATEGORICAL)
    check_choice("from_tables", task, "task", TASKS)
    first, more_labels = label_columns("from_tables", label, task, features)
    check_choice("from_tables", missing, "missing", ("error", "mean", "zero"))
    check_choice("from_tables", unknown, "unknown", ("error", "drop", "add"))
    check_choice("from_tables", weight_scale, "weight_scale", WEIGHT_SCALES)
    for name, names in (("features", features), ("exclude", exclude)):
        if isinstance(names, str):
            raise TypeError(f"from_tables: {name} must be a list of column names, got the string {names!r}.")
    kinds = check_repair("from_tables", REPAIRS if lenient else repair)
    if preparation is not None:
        given = {"categorical": None if categorical == "skip" else categorical, "features": features}
        given["missing"] = None if missing == "error" else missing
        given["weight_scale"] = None if weight_scale == "none" else weight_scale
        preparation.check_agrees("from_tables", **given, exclude=exclude)
        exclude = exclude or preparation.exclude
        features = [column.name for column in preparation.columns]
        categorical, missing = preparation.categorical, preparation.missing
        kinds |= frozenset(preparation.repair)
    elif lenient and missing == "error":
        missing = "mean"
    choices = Choices(
        edge_roles={"source": source, "target": target, "weight": weight, "time": time, "relation": relation},
        node_roles={"node_id": node_id, "label": first},
        features=features,
        exclude=tuple(dict.fromkeys(exclude)),
        categorical=categorical,
        missing=missing,
        unknown="drop" if lenient and unknown == "error" else unknown,
        directed=directed,
        preparation=preparation,
        keep_rows=keep_rows,
        csv_options=csv_options,
        repair=kinds,
        weight_scale=weight_scale,
        task=task,
        more_labels=more_labels,
        window=TimeWindow.of("from_tables", until, half_life),
        signed=signed,
    )
    return read_tables(edges, nodes, choices)


def read_other_columns(
    edges: TableLike, known: Collection[str], csv_options: CsvOptions | None = None
) -> tuple[list[str], pl.DataFrame]:
    """Read the columns of an edge table that `known` does not name.

    Returns:
        Their names, and a table with the user's row numbers in the column "row" and these columns as
        "0", "1", ..., because a column of the user may be called "row".
    """
    table = open_table(edges, "edges", csv_options)
    names = [name for name in table.schema if name not in known]
    columns = {str(i): table.col(name) for i, name in enumerate(names)}
    return names, table.collect(table.numbered(**columns))
