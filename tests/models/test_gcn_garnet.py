"""GCN-GARNET is a GCN on the rebuilt graph."""

import pytest
import torch

from gadc.models import GCN, GCNGarnet
from gadc.transforms import Garnet
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8, "num_layers": 3}


@pytest.mark.parametrize("features", [False, True])
def test_it_is_the_step_and_then_a_gcn(features):
    data = tiny_data()
    step = {"rank": 5, "neighbors": 4, "threshold": 0.01, "features": features}
    fitted = GCNGarnet(**FEW, **step).fit(data, seed=1)
    pure = Garnet(**step)(data)
    assert pure.num_edges > 0
    assert torch.equal(fitted.logits, GCN(**FEW).fit(pure, seed=1).logits)


def test_it_declares_that_edge_weights_have_no_gradient():
    data = tiny_data()
    weight = data.edge_weight.clone().requires_grad_()
    assert not GCNGarnet.differentiable
    assert not GCNGarnet(rank=3).graph(data.x, data.edge_index, weight).requires_grad


def test_bad_settings():
    with pytest.raises(ValueError, match="Garnet: neighbors must be a whole number >= 1, got 0"):
        GCNGarnet(neighbors=0)
