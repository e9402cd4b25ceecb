"""Labels of every type."""

import pytest

from gadc.datasets import TableError, from_tables
from tests.helpers.tables import frames


def read(values, **options):
    return from_tables(*frames([(0, 1)], len(values), label=values), **options)


def test_whole_number_labels_are_sorted_as_numbers():
    data = read([10, 9, None, 10])
    assert data.class_names == [9, 10]
    assert data.y.tolist() == [1, 0, -1, 1]


def test_boolean_and_text_labels_are_names():
    assert read([True, False, None]).class_names == ["false", "true"]
    assert read(["b", " ", "a"]).y.tolist() == [1, -1, 0]


def test_float_labels_must_be_whole_numbers():
    floats = read([1.0, float("nan"), 3.0])
    assert (floats.class_names, floats.y.tolist()) == ([1, 3], [0, -1, 1])
    assert any("whole" in note for note in floats.table_report.notes)
    with pytest.raises(TableError, match=r"row 2, column 'label': .*whole number, got 0\.5"):
        read([1.0, 0.5])


def test_label_minus_one_is_a_class_and_noted():
    assert any("-1" in note for note in read([-1, 1]).table_report.notes)


def test_label_column_can_be_named_as_a_feature():
    named = read([1, 0], features=["label"])
    assert named.y is None
    assert named.feature_names == ["label"]
