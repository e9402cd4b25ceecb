"""Sparse matrices of SciPy as CSR tensors, and back."""

import numpy as np
import torch
from scipy import sparse

from gadc._base.csr import from_csr_tensor, is_worth_csr, to_csr_tensor


def test_csr_tensor_has_the_entries_of_the_matrix():
    matrix = sparse.random_array((20, 30), density=0.1, random_state=np.random.default_rng(0))
    tensor = to_csr_tensor(matrix)
    assert (tensor.layout, tensor.dtype) == (torch.sparse_csr, torch.float32)
    np.testing.assert_array_equal(tensor.to_dense().numpy(), matrix.toarray().astype(np.float32))
    assert (from_csr_tensor(tensor) != matrix.astype(np.float32)).nnz == 0


def test_csr_tensor_of_repeated_and_unsorted_entries_is_valid():
    matrix = sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3)
    )
    tensor = to_csr_tensor(matrix)
    assert tensor.col_indices().tolist() == [0, 2]
    assert tensor.values().tolist() == [2.0, 4.0]
    assert matrix.indices.tolist() == [2, 0, 2], "the input is not changed"


def test_csr_tensor_of_read_only_memory_can_be_written_to():
    matrix = sparse.csr_array(np.eye(3, dtype=np.float32))
    matrix.data.flags.writeable = False
    to_csr_tensor(matrix).values().zero_()
    assert matrix.data.tolist() == [1.0, 1.0, 1.0]


def test_csr_is_worth_it_up_to_one_entry_in_nine():
    matrix = sparse.csr_array(np.eye(9))
    assert is_worth_csr(matrix)
    assert not is_worth_csr(matrix[:8, :8])
