"""Training for certificates: worst leads are the certificates', and training raises them."""

import numpy as np
import pytest
import torch
from scipy import sparse

from gadc.datasets import csbm
from gadc.robustness.certificates import (
    LinearDiffusion,
    LocalFlips,
    RobustTraining,
    certify_edges,
    train_certified,
)
from gadc.robustness.certificates._rows import Rows
from gadc.robustness.certificates._training import _worst_influence, worst_leads

THREAT = LocalFlips(mode="remove", budgets=[2])


def _start(data, lam=4.0):
    edges = sparse.csr_array(
        (np.ones(data.edge_index.shape[1]), tuple(data.edge_index.numpy())), shape=(data.num_nodes,) * 2
    )
    fixed = sparse.csr_array(np.eye(data.num_nodes))
    return LinearDiffusion(scores=data.x[:, :2].double().numpy(), edges=edges, fixed=fixed, lam=lam)


@pytest.fixture
def data():
    return csbm(40, homophily=0.85, mean_degree=5, num_features=6, seed=1)


def test_worst_leads_are_the_worst_margins_of_the_certificate(data):
    diffusion, nodes = _start(data), torch.arange(40)
    labels = torch.from_numpy(diffusion.diffused().argmax(1))
    rows = Rows(diffusion, "remove")
    held = _worst_influence(diffusion, rows, labels, nodes, np.full(40, 2))
    lead = worst_leads(torch.from_numpy(diffusion.scores), labels, held)
    found = certify_edges(diffusion, labels, nodes, THREAT).margins[0]
    torch.testing.assert_close(-lead[nodes, 1 - labels], found, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("loss", ["cross-entropy", "hinge"])
def test_training_for_certificates_raises_the_worst_margins_of_training_nodes(data, loss):
    nodes = torch.nonzero(data.train_mask).flatten()

    def worst(epochs):
        training = RobustTraining(loss=loss, epochs=epochs, clean_epochs=60, refresh=5)
        trained = train_certified(_start(data), data.x, data.y, nodes, THREAT, training)
        found = certify_edges(trained, data.y, nodes, THREAT)
        own = torch.where(found.correct, found.margins[0], -1.0)
        return float(own.mean())

    assert worst(60) > worst(0)


def test_training_for_certificates_requires_the_converged_series(data):
    start = _start(data)
    finite = LinearDiffusion(scores=start.scores, edges=start.edges, fixed=start.fixed, theta=(0.5, 0.5))
    with pytest.raises(ValueError, match="train_certified: diffusion must have lam"):
        train_certified(finite, data.x, data.y, torch.arange(3), THREAT)
