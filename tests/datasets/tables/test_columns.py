"""The columns that are read when the user does not name them."""

import pytest

from gadc.datasets import from_tables


@pytest.mark.parametrize("header", ["src,dst", "from,to", "Source,Target", "u,v"])
def test_usual_column_names_are_found(write, header):
    data = from_tables(*write(edges=f"{header}\na,b\n", nodes="node_id,f\na,1\nb,2\n"))
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]


def test_ends_are_found_by_name_before_position(write):
    data = from_tables(*write(edges="when,dst,src\n9,b,a\n", nodes="f,id\n1,a\n2,b\n"), directed=True)
    assert data.edge_index.tolist() == [[0], [1]]
    assert any("not used" in note and "'when'" in note for note in data.table_report.notes)
