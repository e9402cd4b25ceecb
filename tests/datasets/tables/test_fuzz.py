"""Malformed tables: they raise nothing but `TableError`, and no row is lost without being counted."""

import hypothesis.strategies as st
import polars as pl
import torch
from hypothesis import HealthCheck, given, settings

from gadc.datasets import TableError, from_tables
from tests.helpers.tables import adds_up

CELLS = st.one_of(
    st.text(max_size=4), st.integers(-3, 3).map(str), st.sampled_from(["", "nan", "1e400", '"', "a,b"])
)
TABLES = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60),
    st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6).map(lambda t: "\n".join(map(",".join, t))),
    st.lists(st.lists(st.sampled_from(["0", "1", "2", "id", "f"]), min_size=2, max_size=3), max_size=6).map(
        lambda t: "id,f,y\n" + "\n".join(map(",".join, t))
    ),
)


@given(TABLES, TABLES, st.sampled_from(["error", "drop", "add"]), st.sampled_from(["error", "mean", "zero"]))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_files_give_a_graph_whose_counts_add_up_or_a_table_error(
    tmp_path, edges, nodes, unknown, missing
):
    paths = tmp_path / "e.csv", tmp_path / "n.csv"
    for path, content in zip(paths, (edges, nodes), strict=True):
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    try:
        data = from_tables(*paths, unknown=unknown, missing=missing, categorical="onehot")
    except TableError as error:
        assert error.file in map(str, paths)  # noqa: PT017 (both outcomes are right)
        return
    assert adds_up(data.table_report)
    assert data.num_nodes == len(data.node_ids) == data.table_report.nodes
    assert data.edge_index.shape[1] == 2 * data.table_report.edges
    assert data.x is None or bool(torch.isfinite(data.x).all())


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_frames_of_any_types_give_a_graph_or_a_table_error(data):
    values = {
        pl.Int8: [0, 1, -1],
        pl.UInt64: [0, 1, 2**64 - 1],
        pl.Float64: [0.0, 1.0, 0.5, 1e300, float("nan")],
        pl.String: ["0", "1", ""],
        pl.Boolean: [True, False],
        pl.Date: [None],
        pl.Categorical: ["0", "b"],
    }

    def column(size):
        kind = data.draw(st.sampled_from(list(values)))
        cells = st.one_of(st.none(), st.sampled_from(values[kind]))
        return pl.Series(data.draw(st.lists(cells, min_size=size, max_size=size)), dtype=kind)

    size, rows = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    edges = pl.DataFrame({"source": column(rows), "target": column(rows), "w": column(rows)})
    nodes = pl.DataFrame({"id": column(size), "label": column(size), "f": column(size)})
    try:
        graph = from_tables(
            edges, nodes, weight="w", unknown=data.draw(st.sampled_from(["drop", "add"])), missing="zero"
        )
    except TableError:
        return
    assert adds_up(graph.table_report)
    assert graph.table_report.rows == rows
