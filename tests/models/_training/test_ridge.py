"""Ridge regression in closed form against its definition, in both shapes."""

import pytest
import torch

from gadc.models._training.ridge import kernel_scores, ridge_scores, ridge_smoother, ridge_targets


def dense(known, rows, targets, penalty):
    gram = known.T @ known + penalty * torch.eye(known.shape[1], dtype=known.dtype)
    return rows @ torch.linalg.inv(gram) @ known.T @ targets


@pytest.mark.parametrize("labelled", [3, 12])
def test_ridge_scores_equal_the_definition_in_both_shapes(labelled):
    rows = torch.randn(20, 6, dtype=torch.float64)
    known, targets = rows[:labelled], ridge_targets(torch.arange(labelled) % 3, 3, torch.float64)
    expected = dense(known, rows, targets, 0.3)
    assert torch.allclose(ridge_scores(known, rows, targets, 0.3), expected)
    assert torch.allclose(ridge_smoother(known, rows, 0.3) @ targets, expected)


@pytest.mark.parametrize("labelled", [2, 5])
def test_ridge_scores_pass_exact_gradients_through_training(labelled):
    rows = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    targets = ridge_targets(torch.arange(labelled) % 2, 2, torch.float64)
    assert torch.autograd.gradcheck(lambda f: ridge_scores(f[:labelled], f, targets, 0.5), (rows,))


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan")])
def test_ridge_scores_refuse_a_penalty_that_is_not_positive(penalty):
    rows = torch.eye(3)
    with pytest.raises(ValueError, match=r"ridge_scores: penalty must be"):
        ridge_scores(rows, rows, rows, penalty)


def test_kernel_scores_equal_the_definition():
    rows = torch.randn(20, 6, dtype=torch.float64)
    known, targets = rows[:5], ridge_targets(torch.arange(5) % 3, 3, torch.float64)
    gram = torch.exp(-torch.cdist(rows, known).square() / 2)
    eye = torch.eye(5, dtype=torch.float64)
    expected = gram @ torch.linalg.inv(gram[:5] + 0.3 * eye) @ targets
    assert torch.allclose(kernel_scores(known, rows, targets, 0.3), expected)
