"""Products by dense blocks against torch's CSR and against dense matrices."""

import pytest
import torch

from gadc.operators import LinearOperator
from gadc.operators._torch import dense_blocks
from tests.helpers.patterns import KINDS, assert_products_equal_torch, make_pattern, sampled


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [torch.int32, torch.int64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [0, 1, 5, 37])
def test_products_equal_torch(kind, index, dtype, columns):
    assert_products_equal_torch(dense_blocks, kind, index, dtype, columns)


def test_products_in_blocks_smaller_than_the_matrix_equal_dense(monkeypatch):
    pattern = make_pattern("random")
    monkeypatch.setattr(dense_blocks, "_BLOCK_ENTRIES", 4 * pattern.num_cols)
    values, dense = torch.randn(pattern.nnz).double(), torch.randn(pattern.num_cols, 4).double()
    left = torch.randn(pattern.num_rows, 4).double()
    A = LinearOperator(pattern, values).to_dense()
    torch.testing.assert_close(dense_blocks.spmm(pattern, values, dense), A @ dense)
    torch.testing.assert_close(dense_blocks.spmm_transposed(pattern, values, left), A.T @ left)
    torch.testing.assert_close(dense_blocks.sddmm(pattern, left, dense), sampled(pattern, left, dense))


@pytest.mark.parametrize(
    ("kind", "columns", "expected"),
    [
        ("complete", 1, True),
        ("random", 512, True),  # 500 of 2,700 entries
        ("random", 511, False),
        ("one huge row", 512, False),
        ("empty", 512, False),
    ],
)
def test_blocks_pay_for_complete_patterns_and_for_many_columns(kind, columns, expected):
    assert dense_blocks.pays(make_pattern(kind), columns) is expected
