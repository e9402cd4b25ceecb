"""Proximal steps against their definition as minimisers; the followed decomposition against the full one."""

import pytest
import torch

from gadc.models._proximal import SingularThreshold, SymmetricThreshold, soft_threshold
from tests.helpers.dense import threshold_singular_values

KINDS = pytest.mark.parametrize("kind", [SingularThreshold, SymmetricThreshold])


def _random(n, m, seed=0):
    return torch.randn(n, m, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _nuclear(matrix):
    return torch.linalg.matrix_norm(matrix, "nuc")


@pytest.mark.parametrize(
    ("prox", "norm"),
    [
        (soft_threshold, lambda matrix: matrix.abs().sum()),
        (lambda matrix, threshold: SingularThreshold(threshold)(matrix), _nuclear),
    ],
)
def test_no_point_is_better(prox, norm):
    given = _random(6, 5)
    found = prox(given, 0.7)

    def objective(point):
        return 0.5 * (point - given).norm() ** 2 + 0.7 * norm(point)

    for seed in range(1, 40):
        for size in (1e-3, 0.1, 1.0):
            assert objective(found) < objective(found + size * _random(6, 5, seed))


def test_entries_move_closer_to_zero():
    found = soft_threshold(torch.tensor([-2.0, -0.5, 0.0, 0.5, 2.0]), 1.0)
    assert found.tolist() == [-1.0, 0.0, 0.0, 0.0, 1.0]


def test_singular_values_move_closer_to_zero():
    given = _random(6, 5)
    before, after = (torch.linalg.svdvals(m) for m in (given, SingularThreshold(0.7)(given)))
    assert torch.allclose(after, (before - 0.7).clamp(min=0))


def _low_rank(kind, rank, n=150):
    left, right = (torch.linalg.qr(_random(n, rank, seed)).Q for seed in (0, 1))
    values = torch.linspace(1.0, 6.0, rank, dtype=torch.float64)
    if kind is SymmetricThreshold:
        return (left * values * (-1.0) ** torch.arange(rank)) @ left.T
    return (left * values) @ right.T


def _noise(kind, n=150, seed=0):
    noise = _random(n, n, seed)
    return noise + noise.T if kind is SymmetricThreshold else noise


@KINDS
def test_a_matrix_of_full_rank_is_decomposed(kind):
    given = _noise(kind, 20)
    assert torch.allclose(kind(0.7)(given), threshold_singular_values(given, 0.7))


@KINDS
def test_following_gives_what_a_full_decomposition_gives(kind, monkeypatch):
    step = kind(0.5)
    given = _low_rank(kind, 10)
    step(given)
    monkeypatch.setattr(step, "_decomposed", None)  # calling it fails
    for seed in range(3):
        given = given + 0.003 * _noise(kind, seed=seed)
        assert torch.allclose(step(given), threshold_singular_values(given, 0.5), atol=1e-5)


@KINDS
def test_what_was_not_followed_is_noticed(kind):
    step = kind(0.5)
    step(_low_rank(kind, 3))
    new = _low_rank(kind, 60)  # more directions than are followed
    assert torch.allclose(step(new), threshold_singular_values(new, 0.5), atol=1e-5)


@KINDS
def test_a_growing_rank_is_not_followed(kind):
    step = kind(0.5)
    step(_low_rank(kind, 3))
    assert step.basis.shape[1] == 35
    step(_low_rank(kind, 60))
    assert step.basis is None
    step(_low_rank(kind, 60))
    assert step.basis.shape[1] == 92
