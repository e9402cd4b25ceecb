"""Every attack on random tiny graphs gives valid flips within its budget, or raises ValueError."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

from gadc.diffusion._graph import adjacency
from gadc.robustness.attacks import ATTACKS, Rules, make_attack
from gadc.robustness.auditing._validity import is_valid_attack

QUICK = {
    "fga": {"flips_per_step": 2},
    "pgd": {"num_steps": 3, "num_samples": 3},
    "min-max": {"num_steps": 3, "num_samples": 3, "refit_every": 2},
    "prbcd": {"num_steps": 3, "num_samples": 3, "block_size": 50},
    "grbcd": {"num_steps": 3, "block_size": 50},
    "metattack": {"num_steps": 3, "flips_per_step": 2},
}


def smooth(x, edge_index, edge_weight=None):
    """Compute the scores X + A X, one column per feature."""
    return x + adjacency(edge_index, edge_weight, len(x), dtype=x.dtype) @ x


def blind(x, edge_index, edge_weight=None):
    """Compute scores that do not depend on the edges."""
    return x


@st.composite
def graphs(draw):
    """Make a graph of 1 to 7 nodes: isolated and unlabelled nodes, one class, zero features, weights."""
    n = draw(st.integers(1, 7))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    chance = draw(st.sampled_from([0.0, 0.4, 1.0]))
    pairs = (torch.rand(n, n, generator=generator) < chance).triu(1).nonzero().T
    num_classes = draw(st.integers(1, 3))
    lowest = draw(st.sampled_from([-1, 0]))
    x = torch.rand(n, 3, generator=generator) * draw(st.sampled_from([0.0, 1.0, 1e-20, 1e20]))
    mask = torch.rand(3, n, generator=generator) < 0.6
    data = Data(
        x=x,
        edge_index=to_undirected(pairs, num_nodes=n),
        y=torch.randint(lowest, num_classes, (n,), generator=generator),
        train_mask=mask[0],
        val_mask=mask[1],
        test_mask=mask[2],
    )
    if draw(st.booleans()):
        weight = torch.rand(n, n, generator=generator) * draw(st.sampled_from([0.0, 1.0, 1e6]))
        data.edge_weight = (weight + weight.T)[data.edge_index[0], data.edge_index[1]]
    return data


def make(name):
    refit = {"refit": lambda graph: smooth} if name == "min-max" else {}
    return make_attack(name, **QUICK.get(name, {}), **refit)


REQUESTS = {
    "data": graphs(),
    "scores": st.sampled_from([smooth, smooth, smooth, blind, None]),
    "budget": st.sampled_from([0, 0.05, 1, 2, 2.5, 1000]),
    "mode": st.sampled_from(["flip", "add", "remove"]),
    "seed": st.integers(0, 3),
}
TRAINED = ("metattack", "nettack")  # train a surrogate, so fewer examples are tried


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in TRAINED])
@settings(max_examples=25)
@given(**REQUESTS)
def test_attack_gives_valid_flips_or_raises_value_error(name, **request):
    check_attack(name, **request)


@pytest.mark.parametrize("name", TRAINED)
@settings(max_examples=6)
@given(**REQUESTS)
def test_attack_with_a_surrogate_gives_valid_flips_or_raises_value_error(name, **request):
    check_attack(name, **request)


def check_attack(name, data, scores, budget, mode, seed):
    nodes = torch.nonzero(data.test_mask).flatten()
    asked = {"nodes": nodes, "budget": budget, "seed": seed, "rules": Rules(mode=mode)}
    try:
        flips = make(name)(scores, data, **asked)
    except ValueError:
        return
    limit = budget * len(nodes) if name == "nettack" else budget  # Nettack has a budget per target
    attacked = flips.apply(data)
    assert is_valid_attack(data, attacked, limit)
    before, after = data.edge_index.shape[1], attacked.edge_index.shape[1]
    expected = {
        "flip": True,
        "add": after == before + 2 * len(flips),
        "remove": after == before - 2 * len(flips),
    }
    assert expected[mode]
