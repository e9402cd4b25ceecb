"""HANG with coupled halves: its flow is that of its energy, which a symplectic step keeps."""

import pytest
import torch

from gadc.models import HANG, HamiltonianFlow
from tests.helpers import dense
from tests.helpers.edge_gradient import check_edge_gradient, check_no_edge
from tests.helpers.graphs import random_graph

FEW = {"epochs": 3, "hidden": 8, "num_steps": 2}
GRAPH = random_graph(12, 25, 4, weighted=True)
OPERATOR = HANG().graph(*GRAPH.args)


def _start():
    generator = torch.Generator().manual_seed(2)
    return torch.randn(2, 12, 4, generator=generator, dtype=torch.float64)


def _flow(**settings):
    torch.manual_seed(0)
    return HamiltonianFlow(4, **settings).double()


def _drift(step, friction=0.0):
    """Largest change of the energy on the way to time 4, by steps of that size."""
    flow = _flow(step=step, friction=friction)
    q, p = _start()
    with torch.no_grad():
        energies = [float(flow.energy(q, p, OPERATOR))]
        for _ in range(round(4 / step)):
            q, p = flow(q, p, OPERATOR, 1)
            energies.append(float(flow.energy(q, p, OPERATOR)))
    return max(abs(one - energies[0]) for one in energies), energies


def test_energy_is_kept_to_second_order():
    coarse, middle, fine = (_drift(step)[0] for step in (0.1, 0.05, 0.025))
    assert 3 < coarse / middle < 5
    assert 3 < middle / fine < 5


def test_friction_takes_energy_away():
    drift, energies = _drift(0.05, friction=0.5)
    assert energies[-1] < energies[0]
    assert drift > 10 * _drift(0.05)[0]


def test_flow_follows_the_slopes_of_the_energy():
    """A tiny step is (∂H/∂p, -∂H/∂q) times its size: both halves act on each other."""
    size = 1e-5
    flow = _flow(step=size)
    q, p = (part.requires_grad_() for part in _start())
    by_q, by_p = torch.autograd.grad(flow.energy(q, p, OPERATOR), (q, p))
    after_q, after_p = flow(q, p, OPERATOR, 1)
    assert torch.allclose((after_q - q) / size, by_p, atol=1e-4)
    assert torch.allclose((after_p - p) / size, -by_q, atol=1e-4)
    S = dense.normalized(GRAPH.A)
    assert torch.allclose(by_p, S @ S @ p)


def test_steps_can_be_taken_back():
    """Leapfrog is reversible: with the momentum turned round it returns to where it began."""
    flow = _flow(step=0.3)
    q, p = _start()
    with torch.no_grad():
        far_q, far_p = flow(q, p, OPERATOR, 5)
        back_q, back_p = flow(far_q, -far_p, OPERATOR, 5)
    assert not torch.allclose(far_q, q, atol=0.1)
    assert torch.allclose(back_q, q)
    assert torch.allclose(-back_p, p)


def test_energy_is_the_dense_formula():
    flow = _flow(step=0.1)
    q, p = _start()
    S = dense.normalized(GRAPH.A)
    expected = (S @ p).square().sum() / 2 + torch.log(torch.cosh(flow.linear(S @ q))).sum()
    assert torch.allclose(flow.energy(q, p, OPERATOR), expected)


def test_gradient_in_the_edge_weights():
    check_edge_gradient(HANG(**FEW))


def test_an_edge_of_weight_zero_is_no_edge():
    check_no_edge(HANG(**FEW))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_steps": -1}, "HANG: num_steps must be a whole number >= 0, got -1"),
        ({"step": 0.0}, "HANG: step must be finite and > 0, got 0.0"),
        ({"friction": -0.1}, "HANG: friction must be finite and >= 0, got -0.1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        HANG(**settings)
