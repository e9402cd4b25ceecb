"""The probe of the gradient on models whose gradient is known to be right or wrong."""

import pytest
import torch

from gadc.models import make_model
from gadc.robustness.auditing import fit_of, probe_gradient
from tests.helpers import audit_models as models


def test_probe_gradient_confirms_the_gradient_of_gadc():
    data = models.graph(num_nodes=40)
    fit = fit_of(make_model("gadc", variant="IV", series="last", num_steps=2, epochs=20))
    probe = probe_gradient(fit(data, 0), data, torch.nonzero(data.test_mask).flatten())
    assert probe.edges_matter
    assert probe.slope == pytest.approx(probe.gradient_norm, rel=0.05)


def test_probe_gradient_exposes_a_wrong_gradient():
    data = models.graph(num_nodes=40)
    scores, nodes = models.honest(data, 0), torch.nonzero(data.test_mask).flatten()

    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(context, weight):
            return weight.clone()

        @staticmethod
        def backward(context, slope):
            return 3 * slope

    def lying(x, edge_index, edge_weight=None):
        return scores(x, edge_index, None if edge_weight is None else Tripled.apply(edge_weight))

    true, wrong = (probe_gradient(one, data, nodes) for one in (scores, lying))
    assert true.slope == pytest.approx(true.gradient_norm, rel=0.05)
    assert wrong.gradient_norm == pytest.approx(3 * true.gradient_norm)
    assert wrong.slope == pytest.approx(true.gradient_norm, rel=0.05)
