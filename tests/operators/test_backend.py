"""Which back end computes a product: the rule, its exceptions, and the explicit choice."""

import pytest
import torch

from gadc.operators import use_backend, uses_numba

LARGE = 1 << 30
ONE = torch.ones(1)


@pytest.fixture(autouse=True)
def _no_choice(monkeypatch):
    monkeypatch.delenv("GADC_BACKEND", raising=False)
    with use_backend(None):
        yield


@pytest.mark.parametrize(
    ("multiplications", "columns", "expected"),
    [
        ((1 << 22) - 1, None, False),
        (1 << 22, None, True),
        ((1 << 22) - 1, 128, False),
        (1 << 22, 16, True),
        (LARGE, 8, True),
        (LARGE, 15, False),
        (LARGE, 1, False),
    ],
)
def test_numba_takes_large_products_with_enough_columns(multiplications, columns, expected):
    assert uses_numba(multiplications, ONE, ONE, columns=columns) is expected
    assert uses_numba(multiplications, ONE.double(), columns=columns) is expected


@pytest.mark.parametrize(
    "operands",
    [
        (ONE.half(),),
        (ONE.bfloat16(),),
        (torch.ones(1, device="meta"),),
        (ONE, ONE.double()),
    ],
    ids=["float16", "bfloat16", "other device", "two types"],
)
def test_numba_never_takes_other_types_and_devices(operands):
    assert not uses_numba(LARGE, *operands)
    with use_backend("numba"):
        assert not uses_numba(LARGE, *operands)


def test_explicit_choice_overrides_the_rule(monkeypatch):
    monkeypatch.setenv("GADC_BACKEND", "numba")
    assert uses_numba(1, ONE, columns=1)
    with use_backend("torch"):
        assert not uses_numba(LARGE, ONE)
        with use_backend("numba"):
            assert uses_numba(1, ONE)
        assert not uses_numba(LARGE, ONE)
    use_backend("torch")
    assert not uses_numba(LARGE, ONE)
    use_backend(None)
    assert uses_numba(1, ONE)


def test_unknown_backend_is_named(monkeypatch):
    with pytest.raises(ValueError, match=r"use_backend: .* one of torch, numba, got 'fortran'"):
        use_backend("fortran")
    monkeypatch.setenv("GADC_BACKEND", "fortran")
    with pytest.raises(ValueError, match=r"GADC_BACKEND: .* one of torch, numba, got 'fortran'"):
        uses_numba(1, ONE)
