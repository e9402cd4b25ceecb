"""The features that candidates read."""

import pytest
import torch

from gadc.diffusion import Plain
from gadc.models._fast.sparse_features import SparseFeatures
from gadc.models.auto._features import FeatureMap, identity, is_identity, len_columns, read_sparse, to_dense
from tests.helpers.auto_graphs import easy_graph


def _words(num_nodes=40, num_words=80):
    """Return rows of three words each."""
    generator = torch.Generator().manual_seed(0)
    x = torch.zeros(num_nodes, num_words)
    for row in x:
        row[torch.randperm(num_words, generator=generator)[:3]] = torch.tensor([1.0, 2.0, 3.0])
    return x


def test_columns_in_different_units_are_centred_scaled_and_cut_off():
    x = torch.randn(50, 3) * torch.tensor([1.0, 1000.0, 0.01]) + 5
    x[0, 0] = 1e6
    rows = FeatureMap.fitted(x, None, 128, seed=0)(x)
    assert torch.allclose(rows[1:, 1:].mean(0), torch.zeros(2), atol=0.3)
    assert torch.allclose(rows[:, 1:].std(0), torch.ones(2), atol=1e-4)
    assert float(rows.abs().max()) <= 10


def test_columns_in_one_unit_are_left_as_they_are():
    x = torch.randn(50, 3)
    found = FeatureMap.fitted(x, None, 128, seed=0)
    assert not found.standardize
    assert torch.equal(found(x), x)


def test_a_constant_column_does_not_become_infinite():
    x = torch.randn(30, 2) * torch.tensor([1.0, 100.0])
    x[:, 0] = 7.0
    found = FeatureMap.fitted(x, None, 128, seed=0)
    assert bool(torch.isfinite(found(x)).all())


def test_rows_of_words_have_length_one():
    x = _words()
    x[3] = 0
    found = FeatureMap.fitted(read_sparse(x), None, 128, seed=0)
    assert found.unit_rows
    norms = found(read_sparse(x)).norm(dim=1)
    expected = torch.ones(40)
    expected[3] = 0
    assert torch.allclose(norms, expected, atol=1e-6)


def test_sparse_features_give_the_same_rows_as_dense_ones():
    x = _words()
    sparse = read_sparse(x)
    assert isinstance(sparse, SparseFeatures)
    found = FeatureMap.fitted(sparse, None, 16, seed=0)
    assert torch.allclose(found(sparse), found(x), atol=1e-5)
    assert torch.equal(to_dense(read_sparse(x.to_sparse_csr())), x)


def test_wide_features_are_projected_on_an_orthonormal_basis():
    x = _words()
    sparse = read_sparse(x)
    found = FeatureMap.fitted(sparse, None, 16, seed=0)
    assert torch.allclose(found.basis.T @ found.basis, torch.eye(16), atol=1e-5)
    unit = x / x.norm(dim=1, keepdim=True)
    assert torch.allclose(found(sparse), unit @ found.basis, atol=1e-5)


def test_the_basis_holds_the_leading_directions():
    """Compare with the singular value decomposition of a matrix of rank 3."""
    x = torch.randn(40, 3) @ torch.randn(3, 80)
    found = FeatureMap.fitted(x, None, 4, seed=0)
    kept = found(x) @ found.basis.T
    assert torch.allclose(kept, found.prepared(x), atol=1e-3)


def test_half_of_the_basis_follows_the_smoothed_features():
    """Hide a signal that edges carry under noise in one direction after another."""
    data = easy_graph(80, num_features=70, signal=1.5, homophily=0.95, mean_degree=12.0)
    plain = Plain(self_loops=1.0)(data.x, data.edge_index)
    smooth = data.x
    for _ in range(2):
        smooth = plain @ smooth
    without = FeatureMap.fitted(data.x, None, 8, seed=0).basis
    with_graph = FeatureMap.fitted(data.x, plain, 8, seed=0).basis
    assert (smooth @ with_graph).norm() > (smooth @ without).norm()


def test_identity_features_are_recognised():
    assert is_identity(identity(5))
    assert len_columns(identity(5)) == 5
    assert torch.equal(to_dense(identity(3)), torch.eye(3))
    assert not is_identity(read_sparse(_words()))
    assert not is_identity(torch.eye(3))


def test_features_with_a_gradient_stay_dense():
    assert read_sparse(_words().requires_grad_()).requires_grad


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_features_are_read_in_single_precision(dtype):
    assert read_sparse(torch.ones(3, 2, dtype=dtype)).dtype == torch.float32
