"""Scores map to few columns before they diffuse; that changes nothing but the cost."""

import pytest
import torch

from gadc.diffusion import VARIANTS
from gadc.models import GADC, S2GC
from tests.helpers.tiny import tiny_data

SHORT = {"num_steps": 3, "epochs": 5, "normalize": "l1"}
MODELS = [
    *(
        GADC(variant=variant, lam=2.0, head=head, series=series, **SHORT)
        for variant in VARIANTS
        for head in ("linear", "mlp")
        for series in ("neumann", "last")
    ),
    GADC(lam=0.0, **SHORT),
    S2GC(**SHORT),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_scores_are_the_head_of_the_diffused_features(model):
    data = tiny_data(dtype=torch.float64)
    fitted = model.fit(data, seed=1)
    graph = data.x, data.edge_index, data.edge_weight
    with torch.no_grad():
        expected = fitted.module(model.aggregate(*graph))
        assert torch.allclose(fitted.scores(*graph), expected)
        assert torch.allclose(fitted.logits, expected)


def test_dropout_acts_on_the_diffused_features_in_training_mode():
    model = GADC(variant="IV", lam=1.0, dropout=0.5, **SHORT)
    data = tiny_data()
    fitted = model.fit(data, seed=1)
    fitted.module.train()
    with torch.no_grad():
        torch.manual_seed(0)
        found = fitted.scores(data.x, data.edge_index, data.edge_weight)
        torch.manual_seed(0)
        expected = fitted.module(model.aggregate(data.x, data.edge_index, data.edge_weight))
    assert torch.equal(found, expected)
