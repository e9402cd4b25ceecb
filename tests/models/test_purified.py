"""A purification in front of any model."""

import torch

from gadc.models import GADC, GCN, GCNJaccard, Purified
from gadc.transforms import Garnet, Jaccard
from tests.helpers.tiny import tiny_data

FEW = {"epochs": 5, "hidden": 8}


def _thinned():
    data = tiny_data()
    data.x = torch.where(data.x > 0.8, data.x, 0.0)
    return data


def test_the_named_model_is_the_combination():
    data = _thinned()
    combined = Purified(purifier=Jaccard(threshold=0.3), model=GCN(**FEW)).fit(data, seed=1)
    named = GCNJaccard(**FEW, threshold=0.3).fit(data, seed=1)
    assert torch.equal(combined.logits, named.logits)
    args = data.x, data.edge_index[:, :40], data.edge_weight[:40]
    assert torch.allclose(combined.scores(*args), named.scores(*args))


def test_in_front_of_another_model():
    data = tiny_data()
    step, model = Garnet(rank=5, neighbors=3), GADC(epochs=5)
    fitted = Purified(purifier=step, model=model).fit(data, seed=1)
    assert torch.equal(fitted.logits, model.fit(step(data), seed=1).logits)
    assert torch.allclose(fitted.scores(data.x, data.edge_index, data.edge_weight), fitted.logits)
