"""Diffusion and ridge head as one function: what it leaves out, and its gradient."""

import pytest
import torch

from gadc.datasets import csbm
from gadc.models import make_model
from gadc.models._closed_form import closed_form_scores
from gadc.models._training.ridge import ridge_scores, ridge_targets


def test_closed_form_scores_are_a_ridge_head_on_the_models_own_diffusion():
    data = csbm(60, num_features=4, seed=0)
    model = make_model("gadc", variant="IV+", neighbors=4, num_steps=2)
    rows = model.aggregate(data.x, data.edge_index)
    known = rows[data.train_mask]
    targets = ridge_targets(data.y[data.train_mask], 2, rows.dtype)
    expected = ridge_scores(known, rows, targets, 0.01 * float(known.square().sum()))
    found = model.through_training(data)(data.x, data.edge_index)
    assert torch.allclose(found, expected, atol=1e-5)


def test_closed_form_scores_pass_the_gradient_through_diffusion_and_training():
    data = csbm(40, num_features=4, seed=0)
    data.x = data.x.double()
    scores = make_model("s2gc", num_steps=2).through_training(data)
    weight = torch.ones(data.edge_index.shape[1], dtype=torch.float64)
    mirror = {tuple(pair): place for place, pair in enumerate(data.edge_index.T.tolist())}
    place = 3
    both = [place, mirror[tuple(data.edge_index[:, place].flip(0).tolist())]]

    def value(change):
        moved = weight.clone()
        moved[both] += change
        return scores(data.x, data.edge_index, moved)[data.test_mask].square().sum()

    moved = weight.clone().requires_grad_()
    total = scores(data.x, data.edge_index, moved)[data.test_mask].square().sum()
    (slope,) = torch.autograd.grad(total, moved)
    # η follows the size of the features and is held constant in the gradient.
    step = 1e-5
    found = float(value(step) - value(-step)) / (2 * step)
    assert abs(found - float(slope[both].sum())) < 0.05 * abs(found) + 1e-4


def test_closed_form_scores_need_a_labelled_training_node():
    data = csbm(40, num_features=4, seed=0)
    data.train_mask[:] = False
    with pytest.raises(ValueError, match="train_mask must name at least one node"):
        closed_form_scores(data, data.x, lambda *edges: lambda rows: rows)
