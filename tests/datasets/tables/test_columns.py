"""The columns that are read when the user does not name them."""

import pytest

from gadc.datasets import FeaturePreparation, from_tables


@pytest.mark.parametrize("header", ["src,dst", "from,to", "Source,Target", "u,v"])
def test_usual_column_names_are_found(write, header):
    data = from_tables(*write(edges=f"{header}\na,b\n", nodes="node_id,f\na,1\nb,2\n"))
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]


def test_ends_are_found_by_name_before_position(write):
    data = from_tables(*write(edges="when,dst,src\n9,b,a\n", nodes="f,id\n1,a\n2,b\n"), directed=True)
    assert data.edge_index.tolist() == [[0], [1]]
    assert any("not used" in note and "'when'" in note for note in data.table_report.notes)


def test_excluded_columns_are_not_features_and_stay_out_in_the_recipe(write):
    tables = write(edges="source,target\na,b\n", nodes="id,f,g,y\na,1,5,x\nb,2,6,z\n")
    data = from_tables(*tables, exclude=["g", "y"])
    assert data.feature_names == ["f"]
    assert data.y is None  # an excluded column is not guessed to be the label
    assert data.table_report.left_out == {"g": "it is excluded", "y": "it is excluded"}
    stored = FeaturePreparation.from_dict(data.feature_preparation.to_dict())
    assert stored.exclude == ("g", "y")
    again = from_tables(*tables, preparation=stored)
    assert (again.feature_names, again.y) == (["f"], None)
    fewer = write(edges="source,target\na,b\n", nodes="id,f\na,1\nb,2\n")
    assert from_tables(*fewer, preparation=stored).feature_names == ["f"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exclude": ["h"]}, "column 'h': no such column"),
        ({"exclude": ["id"]}, "an excluded column must not be the id, the label or a named feature"),
        ({"exclude": ["g"], "features": ["g"]}, "column 'g': an excluded column must not be"),
        ({"exclude": ["g"], "label": "g"}, "column 'g': an excluded column must not be"),
    ],
)
def test_a_column_that_cannot_be_excluded_is_refused(write, settings, message):
    tables = write(edges="source,target\na,b\n", nodes="id,f,g\na,1,5\nb,2,6\n")
    with pytest.raises(ValueError, match=message):
        from_tables(*tables, **settings)


def test_a_preparation_refuses_to_exclude_its_columns(write):
    tables = write(edges="source,target\na,b\n", nodes="id,f,g\na,1,5\nb,2,6\n")
    known = from_tables(*tables).feature_preparation
    with pytest.raises(ValueError, match=r"exclude must not name a column .*, got 'g'"):
        from_tables(*tables, preparation=known, exclude=["g"])
    with pytest.raises(TypeError, match="exclude must be a list of column names, got the string 'g'"):
        from_tables(*tables, exclude="g")
