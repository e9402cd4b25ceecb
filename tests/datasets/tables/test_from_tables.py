"""Own graphs: defaults, ids, labels, features, errors with their place, and counts that add up."""

import gzip

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings

from gadc.datasets import TableError, from_tables

EDGES = "source,target,weight\na,b,1\nb,c,2.5\nc,a,4\n"
NODES = "id,label,age,paid,city\na,x,1,true,Rome\nb,,2.5,false,Oslo\nc,y,4,true,Rome\n"


@pytest.fixture
def write(tmp_path):
    def write(edges=EDGES, nodes=NODES):
        (tmp_path / "edges.csv").write_text(edges)
        (tmp_path / "nodes.csv").write_text(nodes)
        return tmp_path / "edges.csv", tmp_path / "nodes.csv"

    return write


def frames(pairs, n, **columns):
    edges = pl.DataFrame(pairs, schema={"source": pl.Int64, "target": pl.Int64}, orient="row")
    return edges, pl.DataFrame({"id": list(range(n)), "f": [float(i) for i in range(n)], **columns})


def adds_up(report):
    return report.rows == report.self_loops + report.unknown + report.duplicates + report.edges


def test_reads_a_small_graph_and_says_what_it_did(write):
    data = from_tables(*write(), weight="weight")
    assert data.node_ids == ["a", "b", "c"]
    assert data.class_names == ["x", "y"]
    assert data.y.tolist() == [0, -1, 1]
    assert data.feature_names == ["age", "paid"]
    assert data.x.tolist() == [[1, 1], [2.5, 0], [4, 1]]
    assert data.edge_index.tolist() == [[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]]
    assert data.edge_weight.tolist() == [1, 4, 1, 2.5, 4, 2.5]
    report = data.table_report
    assert (report.rows, report.edges, report.labelled, report.isolated) == (3, 3, 2, 0)
    assert "text" in report.left_out["city"]
    assert any("'source' and 'target'" in note for note in report.notes)
    assert any("label was not named" in note for note in report.notes)
    assert report.to_dict()["columns"]["weight"] == "weight"
    assert "2 labelled, 1 unlabelled" in report.summary()


@pytest.mark.parametrize("header", ["src,dst", "from,to", "Source,Target", "u,v"])
def test_the_usual_column_names_are_found(write, header):
    data = from_tables(*write(edges=f"{header}\na,b\n", nodes="node_id,f\na,1\nb,2\n"))
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]


def test_ends_are_found_by_name_not_place(write):
    data = from_tables(*write(edges="when,dst,src\n9,b,a\n", nodes="f,id\n1,a\n2,b\n"), directed=True)
    assert data.edge_index.tolist() == [[0], [1]]
    assert any("not used" in note and "'when'" in note for note in data.table_report.notes)


def test_gzip_tsv_and_blank_lines(tmp_path):
    edges, nodes = tmp_path / "e.csv.gz", tmp_path / "n.tsv"
    edges.write_bytes(gzip.compress(b"source,target\n1,2\n\n2,3\n\n"))
    nodes.write_text("id\tf\n1\t0.5\n2\t1\n\n3\t2\n")
    data = from_tables(edges, nodes)
    assert data.node_ids == [1, 2, 3]
    assert data.table_report.rows == 2


def test_loops_duplicates_and_isolated_nodes_are_counted():
    data = from_tables(*frames([(0, 1), (1, 0), (0, 1), (2, 2), (1, 2)], 5))
    report = data.table_report
    assert (report.self_loops, report.duplicates, report.edges, report.isolated) == (1, 2, 2, 2)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert adds_up(report)


def test_repeated_weights_add_up_and_directions_are_averaged():
    edges = pl.DataFrame({"source": [0, 0, 1, 2], "target": [1, 1, 0, 1], "w": [1.0, 2.0, 5.0, 7.0]})
    nodes = pl.DataFrame({"id": [0, 1, 2]})
    data = from_tables(edges, nodes, weight="w")
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.edge_weight.tolist() == [4, 4, 7, 7]
    assert any("both ways" in note for note in data.table_report.notes)
    directed = from_tables(edges, nodes, weight="w", directed=True)
    assert directed.edge_index.tolist() == [[0, 1, 2], [1, 0, 1]]
    assert directed.edge_weight.tolist() == [3, 5, 7]
    assert directed.x is None
    assert directed.num_nodes == 3


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=40), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_edges_match_a_plain_python_reading(pairs, directed, weighted):
    edges, nodes = frames(pairs, 8)
    edges = edges.with_columns(w=pl.Series([float(i + 1) for i in range(len(pairs))], dtype=pl.Float64))
    data = from_tables(edges, nodes, weight="w" if weighted else None, directed=directed)
    total = {}
    for weight, (u, v) in enumerate(pairs, start=1):
        if u != v:
            total[u, v] = total.get((u, v), 0) + weight
    if not directed:
        both = {*total, *((v, u) for u, v in total)}
        total = {
            (u, v): sum(total[p] for p in ((u, v), (v, u)) if p in total)
            / (((u, v) in total) + ((v, u) in total))
            for u, v in both
        }
    assert data.edge_index.t().tolist() == [list(pair) for pair in sorted(total)]
    if weighted:
        assert data.edge_weight.tolist() == pytest.approx([total[pair] for pair in sorted(total)])
    assert adds_up(data.table_report)
    assert data.table_report.isolated == 8 - len({end for pair in total for end in pair})


def test_unknown_ends_are_an_error_that_shows_some_and_the_way_out(write):
    paths = write(edges="source,target\na,b\nz,a\nb,q\n")
    with pytest.raises(TableError, match=r"2 of 3 edges .*row 3: 'z'; row 4: 'q'") as caught:
        from_tables(*paths)
    assert (caught.value.row, caught.value.file) == (3, str(paths[0]))
    dropped = from_tables(*paths, unknown="drop").table_report
    assert (dropped.unknown, dropped.edges) == (2, 1)
    assert adds_up(dropped)
    with pytest.raises(TableError, match="added nodes have no value"):
        from_tables(*paths, unknown="add")
    data = from_tables(*paths, unknown="add", missing="mean")
    assert data.node_ids == ["a", "b", "c", "q", "z"]
    assert data.x[3].tolist() == pytest.approx([2.5, 2 / 3])
    assert data.y.tolist() == [0, -1, 1, -1, -1]
    assert data.table_report.added == 2
    assert data.table_report.imputed == {"age": 2, "paid": 2}


def test_numbers_and_text_meet():
    nodes = pl.DataFrame({"id": ["1", "2"], "f": [0.0, 1.0]})
    assert from_tables(pl.DataFrame({"source": [1], "target": [2]}), nodes).num_edges == 2
    nodes = pl.DataFrame({"id": [1, 2], "f": [0.0, 1.0]})
    assert from_tables(pl.DataFrame({"source": ["1"], "target": ["2"]}), nodes).num_edges == 2
    assert from_tables(pl.DataFrame({"source": [1.0], "target": [2.0]}), nodes).num_edges == 2
    with pytest.raises(TableError, match=r"1 of 1 edges .*1\.5"):
        from_tables(pl.DataFrame({"source": [1.5], "target": [2.0]}), nodes)
    added = from_tables(
        pl.DataFrame({"source": ["x"], "target": ["2"]}), nodes, unknown="add", missing="zero"
    )
    assert added.node_ids == ["1", "2", "x"]
    assert any("taken as text" in note for note in added.table_report.notes)


def test_text_ids_with_leading_zeros_stay_text(write):
    data = from_tables(*write(edges="source,target\n007,7\n", nodes="id,f\n007,1\n7,2\n"))
    assert data.node_ids == ["007", "7"]


@pytest.mark.parametrize("column", ["*", "^id$", "id$", "row", "s", "a b"])
def test_strange_column_names_are_only_names(column):
    edges, nodes = frames([(0, 1)], 2)
    data = from_tables(edges, nodes.rename({"id": column}), node_id=column)
    assert data.feature_names == ["f"]


def test_labels_of_every_kind():
    def labels(values, **options):
        return from_tables(*frames([(0, 1)], len(values), label=values), **options)

    numbers = labels([10, 9, None, 10])
    assert numbers.class_names == [9, 10]
    assert numbers.y.tolist() == [1, 0, -1, 1]
    assert labels([True, False, None]).class_names == ["false", "true"]
    floats = labels([1.0, float("nan"), 3.0])
    assert (floats.class_names, floats.y.tolist()) == ([1, 3], [0, -1, 1])
    assert any("whole" in note for note in floats.table_report.notes)
    assert any("-1" in note for note in labels([-1, 1]).table_report.notes)
    assert labels(["b", " ", "a"]).y.tolist() == [1, -1, 0]
    with pytest.raises(TableError, match=r"row 2, column 'label': 0\.5 is neither"):
        labels([1.0, 0.5])
    named = labels([1, 0], features=["label"])
    assert named.y is None
    assert named.feature_names == ["label"]


def test_one_hot_and_missing_values(write):
    nodes = "id,city,age\na,Rome,1\nb,,\nc,Oslo,3\n"
    paths = write(nodes=nodes)
    with pytest.raises(TableError, match=r"nodes\.csv, row 3, column 'age': the cell is empty"):
        from_tables(*paths)
    mean = from_tables(*paths, categorical="onehot", missing="mean")
    assert mean.feature_names == ["city=Oslo", "city=Rome", "age"]
    assert mean.x.tolist() == [[0, 1, 1], [0.5, 0.5, 2], [1, 0, 3]]
    assert mean.table_report.imputed == {"city": 1, "age": 1}
    zero = from_tables(*paths, categorical="onehot", missing="zero", features=["age", "city"])
    assert zero.x[1].tolist() == [0, 0, 0]
    with pytest.raises(TableError, match="column 'city': 'Rome' is not a number"):
        from_tables(*paths, features=["city"])
    frame = pl.DataFrame({"id": ["a", "b", "c"], "city": ["Rome", None, "Oslo"]})
    with pytest.raises(TableError, match="column 'city': cannot be a feature: it is text"):
        from_tables(paths[0], frame, features=["city"])


def test_too_many_categories_are_refused():
    edges, nodes = frames([(0, 1)], 1001, name=[f"n{i}" for i in range(1001)])
    with pytest.raises(TableError, match="1001 different values"):
        from_tables(edges, nodes, categorical="onehot")


def test_constant_columns_and_other_types_are_reported():
    edges, nodes = frames([(0, 1)], 3, same=[2, 2, 2], flag=[True, False, True], lists=[[1], [2], [3]])
    data = from_tables(edges, nodes)
    assert data.feature_names == ["f", "same", "flag"]
    assert data.table_report.constant == ["same"]
    assert "List" in data.table_report.left_out["lists"]


@pytest.mark.parametrize(
    ("edges", "nodes", "options", "message"),
    [
        (EDGES, NODES, {"weight": "cost"}, r"edges\.csv, column 'cost': no such column; .*'weight'"),
        (EDGES, NODES, {"features": ["size"]}, r"nodes\.csv, column 'size': no such column"),
        (
            EDGES.replace("2.5", "lots"),
            NODES,
            {"weight": "weight"},
            r"edges\.csv, row 3, column 'weight': .*'lots'",
        ),
        (
            EDGES.replace("2.5", ""),
            NODES,
            {"weight": "weight"},
            r"row 3, column 'weight': the weight is empty",
        ),
        (EDGES.replace("2.5", "-1"), NODES, {"weight": "weight"}, r"row 3, .*>= 0 .*got '-1'"),
        (EDGES.replace("2.5", "inf"), NODES, {"weight": "weight"}, r"row 3, .*finite"),
        (EDGES.replace("b,c", ",c"), NODES, {}, r"edges\.csv, row 3, column 'source': the id is empty"),
        (EDGES, NODES.replace("b,,", ",,"), {}, r"nodes\.csv, row 3, column 'id': the id is empty"),
        (EDGES, NODES.replace("c,y", "a,y"), {}, r"nodes\.csv, row 2, column 'id': the id 'a' is there more"),
        (EDGES, NODES.replace("2.5", "old"), {}, r"nodes\.csv, row 3, column 'age': 'old' is not a number"),
        (EDGES, NODES.replace("2.5", "1e99"), {}, r"nodes\.csv, row 3, column 'age': .*too large"),
        (EDGES, NODES.replace("4,true", "4,true,1,2"), {}, r"nodes\.csv, row 4: has 7 cells, the header 5"),
        ("", NODES, {}, r"edges\.csv: is empty"),
        ("source\na\n", NODES, {}, r"needs two columns"),
        (EDGES, "id,f\n", {}, r"nodes\.csv: has no rows"),
        (EDGES, NODES, {"node_id": "age", "label": "age"}, r"must differ"),
        (EDGES, NODES, {"source": "source", "target": "source"}, r"must differ"),
    ],
)
def test_a_bad_table_is_an_error_with_its_place(write, edges, nodes, options, message):
    with pytest.raises(TableError, match=message):
        from_tables(*write(edges, nodes), **options)


def test_bad_files_are_errors_that_name_them(tmp_path, write):
    edges, _ = write()
    for name, content in {
        "n.parquet": b"PAR1nonsense",
        "n.feather": b"ARROW1",
        "n.csv": b"id,f\n\xff\xfe,1\n",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(TableError, match=name):
            from_tables(edges, tmp_path / name)
    with pytest.raises(TableError, match="no such file"):
        from_tables(edges, tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="is a folder"):
        from_tables(edges, tmp_path / "folder.csv")
    with pytest.raises(TableError, match=r"suffix must be one of \.csv"):
        from_tables(edges, tmp_path / "nodes.xlsx")
    with pytest.raises(TypeError, match="nodes must be a path or a data frame, got list"):
        from_tables(edges, [1, 2])


def test_bad_options_name_the_choices(write):
    with pytest.raises(ValueError, match="missing must be one of 'error', 'mean', 'zero', got 'median'"):
        from_tables(*write(), missing="median")
    with pytest.raises(ValueError, match="both of source and target"):
        from_tables(*write(), source="source")
    with pytest.raises(TypeError, match="list of column names"):
        from_tables(*write(), features="age")


def test_a_glob_in_a_file_name_is_only_a_name(tmp_path):
    edges, nodes = frames([(0, 1)], 2)
    edges.write_parquet(tmp_path / "e[1]*.parquet")
    nodes.write_csv(tmp_path / "n[1]*.csv")
    assert from_tables(tmp_path / "e[1]*.parquet", tmp_path / "n[1]*.csv").num_edges == 2


def test_pandas_frames_are_taken_as_they_are():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    edges, nodes = frames([(0, 1), (1, 2)], 3)
    data = from_tables(
        pandas.DataFrame(edges.to_dict(as_series=False)), pandas.DataFrame(nodes.to_dict(as_series=False))
    )
    assert data.num_edges == 4
