"""Proximal steps against their definition as minimisers; the followed decomposition against the full one."""

import pytest
import torch

from gadc.models.proximal import SymmetricThreshold, soft_threshold, threshold_singular_values


def _random(n, m, seed=0):
    return torch.randn(n, m, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def _nuclear(matrix):
    return torch.linalg.matrix_norm(matrix, "nuc")


@pytest.mark.parametrize(
    ("prox", "norm"),
    [(soft_threshold, lambda matrix: matrix.abs().sum()), (threshold_singular_values, _nuclear)],
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
    before, after = (torch.linalg.svdvals(m) for m in (given, threshold_singular_values(given, 0.7)))
    assert torch.allclose(after, (before - 0.7).clamp(min=0))


def _symmetric(rank, n=150):
    basis = torch.linalg.qr(_random(n, rank)).Q
    values = torch.linspace(1.0, 6.0, rank, dtype=torch.float64) * (-1.0) ** torch.arange(rank)
    return (basis * values) @ basis.T


def test_a_matrix_of_full_rank_is_decomposed():
    given = _random(20, 20)
    given = given + given.T
    assert torch.allclose(SymmetricThreshold(0.7)(given), threshold_singular_values(given, 0.7))


def test_following_gives_what_a_full_decomposition_gives(monkeypatch):
    step = SymmetricThreshold(0.5)
    given = _symmetric(10)
    step(given)
    monkeypatch.setattr(torch.linalg, "eigh", _small_only(torch.linalg.eigh))
    for seed in range(3):
        noise = _random(150, 150, seed)
        given = given + 0.003 * (noise + noise.T)
        assert torch.allclose(step(given), threshold_singular_values(given, 0.5), atol=1e-5)


def _small_only(eigh):
    def guarded(matrix):
        assert len(matrix) < 100, "decomposed in full"
        return eigh(matrix)

    return guarded


def test_what_was_not_followed_is_noticed():
    step = SymmetricThreshold(0.5)
    step(_symmetric(3))
    new = _symmetric(60)  # more directions than are followed
    assert torch.allclose(step(new), threshold_singular_values(new, 0.5), atol=1e-5)


def test_a_growing_rank_is_not_followed():
    step = SymmetricThreshold(0.5)
    step(_symmetric(3))
    assert step.basis.shape[1] == 35
    step(_symmetric(60))
    assert step.basis is None
    step(_symmetric(60))
    assert step.basis.shape[1] == 92
