"""Two node tables: ids that collide, features and labels on one side or both, hostile tables."""

import polars as pl
import pytest

from gadc.datasets import TableError, from_bipartite_tables

USERS = pl.DataFrame(
    {"id": [1, 2, 3], "age": [31, 27, 45], "size": [1.0, 2.0, 3.0], "label": ["x", None, "y"]}
)
ITEMS = pl.DataFrame({"id": [1, 2], "price": [9.5, 3.0], "size": [7.0, 8.0]})
BOUGHT = pl.DataFrame({"user": [1, 2, 3], "item": [2, 1, 1]})


def test_colliding_ids_and_columns_are_kept_apart():
    data = from_bipartite_tables(BOUGHT, USERS, ITEMS)
    assert data.node_ids == ["left:1", "left:2", "left:3", "right:1", "right:2"]
    assert data.feature_names == ["is right", "age", "size", "price", "size (right)"]
    assert data.x[0].tolist() == [0, 31, 1, 0, 0]
    assert data.x[3].tolist() == [1, 0, 0, 9.5, 7]
    assert data.y.tolist() == [0, -1, 1, -1, -1]
    pairs = {tuple(pair) for pair in data.edge_index.T.tolist()}
    assert pairs == {(0, 4), (4, 0), (1, 3), (3, 1), (2, 3), (3, 2)}


def test_text_files_read_as_frames_and_labels_on_both_sides(tmp_path):
    for name, frame in (("u", USERS), ("i", ITEMS.with_columns(label=pl.Series(["y", "x"]))), ("e", BOUGHT)):
        frame.write_csv(tmp_path / f"{name}.csv")
    paths = [tmp_path / f"{name}.csv" for name in ("e", "u", "i")]
    data, frames = from_bipartite_tables(*paths), from_bipartite_tables(BOUGHT, USERS, ITEMS)
    assert data.node_ids == frames.node_ids
    assert data.feature_names == frames.feature_names
    assert (data.x == frames.x).all()
    assert data.y.tolist() == [0, -1, 1, 1, 0]


def test_text_columns_and_a_side_without_features():
    named = USERS.with_columns(pet=pl.Series(["cat", "dog", "cat"]))
    data = from_bipartite_tables(BOUGHT, named, ITEMS.select("id"), categorical="onehot")
    assert data.feature_names == ["is right", "age", "size", "pet=cat", "pet=dog", "pet=none"]
    assert data.x[3].tolist() == [1, 0, 0, 0, 0, 1]


def test_the_preparation_reads_other_tables_alike():
    known = from_bipartite_tables(BOUGHT, USERS, ITEMS).feature_preparation
    data = from_bipartite_tables(BOUGHT[:1], USERS[:1], ITEMS[1:], preparation=known)
    assert data.x.tolist() == [[0, 31, 1, 0, 0], [1, 0, 0, 3, 8]]


def test_the_preparation_remembers_both_columns_of_ids():
    users, items = (frame.select(pl.all().exclude("id"), key="id") for frame in (USERS, ITEMS))
    known = from_bipartite_tables(BOUGHT, users, items, left_id="key", right_id="key").feature_preparation
    data = from_bipartite_tables(BOUGHT, users, items, preparation=known)
    assert data.node_ids == ["left:1", "left:2", "left:3", "right:1", "right:2"]


def test_columns_are_excluded_by_their_names_in_the_result():
    data = from_bipartite_tables(BOUGHT, USERS, ITEMS, exclude=["age", "size (right)"])
    assert data.feature_names == ["is right", "size", "price"]


def test_directed_edges_lead_from_left_to_right():
    data = from_bipartite_tables(BOUGHT, USERS, ITEMS, directed=True)
    assert sorted(data.edge_index.T.tolist()) == [[0, 4], [1, 3], [2, 3]]


def test_hostile_tables_are_refused():
    with pytest.raises(TableError, match="1 of 1 edges have an end that is not in the node table"):
        from_bipartite_tables(pl.DataFrame({"user": [1], "item": [3]}), USERS, ITEMS)  # 3 is a user only
    with pytest.raises(TableError, match="'right:1' occurs more than once"):
        from_bipartite_tables(BOUGHT, USERS, pl.concat([ITEMS, ITEMS[:1]]))
    with pytest.raises(TableError, match="at least one row"):
        from_bipartite_tables(BOUGHT, USERS, ITEMS.clear())
    with pytest.raises(TableError, match="no such column"):
        from_bipartite_tables(BOUGHT, USERS, ITEMS, label="kind")
    with pytest.raises(ValueError, match="unknown must not be given, got 'add'"):
        from_bipartite_tables(BOUGHT, USERS, ITEMS, unknown="add")
    with pytest.raises(ValueError, match="sides must be two different names"):
        from_bipartite_tables(BOUGHT, USERS, ITEMS, sides=("a", "a"))
