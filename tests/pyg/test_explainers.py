"""What PyG's explainers can do with the layer, as the guide says."""

import pytest
import torch
from torch_geometric.explain import Explainer, GNNExplainer

from gadc.pyg import GADCNet
from tests.helpers.tiny import tiny_data

CONFIG = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}


def _explainer(**masks):
    data = tiny_data()
    torch.manual_seed(0)
    net = GADCNet(data.num_features, 3, hidden=4, variant="plain")
    algorithm = GNNExplainer(epochs=3)
    return data, net, Explainer(net, algorithm, explanation_type="model", model_config=CONFIG, **masks)


def test_masks_over_features_work():
    data, _, explain = _explainer(node_mask_type="attributes")
    mask = explain(data.x, data.edge_index, index=4).node_mask
    assert mask.shape == data.x.shape
    assert bool((mask > 0).any())


def test_masks_over_edges_are_refused_and_gradients_serve():
    data, net, explain = _explainer(edge_mask_type="object")
    with pytest.raises(ValueError, match="message passing"):
        explain(data.x, data.edge_index, index=4)
    weight = torch.ones(data.edge_index.shape[1], requires_grad=True)
    (influence,) = torch.autograd.grad(net.eval()(data.x, data.edge_index, weight)[4].max(), weight)
    ends = data.edge_index[:, influence.abs().argmax()].tolist()
    assert bool((influence != 0).any())
    assert len(ends) == 2
