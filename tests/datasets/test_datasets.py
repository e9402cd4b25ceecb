"""The interface of `gadc.datasets`."""

import pytest

import gadc.datasets
from gadc.datasets import GENERATORS, csbm, digits, power_law


def test_generators_are_found_by_name():
    assert {"csbm": csbm, "digits": digits, "power_law": power_law} == GENERATORS


def test_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'gadc\.datasets' has no attribute 'cora'"):
        _ = gadc.datasets.cora
